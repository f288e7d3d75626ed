"""How many pages are due, and when? Counts by due time, instead of a pass over all pages.

A step that writes `pages` has the old and the new rows of what it changes, so it corrects the
counts by the difference (`write_due`). They are those of spans of ten minutes, so there are some
thousands, however many pages there are, and a look at the queue reads them in milliseconds.

If there are no counts yet, because an older version wrote the crawl, or if they do not fit the
rows, all pages are counted.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from gossamer.state import credible_times
from gossamer.storage import parquet
from gossamer.storage.task_output import ParquetWriter, layers_of
from gossamer.tables import DUE_TIMES, PAGES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql import Column, DataFrame, Row

    from gossamer.config import UpdateConfig
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Layer

SLOT_MS = 600_000


class DueSlot(NamedTuple):
    """The key of a count: see the columns of the dataset."""

    from_ms: int
    interval_s: int | None
    fetched: bool


def due_slot_column() -> Column:
    """The slot of a page, from its row, as a struct; null if the page is never due."""
    from pyspark.sql import functions as F  # a server that reads the counts needs no engine

    from gossamer.schedule.due.due_pages import is_never_due

    from_ms = F.floor(F.col("next_fetch_ms") / SLOT_MS).cast("long") * SLOT_MS
    interval_s = F.when(F.col("failures") == 0, F.col("interval_s"))
    fetched = F.col("status") == "fetched"
    fields = zip(DueSlot._fields, (from_ms, interval_s, fetched), strict=True)
    return F.when(~is_never_due(), F.struct(*(value.alias(name) for name, value in fields)))


def count_due_moves(rows: DataFrame, *sums: Column) -> list[Row]:
    """Count new rows of pages by the slot in which `recount_due` had them and by their new one.

    `rows` are materialised. `sums` are further aggregates of these groups, which are not more than
    there are pairs of slots.
    """
    from pyspark.sql import functions as F

    groups = rows.groupBy("counted", due_slot_column().alias("slot"))
    return groups.agg(F.count("*").alias("pages"), *sums).collect()


def write_due(work: Workspace, moved: Iterable[Row], pages: DataFrame) -> tuple[Layer, ...]:
    """Write the counts after `count_due_moves`; return its layers, for `Draft.replace`.

    `pages` are all rows of `pages` that the step writes.
    """
    counts = read_due_counts(work)
    if counts is None:
        return recount_due(work, pages)
    for move in moved:
        for place, pages_more in ((move.counted, -move.pages), (move.slot, move.pages)):
            if place is not None:
                counts[DueSlot(*place)] += pages_more
    if min(counts.values(), default=0) < 0:
        return recount_due(work, pages)
    return _write_due(work, counts)


def recount_due(work: Workspace, newer: DataFrame) -> tuple[Layer, ...]:
    """Count all pages, as stored and with the `newer` rows that replace some; write the counts."""
    from pyspark.sql import functions as F

    from gossamer.state import lsm

    known = lsm.newest_rows(
        [*lsm.layer_frames(work, PAGES), newer.select(*PAGES.column_names)], "url"
    )
    rows = known.groupBy(due_slot_column().alias("slot")).agg(F.count("*").alias("pages")).collect()
    return _write_due(work, {DueSlot(*row.slot): row.pages for row in rows if row.slot is not None})


def read_due_counts(work: Workspace) -> Counter[DueSlot] | None:
    """The counts as of the last commit; None if they are missing or damaged."""
    if not work.store.manifest.layers(DUE_TIMES.name) or work.store.damaged(DUE_TIMES.name):
        return None
    rows = parquet.read_table(work.paths(DUE_TIMES.name), schema=DUE_TIMES.schema).to_pylist()
    return Counter(
        {DueSlot(*(row[name] for name in DueSlot._fields)): row["pages"] for row in rows}
    )


def count_due(work: Workspace, now_ms: int) -> int | None:
    """How many pages are due, or will be within SLOT_MS; None if nobody has counted them."""
    slots = read_due_counts(work)
    if slots is None:
        return None
    slots = credible_counts(slots, now_ms, work.config.update)
    return sum(pages for slot, pages in slots.items() if slot.from_ms <= now_ms)


def credible_counts(
    slots: Mapping[DueSlot, int], now_ms: int, config: UpdateConfig
) -> Counter[DueSlot]:
    """The counts, with pages whose due time is not believed in the slots of those due at once."""
    longest_s, found = credible_times.longest_page_wait_s(config), Counter[DueSlot]()
    for slot, pages in slots.items():
        is_credible = credible_times.is_credible_wait(slot.from_ms, 0, now_ms, longest_s)
        found[slot if is_credible else slot._replace(from_ms=0)] += pages
    return found


def _write_due(work: Workspace, counts: Mapping[DueSlot, int]) -> tuple[Layer, ...]:
    rows = [{**place._asdict(), "pages": pages} for place, pages in counts.items() if pages]
    writer = ParquetWriter(work.root, DUE_TIMES.name, work.store.attempt(DUE_TIMES.name))
    writer.write(pa.Table.from_pylist(rows, schema=DUE_TIMES.schema))
    return (layers_of(writer.close(), work.round)[DUE_TIMES.name],)
