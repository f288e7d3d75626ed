"""What dates of listings tell, and how places are learned: see change_rates.py and habits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from gossamer.config import UpdateConfig
from gossamer.schedule.due import change_habits, change_rates
from tests.support.place_habits import (
    DAY_MS,
    HOUR_MS,
    NOW,
    PAGE,
    STORED,
    TRUTHFUL,
    VISITED,
    first_round,
    folder,
    next_round,
    place,
    places,
)
from tests.support.shared_rounds import SharedRounds

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace
    from tests.support.shared_rounds import Site, Story

    Row = dict[str, Any]

shared = SharedRounds(NOW)
shorter = SharedRounds(NOW, update={"interval_days": 10.0})
USUAL = change_rates.usual_rate(UpdateConfig())
LYING = TRUTHFUL | {"met": 999, "dates": 999}
CHANGED, SAME = {"digest": "new", "text": 2}, {"outcome": "unchanged"}
NEVER: Row = dict.fromkeys(STORED) | {"status": "unfetched", "fetches": 0, "next_fetch_ms": 0}


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


@shared.story
@pytest.mark.parametrize(("before_ms", "dated_ms", "is_signal"), DATES)
def test_a_date_is_a_signal_if_it_is_newer_than_the_last_one_and_the_visit(
    site: Site, before_ms: int | None, dated_ms: int | None, is_signal: bool
) -> Story:
    found = (yield first_round(site, dated_ms, page={"dated_ms": before_ms}))[site.url(PAGE)]
    assert (found["doubt"] > 0) is is_signal
    dates = [each for each in (before_ms, dated_ms) if each and each <= NOW + DAY_MS]
    assert found["dated_ms"] == max(dates, default=None)


@shared.story
def test_dates_are_of_the_pages_that_they_are_given_for(site: Site) -> Story:
    first = first_round(site, None)
    other = {"url": site.url("/news/2")} | STORED
    dated = next_round(site, {PAGE: None, "/news/2": NOW})
    pages = yield {**first, "pages": [*first["pages"], other], "links": dated["links"]}
    assert [pages[site.url(path)]["signals"] or 0 for path in (PAGE, "/news/2")] == [0, 1]


@shared.story
def test_a_signal_of_an_unknown_host_counts_as_priors_say(site: Site) -> Story:
    found = (yield first_round(site, NOW))[site.url(PAGE)]
    of_page = change_rates.rate(0.0, 0.0, USUAL)
    assert found["recall"] == change_rates.PRIOR_RECALL
    one = change_rates.doubt_of_signal(of_page, change_rates.PRIOR_RECALL, USUAL)
    assert found["doubt"] == pytest.approx(one)
    assert change_rates.due_doubt(UpdateConfig()) < one < change_rates.SURE
    # It is due as soon as bounds permit: interval_factor.
    assert found["next_fetch_ms"] == VISITED + round(30 * change_rates.DAY_S / 16) * 1000


@shared.story
def test_a_clock_that_was_set_back_takes_no_time_from_a_place(site: Site) -> Story:
    before_ms = VISITED - DAY_MS
    answer = CHANGED | {"fetched_ms": VISITED - HOUR_MS}
    pages = yield first_round(site, before_ms, page={"dated_ms": before_ms}, answer=answer)
    assert pages[site.url(PAGE)]["watched_days"] == 0
    assert {row["watched_ms"] for row in places(site).values()} == {0}


@shared.story
def test_a_host_whose_dates_were_true_is_believed_at_once(site: Site) -> Story:
    known = [place(site.host(), TRUTHFUL)]
    found = (yield first_round(site, NOW, known=known))[site.url(PAGE)]
    assert found["doubt"] > change_rates.SURE
    assert math.exp(-change_rates.SURE) == pytest.approx(0.5)  # as likely as not
    assert found["next_fetch_ms"] == VISITED
    assert found["recall"] == change_rates.MOST_RECALL


@shared.story
def test_a_host_whose_dates_were_untrue_is_not_believed(site: Site) -> Story:
    """Of 900 untrue dates in 1,000 days, another one says little."""
    found = (yield first_round(site, NOW, known=[place(site.host(), LYING)]))[site.url(PAGE)]
    assert 0 < found["doubt"] < 0.01
    assert found["next_fetch_ms"] > VISITED + 29 * DAY_MS


@shared.story
def test_what_dates_are_worth_is_learned_for_folders(site: Site) -> Story:
    known = [place(site.host(), LYING), place(folder(site), TRUTHFUL)]
    found = (yield first_round(site, NOW, known=known))[site.url(PAGE)]
    assert found["next_fetch_ms"] == VISITED


@shared.story
def test_signals_add_up_and_a_visit_ends_them(site: Site) -> Story:
    once = (yield first_round(site, NOW - HOUR_MS))[site.url(PAGE)]
    twice = (yield next_round(site, {PAGE: NOW}))[site.url(PAGE)]
    assert twice["doubt"] == pytest.approx(2 * once["doubt"])
    assert (once["signals"], twice["signals"]) == (1, 2)
    answer = SAME | {"fetched_ms": NOW + HOUR_MS}
    visited = (yield next_round(site, {PAGE: NOW}, answer))[site.url(PAGE)]
    assert (visited["signals"], visited["doubt"]) == (0, 0)


@shared.story
def test_a_page_that_was_never_stored_only_keeps_its_date(site: Site) -> Story:
    found = (yield first_round(site, NOW, page=NEVER))[site.url(PAGE)]
    kept = ("dated_ms", "listed_ms", "doubt", "recall", "rate", "next_fetch_ms")
    assert [found[name] for name in kept] == [NOW, NOW, 0, None, None, 0]


@shorter.story
def test_a_signal_shifts_what_a_new_interval_has_shifted(site: Site) -> Story:
    """The row keeps the time that counts now, and the interval with it."""
    found = (yield first_round(site, NOW, known=[place(site.host(), LYING)]))[site.url(PAGE)]
    assert found["interval_s"] == 10 * change_rates.DAY_S
    assert VISITED + 9 * DAY_MS < found["next_fetch_ms"] <= VISITED + 10 * DAY_MS


@shared.story
def test_a_date_after_the_visit_of_its_round_is_a_signal(site: Site) -> Story:
    asked_ms = VISITED + DAY_MS
    found = (yield first_round(site, asked_ms + HOUR_MS, answer=CHANGED))[site.url(PAGE)]
    assert (found["signals"], found["fetched_ms"]) == (1, asked_ms)
    assert found["doubt"] > 0
    assert places(site)[site.host()]["told"] == 0


@shared.story
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
    site: Site, dated_ms: int | None, answer: Row, page: Row, met: int
) -> Story:
    """Of a page that has changed, the likely changes by its dates and days, by Bayes' rule."""
    yield first_round(site, dated_ms, page=page, answer=answer)
    found = places(site)
    assert found.keys() == {site.host(), folder(site)}
    of_page = change_rates.rate(0.0, 0.0, USUAL)
    told, untold = met * change_rates.PRIOR_TRUTH, of_page * (1 - change_rates.PRIOR_RECALL)
    same = (1 - change_rates.PRIOR_TRUTH) ** met * math.exp(-untold)
    changed = answer is CHANGED
    for row in found.values():
        assert row["told"] / change_habits.UNIT == pytest.approx(
            changed * told / (1 - same), rel=0.08
        )
        assert row["untold"] / change_habits.UNIT == pytest.approx(
            changed * untold / (1 - same), rel=0.08, abs=2e-6
        )
        assert (row["met"], row["watched_ms"]) == (met, DAY_MS)
        assert row["changes"] == pytest.approx(row["told"] + row["untold"], abs=2)


@shared.story
def test_a_single_date_of_a_truthful_host_is_one_change(site: Site) -> Story:
    page, known = {"dated_ms": VISITED, "signals": 1}, [place(site.host(), TRUTHFUL)]
    pages = yield first_round(site, None, answer=CHANGED, page=page, known=known)
    assert pages[site.url(PAGE)]["changes"] == pytest.approx(1, abs=0.02)


@shared.story
def test_a_visit_to_a_page_without_dates_tells_nothing_about_dates(site: Site) -> Story:
    page = (yield first_round(site, None, answer=CHANGED))[site.url(PAGE)]
    row = places(site)[site.host()]
    assert [row[name] for name in ("told", "untold", "met", "dates", "listed_ms")] == [0] * 5
    assert row["watched_ms"] == DAY_MS
    assert row["changes"] == math.floor(page["changes"] * change_habits.UNIT)
    assert page["recall"] is None


@shared.story
@pytest.mark.parametrize("page", [{}, NEVER])
def test_listings_tell_how_many_dates_there_are_without_a_visit(site: Site, page: Row) -> Story:
    before = {"dated_ms": VISITED - DAY_MS, "listed_ms": NOW - 2 * DAY_MS}
    found = (yield first_round(site, NOW - HOUR_MS, page=page | before))[site.url(PAGE)]
    assert found["listed_ms"] == NOW
    assert places(site).keys() == {site.host(), folder(site)}
    for row in places(site).values():
        assert (row["dates"], row["listed_ms"]) == (1, 2 * DAY_MS)
        assert (row["met"], row["watched_ms"]) == (0, 0)


@shared.story
def test_a_first_date_tells_nothing_about_a_host(site: Site) -> Story:
    yield first_round(site, NOW)
    assert not places(site)


@shared.story
def test_hosts_that_date_all_pages_now_are_found_out_before_any_visit(site: Site) -> Story:
    """400 dates of 100 pages in a day, when nobody knows whether one is true."""
    often = place(site.host(), {"dates": 400, "listed_ms": 100 * DAY_MS})
    found = (yield first_round(site, NOW, known=[often]))[site.url(PAGE)]
    assert 0 < found["doubt"] < 0.01


@shared.story
def test_days_without_a_date_are_evidence_before_the_next_visit(site: Site) -> Story:
    page = {"dated_ms": VISITED - DAY_MS, "listed_ms": VISITED}
    known = [place(site.host(), TRUTHFUL)]
    found = (yield first_round(site, VISITED - DAY_MS, page=page, known=known))[site.url(PAGE)]
    expected = change_rates.rate(0.0, change_rates.MOST_RECALL * 5, USUAL)
    assert found["rate"] == pytest.approx(expected)
    assert (found["changes"], found["watched_days"]) == (0, 0)


@shared.story
def test_dates_are_evidence_before_the_next_visit(site: Site) -> Story:
    page = {"dated_ms": VISITED, "listed_ms": VISITED, "signals": 3}
    known = [place(site.host(), TRUTHFUL)]
    found = (yield first_round(site, NOW, page=page, known=known))[site.url(PAGE)]
    expected = change_rates.rate(4.0, change_rates.MOST_RECALL * 5, USUAL)
    assert 0.7 * expected < found["rate"] < expected
    assert (found["changes"], found["watched_days"]) == (0, 0)


@shared.story
def test_what_places_tell_adds_up_and_is_halved(site: Site) -> Story:
    unit, sums = change_habits.UNIT, {"met": 11, "dates": 20, "changes": 5, "watched_ms": 7}
    full = place(site.host(), {"told": 1_500 * unit, "untold": 499 * unit, **sums})
    yield first_round(site, VISITED + HOUR_MS, answer=CHANGED, known=[full])
    of_host, of_folder = (places(site)[name] for name in (site.host(), folder(site)))
    assert of_host["told"] == (1_500 * unit + of_folder["told"]) // 2
    assert of_host["untold"] == (499 * unit + of_folder["untold"]) // 2
    assert (of_host["met"], of_host["dates"]) == (6, 20)
    assert of_host["watched_ms"] == DAY_MS + 7
    assert of_host["changes"] == of_folder["changes"] + 5


@shared.story
def test_dates_of_listings_are_halved_by_themselves(site: Site) -> Story:
    before = {"dated_ms": VISITED, "listed_ms": NOW - DAY_MS}
    sums = {"told": 10 * change_habits.UNIT, "met": 10, "dates": 1_999, "listed_ms": 99 * DAY_MS}
    yield first_round(site, NOW, page=before, known=[place(site.host(), sums)])
    row = places(site)[site.host()]
    assert (row["dates"], row["listed_ms"], row["met"]) == (1_000, 50 * DAY_MS, 10)


@shared.story
@pytest.mark.parametrize("of_folder", [False, True])
def test_a_page_is_taken_to_change_as_the_others_of_its_place(site: Site, of_folder: bool) -> Story:
    sums = {"changes": 500 * change_habits.UNIT, "watched_ms": 100 * DAY_MS}
    often = place(folder(site) if of_folder else site.host(), sums)
    answer = SAME | {"fetched_ms": VISITED + HOUR_MS}
    found = (yield first_round(site, None, answer=answer, known=[often]))[site.url(PAGE)]
    usual = change_rates.rate(500.0, 100.0, USUAL)
    assert found["rate"] == pytest.approx(change_rates.rate(0.0, 1 / 24, usual))
    assert found["next_fetch_ms"] < VISITED + 4 * DAY_MS


@shared.story
def test_a_first_visit_believes_its_place(site: Site) -> Story:
    seldom = [place(site.host(), {"watched_ms": 1_000 * DAY_MS})]
    visit = first_round(site, None, answer={"digest": "new"}, page=NEVER, known=seldom)
    found = (yield visit)[site.url(PAGE)]
    assert found["rate"] < USUAL / 2
    assert found["next_fetch_ms"] > found["fetched_ms"] + 60 * DAY_MS


@shared.story
def test_a_page_tells_nothing_about_itself_through_its_place(site: Site) -> Story:
    own = {"changes": 4.0, "watched_days": 50.0}
    sums = {"changes": 4 * change_habits.UNIT, "watched_ms": 50 * DAY_MS}
    both = [place(name, sums) for name in (site.host(), folder(site))]
    found = (yield first_round(site, None, page=own, answer=SAME, known=both))[site.url(PAGE)]
    assert found["rate"] == pytest.approx(change_rates.rate(4.0, 51.0, USUAL))


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("http://a.example/", "a.example/"),
        ("http://a.example/page?at=/x/y/", "a.example/"),
        ("https://a.example:8080/news/", "a.example:8080/news/"),
        ("http://a.example/news/2024/1", "a.example/news/"),
        ("file:///srv/1", "localhost/srv/"),
    ],
)
def test_a_folder_is_the_first_of_a_path(work: Workspace, url: str, path: str) -> None:
    rows = work.engine.spark.createDataFrame([(url,)], "url string")
    row = rows.select(
        change_habits.host_place().alias("host"), change_habits.folder_place().alias("folder")
    ).collect()[0]
    assert tuple(row) == (path.split("/", maxsplit=1)[0], path)
