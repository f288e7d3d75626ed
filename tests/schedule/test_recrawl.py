"""How change rates are learned, and what follows: see gossamer.schedule.due.change_rates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.config import UpdateConfig
from gossamer.schedule import generate
from gossamer.schedule.due import change_rates
from gossamer.tables import FETCHLIST
from tests.support.rows import put
from tests.support.shared_rounds import SharedRounds

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace
    from tests.support.shared_rounds import Found, Site, Story

DAY_MS = 86_400_000
A = "http://a.example/"
INTERVAL = 30
USUAL = change_rates.usual_rate(UpdateConfig())
STORED = {
    "status": "fetched",
    "outcome": "ok",
    "fetches": 1,
    "fetched_ms": 100 * DAY_MS,
    "stored_ms": 100 * DAY_MS,
    "digest": "old",
    "main_text": 1,
}
"""A page that was visited on day 100."""
rates = st.floats(1e-5, 1e4)
spans = st.floats(1e-4, 1e4)


@given(rates, spans)
def test_the_number_of_changes_is_nearly_that_of_a_poisson_process(
    rate: float, days: float
) -> None:
    exact = rate * days / -math.expm1(-rate * days)
    assert exact * (1 - 1e-9) <= change_rates.changes_within(rate, days) <= 1.03 * exact


@given(rates, spans)
def test_the_gain_is_a_third_too_small_at_most(rate: float, days: float) -> None:
    x = rate * days
    exact = -math.expm1(-x) - x * math.exp(-x) if x > 1e-3 else x * x / 2 * (1 - x * 2 / 3)
    found = (change_rates.gain(rate, days) - change_rates.PATIENCE * days) * rate
    rounding = 1e-12 * (1 + x)
    assert 0.65 * exact - rounding <= found <= exact * (1 + 1e-6) + rounding


@given(rates, spans, spans)
def test_the_gain_grows_with_time(rate: float, days: float, more: float) -> None:
    assert 0 < change_rates.gain(rate, days) < change_rates.gain(rate, days + more)


@given(rates, spans, st.floats(0, 0.9), st.floats(0, 100), st.floats(0.01, 100))
def test_the_gain_grows_with_doubt(
    rate: float, days: float, recall: float, doubt: float, more: float
) -> None:
    """Of the part that does not depend on the days alone, in units of what is greatest."""
    patience = change_rates.PATIENCE * days
    less, greater = (
        (change_rates.gain(rate, days, recall, each) - patience) * rate
        for each in (doubt, doubt + more)
    )
    rounding = 1e-12 * (1 + patience * rate)
    assert less - rounding <= greater <= 1 + rounding
    assert rate * days > 100 or less < greater


def test_the_gain_with_signals_has_the_limits_of_the_exact_formula() -> None:
    """Soon after a visit it is a·t²/2; after a sure signal it is that of an unknown page."""
    soon = change_rates.gain(2.0, 1e-4, 0.75) - change_rates.PATIENCE * 1e-4
    assert soon == pytest.approx(2 * 0.25 * 1e-8 / 2, rel=1e-3)
    assert change_rates.gain(2.0, 0.0, 0.75, 1e6) == pytest.approx(1 / 2, rel=1e-3)


@given(st.floats(1e-6, 1e6))
def test_the_doubt_of_a_signal_is_nearly_a_logarithm_where_dates_are_often_untrue(
    z: float,
) -> None:
    found, exact = change_rates.doubt_of_signal(z, 1.0, 1.0), math.log1p(z)
    assert exact * (1 - 1e-9) <= found
    assert z > 3 or found <= 1.09 * exact


@given(st.floats(1e-6, 1e4), st.floats(0.001, 0.999))
def test_before_any_visit_a_page_is_due_after_the_interval(days: float, chance: float) -> None:
    usual = change_rates.usual_rate(UpdateConfig(interval_days=days, revisit_probability=chance))
    assert -math.expm1(-change_rates.rate(0.0, 0.0, usual) * days) == pytest.approx(chance)


@pytest.mark.parametrize("rate", [0.1, 1, 10])
@pytest.mark.parametrize("visit_days", [0.1, 1, 5])
def test_the_rate_of_pages_is_learned_from_visits(rate: float, visit_days: float) -> None:
    """Each of 400 pages is visited until 60 visits have found it changed, 3,000 times at most.

    Before, they are taken to change once in ten days. Of a page that has changed at each visit,
    nobody can tell how often it changed between.
    """
    random = np.random.default_rng(7)
    changes, watched, seen = np.zeros(400), np.zeros(400), np.zeros(400)
    for _ in range(3_000):
        left = seen < 60
        days = random.exponential(visit_days, 400)
        changed = left & (random.random(400) < -np.expm1(-rate * days))
        known = change_rates.rate(changes, watched, 0.1)
        changes += np.where(changed, change_rates.changes_within(known, days), 0)
        watched += np.where(left, days, 0)
        seen += changed
    learned = np.median(change_rates.rate(changes, watched, 0.1))
    assert min(0.6 * rate, 0.4 / visit_days) <= learned <= 1.15 * rate


shared = SharedRounds()
narrow = {factor: SharedRounds(update={"interval_factor": float(factor)}) for factor in (1, 4)}
"""Rounds with narrow bounds of intervals."""


def visited(
    site: Site, answer: dict[str, Any], text: int | None = None, day: int = 130, **page: Any
) -> Found:
    """Another visit to a page, which finds this main text."""
    known = {"url": site.url()}
    return {
        "pages": [known | STORED | page],
        "responses": [known | {"fetched_ms": day * DAY_MS, "outcome": "ok"} | answer],
        "documents": [known | {"text_hash": text, "outcome": "parsed"}],
    }


def wait_days(page: dict[str, Any]) -> float:
    return float(page["next_fetch_ms"] - page["fetched_ms"]) / DAY_MS


def expected_days(changes: float, watched: float) -> float:
    return -math.log(0.9) / change_rates.rate(changes, watched, USUAL)


@shared.story
def test_another_main_text_is_a_change(site: Site) -> Story:
    found = (yield visited(site, {"digest": "new"}, text=2))[site.url()]
    changes = change_rates.changes_within(change_rates.rate(0.0, 0.0, USUAL), 30.0)
    assert (found["changes"], found["watched_days"]) == (pytest.approx(changes), 30)
    assert found["main_text"] == 2
    assert wait_days(found) == pytest.approx(expected_days(changes, 30), abs=2e-5)
    assert wait_days(found) < INTERVAL


@shared.story
def test_another_body_with_the_same_main_text_is_no_change(site: Site) -> Story:
    found = (yield visited(site, {"digest": "new"}, text=1))[site.url()]
    assert (found["changes"], found["watched_days"]) == (0, 30)
    assert (found["digest"], found["main_text"]) == ("new", 1)
    assert wait_days(found) == pytest.approx(expected_days(0, 30), abs=2e-5)
    assert wait_days(found) > INTERVAL


@shared.story
def test_an_answer_that_nothing_has_changed_is_believed(site: Site) -> Story:
    found = (yield visited(site, {"outcome": "unchanged"}))[site.url()]
    assert (found["changes"], found["watched_days"], found["main_text"]) == (0, 30, 1)


@shared.story
@pytest.mark.parametrize(("digest", "changed"), [("old", False), ("new", True)])
def test_a_page_without_a_main_text_has_changed_if_its_body_has(
    site: Site, digest: str, changed: bool
) -> Story:
    found = (yield visited(site, {"digest": digest}, main_text=None))[site.url()]
    assert (found["changes"] > 0) is changed


@shared.story
def test_what_was_learned_adds_up(site: Site) -> Story:
    visit = visited(site, {"digest": "new"}, text=2, changes=3.0, watched_days=6.0)
    found = (yield visit)[site.url()]
    more = change_rates.changes_within(change_rates.rate(3.0, 6.0, USUAL), 30.0)
    assert (found["changes"], found["watched_days"]) == (pytest.approx(3 + more), 36)


@shared.story
@pytest.mark.parametrize(
    "page",
    [
        {"stored_ms": None, "fetched_ms": None, "main_text": None, "digest": None},
        {"failures": 1},  # nobody knows when it was last seen as it is stored
    ],
)
def test_nothing_is_learned_without_a_visit_before(site: Site, page: dict[str, Any]) -> Story:
    found = (yield visited(site, {"digest": "new"}, text=2, **page))[site.url()]
    assert (found["changes"], found["watched_days"], wait_days(found)) == (0, 0, INTERVAL)


@shared.story
def test_nothing_is_learned_from_a_failure(site: Site) -> Story:
    visit = visited(site, {"outcome": "timeout"}, changes=3.0, watched_days=6.0)
    found = (yield visit)[site.url()]
    assert (found["changes"], found["watched_days"], found["main_text"]) == (3, 6, 1)


@narrow[1].story
@pytest.mark.parametrize("changes", [500.0, 0.0])
def test_a_factor_of_one_means_the_same_interval_for_all_pages(site: Site, changes: float) -> Story:
    yield visited(site, {"outcome": "unchanged"}, changes=changes, watched_days=500.0)
    assert wait_days(site.pages()[site.url()]) == INTERVAL


@narrow[4].story
@pytest.mark.parametrize(("changes", "days"), [(500.0, INTERVAL / 4), (0.0, 4 * INTERVAL)])
def test_intervals_have_bounds(site: Site, changes: float, days: float) -> Story:
    yield visited(site, {"outcome": "unchanged"}, changes=changes, watched_days=500.0)
    assert wait_days(site.pages()[site.url()]) == days


def test_pages_whose_visit_gains_most_come_first(work: Workspace) -> None:
    work.clock_ms = 200 * DAY_MS
    visit = STORED | {"fetched_ms": 190 * DAY_MS}
    pages: dict[str, dict[str, Any]] = {
        "never seen": {},
        "long ago": visit | {"fetched_ms": 10 * DAY_MS},
        "of an older version": visit,
        "seldom changes": visit | {"rate": 0.001},
        "just visited": visit | {"fetched_ms": 200 * DAY_MS},
    }
    put(work, "pages", [{"url": f"{A}{name}", **row} for name, row in pages.items()], round_=0)
    generate.run(work)
    found = work.read(FETCHLIST.name).orderBy("score", ascending=False).collect()
    assert [row["url"].removeprefix(A) for row in found] == list(pages)
    assert found[-1]["score"] > 0
