"""What visits say about hosts and folders, and slots of due pages, from rows made by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from gossamer.dedup import affected_pages
from gossamer.schedule.due import change_habits, change_rates, due_counts
from gossamer.schedule.due.change_habits import MOST_DATES, UNIT
from gossamer.schedule.due.change_rates import DAY_MS, PRIOR_RECALL, PRIOR_TRUTH
from gossamer.schedule.due.due_counts import SLOT_MS
from gossamer.tables import HABITS
from tests.support.computed_columns import computed, rows_as_frame
from tests.support.rows import put

if TYPE_CHECKING:
    from gossamer.engine.engine import Engine
    from gossamer.state.workspace import Workspace

pytestmark = [pytest.mark.embedded, pytest.mark.folder]

Row = dict[str, Any]
PAGE = "http://a.test/x/1"
HOST, FOLDER = "a.test", "a.test/x/"
VISITS: dict[str, pa.DataType] = {
    "url": pa.string(),
    **dict.fromkeys(("more_changes", "told_changes", "untold_changes"), pa.float64()),
    **dict.fromkeys(("more_ms", "met_dates", "more_dates", "listed_for_ms"), pa.int64()),
}


@pytest.mark.parametrize(
    ("url", "folder"),
    [
        (PAGE, FOLDER),
        ("http://a.test/x/y/z?q=/w/", FOLDER),
        ("http://a.test/x", "a.test/"),
        ("http://a.test/x?q=/y/z", "a.test/"),
        ("https://a.test:8080/x/", "a.test:8080/x/"),
    ],
)
def test_the_places_of_a_page(engine: Engine, url: str, folder: str) -> None:
    rows = rows_as_frame(engine, {"url": pa.string()}, [{"url": url}])
    places = {"host": change_habits.host_place(), "folder": change_habits.folder_place()}
    assert computed(rows, places) == [{"host": folder.partition("/")[0], "folder": folder}]


def habits(work: Workspace, *urls: str) -> dict[str, Row]:
    pages = rows_as_frame(work.engine, {"url": pa.string()}, [{"url": url} for url in urls])
    found = change_habits.habits_of_urls(work, pages)
    assert found is not None
    assert found.columns == ["url", *change_habits.KNOWN]
    return {row.url: row.asDict() for row in found.collect()}


def place(name: str, **sums: int) -> Row:
    return {"place": name} | dict.fromkeys(change_habits.SUMS, 0) | sums


def test_nothing_is_known_before_the_first_visit(work: Workspace) -> None:
    pages = rows_as_frame(work.engine, {"url": pa.string()}, [{"url": PAGE}])
    assert change_habits.habits_of_urls(work, pages) is None


def test_what_is_known_of_a_host_and_its_folders(work: Workspace) -> None:
    """A folder leans on its host, and that on what is usual."""
    told, days = (
        {"told": 3 * UNIT, "untold": UNIT, "met": 7},
        {"dates": 40, "listed_ms": 9 * DAY_MS},
    )
    changes = {"changes": 5 * UNIT, "watched_ms": 20 * DAY_MS}
    put(work, "habits", [place(HOST, **changes), place(FOLDER, **told, **days)])
    usual = change_rates.usual_rate(work.config.update)
    found = habits(work, PAGE, "http://a.test/z", "http://b.test/x/1")
    nothing = {"host_changes": 0, "host_days": 0, "folder_changes": 0, "folder_days": 0}
    true = PRIOR_TRUTH
    priors = {"told_share": PRIOR_RECALL, "true_share": true, "untrue_rate": usual}
    assert found["http://b.test/x/1"] == pytest.approx(
        {"url": "http://b.test/x/1"} | nothing | priors
    )
    of_host = {"host_changes": 5, "host_days": 20}
    assert found["http://a.test/z"] == pytest.approx(
        {"url": "http://a.test/z"} | nothing | priors | of_host
    )
    true = (3 + true) / 8
    learned = {"told_share": (3 + PRIOR_RECALL) / 5, "true_share": true}
    learned["untrue_rate"] = change_rates.rate(40 * (1 - true), 9.0, usual)
    assert found[PAGE] == pytest.approx({"url": PAGE} | nothing | of_host | learned)


def written(work: Workspace, *visits: Row) -> dict[str, Row]:
    pages = rows_as_frame(work.engine, VISITS, visits)
    with work.step("test", work.round) as draft:
        draft.replace[HABITS.name] = change_habits.write_habits(work, pages)
    rows = [row.asDict() for row in work.read(HABITS.name).collect()]
    return {row.pop("place"): row for row in rows}


VISIT = {"more_changes": 2.5, "more_ms": 7, "told_changes": 1.5, "untold_changes": 1.0}
DATED = {"met_dates": 3, "more_dates": 1, "listed_for_ms": 11}


def test_visits_and_listings_add_up(work: Workspace) -> None:
    found = written(
        work,
        {"url": PAGE} | VISIT | DATED,
        {"url": "http://a.test/x/2"} | VISIT,
        {"url": "http://a.test/y/1", "listed_for_ms": 5, "more_dates": 1},
        {"url": "http://b.test/", "met_dates": 9, "more_dates": 9},
    )
    of_folder = {"changes": 5 * UNIT, "watched_ms": 14, "told": 3 * UNIT, "untold": 2 * UNIT}
    of_folder |= {"met": 3, "dates": 1, "listed_ms": 11}
    other = dict.fromkeys(of_folder, 0) | {"dates": 1, "listed_ms": 5}
    assert found == {
        HOST: of_folder | {"dates": 2, "listed_ms": 16},
        FOLDER: of_folder,
        "a.test/y/": other,
    }


@pytest.mark.parametrize(
    ("known", "halved"),
    [
        ({"met": 2 * MOST_DATES - 4}, ()),
        ({"met": 2 * MOST_DATES - 3}, change_habits.OF_VISITS),
        ({"untold": (2 * MOST_DATES - 3) * UNIT}, ()),
        ({"told": (2 * MOST_DATES - 2) * UNIT}, change_habits.OF_VISITS),
        ({"dates": 2 * MOST_DATES - 2}, ()),
        ({"dates": 2 * MOST_DATES - 1}, change_habits.OF_LISTINGS),
    ],
)
def test_what_was_seen_of_many_dates_is_halved(
    work: Workspace, known: Row, halved: tuple[str, ...]
) -> None:
    before = place(FOLDER, changes=9, watched_ms=9, told=9, untold=9, met=9, listed_ms=9) | known
    put(work, "habits", [before])
    found = written(work, {"url": PAGE} | VISIT | DATED | {"told_changes": 1.0})[FOLDER]
    more = {"changes": int(2.5 * UNIT), "watched_ms": 7, "told": UNIT, "untold": UNIT}
    more |= {"met": 3, "dates": 1, "listed_ms": 11}
    sums = {name: before[name] + number for name, number in more.items()}
    assert found == {name: sums[name] // 2 if name in halved else sums[name] for name in sums}


PAGES = {"next_fetch_ms": pa.int64(), "interval_s": pa.int64(), "failures": pa.int64()}
PAGES |= {"status": pa.string(), "outcome": pa.string()}


def test_the_slot_of_a_page(engine: Engine) -> None:
    page: Row = {"next_fetch_ms": 3 * SLOT_MS - 1, "interval_s": 9, "failures": 0}
    page |= {"status": "fetched"}
    rows = [
        page,
        page | {"next_fetch_ms": 3 * SLOT_MS},
        page | {"failures": 1},
        page | {"status": "unfetched"},
        page | {"status": "alias"},
        page | {"status": "excluded", "outcome": "filtered"},
    ]
    found = computed(rows_as_frame(engine, PAGES, rows), {"slot": due_counts.due_slot_column()})
    slot = {"from_ms": 2 * SLOT_MS, "interval_s": 9, "fetched": True}
    assert [row["slot"] for row in found] == [
        slot,
        slot | {"from_ms": 3 * SLOT_MS},
        slot | {"interval_s": None},
        slot | {"fetched": False},
        None,
        None,
    ]


def test_ranks_that_may_decide_otherwise(engine: Engine) -> None:
    """Not those of pages that fall and stand for none."""
    whole = pa.int64()
    types = {"rank_class": whole, "now": whole, "falls_freely": pa.bool_()}
    cases = {
        (3, 3, False): False,
        (3, 4, False): True,
        (3, 2, False): True,
        (None, 2, False): True,
        (3, 3, True): False,
        (3, 4, True): True,
        (3, 2, True): False,
    }
    rows = [dict(zip(types, case, strict=True)) for case in cases]
    made = rows_as_frame(engine, types, rows)
    found = computed(made, {"moved": affected_pages._has_moved(made["now"])})
    assert [row["moved"] for row in found] == [*cases.values()]
