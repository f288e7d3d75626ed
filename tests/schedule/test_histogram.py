"""The counts of pages by due time are those of the pages, after each step that writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from gossamer.api.crawl import Crawl
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.flow import rounds
from gossamer.flow.check.repair import drop_damaged, reconcile
from gossamer.schedule import inject, refresh
from gossamer.schedule.due import due_counts
from gossamer.state import lsm
from gossamer.tables import PAGES
from tests.support.crawl_settings import loopback_settings
from tests.support.stored_web import put_rows

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator
    from pathlib import Path

    from gossamer.engine.engine import Engine
    from gossamer.state.workspace import Workspace


@pytest.fixture(scope="module")
def web() -> Iterator[FakeWeb]:
    with FakeWeb(Web(hosts=4, pages_per_host=12, mix=Mix())) as fake:
        yield fake


def held(work: Workspace) -> Counter[due_counts.DueSlot]:
    counts = due_counts.read_due_counts(work)
    assert counts is not None
    return counts


def by_definition(work: Workspace) -> dict[due_counts.DueSlot, int]:
    """The counts, from the rows of all pages."""
    counts: dict[due_counts.DueSlot, int] = {}
    for page in lsm.current(work, PAGES).collect():
        if page.status not in ("gone", "alias"):
            slot = due_counts.DueSlot(
                page.next_fetch_ms // due_counts.SLOT_MS * due_counts.SLOT_MS,
                page.interval_s if page.failures == 0 else None,
                page.status == "fetched",
            )
            counts[slot] = counts.get(slot, 0) + 1
    return counts


@pytest.mark.slow
def test_every_step_that_writes_pages_keeps_the_counts(
    web: FakeWeb, engine: Engine, tmp_path: Path
) -> None:
    crawl = Crawl.create(str(tmp_path / "crawl"), loopback_settings(web.address), engine)
    work = crawl.work
    seeds = [*web.web.seeds(), "http://127.0.0.1:1/"]  # nothing listens there
    inject.run(work, seeds)
    assert sum(held(work).values()) == len(seeds)
    for _ in range(2):
        for step in rounds.ROUND.values():
            step(work)
        assert held(work) == by_definition(work)
    assert any(slot.fetched for slot in held(work))
    assert any(slot.interval_s is None for slot in held(work)), "no fetch failed"
    refresh.run(work)
    assert held(work) == by_definition(work)
    assert not any(slot.fetched and slot.from_ms for slot in held(work))
    inject.run(work, [*seeds, "http://new.test/"])
    assert held(work) == by_definition(work)
    rounds.reparse(work)
    assert held(work) == by_definition(work)


PAGE = {"status": "fetched", "failures": 0, "interval_s": 60, "next_fetch_ms": 1_234_567}


def test_pages_are_counted_from_scratch_if_there_are_no_counts(work: Workspace) -> None:
    put_rows(work, "pages", [{"url": f"http://a.test/{n}", **PAGE} for n in range(3)])
    assert due_counts.read_due_counts(work) is None
    inject.run(work, ["http://b.test/"])
    assert held(work) == by_definition(work)
    assert sum(held(work).values()) == 4


def test_pages_are_counted_again_if_the_counts_are_damaged_or_do_not_fit(work: Workspace) -> None:
    inject.run(work, ["http://a.test/"])
    (path,) = work.paths("due_times")
    content = pq.read_table(path)
    pq.write_table(content, path, compression="none")
    inject.run(work, ["http://b.test/"])
    assert held(work) == by_definition(work)
    put_rows(work, "pages", [{"url": "http://a.test/", "host": "a.test", **PAGE}])
    refresh_all = {"outcome": "ok", "source": "link", "depth": 1, "hops": 0, "inlinks": 0}
    put_rows(work, "pages", [{"url": "http://c.test/", "host": "c.test", **PAGE, **refresh_all}])
    refresh.run(work)  # takes pages from a slot that has none
    assert held(work) == by_definition(work)


@pytest.mark.folder
def test_a_repair_that_loses_pages_counts_again(work: Workspace) -> None:
    inject.run(work, ["http://a.test/"])
    (path,) = work.paths("pages")
    with open(path, "ab") as file:  # noqa: PTH123  # a test of damage
        file.write(b"x")
    with work.step("repair", 0) as draft:
        drop_damaged(work, draft)
    assert due_counts.read_due_counts(work) is None
    with work.step("repair", 0) as draft:
        reconcile(work, draft)
    inject.run(work, ["http://b.test/"])
    assert held(work) == by_definition(work)
