from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from gossamer.errors import UsageError
from gossamer.rules.absence import REASONS
from gossamer.schedule import refilter
from gossamer.schedule.due import due_counts
from gossamer.schedule.order import opic
from gossamer.state import lsm
from gossamer.tables import PAGES
from gossamer.tables.outcomes import FILTERED, FILTERED_TYPE
from tests.support.rows import LATER_MS, by_url, put_all

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

HOME = "http://a.example/"
RULES = ("deny prefix http://a.example/old/", "deny type image/")
EXCLUDED = {"status": "excluded", "outcome": FILTERED, "next_fetch_ms": LATER_MS}
KNOWN: dict[str, dict[str, Any]] = {
    "": {"source": "seed"},
    "old/a": {},
    "old/b": {"status": "fetched", "outcome": "ok", "stored_ms": 5, "etag": "b", "cash": 70},
    "old/c": EXCLUDED,
    "far": {"depth": 99},
    "x.zip": {"source": "seed"},
    "found again": EXCLUDED | {"stored_ms": 5, "etag": "f", "failures": 3},
    "never seen": EXCLUDED | {"outcome": FILTERED_TYPE},
    "picture": {"status": "fetched", "outcome": "ok", "stored_ms": 5, "etag": "p"},
    "page": {"status": "fetched", "outcome": "ok", "stored_ms": 5, "next_fetch_ms": LATER_MS},
    "alias": {"status": "alias", "depth": 99},
}
ANSWERED = {
    "picture": [("image/png", 2), ("text/html", 1)],
    "page": [("text/html", 2), ("image/png", 1), ("image/png", 3)],
}
"""The types of answers, and their rounds."""
FAILED = ("page", 3)
GIVEN = 10
COUNTS = {"refused": 4, "still_refused": 1, "seeds_kept": 1, "restored": 2}


@pytest.fixture
def filtered(work: Workspace) -> Workspace:
    """A crawl that knows these pages, and whose filters have changed since."""
    rules = msgspec.structs.replace(work.config.filter, rules=RULES)
    work.config = msgspec.structs.replace(work.config, filter=rules)
    rows = [{"url": f"{HOME}{name}"} | row for name, row in KNOWN.items()]
    answers = [
        {
            "url": f"{HOME}{name}",
            "content_type": kind,
            "round": round_,
            "outcome": "timeout" if (name, round_) == FAILED else "ok",
        }
        for name, found in ANSWERED.items()
        for kind, round_ in found
    ]
    put_all(work, {"pages": rows, "responses": answers})
    with work.step("count", work.round) as draft:
        virtual = opic.VirtualPage(len(KNOWN), brought=5_000, given=GIVEN, kept=3)
        draft.replace["virtual_page"] = opic.write_opic(work, virtual, work.round)
        none = lsm.current(work, PAGES).where("url IS NULL")
        draft.replace["due_times"] = due_counts.recount_due(work, none)
    return work


def known_pages(work: Workspace) -> dict[str, dict[str, Any]]:
    return by_url(lsm.current(work, PAGES).drop("url_hash"))


def test_a_dry_run_lists_what_would_be_refused_and_changes_nothing(filtered: Workspace) -> None:
    version = filtered.store.manifest.version
    found = refilter.run(filtered, dry_run=True, samples=2)
    assert (found.counts, found.report) == (COUNTS, None)
    assert [(each.reason, each.pages, each.samples) for each in found.refused] == [
        ("rule_prefix", 3, [f"{HOME}old/a", f"{HOME}old/b"]),
        ("depth", 1, [f"{HOME}far"]),
        ("rule_type", 1, [f"{HOME}picture"]),
    ]
    texts = [each.rule and each.rule.rule.text for each in found.refused]
    assert texts == [RULES[0], None, RULES[1]]
    assert filtered.store.manifest.version == version
    assert not any(each.samples for each in refilter.run(filtered, dry_run=True).refused)


def test_refused_pages_pay_and_others_are_due_again(filtered: Workspace) -> None:
    before = known_pages(filtered)
    report = refilter.run(filtered).report
    assert report is not None
    assert report.counts == COUNTS
    after = known_pages(filtered)
    changed = {url.removeprefix(HOME): row for url, row in after.items() if row != before[url]}
    assert {
        name: tuple(row[key] for key in ("status", "outcome", "next_fetch_ms", "failures", "etag"))
        for name, row in changed.items()
    } == {
        "old/a": ("excluded", FILTERED, 0, 0, None),
        "old/b": ("excluded", FILTERED, 0, 0, "b"),
        "far": ("excluded", FILTERED, 0, 0, None),
        "picture": ("excluded", FILTERED_TYPE, 0, 0, None),
        "found again": ("fetched", "ok", 0, 0, "f"),
        "never seen": ("unfetched", None, 0, 0, None),
    }
    refused = [name for name, row in changed.items() if row["status"] == "excluded"]
    assert {changed[name]["cash"] for name in refused} == {-GIVEN}
    paid = sum(GIVEN + (KNOWN[name].get("cash") or 0) for name in refused)
    each, kept = divmod(3 + paid, len(KNOWN))
    assert opic.virtual_page(filtered) == (len(KNOWN), 5_000, GIVEN + each, kept)
    none = lsm.current(filtered, PAGES).where("url IS NULL")
    counted = due_counts.read_due_counts(filtered)
    with filtered.step("count", filtered.round) as draft:
        draft.replace["due_times"] = due_counts.recount_due(filtered, none)
    assert counted == due_counts.read_due_counts(filtered)


@pytest.mark.parametrize(
    ("url", "normal", "reason", "words", "rule"),
    [
        ("HTTP://A.example:80/x", f"{HOME}x", None, None, None),
        (f"{HOME}old/", f"{HOME}old/", "rule_prefix", REASONS["rule_prefix"], RULES[0]),
        (f"{HOME}x.zip", f"{HOME}x.zip", "extension", REASONS["extension"], None),
    ],
)
def test_what_becomes_of_a_link(
    filtered: Workspace,
    url: str,
    normal: str,
    reason: str | None,
    words: str | None,
    rule: str | None,
) -> None:
    found = refilter.test_url(filtered, url)
    assert (found.url, found.reason, found.words) == (normal, reason, words)
    assert (found.rule and found.rule.rule.text) == rule


def test_what_is_no_url_cannot_be_tested(filtered: Workspace) -> None:
    with pytest.raises(UsageError, match="is not a URL that can be crawled"):
        refilter.test_url(filtered, "a.example")
