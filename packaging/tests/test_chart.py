"""The chart refuses what cannot work, and everything it renders is valid and does what its values say."""

import itertools
import os
import re
import unittest

import jsonschema
import kubernetes_validate
import yaml

import chart

POSTGRES = {"database": {"existingSecret": "db"}, "secretKey": {"existingSecret": "key"}}
# Versions of Kubernetes: the oldest and the newest that the chart is tried with.
VERSIONS = ["1.27", "1.37"]
# Custom resources, whose definitions Kubernetes does not have: the fields that they may have, by path.
CUSTOM = {
    "HTTPRoute": {"parentRefs", "hostnames", "rules"},
    "ServiceMonitor": {"selector", "endpoints"},
}
EVERYTHING = {
    **POSTGRES,
    "replicas": 3,
    "publicUrl": "https://ai.example.org",
    "trustedProxies": ["10.0.0.0/8", "192.0.2.1"],
    "bus": {"existingSecret": "bus"},
    "objectStorage": {
        "url": "s3://contents/ai",
        "endpoint": "https://s3.example.org",
        "region": "eu-1",
        "existingSecret": "s3",
        "accessKeyKey": "id",
    },
    "modelKeys": {"existingSecret": "models"},
    "env": {"GLASSHOUSE_LIMITS_STEPS": "30"},
    "extraEnv": [{"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
    "extraEnvFrom": [{"configMapRef": {"name": "more"}}],
    "image": {"pullSecrets": [{"name": "registry"}], "tag": "1.2.3"},
    "ingress": {
        "enabled": True,
        "className": "nginx",
        "annotations": {"a": "b"},
        "hosts": ["ai.example.org", "chat.example.org"],
        "tls": [{"secretName": "tls", "hosts": ["ai.example.org"]}],
    },
    "httpRoute": {"enabled": True, "parentRefs": [{"name": "gateway"}], "hostnames": ["ai.example.org"]},
    "autoscaling": {"enabled": True},
    "metrics": {"annotations": True, "serviceMonitor": {"enabled": True, "existingSecret": "admin", "labels": {"a": "b"}}},
    "networkPolicy": {
        "ingressFrom": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "ingress"}}}],
        "egress": [{"ports": [{"port": 443, "protocol": "TCP"}]}],
    },
    "workspaces": {"existingClaim": "shared"},
    "serviceAccount": {"annotations": {"role": "x"}},
    "service": {"annotations": {"a": "b"}, "type": "LoadBalancer"},
    "podAnnotations": {"a": "b"},
    "podLabels": {"c": "d"},
    "nodeSelector": {"disk": "fast"},
    "tolerations": [{"key": "a", "operator": "Exists"}],
    "affinity": {"podAntiAffinity": {}},
    "priorityClassName": "high",
    "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}],
}
LEAST = {
    "serviceAccount": {"create": False},
    "networkPolicy": {"enabled": False},
    "shutdown": {"preStopSeconds": 0, "delaySeconds": 0, "drainSeconds": 0},
    "persistence": {"existingClaim": "old", "storageClass": "fast"},
}
RUNNER = {"enabled": True, "existingSecret": "runner"}
ELSEWHERE = {
    "only": True,
    "server": "https://ai.example.org",
    "networkPolicy": {"egress": [{"ports": [{"port": 443, "protocol": "TCP"}]}]},
}
SETS = {
    "defaults": {},
    "least": LEAST,
    "postgres": POSTGRES,
    "several": {**POSTGRES, "replicas": 3},
    "everything": EVERYTHING,
    "no budget, no migration": {**POSTGRES, "podDisruptionBudget": {"enabled": False}, "migration": {"enabled": False}},
    "cpu only": {**POSTGRES, "autoscaling": {"enabled": True, "activeRuns": {"enabled": False}}},
    "runners": {**POSTGRES, "runner": RUNNER},
    "runners only": {"runner": {**RUNNER, **ELSEWHERE}},
    "runners without user namespaces": {"runner": {**RUNNER, "hostUsers": None, "runtimeClassName": "gvisor"}},
    "custom names": {"nameOverride": "x", "fullnameOverride": "y" * 80, "persistence": {"storageClass": "slow"}},
}


def kinds(things):
    return sorted(thing["kind"] for thing in things)


def one(things, kind):
    """The only one of its kind."""
    (found,) = [thing for thing in things if thing["kind"] == kind]
    return found


def is_runner(thing):
    return thing["metadata"].get("labels", {}).get("app.kubernetes.io/component") == "runner"


def runner(things, kind):
    """The runner's only one of its kind."""
    return one([thing for thing in things if is_runner(thing)], kind)


def container(deployment):
    (found,) = deployment["spec"]["template"]["spec"]["containers"]
    return found


def variables(deployment):
    return {variable["name"]: variable for variable in container(deployment)["env"]}


class Rendered(unittest.TestCase):
    def test_lints(self):
        linted = chart.helm("lint", "--strict", chart.CHART)
        self.assertEqual(linted.returncode, 0, linted.stdout + linted.stderr)

    def test_is_valid_kubernetes(self):
        for name, values in SETS.items():
            for thing in chart.render(values):
                with self.subTest(name, kind=thing["kind"]):
                    if thing["kind"] in CUSTOM:
                        self.assertLessEqual(thing["spec"].keys(), CUSTOM[thing["kind"]])
                        continue
                    for version in VERSIONS:
                        kubernetes_validate.validate(thing, version, strict=True)

    def test_unknown_fields_are_seen(self):
        thing = one(chart.render(), "Deployment")
        container(thing)["livenessProb"] = {}
        with self.assertRaises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(thing, VERSIONS[-1], strict=True)

    def test_names_are_valid(self):
        for name, values in SETS.items():
            for thing in chart.render(values):
                with self.subTest(name, kind=thing["kind"]):
                    self.assertRegex(thing["metadata"]["name"], re.compile(r"\A[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\Z"))

    def test_the_path_of_the_url_is_that_of_the_ingress_and_the_route(self):
        for url, path in [
            ("", "/"),
            ("https://ai.example.org", "/"),
            ("https://ai.example.org/", "/"),
            ("https://example.org:8443/ai", "/ai"),
            ("https://example.org/tools/ai/", "/tools/ai"),
        ]:
            with self.subTest(url):
                things = chart.render({**EVERYTHING, "publicUrl": url})
                (first, _) = one(things, "Ingress")["spec"]["rules"]
                (rule,) = first["http"]["paths"]
                self.assertEqual((rule["path"], rule["pathType"]), (path, "Prefix"))
                (rule,) = one(things, "HTTPRoute")["spec"]["rules"]
                self.assertEqual(rule["matches"], [{"path": {"type": "PathPrefix", "value": path}}])
                probes = container(one(things, "Deployment"))
                self.assertEqual(probes["livenessProbe"]["httpGet"]["path"], "/healthz")

    def test_selectors_choose_the_pods(self):
        things = chart.render(EVERYTHING)
        labels = one(things, "Deployment")["spec"]["template"]["metadata"]["labels"].items()
        job = one(things, "Job")["spec"]["template"]["metadata"]["labels"].items()
        chosen = {
            "Deployment": one(things, "Deployment")["spec"]["selector"]["matchLabels"],
            "Service": one(things, "Service")["spec"]["selector"],
            "PodDisruptionBudget": one(things, "PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
        }
        for kind, selector in chosen.items():
            self.assertLessEqual(selector.items(), labels, kind)
            self.assertFalse(selector.items() <= job, f"{kind} must not choose the Job")
        policy = one(things, "NetworkPolicy")["spec"]["podSelector"]["matchLabels"]
        self.assertLessEqual(policy.items(), labels)
        self.assertLessEqual(policy.items(), job)

    def test_kinds(self):
        common = ["Deployment", "NetworkPolicy", "Service", "ServiceAccount"]
        self.assertEqual(kinds(chart.render()), sorted([*common, "PersistentVolumeClaim"]))
        self.assertEqual(kinds(chart.render(POSTGRES)), sorted([*common, "Job", "PodDisruptionBudget"]))
        self.assertEqual(kinds(chart.render(LEAST)), ["Deployment", "Service"])
        more = ["HTTPRoute", "HorizontalPodAutoscaler", "Ingress", "ServiceMonitor"]
        self.assertEqual(kinds(chart.render(EVERYTHING)), sorted([*common, "Job", "PodDisruptionBudget", *more]))

    def test_sqlite_is_for_one_server(self):
        deployment = one(chart.render(), "Deployment")["spec"]
        self.assertEqual((deployment["replicas"], deployment["strategy"]), (1, {"type": "Recreate"}))
        claim = {"claimName": "glasshouse-data"}
        self.assertIn({"name": "data", "persistentVolumeClaim": claim}, deployment["template"]["spec"]["volumes"])
        self.assertNotIn("GLASSHOUSE_DATABASE_URL", variables({"spec": deployment}))

    def test_servers_share_the_database_and_the_key_only(self):
        deployment = one(chart.render({**POSTGRES, "replicas": 3}), "Deployment")
        self.assertEqual(deployment["spec"]["replicas"], 3)
        self.assertEqual(deployment["spec"]["strategy"]["rollingUpdate"], {"maxSurge": 1, "maxUnavailable": 0})
        data = {"name": "data", "emptyDir": {"sizeLimit": "2Gi"}}
        self.assertIn(data, deployment["spec"]["template"]["spec"]["volumes"])
        secret = variables(deployment)["GLASSHOUSE_SECRET_KEY"]["valueFrom"]["secretKeyRef"]
        self.assertEqual(secret, {"name": "key", "key": "secret-key"})

    def test_the_job_opens_the_same_database(self):
        things = chart.render(EVERYTHING)
        (job,) = one(things, "Job")["spec"]["template"]["spec"]["containers"]
        server = container(one(things, "Deployment"))
        self.assertEqual((job["args"], job["image"]), (["migrate"], server["image"]))
        self.assertEqual(server["args"], ["serve", "--no-migrate"])
        for variable in job["env"]:
            self.assertIn(variable, server["env"])
        hook = one(things, "Job")["metadata"]["annotations"]["helm.sh/hook"]
        self.assertEqual(hook, "pre-install,pre-upgrade")

    def test_a_scaled_deployment_has_no_number_of_its_own(self):
        self.assertNotIn("replicas", one(chart.render(EVERYTHING), "Deployment")["spec"])
        metrics = one(chart.render(EVERYTHING), "HorizontalPodAutoscaler")["spec"]["metrics"]
        self.assertEqual([metric["type"] for metric in metrics], ["Pods", "Resource"])
        text = (chart.PACKAGING.parent / "crates/server/src/platform/metrics.txt").read_text(encoding="utf-8")
        self.assertIn(f"\n{metrics[0]['pods']['metric']['name']} ", text)

    def test_pods_are_confined(self):
        for name, values in SETS.items():
            for thing in chart.render(values):
                if thing["kind"] not in ("Deployment", "Job") or is_runner(thing):
                    continue
                with self.subTest(name, kind=thing["kind"]):
                    pod = thing["spec"]["template"]["spec"]
                    self.assertFalse(pod["automountServiceAccountToken"])
                    # GLASSHOUSE_PORT=tcp://… and others would be taken for settings.
                    self.assertFalse(pod["enableServiceLinks"])
                    self.assertTrue(pod["securityContext"]["runAsNonRoot"])
                    self.assertEqual(pod["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})
                    (confined,) = [container["securityContext"] for container in pod["containers"]]
                    self.assertTrue(confined["readOnlyRootFilesystem"])
                    self.assertFalse(confined["allowPrivilegeEscalation"])
                    self.assertEqual(confined["capabilities"], {"drop": ["ALL"]})

    def test_runners_have_a_token_and_nothing_else(self):
        things = chart.render({**POSTGRES, "runner": RUNNER, "bus": {"existingSecret": "bus"}})
        deployment = runner(things, "Deployment")
        secrets = [name for name, variable in variables(deployment).items() if "secretKeyRef" in variable.get("valueFrom", {})]
        self.assertEqual(secrets, ["GLASSHOUSE_RUNNER_TOKEN"])
        server = one([thing for thing in things if not is_runner(thing)], "Deployment")
        token = variables(server)["GLASSHOUSE_PROGRAMS_RUNNER_TOKEN"]["valueFrom"]
        self.assertEqual(variables(deployment)["GLASSHOUSE_RUNNER_TOKEN"]["valueFrom"], token)
        self.assertEqual(variables(deployment)["GLASSHOUSE_RUNNER_SERVER"]["value"], "http://glasshouse:80")
        pod = deployment["spec"]["template"]["spec"]
        self.assertFalse(pod["automountServiceAccountToken"])
        self.assertNotIn("serviceAccountName", pod)
        self.assertEqual(pod["securityContext"]["seccompProfile"], {"type": "Unconfined"})
        confined = container(deployment)["securityContext"]
        self.assertEqual((confined["procMount"], pod["hostUsers"]), ("Unmasked", False))
        self.assertTrue(confined["readOnlyRootFilesystem"] and not confined["allowPrivilegeEscalation"])
        self.assertEqual(pod["terminationGracePeriodSeconds"], 70)

    def test_runners_reach_the_servers_only(self):
        things = chart.render({**POSTGRES, "runner": RUNNER, "networkPolicy": EVERYTHING["networkPolicy"]})
        labels = runner(things, "Deployment")["spec"]["template"]["metadata"]["labels"].items()
        policy = runner(things, "NetworkPolicy")["spec"]
        self.assertLessEqual(policy["podSelector"]["matchLabels"].items(), labels)
        self.assertEqual((policy["ingress"], policy["policyTypes"]), ([], ["Ingress", "Egress"]))
        dns, servers = policy["egress"]
        self.assertEqual({port["port"] for port in dns["ports"]}, {53})
        servers_policy = one([thing for thing in things if not is_runner(thing)], "NetworkPolicy")["spec"]
        server = one([thing for thing in things if not is_runner(thing)], "Deployment")["spec"]["template"]["metadata"]["labels"]
        (chosen,) = servers["to"]
        self.assertLessEqual(chosen["podSelector"]["matchLabels"].items(), server.items())
        # Policies add up: that of the servers, which allows more, must not choose runners.
        (expression,) = servers_policy["podSelector"]["matchExpressions"]
        self.assertEqual((expression["operator"], expression["values"]), ("In", ["server", "migrate"]))
        (admitted,) = servers_policy["ingress"]
        self.assertLessEqual(admitted["from"][-1]["podSelector"]["matchLabels"].items(), labels)

    def test_runners_may_be_alone(self):
        self.assertEqual(kinds(chart.render(SETS["runners only"])), ["Deployment", "NetworkPolicy"])
        given = variables(one(chart.render(SETS["runners only"]), "Deployment"))
        self.assertEqual(given["GLASSHOUSE_RUNNER_SERVER"]["value"], "https://ai.example.org")

    def test_a_pod_has_time_to_stop(self):
        for seconds in itertools.product([0, 7], [0, 11], [0, 120]):
            shutdown = dict(zip(["preStopSeconds", "delaySeconds", "drainSeconds"], seconds, strict=True))
            deployment = one(chart.render({"shutdown": shutdown}), "Deployment")
            grace = deployment["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
            self.assertEqual(grace, sum(seconds) + 10)
            drain = variables(deployment)["GLASSHOUSE_DRAIN_SECONDS"]["value"]
            self.assertEqual(drain, str(seconds[2]))
            self.assertEqual("lifecycle" in container(deployment), seconds[0] > 0)

    def test_an_object_storage_is_opened_with_its_secret(self):
        of = variables(one(chart.render(EVERYTHING), "Deployment"))
        named = {name.removeprefix("GLASSHOUSE_OBJECT_STORAGE_"): of[name] for name in of if "OBJECT_STORAGE" in name}
        values = {name: variable["value"] for name, variable in named.items() if "value" in variable}
        self.assertEqual(
            values,
            {
                "URL": "s3://contents/ai",
                "ENDPOINT": "https://s3.example.org",
                "REGION": "eu-1",
                "PATH_STYLE": "true",
            },
        )
        keys = {name: variable["valueFrom"]["secretKeyRef"] for name, variable in named.items() if name not in values}
        self.assertEqual(
            keys,
            {"ACCESS_KEY": {"name": "s3", "key": "id"}, "SECRET_KEY": {"name": "s3", "key": "secret-key"}},
        )
        google = {"url": "gs://contents", "existingSecret": "gcs", "accessKeyKey": ""}
        of = variables(one(chart.render({"objectStorage": google}), "Deployment"))
        self.assertNotIn("GLASSHOUSE_OBJECT_STORAGE_ACCESS_KEY", of)
        self.assertIn("GLASSHOUSE_OBJECT_STORAGE_SECRET_KEY", of)

    def test_variables_are_set_once(self):
        names = [variable["name"] for variable in container(one(chart.render(EVERYTHING), "Deployment"))["env"]]
        self.assertEqual(len(names), len(set(names)), names)

    def test_refusals(self):
        for values, words in [
            ({"replicas": 2}, "needs PostgreSQL"),
            ({"autoscaling": {"enabled": True}}, "needs PostgreSQL"),
            ({"database": {"existingSecret": "db"}}, "secretKey.existingSecret"),
            ({**POSTGRES, "autoscaling": {"enabled": True, "maxReplicas": 1}}, "maxReplicas"),
            ({"ingress": {"enabled": True}}, "ingress.hosts"),
            ({"httpRoute": {"enabled": True}}, "parentRefs"),
            ({"metrics": {"serviceMonitor": {"enabled": True}}}, "administrator's API key"),
            ({"objectStorage": {"existingSecret": "s3"}}, "objectStorage.url"),
            ({"objectStorage": {"url": "https://s3.example.org"}}, "objectStorage"),
            ({"runner": {"enabled": True}}, "runner.existingSecret"),
            ({"runner": {**RUNNER, "only": True}}, "runner.server"),
            ({"runner": {**RUNNER, "server": "https://ai.example.org"}}, "runner.networkPolicy.egress"),
            ({"runner": {**RUNNER, "slots": 0}}, "slots"),
            ({"replicas": 0}, "replicas"),
            ({"replica": 3}, "replica"),
            ({"env": {"GLASSHOUSE_LIMITS_STEPS": 30}}, "GLASSHOUSE_LIMITS_STEPS"),
            ({"publicUrl": "ai.example.org"}, "publicUrl"),
            ({"publicUrl": "https://ai.example.org/a b"}, "publicUrl"),
            ({"publicUrl": "https://ai.example.org/ai?x=1"}, "publicUrl"),
            ({"shutdown": {"drainSeconds": -1}}, "drainSeconds"),
            ({"image": {"pullPolicy": "Sometimes"}}, "pullPolicy"),
        ]:
            with self.subTest(values=values):
                printed, problem = chart.template(values)
                self.assertIsNone(printed)
                self.assertIn(words, problem)


class Generated(unittest.TestCase):
    def test_manifests_and_readme_are_current(self):
        if os.environ.get("GLASSHOUSE_WRITE_MANIFESTS"):
            chart.write()
        wanted = chart.manifests()
        there = {path.name: path.read_text(encoding="utf-8") for path in chart.MANIFESTS.glob("*.yaml")}
        there.pop("values.yaml")
        self.assertEqual(there, wanted)
        self.assertEqual((chart.CHART / "README.md").read_text(encoding="utf-8"), chart.readme())

    def test_every_value_is_described(self):
        undescribed = [line for line in chart.table().splitlines() if line.endswith("|  |")]
        self.assertEqual(undescribed, [])

    def test_the_schema_knows_every_value(self):
        values = yaml.safe_load((chart.CHART / "values.yaml").read_text(encoding="utf-8"))
        schema = yaml.safe_load((chart.CHART / "values.schema.json").read_text(encoding="utf-8"))
        jsonschema.Draft7Validator.check_schema(schema)
        jsonschema.validate(values, schema)
        self.assertEqual(list(unknown(values, schema)), [])
        self.assertEqual(list(unknown(defaults(schema), {**schema, "properties": values})), ["global"])

    def test_the_chart_has_the_version_of_the_program(self):
        described = yaml.safe_load((chart.CHART / "Chart.yaml").read_text(encoding="utf-8"))
        cargo = (chart.PACKAGING.parent / "Cargo.toml").read_text(encoding="utf-8")
        version = re.search(r'^version = "(.+)"$', cargo, re.MULTILINE)[1]
        self.assertEqual((described["version"], described["appVersion"]), (version, version))


def unknown(values, schema, prefix=""):
    """Keys that are not among the schema's properties."""
    for name, value in values.items():
        known = schema.get("properties", {})
        if name not in known:
            yield prefix + name
        elif isinstance(value, dict) and isinstance(known[name], dict) and "properties" in known[name]:
            yield from unknown(value, known[name], f"{prefix}{name}.")


def defaults(schema):
    """The properties of the schema as nested keys."""
    nested = schema.get("properties", {})
    return {name: defaults(below) for name, below in nested.items()}


if __name__ == "__main__":
    unittest.main()
