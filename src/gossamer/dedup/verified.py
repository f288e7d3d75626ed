"""How similar are two texts? Their Jaccard similarity, by all their shingles.

Of texts with more than MAX_SHINGLES, a sample by the lowest bits of the hashes is compared, by the
same bits of both (Broder 1997, §3). The standard deviation is at most 0.006.

Cost: a pass over the main texts of the rounds in which these texts were fetched. Shingles are
joined in parts, as a hash table does not spill.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from gossamer import sketches
from gossamer.own_texts import OwnTexts, with_lines
from gossamer.tables import SIMILAR

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.workspace import Workspace

PART_BYTES = 500_000_000
MAX_SHINGLES = 16_384


def verified(work: Workspace, pairs: DataFrame, places: DataFrame) -> DataFrame:
    """Rows of `similar` for pairs of texts (`one`, `other`). Both must be materialised.

    `places`: their `text`, and the `url` and `round` of a document with each.
    """
    held, count = work.scratch(
        work.engine.map_partitions(
            with_lines(work, places),
            shingled,
            "text long, bits int, shingles binary",
        )
    )
    none = work.engine.read([], SIMILAR.ddl)
    if not count:
        return none
    parts = [work.scratch(_compared(work, part, held))[0] for part in _in_parts(pairs, held)]
    return reduce(DataFrame.unionByName, parts, none)


def _in_parts(pairs: DataFrame, held: DataFrame) -> Iterator[DataFrame]:
    """Parts of the pairs, whose shingles take about PART_BYTES."""
    sizes = held.select(F.col("text").alias("one"), F.length("shingles").alias("bytes"))
    total = pairs.join(sizes, on="one", how="inner").agg(F.sum("bytes")).collect()[0][0] or 0
    parts = 1 + 2 * total // PART_BYTES
    for part in range(parts):
        yield pairs.where(F.pmod(F.col("one"), F.lit(parts)) == part) if parts > 1 else pairs


def _compared(work: Workspace, pairs: DataFrame, held: DataFrame) -> DataFrame:
    for end in ("one", "other"):
        pairs = pairs.join(
            held.select(
                F.col("text").alias(end),
                F.col("bits").alias(f"bits_of_{end}"),
                F.col("shingles").alias(f"shingles_of_{end}"),
            ),
            on=end,
            how="inner",
        )
    ddl = "one long, other long, similarity double"
    return work.engine.map_partitions(pairs, similarities, ddl).select(
        F.xxhash64("one", "other").alias("pair"), "one", "other", "similarity"
    )


def shingled(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """From rows of `own_texts.with_lines` to `text` and its own shingles, sorted, each once.

    Of many shingles, only those are kept whose lowest `bits` are 0.
    """
    own_texts = OwnTexts()
    for batch in batches:
        sets = [_sample(own) for own, _ in own_texts.divided(batch)]
        yield pa.RecordBatch.from_arrays(
            [
                batch.column("text"),
                pa.array([bits for bits, _ in sets], pa.int32()),
                pa.array([found.astype("<u4", copy=False).tobytes() for _, found in sets]),
            ],
            names=["text", "bits", "shingles"],
        )


def _sample(text: str) -> tuple[int, sketches.Shingles]:
    found = np.unique(sketches.shingles(sketches.words(text)))
    bits = 0
    while found.size > MAX_SHINGLES:
        bits += 1
        found = with_zeros(found, bits)
    return bits, found


def with_zeros(shingles: sketches.Shingles, bits: int) -> sketches.Shingles:
    kept: sketches.Shingles = shingles[shingles & np.uint32((1 << bits) - 1) == 0]
    return kept


def similarities(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The similarity of the two texts of each row, by their samples of shingles."""
    for batch in batches:
        found = []
        columns = [f"{name}_of_{end}" for name in ("bits", "shingles") for end in ("one", "other")]
        for row in zip(*(batch.column(name).to_pylist() for name in columns), strict=True):
            bits = max(row[:2])
            sets = (with_zeros(np.frombuffer(held, "<u4"), bits) for held in row[2:])
            found.append(sketches.similarity(*sets))
        yield pa.RecordBatch.from_arrays(
            [batch.column("one"), batch.column("other"), pa.array(found, pa.float64())],
            names=["one", "other", "similarity"],
        )
