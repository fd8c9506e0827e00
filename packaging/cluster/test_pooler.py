"""Servers behind PgBouncer in session and in transaction mode."""

import subprocess
import tempfile
import time
import unittest

from cluster import Cluster, Timed, long
from parts import PgBouncer, Postgres, needed

from servers import new_key


class Pooled(Cluster):
    """What servers do, with a pooler between them and the database that has fewer connections than they."""

    mode = "session"
    parameters = ""

    def database_url(self):
        self.pooler = self.keep(PgBouncer(self.postgres, self.mode, self.settings))
        migrated = run("migrate", self.postgres.url())
        self.assertEqual(migrated.returncode, 0, migrated.stderr)
        return self.pooler.url(self.parameters)

    settings = "default_pool_size = 60"

    def use(self):
        people = self.people(9, 120, 15)
        victim = max(range(3), key=self.owners().__getitem__)
        self.servers[victim].process.kill()
        self.servers[victim].process.wait()
        self.restart(victim).until("/readyz", 200)
        self.all_ended(people, 10)
        people = self.people(9, 60, 15)
        # Its clients are cut off in the middle of what they ask.
        self.pooler.kill()
        time.sleep(1)
        self.pooler.start()
        self.assertEqual(self.all_ended(people, 10), 1)
        used = self.postgres.execute("SELECT COUNT(*) FROM pg_stat_activity WHERE datname = 'postgres'")
        self.figures["connections"] = used[0][0]


@long
class SessionMode(Pooled):
    def test_servers_work(self):
        self.use()


class TransactionMode(Pooled):
    mode = "transaction"
    parameters = "?pool_mode=transaction"
    settings = "default_pool_size = 8"

    def test_servers_work(self):
        self.use()
        # Three servers would open up to 39.
        self.assertLessEqual(self.figures["connections"], 10)


class Refusals(Timed):
    def setUp(self):
        super().setUp()
        self.postgres = Postgres()
        self.addCleanup(self.postgres.close)

    def pooler(self, mode, **more):
        pooler = PgBouncer(self.postgres, mode, **more)
        self.addCleanup(pooler.close)
        return pooler

    def test_transaction_mode_has_to_be_named(self):
        pooler = self.pooler("transaction")
        self.assertEqual(run("migrate", self.postgres.url()).returncode, 0)
        for _ in range(5):
            refused = run("serve", pooler.url())
            self.assertEqual(refused.returncode, 1, refused.stdout)
            self.assertIn("add pool_mode=transaction to the URL", refused.stderr)
        self.assertIn("add pool_mode=transaction to the URL", run("doctor", pooler.url()).stdout)
        told = run("doctor", pooler.url("?pool_mode=transaction")).stdout
        self.assertIn("PostgreSQL answers, through a pooler by transaction", told)

    def test_migrations_need_a_session(self):
        pooler = self.pooler("transaction")
        refused = run("migrate", pooler.url("?pool_mode=transaction"))
        self.assertEqual(refused.returncode, 1)
        self.assertIn("a URL that leads to PostgreSQL itself", refused.stderr)
        # Nothing was begun, and nothing is locked.
        self.assertEqual(run("migrate", self.postgres.url()).returncode, 0)
        self.assertEqual(run("migrate", pooler.url("?pool_mode=transaction")).returncode, 0)

    def test_backups_need_a_session(self):
        pooler = self.pooler("transaction")
        self.assertEqual(run("migrate", self.postgres.url()).returncode, 0)
        with tempfile.TemporaryDirectory(prefix="glasshouse-pooler-") as folder:
            refused = run("backup", pooler.url("?pool_mode=transaction"), f"{folder}/backup")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("leads to PostgreSQL itself", refused.stderr)

    def test_statement_mode_is_refused(self):
        pooler = self.pooler("statement")
        self.assertEqual(run("migrate", self.postgres.url()).returncode, 0)
        for parameters in ("", "?pool_mode=transaction"):
            self.assertEqual(run("serve", pooler.url(parameters)).returncode, 1)


def run(command, url, *arguments):
    """Runs the program to its end."""
    environment = {"PATH": "/usr/bin:/bin", "GLASSHOUSE_DATABASE_URL": url, "GLASSHOUSE_SECRET_KEY": new_key()}
    environment["GLASSHOUSE_LISTEN"] = "127.0.0.1:0"
    command = [needed("GLASSHOUSE_BIN"), command, *arguments]
    with tempfile.TemporaryDirectory(prefix="glasshouse-pooler-") as folder:
        environment["GLASSHOUSE_DATA_DIR"] = folder
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


if __name__ == "__main__":
    unittest.main()
