"""A sample of `pages`, by which a step may guess what it would otherwise count in a pass over all.

It has the first rows of some row groups, which lie at equal distances in rows, so they come from
all times of a crawl. Some may be older than the current row of their page.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from gossamer.storage import parquet
from gossamer.storage.names import SCRATCH
from gossamer.storage.task_output import ParquetWriter
from gossamer.tables import PAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

    from gossamer.state.workspace import Workspace

ROWS = 50_000
"""Rows of a sample, about."""
MOST_GROUPS = 16
"""Row groups that are read: the first page of a column is decoded as a whole."""
LEAST_ROWS = 20 * ROWS
"""Rows of which a sample is taken; a pass over fewer takes as long."""


class Sample(NamedTuple):
    pages: DataFrame
    share: float
    """Of all rows."""


def sample(work: Workspace) -> Sample | None:
    """Materialise a sample; None if there are too few pages."""
    total = sum(layer.rows for layer in work.store.manifest.layers(PAGES.name))
    if total < LEAST_ROWS:
        return None
    groups = [group for path in work.paths(PAGES.name) for group in _row_groups(path)]
    ends = np.cumsum([group.rows for group in groups])
    places = (np.arange(MOST_GROUPS) + 0.5) * total / MOST_GROUPS
    chosen = np.bincount(np.searchsorted(ends, places, "right"), minlength=len(groups))
    writer = ParquetWriter(work.root, SCRATCH, work.scratch_attempt(), schema=PAGES.schema)
    rows = 0
    for number in np.flatnonzero(chosen).tolist():
        batch = _first_rows(groups[number], ceil(ROWS * chosen[number] / MOST_GROUPS))
        writer.write(_completed(batch))
        rows += batch.num_rows
    paths = [f"{work.root}/{file['path']}" for file in writer.close()]
    return Sample(work.engine.read(paths, PAGES.ddl), rows / total)


class _Group(NamedTuple):
    path: str
    number: int
    rows: int


def _row_groups(path: str) -> Iterator[_Group]:
    metadata = parquet.metadata(path)
    for number in range(metadata.num_row_groups):
        if rows := metadata.row_group(number).num_rows:
            yield _Group(path, number, rows)


def _first_rows(group: _Group, rows: int) -> pa.RecordBatch:
    with parquet.open_parquet(group.path, pre_buffer=False) as file:
        return next(file.iter_batches(rows, row_groups=[group.number], use_threads=False))


def _completed(batch: pa.RecordBatch) -> pa.Table:
    """Rows with all columns. Those that an older version did not write are null."""
    return pa.table(
        {
            field.name: batch.column(field.name)
            if field.name in batch.schema.names
            else pa.nulls(batch.num_rows, field.type)
            for field in PAGES.schema
        }
    )
