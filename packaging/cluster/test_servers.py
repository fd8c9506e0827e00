"""Servers behind HAProxy and nginx that are killed, or restarted one after the other, while they are used."""

import json
import signal
import ssl
import subprocess
import threading
import time
import unittest

import openai
from cluster import LEASE_SECONDS, Cluster, HAProxy, Nginx, fetch, long
from parts import until

# The time after which a dead server's runs go on: its lease, and a quarter of it until the next look.
TAKEN_OVER_SECONDS = 1.25 * LEASE_SECONDS


class Behind:
    def test_runs_of_a_killed_server_go_on(self):
        people = self.people(9, 120, 15)
        with self.short_requests() as statuses:
            victim = max(range(3), key=self.owners().__getitem__)
            self.servers[victim].signal(signal.SIGKILL)
            self.servers[victim].process.wait()
            time.sleep(2)
            self.restart(victim).until("/readyz", 200)
            # On a busy machine it may take a moment more.
            self.all_ended(people, TAKEN_OVER_SECONDS + 5)
        self.assertLessEqual(sum(status != 200 for status in statuses), len(statuses) // 20, statuses)

    def test_an_update_of_all_servers_is_not_noticed(self):
        people = self.people(9, 120, 15)
        with self.short_requests() as statuses:
            for number in range(3):
                server = self.servers[number]
                server.signal(signal.SIGTERM)
                self.assertEqual(server.process.wait(60), 0, server.said())
                self.restart(number).until("/readyz", 200)
                # The balancer has to see it before the next one stops.
                time.sleep(3)
            calls = self.all_ended(people, 5)
        self.assertEqual(set(statuses), {200})
        self.assertLessEqual(calls, 1.2)


class BehindHAProxy(Behind, Cluster):
    balancer_kind = HAProxy

    @long
    def test_clients_of_openai_are_never_left_without_an_end(self):
        """During an update, an answer is whole or ends with an error."""
        outcomes = []
        certificate = self.balancer.path("glasshouse.pem")

        def ask(number, key):
            http = openai.DefaultHttpxClient(verify=ssl.create_default_context(cafile=certificate))
            url = f"https://localhost:{self.balancer.port}/v1"
            client = openai.OpenAI(base_url=url, api_key=key, max_retries=0, http_client=http, timeout=60)
            messages = [{"role": "user", "content": f"150 words at 15: openai {number}"}]
            model = ["glasshouse/agent", "paced"][number % 2]
            try:
                answer = client.chat.completions.create(model=model, messages=messages, stream=True)
                reasons = [chunk.choices[0].finish_reason for chunk in answer if chunk.choices]
                outcomes.append(reasons[-1])
            except openai.APIError as error:
                outcomes.append(type(error).__name__)

        keys = [self.new_caller()["authorization"].removeprefix("Bearer ") for _ in range(8)]
        threads = [threading.Thread(target=ask, args=pair) for pair in enumerate(keys)]
        for thread in threads:
            thread.start()
        until(lambda: len(self.model.asked) == 8)
        for number in range(3):
            self.servers[number].signal(signal.SIGTERM)
            self.assertEqual(self.servers[number].process.wait(60), 0)
            self.restart(number).until("/readyz", 200)
        for thread in threads:
            thread.join(90)
        self.figures["outcomes"] = {outcome: outcomes.count(outcome) for outcome in set(outcomes)}
        self.assertEqual(len(outcomes), 8)
        self.assertLessEqual(set(outcomes), {"stop", "APIError"})
        # Each answer takes 10 seconds, less than a server waits for it.
        self.assertGreaterEqual(outcomes.count("stop"), 6)

    @long
    def test_curl_reads_a_stream_to_its_end(self):
        (person,) = self.people(1, 60, 15)
        url = f"https://localhost:{self.balancer.port}{person.events}"
        command = ["curl", "-sS", "-N", "--cacert", self.balancer.path("glasshouse.pem"), url]
        for name, value in person.headers.items():
            command += ["-H", f"{name}: {value}"]
        read = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
        self.assertIn('"run_finished"', read.splitlines()[-2])
        self.all_ended([person])

    @long
    def test_contents_are_in_the_object_storage_for_all(self):
        caller = self.new_caller()
        _, _, body = self.balancer.ask("POST", "/api/v1/chats", {}, caller)
        path = f"/api/v1/chats/{json.loads(body)['id']}/files/content?path=/large.bin"
        content = bytes(range(256)) * 1000
        connection = self.balancer.connect()
        connection.request("PUT", path, content, {**caller, "content-type": "application/octet-stream"})
        self.assertLess(connection.getresponse().status, 300)
        connection.close()
        rows = self.postgres.execute("SELECT COUNT(*) FROM objects")
        self.assertGreaterEqual(rows[0][0], 1)
        for server in self.servers:
            self.assertEqual(fetch(server.port, path, caller), content)


@long
class BehindNginx(Behind, Cluster):
    balancer_kind = Nginx


if __name__ == "__main__":
    unittest.main()
