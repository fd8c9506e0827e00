"""The real programs in processes of their own, and an account with a key to speak with them."""

import http.client
import json
import os
import subprocess
import tempfile
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def needed(name):
    """The path of a program that the tests need."""
    path = os.environ.get(name)
    if not path:
        raise RuntimeError(f"{name} is not set: run these tests with `cargo xtask test --clients`")
    return path


class Program:
    """A program that says its address in its first line, until it is closed."""

    def __init__(self, name, *arguments, **environment):
        command = [needed(name), "--listen", "127.0.0.1:0", *arguments]
        environment = {**os.environ, **environment}
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if "http://" not in line:
            raise RuntimeError(f"{name} did not start: {line!r}")
        self.url = line[line.index("http://") :].strip().rstrip("/")
        # Whatever else it prints must not fill the pipe.
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def close(self):
        self.process.terminate()
        self.process.wait()


class Glasshouse(Program):
    """Glasshouse with an empty data folder, an administrator and a key."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="glasshouse-clients-")
        # The tests count what their model is asked.
        beside = {f"GLASSHOUSE_PIPELINES_ENABLE_{name}_GENERATION": "false" for name in ("TITLE", "TAGS", "FOLLOW_UP")}
        super().__init__("GLASSHOUSE_BIN", "--data-dir", self.folder.name, GLASSHOUSE_LOG_LEVEL="error", **beside)
        account = {"email": "ada@example.org", "name": "Ada", "password": "correct horse"}
        _, headers = self.post("/api/v1/setup", account)
        self.cookie = headers["set-cookie"].split(";")[0]
        self.key = self.post("/api/v1/keys", {"name": "test"})[0]["secret"]

    cookie = ""

    def post(self, path, body, cookie=None):
        """Posts JSON, as the administrator or with another session; returns the answer and its headers."""
        return self.send("POST", path, body, cookie)

    def send(self, method, path, body, cookie=None):
        """Sends JSON in the same way; an answer without a body is nothing."""
        headers = {"content-type": "application/json", "cookie": cookie or self.cookie}
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), headers, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read() or "null"), answer.headers

    def get(self, path):
        """Reads JSON as the administrator."""
        request = urllib.request.Request(self.url + path, headers={"cookie": self.cookie})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def connect(self, name, base_url, kind="openai"):
        """Makes a model server known."""
        connection = {"name": name, "kind": kind, "base_url": base_url, "api_key": "sk-upstream"}
        self.post("/api/v1/connections", connection)

    def close(self):
        super().close()
        self.folder.cleanup()


class ScriptedModel(Program):
    """The scripted model server with these cases."""

    def __init__(self, cases):
        self.folder = tempfile.TemporaryDirectory(prefix="glasshouse-model-")
        scenario = Path(self.folder.name, "scenario.json")
        scenario.write_text(json.dumps({"cases": cases}), encoding="utf-8")
        super().__init__("SCRIPTED_MODEL_BIN", "--scenario", str(scenario))

    def close(self):
        super().close()
        self.folder.cleanup()


class Recorder:
    """Stands before a model server and keeps the bodies it is sent."""

    def __init__(self, url):
        target, path = url.split("//", 1)[1].split("/", 1)
        bodies = self.bodies = []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                self.hand_on(None)

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                bodies.append(json.loads(body))
                self.hand_on(body)

            def hand_on(self, body):
                server = http.client.HTTPConnection(target)
                server.request(self.command, self.path, body, {"content-type": "application/json"})
                answer = server.getresponse()
                data = answer.read()
                self.send_response(answer.status)
                for name in ("content-type", "retry-after"):
                    if answer.getheader(name):
                        self.send_header(name, answer.getheader(name))
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
                server.close()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/{path}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class JsonServer:
    """A model server without streams: `answers` maps a path to a function from the request's JSON to the answer's."""

    def __init__(self, models, answers):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                self.answer({"data": [{"id": model} for model in models]})

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                self.answer(answers[self.path](body))

            def answer(self, value):
                data = json.dumps(value).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def text(words):
    """A step of the scripted model that says something."""
    return {"type": "text", "text": words}


def calls(*named):
    """A step with parallel tool calls, each a name and its arguments."""
    return {"type": "calls", "calls": [{"name": name, "arguments": arguments} for name, arguments in named]}


def turn(*steps):
    """An answer of these steps, with usage and the fitting end."""
    reason = "tool_calls" if any(step["type"] == "calls" for step in steps) else "stop"
    usage = {"type": "usage", "input_tokens": 12, "output_tokens": 4}
    return {"steps": [*steps, usage, {"type": "finish", "reason": reason}]}


def refusal(status, code, **headers):
    """An answer that is OpenAI's error object."""
    error = {"message": f"The script refuses with {status}.", "type": "scripted", "param": "messages", "code": code}
    headers = {"content-type": "application/json", **headers}
    return {"status": status, "headers": headers, "body": json.dumps({"error": error})}


def whole(message, reason="stop"):
    """An answer that is not streamed."""
    answer = {
        "id": "chatcmpl-whole",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted",
        "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 4, "total_tokens": 16},
    }
    return {"status": 200, "headers": {"content-type": "application/json"}, "body": json.dumps(answer)}
