"""When listings, failures and due pages have their turn, column by column."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from gossamer.config import UpdateConfig
from gossamer.schedule.due import due_pages, listing_polls, outages
from gossamer.schedule.due.change_rates import DAY_MS, PRIOR_TRUTH
from gossamer.schedule.due.listing_polls import DAY_S, LAST_FINDS
from gossamer.state.credible_times import longest_page_wait_s
from gossamer.tables.fetching import RHYTHM_S
from tests.support.computed_columns import computed, rows_as_frame

if TYPE_CHECKING:
    from pyspark.sql import Column

    from gossamer.engine.engine import Engine

Row = dict[str, Any]
CONFIG = UpdateConfig()
USUAL_S = int(CONFIG.interval_days * DAY_S)
NOW_MS = 200 * DAY_MS
TYPES: dict[str, pa.DataType] = {
    **dict.fromkeys(("kind", "source", "url", "relation", "content_type"), pa.string()),
    **dict.fromkeys(("outcome", "status", "src", "dst"), pa.string()),
    **dict.fromkeys(("is_visit", "first", "nofollow", "announced"), pa.bool_()),
    **dict.fromkeys(("finds", "finding_days", "date_rate", "true_share"), pa.float64()),
    **dict.fromkeys(("visit_days",), pa.float64()),
    **dict.fromkeys(("found", "found_dates", "dated_ms", "stored_ms", "found_ms"), pa.int64()),
    **dict.fromkeys(("fetched_ms", "next_fetch_ms", "interval_s", "r_away_ms"), pa.int64()),
    **dict.fromkeys(("tries", "failures", "o_retry_wait_s", "r_retry_after_s"), pa.int64()),
    "depth": pa.int64(),
}


def values(engine: Engine, column: Column, *rows: Row) -> list[Any]:
    made = rows_as_frame(engine, TYPES, rows)
    return [row["value"] for row in computed(made, {"value": column})]


def learned(engine: Engine, *rows: Row) -> list[tuple[Any, ...]]:
    found = computed(rows_as_frame(engine, TYPES, rows), listing_polls.learn_finds())
    return [(row["finds"], row["finding_days"], row["date_rate"]) for row in found]


def test_a_visit_adds_what_it_found_and_its_days(engine: Engine) -> None:
    visit: Row = {"is_visit": True, "visit_days": 2.0}
    known = {"finds": 3.0, "finding_days": 5.0, "date_rate": 0.0}
    assert learned(
        engine,
        visit | known | {"found": 4},
        visit | {"found": 1},
        visit | known,
        known | {"is_visit": False, "found": 4, "visit_days": 2.0},
    ) == [(7, 7, 0), (1, 2, 0), (3, 7, 0), (3, 5, 0)]


def test_older_finds_are_forgotten_with_their_days(engine: Engine) -> None:
    known: Row = {"is_visit": True, "visit_days": 2.0, "finding_days": 6.0}
    exactly, more = learned(engine, known | {"finds": 6.0, "found": 2}, known | {"found": 16})
    assert exactly[:2] == (LAST_FINDS, 8)
    assert more[:2] == (LAST_FINDS, 4)


def test_the_rate_of_true_dates_is_an_average(engine: Engine) -> None:
    visit: Row = {"is_visit": True, "visit_days": 2.0, "found_dates": 6, "true_share": 0.5}
    rates = [
        row[2]
        for row in learned(
            engine,
            visit,
            visit | {"date_rate": 0.5},
            visit | {"true_share": None},
            visit | {"date_rate": 0.5, "found_dates": None},
            visit | {"visit_days": 0.0},
            visit | {"date_rate": 0.5, "is_visit": False},
        )
    ]
    at_once = 3 * DAY_S
    expected = [1.5, 0.5 + 0.25, 3 * PRIOR_TRUTH, 0.375, at_once, 0.5]
    assert rates == [pytest.approx(each) for each in expected]


def test_listings_and_hubs_have_rhythms(engine: Engine) -> None:
    feed: Row = {"kind": "feed", "finds": 4.0, "finding_days": 2.0, "date_rate": 0.0}
    fresh: Row = {"kind": "feed", "finds": 0.0, "finding_days": 0.0, "date_rate": 0.0}
    half_s = math.log(2) * DAY_S / 2
    config = UpdateConfig(feed_interval_s=30)
    found = values(
        engine,
        listing_polls.wait_s(config),
        feed,
        feed | {"kind": "page"},
        feed | {"kind": "page", "finds": 0.0},
        feed | {"kind": None},
        fresh,
        fresh | {"kind": "sitemap"},
        fresh | {"finding_days": 1.0},
        feed | {"finding_days": 1e-9},
        feed | {"kind": "page", "finding_days": 1e-9},
        feed | {"finding_days": 1e9},
        feed | {"finding_days": 1e9, "date_rate": 15.0},
        feed | {"date_rate": 0.001},
    )
    none_yet = (math.log(2) * DAY_S / listing_polls.PRIOR_FINDS) + 60
    expected = [half_s, half_s, None, None, 60, 3_600, none_yet, 30, 300, USUAL_S, DAY_S, half_s]
    assert found == [each and pytest.approx(each) for each in expected]


def test_feeds_that_seeds_announce_are_never_left_alone_for_long(engine: Engine) -> None:
    feed: Row = {"kind": "feed", "finds": 1.0, "finding_days": 30.0, "date_rate": 0.0}
    often: Row = feed | {"finding_days": 1e-9}
    by_rhythm_s = math.log(2) * DAY_S * 30
    pages = [feed | {"depth": depth, "announced": True} for depth in (0, 1, 2, None)]
    pages[0]["announced"] = False
    pages += [feed | {"depth": 1, "announced": announced} for announced in (False, None)]
    pages += [feed | {"depth": 0, "kind": kind} for kind in ("sitemap", "page")]
    pages += [often | {"depth": 0}]
    waits = values(engine, listing_polls.wait_s(UpdateConfig()), *pages)
    assert waits == [pytest.approx(s) for s in (3_600, 3_600, *[by_rhythm_s] * 6, 10)]
    soon = UpdateConfig(feed_longest_interval_s=20)
    assert values(engine, listing_polls.wait_s(soon), *pages)[:3] == [20, 20, by_rhythm_s]
    less = UpdateConfig(feed_longest_interval_s=20, feed_interval_s=60)
    assert values(engine, listing_polls.wait_s(less), *pages)[:2] == [60, 60]
    daily = UpdateConfig(interval_days=0.001)
    assert values(engine, listing_polls.wait_s(daily), *pages)[:1] == [pytest.approx(86.4)]


def test_without_an_interval_of_feeds_there_are_no_rhythms(engine: Engine) -> None:
    wait = listing_polls.wait_s(UpdateConfig(feed_interval_s=0))
    assert values(engine, wait, {"kind": "feed", "finds": 4.0, "finding_days": 2.0}) == [None]


def test_news_come_before_rhythms_and_these_before_the_rest(engine: Engine) -> None:
    entry: Row = {"source": "entry", "found_ms": NOW_MS - DAY_MS, "fetched_ms": None}
    ahead = listing_polls.AHEAD
    assert values(
        engine,
        listing_polls.rhythm_factor(NOW_MS),
        entry,
        entry | {"found_ms": NOW_MS - DAY_MS - 1},
        entry | {"fetched_ms": 1},
        entry | {"source": "link"},
        {"interval_s": RHYTHM_S},
        entry | {"interval_s": RHYTHM_S, "fetched_ms": 1},
        {"interval_s": USUAL_S},
        {},
    ) == [ahead * ahead, 1, 1, 1, ahead, ahead, 1, 1]


def test_a_link_of_a_listing_announces_what_is_new(engine: Engine) -> None:
    entry: Row = {"relation": "entry", "first": True, "dated_ms": NOW_MS - DAY_MS}
    assert values(
        engine,
        listing_polls.is_news(NOW_MS),
        entry,
        entry | {"dated_ms": NOW_MS - DAY_MS - 1},
        entry | {"dated_ms": None},
        entry | {"dated_ms": None, "first": False},
        entry | {"relation": "a"},
    ) == [True, False, False, True, False]


def test_the_kind_of_a_document(engine: Engine) -> None:
    assert values(
        engine,
        listing_polls.kind_of_document(),
        {"outcome": "parsed", "content_type": "text/plain"},
        {"outcome": "listing", "content_type": "text/plain"},
        {"outcome": "listing", "content_type": "application/x-sitemap+xml"},
        {"outcome": "listing", "content_type": "application/rss+xml"},
        {"outcome": "listing"},
        {"outcome": "broken"},
    ) == ["page", "sitemap", "sitemap", "feed", "feed", None]


def test_what_a_visit_lists(engine: Engine) -> None:
    """New pages, and newer dates of stored ones."""
    links = [
        {"src": "a", "dst": each, "dated_ms": 9}
        for each in ("new", "newer", "older", "undated", "unstored")
    ]
    links += [{"src": "b", "dst": "older", "dated_ms": 9}, {"src": "c", "dst": "new"}]
    known: list[Row] = [
        {"url": "newer", "dated_ms": 8, "stored_ms": 1},
        {"url": "older", "dated_ms": 9, "stored_ms": 1},
        {"url": "undated", "stored_ms": 1},
        {"url": "unstored", "dated_ms": 8},
    ]
    made = [rows_as_frame(engine, TYPES, each) for each in (links, known)]
    listed = listing_polls.count_listed(made[0].select("src", "dst", "dated_ms"), made[1])
    found = {row.url: (row.found, row.found_dates) for row in listed.collect()}
    assert found == {"a": (1, 1), "c": (1, 0)}


def test_what_may_be_new_in_a_visited_page(engine: Engine) -> None:
    link: Row = {"src": "a", "first": False, "nofollow": False, "relation": "a"}
    rows = [
        link | {"dst": "seen", "dated_ms": NOW_MS},
        link | {"dst": "first", "first": True},
        link | {"dst": "nofollow", "nofollow": True},
        link | {"dst": "redirect", "relation": "redirect"},
        link | {"dst": "later", "dated_ms": NOW_MS + 2 * DAY_MS},
    ]
    polled = listing_polls.polled_links(rows_as_frame(engine, TYPES, rows), NOW_MS)
    assert {(row.src, row.dst, row.dated_ms) for row in polled.collect()} == {
        ("a", "seen", NOW_MS),
        ("a", "later", None),
    }


def test_each_failure_doubles_the_wait(engine: Engine) -> None:
    failed: Row = {"url": "http://a/x", "source": "link", "kind": "page", "o_retry_wait_s": 100}
    longest = int(longest_page_wait_s(CONFIG))
    found = values(
        engine,
        outages.retry_wait_s(CONFIG),
        failed | {"tries": 1},
        failed | {"tries": 2},
        failed | {"tries": 5},
        failed | {"tries": 90},
        failed | {"tries": 90, "source": "seed"},
        failed | {"tries": 90, "kind": "feed"},
        failed | {"tries": 90, "url": "http://a/"},
        failed | {"tries": 90, "url": "http://a/b/"},
        failed | {"tries": 90, "source": None, "kind": None},
        failed | {"tries": 1, "r_retry_after_s": 300},
        failed | {"tries": 3, "r_retry_after_s": 300},
        failed | {"tries": 1, "o_retry_wait_s": 2 * longest},
    )
    assert longest > USUAL_S
    assert found == [
        *(100, 200, 1_600, longest, USUAL_S, USUAL_S, USUAL_S, longest, longest),
        *(300, 400, 2 * longest),
    ]


def test_a_failed_page_keeps_its_status_while_its_host_is_away(engine: Engine) -> None:
    away: Row = {"stored_ms": 1, "failures": 0, "fetched_ms": 50, "r_away_ms": 70}
    assert values(
        engine,
        outages.is_kept(),
        away,
        away | {"failures": 1},  # its host has answered since
        away | {"failures": 1, "r_away_ms": 50},
        away | {"failures": None},
        away | {"r_away_ms": None},
        away | {"stored_ms": None},
    ) == [True, False, True, True, False, False]


def test_when_pages_are_due(engine: Engine) -> None:
    """The interval may have changed since; a rhythm and a failed page have waits of their own."""
    page: Row = {"failures": 0, "next_fetch_ms": 7_000, "interval_s": USUAL_S - 5}
    page |= {"fetched_ms": 1_000}
    rows = [
        page,
        page | {"failures": 1},
        page | {"interval_s": None},
        page | {"interval_s": RHYTHM_S},
        page | {"interval_s": RHYTHM_S, "next_fetch_ms": 0},
        page | {"interval_s": RHYTHM_S, "next_fetch_ms": 9_000_000},
    ]
    endless = values(engine, due_pages.due_ms(CONFIG), *rows)
    assert endless == [12_000, 7_000, 7_000, 7_000, 0, 9_000_000]
    once = values(engine, due_pages.due_ms(CONFIG, is_endless=False), *rows)
    hour = 1_000 + listing_polls.UNHURRIED_S * 1000
    assert once == [12_000, 7_000, 7_000, hour, 0, 9_000_000]


def test_pages_that_are_never_due(engine: Engine) -> None:
    assert values(
        engine,
        due_pages.is_never_due(),
        {"status": "alias"},
        {"status": "excluded", "outcome": "filtered"},
        {"status": "excluded", "outcome": "robots"},
        {"status": "unfetched", "outcome": "filtered"},
        {"status": "excluded"},
    ) == [True, True, False, False, False]
