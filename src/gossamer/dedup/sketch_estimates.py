"""How similar are pairs of texts, by their sketches? An estimate: see gossamer.web.sketches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F

from gossamer.web.sketches import VALUES

NO_VALUE = np.uint32(0xFFFFFFFF)
"""The value where a sketch has none; those that neither of two has do not count."""

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

    from gossamer.state.workspace import Workspace


def add_estimates(work: Workspace, pairs: DataFrame, sketches: DataFrame, key: str) -> DataFrame:
    """Add `estimate` to pairs `one` and `other`; null if one of them has no sketch.

    `sketches` are keyed by the column `key`, which has the type of `one` and `other`.
    """
    ends = [
        sketches.select(F.col(key).alias(end), F.col("sketch").alias(f"sketch_of_{end}"))
        for end in ("one", "other")
    ]
    both = pairs.select("one", "other").join(ends[0], on="one", how="inner")
    both = both.join(ends[1], on="other", how="inner")
    kind = dict(pairs.dtypes)["one"]
    ddl = f"one {kind}, other {kind}, estimate double"
    estimates = work.engine.map_partitions(both, estimate_batches, ddl)
    return estimates.join(pairs, on=["one", "other"], how="right")


def estimate_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """From `one`, `other` and the sketches of both to `one`, `other` and `estimate`."""
    for batch in batches:
        ours, theirs = (
            np.frombuffer(b"".join(batch.column(f"sketch_of_{end}").to_pylist()), "<u4")
            for end in ("one", "other")
        )
        same, missing = ours == theirs, (ours == NO_VALUE) & (theirs == NO_VALUE)
        agreeing, count = (
            each.reshape(-1, VALUES).sum(axis=1) for each in (same & ~missing, ~missing)
        )
        shares = agreeing / np.maximum(count, 1)
        columns = [batch.column("one"), batch.column("other"), pa.array(shares)]
        yield pa.RecordBatch.from_arrays(columns, names=["one", "other", "estimate"])
