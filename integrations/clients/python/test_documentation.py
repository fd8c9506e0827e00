"""The commands of the documentation, run in a shell against the real program.

A code block of the language `sh` or `python` whose opening fence says `run` is run. The blocks of a page are one script,
in an empty folder and with a server of their own: each may use the variables and files of those before it.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

from programs import Glasshouse, ScriptedModel, needed, text, turn

ROOT = Path(__file__).resolve().parents[3]
FENCE = re.compile(r"^(?P<indent> *)```(?P<language>sh|python) run\n(?P<code>.*?)^ *```$", re.MULTILINE | re.DOTALL)
FENCE_WITH_RUN = re.compile(r"^ *```.*\brun\b", re.MULTILINE)


def setUpModule():
    missing = [name for name in ("bash", "curl", "jq") if shutil.which(name) is None]
    if missing:
        raise RuntimeError(f"the commands of the documentation need {', '.join(missing)}: install them")


def blocks(page):
    """The blocks to run: their line, language and code."""
    for found in FENCE.finditer(page):
        code = textwrap.dedent(found["code"])
        yield page.count("\n", 0, found.start()) + 1, found["language"], code


def script(name, page):
    """All blocks of a page as one script, which says where it is before each of them."""
    lines = ["set -euo pipefail"]
    for line, language, code in blocks(page):
        lines.append(f"echo '== {name}:{line}' >&2")
        lines.append(code if language == "sh" else f"\"$PYTHON\" - <<'END_OF_BLOCK'\n{code}END_OF_BLOCK")
    return "\n".join(lines)


class Documentation(unittest.TestCase):
    """A test for each page with blocks to run; `add_tests` adds them."""


class Pages(unittest.TestCase):
    def test_blocks_are_read(self):
        page = "# T\n```sh run\na\n```\n```sh\nb\n```\n1. c\n\n   ```python run\n   d\n     e\n   ```\n"
        self.assertEqual(list(blocks(page)), [(2, "sh", "a\n"), (10, "python", "d\n  e\n")])

    def test_a_block_that_fails_is_named(self):
        page = "```sh run\ntrue\n```\n\n```sh run\nfalse\n```\n"
        with tempfile.TemporaryDirectory() as folder:
            outcome = run_script(script("x.md", page), folder, dict(os.environ))
        self.assertNotEqual(outcome.returncode, 0)
        self.assertEqual(outcome.stderr.split("\n")[-2], "== x.md:5")


def run_script(code, folder, environment):
    return subprocess.run(
        ["bash", "-c", code],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def environment_of(glasshouse, model, folder):
    """What the documentation takes for granted: the address, a key, a model server, and the program on the path."""
    programs = Path(folder, ".bin")
    programs.mkdir()
    Path(programs, "glasshouse").symlink_to(needed("GLASSHOUSE_BIN"))
    # A status of 400 or more is a failure, as it would be for a reader.
    Path(folder, ".curlrc").write_text("fail-with-body\nsilent\nshow-error\nmax-time = 30\n", encoding="utf-8")
    return {
        **os.environ,
        "CURL_HOME": str(folder),
        "GLASSHOUSE_DATA_DIR": glasshouse.folder.name,
        "GLASSHOUSE_KEY": glasshouse.key,
        "GLASSHOUSE_URL": glasshouse.url,
        "MODEL": "scripted",
        "MODEL_URL": model.url,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHON": sys.executable,
    }


def check_page(test, name, page):
    marked, read = len(FENCE_WITH_RUN.findall(page)), len(list(blocks(page)))
    test.assertEqual(marked, read, f"{name}: a block is marked `run` and is neither sh nor python, or has no end")
    model, glasshouse = ScriptedModel([{"turns": [turn(text("Hello. "), text("Done."))]}]), Glasshouse()
    try:
        glasshouse.connect("Scripted", model.url)
        glasshouse.send("PUT", "/api/v1/settings/default-model", {"model": "scripted"})
        with tempfile.TemporaryDirectory(prefix="glasshouse-docs-") as folder:
            outcome = run_script(script(name, page), folder, environment_of(glasshouse, model, folder))
    finally:
        glasshouse.close()
        model.close()
    said = f"\n{outcome.stderr}{outcome.stdout[-2000:]}"
    test.assertEqual(outcome.returncode, 0, f"the last block that is named here failed:{said}")


def add_tests():
    """A test for each page that has blocks to run."""
    for path in [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]:
        name, page = str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
        if FENCE_WITH_RUN.search(page):
            title = "test_" + re.sub(r"\W+", "_", name.removesuffix(".md"))
            setattr(Documentation, title, lambda test, name=name, page=page: check_page(test, name, page))


add_tests()


class Coverage(unittest.TestCase):
    def test_most_pages_that_can_are_run(self):
        pages = [name for name in dir(Documentation) if name.startswith("test_")]
        self.assertGreater(len(pages), 40, pages)


if __name__ == "__main__":
    unittest.main()
