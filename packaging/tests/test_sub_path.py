"""nginx, HAProxy and Caddy with their examples before a server below a path, which they keep or strip: the page, its files,
cookies, streams and WebSockets."""

import json
import re
import unittest
from html.parser import HTMLParser
from pathlib import Path

from balancing import Balancer, HAProxy, Nginx, Stream
from chart import PACKAGING, needed
from servers import Server, free_port, until

PASSWORD = "correct horse"


class Caddy(Balancer):
    def start(self, config):
        # A certificate of the test, and nothing outside of its folder.
        site = f"https://localhost:{self.port} {{\n\ttls {self.path('glasshouse.pem')} {self.path('glasshouse.key')}"
        own = f"{{\n\tadmin off\n\tauto_https disable_redirects\n\tstorage file_system {self.folder.name}\n}}\n"
        Path(self.path("Caddyfile")).write_text(own + config.replace("example.org {", site), encoding="utf-8")
        program, arguments = needed("CADDY_BIN"), ["--adapter", "caddyfile", "--config", self.path("Caddyfile")]
        self.run([program, "validate", *arguments], [program, "run", *arguments])


class SubPath(Balancer):
    """A proxy with its example, which keeps the path as it is written, or strips it as its comment says."""

    example: str
    strip: tuple[str, str]

    def __init__(self, port, server, strips):
        self.strips = strips
        config = (PACKAGING / "balancers/sub-path" / self.example).read_text(encoding="utf-8")
        config, count = re.subn(re.escape("127.0.0.1:8000"), f"127.0.0.1:{server.port}", config)
        assert count == 1, f"{self.example} does not name the server once"
        Balancer.__init__(self, config, port)

    def start(self, config):
        if self.strips:
            config, count = re.subn(*self.strip, config, flags=re.MULTILINE)
            assert count == 1, f"{self.example} does not say once how to strip the path"
        super().start(config)


class SubPathNginx(SubPath, Nginx):
    example, strip = "nginx.conf", (r"(proxy_pass http://[\d.:]+);", r"\1/;")


class SubPathHAProxy(SubPath, HAProxy):
    example, strip = "haproxy.cfg", (r"^    # To strip .*: (http-request .*)$", r"    \1")


class SubPathCaddy(SubPath, Caddy):
    example, strip = "Caddyfile", (r"^\thandle (/ai/\*)", r"\thandle_path \1")


class Addresses(HTMLParser):
    """The addresses in a page."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found += [value for name, value in attrs if name in ("href", "src")]


class Behind:
    """The tests, for each proxy and both ways."""

    kind: type[SubPath]
    strips: bool

    def setUp(self):
        port = free_port()
        self.url = f"https://localhost:{port}/ai"
        self.server = Server({"GLASSHOUSE_PUBLIC_URL": self.url, "GLASSHOUSE_TRUSTED_PROXIES": "127.0.0.1"})
        self.addCleanup(self.server.close)
        self.server.until("/readyz", 200)
        self.proxy = self.kind(port, self.server, self.strips)
        self.addCleanup(self.proxy.close)
        until(lambda: self.proxy.get("/ai/readyz")[0] == 200, self.proxy.said)

    def sign_up(self):
        token = re.search(re.escape(self.url) + r"/setup\?token=(\S+)", self.server.said()).group(1)
        account = {"email": "ada@example.org", "name": "Ada", "password": PASSWORD, "token": token}
        status, headers, body = self.proxy.ask("POST", "/ai/api/v1/setup", account)
        self.assertEqual(status, 200, body)
        self.assertIn("; Path=/ai; ", headers["set-cookie"])
        return {"cookie": headers["set-cookie"].split(";")[0]}

    def test_the_page_and_its_files(self):
        for path in ("/ai/", "/ai/c/1"):
            status, _, body = self.proxy.get(path)
            self.assertEqual(status, 200)
            page = body.decode()
            if "no web app in this build" in page:
                self.skipTest("this build has no web app")
            self.assertIn('data-base="/ai/"', page)
            for address in Addresses(page).found:
                self.assertTrue(address.startswith("/ai/"), address)
                status, headers, _ = self.proxy.get(address)
                self.assertEqual(status, 200, address)
                self.assertNotIn("text/html", headers["content-type"], address)
        _, _, body = self.proxy.get("/ai/manifest.webmanifest")
        self.assertEqual((json.loads(body)["start_url"], json.loads(body)["scope"]), ("./", "./"))
        status, headers, _ = self.proxy.get("/ai")
        self.assertIn((status, headers["location"] and re.sub(r"^https?://[^/]+", "", headers["location"])),
                      [(200, None), (301, "/ai/"), (302, "/ai/")])

    def test_other_paths_are_not_passed_on(self):
        for path in ("/", "/ai2/healthz", "/api/v1/me"):
            status, _, body = self.proxy.get(path)
            self.assertNotIn(b"ok\n", body)
            self.assertIn(status, (200, 404) if isinstance(self.proxy, SubPathCaddy) else (404,), path)

    def test_sign_in_streams_and_sockets(self):
        cookie = self.sign_up()
        _, _, body = self.proxy.get("/ai/api/v1/me", **cookie)
        self.assertEqual(json.loads(body)["user"]["email"], "ada@example.org")
        message = {"messages": [{"role": "user", "content": "Show me how Glasshouse works"}], "model": "tour"}
        connection = self.proxy.connect()
        self.addCleanup(connection.close)
        connection.request("GET", "/ai/api/v1/activity", headers={**cookie, "accept": "text/event-stream"})
        answer = connection.getresponse()
        self.assertEqual(answer.status, 200)
        # What happens is told at once, not when a buffer is full.
        chat = json.loads(self.proxy.ask("POST", "/ai/api/v1/chats", {}, cookie)[2])["id"]
        sent = {"content": message["messages"][0]["content"], "model": "tour"}
        status, _, body = self.proxy.ask("POST", f"/ai/api/v1/chats/{chat}/messages", sent, cookie)
        self.assertIn(status, (200, 201, 202), body)
        self.assertTrue(any(chat.encode() in answer.readline() for _ in range(20)))
        run = json.loads(body)["run"]
        stream = Stream(self.proxy.port, f"/ai/runs/{run}/events", cookie, self.proxy.context)
        self.addCleanup(stream.close)
        events = [event for _, event in zip(range(3), stream.events(), strict=False)]
        self.assertEqual(len(events), 3)
        self.assertEqual(self.upgraded("/ai/ws", cookie), 101)
        status, headers, _ = self.proxy.get("/ai/oauth/mcp/callback")
        self.assertEqual((status, headers["location"]), (303, "/ai/settings/sign-ins?sign_in=signed_out"))

    def upgraded(self, path, cookie):
        connection = self.proxy.connect()
        self.addCleanup(connection.close)
        headers = {"connection": "Upgrade", "upgrade": "websocket", "sec-websocket-version": "13"}
        headers |= {"sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==", "origin": self.url.removesuffix("/ai"), **cookie}
        connection.request("GET", path, headers=headers)
        return connection.getresponse().status


def cases():
    for kind in (SubPathNginx, SubPathHAProxy, SubPathCaddy):
        for strips in (False, True):
            name = f"{kind.__name__}{'Stripped' if strips else 'Kept'}"
            yield name, type(name, (Behind, unittest.TestCase), {"kind": kind, "strips": strips})


globals().update(cases())


class Documented(unittest.TestCase):
    def test_the_examples_of_the_guide_are_those_that_are_tested(self):
        guide = (PACKAGING.parent / "docs/operate/reverse-proxy.md").read_text(encoding="utf-8")
        for name, lines in [
            ("nginx.conf", ["location /ai/ {", "proxy_pass http://127.0.0.1:8000;"]),
            ("Caddyfile", ["redir /ai /ai/", "handle /ai/* {", "reverse_proxy 127.0.0.1:8000"]),
        ]:
            example = (PACKAGING / "balancers/sub-path" / name).read_text(encoding="utf-8")
            for line in lines:
                self.assertIn(line, example)
                self.assertIn(line, guide)


if __name__ == "__main__":
    unittest.main()
