"""The server with TLS of its own: a client that trusts its authority, certificates that change, files that cannot be used."""

import http.client
import json
import ssl
import subprocess
import tempfile
import unittest
from pathlib import Path

from chart import needed
from servers import Server, free_port, until


class Authority:
    """A certificate authority, and the files of a server."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="glasshouse-tls-")
        self.run("req", "-x509", *self.new_key("ca.key"), "-days", "2", "-subj", "/CN=Test authority", "-out", "ca.pem")

    def path(self, name):
        return str(Path(self.folder.name, name))

    def run(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.folder.name, check=True, capture_output=True)

    def new_key(self, name):
        return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", name]

    def issue(self, number):
        """Puts a new certificate and its key where the server has them."""
        self.run("req", *self.new_key("new.key"), "-subj", "/CN=localhost", "-out", "new.csr")
        Path(self.path("names")).write_text("subjectAltName=DNS:localhost,IP:127.0.0.1", encoding="utf-8")
        sign = ["x509", "-req", "-in", "new.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-set_serial", str(number)]
        self.run(*sign, "-days", "1", "-extfile", "names", "-out", "new.pem")
        for ending in ("key", "pem"):
            Path(self.path(f"new.{ending}")).replace(self.path(f"server.{ending}"))

    def environment(self):
        return {"GLASSHOUSE_TLS_CERTIFICATE": self.path("server.pem"), "GLASSHOUSE_TLS_KEY": self.path("server.key")}

    def close(self):
        self.folder.cleanup()


class Tls(unittest.TestCase):
    def setUp(self):
        self.authority = Authority()
        self.addCleanup(self.authority.close)
        self.authority.issue(1)
        self.context = ssl.create_default_context(cafile=self.authority.path("ca.pem"))
        self.context.set_alpn_protocols(["h2", "http/1.1"])

    def start(self, **more):
        server = Server({**self.authority.environment(), **more})
        self.addCleanup(server.close)
        until(lambda: self.status(server) == 200, server.said)
        return server

    def connect(self, server):
        connection = http.client.HTTPSConnection("localhost", server.port, timeout=60, context=self.context)
        self.addCleanup(connection.close)
        return connection

    def status(self, server):
        connection = self.connect(server)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return None

    def serial(self, server):
        """The number of the certificate that a new connection gets."""
        connection = self.connect(server)
        connection.connect()
        return int(connection.sock.getpeercert()["serialNumber"], 16)

    def test_speaks_tls_only(self):
        server = self.start()
        connection = self.connect(server)
        connection.connect()
        self.assertEqual(connection.sock.selected_alpn_protocol(), "http/1.1")
        account = {"email": "ada@example.org", "name": "Ada", "password": "correct horse"}
        connection.request("POST", "/api/v1/setup", json.dumps(account), {"content-type": "application/json"})
        answer = connection.getresponse()
        self.assertEqual(answer.status, 200, answer.read())
        self.assertIn("; Secure", answer.headers["set-cookie"])
        self.assertIsNone(server.status("/readyz"), "without TLS there is no answer")
        self.assertIn(f"https://127.0.0.1:{server.port}", server.said())

    def test_the_health_check_works(self):
        server = self.start()
        environment = {**self.authority.environment(), "HOME": server.folder.name}
        command = [needed("GLASSHOUSE_BIN"), "health", "--listen", f"127.0.0.1:{server.port}"]
        asked = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        self.assertEqual((asked.returncode, asked.stdout), (0, "ok\n"), asked.stderr)

    def test_a_new_certificate_is_used_and_open_connections_go_on(self):
        server = self.start()
        self.assertEqual(self.serial(server), 1)
        used = self.connect(server)
        used.connect()

        def is_used():
            used.request("GET", "/healthz")
            answer = used.getresponse()
            return answer.read() == b"ok\n" and int(used.sock.getpeercert()["serialNumber"], 16) == 1

        # Half of a change, as a script may leave it for a moment: the old certificate stays.
        old_key = Path(self.authority.path("server.key")).read_bytes()
        self.authority.issue(2)
        new_key = Path(self.authority.path("server.key")).read_bytes()
        Path(self.authority.path("server.key")).write_bytes(old_key)
        until(lambda: is_used() and self.serial(server) == 1 and "does not fit" in server.said(), server.said)
        Path(self.authority.path("server.key")).write_bytes(new_key)
        until(lambda: is_used() and self.serial(server) == 2, server.said)
        self.assertTrue(is_used(), "the connection from before is still the same")

    def test_files_that_cannot_be_used_are_named(self):
        empty, other = self.authority.path("empty.pem"), self.authority.path("ca.key")
        Path(empty).write_text("", encoding="utf-8")
        for more, words in [
            ({"GLASSHOUSE_TLS_KEY": ""}, "tls.certificate and tls.key belong together"),
            ({"GLASSHOUSE_TLS_KEY": "/nonexistent.key"}, "cannot read /nonexistent.key"),
            ({"GLASSHOUSE_TLS_CERTIFICATE": empty}, f"{empty} has no certificate"),
            ({"GLASSHOUSE_TLS_KEY": empty}, f"{empty} has no private key"),
            ({"GLASSHOUSE_TLS_KEY": other}, f"the key {other} does not fit"),
        ]:
            with self.subTest(words):
                server = Server({**self.authority.environment(), **more}, port=free_port())
                self.addCleanup(server.close)
                self.assertEqual(server.process.wait(), 1)
                self.assertIn(words, server.said())


if __name__ == "__main__":
    unittest.main()
