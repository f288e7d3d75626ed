"""deploy/kubernetes: kustomize builds valid objects; pods are hardened, and start what exists."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from gossamer import config
from tests.support.deploy_files import DEPLOY, GUIDE, parsed, refused, run, validator

pytestmark = pytest.mark.server

FOLDER = DEPLOY / "kubernetes"
VERSIONS = ("1.33", "1.37")
"""Of Kubernetes: the oldest and the newest that we check."""
CRAWL = "s3://my-bucket/my-web"


class Workload(NamedTuple):
    kind: str
    replicas: int | None
    labels: dict[str, str]
    pod: dict[str, Any]

    @property
    def container(self) -> dict[str, Any]:
        (found,) = self.pod["containers"]
        return dict(found)

    @property
    def command(self) -> dict[str, Any]:
        return dict(parsed([word.replace("$(CRAWL)", CRAWL) for word in self.container["args"]]))


def built(folder: Path) -> str:
    return run(validator("kustomize"), "build", folder)


def by_kind(text: str, kind: str) -> dict[str, dict[str, Any]]:
    objects = yaml.safe_load_all(text)
    return {each["metadata"]["name"]: each for each in objects if each["kind"] == kind}


@pytest.fixture(scope="module")
def objects() -> str:
    return built(FOLDER)


@pytest.fixture(scope="module")
def workloads(objects: str) -> dict[str, Workload]:
    found = by_kind(objects, "StatefulSet") | by_kind(objects, "Deployment")
    assert found.keys() == {"crawler", "node", "broker"}
    return {
        name: Workload(
            each["kind"],
            each["spec"].get("replicas"),
            each["spec"]["template"]["metadata"]["labels"],
            each["spec"]["template"]["spec"],
        )
        for name, each in found.items()
    }


def validate(text: str, folder: Path, version: str) -> tuple[str, ...]:
    (folder / "objects.yaml").write_text(text)
    program = validator("kubernetes-validate")
    return (program, "--strict", "-k", version, str(folder / "objects.yaml"))


@pytest.mark.parametrize("version", VERSIONS)
def test_objects_are_valid(objects: str, tmp_path: Path, version: str) -> None:
    run(*validate(objects, tmp_path, version))


def test_an_unknown_field_is_noticed(objects: str, tmp_path: Path) -> None:
    wrong = objects.replace("runAsNonRoot:", "runAsNotRoot:")
    assert "runAsNotRoot" in refused(*validate(wrong, tmp_path, VERSIONS[-1]))


def test_pods_meet_the_restricted_standard(workloads: dict[str, Workload]) -> None:
    for workload in workloads.values():
        pod = workload.pod["securityContext"]
        assert pod["runAsNonRoot"]
        assert pod["seccompProfile"] == {"type": "RuntimeDefault"}
        assert not workload.pod["automountServiceAccountToken"]
        for container in (*workload.pod["initContainers"], workload.container):
            context = container["securityContext"]
            assert context["readOnlyRootFilesystem"]
            assert not context["allowPrivilegeEscalation"]
            assert context["capabilities"] == {"drop": ["ALL"]}
            assert {"requests", "limits"} <= container["resources"].keys()
            writable = {each["mountPath"] for each in container["volumeMounts"]}
            assert "/cache" in writable


def test_pods_start_commands_that_exist(workloads: dict[str, Workload]) -> None:
    for workload in workloads.values():
        assert workload.command["crawl"] == CRAWL
        (first,) = workload.pod["initContainers"]
        words = [word.replace("$(CRAWL)", CRAWL) for word in first["args"]]
        assert parsed(words)["settings"] == Path("/etc/gossamer/gossamer.toml")
    assert workloads["crawler"].command["forever"]
    assert workloads["crawler"].replicas == 1


def test_settings_name_the_nodes_that_run(objects: str, workloads: dict[str, Workload]) -> None:
    settings = config.load(FOLDER / "gossamer.toml")
    (namespace,) = by_kind(objects, "Namespace")
    node = workloads["node"]
    assert settings.serve.nodes == (f"nodes.{namespace}.svc:{node.command['port']}",)
    assert by_kind(objects, "Service")["nodes"]["spec"]["clusterIP"] == "None"
    assert settings.serve.groups <= settings.index.shards
    assert (node.replicas or 0) >= 2 * settings.serve.groups  # so that one of each is left
    searchers = (node, workloads["broker"])
    for file in settings.serve.node_files:
        for each in searchers:
            mounts = each.container["volumeMounts"]
            assert str(Path(file).parent) in {mount["mountPath"] for mount in mounts}
    assert settings.engine.workers == int(
        workloads["crawler"].container["resources"]["requests"]["cpu"]
    )


def test_the_settings_in_use_are_those_of_the_folder(objects: str) -> None:
    (settings,) = (
        each for name, each in by_kind(objects, "ConfigMap").items() if name.startswith("settings")
    )
    tomllib.loads(settings["data"]["gossamer.toml"])
    assert settings["data"]["seeds.txt"].startswith("https://")


def test_selectors_match_pods(objects: str, workloads: dict[str, Workload]) -> None:
    labels = [each.labels for each in workloads.values()]

    def matches(selector: dict[str, str]) -> bool:
        return any(selector.items() <= each.items() for each in labels)

    for each in by_kind(objects, "Service").values():
        assert matches(each["spec"]["selector"])
    for each in by_kind(objects, "PodDisruptionBudget").values():
        assert matches(each["spec"]["selector"]["matchLabels"])
        assert each["spec"]["maxUnavailable"] == 1
    policies = by_kind(objects, "NetworkPolicy")
    assert {"Ingress", "Egress"} == set(policies["default"]["spec"]["policyTypes"])
    assert not policies["default"]["spec"].get("ingress")
    for each in policies.values():
        assert matches(each["spec"]["podSelector"].get("matchLabels", {}))
    scaled = by_kind(objects, "HorizontalPodAutoscaler")["broker"]["spec"]
    assert workloads[scaled["scaleTargetRef"]["name"]].kind == "Deployment"
    assert workloads["broker"].replicas is None  # the autoscaler's


def test_egress_is_what_the_comments_say(objects: str) -> None:
    """Ports that pods may reach at any address, by the pods that a policy selects."""
    wide: dict[str, set[int]] = {}
    for name, each in by_kind(objects, "NetworkPolicy").items():
        spec = each["spec"]
        whose = spec["podSelector"].get("matchLabels", {}).get("component", "all")
        for rule in spec.get("egress", ()):
            if "to" not in rule:
                wide.setdefault(whose, set()).update(port["port"] for port in rule["ports"])
            elif "ports" not in rule:
                assert (name, whose) == ("crawler", "crawler")
                private = rule["to"][0]["ipBlock"]["except"]
                assert {"10.0.0.0/8", "169.254.0.0/16"} <= set(private)
    assert wide == {"all": {443}, "crawler": {15002}}
    text = (FOLDER / "network.yaml").read_text("utf-8")
    assert "every pod may reach port 443 of any address" in text
    assert "the crawler port 15002" in text


def test_nodes_are_on_different_machines(workloads: dict[str, Workload]) -> None:
    affinity = workloads["node"].pod["affinity"]["podAntiAffinity"]
    (rule,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]
    assert rule["topologyKey"] == "kubernetes.io/hostname"
    assert rule["labelSelector"]["matchLabels"] == workloads["node"].labels


def test_the_overlay_of_the_guide_is_valid(tmp_path: Path) -> None:
    (text,) = re.findall(r"```yaml\n(# kustomization\.yaml\n.+?)```", GUIDE, re.DOTALL)
    (line,) = re.findall(r"deploy/certificates\.sh made (nodes.+)", GUIDE)
    base = tmp_path / "gossamer" / "deploy"
    base.parent.mkdir()
    base.symlink_to(DEPLOY)
    overlay = tmp_path / "overlay"
    overlay.mkdir()
    (overlay / "kustomization.yaml").write_text(text)
    own = (FOLDER / "gossamer.toml").read_text().replace('contact = ""', 'contact = "a@b.example"')
    (overlay / "gossamer.toml").write_text(own)
    (overlay / "seeds.txt").write_text("https://example.net/\n")
    (overlay / "object-store.env").write_text("AWS_ACCESS_KEY_ID=a\nAWS_SECRET_ACCESS_KEY=b\n")
    run(DEPLOY / "certificates.sh", overlay / "made", line)
    settings = config.loads(own, "gossamer.toml")
    assert [node.partition(":")[0] for node in settings.serve.nodes] == [line]
    objects = built(overlay)
    run(*validate(objects, tmp_path, VERSIONS[-1]))
    secrets = by_kind(objects, "Secret")
    assert {re.sub("-[a-z0-9]+$", "", name) for name in secrets} == {"object-store", "certificates"}
    for each in (
        *by_kind(objects, "StatefulSet").values(),
        *by_kind(objects, "Deployment").values(),
    ):
        pod = each["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        assert container["image"] == "registry.you.example/gossamer:0.1.0"
        (_, secret) = container["envFrom"]
        assert secret["secretRef"]["name"] in secrets
        mounted = [
            volume["secret"]["secretName"] for volume in pod["volumes"] if "secret" in volume
        ]
        assert set(mounted) <= secrets.keys()
