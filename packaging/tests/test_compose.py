"""The Compose files: what they say is in the specification, and what several servers need holds of both together."""

import copy
import subprocess
import tempfile
import unittest
from pathlib import Path

import yaml
from compose_spec import ComposeSpecification

from chart import PACKAGING, needed

REPOSITORY = PACKAGING.parent


class Tagged:
    """A value with Compose's tag `!reset` or `!override`."""

    def __init__(self, tag, value):
        self.tag = tag
        self.value = value


class Loader(yaml.SafeLoader):
    """Reads both tags."""


def tagged(loader, suffix, node):
    if isinstance(node, yaml.SequenceNode):
        return Tagged(suffix, loader.construct_sequence(node, deep=True))
    return Tagged(suffix, loader.construct_scalar(node))


Loader.add_multi_constructor("!", tagged)


def read(name):
    return yaml.load((REPOSITORY / name).read_text(encoding="utf-8"), Loader)


def merged(base, more):
    """Both, as `docker compose config` merges them: mappings by key, lists one after the other, unless a tag says otherwise."""
    result = copy.deepcopy(base)
    for key, value in more.items():
        if isinstance(value, Tagged):
            result.pop(key, None)
            if value.tag == "override":
                result[key] = value.value
        elif isinstance(value, dict):
            result[key] = merged(result.get(key) or {}, value)
        elif isinstance(value, list):
            result[key] = [*result.get(key, []), *value]
        else:
            result[key] = value
    return result


def unknown(given, understood, path=""):
    """What is in the file and not in the specification."""
    for key, value in given.items():
        if key not in understood:
            yield path + key
        elif isinstance(value, dict) and isinstance(understood[key], dict):
            yield from unknown(value, understood[key], f"{path}{key}.")


def understood(compose):
    return ComposeSpecification.model_validate(compose).model_dump(by_alias=True, exclude_unset=True)


class Compose(unittest.TestCase):
    def setUp(self):
        self.one = read("compose.yaml")
        self.several = merged(self.one, read("compose.several.yaml"))

    def test_is_what_the_specification_says(self):
        for compose in (self.one, self.several):
            self.assertEqual(list(unknown(compose, understood(compose))), [])

    def test_unknown_keys_are_seen(self):
        self.one["services"]["glasshouse"]["restarts"] = "always"
        self.assertEqual(list(unknown(self.one, understood(self.one))), ["services.glasshouse.restarts"])

    def test_servers_can_be_several(self):
        glasshouse = self.several["services"]["glasshouse"]
        self.assertNotIn("ports", glasshouse)
        self.assertNotIn("container_name", glasshouse)
        self.assertEqual(glasshouse["volumes"], ["/data"])
        self.assertNotIn("profiles", self.several["services"]["postgres"])
        for name, service in self.several["services"].items():
            for other, how in service.get("depends_on", {}).items():
                # Servers work without the bus, and find it later.
                if other != "valkey":
                    self.assertEqual(how["condition"], "service_healthy", name)
                    self.assertIn("healthcheck", self.several["services"][other])
        self.assertEqual(self.several["services"]["balancer"]["ports"], ["127.0.0.1:${PORT:-8000}:8000"])

    def test_all_settings_are_still_passed_on(self):
        before, after = (compose["services"]["glasshouse"]["environment"] for compose in (self.one, self.several))
        self.assertEqual(before.keys(), after.keys())
        for name in ("GLASSHOUSE_DATABASE_URL", "GLASSHOUSE_SECRET_KEY"):
            self.assertTrue(after[name].startswith(f"${{{name}:?"), after[name])

    def test_a_container_has_time_to_stop(self):
        seconds = int(self.one["services"]["glasshouse"]["stop_grace_period"].removesuffix("s"))
        settings = (REPOSITORY / "config.example.toml").read_text(encoding="utf-8")
        drain = [line for line in settings.splitlines() if line.startswith(("drain_seconds", "shutdown_delay_seconds"))]
        self.assertGreater(seconds, sum(int(line.split(" = ")[1]) for line in drain))

    def test_the_balancer_can_read_its_file(self):
        (mount,) = self.several["services"]["balancer"]["volumes"]
        file = REPOSITORY / mount.split(":")[0]
        with tempfile.TemporaryDirectory(prefix="glasshouse-compose-") as folder:
            config = Path(folder, "haproxy.cfg")
            config.write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
            checked = subprocess.run([needed("HAPROXY_BIN"), "-c", "-f", config], capture_output=True, text=True, check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        self.assertNotIn("WARNING", checked.stderr)

    def test_both_files_for_haproxy_choose_the_same_way(self):
        def rules(name):
            text = (PACKAGING / "balancers" / name).read_text(encoding="utf-8")
            words = ("balance", "hash-type", "http-check", "default-server", "http-request set-var", "retr", "timeout", "option")
            lines = {line.strip() for line in text.splitlines() if line.strip().startswith(words)}
            return lines - {"option forwardfor"}

        self.assertEqual(rules("haproxy.cfg"), rules("compose.cfg"))


if __name__ == "__main__":
    unittest.main()
