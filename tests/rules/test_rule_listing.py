"""The learned rules of hosts, and what a URL becomes by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gossamer.errors import UsageError
from gossamer.rules.url_rules import forms, rule_listing
from gossamer.tables import URL_RULES
from tests.support.rows import by_url, put
from tests.support.url_rule_rows import url_rule

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace


def rule(key: str, host: str, state: str = "active", **more: Any) -> dict[str, Any]:
    return url_rule(key, host, forms.WHOLE_HOST, "", state) | more


RULES = [
    rule("host", "a.test", kind=forms.HOST, name="b.test", supports=30),
    rule("sid", "www.b.test", kind=forms.PARAMETER, name="sid", supports=40),
    rule("www", "b.test", kind=forms.WWW, target="with"),
    rule("order", "www.b.test", kind=forms.ORDER),
    rule("case", "www.b.test", "trial", kind=forms.CASE, supports=3),
    rule("slash", "b.test", "learning", kind=forms.SLASH, target="without"),
    rule("far", "c.test", "learning", kind=forms.HOST, name="d.test"),
    rule("index", "d.test", kind=forms.INDEX, name="index.html"),
]


@pytest.fixture
def learned(work: Workspace) -> Workspace:
    put(work, "url_rules", RULES)
    return work


@pytest.mark.parametrize(
    ("url", "target", "rules"),
    [
        ("a.test/", None, []),
        ("http://e.test/X?sid=1", "http://e.test/X?sid=1", set()),
        ("http://b.test/?sid=1", "http://www.b.test/", {"sid", "www"}),
        ("http://www.b.test/?sid=1", "http://www.b.test/", {"sid"}),
        ("http://a.test/X/?sid=1", "http://www.b.test/x/", {"host", "sid", "www", "case"}),
        ("http://c.test/index.html", "http://c.test/index.html", set()),
        ("HTTP://D.test:80/index.html", "http://d.test/", {"index"}),
    ],
)
def test_what_a_url_becomes(
    learned: Workspace, url: str, target: str | None, rules: set[str]
) -> None:
    """Rules of the hosts to which others lead count, too, if these are in use."""
    if target is None:
        with pytest.raises(UsageError, match="is not a URL that can be crawled"):
            rule_listing.test_url(learned, url)
        return
    found = rule_listing.test_url(learned, url)
    assert (found.target, {each.rule for each in found.rules}) == (target, rules)


def test_rules_in_use_come_first_then_those_with_most_evidence(learned: Workspace) -> None:
    names = [each.rule for each in rule_listing.rules_of(learned)]
    assert names == ["host", "www", "index", "sid", "order", "case", "slash", "far"]
    assert [each.rule for each in rule_listing.rules_of(learned, "www.b.test")] == [
        *("www", "sid", "order", "case", "slash")
    ]
    assert [each.rule for each in rule_listing.rules_of(learned, "c.test")] == ["far"]


@pytest.mark.parametrize(
    ("supports", "contradictions", "share"), [(0, 0, None), (30, 0, 0.1), (30, 1, None)]
)
def test_how_many_may_differ_is_known_without_contradictions(
    work: Workspace, supports: int, contradictions: int, share: float | None
) -> None:
    row = rule("r", "a.test", supports=supports, contradictions=contradictions)
    put(work, "url_rules", [row])
    (found,) = rule_listing.rules_of(work)
    assert found.most_differing == (None if share is None else pytest.approx(share, rel=0.05))


@pytest.mark.parametrize(
    ("kind", "target", "forward"),
    [
        (forms.SCHEME, "https", True),
        (forms.SCHEME, "http", False),
        (forms.SLASH, "without", True),
        (forms.SLASH, "with", False),
        (forms.PARAMETER, "", True),
    ],
)
def test_a_rule_that_is_enabled_has_no_evidence_against_it(
    work: Workspace, kind: str, target: str, forward: bool
) -> None:
    counts = {"supports": 9, "contradictions": 2, "forward": 3, "backward": 4}
    examples = {"examples": ["a", "b"], "counterexamples": ["c", "d"]}
    put(work, "url_rules", [rule("r", "a.test", kind=kind, target=target) | counts | examples])
    (off,) = by_url(rule_listing.switched_listed_rule(work, "r", enabled=False), "rule").values()
    assert set(off) == set(URL_RULES.column_names)
    assert (off["state"], off["settled"]) == ("disabled", False)
    assert {name: off[name] for name in counts} == counts
    (on,) = by_url(rule_listing.switched_listed_rule(work, "r", enabled=True), "rule").values()
    assert (on["state"], on["settled"]) == ("active", False)
    assert {name: on[name] for name in counts} == {
        "supports": 9,
        "contradictions": 0,
        "forward": 3 if forward else 0,
        "backward": 0 if forward else 4,
    }
    assert (on["examples"], on["counterexamples"]) == (["a", "b"], [])
    with pytest.raises(UsageError, match="is not a rule of this crawl"):
        rule_listing.switched_listed_rule(work, "other", enabled=True)
