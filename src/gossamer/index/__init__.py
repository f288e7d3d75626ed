"""index: documents, inlinks and ranks become the full-text index that `serve` answers from.

Reads pages, documents, inlinks, ranks; replaces index.

What may be found, `findable.py` says. Every page that is left out is counted by reason.

The engine chooses, joins and sorts; then one task a shard streams its rows into tantivy (format:
index/schema.py). URLs are spread over the shards by hash. Cost: documents are written once
more to scratch, and read again; a task holds `index.memory_mb` and a batch of rows of each of its
files. Measured on two cores: 1,400 documents a second, of 11,500 characters each.
"""

from __future__ import annotations

import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer import findable, layers, shuffle
from gossamer.backends import disk_errors, full
from gossamer.engine import engine_errors
from gossamer.index import schema
from gossamer.monitor import Pulse, silence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import DataFrame

    from gossamer.store import File, StepReport
    from gossamer.workspace import Workspace

ROW = (
    "url",
    "host",
    "title",
    "description",
    "headings",
    "anchors",
    "text",
    "language",
    "fetched_ms",
    "rank",
)
"""Columns of what goes into the index: a document with its anchors and rank."""

LOCKS = (".tantivy-writer.lock", ".tantivy-meta.lock")


@dataclass(frozen=True)
class Shard:
    """The task of building one shard from files of rows, each sorted by URL."""

    root: str
    round: int
    number: int
    rows: tuple[str, ...]
    documents: int
    attempt: str
    memory_bytes: int


def run(work: Workspace) -> StepReport:
    silence(work.root, "index")
    with work.step("index", work.round) as draft:
        fates, _ = work.scratch(findable.fates(work))
        with engine_errors():
            for row in fates.groupBy("fate").agg(F.count("*").alias("pages")).collect():
                draft.counts[row["fate"]] = row["pages"]
        files = work.scratch_files(sharded(work, fates), by=["shard"])
        written = work.engine.map_tasks(shards(work, files), build, layers.YIELD, layers.YIELD_DDL)
        draft.replace["index"] = tuple(layers.layers_of(written, work.round).values())
    return draft.done


def sharded(work: Workspace, fates: DataFrame) -> DataFrame:
    """ROW of the chosen documents and their `shard`, sorted by URL within each."""
    config = work.config.index
    said = F.filter(F.col("sources.anchor"), lambda anchor: F.length(anchor) > 0)
    anchors = work.read("inlinks").select(
        F.col("dst").alias("url"), F.slice(said, 1, config.anchors).alias("anchors")
    )
    return (
        work.read("documents")
        .join(fates.where("fate = 'indexed'"), on=["url", "round"], how="inner")
        .join(anchors, on="url", how="left")
        .select(*ROW, F.expr(f"pmod(xxhash64(url), {config.shards})").alias("shard"))
        .repartition(config.shards, "shard")
        .sortWithinPartitions("shard", "url")
    )


def shards(work: Workspace, files: Iterable[File]) -> list[Shard]:
    """The tasks for the files of `sharded`; a shard without rows has none."""
    attempt = work.store.attempt("index")
    return [
        Shard(
            work.root,
            work.round,
            number,
            tuple(file.path for file in rows),
            sum(file.rows for file in rows),
            attempt,
            work.config.index.memory_mb * 1_000_000,
        )
        for number, rows in shuffle.parts(files).items()
    ]


def build(shard: Shard) -> Iterator[layers.Row]:
    """Write one shard and list its files (rows of layers.YIELD).

    One writing thread and rows in the order of their URLs: the same rows give the same index,
    but for its random file names.
    """
    folder = f"{shard.attempt}/{shard.number:04d}-{uuid.uuid4().hex[:8]}"
    path = Path(shard.root, folder)
    pulse = Pulse(shard.root, "index", shard.round, str(shard.number), shard.documents)
    words = schema.analyzer()
    with index_errors(path):
        path.mkdir(parents=True)
        writer = schema.create(path).writer(shard.memory_bytes, 1)
        for row in shuffle.merged((f"{shard.root}/{name}" for name in shard.rows), ["url"]):
            writer.add_document(schema.document(row, words))
            pulse.beat()
        writer.commit()
        writer.wait_merging_threads()
        pulse.finish()
        for file in sorted(path.iterdir()):
            if file.name not in LOCKS:
                # The documents are counted once, in the file that names the others.
                documents = pulse.done if file.name == "meta.json" else 0
                yield layers.written(
                    "index", f"{folder}/{file.name}", documents, file.stat().st_size
                )


@contextmanager
def index_errors(path: Path) -> Iterator[None]:
    """A full disk is a StoreFull, of which tantivy tells as text."""
    try:
        with disk_errors(path):
            yield
    except ValueError as error:
        if "No space left on device" in str(error) or "Disk quota exceeded" in str(error):
            raise full(path) from error
        raise
