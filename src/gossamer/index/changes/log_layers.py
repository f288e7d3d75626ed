"""The layers of `changes`: how they grow, and which of their rows are merged away.

Layers are merged as those of other datasets are (`state/lsm.py`), and keep their rows. Only when
all of them are merged, rows that nobody needs are dropped. Up to a harvest, the last one that is
older than `index.changes_days`, a page then has only its newest change: `added`, if the index holds
it, and none if not. `forgotten_changes` has the number of that harvest.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from gossamer.engine.engine import engine_errors
from gossamer.index.changes.reading import forgotten_harvest
from gossamer.state import lsm
from gossamer.tables import CHANGES, FORGOTTEN_CHANGES

if TYPE_CHECKING:
    from gossamer.state.workspace import Draft, Workspace
    from gossamer.storage.store import Layer

ADDED, CHANGED = "added", "changed"
MOVED, DUPLICATE, GONE = "moved", "duplicate", "gone"
MERGE_SHARE = 0.5
"""All layers are merged when the newer ones exceed this share of the oldest. A reader of all
changes since the beginning then reads at most half as many rows again as there are pages, besides
those of the last days."""
DAY_MS = 86_400_000
PRESENT_DDL = "url string, was bigint"


def are_recorded(work: Workspace) -> bool:
    """Whether there are changes: not in new crawls, and in those of older versions of Gossamer."""
    return bool(work.store.manifest.layers(CHANGES.name))


def present_pages(work: Workspace, urls: DataFrame | None = None) -> DataFrame:
    """`told_pages` as they are now, materialised."""
    return work.scratch(told_pages(work, urls), PRESENT_DDL)[0]


def told_pages(work: Workspace, urls: DataFrame | None = None) -> DataFrame:
    """The pages in the index by their changes, and the hash of their contents (PRESENT_DDL).

    Of all pages, or of some (`urls`, materialised).
    """
    layers = lsm.layer_frames(work, CHANGES, some=urls is not None)
    rows = reduce(DataFrame.unionByName, layers).select("url", "harvest", "change", "content")
    if urls is not None:
        rows = rows.join(urls, on="url", how="left_semi")
    present = _newest_changes(rows).where(F.col("change").isin(ADDED, CHANGED))
    return present.select("url", F.col("content").alias("was"))


def draft_changes(work: Workspace, draft: Draft, rows: DataFrame, *, is_first: bool) -> None:
    """Draft rows as the newest layer.

    `is_first`: there are no older layers, or these are damaged. Then no older cursor holds.
    """
    new, old = _written(work, rows), work.store.manifest.layers(CHANGES.name)
    if is_first and (new or old):
        draft.replace[CHANGES.name] = new
        _forget(work, draft, work.store.manifest.version)
        return
    if not new:
        return
    folded = lsm.mergeable_layers(old, sum(layer.rows for layer in new), MERGE_SHARE)
    kept = old[: len(old) - folded]
    if folded:
        paths = [[f"{work.root}/{file.path}" for file in layer.files] for layer in new]
        added = [work.engine.read(each, CHANGES.ddl) for each in paths]
        rows = reduce(
            DataFrame.unionByName, [*lsm.layer_frames(work, CHANGES)[len(kept) :], *added]
        )
        if not kept:
            rows = _without_outdated(work, draft, rows)
        new = _written(work, rows)
    draft.replace[CHANGES.name] = (*kept, *new)


def _without_outdated(work: Workspace, draft: Draft, rows: DataFrame) -> DataFrame:
    """All rows without those that are dropped, which is drafted as well."""
    rows, _ = work.scratch(rows)
    last = max(_last_outdated(work, rows), forgotten_harvest(work))
    if not last:
        return rows
    _forget(work, draft, last)
    return _merged(rows, last)


def _newest_changes(rows: DataFrame) -> DataFrame:
    last = rows.groupBy("url").agg(F.max("harvest").alias("harvest"))
    return last.join(rows, on=["url", "harvest"], how="inner")


def _last_outdated(work: Workspace, rows: DataFrame) -> int:
    """The last harvest that is older than `index.changes_days`, or 0."""
    since_ms = work.now_ms() - int(work.config.index.changes_days * DAY_MS)
    with engine_errors():
        found = rows.where(F.col("at_ms") < since_ms).agg(F.max("harvest").alias("last")).collect()
    return found[0]["last"] or 0


def _merged(rows: DataFrame, last: int) -> DataFrame:
    """The rows without those of harvests up to the `last` one that newer ones of these replace."""
    newest = _newest_changes(rows.where(F.col("harvest") <= last))
    present = newest.where(F.col("change").isin(ADDED, CHANGED))
    first = present.withColumn("change", F.lit(ADDED)).select(*CHANGES.column_names)
    return first.unionByName(rows.where(F.col("harvest") > last).select(*CHANGES.column_names))


def _written(work: Workspace, rows: DataFrame) -> tuple[Layer, ...]:
    """Write rows in their order, by which readers find those after a place."""
    layer = work.write(
        rows.sortWithinPartitions("harvest", "place", "url"), CHANGES.name, work.round
    )
    return (layer,) if layer.files else ()


def _forget(work: Workspace, draft: Draft, harvest: int) -> None:
    row = pa.table({"harvest": pa.array([harvest], pa.int64())}, schema=FORGOTTEN_CHANGES.schema)
    draft.replace |= work.write_table(FORGOTTEN_CHANGES, row)
