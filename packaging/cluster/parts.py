"""What several servers need, as real programs that a test stops, cuts off and starts again: PostgreSQL with standbys, PgBouncer,
Redis or Valkey, an S3 server, a model server and networks."""

import http.server
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pg8000.native

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from chart import needed  # noqa: E402
from servers import free_port, until  # noqa: E402

# PostgreSQL and PgBouncer refuse to run as root.
NOBODY = pwd.getpwnam("nobody")
DEMOTED = ["setpriv", f"--reuid={NOBODY.pw_uid}", f"--regid={NOBODY.pw_gid}", "--clear-groups", "--"]


def unprivileged(command):
    return DEMOTED + command if os.getuid() == 0 else command


class Folder:
    """A folder of programs that may run without privileges."""

    def __init__(self, name):
        self.path = Path(tempfile.mkdtemp(prefix=f"glasshouse-{name}-"))
        if os.getuid() == 0:
            os.chown(self.path, NOBODY.pw_uid, NOBODY.pw_gid)

    def close(self):
        shutil.rmtree(self.path, ignore_errors=True)


class Postgres:
    """A cluster of our own, or a standby of another one."""

    def __init__(self, primary=None):
        self.folder = Folder("postgres")
        self.data = self.folder.path / "data"
        self.port = free_port()
        if primary:
            source = f"host=127.0.0.1 port={primary.port} user=postgres"
            self.run("pg_basebackup", "-D", self.data, "-d", source, "-R", "-X", "stream", "--checkpoint=fast")
        else:
            own = ["-U", "postgres", "-A", "trust", "--encoding=UTF8", "--locale=C", "--no-sync"]
            self.run("initdb", "-D", self.data, *own)
            with open(self.data / "pg_hba.conf", "a", encoding="utf-8") as access:
                access.write("host all all 10.0.0.0/8 trust\n")
        self.start()

    def run(self, program, *arguments):
        command = [str(Path(needed("GLASSHOUSE_TEST_POSTGRES_PROGRAMS"), program)), *map(str, arguments)]
        done = subprocess.run(unprivileged(command), cwd="/", stdin=subprocess.DEVNULL, capture_output=True, check=False)
        assert done.returncode == 0, f"{program}: {done.stderr.decode()}{self.said()}"

    def said(self):
        log = self.folder.path / "log"
        return log.read_text(encoding="utf-8") if log.exists() else ""

    def start(self):
        settings = {
            "listen_addresses": "*",
            "unix_socket_directories": "",
            "max_connections": 200,
            "fsync": "off",
            "wal_level": "replica",
            "hot_standby": "on",
        }
        options = " ".join([f"-p {self.port}", *(f"-c {name}={value}" for name, value in settings.items())])
        # Without its output, which a server would keep open.
        log = self.folder.path / "log"
        program = str(Path(needed("GLASSHOUSE_TEST_POSTGRES_PROGRAMS"), "pg_ctl"))
        command = [program, "-D", str(self.data), "-w", "-s", "-o", options, "-l", str(log), "start"]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        done = subprocess.run(unprivileged(command), cwd="/", check=False, **quiet)
        assert done.returncode == 0, self.said()

    def stop(self, mode):
        """`fast`: its clients are told. `immediate`: as a crash."""
        self.run("pg_ctl", "-D", self.data, "-w", "-s", "-m", mode, "stop")

    def promote(self):
        self.run("pg_ctl", "-D", self.data, "-w", "-s", "promote")

    def execute(self, sql):
        connection = pg8000.native.Connection("postgres", host="127.0.0.1", port=self.port, database="postgres")
        try:
            return connection.run(sql)
        finally:
            connection.close()

    def url(self, *hosts, parameters=""):
        hosts = ",".join(hosts or [f"127.0.0.1:{self.port}"])
        return f"postgres://postgres@{hosts}/postgres{parameters}"

    def close(self):
        if (self.data / "postmaster.pid").exists():
            self.stop("immediate")
        self.folder.close()


class Process:
    """A program that listens at a port of its own, until it is closed."""

    def __init__(self, command, host="127.0.0.1"):
        self.command = command
        self.host = host
        self.start()

    def start(self):
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(self.command, **quiet)
        until(self.listens, lambda: " ".join(self.command))

    def listens(self):
        assert self.process.poll() is None, f"{self.command[0]} ended with {self.process.returncode}"
        try:
            socket.create_connection((self.host, self.port), timeout=1).close()
            return True
        except OSError:
            return False

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        self.kill()


class Redis(Process):
    def __init__(self):
        self.port = free_port()
        program = needed("GLASSHOUSE_TEST_REDIS_PROGRAM")
        # In a network of our own, it may be asked by all.
        super().__init__([program, "--bind", "0.0.0.0", "--protected-mode", "no", "--save", "", "--port", str(self.port)])

    def url(self, host="127.0.0.1"):
        return f"redis://{host}:{self.port}"

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)


class PgBouncer(Process):
    def __init__(self, postgres, mode, more=""):
        self.folder = Folder("pgbouncer")
        self.port = free_port()
        config = self.folder.path / "pgbouncer.ini"
        config.write_text(
            "[databases]\n"
            f"* = host=127.0.0.1 port={postgres.port}\n"
            "[pgbouncer]\n"
            f"listen_addr = 127.0.0.1\nlisten_port = {self.port}\nunix_socket_dir =\n"
            f"auth_type = any\npool_mode = {mode}\ndefault_pool_size = 20\nmax_client_conn = 500\n{more}\n",
            encoding="utf-8",
        )
        # `any` passes everybody on as one user.
        config.write_text(config.read_text().replace(f"port={postgres.port}", f"port={postgres.port} user=postgres"))
        super().__init__(unprivileged([needed("PGBOUNCER_BIN"), "-q", str(config)]))

    def url(self, parameters=""):
        return f"postgres://postgres@127.0.0.1:{self.port}/postgres{parameters}"

    def close(self):
        super().close()
        self.folder.close()


class ObjectStorage:
    """An S3 server with an empty bucket."""

    def __init__(self):
        script = Path(__file__).parent / "s3.py"
        command = [needed("GLASSHOUSE_CLUSTER_S3_PYTHON"), str(script)]
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line, "the S3 server did not start"
        told = json.loads(line)
        self.environment = {
            "GLASSHOUSE_OBJECT_STORAGE_URL": f"s3://{told['bucket']}/test",
            "GLASSHOUSE_OBJECT_STORAGE_ENDPOINT": told["endpoint"],
            "GLASSHOUSE_OBJECT_STORAGE_REGION": "eu-central-1",
            "GLASSHOUSE_OBJECT_STORAGE_ACCESS_KEY": told["access_key_id"],
            "GLASSHOUSE_OBJECT_STORAGE_SECRET_KEY": told["secret"],
        }

    def close(self):
        self.process.kill()
        self.process.wait()


class Model:
    """A model server that says `N words at R: …` as it is told to, and counts how often it is asked for each text."""

    def __init__(self):
        asked = self.asked = {}

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                data = json.dumps({"object": "list", "data": [{"id": "paced", "object": "model"}]}).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                text = next(text_of(m) for m in reversed(body["messages"]) if m["role"] == "user")
                asked[text] = asked.get(text, 0) + 1
                words, _, rest = text.partition(" words at ")
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("connection", "close")
                self.end_headers()
                pause = 1 / float(rest.partition(":")[0])
                began = time.monotonic()
                for number in range(int(words)):
                    self.say({"delta": {"content": f"word{number} "}})
                    time.sleep(max(0, began + (number + 1) * pause - time.monotonic()))
                self.say({"delta": {}, "finish_reason": "stop"})
                self.wfile.write(b"data: [DONE]\n\n")
                self.close_connection = True

            def say(self, choice):
                chunk = {"id": "c", "object": "chat.completion.chunk", "model": "paced", "choices": [{"index": 0, **choice}]}
                self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")

            def handle(self):
                try:
                    super().handle()
                except OSError:
                    # A client that was killed.
                    pass

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("0.0.0.0", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, host="127.0.0.1"):
        return f"http://{host}:{self.port}/v1"

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def text_of(message):
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


class Network:
    """Networks to what the servers of a test need, and the servers' own machines, which are network namespaces. A machine that
    is cut off from a network does not notice: packets get lost on the way.

    The test itself has to be in a namespace of its own, which `cargo xtask test --cluster` makes.
    """

    def __init__(self, names):
        self.names = {name: f"10.{70 + number}.0" for number, name in enumerate(names)}
        self.holders = {}
        for name, prefix in self.names.items():
            ip("link", "add", f"br-{name}", "type", "bridge")
            ip("addr", "add", f"{prefix}.1/24", "dev", f"br-{name}")
            ip("link", "set", f"br-{name}", "up")

    def add(self, machine):
        """Adds a machine. Returns what has to stand before a command that runs there."""
        number = len(self.holders) + 1
        # It ends with the test, however that ends.
        holder = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "sleep", "infinity"])
        self.holders[machine] = (number, holder)
        own = os.readlink("/proc/self/ns/net")
        until(lambda: os.readlink(f"/proc/{holder.pid}/ns/net") != own and command_of(holder.pid) == "sleep")
        inside = ["nsenter", "--target", str(holder.pid), "--net", "--"]
        subprocess.run([*inside, "ip", "link", "set", "lo", "up"], check=True)
        for name, prefix in self.names.items():
            ip("link", "add", self.port(machine, name), "type", "veth", "peer", "name", name, "netns", str(holder.pid))
            self.join(machine, name)
            ip("link", "set", self.port(machine, name), "up")
            subprocess.run([*inside, "ip", "addr", "add", f"{prefix}.{10 + number}/24", "dev", name], check=True)
            subprocess.run([*inside, "ip", "link", "set", name, "up"], check=True)
        return inside

    def port(self, machine, name):
        return f"{name}-{self.holders[machine][0]}"

    def host(self, name):
        """The address at which machines find this test."""
        return f"{self.names[name]}.1"

    def address(self, machine, name):
        return f"{self.names[name]}.{10 + self.holders[machine][0]}"

    def cut(self, machine, name):
        ip("link", "set", self.port(machine, name), "nomaster")

    def join(self, machine, name):
        ip("link", "set", self.port(machine, name), "master", f"br-{name}")

    def close(self):
        for _, holder in self.holders.values():
            holder.kill()
            holder.wait()
        for name in self.names:
            ip("link", "del", f"br-{name}")


def command_of(pid):
    return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()


def ip(*arguments):
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"ip {' '.join(arguments)}: {done.stderr}"
