"""Schemathesis asks every address of the OpenAPI document, rightly and wrongly: no answer is a 5xx, and all are as it says.

GLASSHOUSE_SCHEMATHESIS_SECONDS gives each caller another time than the half minute; with it the requests are others each time.
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "python"))

from programs import Glasshouse, ScriptedModel, text, turn  # noqa: E402

CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
]

# What is not asked, and why.
LEFT_OUT = {
    "GET /api/v1/activity": "a stream without an end",
    "GET /mcp": "a stream without an end",
    "GET /ws": "a WebSocket, which the document cannot describe",
    "PUT /api/v1/settings/default-model": "with the tour for a default, answers wait for a person",
    "PATCH /api/v1/connections/{connection}": "may turn the model off, and then nobody answers",
    "DELETE /api/v1/connections/{connection}": "may take the model away, and then nobody answers",
    "POST /api/v1/logout": "ends the session that asks",
    "DELETE /api/v1/me/sessions": "ends the session that asks",
    "DELETE /api/v1/me/sessions/{session}": "ends the session that asks, where its id comes along",
    "DELETE /api/v1/keys/{key}": "deletes the key that asks, where its id comes along",
    "POST /api/v1/keys/{key}/rotate": "changes the key that asks, where its id comes along",
}


class Asked(unittest.TestCase):
    def setUp(self):
        model = ScriptedModel([{"turns": [turn(text("Well."))]}])
        self.addCleanup(model.close)
        self.glasshouse = Glasshouse()
        self.addCleanup(self.glasshouse.close)
        self.glasshouse.connect("Scripted", model.url + "/v1")
        self.glasshouse.send("PUT", "/api/v1/settings/default-model", {"model": "scripted"})

    def user(self):
        """The session of somebody who is no administrator."""
        account = {"email": "bob@example.org", "password": "correct horse"}
        self.glasshouse.post("/api/v1/users", {**account, "name": "Bob", "role": "user"})
        _, headers = self.glasshouse.post("/api/v1/login", account)
        return headers["set-cookie"].split(";")[0]

    def ask(self, *headers):
        seconds = os.environ.get("GLASSHOUSE_SCHEMATHESIS_SECONDS")
        command = [sys.executable, "-m", "schemathesis.cli", "run", self.glasshouse.url + "/openapi.json"]
        command += ["--checks", ",".join(CHECKS), "--max-time", seconds or "35", "--no-color"]
        # Python 3.11 loses count where two threads read sources at once, so there is one.
        command += ["--workers", "1", "--max-redirects", "0", "--request-timeout", "20"]
        command += ["--warnings", "off", "--suppress-health-check", "all", "--continue-on-failure"]
        command += ["--generation-database", "none"] if seconds else ["--generation-deterministic"]
        for name in LEFT_OUT:
            command += ["--exclude-name", name]
        for header in headers:
            command += ["-H", header]
        with tempfile.TemporaryDirectory() as folder:
            asked = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        self.assertEqual(asked.returncode, 0, asked.stdout[-20_000:] + asked.stderr[-2_000:])

    def test_an_administrators_key(self):
        self.ask(f"Authorization: Bearer {self.glasshouse.key}")

    def test_a_users_key(self):
        key = self.glasshouse.post("/api/v1/keys", {"name": "test"}, self.user())[0]["secret"]
        self.ask(f"Authorization: Bearer {key}")

    def test_a_session(self):
        self.ask(f"Cookie: {self.user()}", f"Origin: {self.glasshouse.url}")


if __name__ == "__main__":
    unittest.main()
