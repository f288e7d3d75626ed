"""Which pages a round takes, and what they pay and get, by definitions in plain Python."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

from gossamer.schedule.focus import fit_prediction
from gossamer.schedule.limits.host_budgets import drop_pages_beyond_total
from gossamer.schedule.order import opic
from gossamer.schedule.order.opic import VirtualPage
from gossamer.schedule.selection import select_best
from tests.support.computed_columns import computed, rows_as_frame
from tests.support.rows import put

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gossamer.engine.engine import Engine
    from gossamer.state.workspace import Workspace

Row = dict[str, Any]
PAGES = {"url": pa.string(), "host": pa.string(), "score": pa.float64(), "own": pa.bool_()}
BUDGETS = {"host": pa.string(), "domain": pa.string(), "budget": pa.int64()}


def best_by_definition(
    due: Sequence[Row], total: int, per_host: int, budgets: Mapping[str, Row] | None
) -> set[tuple[str, bool]]:
    """The URLs that are chosen (true) or kept out by a budget only (false)."""
    ordered = sorted(due, key=lambda page: (-page["score"], page["url"]))
    of_host, of_domain = Counter[str](), Counter[str]()
    found, place, taken = set(), 0, 0
    for page in ordered:
        host = page["host"]
        of_host[host] += 1
        if of_host[host] > per_host and not page["own"]:
            continue
        place += 1
        limit = (budgets or {}).get(host)
        domain = limit["domain"] if limit else host
        of_domain[domain] += 1
        within = limit is None or of_domain[domain] <= limit["budget"]
        taken += within
        is_chosen = within and taken <= total
        if is_chosen or (place <= total and budgets is not None):
            found.add((page["url"], is_chosen))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_the_best_pages_within_all_limits_are_taken(engine: Engine, seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311  # reproducible
    hosts = [f"{name}.{domain}" for name in "ab" for domain in ("x.test", "y.test", "z.test")]
    due = [
        {"url": f"http://{host}/{number}", "host": host, "score": draw.choice((0.5, 1.0, 2.0, 3.5))}
        | {"own": host == "a.y.test"}
        for number in range(9)
        for host in hosts
    ]
    budgets = {
        host: {"host": host, "domain": host[2:], "budget": 5}
        for host in hosts
        if host.endswith(("x.test", "y.test"))
    }
    pages = rows_as_frame(engine, PAGES, due)
    limits = rows_as_frame(engine, BUDGETS, [*budgets.values()])
    for total, per_host in ((1, 9), (7, 1), (20, 4), (54, 9), (99, 99)):
        free = select_best(pages, total, per_host)
        found = {(row.url, row.chosen) for row in free.collect()}
        assert found == best_by_definition(due, total, per_host, None)
        assert free.columns == [*PAGES, "chosen"]
        bound = select_best(pages, total, per_host, limits)
        found = {(row.url, row.chosen) for row in bound.collect()}
        assert found == best_by_definition(due, total, per_host, budgets)
        assert {*bound.columns} == {*PAGES, "chosen"}


CASH: dict[str, pa.DataType] = {
    **dict.fromkeys(("cash", "history", "paid", "fetched_ms", "found_ms"), pa.int64()),
    "passed": pa.float64(),
}


def values(engine: Engine, column: Any, *rows: Row) -> list[Any]:
    made = rows_as_frame(engine, CASH, rows)
    return [row["value"] for row in computed(made, {"value": column})]


def test_the_virtual_page_divides_what_it_has_and_keeps_the_rest() -> None:
    page = VirtualPage().add_seeds(3, 2)
    assert page == VirtualPage(3, 2 * opic.UNIT, 0, 0)
    assert page.collect(1, 10) == VirtualPage(4, 2 * opic.UNIT, 2, 2)
    assert page.collect(1, 10).collect(0, 7) == VirtualPage(4, 2 * opic.UNIT, 4, 1)
    assert VirtualPage().collect(0, 7) == VirtualPage(0, 0, 0, 7)
    assert VirtualPage(kept=2).collect(0, 7) == VirtualPage(kept=9)
    assert VirtualPage(1, 5, 6, 0).add_seeds(4, 0) == VirtualPage(5, 5, 6, 0)


def test_seeds_bring_a_unit_until_all_is_brought() -> None:
    assert VirtualPage().unit(1) == opic.UNIT
    left = VirtualPage(brought=opic.MOST - 10)
    assert (left.unit(3), left.unit(0)) == (3, 10)
    assert left.add_seeds(3, 3).brought == opic.MOST - 1
    assert VirtualPage(brought=opic.MOST).unit(5) == 0


def test_the_cash_of_a_row_lacks_what_the_virtual_page_gave(engine: Engine) -> None:
    assert values(engine, opic.cash_column(7), {"cash": -3}, {"cash": None}) == [4, 7]
    known, new = opic.stored_cash(7, F.lit(False)), opic.stored_cash(7, F.lit(True))
    assert values(engine, known, {"cash": -3}, {"cash": None}) == [-3, 0]
    assert values(engine, new, {"cash": -3}) == [-7]


def test_the_share_of_the_history_since_the_last_request(engine: Engine) -> None:
    now_ms = 2 * opic.HISTORY_S * 1000
    shares = values(
        engine,
        opic.elapsed_share(F.lit(now_ms)),
        {"fetched_ms": now_ms // 2, "found_ms": 0},
        {"found_ms": now_ms},
        {"fetched_ms": now_ms + 5_000},
        {},
    )
    second = 1 / opic.HISTORY_S
    assert shares == [pytest.approx(each) for each in (1, second, second, second)]


def test_a_history_forgets_what_lies_outside_of_it(engine: Engine) -> None:
    found = values(
        engine,
        opic.new_history(F.col("passed")),
        {"history": 100, "paid": 30, "passed": 0.25},
        {"history": 100, "passed": 0.25},
        {"paid": 30, "passed": 0.25},
        {"history": 100, "paid": 30, "passed": 1.0},
        {"history": 100, "paid": 30, "passed": 4.0},
        {"history": 5, "paid": 0, "passed": 0.5},
    )
    assert found == [105, 75, 30, 30, 7, 2]


def test_importance_is_what_a_page_received_and_never_zero(engine: Engine) -> None:
    unit = opic.UNIT
    rich = {"history": unit, "cash": unit - 7}
    found = values(engine, opic.importance(7), rich, {"cash": 0}, {}, {"cash": -7})
    assert found == [2, 7 / unit, 7 / unit, 1 / unit]


def test_a_host_gets_no_more_new_pages_than_it_has_left(engine: Engine) -> None:
    """By score, then by URL; pages that were requested before do not count."""
    types = PAGES | {"asked": pa.bool_()}
    due: list[Row] = [
        {"url": f"{host}/{number}", "host": host, "score": number % 3.0, "own": host == "own"}
        | {"asked": number == 8}
        for host in ("full", "few", "many", "new", "own")
        for number in range(9)
    ]
    pages = {"full": 10, "few": 7, "many": 5, "own": 5}
    known = [{"host": host, "pages": number} for host, number in pages.items()]
    hosts = rows_as_frame(engine, {"host": pa.string(), "pages": pa.int64()}, known)
    made = drop_pages_beyond_total(rows_as_frame(engine, types, due), hosts, 10, 5)
    assert made.columns == [*types]
    expected = set()
    for host in ("full", "few", "many", "new", "own"):
        ours = [page for page in due if page["host"] == host]
        new = [page for page in ours if not page["asked"]]
        left = 10 - pages.get(host, 0)
        if left < 5 or host == "own":
            new = sorted(new, key=lambda page: (-page["score"], page["url"]))[:left]
        expected |= {page["url"] for page in (*new, *ours[8:])}
    assert {row.url for row in made.collect()} == expected
    assert {url for url in expected if url.startswith("full")} == {"full/8"}


JUDGED: dict[str, pa.DataType] = {
    **dict.fromkeys(("judged_links", "fit_links"), pa.int64()),
    **dict.fromkeys(fit_prediction.FOUND, pa.int64()),
    "fit": pa.bool_(),
}


def test_links_that_were_judged_add_up_or_are_replaced(engine: Engine) -> None:
    rows = [
        {"judged_links": 3, "fit_links": 5, "found_judged_links": 2, "found_fit_links": 7},
        {"found_judged_links": 2, "found_fit_links": 7},
        {"judged_links": 3, "fit_links": 5},
    ]
    made = rows_as_frame(engine, JUDGED, rows)
    more = [tuple(row.values()) for row in computed(made, fit_prediction.increased_counts())]
    assert more == [(5, 12), (2, 7), (3, 5)]
    instead = [tuple(row.values()) for row in computed(made, fit_prediction.replaced_counts())]
    assert instead == [(2, 7), (2, 7), (None, None)]


@pytest.mark.embedded
def test_the_promise_of_a_page(work: Workspace) -> None:
    """The mean of its links, which begins with a quarter of a neutral one."""
    unit = fit_prediction.UNIT
    rows = [
        {"judged_links": 3, "fit_links": 2 * unit},
        {},
        {"judged_links": 3, "fit_links": 0, "fit": True},
        {"judged_links": 3, "fit_links": 0, "fit": False},
    ]
    made = rows_as_frame(work.engine, JUDGED, rows)
    every = computed(made, {"promise": fit_prediction.promise_column(work)})
    assert [row["promise"] for row in every] == [1, 1, 1, 1]
    put(work, "fit_words", [{}])
    found = computed(made, {"promise": fit_prediction.promise_column(work)})
    expected = [2.125 / 3.25, 0.5, 1, 0.125 / 3.25]
    assert [row["promise"] for row in found] == [pytest.approx(each) for each in expected]
