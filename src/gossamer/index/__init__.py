"""index: documents, inlinks and ranks become the full-text index that `serve` answers from.

Reads pages, documents, inlinks, ranks, and indexed; replaces index and indexed.

What may be found, `findable.py` says. Every page that is left out is counted by reason. What of the
rest is not in the index as it is, `changes.py` tells: only that is read, sorted and written. The
engine does so; then one task a shard changes its parts (`parts.py`), a language after the other
(`analysis.py`). URLs are spread over the shards by hash; the most popular are a shard of their own.

Cost: a pass over all documents' URLs, and over the text of those that change, which is written once
more to scratch and read again; a task holds `index.memory_mb` and a batch of rows of each of
its files.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import pyarrow.parquet as pq
from pyspark.sql import functions as F

from gossamer import findable, layers, shuffle
from gossamer.engine import engine_errors
from gossamer.errors import StoreError
from gossamer.index.changes import (
    ADDED,
    KEPT,
    REMOVED,
    REPLACED,
    anchors,
    changes,
    popular,
    wanted,
)
from gossamer.index.parts import MAX_DEAD, Shard, build, parts_of, size_of
from gossamer.monitor import silence
from gossamer.store import Layer
from gossamer.tables import INDEXED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from pyspark.sql import Column, DataFrame

    from gossamer.index.layout import Key
    from gossamer.store import File, StepReport
    from gossamer.workspace import Workspace

TEXTS = (
    "title",
    "description",
    "headings",
    "language",
    "content_type",
    "published_ms",
    "modified_ms",
    "image",
    "nosnippet",
    "fetched_ms",
    "around",
)
"""Columns of a document that go into the index as they are."""


BESIDE = 1
"""Tasks beside the workers': the first tier is a small one, which need not wait for a shard."""


def run(work: Workspace) -> StepReport:
    silence(work.root, "index")
    _check_documents(work)
    with work.step("index", work.round) as draft:
        fates, _ = work.scratch(findable.fates(work))
        with engine_errors():
            for row in fates.groupBy("fate").agg(F.count("*").alias("pages")).collect():
                draft.counts[row["fate"]] = row["pages"]
        parts = parts_of(work.store.files("index"))
        old = work.read("indexed") if parts else work.read("indexed").where("false")
        pages = draft.counts.get("indexed", 0)
        with engine_errors():
            most = popular(fates, pages, work.config.index.first_tier)
        changed, _ = work.scratch(changes(wanted(work, fates, pages), old, most))
        with engine_errors():
            moves = [
                Move(*row) for row in changed.groupBy(*Move._fields[:-1]).count().toLocalIterator()
            ]
        stale = {key for key, files in parts.items() if _is_stale(work.root, files, key, moves)}
        draft.counts.update(_totals(moves, stale))
        touched = {key for move in moves for key in move.touches()} | stale
        rows = work.scratch_files(_rows(work, changed, stale), by=["shard"])
        base = {key: parts[key] for key in parts if key in touched - stale}
        written = list(
            work.engine.map_tasks(
                _tasks(work, rows, base), build, layers.YIELD, layers.YIELD_DDL, BESIDE
            )
        )
        draft.counts.update({name: n for name, n in layers.counts_of(written).items() if n})
        made = layers.layers_of(written, work.round).get("index")
        files = [file for key in parts if key not in touched for file in parts[key]]
        files += made.files if made else ()
        draft.replace["index"] = (Layer(work.round, tuple(files)),) if files else ()
        draft.replace["indexed"] = (work.write(_held(changed, stale), "indexed", work.round),)
    return draft.done


def _check_documents(work: Workspace) -> None:
    """Raises StoreError for a file without the column `around`: texts would be missed silently."""
    for path in work.paths("documents"):
        if "around" not in pq.read_schema(path).names:
            remedy = "parse all pages again: gossamer parse --again"
            raise StoreError(path, "was parsed by an older version", remedy)


class Move(NamedTuple):
    """So many pages change in this way, from a part to a part."""

    change: str
    shard: int | None
    tongue: str | None
    old_shard: int | None
    old_tongue: str | None
    pages: int

    def touches(self) -> Iterator[Key]:
        """The parts that change by it."""
        if self.change in (ADDED, REPLACED):
            yield self.shard or 0, self.tongue or ""
        if self.change in (REPLACED, REMOVED):
            yield self.old_shard or 0, self.old_tongue or ""


def _totals(moves: Iterable[Move], stale: Collection[Key]) -> Counter[str]:
    """Pages by how they change; `renewed`: they do not, but their part is made anew."""
    totals: Counter[str] = Counter()
    for move in moves:
        if move.change != KEPT:
            totals[move.change] += move.pages
        elif (move.shard, move.tongue) in stale:
            totals["renewed"] += move.pages
    return totals


def _is_stale(root: str, files: Iterable[File], key: Key, moves: Iterable[Move]) -> bool:
    """Whether too many of a part's documents would be deleted ones."""
    held, dead = size_of(root, files)
    dead += sum(
        move.pages
        for move in moves
        if move.change in (REPLACED, REMOVED) and key == (move.old_shard, move.old_tongue)
    )
    return dead > MAX_DEAD * held


def _rows(work: Workspace, changed: DataFrame, stale: Collection[Key]) -> DataFrame:
    """What the tasks do: documents to add, and URLs to delete, sorted within their shard."""
    again = (F.col("change") == KEPT) & _lies_in(stale, "")
    adds = (
        changed.where(F.col("change").isin(ADDED, REPLACED) | again)
        .select("url", "round", "shard", "tongue", "merit", F.lit(True).alias("adds"))
        .join(anchors(work), on="url", how="left")
        # Texts come last: a join holds its left side in memory, and streams its right.
        .join(
            work.read("documents").select(
                "url", "round", "host", *TEXTS, F.col("main_text").alias("text")
            ),
            on=["url", "round"],
        )
    )
    gone = changed.where(F.col("change").isin(REPLACED, REMOVED) & ~_lies_in(stale, "old_")).select(
        "url",
        F.col("old_shard").alias("shard"),
        F.col("old_tongue").alias("tongue"),
        F.lit(False).alias("adds"),
    )
    return (
        adds.unionByName(gone, allowMissingColumns=True)
        .repartition(work.config.index.shards + 1, "shard")
        .sortWithinPartitions("shard", "tongue", "url", "adds")
    )


def _held(changed: DataFrame, stale: Collection[Key]) -> DataFrame:
    """What the index holds now (dataset indexed): a page that was not written keeps its merit."""
    same = (F.col("change") == KEPT) & ~_lies_in(stale, "")
    names = [name for name in INDEXED.column_names if name != "url"]
    return changed.where(F.col("change") != REMOVED).select(
        "url",
        *(F.when(same, F.col(f"old_{name}")).otherwise(F.col(name)).alias(name) for name in names),
    )


def _lies_in(parts: Collection[Key], prefix: str) -> Column:
    if not parts:
        return F.lit(False)
    key = F.concat_ws("/", F.col(f"{prefix}shard").cast("string"), F.col(f"{prefix}tongue"))
    return F.coalesce(
        key.isin([f"{shard}/{tongue}" for shard, tongue in sorted(parts)]), F.lit(False)
    )


def _tasks(
    work: Workspace, rows: Iterable[File], base: Mapping[Key, Iterable[File]]
) -> list[Shard]:
    attempt = work.store.attempt("index")
    return [
        Shard(
            work.root,
            work.round,
            number,
            tuple(file.path for file in files),
            sum(file.rows for file in files),
            {
                tongue: tuple(file.path for file in held)
                for (shard, tongue), held in base.items()
                if shard == number
            },
            attempt,
            work.config.index.memory_mb * 1_000_000,
        )
        for number, files in shuffle.parts(rows).items()
    ]
