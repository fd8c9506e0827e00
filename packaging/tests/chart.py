"""The Helm chart: renders it, and writes what is generated from it: the plain manifests, and the table of its README.

`cargo xtask test --packaging` checks that they are current; with GLASSHOUSE_WRITE_MANIFESTS=1 it writes them.
"""

import os
import subprocess
import tempfile
from pathlib import Path

import yaml

PACKAGING = Path(__file__).parent.parent
CHART = PACKAGING / "helm/glasshouse"
MANIFESTS = PACKAGING / "kubernetes"
TABLE = ("<!-- values -->\n", "<!-- end of values -->\n")


def needed(name):
    """What the tests are told by `cargo xtask test --packaging`."""
    value = os.environ.get(name)
    if not value:
        raise RuntimeError(f"{name} is not set: run these tests with `cargo xtask test --packaging`")
    return value


def helm(*arguments):
    """Runs Helm without the settings of whoever runs the tests."""
    with tempfile.TemporaryDirectory(prefix="glasshouse-helm-") as home:
        environment = {"PATH": os.environ["PATH"], "HOME": home}
        command = [needed("HELM_BIN"), *map(str, arguments)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def template(values=None, files=()):
    """What `helm template` prints with these values, and what it complains about."""
    arguments = ["template", "glasshouse", CHART, "--namespace", "glasshouse"]
    for file in files:
        arguments += ["--values", file]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as given:
        yaml.safe_dump(values or {}, given)
        given.flush()
        rendered = helm(*arguments, "--values", given.name)
    return rendered.stdout if rendered.returncode == 0 else None, rendered.stderr


def render(values=None, files=()):
    """The objects that the chart makes of these values."""
    printed, problem = template(values, files)
    if printed is None:
        raise RuntimeError(problem)
    return [thing for thing in yaml.safe_load_all(printed) if thing]


def manifests():
    """The files of packaging/kubernetes by name: the chart's output with the values there, without what is Helm's."""
    printed, problem = template(files=[MANIFESTS / "values.yaml"])
    if printed is None:
        raise RuntimeError(problem)
    files = {}
    for document in printed.split("---\n# Source: ")[1:]:
        source, text = document.split("\n", 1)
        lines = [line for line in text.splitlines() if "app.kubernetes.io/managed-by" not in line]
        name = source.rsplit("/", 1)[1]
        files[name] = "\n".join(["# Generated from packaging/helm/glasshouse; see the README there.", *lines]).rstrip() + "\n"
    kustomization = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "namespace": "glasshouse"}
    kustomization["resources"] = sorted(files)
    files["kustomization.yaml"] = yaml.safe_dump(kustomization, sort_keys=False)
    return files


def table():
    """The table of values: each with its default, and the comment above it in values.yaml."""
    rows = ["| Key | Default | Description |", "|---|---|---|"]
    described = dict(comments((CHART / "values.yaml").read_text(encoding="utf-8")))
    for key, default in leaves(yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8")), described):
        shown = yaml.safe_dump(default, default_flow_style=True).removesuffix("\n").removesuffix("\n...")
        rows.append(f"| `{key}` | `{shown.replace(chr(39) * 2, chr(34) * 2)}` | {described.get(key, '')} |")
    return "\n".join(rows) + "\n"


def comments(text):
    """The key of each value that has a comment above it, as `a.b`, and the comment."""
    path, comment = [], []
    for line in text.splitlines():
        words = line.strip()
        if words.startswith("#"):
            comment.append(words.removeprefix("#").strip())
            continue
        if words:
            depth = (len(line) - len(line.lstrip())) // 2
            path = [*path[:depth], words.split(":")[0]]
            if comment:
                yield ".".join(path), " ".join(comment)
        comment = []


def leaves(values, described, prefix=""):
    """The values that are described, and those that hold nothing else."""
    for name, value in values.items():
        key = prefix + name
        if isinstance(value, dict) and value and key not in described:
            yield from leaves(value, described, key + ".")
        else:
            yield key, value


def readme():
    """The README as it has to be."""
    text = (CHART / "README.md").read_text(encoding="utf-8")
    before, rest = text.split(TABLE[0])
    after = rest.split(TABLE[1])[1]
    return before + TABLE[0] + "\n" + table() + "\n" + TABLE[1] + after


def write():
    """Writes all of it."""
    for name, text in manifests().items():
        (MANIFESTS / name).write_text(text, encoding="utf-8")
    (CHART / "README.md").write_text(readme(), encoding="utf-8")
