"""How similar are two texts? Their Jaccard similarity, by all their shingles.

Not all pairs are worth that: `similar_by_sketch` leaves out those that are hardly similar, by the
least shingle in each of 112 equal ranges of hashes (one permutation hashing: Li, Owen and Zhang,
NIPS 2012). They estimate J as well as the sketches of documents do, and are at hand once the
shingles are sorted.

For texts with more than MAX_SHINGLES, a sample is compared, selected by the lowest bits of the
hashes, the same bits for both (Broder 1997, §3). The standard deviation is at most 0.006.

Cost: a pass over the main texts of the rounds in which texts were fetched that are not `shingled`.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from gossamer.dedup.own_texts import BoilerplateSplitter, join_boilerplate_lines
from gossamer.dedup.sketch_estimates import NO_VALUE, add_estimates, estimate_batches
from gossamer.storage import parquet, task_output
from gossamer.storage.names import SCRATCH
from gossamer.storage.store import File
from gossamer.storage.task_output import ParquetWriter
from gossamer.tables import SHINGLED
from gossamer.web import sketches

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gossamer.state.workspace import Workspace
    from gossamer.storage.task_output import Row

ESTIMATED = 0.68
"""Three standard deviations below 0.8, the least that `dedup.similarity` can be."""
FEW = 10_000
FEW_BYTES = 256 << 20
"""The most pairs of texts, and bytes of their files, that are compared in one task. In a query,
each pair would carry the shingles of both texts."""
AT_ONCE = 256
"""Pairs whose shingles are copied side by side: a few megabytes."""
PART_PAIRS = 1_000_000
PART_BYTES = 1_000_000_000
"""Pairs whose sketches are joined at once, and bytes of shingles: a hash table does not spill."""
MAX_SHINGLES = 16_384
FOUND_DDL = "one long, other long, similarity double"
FOUND = pa.schema([("one", pa.int64()), ("other", pa.int64()), ("similarity", pa.float64())])
_RANGES = (np.arange(sketches.VALUES, dtype=np.uint64) * (1 << 32) // sketches.VALUES).astype("<u4")
"""The first hash of each range."""


def write_shingles(work: Workspace, places: DataFrame) -> tuple[File, ...]:
    """Write rows of `shingled`.

    `places`: their `text`, and the `url` and `round` of a document with each; materialised.
    """
    rows = work.engine.map_partitions(
        join_boilerplate_lines(work, places), shingle_batches, SHINGLED.ddl
    )
    return work.write(rows, SHINGLED.name, work.round).files


def similar_by_sketch(work: Workspace, pairs: DataFrame, count: int, texts: DataFrame) -> DataFrame:
    """The pairs whose sketches are similar enough for a comparison; materialised."""
    shares = [
        work.scratch(
            add_estimates(work, share, texts, "text")
            .where(F.col("estimate") >= ESTIMATED)
            .select("one", "other")
        )[0]
        for share in _split_pairs(pairs, 1 + count // PART_PAIRS)
    ]
    return reduce(DataFrame.unionByName, shares)


def verify_pairs(work: Workspace, pairs: DataFrame, count: int, texts: DataFrame) -> list[File]:
    """Write rows of FOUND to scratch files, for pairs (`one`, `other`) of texts that are shingled.

    There are at most `count` pairs. `pairs` and `texts` are materialised.
    """
    total = 4 * MAX_SHINGLES * count
    if 2 * total > PART_BYTES:
        sizes = texts.select(F.col("text").alias("one"), F.length("shingles").alias("bytes"))
        total = pairs.join(sizes, on="one", how="inner").agg(F.sum("bytes")).collect()[0][0] or 0
    return [
        file
        for part in _split_pairs(pairs, 1 + 2 * total // PART_BYTES)
        for file in work.scratch_files(_compare_shingles(work, part, texts))
    ]


class VerifyTask(NamedTuple):
    """The input of a task: files of pairs, and of rows of `shingled`."""

    root: str
    pairs: tuple[str, ...]
    texts: tuple[str, ...]
    only_close: bool
    """Whether to leave out the pairs that `similar_by_sketch` would leave out."""
    attempt: str


def verify_few_pairs(
    work: Workspace, pairs: Sequence[File], texts: Sequence[File], *, only_close: bool
) -> list[File]:
    """As `verify_pairs`, for FEW pairs and FEW_BYTES of texts, in files.

    `only_close`: see `VerifyTask`.
    """
    if not texts:
        return []
    of_pairs, of_texts = (tuple(file.path for file in files) for files in (pairs, texts))
    task = VerifyTask(work.root, of_pairs, of_texts, only_close, work.scratch_attempt())
    written = work.engine.map_tasks(
        [task], verify_by_shingles, task_output.YIELD, task_output.YIELD_DDL, at_home=True
    )
    return msgspec.convert(written, list[File])


def verify_by_shingles(task: VerifyTask) -> list[Row]:
    """Write rows of FOUND."""
    pairs, texts = (
        pa.concat_tables(parquet.read_table(f"{task.root}/{path}") for path in paths)
        for paths in (task.pairs, task.texts)
    )
    compare = shingle_similarities_above_estimate if task.only_close else shingle_similarities
    found = pa.Table.from_batches(compare(_join_shingles(pairs, texts)), FOUND)
    writer = ParquetWriter(task.root, SCRATCH, task.attempt, schema=FOUND)
    if found.num_rows:
        writer.write(found)
    return writer.close()


def _join_shingles(pairs: pa.Table, texts: pa.Table) -> Iterator[pa.RecordBatch]:
    """Join pairs with the rows of both texts; leave out pairs without them."""
    texts = texts.combine_chunks()
    (known,) = texts.column("text").chunks
    for some in pairs.to_batches(AT_ONCE):
        at = [pc.index_in(some.column(end), known) for end in ("one", "other")]
        columns = dict(zip(some.schema.names, some.columns, strict=True))
        for end, places in zip(("one", "other"), at, strict=True):
            held = texts.take(places)
            columns |= {f"{name}_of_{end}": held.column(name) for name in SHINGLED.column_names}
        rows = pa.table(columns).filter(pc.and_(*map(pc.is_valid, at)))
        yield from rows.combine_chunks().to_batches()


def _split_pairs(pairs: DataFrame, parts: int) -> Iterator[DataFrame]:
    """Split pairs into `parts` of about the same size."""
    if parts == 1:
        return iter([pairs])
    part = F.pmod(F.col("one"), F.lit(parts))
    return (pairs.where(part == number) for number in range(parts))


def _compare_shingles(work: Workspace, pairs: DataFrame, texts: DataFrame) -> DataFrame:
    for end in ("one", "other"):
        held = texts.select(
            F.col("text").alias(end),
            *(F.col(name).alias(f"{name}_of_{end}") for name in ("bits", "shingles")),
        )
        pairs = pairs.join(held, on=end, how="inner")
    return work.engine.map_partitions(pairs, shingle_similarities, FOUND_DDL)


def shingle_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """From rows of `own_texts.join_boilerplate_lines` to those of `shingled`.

    Of many shingles, only those are kept whose lowest `bits` are 0.
    """
    own_texts = BoilerplateSplitter()
    for batch in batches:
        texts = [distinct_shingles(own) for own, _ in own_texts.split(batch)]
        sets = [_sample_shingles(shingles) for shingles in texts]
        yield pa.RecordBatch.from_arrays(
            [
                batch.column("text"),
                pa.array([least_per_range(shingles).tobytes() for shingles in texts]),
                pa.array([bits for bits, _ in sets], pa.int32()),
                pa.array([found.astype("<u4", copy=False).tobytes() for _, found in sets]),
            ],
            names=["text", "sketch", "bits", "shingles"],
        )


def distinct_shingles(text: str) -> sketches.Shingles:
    """The shingles of a text, sorted. `numpy.unique` would take eight times as long."""
    found = np.sort(sketches.shingles(sketches.words(text)))
    return found[np.concatenate(([True], found[1:] != found[:-1]))[: found.size]]


def least_per_range(shingles: sketches.Shingles) -> sketches.Shingles:
    """The least shingle in each range of hashes, or NONE; `shingles` are sorted."""
    begins = np.searchsorted(shingles, _RANGES)
    found = np.append(shingles, NO_VALUE)[begins]
    found[np.diff(begins, append=shingles.size) == 0] = NO_VALUE
    return found.astype("<u4", copy=False)


def _sample_shingles(found: sketches.Shingles) -> tuple[int, sketches.Shingles]:
    bits = 0
    while found.size > MAX_SHINGLES:
        bits += 1
        found = sample_by_bits(found, bits)
    return bits, found


def sample_by_bits(shingles: sketches.Shingles, bits: int) -> sketches.Shingles:
    return shingles[shingles & np.uint32((1 << bits) - 1) == 0] if bits else shingles


def shingle_similarities_above_estimate(
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """As `shingle_similarities`, without the texts whose sketches are not similar enough."""
    for batch in batches:
        for estimates in estimate_batches(iter([batch])):
            enough = pc.greater_equal(estimates.column("estimate"), ESTIMATED)
            yield from shingle_similarities(iter([batch.filter(enough)]))


def shingle_similarities(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The similarity of the two texts of each row, by their samples of shingles."""
    for batch in batches:
        found = []
        columns = [f"{name}_of_{end}" for name in ("bits", "shingles") for end in ("one", "other")]
        for row in zip(*(batch.column(name).to_pylist() for name in columns), strict=True):
            bits = max(row[:2])
            sets = (sample_by_bits(np.frombuffer(held, "<u4"), bits) for held in row[2:])
            found.append(sketches.similarity(*sets))
        yield pa.RecordBatch.from_arrays(
            [batch.column("one"), batch.column("other"), pa.array(found, pa.float64())],
            names=["one", "other", "similarity"],
        )
