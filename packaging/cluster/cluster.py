"""Three servers of the real program behind a balancer, people who use them, and what has to be true afterwards."""

import contextlib
import http.client
import json
import os
import threading
import time
import unittest

from parts import Model, ObjectStorage, Postgres, Redis, until

from balancing import HAProxy, Nginx, Stream  # noqa: F401
from servers import Server, new_key  # noqa: I001

PASSWORD = "correct horse"
SERVERS = 3
# Whether only what CI has time for is tried.
IS_SHORT = bool(os.environ.get("GLASSHOUSE_CLUSTER_SHORT"))
QUIET = {f"GLASSHOUSE_PIPELINES_ENABLE_{name}_GENERATION": "false" for name in ("TITLE", "TAGS", "FOLLOW_UP")}
LEASE_SECONDS = 4


def long(test):
    """A test, or a class of tests, that the short form leaves out."""
    return None if IS_SHORT else test


class Timed(unittest.TestCase):
    """A test that says how long it took, and what it measured."""

    def setUp(self):
        self.began = time.monotonic()
        self.addCleanup(self.tell)
        self.figures = {}

    def tell(self):
        figures = ", ".join(f"{name} {value}" for name, value in self.figures.items())
        print(f"{time.monotonic() - self.began:6.1f} s  {self.id()}  {figures}", flush=True)


class Cluster(Timed):
    """Servers that share all they can, with a balancer before them."""

    balancer_kind = HAProxy
    lease_seconds = LEASE_SECONDS

    def setUp(self):
        super().setUp()
        self.model = self.keep(Model())
        self.postgres = self.keep(Postgres())
        self.redis = self.keep(Redis())
        self.storage = self.keep(ObjectStorage())
        self.environment = {
            "GLASSHOUSE_DATABASE_URL": self.database_url(),
            "GLASSHOUSE_SECRET_KEY": new_key(),
            "GLASSHOUSE_TRUSTED_PROXIES": "127.0.0.1",
            "GLASSHOUSE_LEASE_SECONDS": str(self.lease_seconds),
            "GLASSHOUSE_PROGRAMS_ENABLED": "false",
            "GLASSHOUSE_BUS_URL": self.redis.url(),
            "OPENAI_API_BASE_URL": self.model.url(),
            **QUIET,
            **self.storage.environment,
        }
        self.servers = [self.start() for _ in range(SERVERS)]
        for server in self.servers:
            server.until("/readyz", 200)
        self.balancer = self.keep(self.balancer_kind(self.servers))
        self.balancer.until_ready()
        account = {"email": "ada@example.org", "name": "Ada", "password": PASSWORD}
        status, headers, body = self.balancer.ask("POST", "/api/v1/setup", account)
        self.assertEqual(status, 200, body)
        self.session = {"cookie": headers["set-cookie"].split(";")[0]}
        until(lambda: b'"paced"' in self.balancer.get("/api/v1/models", **self.session)[2])

    def database_url(self):
        return self.postgres.url()

    def keep(self, part):
        """Closes it after the test."""
        self.addCleanup(part.close)
        return part

    def start(self, port=None, **more):
        return self.keep(Server({**self.environment, **more}, port=port))

    def restart(self, number):
        """Another server at the address of one that has ended."""
        self.servers[number] = self.start(self.servers[number].port)
        return self.servers[number]

    def new_caller(self):
        """The headers of an API key of its own, by which balancers choose the server."""
        name = f"key {time.monotonic_ns()}"
        status, _, body = self.balancer.ask("POST", "/api/v1/keys", {"name": name}, self.session)
        self.assertEqual(status, 200, body)
        return {"authorization": "Bearer " + json.loads(body)["secret"]}

    def people(self, count, words, rate, access=None):
        """People who each ask for an answer of so many words at so many a second, once all of them see the first one."""
        keys = [self.new_caller() for _ in range(count)]
        people = [Person(access or self.balancer, key, f"{words} words at {rate}: {n}") for n, key in enumerate(keys)]
        for person in people:
            person.start()
        until(lambda: all(person.seen for person in people), lambda: [person.problem for person in people])
        return people

    def all_ended(self, people, max_silence=None):
        """Every answer has come to its end, each event once and in order, and all servers have that log."""
        for person in people:
            person.join(120)
        self.assertEqual([person.name for person in people if person.is_alive()], [], "they still wait")
        self.assertEqual([person.problem for person in people if person.problem], [])
        silences = [person.silence() for person in people]
        calls = [self.model.asked[person.text] for person in people]
        # Those of the first people, who saw what the test is about.
        self.figures = {
            "runs": len(people),
            "silence": f"{max(silences):.1f} s",
            "calls": f"{sum(calls)} ({sum(calls) / len(calls):.2f} a run)",
            "reconnects": sum(person.reconnects for person in people),
            **self.figures,
        }
        for person in people:
            self.assertEqual(person.outcome, "completed", person.text)
            self.same_log(person)
        if max_silence:
            self.assertLessEqual(max(silences), max_silence)
        return sum(calls) / len(calls)

    def same_log(self, person):
        logs = []
        for server in self.servers:
            if server.process.poll() is None:
                stream = Stream(server.port, person.events, person.headers, host=server.host)
                logs.append({int(number): event for number, event, _ in stream.events()})
                stream.close()
        self.assertTrue(logs)
        for log in logs[1:]:
            self.assertEqual(log, logs[0], "the servers have different logs")
        for number, event in logs[0].items():
            self.assertEqual(person.seen.get(number), event, f"event {number} of {person.events}")
        answer = "".join(e["body"]["delta"] for e in logs[0].values() if e["body"]["type"] == "text_delta")
        words = int(person.text.split()[0])
        # Words of an answer that was begun again may come twice, whole answers may not.
        self.assertIn("".join(f"word{n} " for n in range(words)).strip(), " ".join(answer.split()))

    @contextlib.contextmanager
    def short_requests(self):
        """Asks all the time for something short, like people who click around; yields the statuses."""
        asking = Asking(self.balancer, [self.new_caller() for _ in range(6)])
        asking.start()
        try:
            yield asking.statuses
        finally:
            asking.stop()
            failed = [status for status in asking.statuses if status != 200]
            self.figures["short requests failed"] = f"{len(failed)} of {len(asking.statuses)}"

    def owners(self):
        """The number of live runs of each server that answers."""
        return [live_runs(server, self.session) for server in self.servers]


def live_runs(server, headers):
    answer = fetch(server.port, "/metrics", {"host": "localhost", **headers}, server.host) or b""
    for line in answer.decode().splitlines():
        if line.startswith("glasshouse_runs_live "):
            return int(line.split()[1])
    return 0


def fetch(port, path, headers, host="127.0.0.1"):
    connection = http.client.HTTPConnection(host, port, timeout=10)
    try:
        connection.request("GET", path, headers=headers)
        return connection.getresponse().read()
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


class Person(threading.Thread):
    """Asks for an answer, watches it to its end, and connects again as an `EventSource` does."""

    def __init__(self, access, headers, text):
        super().__init__(daemon=True)
        self.access, self.headers, self.text = access, headers, text
        self.seen, self.times = {}, []
        self.events = self.outcome = self.problem = None
        self.reconnects = -1

    def run(self):
        try:
            self.events = self.begin()
            while self.outcome is None:
                self.reconnects += 1
                self.watch()
        except Exception as problem:  # noqa: BLE001 - the test tells it
            self.problem = f"{self.text}: {problem!r}"

    def begin(self):
        chat = self.post("/api/v1/chats", {})["id"]
        return f"/runs/{self.post(f'/api/v1/chats/{chat}/messages', {'content': self.text, 'model': 'paced'})['run']}/events"

    def post(self, path, body):
        status, _, sent = self.access.ask("POST", path, body, self.headers)
        if status != 200:
            raise RuntimeError(f"{path}: {status} {sent}")
        return json.loads(sent)

    def watch(self):
        headers = {**self.headers, **({"last-event-id": str(max(self.seen))} if self.seen else {})}
        connection = self.access.connect()
        try:
            connection.request("GET", self.events, headers=headers)
            answer = connection.getresponse()
            if answer.status != 200:
                time.sleep(0.1)
                return
            self.read(answer)
        except (OSError, http.client.HTTPException):
            # It waits a moment, as browsers do.
            time.sleep(0.2)
        finally:
            connection.close()

    def read(self, answer):
        number = None
        while line := answer.readline().decode():
            if line.startswith("id:"):
                number = int(line[3:])
            if line.startswith("data:"):
                if self.seen and number <= max(self.seen):
                    raise RuntimeError(f"event {number} came after {max(self.seen)}")
                event = self.seen[number] = json.loads(line[5:])
                self.times.append(time.monotonic())
                if event["body"]["type"] == "run_finished":
                    self.outcome = event["body"]["outcome"]
                    return

    def silence(self):
        return max((late - early for early, late in zip(self.times, self.times[1:], strict=False)), default=0.0)


class Asking(threading.Thread):
    def __init__(self, access, callers):
        super().__init__(daemon=True)
        self.access, self.callers = access, callers
        self.statuses, self.stopping = [], threading.Event()

    def run(self):
        while not self.stopping.wait(0.05):
            caller = self.callers[len(self.statuses) % len(self.callers)]
            self.statuses.append(self.access.get("/api/v1/chats", **caller)[0])

    def stop(self):
        self.stopping.set()
        self.join()
