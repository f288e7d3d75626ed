"""Feeds, sitemaps and hubs are visited at rhythms of their own: see listing_polls.py and pace."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from gossamer.schedule import generate
from gossamer.schedule.due import change_habits, due_counts, listing_polls, round_length
from gossamer.storage.store import StepReport
from gossamer.tables import FETCHLIST, HABITS
from gossamer.tables.fetching import RHYTHM_S
from tests.support.rows import put
from tests.support.shared_rounds import SharedRounds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gossamer.state.workspace import Workspace
    from tests.support.shared_rounds import Found, Site, Story

HOUR_S = 3_600
DAY_MS = 86_400_000
BEGAN_MS = 100 * DAY_MS
NOW_MS = BEGAN_MS + DAY_MS
A = "http://a.example/"
FAR = 2
"""The depth of a feed that no seed announces."""
LISTED = {
    "status": "fetched",
    "outcome": "ok",
    "fetches": 1,
    "fetched_ms": BEGAN_MS,
    "stored_ms": BEGAN_MS,
    "digest": "old",
    "interval_s": RHYTHM_S,
}
"""A page that was visited on day 100."""
KINDS = {
    "feed": ("listing", "application/rss+xml"),
    "sitemap": ("listing", "application/x-sitemap+xml"),
    "page": ("parsed", "text/html"),
}


shared = SharedRounds(NOW_MS)
calmer = SharedRounds(NOW_MS, update={"feed_interval_s": 25.0})
plain = SharedRounds(NOW_MS, update={"feed_interval_s": 0.0})
"""Rounds with another setting; 0: feeds have no rhythms."""


def visited(
    site: Site,
    new: int,
    after_s: float = HOUR_S,
    kind: str = "feed",
    links: Iterable[dict[str, Any]] | None = None,
    outcome: str = "ok",
    parsed: str = "",
    others: Iterable[dict[str, Any]] | None = None,
    **page: Any,
) -> Found:
    """Another visit to a page, in which it lists so many new pages."""
    home, old = site.url(), {"url": site.url("/old")}
    answer = {"url": home, "fetched_ms": BEGAN_MS + int(after_s * 1000), "outcome": outcome}
    found, content_type = KINDS[kind]
    document = {"url": home, "outcome": parsed or found, "content_type": content_type}
    link = {"relation": "entry", "first": False}
    names = ["old", *(f"new{number}" for number in range(new))]
    listed = [link | {"dst": f"{home}{name}"} for name in names] if links is None else links
    return {
        "pages": [
            {"url": home, "kind": kind, **LISTED, **page},
            *([old] if others is None else others),
        ],
        "responses": [answer | {"digest": "new"}],
        "documents": [document] if outcome == "ok" else [],
        "links": [{"src": home} | each for each in listed],
    }


def wait_s(page: dict[str, Any]) -> float:
    return float(page["next_fetch_ms"] - page["fetched_ms"]) / 1000


@shared.story
@pytest.mark.parametrize(("kind", "first_s"), [("feed", 60), ("sitemap", HOUR_S)])
def test_after_its_first_visit_a_listing_is_due_soon(site: Site, kind: str, first_s: int) -> Story:
    first: dict[str, Any] = {"status": "unfetched", "stored_ms": None, "fetched_ms": None}
    found = (yield visited(site, 3, kind=kind, **first))[site.url()]
    assert (found["kind"], found["finds"], found["interval_s"]) == (kind, 0, RHYTHM_S)
    assert wait_s(found) == pytest.approx(first_s)


@shared.story
def test_a_visit_tells_how_many_new_pages_a_feed_lists(site: Site) -> Story:
    found = (yield visited(site, 5))[site.url()]
    assert (found["finds"], found["finding_days"]) == (5, pytest.approx(1 / 24))
    assert wait_s(found) == pytest.approx(math.log(2) * HOUR_S / 5, abs=0.01)
    assert found["interval_s"] == RHYTHM_S


@shared.story
@pytest.mark.parametrize("kind", KINDS)
def test_what_a_feed_changes_says_nothing_about_the_pages_of_its_host(
    site: Site, kind: str
) -> Story:
    found = (yield visited(site, 1, kind=kind, main_text=1))[site.url()]
    assert found["changes"] > 0
    assert len(site.rows("habits")) == (2 if kind == "page" else 0)


@shared.story
def test_only_the_last_finds_count(site: Site) -> Story:
    found = (yield visited(site, 12, finds=4.0, finding_days=3 / 24))[site.url()]
    assert found["finds"] == listing_polls.LAST_FINDS
    assert found["finding_days"] == pytest.approx(4 / 24 / 2)


@shared.story
@pytest.mark.parametrize("silent_hours", [1, 24, 240])
def test_a_feed_that_lists_nothing_new_is_asked_ever_more_rarely(
    site: Site, silent_hours: int
) -> Story:
    feed = visited(site, 0, finding_days=(silent_hours - 1) / 24, depth=FAR)
    found = (yield feed)[site.url()]
    assert wait_s(found) == pytest.approx(2 * math.log(2) * silent_hours * HOUR_S, rel=0.02)


@shared.story
def test_an_answer_without_a_body_is_a_visit_that_found_nothing(site: Site) -> Story:
    visit = visited(site, 0, outcome="unchanged", links=[], finds=2.0, finding_days=1 / 24)
    found = (yield visit)[site.url()]
    assert (found["finds"], found["finding_days"]) == (2, pytest.approx(2 / 24))


def dated(site: Site, new: int, after_s: float = HOUR_S, **page: Any) -> Found:
    """A visit to a sitemap that gives so many of 30 stored pages newer dates."""
    home = site.url()
    old = {"stored_ms": BEGAN_MS, "dated_ms": BEGAN_MS, "status": "fetched", "outcome": "ok"}
    others = [{"url": f"{home}{number}"} | old for number in range(30)]
    others.append({"url": f"{home}unseen", "dated_ms": BEGAN_MS})
    link = {"relation": "entry", "first": False}
    dates = {f"{home}{number}": BEGAN_MS + (number < new) for number in range(30)}
    dates[f"{home}unseen"] = BEGAN_MS + 1
    dates[f"{home}29"] = BEGAN_MS + 40 * DAY_MS  # a coming event, as it was before
    links = [link | {"dst": url, "dated_ms": dated_ms} for url, dated_ms in dates.items()]
    return visited(site, 0, after_s, "sitemap", links, others=others, **page)


def told(site: Site, **sums: int) -> list[dict[str, Any]]:
    """What visits have told of the dates of the site."""
    return [dict.fromkeys(HABITS.column_names, 0) | {"place": site.host()} | sums]


@shared.story
@pytest.mark.parametrize(("new", "held", "after"), [(6, None, 6), (6, 20.0, 16.5), (0, 20.0, 15)])
def test_a_sitemap_is_due_by_its_true_dates(
    site: Site, new: int, held: float | None, after: float
) -> Story:
    """The place tells that half of the dates are true; the first visit with any counts alone."""
    visit = dated(site, new, 12 * HOUR_S, date_rate=held, finding_days=100.0)
    half = told(site, told=99 * change_habits.UNIT, met=199)
    found = (yield {**visit, "habits": half})[site.url()]
    assert found["date_rate"] == pytest.approx(after, rel=0.01)
    assert wait_s(found) == pytest.approx(86_400 * math.sqrt(30 / 2 / found["date_rate"]), abs=0.01)


@shared.story
def test_dates_of_hosts_that_nobody_believes_are_no_reason_to_visit(site: Site) -> Story:
    lies = told(site, met=100_000)
    found = (yield {**dated(site, 30, 86_400), "habits": lies})[site.url()]
    assert 0 < found["date_rate"] < 0.001
    assert wait_s(found) == pytest.approx(2 * math.log(2) * 86_400, rel=0.05)


@shared.story
def test_new_pages_and_dates_each_shorten_a_wait(site: Site) -> Story:
    found = (yield dated(site, 6, 12 * HOUR_S, finds=8.0, finding_days=0.5))[site.url()]
    assert wait_s(found) == pytest.approx(math.log(2) * 86_400 / 8, abs=0.01)


@shared.story
def test_an_answer_without_a_body_gives_no_dates(site: Site) -> Story:
    found = (yield visited(site, 0, outcome="unchanged", links=[], date_rate=8.0))[site.url()]
    assert found["date_rate"] == 6


@shared.story
@pytest.mark.parametrize(("finds", "days", "seconds"), [(500, 0.0, 10), (0, 9_999.0, 30 * 86_400)])
def test_waits_have_bounds(site: Site, finds: int, days: float, seconds: float) -> Story:
    found = (yield visited(site, finds, finding_days=days, depth=FAR))[site.url()]
    assert wait_s(found) == seconds


@shared.story
@pytest.mark.parametrize("depth", [0, 1])
def test_a_silent_feed_of_a_seed_is_asked_each_hour(site: Site, depth: int) -> Story:
    found = (yield visited(site, 0, finding_days=9_999.0, depth=depth, announced=True))[site.url()]
    assert wait_s(found) == HOUR_S


@calmer.story
def test_the_shortest_wait_is_a_setting(site: Site) -> Story:
    found = (yield visited(site, 500))[site.url()]
    assert wait_s(found) == 25


@plain.story
def test_without_the_setting_a_feed_is_due_as_any_page(site: Site) -> Story:
    found = (yield visited(site, 500))[site.url()]
    assert wait_s(found) > 86_400
    assert found["interval_s"] == 30 * 86_400


@shared.story
def test_a_failing_feed_has_no_rhythm(site: Site) -> Story:
    visit = visited(site, 0, links=[], outcome="timeout", finds=8.0, finding_days=0.01)
    found = (yield visit)[site.url()]
    assert found["interval_s"] != RHYTHM_S
    assert wait_s(found) >= HOUR_S


@shared.story
def test_a_feed_that_could_not_be_parsed_once_stays_one(site: Site) -> Story:
    found = (yield visited(site, 0, links=[], parsed="failed"))[site.url()]
    assert (found["kind"], found["interval_s"]) == ("feed", RHYTHM_S)


def of_page(site: Site, names: Iterable[str], after_s: float = HOUR_S) -> Found:
    """Another visit to a page that is no listing, and links to these."""
    links = [{"dst": site.url(f"/{name}"), "first": False} for name in names]
    return visited(site, 0, after_s, kind="page", links=links, interval_s=30 * 86_400)


@shared.story
def test_a_page_in_which_visits_find_new_links_is_a_hub(site: Site) -> Story:
    found = (yield of_page(site, "abcd"))[site.url()]
    assert (found["kind"], found["interval_s"]) == ("page", RHYTHM_S)
    assert wait_s(found) == pytest.approx(math.log(2) * HOUR_S / 4, abs=0.01)


@shared.story
def test_a_single_new_link_makes_a_hub(site: Site) -> Story:
    found = (yield of_page(site, "a"))[site.url()]
    assert (found["kind"], found["interval_s"]) == ("page", RHYTHM_S)
    assert wait_s(found) == pytest.approx(math.log(2) * HOUR_S, abs=0.01)


@shared.story
def test_a_hub_is_not_due_again_within_minutes(site: Site) -> Story:
    found = (yield of_page(site, map(str, range(500)), 60))[site.url()]
    assert wait_s(found) == listing_polls.HUB_S


@shared.story
def test_a_page_without_new_links_waits_by_its_changes(site: Site) -> Story:
    found = (yield of_page(site, ["old"]))[site.url()]
    assert (found["finds"], found["interval_s"]) == (0, 30 * 86_400)


@shared.story
def test_links_that_are_not_followed_are_no_finds(site: Site) -> Story:
    links = [
        {"dst": site.url("/no"), "relation": "entry", "nofollow": True, "first": False},
        {"dst": site.url("/moved"), "relation": "redirect", "first": False},
    ]
    assert (yield visited(site, 0, links=links))[site.url()]["finds"] == 0


@shared.story
@pytest.mark.parametrize(
    ("link", "source"),
    [
        ({"first": False}, "entry"),
        ({"first": True}, "link"),  # it may be years old
        ({"first": True, "dated_ms": NOW_MS - DAY_MS // 2}, "entry"),
        ({"first": True, "dated_ms": NOW_MS - 2 * DAY_MS}, "link"),
        ({"first": False, "relation": "a"}, "link"),
        ({"first": False, "relation": "sitemap"}, "link"),
    ],
)
def test_a_new_entry_has_a_source_of_its_own(
    site: Site, link: dict[str, Any], source: str
) -> Story:
    new = {"dst": site.url("/new"), "relation": "entry"}
    twice = {"src": site.url("/old"), "dst": site.url("/new"), "relation": "a"}
    pages = yield visited(site, 0, links=[new | link, twice])
    assert pages[site.url("/new")]["source"] == source


def listed(work: Workspace) -> list[str]:
    generate.run(work)
    rows = work.read(FETCHLIST.name).orderBy("score", ascending=False).collect()
    return [row["url"].removeprefix(A) for row in rows]


def test_news_come_first_then_due_feeds(work: Workspace) -> None:
    work.clock_ms = BEGAN_MS + DAY_MS
    entry = {"source": "entry", "found_ms": work.clock_ms - 1}
    pages: dict[str, dict[str, Any]] = {
        "news": entry,
        "feed": LISTED | {"kind": "feed"},
        "linked": {"inlinks": 10_000, "depth": 0},
        "old news": entry | {"found_ms": BEGAN_MS - DAY_MS},
        "fetched news": LISTED | entry | {"interval_s": 30 * 86_400},
    }
    put(work, "pages", [{"url": f"{A}{name}", **row} for name, row in pages.items()], 0)
    assert listed(work) == list(pages)


def test_a_feed_is_not_due_twice_within_an_hour_in_a_crawl_that_ends(work: Workspace) -> None:
    put(work, "pages", [{"url": A, **LISTED, "next_fetch_ms": BEGAN_MS + 10_000}], 0)
    work.clock_ms = BEGAN_MS + (HOUR_S - 1) * 1000
    assert listed(work) == []
    assert round_length.next_due_ms(work) == BEGAN_MS + HOUR_S * 1000
    work.is_endless = True
    assert round_length.next_due_ms(work) == BEGAN_MS + 10_000
    assert listed(work) == [""]


def test_a_refreshed_feed_is_due_at_once(work: Workspace) -> None:
    put(work, "pages", [{"url": A, **LISTED, "next_fetch_ms": 0}], 0)
    work.clock_ms = BEGAN_MS + 1
    assert listed(work) == [""]


def test_a_new_interval_does_not_shift_a_rhythm(work: Workspace) -> None:
    settings = msgspec.structs.replace(work.config.update, interval_days=300)
    work.config = msgspec.structs.replace(work.config, update=settings)
    put(work, "pages", [{"url": A, **LISTED, "next_fetch_ms": BEGAN_MS + 10_000}], 0)
    work.is_endless = True
    assert round_length.next_due_ms(work) == BEGAN_MS + 10_000


def counted(work: Workspace, **slot: Any) -> None:
    row = {"from_ms": BEGAN_MS, "interval_s": RHYTHM_S, "fetched": True, "pages": 1}
    put(work, "due_times", [row | slot], 0)
    work.clock_ms = BEGAN_MS


@pytest.mark.parametrize(
    ("slot", "is_endless", "limit_s"),
    [
        ({}, True, round_length.BRISK_S),
        ({"interval_s": 0}, True, None),  # as of an interval below a second
        ({}, False, None),
        ({"from_ms": BEGAN_MS + 3 * due_counts.SLOT_MS}, True, None),
        ({"interval_s": 30 * 86_400}, True, None),
    ],
)
def test_rounds_are_brief_while_a_rhythm_is_due_soon(
    work: Workspace, slot: dict[str, Any], is_endless: bool, limit_s: float | None
) -> None:
    counted(work, **slot)
    work.is_endless = is_endless
    assert round_length.limit_s(work) == limit_s


def test_most_of_the_time_is_left_for_fetching(work: Workspace) -> None:
    counted(work)
    work.is_endless = True
    for step, seconds in (("generate", 9.0), ("generate", 1.0), ("update", 2.0), ("fetch", 50.0)):
        work.store.commit(StepReport(step, 1, 0, seconds))
    assert round_length.limit_s(work) == 9
    assert round_length.patience_ms(work) == 9_000
    assert round_length.brief_generate_settings(work).pages_per_host == 9
    assert round_length.brief_fetch_settings(work, work.config.fetch).round_minutes == 9 / 60
    shorter = msgspec.structs.replace(work.config.fetch, round_minutes=0.01)
    assert round_length.brief_fetch_settings(work, shorter).round_minutes == 0.01


def test_other_rounds_have_the_sizes_of_the_settings(work: Workspace) -> None:
    assert round_length.brief_generate_settings(work) is work.config.generate
    assert round_length.brief_fetch_settings(work, work.config.fetch) is work.config.fetch
    assert round_length.patience_ms(work) == work.config.fetch.max_delay_s * 1000
