"""Above which score lie all pages that a round can take? Buckets of scores, counted or sampled.

To count the due pages by bucket takes a pass over all. A sample of `pages` tells which buckets to
try first. It has the first rows of some row groups, which lie at equal distances in rows, so they
come from all times of a crawl. Some may be older than the current row of their page.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F

from gossamer.storage import parquet
from gossamer.storage.names import SCRATCH
from gossamer.storage.task_output import ParquetWriter
from gossamer.tables import PAGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import Column, DataFrame

    from gossamer.state.workspace import Workspace

PER_OCTAVE = 8
"""Buckets per doubling of the score."""
ROWS = 50_000
"""Rows of a sample, about."""
MOST_GROUPS = 16
"""Row groups that are read: the first page of a column is decoded as a whole."""
LEAST_ROWS = 20 * ROWS
"""Rows of which a sample is taken; a pass over fewer takes as long."""
TRIED = 1.5, 8
"""A bucket is tried if this many times the pages of the round lie above it, within the limits of
hosts. Those of domains are not known then, and may leave fewer."""
LARGE = 5
"""Sampled pages of a host from which we estimate by how many it exceeds its limit."""


class Sample(NamedTuple):
    pages: DataFrame
    share: float
    """The sampled share of all rows."""


class BucketCount(NamedTuple):
    bucket: int
    pages: int


def score_bucket() -> Column:
    """The bucket of a page's `score`."""
    return F.floor(F.log2("score") * PER_OCTAVE)


def pages_above(due: DataFrame, floor: int) -> DataFrame:
    """The pages in this bucket and in better ones.

    Fact (Sail 0.7.2): a filter is planned next to the files, with all that the score is made of in
    place of each mention of it, which makes a large expression far larger. A filter by a random
    number stays where it is.
    """
    nothing = F.floor(F.rand(0) * 0)
    found = due.withColumn("bucket", score_bucket() + nothing)
    return found.where(F.col("bucket") >= floor).drop("bucket")


def count_buckets(due: DataFrame) -> list[BucketCount]:
    """Count pages by bucket, best first: scores span a few dozen octaves at most."""
    counts = due.groupBy(score_bucket().alias("bucket")).agg(F.count("*").alias("pages"))
    return [BucketCount(*row) for row in counts.orderBy(F.desc("bucket")).collect()]


def doubling_floors(counts: Sequence[BucketCount], pages: int) -> Iterator[int]:
    """Yield the bucket above which twice as many pages lie as the round has, then twice as many.

    All pages are above the last bucket, so nothing would be gained by trying it.
    """
    wanted, above = 2 * pages, 0
    for bucket, count in counts[:-1]:
        above += count
        if above >= wanted:
            yield bucket
            wanted = 2 * above


def likely_floors(sample: Sample, pages: int, per_host: int) -> Iterator[int]:
    """Yield buckets above which a round of `pages` probably lies, best first.

    `sample`: one of the due pages. Hosts other than the user's own supply `per_host` at most.
    """
    counted = sample.pages.groupBy(score_bucket().alias("bucket"), "host", "own").count().toArrow()
    hosts = pc.dictionary_encode(counted.column("host")).combine_chunks().indices.to_numpy()
    buckets, counts = (counted.column(name).to_numpy() for name in ("bucket", "count"))
    limits = np.full(hosts.max(initial=-1) + 1, float(per_host))
    limits[hosts[counted.column("own").to_numpy()]] = np.inf
    found, wanted = np.zeros(limits.size), list(TRIED)
    # As above, the last bucket is not tried.
    for floor in np.unique(buckets)[:0:-1]:
        here = buckets == floor
        found += np.bincount(hosts[here], counts[here], limits.size)
        excess = np.maximum(found / sample.share - limits, 0)[found >= LARGE]
        supply = found.sum() / sample.share - excess.sum()
        if wanted and supply >= wanted[0] * pages:
            wanted = [times for times in wanted if supply < times * pages]
            yield int(floor)


def take_sample(work: Workspace) -> Sample | None:
    """Materialise a sample of `pages`; None if there are too few."""
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
        writer.write(_add_missing_columns(batch))
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


def _add_missing_columns(batch: pa.RecordBatch) -> pa.Table:
    """Add the columns of `pages` that an older version did not write, with nulls."""
    return pa.table(
        {
            field.name: batch.column(field.name)
            if field.name in batch.schema.names
            else pa.nulls(batch.num_rows, field.type)
            for field in PAGES.schema
        }
    )
