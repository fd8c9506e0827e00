"""The program as the container of the chart: its variables, its probes, and its end, with the kubelet played by the test."""

import threading
import time
import unittest

from chart import render
from servers import Database, Server, Wire, new_key
from test_chart import POSTGRES, container, one


class Pod(unittest.TestCase):
    def setUp(self):
        self.database = Database()
        self.addCleanup(self.database.close)
        self.things = render({**POSTGRES, "shutdown": {"preStopSeconds": 1, "delaySeconds": 2, "drainSeconds": 5}})
        self.deployment = one(self.things, "Deployment")
        self.container = container(self.deployment)
        self.secrets = {"GLASSHOUSE_DATABASE_URL": self.database.url(), "GLASSHOUSE_SECRET_KEY": new_key()}

    def start(self, described, **more):
        """Starts the program as this container; the values of Secrets are `self.secrets`."""
        values = {**self.secrets, **more}
        variables = {v["name"]: v.get("value") or values[v["name"]] for v in described["env"]}
        server = Server(variables, described["args"])
        self.addCleanup(server.close)
        return server

    def migrate(self):
        (job,) = one(self.things, "Job")["spec"]["template"]["spec"]["containers"]
        migration = self.start(job)
        self.assertEqual(migration.process.wait(), 0, migration.said())

    def path(self, probe):
        return self.container[probe]["httpGet"]["path"]

    def test_migrates_then_starts_and_ends_as_its_probes_say(self):
        early = self.start(self.container)
        self.assertEqual(early.process.wait(), 1)
        self.assertIn("`glasshouse migrate`", early.said())
        self.migrate()
        server = self.start(self.container)
        server.until(self.path("startupProbe"), 200)
        self.assertEqual(server.status(self.path("readinessProbe")), 200)
        self.assertEqual(server.status(self.path("livenessProbe")), 200)

        # The kubelet runs preStop, meanwhile requests still arrive; then it sends SIGTERM and waits.
        self.assertEqual(self.container["lifecycle"]["preStop"]["exec"]["command"], ["sleep", "1"])
        self.assertEqual(server.status(self.path("readinessProbe")), 200)
        server.signal()
        seen = []
        began = time.monotonic()
        while server.process.poll() is None:
            seen.append(server.status(self.path("readinessProbe")))
        took = time.monotonic() - began
        # Once it says no it stays so, to the end: 503 while it listens, then no connection.
        not_ready = seen[next((i for i, status in enumerate(seen) if status != 200), len(seen)) :]
        self.assertTrue(not_ready)
        self.assertLessEqual(set(not_ready), {503, None})
        self.assertEqual(server.process.returncode, 0, server.said())
        self.assertLess(took, self.deployment["spec"]["template"]["spec"]["terminationGracePeriodSeconds"])

    def test_without_its_database_it_lives_but_is_not_ready(self):
        self.migrate()
        wire = Wire(self.database.server.hostname, self.database.server.port or 5432)
        server = self.start(self.container, GLASSHOUSE_DATABASE_URL=self.database.url(wire.address))
        server.until(self.path("startupProbe"), 200)
        wire.cut()
        server.until(self.path("readinessProbe"), 503)
        self.assertEqual(server.status(self.path("livenessProbe")), 200)

    def test_several_start_at_once_on_an_empty_database(self):
        things = render({**POSTGRES, "replicas": 3, "migration": {"enabled": False}})
        servers = [self.start(container(one(things, "Deployment"))) for _ in range(3)]
        waiting = [threading.Thread(target=server.until, args=(self.path("startupProbe"), 200)) for server in servers]
        for thread in waiting:
            thread.start()
        for thread in waiting:
            thread.join()
        ready = [server.status(self.path("readinessProbe")) for server in servers]
        self.assertEqual(ready, [200, 200, 200], [server.said() for server in servers])


if __name__ == "__main__":
    unittest.main()
