"""Planted cases: what `gossamer explain` says about a URL. See gossamer.status.explanation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from gossamer import config as configs
from gossamer.errors import UsageError
from gossamer.status.explanation import explain
from gossamer.tables.fetching import RHYTHM_S
from tests.support.stored_web import put_inlinks, put_rows

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

DAY_MS = 86_400_000
NOW_MS = 20_000 * DAY_MS
"""2024-10-04."""
SEED, A = "http://a.example/", "http://a.example/page"
ASKED = {
    "status": "fetched",
    "outcome": "ok",
    "fetches": 1,
    "fetched_ms": NOW_MS - 10 * DAY_MS,
    "stored_ms": NOW_MS - 10 * DAY_MS,
    "next_fetch_ms": NOW_MS + 20 * DAY_MS,
}
FAILED = ASKED | {"status": "unfetched", "outcome": "timeout", "failures": 2, "stored_ms": None}
ANSWER = {"url": A, "outcome": "ok", "http_status": 200, "fetched_ms": NOW_MS - 10 * DAY_MS}
DOCUMENT = {"url": A, "outcome": "parsed", "truncated": False}
COUNTED = {"section": "a.example/", "known": 10, "fetched": 4, "asked": 4, "worth": 0.25}
DROPPED = {"url": A, "copy_count": 0, "version_count": 0}


def robots(body: bytes | None, status: int = 200) -> dict[str, Any]:
    file = {"origin": "http://a.example", "fetched_ms": NOW_MS, "status": status, "body": body}
    return {"host": "a.example", "requests": 3, "contacted_ms": NOW_MS, "robots": [file]}


class Case(NamedTuple):
    """Rows by dataset, of `pages` those of A; settings; and what is said about a topic."""

    topic: str
    says: str
    page: dict[str, Any] | None = None
    rows: dict[str, list[dict[str, Any]]] | None = None
    settings: str = ""
    url: str = A


CASES = {
    "unknown": Case("found", "no page that was crawled links to it"),
    "out of scope": Case("found", "filter.scope", url="http://b.example/"),
    "denied": Case("found", "filter.deny", settings='filter.deny = ["/page"]'),
    "a trap": Case("found", "filter.max_repeats", url=f"{SEED}x/y/x/y/x/y/x/y/x/y"),
    "only nofollow links": Case(
        "found",
        f"rel=nofollow; one link is on {SEED}",
        rows={"links": [{"src": SEED, "dst": A, "nofollow": True}]},
    ),
    "a link beyond limits": Case(
        "found", "update.new_urls_per_domain", rows={"links": [{"src": SEED, "dst": A}]}
    ),
    "a seed": Case(
        "found", "as a seed, 2024-09-04 00:00 UTC; 1 page", {"source": "seed", "depth": 0}
    ),
    "by a link": Case("found", "by a link, 2024-09-04 00:00 UTC; 2 links from", {"depth": 2}),
    "by a sample": Case(
        "found", "by links of pages that a generated rule withholds", {"source": "sample"}
    ),
    "linked once": Case("found", "; 1 page links to it", {"inlinks": 1}),
    "linked often": Case("found", "; 1,200 pages link to it", {"inlinks": 1_200}),
    "a rule rewrites it": Case(
        "spelling",
        f"links to it lead to {SEED}page/, by the rule r1",
        {},
        {"url_rules": [{"rule": "r1", "kind": "slash", "target": "with", "state": "active"}]},
    ),
    "filters let it in": Case("filters", "they let it in", {}),
    "a filter came later": Case(
        "filters",
        "would be dropped: it matches a pattern of filter.deny; it is kept",
        {},
        settings='filter.deny = ["/page"]',
    ),
    "too deep by now": Case(
        "filters", "filter.max_depth", {"depth": 9}, settings="filter.max_depth = 5"
    ),
    "robots.txt was not read": Case("robots", "/robots.txt is read before the next request"),
    "robots.txt allows it": Case(
        "robots", "allowed to gossamer", rows={"hosts": [robots(b"User-agent: *\nDisallow: /q")]}
    ),
    "robots.txt forbids it": Case(
        "robots", "forbidden to gossamer", rows={"hosts": [robots(b"User-agent: *\nDisallow: /p")]}
    ),
    "robots.txt forbids how others link to it": Case(
        "robots",
        f"forbidden to gossamer as {A}?utm_source=x by",
        {"spelling": f"{A}?utm_source=x#"},
        {"hosts": [robots(b"User-agent: *\nDisallow: /*?utm_")]},
    ),
    "robots.txt asks for a delay": Case(
        "robots", "asks for 7.0 s", rows={"hosts": [robots(b"User-agent: *\nCrawl-delay: 7")]}
    ),
    "robots.txt could not be read": Case(
        "robots", "all requests are forbidden", rows={"hosts": [robots(None, 503)]}
    ),
    "the host was never asked": Case("host", "never contacted"),
    "the host has a group": Case(
        "host",
        "it was never contacted; fetched by group eu: fetch.egress",
        settings='fetch.egress = {us = ["*.us"], eu = ["a.*"]}',
    ),
    "the host fails": Case(
        "host",
        "3 requests, the last one 2024-10-04 00:00 UTC: timeout; 2 failures in a row; no request "
        "before 2024-10-05 00:00 UTC",
        rows={
            "hosts": [
                robots(b"") | {"failures": 2, "outcome": "timeout", "ready_ms": NOW_MS + DAY_MS}
            ]
        },
    ),
    "the host is away": Case(
        "host",
        "it answers with no page since 2024-10-03 00:00 UTC",
        rows={"hosts": [robots(b"") | {"away_ms": NOW_MS - DAY_MS}]},
    ),
    "the host waits by a clock that was ahead": Case(
        "host",
        "ok; fetched by group eu",
        rows={"hosts": [robots(b"") | {"outcome": "ok", "ready_ms": NOW_MS + 400 * DAY_MS}]},
        settings='fetch.egress = {us = ["*.us"], eu = ["a.*"]}',
    ),
    "never asked for": Case("fetched", "never asked for", {}),
    "answered": Case(
        "fetched", "ok (HTTP 200): a body was stored, 2024-09-24", ASKED, {"responses": [ANSWER]}
    ),
    "redirects": Case(
        "fetched",
        f"redirect (HTTP 301): a redirect; its target is a separate page, to {SEED}",
        ASKED | {"status": "redirected", "outcome": "redirect"},
        {"responses": [ANSWER | {"outcome": "redirect", "http_status": 301, "redirect_url": SEED}]},
    ),
    "failed": Case("fetched", "timeout: no complete answer in time", FAILED),
    "never changed": Case(
        "changes",
        "none in 500.0 days; taken to change every 1,250 d",
        ASKED | {"watched_days": 500.0, "rate": 0.0008},
    ),
    "changes": Case(
        "changes", "about 50.0 in 100.0 days", ASKED | {"watched_days": 100.0, "changes": 50.0}
    ),
    "due at once": Case("due", "now: it was never asked for", {}),
    "due after the interval": Case("due", "2024-10-24 00:00 UTC: 30 d after its first", ASKED),
    "due with a new interval": Case(
        "due", "2024-10-09 00:00 UTC: 15 d", ASKED, settings="update.interval_days = 15"
    ),
    "due by its changes": Case("due", "a probability of 10.0 %", ASKED | {"rate": 0.01}),
    "due by the rhythm of a feed": Case(
        "due",
        "2024-10-24 00:00 UTC: by its rhythm, as a feed: visits found 8 new pages in 16 d",
        ASKED | {"kind": "feed", "finds": 8.0, "finding_days": 16.0, "interval_s": RHYTHM_S},
    ),
    "due by the dates of a sitemap": Case(
        "due",
        "or stored pages have changed: it gives 12.0 true dates a day",
        ASKED
        | {"kind": "sitemap", "finds": 0.0, "finding_days": 9.0}
        | {"date_rate": 12.0, "interval_s": RHYTHM_S},
    ),
    "due by the rhythm of a hub": Case(
        "due",
        "as a page in which visits found new links: visits found 1 new page in 6 h",
        ASKED | {"kind": "page", "finds": 1.0, "finding_days": 0.25, "interval_s": RHYTHM_S},
    ),
    "a feed that was visited once": Case(
        "due",
        "2024-10-24 00:00 UTC: soon after the first visit, as for any feed",
        ASKED | {"kind": "feed", "interval_s": RHYTHM_S},
    ),
    "found in a feed": Case("found", "as a new entry of a feed or sitemap", {"source": "entry"}),
    "scored as news": Case(
        "score",
        "× 1.21e+24, to come before others = ",
        {"source": "entry", "found_ms": NOW_MS - 1},
    ),
    "due by a date in a sitemap": Case(
        "due",
        "now: a feed or sitemap dates it 2024-10-03 00:00 UTC, which alone tells a change with a "
        "probability of 75.0 %",
        ASKED
        | {"next_fetch_ms": NOW_MS - 10 * DAY_MS, "watched_days": 9.0}
        | {"dated_ms": NOW_MS - DAY_MS, "doubt": math.log(4), "recall": 0.5},
    ),
    "changes are told by dates": Case(
        "changes",
        "; dates in feeds and sitemaps tell 50.0 % of them",
        ASKED | {"watched_days": 100.0, "changes": 50.0, "recall": 0.5},
    ),
    "due again": Case("due", "2024-10-24 00:00 UTC: it is tried again", FAILED),
    "gone": Case(
        "due",
        "it is tried again",
        ASKED | {"status": "gone", "outcome": "not_found", "failures": 3},
    ),
    "an alias": Case("due", "never: another address stands for it", ASKED | {"status": "alias"}),
    "the clock was ahead": Case(
        "due", "now: the clock was ahead", ASKED | {"fetched_ms": NOW_MS + 400 * DAY_MS}
    ),
    "scored by links": Case("score", "links 1 × a gain of", {"inlinks": 3, "depth": 1}),
    "scored by a product": Case(
        "score",
        "breadth 0.25 × links 0.5 × a gain of",
        {"inlinks": 3, "depth": 3},
        settings='update.scoring = "breadth*links"',
    ),
    "scored by sections, before any was counted": Case(
        "score", "fit 1 × a gain of", {}, settings='update.scoring = "fit"'
    ),
    "scored by its section": Case(
        "score",
        "fit 0.25 × a gain of",
        {},
        {"sections": [COUNTED | {"section": "*/", "worth": 0.5}, COUNTED]},
        settings='update.scoring = "fit"',
    ),
    "stands for others": Case(
        "duplicates",
        "2 other addresses and 1 older version",
        ASKED,
        {
            "dispositions": [
                {"url": A, "disposition": "indexed", "copy_count": 3, "version_count": 1}
            ]
        },
    ),
    "a duplicate": Case(
        "duplicates",
        f"{SEED} stands for it: main text and title have the same words",
        ASKED,
        {
            "dispositions": [
                DROPPED | {"disposition": "dropped_duplicate", "survivor": SEED, "reason": "text"}
            ]
        },
    ),
    "indexed": Case(
        "index",
        "it can be found, by its document of round 1",
        ASKED,
        {"indexed": [{"url": A, "round": 1}], "responses": [ANSWER], "documents": [DOCUMENT]},
    ),
    "indexed, and fetched since": Case(
        "index",
        "a newer one waits for the next harvest",
        ASKED,
        {"indexed": [{"url": A, "round": 0}], "responses": [ANSWER], "documents": [DOCUMENT]},
    ),
    "noindex": Case(
        "index",
        "(noindex)",
        ASKED,
        {"dispositions": [DROPPED | {"disposition": "dropped_noindex"}]},
    ),
    "nothing stored": Case("index", "nothing is stored of it", FAILED),
    "not parsed": Case("index", "has not been parsed", ASKED, {"responses": [ANSWER]}),
    "no text": Case(
        "index",
        "its text was not read (unsupported)",
        ASKED,
        {"responses": [ANSWER], "documents": [DOCUMENT | {"outcome": "unsupported"}]},
    ),
    "not harvested": Case(
        "index", "no harvest has run", ASKED, {"responses": [ANSWER], "documents": [DOCUMENT]}
    ),
}
RULE = {
    "host": "a.example",
    "section": "*",
    "name": "",
    **dict.fromkeys(("supports", "contradictions", "forward", "backward"), 20),
    **dict.fromkeys(("rewritten", "sampled", "first_round", "last_round"), 1),
    "examples": [],
    "counterexamples": [],
}
PLAIN: dict[str, dict[str, Any]] = {
    "url_rules": RULE,
    "hosts": {"failures": 0, "outcome": "ok"},
    "indexed": {"source": 1},
}


@pytest.mark.parametrize("name", CASES)
def test_a_planted_case_is_explained(work: Workspace, name: str) -> None:
    case = CASES[name]
    work.clock_ms = NOW_MS
    found_ms = NOW_MS - 30 * DAY_MS
    pages = [{"url": SEED, "source": "seed", "depth": 0, "found_ms": found_ms}]
    if case.page is not None:
        pages.append({"url": A, "found_ms": found_ms, **case.page})
    put_rows(work, "pages", pages)
    for dataset, rows in (case.rows or {}).items():
        put_rows(work, dataset, [PLAIN.get(dataset, {}) | row for row in rows])
    if "links" in (case.rows or {}):
        put_inlinks(work, A, [(SEED, "a link")], 1)
    work.config = configs.loads(case.settings, "gossamer.toml")
    found = explain(work, case.url)
    assert found.known is (case.page is not None)
    facts = {fact.topic: fact.text for fact in found.facts}
    assert case.says in facts[case.topic]


def test_at_least_thirty_cases_are_planted() -> None:
    assert len(CASES) >= 30


def test_what_is_no_url_is_refused(work: Workspace) -> None:
    with pytest.raises(UsageError, match="is not a URL that can be crawled"):
        explain(work, "mailto:somebody@a.example")


def test_the_newest_row_counts(work: Workspace) -> None:
    work.clock_ms = NOW_MS
    put_rows(work, "pages", [{"url": A, "depth": 7}, {"url": SEED, "source": "seed", "depth": 0}])
    put_rows(work, "pages", [{"url": A, "depth": 2}])
    assert "2 links from a seed" in explain(work, A).facts[0].text


@pytest.mark.parametrize("group_rows", [1, 2, 100])
def test_the_scope_is_that_of_all_seeds(work: Workspace, group_rows: int) -> None:
    sources = ("link", "seed", "redirect", "link", "sitemap", "seed", "link")
    pages = [
        {"url": f"http://{host}.example/", "host": f"{host}.example", "source": source}
        for host, source in zip("abcdefg", sources, strict=True)
    ]
    for rows in (pages[:4], pages[4:]):
        put_rows(work, "pages", rows, files=2, group_rows=group_rows)
    work.config = configs.loads('filter.scope = "host"', "gossamer.toml")
    within = {
        page["host"][0]
        for page in pages
        if "filter.scope" not in explain(work, f"{page['url']}new").facts[0].text
    }
    assert within == {"b", "f"}
