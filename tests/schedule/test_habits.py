"""What dates of listings tell, and how places are learned: see recrawl.py and habits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from gossamer.config import UpdateConfig
from gossamer.schedule.due import habits, recrawl
from tests.support.place_habits import (
    DAY_MS,
    FOLDER,
    HOST,
    HOUR_MS,
    NOW,
    STORED,
    TRUTHFUL,
    VISITED,
    A,
    place,
    places,
    updated,
    updated_pages,
)

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

    Row = dict[str, Any]

USUAL = recrawl.usual_rate(UpdateConfig())
LYING = TRUTHFUL | {"met": 999, "dates": 999}


NEVER = dict.fromkeys(STORED) | {"url": A, "status": "unfetched", "fetches": 0, "next_fetch_ms": 0}


DATES: list[tuple[int | None, int | None, bool]] = [
    (None, VISITED + HOUR_MS, True),
    (None, VISITED - HOUR_MS, False),  # what was visited has it already
    (VISITED + HOUR_MS, VISITED + HOUR_MS, False),  # it was told before
    (VISITED + 2 * HOUR_MS, VISITED + HOUR_MS, False),
    (VISITED - DAY_MS, VISITED + HOUR_MS, True),
    (None, NOW + HOUR_MS, True),  # its clock is fast
    (None, NOW + 2 * DAY_MS, False),  # a coming event
    (99 * DAY_MS, 100 * DAY_MS, True),  # a day, of which the visit saw a part
    (None, 100 * DAY_MS, False),
    (100 * DAY_MS, 100 * DAY_MS, False),
    (98 * DAY_MS, 99 * DAY_MS, False),
    (VISITED, None, False),
]
"""The latest date of a page before, the one that a listing gives, and whether it is a signal."""


def test_a_date_is_a_signal_if_it_is_newer_than_the_last_one_and_the_visit(work: Workspace) -> None:
    cases = {f"http://{number}.example/news/1": case for number, case in enumerate(DATES)}
    before = {url: {"dated_ms": before_ms} for url, (before_ms, _, _) in cases.items()}
    found = updated_pages(work, before, {url: dated_ms for url, (_, dated_ms, _) in cases.items()})
    signals = {url: found[url]["doubt"] > 0 for url in cases}
    assert signals == {url: is_signal for url, (_, _, is_signal) in cases.items()}
    for url, (before_ms, dated_ms, _) in cases.items():
        dates = [each for each in (before_ms, dated_ms) if each and each <= NOW + DAY_MS]
        assert found[url]["dated_ms"] == max(dates, default=None)


def test_a_signal_of_an_unknown_host_counts_as_priors_say(work: Workspace) -> None:
    found = updated(work, NOW)
    of_page = recrawl.rate(0.0, 0.0, USUAL)
    assert found["recall"] == recrawl.PRIOR_RECALL
    one = recrawl.doubt_of_signal(of_page, recrawl.PRIOR_RECALL, USUAL)
    assert found["doubt"] == pytest.approx(one)
    assert recrawl.due_doubt(UpdateConfig()) < one < recrawl.SURE
    # It is due as soon as bounds permit: interval_factor.
    assert found["next_fetch_ms"] == VISITED + round(30 * recrawl.DAY_S / 16) * 1000


def test_a_clock_that_was_set_back_takes_no_time_from_a_place(work: Workspace) -> None:
    answer = {"digest": "new", "text": 2, "fetched_ms": VISITED - HOUR_MS}
    found = updated(work, VISITED - DAY_MS, page={"dated_ms": VISITED - DAY_MS}, answer=answer)
    assert found["watched_days"] == 0
    assert {row["watched_ms"] for row in places(work).values()} == {0}


def test_a_host_whose_dates_were_true_is_believed_at_once(work: Workspace) -> None:
    found = updated(work, NOW, known=(TRUTHFUL,))
    assert found["doubt"] > recrawl.SURE
    assert found["next_fetch_ms"] == VISITED
    assert found["recall"] == recrawl.MOST_RECALL


def test_a_host_whose_dates_were_untrue_is_not_believed(work: Workspace) -> None:
    """Of 900 untrue dates in 1,000 days, another one says little."""
    found = updated(work, NOW, known=(LYING,))
    assert 0 < found["doubt"] < 0.01
    assert found["next_fetch_ms"] > VISITED + 29 * DAY_MS


def test_what_dates_are_worth_is_learned_for_folders(work: Workspace) -> None:
    found = updated(work, NOW, known=(LYING, TRUTHFUL | {"place": FOLDER}))
    assert found["next_fetch_ms"] == VISITED


def test_signals_add_up_and_a_visit_ends_them(work: Workspace) -> None:
    once = updated(work, NOW - HOUR_MS)
    twice = updated(work, NOW, round_=2)
    assert twice["doubt"] == pytest.approx(2 * once["doubt"])
    assert (once["signals"], twice["signals"]) == (1, 2)
    answer = {"outcome": "unchanged", "fetched_ms": NOW + HOUR_MS}
    visited = updated(work, NOW, answer=answer, round_=3)
    assert (visited["signals"], visited["doubt"]) == (0, 0)


def test_a_page_that_was_never_stored_only_keeps_its_date(work: Workspace) -> None:
    found = updated(work, NOW, page=NEVER)
    kept = ("dated_ms", "listed_ms", "doubt", "recall", "rate", "next_fetch_ms")
    assert [found[name] for name in kept] == [NOW, NOW, 0, None, None, 0]


def test_a_signal_shifts_what_a_new_interval_has_shifted(work: Workspace) -> None:
    """The row keeps the time that counts now, and the interval with it."""
    settings = msgspec.structs.replace(work.config.update, interval_days=10.0)
    work.config = msgspec.structs.replace(work.config, update=settings)
    found = updated(work, NOW, known=(LYING,))
    assert found["interval_s"] == 10 * recrawl.DAY_S
    assert VISITED + 9 * DAY_MS < found["next_fetch_ms"] <= VISITED + 10 * DAY_MS


def test_a_date_after_the_visit_of_its_round_is_a_signal(work: Workspace) -> None:
    asked_ms = VISITED + DAY_MS
    found = updated(work, asked_ms + HOUR_MS, answer={"digest": "new", "text": 2})
    assert (found["signals"], found["fetched_ms"]) == (1, asked_ms)
    assert found["doubt"] > 0
    assert places(work)[HOST]["told"] == 0


CHANGED, SAME = {"digest": "new", "text": 2}, {"outcome": "unchanged"}


@pytest.mark.parametrize(
    ("dated_ms", "answer", "page", "met"),
    [
        (VISITED + HOUR_MS, CHANGED, {}, 1),
        (VISITED + HOUR_MS, SAME, {}, 1),
        (None, CHANGED, {"dated_ms": VISITED}, 0),
        (None, CHANGED, {"dated_ms": VISITED, "signals": 9}, 9),
        (None, SAME, {"dated_ms": VISITED, "signals": 3}, 3),
        (VISITED + HOUR_MS, SAME, {"signals": 3}, 4),
        (None, SAME, {"dated_ms": VISITED}, 0),
    ],
)
def test_visits_tell_what_dates_are_worth(
    work: Workspace, dated_ms: int | None, answer: Row, page: Row, met: int
) -> None:
    """Of a page that has changed, the likely changes by its dates and days, by Bayes' rule."""
    updated(work, dated_ms, page=page, answer=answer)
    found = places(work)
    assert found.keys() == {HOST, FOLDER}
    of_page = recrawl.rate(0.0, 0.0, USUAL)
    told, untold = met * recrawl.PRIOR_TRUTH, of_page * (1 - recrawl.PRIOR_RECALL)
    same = (1 - recrawl.PRIOR_TRUTH) ** met * math.exp(-untold)
    changed = answer is CHANGED
    for row in found.values():
        assert row["told"] / habits.UNIT == pytest.approx(changed * told / (1 - same), rel=0.08)
        assert row["untold"] / habits.UNIT == pytest.approx(
            changed * untold / (1 - same), rel=0.08, abs=2e-6
        )
        assert (row["met"], row["watched_ms"]) == (met, DAY_MS)
        assert row["changes"] == pytest.approx(row["told"] + row["untold"], abs=2)


def test_a_single_date_of_a_truthful_host_is_one_change(work: Workspace) -> None:
    page = {"dated_ms": VISITED, "signals": 1}
    found = updated(work, None, answer=CHANGED, page=page, known=(TRUTHFUL,))
    assert found["changes"] == pytest.approx(1, abs=0.02)


def test_a_visit_to_a_page_without_dates_tells_nothing_about_dates(work: Workspace) -> None:
    page = updated(work, None, answer={"digest": "new", "text": 2})
    row = places(work)[HOST]
    assert [row[name] for name in ("told", "untold", "met", "dates", "listed_ms")] == [0] * 5
    assert row["watched_ms"] == DAY_MS
    assert row["changes"] == math.floor(page["changes"] * habits.UNIT)
    assert page["recall"] is None


@pytest.mark.parametrize("page", [{}, NEVER])
def test_listings_tell_how_many_dates_there_are_without_a_visit(work: Workspace, page: Row) -> None:
    before = {"dated_ms": VISITED - DAY_MS, "listed_ms": NOW - 2 * DAY_MS}
    found = updated(work, NOW - HOUR_MS, page=page | before)
    assert found["listed_ms"] == NOW
    for row in places(work).values():
        assert (row["dates"], row["listed_ms"]) == (1, 2 * DAY_MS)
        assert (row["met"], row["watched_ms"]) == (0, 0)


def test_a_first_date_tells_nothing_about_a_host(work: Workspace) -> None:
    updated(work, NOW)
    assert not places(work)


def test_hosts_that_date_all_pages_now_are_found_out_before_any_visit(work: Workspace) -> None:
    """400 dates of 100 pages in a day, when nobody knows whether one is true."""
    often = place(dates=400, listed_ms=100 * DAY_MS)
    found = updated(work, NOW, known=(often,))
    assert 0 < found["doubt"] < 0.01


def test_days_without_a_date_are_evidence_before_the_next_visit(work: Workspace) -> None:
    known = {"dated_ms": VISITED - DAY_MS, "listed_ms": VISITED}
    found = updated(work, VISITED - DAY_MS, page=known, known=(TRUTHFUL,))
    expected = recrawl.rate(0.0, recrawl.MOST_RECALL * 5, USUAL)
    assert found["rate"] == pytest.approx(expected)
    assert (found["changes"], found["watched_days"]) == (0, 0)


def test_dates_are_evidence_before_the_next_visit(work: Workspace) -> None:
    known = {"dated_ms": VISITED, "listed_ms": VISITED, "signals": 3}
    found = updated(work, NOW, page=known, known=(TRUTHFUL,))
    expected = recrawl.rate(4.0, recrawl.MOST_RECALL * 5, USUAL)
    assert 0.7 * expected < found["rate"] < expected
    assert (found["changes"], found["watched_days"]) == (0, 0)


def test_what_places_tell_adds_up_and_is_halved(work: Workspace) -> None:
    unit = habits.UNIT
    full = place(told=1_500 * unit, untold=499 * unit, met=11, dates=20, changes=5, watched_ms=7)
    answer = {"digest": "new", "text": 2}
    updated(work, VISITED + HOUR_MS, answer=answer, known=(full,))
    host, folder = (places(work)[name] for name in (HOST, FOLDER))
    assert host["told"] == (1_500 * unit + folder["told"]) // 2
    assert host["untold"] == (499 * unit + folder["untold"]) // 2
    assert (host["met"], host["dates"]) == (6, 20)
    assert host["watched_ms"] == DAY_MS + 7
    assert host["changes"] == folder["changes"] + 5


def test_dates_of_listings_are_halved_by_themselves(work: Workspace) -> None:
    before = {"dated_ms": VISITED, "listed_ms": NOW - DAY_MS}
    full = place(told=10 * habits.UNIT, met=10, dates=1_999, listed_ms=99 * DAY_MS)
    updated(work, NOW, page=before, known=(full,))
    row = places(work)[HOST]
    assert (row["dates"], row["listed_ms"], row["met"]) == (1_000, 50 * DAY_MS, 10)


@pytest.mark.parametrize("name", [HOST, FOLDER])
def test_a_page_is_taken_to_change_as_the_others_of_its_place(work: Workspace, name: str) -> None:
    often = place(name, changes=500 * habits.UNIT, watched_ms=100 * DAY_MS)
    answer = {"outcome": "unchanged", "fetched_ms": VISITED + HOUR_MS}
    found = updated(work, None, answer=answer, known=(often,))
    usual = recrawl.rate(500.0, 100.0, USUAL)
    assert found["rate"] == pytest.approx(recrawl.rate(0.0, 1 / 24, usual))
    assert found["next_fetch_ms"] < VISITED + 4 * DAY_MS


def test_a_first_visit_believes_its_place(work: Workspace) -> None:
    seldom = place(watched_ms=1_000 * DAY_MS)
    found = updated(work, None, answer={"digest": "new"}, page=NEVER, known=(seldom,))
    assert found["rate"] < USUAL / 2
    assert found["next_fetch_ms"] > found["fetched_ms"] + 60 * DAY_MS


def test_a_page_tells_nothing_about_itself_through_its_place(work: Workspace) -> None:
    own = {"changes": 4.0, "watched_days": 50.0}
    alone = place(changes=4 * habits.UNIT, watched_ms=50 * DAY_MS)
    answer = {"outcome": "unchanged"}
    both = (alone, alone | {"place": FOLDER})
    found = updated(work, None, page=own, answer=answer, known=both)
    assert found["rate"] == pytest.approx(recrawl.rate(4.0, 51.0, USUAL))


@pytest.mark.parametrize(
    ("url", "folder"),
    [
        ("http://a.example/", "a.example/"),
        ("http://a.example/page?at=/x/y/", "a.example/"),
        ("https://a.example:8080/news/", "a.example:8080/news/"),
        ("http://a.example/news/2024/1", "a.example/news/"),
        ("file:///srv/1", "localhost/srv/"),
    ],
)
def test_a_folder_is_the_first_of_a_path(work: Workspace, url: str, folder: str) -> None:
    rows = work.engine.spark.createDataFrame([(url,)], "url string")
    row = rows.select(
        habits.host_place().alias("host"), habits.folder_place().alias("folder")
    ).collect()[0]
    assert tuple(row) == (folder.split("/", maxsplit=1)[0], folder)
