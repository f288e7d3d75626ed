"""deploy/: Prometheus' alerts and Grafana's dashboard name metrics that /metrics exports."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from itertools import combinations
from typing import TYPE_CHECKING, Any

import promql_parser
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from gossamer.state.heartbeats import Heartbeat
from gossamer.tables.outcomes import OUTCOMES
from tests.support.machine_needs import lacking
from tests.support.repository import ROOT
from tests.support.search_server import serving
from tests.support.small_index import crawl
from tests.support.stored_web import put_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

pytestmark = pytest.mark.server

DEPLOY = ROOT / "deploy"
ALERTS = DEPLOY / "alerts.yml"
OF_PROMETHEUS = {"job", "instance"}
VARIABLES = {"job", "instance", "datasource"}
MAX_X = 24
"""The width of Grafana's grid."""


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, set[str]]:
    """The names of all metrics at /metrics, and of their labels."""
    work = crawl(tmp_path_factory.mktemp("crawl"))
    put_rows(work, "hosts", [{"host": "a.example", "failures": 1, "latency_ms": 1}])
    put_rows(work, "due_times", [{"from_ms": 0, "interval_s": 1, "fetched": True, "pages": 1}])
    Heartbeat(work.root, "fetch", 1, "0", 9).beat(1, "ok")
    names: dict[str, set[str]] = {"gossamer_node_up": {"group", "address"}}  # without nodes, none
    names["gossamer_refused_total"] = {"reason"}  # nothing was refused
    with serving(work) as client:
        client.get("/metrics")
        for family in text_string_to_metric_families(client.get("/metrics").text):
            for sample in family.samples:
                names.setdefault(sample.name, set()).update(sample.labels)
    return names


def rules() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load(ALERTS.read_text("utf-8"))["groups"]
    return list(group["rules"])


def dashboard() -> dict[str, Any]:
    text = (DEPLOY / "grafana-dashboard.json").read_text("utf-8")
    board: dict[str, Any] = json.loads(text)
    return board


def panels() -> list[dict[str, Any]]:
    return list(dashboard()["panels"])


EXPRESSIONS = [
    *((rule["alert"], rule["expr"]) for rule in rules()),
    *((panel["title"], target["expr"]) for panel in panels() for target in panel["targets"]),
]


def selectors(expression: str) -> Iterator[promql_parser.VectorSelector]:
    """The metrics that a PromQL expression selects. Raises ValueError for a wrong one."""
    found: list[promql_parser.VectorSelector] = []

    def visit(node: promql_parser.Expr) -> None:
        if isinstance(node, promql_parser.VectorSelector):
            found.append(node)

    promql_parser.walk(promql_parser.parse(expression), visit)
    yield from found


@pytest.mark.parametrize(("name", "expression"), EXPRESSIONS)
def test_expressions_name_metrics_and_labels_that_are_exported(
    exported: Mapping[str, set[str]], name: str, expression: str
) -> None:
    found = list(selectors(expression))
    assert found, name
    for selector in found:
        assert selector.name is not None
        assert selector.name in exported
        matched = {matcher.name for matcher in selector.matchers.matchers}
        assert matched <= exported[selector.name] | OF_PROMETHEUS
    labels = set().union(*(exported[str(selector.name)] for selector in found))
    grouped = re.findall(r"\b(?:by|on) \(([^)]*)\)", expression)
    assert {label for each in grouped for label in each.split(", ")} <= labels | OF_PROMETHEUS


def test_a_misspelt_metric_is_noticed(exported: Mapping[str, set[str]]) -> None:
    (selector,) = selectors("rate(gossamer_fetchs_total[5m])")
    assert selector.name not in exported
    with pytest.raises(ValueError, match="rate"):
        list(selectors("rate(gossamer_round)"))


def test_every_alert_says_what_to_do() -> None:
    assert {rule["alert"] for rule in rules()} == {
        *("GossamerHostFailing", "GossamerDiskFull", "GossamerNotFresh"),
        *("GossamerNoCommit", "GossamerPaused"),
    }
    for rule in rules():
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert rule["for"]
        assert rule["annotations"]["summary"]
        assert rule["annotations"]["description"]


def test_the_dashboard_asks_the_data_source_that_its_user_chooses() -> None:
    assert {variable["name"] for variable in dashboard()["templating"]["list"]} == VARIABLES
    assert set(re.findall(r"\$\{?(\w+)", json.dumps(dashboard()))) - {"__all"} == VARIABLES
    for panel in panels():
        for asking in (panel, *panel["targets"]):
            assert asking["datasource"] == {"type": "prometheus", "uid": "${datasource}"}


def test_panels_have_places_of_their_own() -> None:
    assert len({panel["id"] for panel in panels()}) == len(panels())
    places = [panel["gridPos"] for panel in panels()]
    for place in places:
        assert place["x"] + place["w"] <= MAX_X
    for one, other in combinations(places, 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        below = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
        assert beside or below, (one, other)


def test_the_errors_of_the_dashboard_are_those_of_the_outcomes() -> None:
    (panel,) = [panel for panel in panels() if panel["title"] == "Errors by reason"]
    (names,) = re.findall(r'outcome=~"([^"]+)"', panel["targets"][0]["expr"])
    assert set(names.split("|")) == {name for name, kind in OUTCOMES.items() if kind.max_tries > 1}


def fires(alert: str, *, after: str, firing: int = 1, **series: str) -> dict[str, Any]:
    """A test for promtool: with these series, of a sample per minute, the alert fires."""
    more = {"due_pages": ', within="now"', "host_failures": ', host="a.example"'}
    expression = f'count(ALERTS{{alertname="{alert}", alertstate="firing"}}) or vector(0)'
    expected = [{"labels": "{}", "value": firing}]
    return {
        "interval": "1m",
        "input_series": [
            {
                "series": f'gossamer_{name}{{job="gossamer", instance="a"{more.get(name, "")}}}',
                "values": values,
            }
            for name, values in series.items()
        ],
        "promql_expr_test": [{"expr": expression, "eval_time": after, "exp_samples": expected}],
    }


def silent(alert: str, *, after: str, **series: str) -> dict[str, Any]:
    return fires(alert, after=after, firing=0, **series)


CASES = [
    fires("GossamerHostFailing", after="35m", host_failures="5x60"),
    silent("GossamerHostFailing", after="35m", host_failures="4x60"),
    fires("GossamerDiskFull", after="35m", disk_full_seconds="259199x60"),
    silent("GossamerDiskFull", after="35m", disk_full_seconds="Inf+0x60", free_bytes="100x60"),
    fires("GossamerDiskFull", after="5h", free_bytes="4000-10x400"),
    fires("GossamerNotFresh", after="2h", overdue_pages="11x200", fetched_pages="100x200"),
    silent("GossamerNotFresh", after="2h", overdue_pages="10x200", fetched_pages="100x200"),
    fires("GossamerNotFresh", after="2h", most_overdue_seconds="604801x200"),
    fires(
        "GossamerNoCommit",
        after="3h",
        last_commit_timestamp_seconds="0x200",
        due_pages="1x200",
        paused="0x200",
    ),
    *(
        silent(
            "GossamerNoCommit",
            after="3h",
            last_commit_timestamp_seconds=last,
            due_pages=due,
            paused=paused,
        )
        for last, due, paused in (
            ("0+60x200", "1x200", "0x200"),
            ("0x200", "0x200", "0x200"),
            ("0x200", "1x200", "1x200"),
        )
    ),
    fires("GossamerPaused", after="15m", paused="1x60"),
    silent("GossamerPaused", after="15m", paused="0x60"),
]


def test_alerts_fire_when_they_should(tmp_path: Path) -> None:
    if shutil.which("promtool") is None:
        lacking("this needs promtool: apt-get install prometheus")
    tests = tmp_path / "tests.yml"
    tests.write_text(json.dumps({"rule_files": [str(ALERTS)], "tests": CASES}))
    done = subprocess.run(
        ["promtool", "test", "rules", str(tests)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
