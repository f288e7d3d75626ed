"""index: documents, inlinks and ranks become the full-text index that `serve` answers from.

Reads pages, documents, inlinks, ranks; replaces index.

What may be found, `findable.py` says. Every page that is left out is counted by reason.

The engine chooses, joins and sorts; then one task a shard streams its rows into tantivy (format:
index/schema.py), a language after the other (analysis.py). A page too short to tell its language
has that of most pages of its host. URLs are spread over the shards by hash. Cost: documents are
written once more to scratch, and read again; a task holds `index.memory_mb` and a batch of rows of
each of its files. Measured on two cores: 1,400 documents a second, of 11,500 characters each.
"""

from __future__ import annotations

import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer import findable, layers, shuffle
from gossamer.backends import disk_errors, full
from gossamer.engine import engine_errors
from gossamer.index import schema
from gossamer.index.analysis import OTHER, STEMMERS
from gossamer.monitor import Pulse, silence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import Column, DataFrame

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
    "main_text",
    "language",
    "content_type",
    "published_ms",
    "modified_ms",
    "image",
    "nosnippet",
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
    chosen = work.read("documents").join(
        fates.where("fate = 'indexed'"), on=["url", "round"], how="inner"
    )
    return (
        chosen.join(anchors, on="url", how="left")
        .join(spoken(chosen), on="host", how="left")
        .select(
            *ROW,
            tongue(F.coalesce("language", "spoken")).alias("tongue"),
            F.expr(f"pmod(xxhash64(url), {config.shards})").alias("shard"),
        )
        .repartition(config.shards, "shard")
        .sortWithinPartitions("shard", "tongue", "url")
    )


def spoken(documents: DataFrame) -> DataFrame:
    """The language `spoken` by most pages of each host: that of its pages too short to tell."""
    return (
        documents.where(F.col("language").isNotNull())
        .groupBy("host", "language")
        .agg(F.count("*").alias("pages"))
        .groupBy("host")
        .agg(F.max_by("language", F.struct("pages", "language")).alias("spoken"))
    )


def tongue(language: Column) -> Column:
    """Whose index a page of this language is in (analysis.py)."""
    known = F.when(language.isin("nb", "nn"), "no").otherwise(language)
    return F.when(known.isin(*STEMMERS), known).otherwise(OTHER)


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
    """Write one shard, a language after the other, and list its files (rows of layers.YIELD).

    One writing thread and rows in the order of their URLs: the same rows give the same index,
    but for its random file names.
    """
    folder = f"{shard.attempt}/{shard.number:04d}-{uuid.uuid4().hex[:8]}"
    pulse = Pulse(shard.root, "index", shard.round, str(shard.number), shard.documents)
    paths = (f"{shard.root}/{name}" for name in shard.rows)
    rows = shuffle.merged(paths, ["tongue", "url"])
    for language, ours in groupby(rows, key=itemgetter("tongue")):
        path = Path(shard.root, folder, language)
        before = pulse.done
        with index_errors(path):
            path.mkdir(parents=True)
            writer = schema.create(path, language).writer(shard.memory_bytes, 1)
            for row in ours:
                writer.add_document(schema.document(row))
                pulse.beat()
            writer.commit()
            writer.wait_merging_threads()
            for file in sorted(path.iterdir()):
                if file.name not in LOCKS:
                    # The documents are counted once, in the file that names the others.
                    documents = pulse.done - before if file.name == "meta.json" else 0
                    yield layers.written(
                        "index", f"{folder}/{language}/{file.name}", documents, file.stat().st_size
                    )
    pulse.finish()


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
