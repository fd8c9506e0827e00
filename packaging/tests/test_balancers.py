"""HAProxy and nginx with their examples before two servers: streams are passed on at once, readers of a server that is killed
go on at the other, and MCP sessions stay where they are."""

import http.client
import json
import shutil
import signal
import threading
import unittest

from balancing import HAProxy, Nginx, Stream
from servers import Database, Server, new_key, until

from programs import ScriptedModel, text, turn  # noqa: I001

PASSWORD = "correct horse"


class Behind:
    """The tests, for each of the balancers."""

    def setUp(self):
        database = Database()
        self.addCleanup(database.close)
        # The second turn is longer than any test, so that what a test sees of it came before its end.
        cases = [
            {"contains": "slowly", "turns": [turn({**text("word " * 4000), "tokens_per_second": 30})]},
            {"contains": "briefly", "turns": [turn({**text("word " * 120), "tokens_per_second": 30})]},
            {"turns": [turn(text("Well."))]},
        ]
        model = ScriptedModel(cases)
        self.addCleanup(model.close)
        environment = {
            "GLASSHOUSE_DATABASE_URL": database.url(),
            "GLASSHOUSE_SECRET_KEY": new_key(),
            "GLASSHOUSE_TRUSTED_PROXIES": "127.0.0.1",
            "GLASSHOUSE_LEASE_SECONDS": "4",
            "GLASSHOUSE_PROGRAMS_ENABLED": "false",
            "GLASSHOUSE_PIPELINES_ENABLE_TITLE_GENERATION": "false",
            "GLASSHOUSE_PIPELINES_ENABLE_TAGS_GENERATION": "false",
            "GLASSHOUSE_PIPELINES_ENABLE_FOLLOW_UP_GENERATION": "false",
            "OPENAI_API_BASE_URL": model.url + "/v1",
        }
        self.servers = []
        for _ in range(2):
            server = Server(environment)
            self.addCleanup(server.close)
            self.servers.append(server)
        for server in self.servers:
            server.until("/readyz", 200)
        self.balancer = self.kind(self.servers)
        self.addCleanup(self.balancer.close)
        self.balancer.until_ready()
        account = {"email": "ada@example.org", "name": "Ada", "password": PASSWORD}
        status, headers, body = self.balancer.ask("POST", "/api/v1/setup", account)
        self.assertEqual(status, 200, body)
        self.headers = {"cookie": headers["set-cookie"].split(";")[0]}
        until(lambda: b'"scripted"' in self.balancer.get("/api/v1/models", **self.headers)[2])

    def post(self, path, body, **headers):
        status, answered, sent = self.balancer.ask("POST", path, body, {**self.headers, **headers})
        self.assertIn(status, (200, 201, 202), sent)
        return answered, json.loads(sent or b"null")

    def begin(self, words):
        """A run; the path of its events."""
        chat = self.post("/api/v1/chats", {})[1]["id"]
        run = self.post(f"/api/v1/chats/{chat}/messages", {"content": words, "model": "scripted"})[1]["run"]
        return f"/runs/{run}/events"

    def owner(self):
        """The server with the run that goes on."""

        def found():
            for server in self.servers:
                if "\nglasshouse_runs_live 1\n" in self.metrics(server):
                    return server
            return None

        return until(found)

    def metrics(self, server):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.request("GET", "/metrics", headers=self.headers)
        body = connection.getresponse().read().decode()
        connection.close()
        return body

    def test_streams_are_passed_on_at_once(self):
        events = self.begin("briefly")
        through = Stream(self.balancer.port, events, self.headers, self.balancer.context)
        self.addCleanup(through.close)
        direct = Stream(self.owner().port, events, self.headers)
        self.addCleanup(direct.close)
        times = [{}, {}]

        def read(stream, into):
            into.update({number: (event["body"]["type"], at) for number, event, at in stream.events()})

        threads = [threading.Thread(target=read, args=pair) for pair in zip((through, direct), times, strict=True)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        through, direct = times
        # Of what both saw live, since a reader that comes later gets what is older at once and together.
        self.assertEqual(list(through)[-1], list(direct)[-1])
        later = [through[number][1] - direct[number][1] for number in through if number in direct]
        later = sorted(later[len(later) // 3 :])
        print(f"{self.kind.__name__}: p50 {later[len(later) // 2] * 1000:.1f} ms, most {later[-1] * 1000:.1f} ms later")

    def test_a_stream_begins_long_before_it_ends(self):
        stream = Stream(self.balancer.port, self.begin("slowly"), self.headers, self.balancer.context)
        self.addCleanup(stream.close)
        kinds = (event["body"]["type"] for _, event, _ in stream.events())
        self.assertIn("text_delta", kinds)

    def test_readers_of_a_killed_server_go_on_at_the_other(self):
        events = self.begin("briefly")
        stream = Stream(self.balancer.port, events, self.headers, self.balancer.context)
        seen = []
        killed = None
        for number, event, _ in stream.events():
            seen.append(int(number))
            if killed is None and event["body"]["type"] == "text_delta":
                killed = self.owner()
                killed.signal(signal.SIGKILL)
        stream.close()
        self.assertIsNotNone(killed)
        kind = None
        while kind != "run_finished":
            headers = {**self.headers, "last-event-id": str(seen[-1])}
            until(lambda: self.balancer.get("/readyz", **self.headers)[0] == 200)
            stream = Stream(self.balancer.port, events, headers, self.balancer.context)
            for number, event, _ in stream.events():
                seen.append(int(number))
                kind = event["body"]["type"]
            stream.close()
        # A server that takes over goes on with higher numbers.
        self.assertEqual(seen, sorted(set(seen)), "each event once, in order")

    def test_requests_go_on_while_a_server_is_gone(self):
        self.servers[0].signal(signal.SIGKILL)
        self.servers[0].process.wait()
        statuses = [self.balancer.get("/api/v1/chats", **self.headers)[0] for _ in range(20)]
        self.assertEqual(set(statuses), {200})
        # Other callers, of whom some had the other server.
        statuses = [self.balancer.get("/readyz", authorization=f"Bearer gh_{number}")[0] for number in range(20)]
        self.assertEqual(set(statuses), {200})

    def test_mcp_sessions_stay_with_their_server(self):
        for number in range(6):
            key = self.post("/api/v1/keys", {"name": f"key {number}"})[1]["secret"]
            headers = {"authorization": f"Bearer {key}", "accept": "application/json, text/event-stream"}
            client = {"name": "test", "version": "1"}
            params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
            hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
            status, answered, body = self.balancer.ask("POST", "/mcp", hello, headers)
            self.assertEqual(status, 200, body)
            headers["mcp-session-id"] = answered["mcp-session-id"]
            begun = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            self.assertEqual(self.balancer.ask("POST", "/mcp", begun, headers)[0], 202)
            status, _, body = self.balancer.ask("POST", "/mcp", {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}, headers)
            self.assertEqual(status, 200, body)
            self.assertIn(b'"ask"', body)

    def test_what_clients_say_about_their_address_is_not_believed(self):
        forged = {"x-forwarded-for": "203.0.113.9"}
        wrong = {"email": "ada@example.org", "password": "wrong"}
        self.balancer.ask("POST", "/api/v1/login", wrong, forged)
        entries = json.loads(self.balancer.get("/api/v1/audit", **self.headers)[2])
        self.assertNotIn("203.0.113.9", json.dumps(entries))


class BehindHAProxy(Behind, unittest.TestCase):
    kind = HAProxy


class BehindNginx(Behind, unittest.TestCase):
    kind = Nginx


class Examples(unittest.TestCase):
    def test_openssl_is_there(self):
        self.assertIsNotNone(shutil.which("openssl"), "the tests make certificates with it")


if __name__ == "__main__":
    unittest.main()
