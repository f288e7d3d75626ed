"""What the tasks of `index` read: the pages to add, with all that is searched, and those to delete.

The engine sorts these rows, texts and all, and holds what it sorts. So where many pages are
written, it does so in passes, each over some files of texts: its memory depends on PASS_BYTES and
not on the number of pages. A task merges what the passes have written for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer.engine.engine import engine_errors
from gossamer.index.boilerplate import add_boilerplate_lines
from gossamer.index.indexed_rows import ADDED, KEPT, REMOVED, REPLACED, add_copies
from gossamer.index.pending_pages import lies_in
from gossamer.tables import DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from pyspark.sql import DataFrame

    from gossamer.index.format.layout import Key
    from gossamer.index.pending_pages import PendingPages
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import File

PASS_BYTES = 50_000_000
"""Of files of documents. The engine takes some 200 MB for them if they have little but text."""

TEXT_COLUMNS = (
    *("title", "description", "headings", "language", "content_type", "published_ms"),
    *("modified_ms", "image", "nosnippet", "fetched_ms", "boilerplate", "is_doubtful"),
    "wishes",
)
"""Columns of a document that are passed to the tasks unchanged."""


def task_rows(
    work: Workspace, pending: PendingPages, stale: Collection[Key], adds: int
) -> Iterator[DataFrame]:
    """The rows of each pass, sorted within their shard: `adds` documents, and URLs to delete."""
    changed = pending.changed
    again = (F.col("change") == KEPT) & lies_in(stale, "")
    pages = changed.where(F.col("change").isin(ADDED, REPLACED) | again).select(
        "url", "round", "shard", "index_language", "static_rank", F.lit(True).alias("adds")
    )
    described = add_boilerplate_lines(pages, pending.boilerplate).join(
        pending.anchors, on="url", how="left"
    )
    described = add_copies(described, pending.dispositions)
    gone = changed.where(F.col("change").isin(REPLACED, REMOVED) & ~lies_in(stale, "old_")).select(
        "url",
        F.col("old_shard").alias("shard"),
        F.col("old_index_language").alias("index_language"),
        F.lit(False).alias("adds"),
    )
    first, *others = _passes(work, pages, adds)
    if others:
        described, _ = work.scratch(described)
    yield _in_shards(
        work, _add_texts(work, described, first).unionByName(gone, allowMissingColumns=True)
    )
    for files in others:
        yield _in_shards(work, _add_texts(work, described, files))


def _passes(work: Workspace, pages: DataFrame, adds: int) -> list[list[File]]:
    """The files of documents that each pass reads. Together they have those of `adds` `pages`."""
    files = work.store.files(DOCUMENTS.name)
    if adds * sum(file.bytes for file in files) <= PASS_BYTES * sum(file.rows for file in files):
        return [files]
    with engine_errors():
        rounds = {row["round"] for row in pages.select("round").distinct().toLocalIterator()}
    layers = work.store.manifest.layers(DOCUMENTS.name)
    sizes = (
        (file, file.bytes if layer.round in rounds else 0)
        for layer in layers
        for file in layer.files
    )
    return grouped(sizes, PASS_BYTES)


def grouped(files: Iterable[tuple[File, int]], most: int) -> list[list[File]]:
    """Divide files with the bytes that count into groups of at most so many, in their order.

    A group has more if its first file has.
    """
    groups: list[list[File]] = [[]]
    held = 0
    for file, size in files:
        if held and held + size > most:
            groups.append([])
            held = 0
        groups[-1].append(file)
        held += size
    return groups


def _add_texts(work: Workspace, pages: DataFrame, files: Iterable[File]) -> DataFrame:
    """The pages whose documents are in these files, with what is searched."""
    paths = [f"{work.root}/{file.path}" for file in files]
    documents = work.engine.read_some(paths, DOCUMENTS.ddl)
    return pages.join(
        # Texts come last: a join holds its left side in memory, and streams its right.
        documents.select("url", "round", "host", *TEXT_COLUMNS, F.col("main_text").alias("text")),
        on=["url", "round"],
        how="inner",
    )


def _in_shards(work: Workspace, rows: DataFrame) -> DataFrame:
    order = "shard", "index_language", "url", "adds"
    return rows.repartition(work.config.index.shards + 1, "shard").sortWithinPartitions(*order)
