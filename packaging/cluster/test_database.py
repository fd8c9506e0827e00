"""The database and the bus are restarted, fail over to a standby, or forget everything while servers work."""

import time
import unittest

from cluster import Cluster, long
from parts import Postgres, until


class Restart(Cluster):
    def restart_of_database(self, mode):
        people = self.people(9, 120, 15)
        self.postgres.stop(mode)
        time.sleep(1)
        self.postgres.start()
        calls = self.all_ended(people, 10)
        # It was away for less than a lease, so nothing was taken over and asked again.
        self.assertEqual(calls, 1)
        for server in self.servers:
            server.until("/readyz", 200)

    def test_database_stopped_as_by_a_crash(self):
        self.restart_of_database("immediate")

    @long
    def test_database_stopped_orderly(self):
        self.restart_of_database("fast")

    @long
    def test_database_away_for_longer_than_a_lease(self):
        people = self.people(6, 120, 15)
        self.postgres.stop("fast")
        for server in self.servers:
            server.until("/readyz", 503)
        time.sleep(10)
        self.postgres.start()
        self.all_ended(people, 10 + 15)

    def test_bus_that_is_killed_and_comes_back_empty(self):
        people = self.people(9, 120, 15)
        self.redis.kill()
        time.sleep(1)
        self.redis.start()
        # It costs speed only.
        self.assertEqual(self.all_ended(people, 3), 1)

    @long
    def test_bus_that_is_silent(self):
        people = self.people(9, 150, 15)
        self.redis.freeze()
        time.sleep(6)
        self.redis.thaw()
        self.assertEqual(self.all_ended(people, 3), 1)
        for server in self.servers:
            server.until("/readyz", 200)


@long
class Failover(Cluster):
    """The URL names a primary and its standby, which follows it by streaming replication."""

    def database_url(self):
        self.standby = self.keep(Postgres(self.postgres))
        return self.postgres.url(f"127.0.0.1:{self.postgres.port}", f"127.0.0.1:{self.standby.port}")

    def test_standby_is_promoted(self):
        # What was acknowledged is on the standby as well.
        self.postgres.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.postgres.execute("SELECT pg_reload_conf()")
        replicating = "SELECT COUNT(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
        until(lambda: self.postgres.execute(replicating) == [[1]])
        people = self.people(9, 150, 15)
        self.postgres.stop("immediate")
        self.standby.promote()
        self.assertEqual(self.all_ended(people, 10), 1)
        (person,) = self.people(1, 10, 20)
        self.all_ended([person])
        self.assertEqual(self.standby.execute("SELECT pg_is_in_recovery()"), [[False]])


if __name__ == "__main__":
    unittest.main()
