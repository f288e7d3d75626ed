"""Which aliases are fetched again, to see whether their rules still hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gossamer.rules.url_rules import alias_samples
from gossamer.rules.url_rules.alias_samples import AGAIN, REQUESTS_SHARE
from gossamer.tables import ALIASES
from tests.support.rows import NOW_MS, by_url, put
from tests.support.url_rule_rows import url_rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gossamer.state.workspace import Workspace

DAY_MS = 86_400_000
ONE_RULE = int(AGAIN / REQUESTS_SHARE) + 1
"""Requests of a round in which one rule may be sampled."""


def used_rule(name: str, days: float | None, **more: Any) -> dict[str, Any]:
    """A rule whose aliases were drawn so many days ago."""
    drawn_ms = None if days is None else NOW_MS - int(days * DAY_MS)
    row = url_rule(name, "a.test", "/a/", name, "active", rewritten=5, sampled_ms=drawn_ms)
    return row | more


def alias(url: str, rules: Iterable[str] = ("r",), **more: Any) -> dict[str, Any]:
    row = {"url": url, "target": f"{url}/", "rules": list(rules), "depth": 2, "hops": 0}
    return row | {"active": True, "sampled": False, "fetched": True, "round": 1} | more


def sampled_rules(work: Workspace, requests: int) -> list[str] | None:
    found = alias_samples.rules_to_sample(work, requests)
    return None if found is None else sorted(row.rule for row in found.collect())


def test_rules_that_were_sampled_long_ago_are_sampled_again(work: Workspace) -> None:
    assert sampled_rules(work, ONE_RULE) is None
    put(work, "aliases", [alias("u")])
    days = work.config.update.interval_days
    rules = [
        used_rule("never", None),
        used_rule("longest", days + 2),
        used_rule("long", days),
        used_rule("lately", days - 0.001),
        used_rule("unused", None, rewritten=0),
        used_rule("dropped", None, state="contradicted"),
    ]
    put(work, "url_rules", rules)
    assert sampled_rules(work, 0) is None
    assert sampled_rules(work, 1) == sampled_rules(work, ONE_RULE) == ["never"]
    assert sampled_rules(work, 2 * ONE_RULE) == ["longest", "never"]
    assert sampled_rules(work, 99 * ONE_RULE) == ["long", "longest", "never"]
    put(work, "url_rules", [used_rule(row["rule"], 0) for row in rules], 2)
    assert sampled_rules(work, 99 * ONE_RULE) is None


def test_some_aliases_of_each_rule_are_drawn(work: Workspace) -> None:
    many = [alias(f"m{n}", ["many", "other"]) for n in range(AGAIN + 3)]
    others = [
        alias("few", ["few"]),
        alias("both", ["few", "unasked"]),
        alias("unasked", ["unasked"]),
        alias("inactive", ["few"], active=False),
        alias("compared", ["few"], sampled=True),
    ]
    put(work, "aliases", [*many, *others])
    due = work.engine.spark.createDataFrame([("many",), ("few",)], "rule string")
    drawn = by_url(alias_samples.draw_again(work, due))
    assert {name for name in drawn if name[0] != "m"} == {"few", "both"}
    assert sum(name[0] == "m" for name in drawn) == AGAIN
    row = drawn["few"]
    assert set(row) == set(ALIASES.column_names)
    assert (row["fetched"], row["sampled"], row["round"]) == (False, True, work.round)
    assert (row["target"], row["rules"], row["active"]) == ("few/", ["few"], True)


@pytest.mark.parametrize(
    ("page", "answer", "is_open"),
    [
        ({}, None, True),
        ({"status": "fetched"}, None, False),
        ({}, "ok", False),
        ({}, "postponed", True),
    ],
)
def test_a_sample_is_open_until_both_pages_were_asked_for(
    work: Workspace, page: dict[str, Any], answer: str | None, is_open: bool
) -> None:
    put(work, "aliases", [alias("u", sampled=True), alias("v", ["s"])])
    put(work, "pages", [{"url": "u"} | page, {"url": "u/", "status": "fetched"}, {"url": "v"}])
    rules = work.engine.spark.createDataFrame([("r",), ("s",)], "rule string")
    rows = [] if answer is None else [("u", answer)]
    answers = work.engine.spark.createDataFrame(rows, "url string, outcome string")
    found = alias_samples.rules_with_open_samples(work, rules, answers).collect()
    assert [row.rule for row in found] == (["r"] if is_open else [])


def test_a_sample_that_is_a_page_again_is_not_open(work: Workspace) -> None:
    put(work, "aliases", [alias("u", sampled=True)])
    put(work, "aliases", [alias("u", sampled=True, active=False)], 2)
    put(work, "pages", [{"url": "u"}, {"url": "u/"}])
    rules = work.engine.spark.createDataFrame([("r",)], "rule string")
    answers = work.engine.spark.createDataFrame([], "url string, outcome string")
    assert not alias_samples.rules_with_open_samples(work, rules, answers).collect()


def test_the_places_of_urls_are_their_folders_and_paths() -> None:
    urls = ("http://a.test/b/c?d=1", "http://a.test/b/e", "http://a.test/")
    assert alias_samples.places_of(*urls) == [
        *("http://a.test/", "http://a.test/b/", "http://a.test/b/c?"),
        *("http://a.test/b/e?", "http://a.test/?"),
    ]
