"""The real program with a PostgreSQL database of its own, and what stands in for Kubernetes and for networks that fail."""

import http.client
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from base64 import b64encode
from pathlib import Path

import pg8000.native

sys.path.insert(0, str(Path(__file__).parents[2] / "integrations/clients/python"))

from chart import needed  # noqa: E402

# For what takes a moment; a test that waits for longer has failed.
PATIENCE_SECONDS = 60


class Database:
    """An empty database, until it is closed."""

    def __init__(self):
        self.server = urllib.parse.urlsplit(needed("GLASSHOUSE_TEST_POSTGRES_URL"))
        self.name = f"packaging_{secrets.token_hex(8)}"
        self.execute(f"CREATE DATABASE {self.name}")

    def execute(self, sql):
        connection = pg8000.native.Connection(
            self.server.username or "postgres",
            host=self.server.hostname,
            port=self.server.port or 5432,
            password=self.server.password,
            database=self.server.path.strip("/") or "postgres",
        )
        try:
            return connection.run(sql)
        finally:
            connection.close()

    def url(self, host=None):
        """Its URL, through another host and port if one is given."""
        user, _, own = self.server.netloc.rpartition("@")
        return self.server._replace(netloc=f"{user or 'postgres'}@{host or own}", path=self.name).geturl()

    def close(self):
        self.execute(f"DROP DATABASE {self.name} WITH (FORCE)")


class Wire:
    """Passes connections on to a server, until it is cut; then it refuses them."""

    def __init__(self, host, port):
        self.target = (host, port)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.open = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(self.target)
            self.open += [client, server]
            for pair in ((client, server), (server, client)):
                threading.Thread(target=self.copy, args=pair, daemon=True).start()

    @staticmethod
    def copy(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            shut(end)

    def cut(self):
        shut(self.listener)
        for end in [self.listener, *self.open]:
            shut(end)
            end.close()


class Server:
    """The program with this environment and nothing else of ours, as a container has it."""

    host = "127.0.0.1"

    def __init__(self, environment, arguments=("serve",), port=None, inside=(), listen=None):
        """`inside` stands before the command, such as `nsenter`, and `host` is where it is found then."""
        self.port = port or free_port()
        self.folder = tempfile.TemporaryDirectory(prefix="glasshouse-packaging-")
        # What the image or the manifest says about folders and addresses is of the container.
        own = {"GLASSHOUSE_DATA_DIR": self.folder.name, "GLASSHOUSE_LISTEN": listen or f"{self.host}:{self.port}"}
        environment = {"PATH": os.environ["PATH"], **environment, **own}
        self.log = open(Path(self.folder.name, "log"), "w+", encoding="utf-8")
        command = [*inside, needed("GLASSHOUSE_BIN"), *arguments]
        self.process = subprocess.Popen(command, env=environment, stdout=self.log, stderr=self.log)

    @property
    def address(self):
        return f"{self.host}:{self.port}"

    def status(self, path):
        """The status of the answer; nothing if there is no connection."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=10)
        try:
            # Its own name, as a probe says that knows no other.
            connection.request("GET", path, headers={"host": "localhost"})
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def until(self, path, *statuses):
        """Asks until it answers so."""
        return until(lambda: self.status(path) in statuses, self.said)

    def said(self):
        return Path(self.folder.name, "log").read_text(encoding="utf-8")

    def signal(self, which=signal.SIGTERM):
        self.process.send_signal(which)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.log.close()
        self.folder.cleanup()


def shut(end):
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        # The other side was faster.
        pass


def until(holds, explain=lambda: ""):
    """Waits until it holds."""
    give_up = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < give_up:
        if value := holds():
            return value
        time.sleep(0.02)
    raise AssertionError(f"it did not happen within {PATIENCE_SECONDS} s: {explain()}")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def new_key():
    return b64encode(secrets.token_bytes(32)).decode()
