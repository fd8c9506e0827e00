"""Servers that are set up wrong beside others: another secret key, a clock that is ahead, another version."""

import json
import os
import subprocess
import time
import unittest

from cluster import Cluster, fetch, long
from parts import needed, until

from servers import new_key

AHEAD_SECONDS = 100


class Mistakes(Cluster):
    def test_server_with_another_key_does_not_start(self):
        wrong = self.start(GLASSHOUSE_SECRET_KEY=new_key())
        self.assertEqual(wrong.process.wait(60), 1)
        self.assertIn("secret key", wrong.said().lower())
        people = self.people(3, 20, 20)
        self.assertEqual(self.all_ended(people), 1)

    def test_server_whose_clock_is_ahead_works_and_says_so(self):
        ahead = {"LD_PRELOAD": needed("FAKETIME_LIBRARY"), "FAKETIME": f"+{AHEAD_SECONDS}s", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        self.servers[0].process.terminate()
        self.servers[0].process.wait(60)
        self.servers[0] = self.start(self.servers[0].port, **ahead)
        self.servers[0].until("/readyz", 200)
        until(lambda: "clock" in self.servers[0].said().lower(), self.servers[0].said)
        people = self.people(6, 60, 15)
        # Leases go by the clock of the database, so nobody takes its runs.
        self.assertEqual(self.all_ended(people, 3), 1)
        # And those of a dead server go over to it.
        people = self.people(6, 90, 15)
        for server in self.servers[1:]:
            server.process.kill()
        self.assertGreaterEqual(self.all_ended(people, 20), 1)


@unittest.skipUnless(os.environ.get("GLASSHOUSE_PREVIOUS_BIN"), "--previous names no program of the previous release")
class Versions(Cluster):
    """An update from the previous release: both versions at work on one database, which the new one has migrated."""

    def setUp(self):
        self.current = os.environ["GLASSHOUSE_BIN"]
        # Until its server is restarted, each is of the previous version.
        os.environ["GLASSHOUSE_BIN"] = os.environ["GLASSHOUSE_PREVIOUS_BIN"]
        self.addCleanup(os.environ.__setitem__, "GLASSHOUSE_BIN", self.current)
        super().setUp()

    @long
    def test_both_versions_work_side_by_side(self):
        people = self.people(9, 300, 15)
        os.environ["GLASSHOUSE_BIN"] = self.current
        self.update(0)
        # Now the schema is new. One of the previous version crashes, and comes back as it was.
        os.environ["GLASSHOUSE_BIN"] = os.environ["GLASSHOUSE_PREVIOUS_BIN"]
        self.servers[1].process.kill()
        self.servers[1].process.wait()
        self.restart(1).until("/readyz", 200)
        self.servers_agree()
        os.environ["GLASSHOUSE_BIN"] = self.current
        self.update(1)
        self.update(2)
        self.all_ended(people, 20)

    def update(self, number):
        self.servers[number].signal()
        self.assertEqual(self.servers[number].process.wait(60), 0, self.servers[number].said())
        self.restart(number).until("/readyz", 200)
        time.sleep(3)

    def servers_agree(self):
        """What one version writes, the other reads."""
        caller = self.new_caller()
        titles = []
        for number, server in enumerate(self.servers):
            command = ["curl", "-sS", "-X", "POST", f"http://127.0.0.1:{server.port}/api/v1/chats"]
            command += ["-H", "content-type: application/json", "-H", f"authorization: {caller['authorization']}"]
            subprocess.run([*command, "-d", json.dumps({"title": f"Chat {number}"})], check=True, capture_output=True)
            titles.append(f"Chat {number}")
        for server in self.servers:
            shown = json.loads(fetch(server.port, "/api/v1/chats", caller))["chats"]
            self.assertLessEqual(set(titles), {chat["title"] for chat in shown})


if __name__ == "__main__":
    unittest.main()
