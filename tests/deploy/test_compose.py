"""deploy/compose: the file is valid, its services are hardened, and they start what exists."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gossamer import config
from tests.support.deploy_files import DEPLOY, parsed, refused, run, validator
from tests.support.machine_needs import lacking

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = DEPLOY / "compose"
FILE = FOLDER / "compose.yaml"
OURS = ("settings", "crawler", "node-1", "node-2", "broker")
RUN_ONCE = {"certificates", "settings"}


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(FILE.read_text("utf-8"))
    return found


def services(project: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from project["services"].items()


@pytest.mark.server
def test_it_conforms_to_the_compose_specification(tmp_path: Path) -> None:
    check = (validator("check-jsonschema"), "--builtin-schema", "vendor.compose-spec")
    run(*check, FILE)
    wrong = tmp_path / "compose.yaml"
    wrong.write_text(FILE.read_text("utf-8").replace("cap_drop:", "drop_caps:"))
    assert "drop_caps" in refused(*check, wrong)


def test_what_services_name_is_there(project: dict[str, Any]) -> None:
    for name, service in services(project):
        assert set(service.get("networks", ())) <= project["networks"].keys()
        for needed, condition in service.get("depends_on", {}).items():
            once = condition["condition"] == "service_completed_successfully"
            assert once == (needed in RUN_ONCE)
            assert once or "healthcheck" in project["services"][needed]
        for volume in service.get("volumes", ()):
            source, target, *_ = volume.split(":")
            assert target.startswith("/"), name
            if source.startswith("."):
                assert (FOLDER / source).is_file(), source
            else:
                assert source in project["volumes"]


def test_services_are_hardened_and_limited(project: dict[str, Any]) -> None:
    for name, service in services(project):
        assert service["read_only"], name
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert {"mem_limit", "pids_limit", "logging", "restart"} <= service.keys()
        assert "healthcheck" in service or name == "broker", name  # the image has that of `serve`
        assert "privileged" not in service
        assert service.get("network_mode", "none") == "none"
    assert {name for name, each in services(project) if "cap_add" in each} == {"object-store"}
    assert project["networks"]["inside"]["internal"]


def test_ports_are_published_on_loopback_only(project: dict[str, Any]) -> None:
    published = [port for _, service in services(project) for port in service.get("ports", ())]
    assert len(published) == 3
    assert all(port.startswith("127.0.0.1:") for port in published)


def test_no_secret_is_in_the_file(project: dict[str, Any]) -> None:
    asked: set[str] = set()
    for _, service in services(project):
        for name, value in service.get("environment", {}).items():
            if re.search("KEY|PASSWORD|SECRET|CONTACT", name):
                (variable,) = re.fullmatch(r"\$\{(\w+):\?see env\.example\}", value).groups()  # type: ignore[union-attr]
                asked.add(variable)
    example = (FOLDER / "env.example").read_text("utf-8")
    assert asked == set(re.findall(r"^(\w+)=", example, re.MULTILINE))
    assert not re.search(r"(KEY|PASSWORD)=.", example)


def test_images_have_a_version_and_a_place_for_their_digest(project: dict[str, Any]) -> None:
    example = (FOLDER / "env.example").read_text("utf-8")
    others = [each["image"] for _, each in services(project) if each["image"] != "gossamer"]
    assert len(others) == 3
    for image in others:
        tag, variable = re.fullmatch(r"[\w/-]+:(v?\d[\d.]+)\$\{(\w+):-\}", image).groups()  # type: ignore[union-attr]
        assert tag.count(".") >= 1
        assert f"# {variable}=" in example


@pytest.mark.parametrize("name", OURS)
def test_services_start_commands_that_exist(project: dict[str, Any], name: str) -> None:
    values = parsed(project["services"][name]["command"])
    assert values["crawl"] == "s3://gossamer/web"


def test_settings_name_the_nodes_that_run(project: dict[str, Any]) -> None:
    settings = config.load(FOLDER / "gossamer.toml")
    _, *named = project["services"]["certificates"]["command"]
    for name in named:
        node = project["services"][name]
        assert node["hostname"] == name
        assert f"{name}:{parsed(node['command'])['port']}" in settings.serve.nodes
    assert len(settings.serve.nodes) == len(named) == settings.serve.groups
    assert settings.serve.groups <= settings.index.shards
    assert {Path(file).parent for file in settings.serve.node_files} == {Path("/certificates")}
    crawler = project["services"]["crawler"]
    assert settings.engine.workers == crawler["cpus"]
    assert 2 * settings.engine.memory_gb < float(crawler["mem_limit"].removesuffix("g"))


@pytest.mark.server
def test_prometheus_accepts_its_settings(tmp_path: Path) -> None:
    if shutil.which("promtool") is None:
        lacking("this needs promtool: apt-get install prometheus")
    for path in (FOLDER / "prometheus.yml", DEPLOY / "alerts.yml"):
        shutil.copy(path, tmp_path)
    run("promtool", "check", "config", tmp_path / "prometheus.yml")


def test_prometheus_and_grafana_ask_services_that_run(project: dict[str, Any]) -> None:
    scraped = yaml.safe_load((FOLDER / "prometheus.yml").read_text("utf-8"))["scrape_configs"]
    assert scraped[0]["static_configs"] == [{"targets": ["broker:8080"]}]
    assert config.load(FOLDER / "gossamer.toml").serve.names == ("broker",)
    sources = yaml.safe_load((FOLDER / "grafana-datasource.yaml").read_text("utf-8"))
    assert [source["url"] for source in sources["datasources"]] == ["http://prometheus:9090"]
    boards = yaml.safe_load((FOLDER / "grafana-dashboards.yaml").read_text("utf-8"))
    (folder,) = [each["options"]["path"] for each in boards["providers"]]
    assert any(f":{folder}/" in volume for volume in project["services"]["grafana"]["volumes"])
