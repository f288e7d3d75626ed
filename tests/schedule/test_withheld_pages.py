"""Pages that generated rules withhold: drawn once per period, released when their rule falls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gossamer.parse.parsed_page import Rules
from gossamer.parse.step.planning import create_job
from gossamer.rules.filter_rules import stored_rules
from gossamer.rules.filter_rules.crawl_rules import rules_in_force
from gossamer.rules.filter_rules.filter_recipe import index_of
from gossamer.rules.filter_rules.stored_rules import Evidence, StoredRule
from gossamer.schedule.focus.generated_rules import withheld_pages
from gossamer.schedule.focus.generated_rules.withheld_pages import DRAWN
from gossamer.schedule.order.sections.step import read_sections
from gossamer.schedule.order.sections.step import run as count_sections
from gossamer.tables.fetching import RHYTHM_S
from tests.support.rows import put
from tests.support.shared_rounds import SharedRounds

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from gossamer.state.workspace import Workspace
    from tests.support.shared_rounds import Found, Pages, Site, Story

pytestmark = pytest.mark.slow

DAY_MS = 86_400_000
BEGIN_MS = 20_000 * DAY_MS
SKETCH = bytes(range(256)) * 4
KNOWN = 60
WANTED = 30

withheld = SharedRounds(clock_ms=BEGIN_MS, filter={"scope": "any"})
kept = SharedRounds(clock_ms=BEGIN_MS, filter={"scope": "any"})
attacked = SharedRounds(clock_ms=BEGIN_MS, filter={"scope": "any"})
leading = SharedRounds(clock_ms=BEGIN_MS, filter={"scope": "any"})
robust = SharedRounds(clock_ms=BEGIN_MS, filter={"scope": "any"})


def rule_row(site: Site, path: str = "/tags/", source: str = "generated") -> dict[str, Any]:
    rule = f"deny prefix {site.url(path)}"
    known = {"enabled": True, "created_ms": BEGIN_MS, "pages": KNOWN, "asked": 50}
    return {"rule": rule, "position": 1, "source": source, **known, "domain_fit": 20, "reached": 20}


def tags(site: Site, first: int = 0, count: int = KNOWN) -> list[str]:
    return [site.url(f"/tags/{n}") for n in range(first, first + count)]


def refused_rows(urls: Iterable[str], stored: Collection[str] = ()) -> list[dict[str, Any]]:
    """Pages as `filter apply` leaves them."""
    state = {"status": "excluded", "outcome": "filtered"}
    answered = {"fetched_ms": 1, "stored_ms": 1, "fit": False}
    return [{"url": url} | state | (answered if url in stored else {}) for url in urls]


def round_of(
    site: Site, fit: Iterable[str] = (), unfit: Iterable[str] = (), links: Iterable[str] = ()
) -> Found:
    """A round that fetches these pages, and finds links to others."""
    sketches = dict.fromkeys(unfit) | dict.fromkeys(fit, SKETCH) | {site.url("/"): None}
    documents = [
        {"url": url, "outcome": "parsed", "text_hash": n, "sketch": sketch, "truncated": False}
        for n, (url, sketch) in enumerate(sketches.items())
    ]
    return {
        "responses": [{"url": url, "outcome": "ok", "http_status": 200} for url in sketches],
        "documents": documents,
        "links": [{"src": site.url("/"), "dst": url, "depth": 1, "hops": 0} for url in links],
    }


def statuses(pages: Pages, urls: Iterable[str]) -> set[tuple[str, str | None]]:
    return {(pages[url]["status"], pages[url]["outcome"]) for url in urls}


def waiting(pages: Pages, site: Site) -> list[str]:
    """The pages that a round would fetch now."""
    return [
        url
        for url, row in pages.items()
        if row["status"] == "unfetched" and row["next_fetch_ms"] <= site.work.now_ms()
    ]


@withheld.story
def test_new_urls_that_a_generated_rule_refuses_are_withheld(site: Site) -> Story:
    other = site.url("/a/1")
    pages = yield {
        **round_of(site, links=[*tags(site), other]),
        "filter_rules": [rule_row(site)],
    }
    assert statuses(pages, tags(site)) == {("excluded", "filtered")}
    assert pages[other]["status"] == "unfetched"
    count_sections(site.work)
    (section,) = [
        each for each in read_sections(site.work) if each.section == f"{site.host()}/tags/"
    ]
    assert (section.known, section.asked) == (KNOWN, 0), "nobody has asked for them"


def test_parse_and_fetch_follow_the_owner_only(work: Workspace) -> None:
    owned, made = "deny prefix http://a.example/b/", "deny prefix http://a.example/tags/"
    rows = [{"rule": owned, "source": "owner"}, {"rule": made, "source": "generated"}]
    known = {"enabled": True, "created_ms": 1, "asked": 50}
    put(work, "filter_rules", [row | known | {"position": n} for n, row in enumerate(rows)])
    recipe = create_job(work, Rules()).filters
    assert recipe.rules is not None
    assert [each.text for each in index_of(recipe.rules).rules] == [owned]
    assert [each.rule.text for each in rules_in_force(work).placed] == [owned, made]


@pytest.mark.parametrize(("requests", "sections"), [(0, 1), (1_599, 1), (1_600, 2), (9_999, 4)])
def test_samples_take_one_request_in_a_hundred(
    work: Workspace, requests: int, sections: int
) -> None:
    """Or those of one section; the ones that have waited longest are drawn first."""
    work.clock_ms = BEGIN_MS
    waited = {"d": 30, "a": 40, "c": 50, "b": None, "e": 29}
    rules = [
        StoredRule(
            f"deny prefix http://a.example/{name}/", 1, "generated", True, 1,
            sampled_ms=None if days is None else BEGIN_MS - days * DAY_MS,
        )
        for name, days in waited.items()
    ]  # fmt: skip
    due = withheld_pages._due_sections(work, rules, requests)
    assert due == {f"a.example/{name}/" for name in "bcad"[:sections]}


@kept.story
def test_withheld_pages_are_drawn_once_per_period_and_withheld_again(site: Site) -> Story:
    pages = yield {
        **round_of(site),
        "pages": refused_rows(tags(site)),
        "filter_rules": [rule_row(site)],
    }
    drawn = waiting(pages, site)
    assert len(drawn) == DRAWN
    assert statuses(pages, drawn) == {("unfetched", "filtered")}
    assert {pages[url]["interval_s"] for url in drawn} == {RHYTHM_S}, "ahead of other pages"
    late, *answered = drawn
    busy = {"url": late, "outcome": "busy", "http_status": 503}
    found = round_of(site, unfit=answered)
    pages = yield {**found, "responses": [*found["responses"], busy]}
    assert statuses(pages, answered) == {("excluded", "filtered")}
    assert statuses(pages, [late]) == {("unfetched", "filtered")}
    (rule,) = stored_rules.read_rules(site.work)
    assert rule.evidence == Evidence(KNOWN, 50, 20, 20, drawn=DRAWN)
    site.work.clock_ms = BEGIN_MS + 31 * DAY_MS
    new = tags(site, KNOWN, 4)
    pages = yield round_of(site, unfit=[late], links=new)
    drawn = waiting(pages, site)
    assert len(drawn) == DRAWN
    site.work.clock_ms = BEGIN_MS + 62 * DAY_MS
    pages = yield round_of(site, unfit=drawn)
    assert set(new) < set(waiting(pages, site)), "half of them are new"


@attacked.story
def test_a_section_that_begins_to_matter_is_found_within_one_period(site: Site) -> Story:
    """Without samples, all of its wanted pages are lost."""
    stored = tags(site, 0, 10)
    pages = yield {
        **round_of(site),
        "pages": refused_rows(tags(site), stored),
        "filter_rules": [rule_row(site)],
    }
    pages = yield round_of(site, unfit=waiting(pages, site))
    wanted = set(tags(site, KNOWN, WANTED))
    pages = yield round_of(site, links=[*wanted, *tags(site, 2 * KNOWN, 20)])
    assert not waiting(pages, site)
    site.work.clock_ms = BEGIN_MS + 31 * DAY_MS
    pages = yield round_of(site)
    drawn = waiting(pages, site)
    assert 0 < len(drawn) <= DRAWN
    assert wanted & set(drawn)
    late = site.url("/tags/late")
    pages = yield round_of(site, wanted & set(drawn), set(drawn) - wanted, links=[late])
    assert statuses(pages, [late]) == {("unfetched", None)}
    assert stored_rules.read_rules(site.work) == []
    assert wanted <= set(waiting(pages, site)) | set(drawn)
    assert statuses(pages, set(stored) - set(drawn)) == {("fetched", "ok")}
    assert {pages[url]["next_fetch_ms"] for url in stored if url not in drawn} == {0}


@leading.story
def test_the_first_withheld_pages_wait_for_a_day_and_what_only_they_lead_to_counts(
    site: Site,
) -> Story:
    """A tag becomes the only way to new articles, after its rule was made."""
    yield {**round_of(site, links=tags(site)), "filter_rules": [rule_row(site)]}
    pages = yield round_of(site)
    assert not waiting(pages, site), "they were looked for when there were none"
    site.work.clock_ms = BEGIN_MS + DAY_MS
    pages = yield round_of(site)
    drawn = waiting(pages, site)
    assert len(drawn) == DRAWN
    hidden, known = site.url("/articles/hidden"), site.url("/articles/known")
    links = [{"src": drawn[0], "dst": url, "depth": 2, "hops": 0} for url in (hidden, known)]
    found = round_of(site, unfit=drawn, links=[known])
    pages = yield {**found, "links": [*found["links"], *links]}
    assert (pages[hidden]["source"], pages[known]["source"]) == ("sample", "link")
    pages = yield round_of(site, fit=[known])
    assert len(stored_rules.read_rules(site.work)) == 1
    pages = yield round_of(site, fit=[hidden])
    assert stored_rules.read_rules(site.work) == []
    assert statuses(pages, set(tags(site)) - set(drawn)) == {("unfetched", None)}


@robust.story
def test_what_the_owner_refuses_is_neither_drawn_nor_released(site: Site) -> Story:
    secret = [site.url(f"/tags/secret/{n}") for n in range(KNOWN)]
    owned = rule_row(site, "/tags/secret/", "owner") | {"position": 2}
    pages = yield {
        **round_of(site),
        "pages": refused_rows([*tags(site), *secret]),
        "filter_rules": [owned, rule_row(site)],
    }
    drawn = waiting(pages, site)
    assert set(drawn) < set(tags(site))
    assert "fallen_rules" not in site.work.store.manifest.history[-1].counts
    pages = yield round_of(site, drawn)
    assert site.work.store.manifest.history[-1].counts["fallen_rules"] == 1
    assert [each.source for each in stored_rules.read_rules(site.work)] == ["owner"]
    assert statuses(pages, secret) == {("excluded", "filtered")}
    assert statuses(pages, set(tags(site)) - set(drawn)) == {("unfetched", None)}
    assert statuses(pages, drawn) == {("fetched", "ok")}
