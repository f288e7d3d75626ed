"""A sample of `pages`, by which a step may guess what it would otherwise count in a pass over all.

It has the first rows of each row group, so they come from all times of a crawl. Some may be older
than the current row of their page.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from gossamer.filenames import SCRATCH
from gossamer.tables import PAGES
from gossamer.task_output import ParquetWriter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

    from gossamer.workspace import Workspace

ROWS = 100_000
"""Rows of a sample, about. To read and write them takes 0.3 s."""
LEAST_ROWS = 5 * ROWS
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
    writer = ParquetWriter(work.root, SCRATCH, work.scratch_attempt(), schema=PAGES.schema)
    rows = 0
    for path in work.paths(PAGES.name):
        for batch in _first_rows(path, ROWS / total):
            writer.write(_completed(batch))
            rows += batch.num_rows
    paths = [f"{work.root}/{file['path']}" for file in writer.close()]
    return Sample(work.engine.read(paths, PAGES.ddl), rows / total)


def _first_rows(path: str, share: float) -> Iterator[pa.RecordBatch]:
    """So large a share of the rows of each row group."""
    with pq.ParquetFile(path, pre_buffer=False) as file:
        for group in range(file.num_row_groups):
            rows = ceil(file.metadata.row_group(group).num_rows * share)
            batches = file.iter_batches(rows, row_groups=[group], use_threads=False)
            if (batch := next(batches, None)) is not None:
                yield batch


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
