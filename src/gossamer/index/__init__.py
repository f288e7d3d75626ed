"""index: documents, dispositions, inlinks → index. The full-text index that `serve` searches.

Reads documents, dispositions, inlinks, boilerplate, indexed and repeated; replaces index, indexed
and repeated.

The step `dedup` has decided which pages are indexed; the others are counted by reason.
`changes.py` finds the pages whose index entry is missing or outdated, and `repeated.py` the lines
around their main text that are boilerplate. The engine reads and sorts only the pages that change.
Then one task per shard changes its parts (`parts.py`), language by language
(`fulltext/analysis.py`). A hash of the URL determines a page's shard; the most popular pages are a
shard of their own.

Cost: a pass over the URLs of all documents, and over the text of those that change, which is
written to scratch and read again. A task holds `index.memory_mb`, and a batch of rows of each of
its files.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import pyarrow.parquet as pq
from pyspark.sql import functions as F

from gossamer import lsm, sorted_parts, task_output
from gossamer.engine import engine_errors
from gossamer.errors import StoreError
from gossamer.fulltext import selection
from gossamer.index.changes import (
    ADDED,
    KEPT,
    REMOVED,
    REPLACED,
    changes,
    desired_rows,
    popular,
    with_anchors,
    with_copies,
)
from gossamer.index.parts import MAX_DEAD, Shard, build, parts_of, size_of
from gossamer.index.repeated import of_hosts, repeated_lines, with_lines, with_repeated
from gossamer.monitor import clear
from gossamer.store import Layer
from gossamer.tables import BOILERPLATE, DATASETS, DOCUMENTS, INDEXED, REPEATED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from pyspark.sql import Column, DataFrame

    from gossamer.fulltext.layout import Key
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
    "boilerplate",
    "is_doubtful",
)
"""Columns of a document that are passed to the tasks unchanged."""


SELECTED = (
    *("url", "round", "disposition", "survivor", "reason"),
    *("copy_count", "version_count", "copies"),
)
"""Columns of `dispositions` that decide what the index holds of a page."""

BESIDE = 1
"""Tasks beyond the number of workers: the first tier is small and need not wait for a shard."""


def run(work: Workspace) -> StepReport:
    clear(work.root, "index")
    _check_documents(work)
    with work.step("index", work.round) as draft:
        selected, _ = work.scratch(selection.dispositions(work).select(*SELECTED))
        dispositions, _ = work.scratch(selection.with_rank(work, selected))
        ranks = 0.0
        with engine_errors():
            each = dispositions.groupBy("disposition")
            for row in each.agg(F.count("*").alias("pages"), F.sum("rank").alias("rank")).collect():
                draft.counts[row["disposition"]] = row["pages"]
                if row["disposition"] == "indexed":
                    ranks = row["rank"]
        parts, damaged = _parts(work)
        if damaged:
            draft.counts["damaged_parts"] = len(damaged)
        old, known = (
            work.read(name) if parts else work.engine.read([], DATASETS[name].ddl)
            for name in (INDEXED.name, REPEATED.name)
        )
        pages = draft.counts.get("indexed", 0)
        mean_rank = (ranks or 0.0) / max(pages, 1) or 1.0
        with engine_errors():
            threshold = popular(dispositions, pages, mean_rank, work.config.index.first_tier)
        desired = desired_rows(work, dispositions, mean_rank)
        changed, _ = work.scratch(changes(desired, old, threshold))
        repeated, _ = work.scratch(repeated_lines(work, changed, known))
        lines = of_hosts(repeated, lsm.current(work, BOILERPLATE))
        changed, _ = work.scratch(with_repeated(changed, lines))
        with engine_errors():
            moves = [
                Move(*row) for row in changed.groupBy(*Move._fields[:-1]).count().toLocalIterator()
            ]
        stale = damaged | {
            key
            for key, files in parts.items()
            if key not in damaged and _is_stale(work.root, files, key, moves)
        }
        draft.counts.update(_totals(moves, stale))
        touched = {key for move in moves for key in move.touches()} | stale
        rows = work.scratch_files(_rows(work, changed, lines, dispositions, stale), by=["shard"])
        base = {key: parts[key] for key in parts if key in touched - stale}
        written = list(
            work.engine.map_tasks(
                _tasks(work, rows, base), build, task_output.YIELD, task_output.YIELD_DDL, BESIDE
            )
        )
        draft.counts.update({name: n for name, n in task_output.counts_of(written).items() if n})
        new = task_output.layers_of(written, work.round).get("index")
        files = [file for key in parts if key not in touched for file in parts[key]]
        files += new.files if new else ()
        draft.replace["index"] = (Layer(work.round, tuple(files)),) if files else ()
        draft.replace["indexed"] = (work.write(_held(changed, stale), "indexed", work.round),)
        draft.replace["repeated"] = (work.write(repeated, "repeated", work.round),)
    return draft.done


def _parts(work: Workspace) -> tuple[dict[Key, list[File]], set[Key]]:
    """The files of the existing parts, and which parts are damaged and must be rebuilt.

    If a dataset that describes them is damaged, all parts are rebuilt.
    """
    if work.store.damaged("indexed") or work.store.damaged("repeated"):
        return {}, set()
    parts = parts_of(work.store.listed("index"))
    broken = {damage.file for damage in work.store.damaged("index")}
    return parts, {key for key, files in parts.items() if not broken.isdisjoint(files)}


def _check_documents(work: Workspace) -> None:
    """Raise StoreError if a file lacks a column, so that text would be lost."""
    for path in work.paths("documents"):
        if not {*DOCUMENTS.column_names} <= {*pq.read_schema(path).names}:
            remedy = "parse all pages again: gossamer reparse"
            raise StoreError(path, "was parsed by an older version", remedy)


class Move(NamedTuple):
    """How many pages change in the same way, between the same two parts."""

    change: str
    shard: int | None
    index_language: str | None
    old_shard: int | None
    old_index_language: str | None
    pages: int

    def touches(self) -> Iterator[Key]:
        """The parts that it changes."""
        if self.change in (ADDED, REPLACED):
            yield self.shard or 0, self.index_language or ""
        if self.change in (REPLACED, REMOVED):
            yield self.old_shard or 0, self.old_index_language or ""


def _totals(moves: Iterable[Move], stale: Collection[Key]) -> Counter[str]:
    """Pages by kind of change; `renewed`: unchanged pages whose part is rebuilt."""
    totals: Counter[str] = Counter()
    for move in moves:
        if move.change != KEPT:
            totals[move.change] += move.pages
        elif (move.shard, move.index_language) in stale:
            totals["renewed"] += move.pages
    return totals


def _is_stale(root: str, files: Iterable[File], key: Key, moves: Iterable[Move]) -> bool:
    """Whether too many of a part's documents would be deleted, so that it must be rebuilt."""
    held, dead = size_of(root, files)
    dead += sum(
        move.pages
        for move in moves
        if move.change in (REPLACED, REMOVED) and key == (move.old_shard, move.old_index_language)
    )
    return dead > MAX_DEAD * held


def _rows(
    work: Workspace,
    changed: DataFrame,
    lines: DataFrame,
    dispositions: DataFrame,
    stale: Collection[Key],
) -> DataFrame:
    """The input of the tasks: documents to add and URLs to delete, sorted within their shard."""
    again = (F.col("change") == KEPT) & _lies_in(stale, "")
    pages = changed.where(F.col("change").isin(ADDED, REPLACED) | again).select(
        "url", "round", "shard", "index_language", "static_rank", F.lit(True).alias("adds")
    )
    adds = (
        with_copies(with_anchors(work, with_lines(pages, lines), dispositions), dispositions)
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
        F.col("old_index_language").alias("index_language"),
        F.lit(False).alias("adds"),
    )
    return (
        adds.unionByName(gone, allowMissingColumns=True)
        .repartition(work.config.index.shards + 1, "shard")
        .sortWithinPartitions("shard", "index_language", "url", "adds")
    )


def _held(changed: DataFrame, stale: Collection[Key]) -> DataFrame:
    """The new rows of `indexed`. A page that was not rewritten keeps its static rank."""
    same = (F.col("change") == KEPT) & ~_lies_in(stale, "")
    names = [name for name in INDEXED.column_names if name != "url"]
    return changed.where(F.col("change") != REMOVED).select(
        "url",
        *(F.when(same, F.col(f"old_{name}")).otherwise(F.col(name)).alias(name) for name in names),
    )


def _lies_in(parts: Collection[Key], prefix: str) -> Column:
    if not parts:
        return F.lit(False)
    key = F.concat_ws("/", F.col(f"{prefix}shard").cast("string"), F.col(f"{prefix}index_language"))
    return F.coalesce(
        key.isin([f"{shard}/{index_language}" for shard, index_language in sorted(parts)]),
        F.lit(False),
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
                index_language: tuple(held)
                for (shard, index_language), held in base.items()
                if shard == number
            },
            attempt,
            work.config.index.memory_mb * 1_000_000,
        )
        for number, files in sorted_parts.parts(rows).items()
    ]
