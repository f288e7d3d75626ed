"""What a round tells about a page, column by column: see gossamer.schedule.due.change_rates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

from gossamer.config import UpdateConfig
from gossamer.schedule.due import change_rates
from gossamer.schedule.due.change_rates import DAY_MS, PRIOR_RECALL, SURE
from tests.support.computed_columns import computed, rows_as_frame

if TYPE_CHECKING:
    from gossamer.engine.engine import Engine

Row = dict[str, Any]
HOUR_MS = DAY_MS // 24
NOW_MS = 200 * DAY_MS
CONFIG = UpdateConfig()
USUAL = change_rates.usual_rate(CONFIG)
WHOLE = {"fetched_ms", "stored_ms", "failures", "dated_ms", "found_dated_ms", "listed_ms"}
WHOLE |= {"signals", "met_signals", "visit_ms", "listed_for_ms", "r_asked_ms"}
TRUTHS = {"o_answered", "is_answered", "is_visit", "is_waiting", "is_dated", "has_changed"}
TRUTHS |= {"signal", "late_signal", "is_newer"}
OTHERS = {"changes", "watched_days", "told_share", "untrue_rate", "doubt", "recall", "rate"}
OTHERS |= {"host_changes", "host_days", "folder_changes", "folder_days", "visit_days"}
OTHERS |= {"usual_before", "rate_before", "recall_before", "untrue", "doubt_met", "doubt_of_one"}
OTHERS |= {"likely_told", "likely_untold"}
TYPES = {
    **dict.fromkeys(WHOLE, pa.int64()),
    **dict.fromkeys(TRUTHS, pa.bool_()),
    **dict.fromkeys(OTHERS, pa.float64()),
    "kind": pa.string(),
}
STORED = {"stored_ms": 100 * DAY_MS, "fetched_ms": 100 * DAY_MS, "failures": 0}
ANSWER = {"o_answered": True, "r_asked_ms": 130 * DAY_MS}


def visits(engine: Engine, *rows: Row) -> list[Row]:
    changed, usual = F.lit(True), F.lit(USUAL)
    columns = change_rates.visit_columns(changed, usual, CONFIG, NOW_MS)
    return computed(rows_as_frame(engine, TYPES, rows), columns)


def values(found: list[Row], *names: str) -> list[Any]:
    """Those of a column, or of some, by row."""
    several = [tuple(row[name] for name in names) for row in found]
    return [each[0] for each in several] if len(names) == 1 else several


def test_a_visit_is_an_answer_of_a_page_that_is_stored(engine: Engine) -> None:
    found = visits(
        engine,
        STORED | ANSWER,
        ANSWER,
        STORED | ANSWER | {"failures": 1},
        STORED | ANSWER | {"failures": None},
        STORED | {"o_answered": False, "r_asked_ms": 130 * DAY_MS},
        STORED,
    )
    assert values(found, "is_answered", "is_visit") == [
        (True, True),
        (True, False),
        (True, False),
        (True, False),
        (False, False),
        (False, False),
    ]


def test_the_time_since_the_last_visit(engine: Engine) -> None:
    """Until the page was asked, or until now; none has passed if the clock was set back."""
    back = STORED | {"o_answered": True, "r_asked_ms": 99 * DAY_MS}
    found = visits(engine, STORED | ANSWER, STORED, back, ANSWER)
    assert values(found, "visit_days") == [30, 100, 0, 0]
    assert values(found, "visit_ms") == [30 * DAY_MS, 100 * DAY_MS, 0, 0]


def test_a_page_waits_if_it_is_listed_and_not_asked(engine: Engine) -> None:
    listed = {"found_dated_ms": 120 * DAY_MS}
    found = visits(engine, STORED | listed, STORED, listed, STORED | ANSWER | listed)
    assert values(found, "is_waiting") == [True, False, False, False]


def test_a_page_is_dated_by_any_listing(engine: Engine) -> None:
    found = visits(engine, {}, {"dated_ms": 1}, {"found_dated_ms": 1})
    assert values(found, "is_dated", "recall_before") == [
        (False, 0),
        (True, PRIOR_RECALL),
        (True, PRIOR_RECALL),
    ]


def test_what_is_known_of_the_dates_of_a_place(engine: Engine) -> None:
    dated = {"dated_ms": 1}
    known = dated | {"told_share": 0.5, "untrue_rate": 0.75}
    found = visits(engine, dated, known, dated | {"told_share": 0.99})
    assert values(found, "recall_before", "untrue") == [
        (PRIOR_RECALL, USUAL),
        (0.5, 0.75),
        (change_rates.MOST_RECALL, USUAL),
    ]


@pytest.mark.parametrize(
    ("before", "told", "is_signal"),
    [
        (99 * DAY_MS, 100 * DAY_MS + 6 * HOUR_MS, True),
        (99 * DAY_MS, 100 * DAY_MS + 4 * HOUR_MS, False),  # before the last visit
        (99 * DAY_MS, 100 * DAY_MS + 5 * HOUR_MS, False),  # at the last visit
        (99 * DAY_MS, 100 * DAY_MS, True),  # a day, whose end counts
        (99 * DAY_MS, 100 * DAY_MS + 2, False),  # a time, after midnight
        (99 * DAY_MS, 99 * DAY_MS, False),  # known
        (99 * DAY_MS, 98 * DAY_MS, False),
        (None, 100 * DAY_MS, False),  # the first that is known counts from its beginning
        (None, 101 * DAY_MS, True),
        (None, 1, False),
        (101 * DAY_MS, None, False),
    ],
)
def test_a_signal_is_a_newer_date_than_known_and_than_the_last_visit(
    engine: Engine, before: int | None, told: int | None, is_signal: bool
) -> None:
    page: Row = STORED | {"fetched_ms": 100 * DAY_MS + 5 * HOUR_MS}
    page |= {"dated_ms": before, "found_dated_ms": told}
    (stored, failed) = visits(engine, page, page | {"failures": 1})
    assert (stored["signal"], failed["signal"]) == (is_signal, False)
    assert stored["is_newer"] is (told is not None and told > (before or 0))


def test_a_signal_after_the_answer_is_late(engine: Engine) -> None:
    times = (129 * DAY_MS, 130 * DAY_MS, 130 * DAY_MS + 1)
    pages = [STORED | {"found_dated_ms": each} for each in times]
    found = visits(engine, *(page | ANSWER for page in pages), *pages)
    assert values(found, "signal", "late_signal") == [
        (True, False),
        (True, False),
        (False, True),
        *[(True, False)] * 3,
    ]


def test_how_long_a_page_has_been_listed(engine: Engine) -> None:
    """Since a listing listed it before, if one lists it now."""
    now = {"found_dated_ms": 120 * DAY_MS}
    before = {"listed_ms": 150 * DAY_MS}
    found = visits(engine, now | before, now, before, now | {"listed_ms": NOW_MS + 1})
    assert values(found, "listed_for_ms", "listed_ms") == [
        (50 * DAY_MS, NOW_MS),
        (None, NOW_MS),
        (None, 150 * DAY_MS),
        (0, NOW_MS),
    ]


def test_dates_and_days_say_how_likely_a_change_is(engine: Engine) -> None:
    row = {"recall_before": 0.25, "rate_before": 0.4, "untrue": 0.3, "visit_days": 5.0}
    rows: list[Row] = [
        row | {"signals": 2, "signal": True},
        row | {"signals": None, "signal": False},
        row | {"recall_before": 0.0, "signals": 0, "signal": False, "visit_days": 0.0},
    ]
    found = computed(rows_as_frame(engine, TYPES, rows), change_rates.likely_changes())
    one = change_rates.doubt_of_signal(0.4, 0.25, 0.3)
    assert values(found, "met_signals") == [3, 0, 0]
    assert values(found, "doubt_of_one") == [pytest.approx(one)] * 2 + [0]
    assert values(found, "likely_told") == [pytest.approx(3 * 0.1 / (0.1 + 0.3)), 0, 0]
    assert values(found, "likely_untold") == [pytest.approx(0.3 * 5)] * 2 + [0]
    doubts = [3 * one + 1.5, 1.5, change_rates.LEAST_DOUBT]
    assert values(found, "doubt_met") == [pytest.approx(each) for each in doubts]


MET: Row = {
    "is_answered": True,
    "is_visit": True,
    "is_waiting": False,
    "is_dated": True,
    "has_changed": True,
    "signal": False,
    "late_signal": False,
    "is_newer": False,
    "met_signals": 3,
    "likely_told": 0.5,
    "likely_untold": 0.25,
    "doubt_met": 2.0,
    "doubt_of_one": 0.75,
    "recall_before": 0.5,
    "usual_before": 0.1,
    "visit_days": 10.0,
    "visit_ms": 10 * DAY_MS,
    "changes": 4.0,
    "watched_days": 20.0,
    "kind": "page",
    "rate": 9.0,
    "recall": 0.125,
    "doubt": 0.5,
    "listed_for_ms": DAY_MS,
}
"""A visit of a page in a listing, which found it changed."""
UNMET = MET | {"is_answered": False, "is_visit": False, "has_changed": False}
MORE_SURELY = change_rates.changes_within(2.0, 1.0) / 2.0
"""The factor of the changes of MET, as it is known to have changed."""


def learned(engine: Engine, *rows: Row) -> list[Row]:
    types = {name: kind for name, kind in TYPES.items() if name not in {"o_answered", "r_asked_ms"}}
    return computed(rows_as_frame(engine, types, rows), change_rates.learn_change_rates())


def test_a_visit_adds_its_days_and_changes(engine: Engine) -> None:
    rows = [MET, MET | {"has_changed": False}, MET | {"is_visit": False}, MET | {"changes": None}]
    changes, same, first, unknown = learned(engine, *rows)
    told, untold = 0.5 * MORE_SURELY, 0.25 * MORE_SURELY
    assert changes["changes"] == pytest.approx(4 + told + untold)
    assert (changes["watched_days"], same["watched_days"]) == (30, 30)
    assert changes["rate"] == pytest.approx(change_rates.rate(4 + told + untold, 30.0, 0.1))
    assert changes["told_changes"] == pytest.approx(told)
    assert changes["untold_changes"] == pytest.approx(untold)
    assert changes["more_changes"] == pytest.approx(told + untold)
    assert (changes["more_ms"], changes["met_dates"]) == (10 * DAY_MS, 3)
    assert (same["changes"], same["more_changes"], same["more_ms"]) == (4, 0, 10 * DAY_MS)
    assert (first["changes"], first["watched_days"]) == (4, 20)
    assert first["rate"] == pytest.approx(change_rates.rate(4.0, 20.0, 0.1))
    assert unknown["changes"] == pytest.approx(told + untold)


def test_no_more_changes_are_told_than_there_were_signals(engine: Engine) -> None:
    (found,) = learned(engine, MET | {"likely_told": 5.0})
    assert found["told_changes"] == 3


def test_only_visits_of_pages_speak_for_their_place(engine: Engine) -> None:
    counted = ("more_changes", "more_ms", "told_changes", "untold_changes", "met_dates")
    rows = [
        MET | {"kind": None},
        MET | {"is_dated": False},
        MET | {"kind": "feed"},
        MET | {"is_visit": False},
    ]
    found = learned(engine, *rows)
    known = [tuple(each is not None for each in row) for row in values(found, *counted)]
    assert known == [
        (True,) * 5,
        (True, True, False, False, False),
        (False,) * 5,
        (False,) * 5,
    ]
    assert values(found, "changes")[2] > 4


def test_a_page_that_waits_is_evidence_while_it_is_listed(engine: Engine) -> None:
    waiting, other, undated = learned(
        engine, UNMET | {"is_waiting": True}, UNMET, MET | {"is_dated": False}
    )
    assert waiting["rate"] == pytest.approx(change_rates.rate(4.5, 25.0, 0.1))
    assert (waiting["changes"], waiting["watched_days"], waiting["recall"]) == (4, 20, 0.5)
    assert (other["rate"], other["recall"]) == (9, 0.125)
    assert undated["recall"] is None


def test_doubt_grows_by_signals_and_ends_with_an_answer(engine: Engine) -> None:
    signal, late = {"signal": True}, {"late_signal": True}
    rows = [MET, MET | signal, MET | late, UNMET, UNMET | signal, UNMET | {"doubt": None}]
    found = learned(engine, *rows)
    assert values(found, "doubt", "signals") == [
        (0, 0),
        (0, 0),
        (0.75, 1),
        (0.5, 3),
        (1.25, 3),
        (0, 3),
    ]


def test_the_newest_date_and_its_number_are_kept(engine: Engine) -> None:
    rows = [
        MET | {"dated_ms": 5, "found_dated_ms": 7, "is_newer": True},
        MET | {"dated_ms": 7, "found_dated_ms": 5},
        MET | {"dated_ms": 5, "listed_for_ms": None, "is_newer": True},
    ]
    found = learned(engine, *rows)
    assert values(found, "dated_ms", "more_dates") == [(7, 1), (7, 0), (5, None)]


def waits(engine: Engine, *rows: Row, config: UpdateConfig = CONFIG) -> list[int]:
    known: Row = {"is_answered": True, "signal": False, "doubt": 0.0}
    made = rows_as_frame(engine, TYPES, [known | row for row in rows])
    return [row["wait"] for row in computed(made, {"wait": change_rates.wait_s(config)})]


def test_a_page_is_due_when_it_has_probably_changed(engine: Engine) -> None:
    due = -math.log(1 - CONFIG.revisit_probability)
    day_s = change_rates.DAY_S
    found = waits(
        engine,
        {"rate": due},
        {"rate": 2 * due, "recall": 0.5},
        {"rate": due / 10, "doubt": due / 2},
        {"rate": 4 * due, "is_answered": False, "signal": True},
        config=UpdateConfig(interval_factor=1_000.0),
    )
    assert found == [day_s, day_s, 5 * day_s, day_s // 4]


def test_a_page_is_due_at_once_if_it_has_more_likely_changed_than_not(engine: Engine) -> None:
    least = round(CONFIG.interval_days * change_rates.DAY_S / CONFIG.interval_factor)
    found = waits(engine, {"rate": 0.1, "doubt": SURE}, {"rate": 0.1, "doubt": SURE - 1e-9})
    assert found == [0, least]


def test_intervals_have_bounds_and_a_usual_length(engine: Engine) -> None:
    usual = CONFIG.interval_days * change_rates.DAY_S
    unknown = {"is_answered": False, "rate": 1e9}
    found = waits(engine, {"rate": 1e9}, {"rate": 1e-9}, unknown)
    assert found == [
        round(usual / CONFIG.interval_factor),
        round(usual * CONFIG.interval_factor),
        round(usual),
    ]


def test_the_rate_of_a_page_without_visits_is_that_of_its_place(engine: Engine) -> None:
    """The page itself is no evidence, but the others of its folder, and else those of its host."""
    host = {"host_changes": 5.0, "host_days": 50.0}
    folder = {"folder_changes": 3.0, "folder_days": 2.0}
    own = {"changes": 2.0, "watched_days": 1.0}
    rows = [{}, host, host | folder, host | folder | own, {"host_changes": 1.0} | own]
    made = rows_as_frame(engine, TYPES, rows)
    found = computed(made, {"usual": change_rates.usual_of_places(CONFIG)})
    of_host = change_rates.rate(5.0, 50.0, USUAL)
    of_others = change_rates.rate(1.0, 1.0, change_rates.rate(3.0, 49.0, USUAL))
    expected = [USUAL, of_host, change_rates.rate(3.0, 2.0, of_host), of_others, USUAL]
    assert values(found, "usual") == [pytest.approx(each, rel=1e-12) for each in expected]


def test_dates_of_the_next_day_are_credible(engine: Engine) -> None:
    times = [NOW_MS, NOW_MS + DAY_MS, NOW_MS + DAY_MS + 1, None]
    rows = rows_as_frame(engine, TYPES, [{"dated_ms": each} for each in times])
    found = computed(rows, {"dated": change_rates.credible_ms(NOW_MS)})
    assert values(found, "dated") == [NOW_MS, NOW_MS + DAY_MS, None, None]


def test_what_a_visit_gains(engine: Engine) -> None:
    """A page that is not stored gains most, and less with each failure."""
    known = STORED | {"fetched_ms": NOW_MS - 3 * DAY_MS, "rate": 0.25}
    rows: list[Row] = [
        known,
        known | {"recall": 0.5, "doubt": 0.75},
        known | {"failures": 2},
        {"rate": None, "failures": None},
        known | {"fetched_ms": NOW_MS + 5},
    ]
    made = change_rates.add_gain(rows_as_frame(engine, TYPES, rows), NOW_MS, CONFIG)
    found = [row.asDict() for row in made.collect()]
    expected = [
        change_rates.gain(0.25, 3.0),
        change_rates.gain(0.25, 3.0, 0.5, 0.75),
        1 / (0.25 * 3),
        1 / USUAL,
        change_rates.gain(0.25, 1 / DAY_MS),
    ]
    assert values(found, "gain") == [pytest.approx(each, rel=1e-9) for each in expected]
    assert values(found, "rate") == [0.25, 0.25, 0.25, USUAL, 0.25]
    assert "days" not in made.columns
