"""HAProxy and nginx with their examples before real servers, and streams that are read through them."""

import http.client
import json
import ssl
import subprocess
import tempfile
import time
from pathlib import Path

from chart import PACKAGING, needed
from servers import free_port, until

FIRST, LAST = "10.0.0.11:8000", "10.0.0.12:8000"


def addressed(example, addresses):
    """The example with these addresses: its last server stands for all but the first."""
    lines = (PACKAGING / "balancers" / example).read_text(encoding="utf-8").splitlines(keepends=True)
    for address in (FIRST, LAST):
        assert sum(address in line for line in lines) == 1, f"{example} does not name {address} once"
    config = ""
    for line in lines:
        if LAST not in line:
            config += line.replace(FIRST, addresses[0])
            continue
        for number, address in enumerate(addresses[1:]):
            # HAProxy's servers have names, nginx's have not.
            config += line.replace(LAST, address).replace("server b ", f"server b{number} ")
    return config


class Balancer:
    """A balancer with its example, in which addresses and files are those of the test."""

    def __init__(self, config, port=None):
        self.folder = tempfile.TemporaryDirectory(prefix="glasshouse-balancer-")
        self.port = port or free_port()
        certificate = self.path("glasshouse.key"), self.path("glasshouse.pem")
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        command += ["-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
        subprocess.run([*command, "-keyout", certificate[0], "-out", certificate[1]], check=True, capture_output=True)
        self.start(config)
        self.context = ssl.create_default_context(cafile=certificate[1])

    def until_ready(self):
        until(lambda: self.get("/readyz")[0] == 200, self.said)

    def path(self, name):
        return str(Path(self.folder.name, name))

    def run(self, check, command):
        checked = subprocess.run(check, capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stdout + checked.stderr
        self.log = open(self.path("log"), "w", encoding="utf-8")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)

    def said(self):
        return Path(self.path("log")).read_text(encoding="utf-8")

    def connect(self):
        return http.client.HTTPSConnection("localhost", self.port, timeout=60, context=self.context)

    def ask(self, method, path, body=None, headers=None):
        """The status, headers and body of the answer."""
        try:
            connection = self.connect()
            sent = None if body is None else json.dumps(body)
            connection.request(method, path, sent, {"content-type": "application/json", **(headers or {})})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        except (OSError, http.client.HTTPException):
            return None, None, b""
        finally:
            connection.close()

    def get(self, path, **headers):
        return self.ask("GET", path, None, headers)

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()
        self.folder.cleanup()


class HAProxy(Balancer):
    def __init__(self, servers):
        super().__init__(addressed("haproxy.cfg", [server.address for server in servers]))

    def start(self, config):
        both = Path(self.path("both.pem"))
        both.write_bytes(Path(self.path("glasshouse.pem")).read_bytes() + Path(self.path("glasshouse.key")).read_bytes())
        config = config.replace("bind :443", f"bind 127.0.0.1:{self.port}")
        config = config.replace("/etc/haproxy/glasshouse.pem", str(both))
        Path(self.path("haproxy.cfg")).write_text(config, encoding="utf-8")
        program = needed("HAPROXY_BIN")
        self.run([program, "-c", "-f", self.path("haproxy.cfg")], [program, "-db", "-f", self.path("haproxy.cfg")])


class Nginx(Balancer):
    def __init__(self, servers):
        super().__init__(addressed("nginx.conf", [server.address for server in servers]))

    def start(self, config):
        config = config.replace("listen 443", f"listen 127.0.0.1:{self.port}").replace("/etc/nginx/", self.folder.name + "/")
        own = "daemon off; worker_processes 2; pid nginx.pid; error_log stderr; user root;"
        parts = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        paths = "".join(f"{part}_temp_path {self.folder.name}/{part};" for part in parts)
        whole = f"{own}\nevents {{}}\nhttp {{ access_log off; {paths}\n{config}}}\n"
        Path(self.path("nginx.conf")).write_text(whole, encoding="utf-8")
        command = [needed("NGINX_BIN"), "-p", self.folder.name, "-e", "stderr", "-c", self.path("nginx.conf")]
        self.run([*command, "-t"], command)


class Stream:
    """The events of a run, with the time at which each came."""

    def __init__(self, port, path, headers, context=None, host="127.0.0.1"):
        kind = http.client.HTTPSConnection if context else http.client.HTTPConnection
        more = {"context": context} if context else {}
        self.connection = kind("localhost" if context else host, port, timeout=60, **more)
        self.connection.request("GET", path, headers=headers)
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200, self.answer.status

    def events(self):
        """Numbers, events and times until the stream ends, however it does."""
        number = None
        try:
            while line := self.answer.readline().decode():
                if line.startswith("id:"):
                    number = line[3:].strip()
                if line.startswith("data:"):
                    yield number, json.loads(line[5:]), time.monotonic()
        except (OSError, http.client.HTTPException):
            return

    def close(self):
        self.connection.close()
