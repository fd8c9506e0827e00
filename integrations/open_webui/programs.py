"""The real programs in processes of their own: Glasshouse with an empty data folder, and the scripted model."""

import json
import os
import pathlib
import subprocess
import tempfile

import httpx

EMAIL = "ada@example.org"
PASSWORD = "correct horse"


def _needed(name: str) -> str:
    path = os.environ.get(name)
    if not path:
        raise RuntimeError(f"{name} is not set: run these tests with `cargo xtask test`")
    return path


class Program:
    """A program whose first line ends with its address."""

    def __init__(self, command: list[str], **environment: str) -> None:
        self.child = subprocess.Popen(
            command, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True
        )
        line = self.child.stdout.readline()
        self.url = line[line.index("http://") :].strip()

    def stop(self) -> None:
        self.child.terminate()
        self.child.wait()
        self.child.stdout.close()


class Glasshouse:
    """A server whose administrator has a key; its models are the tour and those of the scripted server."""

    def __init__(self, cases: list[dict]) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="glasshouse-pipe-")
        folder = pathlib.Path(self.folder.name)
        (folder / "scenario.json").write_text(json.dumps({"cases": cases}))
        scenario = ["--listen", "127.0.0.1:0", "--scenario", str(folder / "scenario.json")]
        self.model = Program([_needed("SCRIPTED_MODEL_BIN"), *scenario])
        self.program = Program(
            [_needed("GLASSHOUSE_BIN"), "--listen", "127.0.0.1:0", "--data-dir", str(folder / "data")],
            GLASSHOUSE_LOG_LEVEL="error",
            OPENAI_API_BASE_URL=self.model.url if self.model.url.endswith("/v1") else f"{self.model.url}/v1",
            OPENAI_API_KEY="none",
        )
        self.url = self.program.url
        with httpx.Client(base_url=self.url) as client:
            new = {"email": EMAIL, "name": "Ada", "password": PASSWORD}
            client.post("/api/v1/setup", json=new, headers={"origin": self.url}).raise_for_status()
            made = client.post("/api/v1/keys", json={"name": "pipe"}, headers={"origin": self.url})
            self.key = made.raise_for_status().json()["secret"]
        self.client = httpx.AsyncClient(base_url=self.url, headers={"Authorization": f"Bearer {self.key}"})

    def stop(self) -> None:
        self.program.stop()
        self.model.stop()
        self.folder.cleanup()


def text(words: str, tokens_per_second: float | None = None) -> dict:
    return {"type": "text", "text": words, "tokens_per_second": tokens_per_second}


def calls(*list_of_calls: tuple[str, dict]) -> dict:
    return {"type": "calls", "calls": [{"name": name, "arguments": arguments} for name, arguments in list_of_calls]}


def turn(*steps: dict) -> dict:
    reason = "tool_calls" if any(step["type"] == "calls" for step in steps) else "stop"
    return {"steps": [*steps, {"type": "finish", "reason": reason}]}
