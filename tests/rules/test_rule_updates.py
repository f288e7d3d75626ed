"""Which rules rewrite URLs, of more than there are places for: url_rules/rule_updates.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gossamer.rules.url_rules import fingerprints, forms, rule_updates
from gossamer.storage import parquet
from tests.support.rows import frame, put
from tests.support.url_rule_rows import url_rule

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace


def test_a_host_with_many_rules_leaves_others_a_place(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attack: it proves more about its parameters than others do. Before, they had no rule left."""
    monkeypatch.setattr(rule_updates, "MAX_RULES", 3)
    many = [url_rule(f"e{n}", "0.evil", "", f"p{n}", "active", supports=900) for n in range(5)]
    put(work, "url_rules", [*many, url_rule("own", "a.example", "", "s", "active", supports=30)])
    (path,) = rule_updates.write_active_rules(work)
    hosts = parquet.read_table(path, columns=["host"]).column("host").to_pylist()
    assert sorted(hosts) == ["0.evil", "0.evil", "a.example"]


def of_host(host: str, state: str, supports: int, name: str = "s") -> dict[str, Any]:
    return url_rule(f"{host} {name}", host, forms.WHOLE_HOST, name, state, supports=supports)


def of_section(rule: str, host: str, state: str, supports: int, **more: Any) -> dict[str, Any]:
    return url_rule(rule, host, "/f/", "s", state, supports=supports, **more)


def test_the_evidence_of_a_section_is_at_least_that_of_its_host(work: Workspace) -> None:
    """A section without a rule in use has a row of its host's, if the host's own is active."""
    put(
        work,
        "url_rules",
        [
            of_host("active.test", "active", 50),
            of_section("relies", "active.test", "learning", 3),
            url_rule("owner", "active.test", "/~ann/", "s", "learning", supports=4),
            url_rule("other", "active.test", "/g/", "t", "learning", supports=4),
            url_rule("refused", "active.test", "/h/", "s", "contradicted", supports=4),
            of_host("learning.test", "learning", 40),
            of_section("used", "learning.test", "active", 30),
            of_section("learns", "unknown.test", "learning", 30),
            of_section("alone", "alone.test", "active", 1),
            of_host("refused.test", "contradicted", 60),
            of_section("beside", "refused.test", "active", 20),
            url_rule("owned", "learning.test", "/~bob/", "s", "active", supports=25),
            of_section("more", "active.test", "active", 70) | {"section": "/more/"},
            of_section("tried", "tried.test", "trial", 2, contents=bytes(fingerprints.BYTES * 3)),
        ],
    )
    (path,) = rule_updates.write_active_rules(work)
    rows = parquet.read_table(path).to_pylist()
    found = {(row["rule"], row["section"]): (row["supports"], row["missing"]) for row in rows}
    assert len(rows) == len(found)
    assert found == {
        ("active.test s", "*"): (0, 0),
        ("active.test s", "/f/"): (3, 0),
        ("used", "/f/"): (40, 0),
        ("alone", "/f/"): (1, 0),
        ("beside", "/f/"): (20, 0),
        ("owned", "/~bob/"): (25, 0),
        ("more", "/more/"): (70, 0),
        ("tried", "/f/"): (2, work.config.url_rules.evidence - 3),
    }


def test_rows_that_are_not_stored_yet_count(work: Workspace) -> None:
    assert rule_updates.write_active_rules(work) == ()
    changed = frame(work, "url_rules", [of_section("new", "a.test", "active", 30)])
    (path,) = rule_updates.write_active_rules(work, changed)
    assert parquet.read_table(path).column("rule").to_pylist() == ["new"]


def test_contradicted_rules_of_sections_are_those_of_the_hosts_of_pages(work: Workspace) -> None:
    pages = work.engine.spark.createDataFrame(
        [("http://a.test/x",), ("http://www.b.test/",), ("http://a.test/y",)], "url string"
    )
    assert rule_updates.write_contradicted_rules(work, pages) == ()
    put(
        work,
        "url_rules",
        [
            of_section("a", "a.test", "contradicted", 1),
            of_section("b", "b.test", "contradicted", 1),
            of_section("www", "www.b.test", "contradicted", 1),
            of_host("a.test", "contradicted", 1),
            of_section("active", "a.test", "active", 1),
            of_section("c", "c.test", "contradicted", 1),
        ],
    )
    (path,) = rule_updates.write_contradicted_rules(work, pages)
    table = parquet.read_table(path)
    assert table.column_names == ["rule"]
    assert sorted(table.column("rule").to_pylist()) == ["a", "b", "www"]


@pytest.mark.parametrize(
    ("alias", "status", "outcome", "is_open"),
    [
        ({}, "unfetched", None, True),
        ({}, "unfetched", "postponed", True),
        ({}, "unfetched", "timeout", False),
        ({}, "fetched", None, False),
        ({"active": False}, "unfetched", None, False),
        ({"sampled": False}, "unfetched", None, False),
        ({"rules": ["another"]}, "unfetched", None, False),
    ],
)
@pytest.mark.parametrize("path", ["/f/", "/f/?s=1"])
def test_a_trial_ends_when_all_of_its_samples_were_fetched(
    work: Workspace,
    path: str,
    alias: dict[str, Any],
    status: str,
    outcome: str | None,
    is_open: bool,
) -> None:
    """A sample is compared when its alias and its target were fetched."""
    trial = of_section("trial", "a.test", "trial", 2)
    put(work, "url_rules", [trial, of_section("decided", "b.test", "trial", 2)])
    url, target = "http://a.test/f/?s=1", "http://a.test/f/"
    row = {"url": url, "target": target, "rules": ["trial"], "active": True, "sampled": True}
    put(work, "aliases", [row | {"fetched": False} | alias])
    put(work, "pages", [{"url": f"http://a.test{path}", "host": "a.test", "status": status}])
    answered = [] if outcome is None else [{"url": f"http://a.test{path}", "outcome": outcome}]
    changed = frame(work, "url_rules", [of_section("decided", "b.test", "active", 20)])
    rows, count = rule_updates.add_ended_trials(
        work, changed, 1, frame(work, "responses", answered)
    )
    found = {row.rule: (row.state, row.settled) for row in rows.collect()}
    ended = {} if is_open else {"trial": ("learning", False)}
    assert found == {"decided": ("active", True)} | ended
    assert count == len(found)


def test_without_trials_no_rule_changes(work: Workspace) -> None:
    nothing, answers = frame(work, "url_rules", []), frame(work, "responses", [])
    assert rule_updates.add_ended_trials(work, nothing, 0, answers) == (nothing, 0)
    put(work, "url_rules", [of_section("active", "a.test", "active", 9)])
    assert rule_updates.add_ended_trials(work, nothing, 0, answers) == (nothing, 0)
