"""One of three servers, each on a machine of its own, is cut off from the database, the bus or the balancer: packets get lost,
nobody is told. Nothing comes later than 15 seconds after another server could serve it."""

import re
import time
import unittest

from cluster import QUIET, SERVERS, Cluster, fetch, live_runs, long
from parts import Model, Network, Postgres, Redis, until

from balancing import HAProxy
from servers import Server, new_key

PORT = 8000
# The lease that servers usually have, whose length decides when others take over.
MAX_SILENCE_SECONDS = 15


class Machine(Server):
    """A server in a network namespace."""

    def __init__(self, network, name, environment):
        self.network, self.name = network, name
        inside = network.add(name)
        self.host = network.address(name, "front")
        super().__init__(environment, port=PORT, inside=inside, listen=f"0.0.0.0:{PORT}")

    @property
    def address(self):
        return f"{self.host}:{PORT}"


class Partition(Cluster):
    """Without an object storage, which has no part in it."""

    def setUp(self):
        super(Cluster, self).setUp()
        self.network = self.keep(Network(["database", "bus", "front", "models"]))
        self.model = self.keep(Model())
        self.postgres = self.keep(Postgres())
        self.redis = self.keep(Redis())
        host = self.network.host
        environment = {
            "GLASSHOUSE_DATABASE_URL": self.postgres.url(f"{host('database')}:{self.postgres.port}"),
            "GLASSHOUSE_BUS_URL": self.redis.url(host("bus")),
            "OPENAI_API_BASE_URL": self.model.url(host("models")),
            "GLASSHOUSE_SECRET_KEY": new_key(),
            "GLASSHOUSE_TRUSTED_PROXIES": host("front"),
            "GLASSHOUSE_PROGRAMS_ENABLED": "false",
            **QUIET,
        }
        self.servers = [self.keep(Machine(self.network, name, environment)) for name in "abc"[:SERVERS]]
        for server in self.servers:
            server.until("/readyz", 200)
        self.balancer = self.keep(HAProxy(self.servers))
        self.balancer.until_ready()
        token = re.search(r"token=(\S+)", self.servers[0].said())
        account = {"email": "ada@example.org", "name": "Ada", "password": "correct horse", "token": token.group(1)}
        status, headers, body = self.balancer.ask("POST", "/api/v1/setup", account)
        self.assertEqual(status, 200, body)
        self.session = {"cookie": headers["set-cookie"].split(";")[0]}
        until(lambda: b'"paced"' in self.balancer.get("/api/v1/models", **self.session)[2])

    def cut(self, network, seconds, count=9):
        """Cuts the server with most runs off from a network for a while, in the middle of these people's answers."""
        people = self.people(count, 450, 15)
        victim = max(self.servers, key=lambda server: live_runs(server, self.session))
        self.figures["runs of the victim"] = live_runs(victim, self.session)
        self.network.cut(victim.name, network)
        time.sleep(seconds)
        self.network.join(victim.name, network)
        return people, victim

    def works_again(self, victim):
        """The server serves runs of its own and of others."""
        victim.until("/readyz", 200)
        (person,) = self.people(1, 20, 20)
        self.all_ended([person])
        self.assertEqual(fetch(PORT, "/readyz", {"host": "localhost"}, victim.host), b"ok\n")

    def test_cut_off_from_the_database(self):
        people, victim = self.cut("database", 25)
        self.all_ended(people, MAX_SILENCE_SECONDS)
        self.works_again(victim)

    @long
    def test_cut_off_from_the_bus(self):
        people, victim = self.cut("bus", 20)
        # It costs speed only.
        self.assertEqual(self.all_ended(people, 3), 1)
        self.works_again(victim)

    @long
    def test_cut_off_from_the_balancer(self):
        people, victim = self.cut("front", 15)
        # Its runs go on where they are; whoever watches them comes back elsewhere once the balancer has noticed.
        self.assertEqual(self.all_ended(people, MAX_SILENCE_SECONDS), 1)
        self.works_again(victim)

    @long
    def test_cut_off_from_everything(self):
        people = self.people(9, 450, 15)
        victim = max(self.servers, key=lambda server: live_runs(server, self.session))
        for network in self.network.names:
            self.network.cut(victim.name, network)
        time.sleep(25)
        for network in self.network.names:
            self.network.join(victim.name, network)
        self.all_ended(people, MAX_SILENCE_SECONDS)
        self.works_again(victim)


if __name__ == "__main__":
    unittest.main()
