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

    def start(self, **more):
        server = Server({**self.authority.environment(), **more})
        self.addCleanup(server.close)
        # Python speaks HTTP/1.1 only.
        self.context.set_alpn_protocols(["http/1.1"] if "GLASSHOUSE_TLS_HTTP2" in more else ["h2", "http/1.1"])
        until(lambda: self.status(server) == 200, server.said)
        return server

    def curl(self, server, path, *arguments):
        """The command of a client that prefers HTTP/2."""
        command = ["curl", "--http2", "-sS", "--max-time", "60", "--cacert", self.authority.path("ca.pem"), "--noproxy", "*"]
        return [*command, *arguments, f"https://localhost:{server.port}{path}"]

    def ask(self, server, path, *arguments):
        """The version of HTTP, the status and the body of the answer."""
        told = ("-w", "\\n%{http_version} %{http_code}")
        done = subprocess.run(self.curl(server, path, *told, *arguments), capture_output=True, text=True, check=True)
        body, _, told = done.stdout.rpartition("\n")
        return (*told.split(), body)

    def post(self, server, path, body, *arguments):
        sent = ("-H", "content-type: application/json", "-d", json.dumps(body))
        version, status, answer = self.ask(server, path, *sent, *arguments)
        self.assertEqual(version, "2")
        self.assertEqual(status[0], "2", answer)
        return json.loads(answer)

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

    def test_http2_on_request(self):
        server = self.start(GLASSHOUSE_TLS_HTTP2="true")
        self.assertEqual(self.ask(server, "/healthz"), ("2", "200", "ok\n"))
        self.assertEqual(self.ask(server, "/healthz", "--http1.1")[0], "1.1")
        cookies = self.authority.path("cookies")
        account = {"email": "ada@example.org", "name": "Ada", "password": "correct horse"}
        self.post(server, "/api/v1/setup", account, "-c", cookies)
        self.assertIn('"ada@example.org"', self.ask(server, "/api/v1/me", "-b", cookies)[2])
        # Only a page of the server's own host may act for the person.
        foreign = self.ask(server, "/api/v1/chats", "-b", cookies, "-d", "{}", "-H", "origin: https://evil.example")
        self.assertEqual(foreign[:2], ("2", "403"))
        own = f"origin: https://localhost:{server.port}"
        chat = self.post(server, "/api/v1/chats", {}, "-b", cookies, "-H", own)["id"]
        sent = {"content": "Show me how Glasshouse works", "model": "tour"}
        run = self.post(server, f"/api/v1/chats/{chat}/messages", sent, "-b", cookies)["run"]
        # The run waits for an approval: what came is not the end of it.
        reader = subprocess.Popen(
            self.curl(server, f"/runs/{run}/events", "-N", "-b", cookies), stdout=subprocess.PIPE, text=True
        )
        self.addCleanup(reader.kill)
        self.assertTrue(any("approval_asked" in line for line in reader.stdout))
        # A server that stops ends the stream in order, not in the middle of a frame.
        server.signal()
        self.assertEqual(reader.wait(60), 0)
        reader.stdout.close()
        self.assertEqual(server.process.wait(60), 0)

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
            (
                {"GLASSHOUSE_TLS_KEY": "", "GLASSHOUSE_TLS_CERTIFICATE": "", "GLASSHOUSE_TLS_HTTP2": "true"},
                "tls.http2 needs tls.certificate",
            ),
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
