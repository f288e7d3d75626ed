"""The step `postings`: map documents to runs of postings, and reduce these to partitions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import accumulate, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F

from gossamer.index.format import selection
from gossamer.index.format.analysis import plain_analyzer
from gossamer.index.format.normalization import compose_characters
from gossamer.index.postings.blocks import PartitionWriter
from gossamer.index.postings.combiner import RUN, RUN_DDL, Combiner, decode_pairs
from gossamer.index.postings.retrieval import document_norm
from gossamer.state import sorted_rows
from gossamer.state.heartbeats import Heartbeat, clear_heartbeats
from gossamer.storage import task_output
from gossamer.tables import NUMBERED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pyspark.sql import Column, DataFrame

    from gossamer.index.format.analysis import Terms
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import File, Layer, StepReport

TEXT_COLUMNS = ("title", "description", "text")
"""Columns of documents whose words are indexed."""
NUMBERED_ROWS = 4_000
"""Rows per row group, which is what must be read for the URL of one document."""


@dataclass(frozen=True)
class MapTask:
    """A map task: files of documents sorted by URL, and the number of the first document."""

    root: str
    round: int
    part: int
    files: list[str]
    first: int
    count: int
    runs: str
    numbered: str


@dataclass(frozen=True)
class ReduceTask:
    """A reduce task: files of the runs of a partition's terms, sorted by term and document."""

    root: str
    part: int
    parts: int
    files: list[str]
    attempt: str


def run(work: Workspace) -> StepReport:
    clear_heartbeats(work.root, "postings")
    with work.step("postings", work.round) as draft:
        found = work.engine.map_tasks(
            map_tasks(work), map_documents, task_output.YIELD, task_output.YIELD_DDL
        )
        made = task_output.layers_of(found, work.round)
        tasks = reduce_tasks(work, made.get("scratch"))
        found += work.engine.map_tasks(
            tasks, reduce_terms, task_output.YIELD, task_output.YIELD_DDL
        )
        made = task_output.layers_of(found, work.round)
        for dataset in ("postings", "numbered"):
            draft.replace[dataset] = (made[dataset],) if dataset in made else ()
        draft.counts.update(task_output.counts_of(found))
    return draft.done


def map_tasks(work: Workspace) -> list[MapTask]:
    """The map tasks, which share the documents that can be found."""
    chosen = (
        selection.standing_dispositions(work)
        .where("disposition = 'indexed'")
        .select("url", "round")
    )
    dealt = (
        work.read("documents")
        .join(chosen, on=["url", "round"], how="inner")
        .select("url", *TEXT_COLUMNS, _part("url", work))
    )
    shares = sorted_rows.files_of_parts(_sort_by_part(work, dealt, "url"))
    counts = [sum(file.rows for file in files) for files in shares.values()]
    attempts = work.scratch_attempt(), work.store.attempt("numbered")
    return [
        MapTask(work.root, work.round, part, _paths(work, files), first, count, *attempts)
        for (part, files), count, first in zip(
            shares.items(), counts, accumulate(counts, initial=0), strict=False
        )
    ]


def map_documents(task: MapTask) -> Iterator[task_output.Row]:
    """Map: write the runs and the numbered documents, and list their files."""
    heartbeat = Heartbeat(task.root, "postings", task.round, str(task.part), task.count)
    runs = task_output.ParquetWriter(task.root, "scratch", task.runs, schema=RUN)
    name = f"{task.part:04d}-"
    numbered = task_output.ParquetWriter(task.root, "numbered", task.numbered, name=name)
    words, combiner = plain_analyzer(), Combiner()
    rows: list[dict[str, Any]] = []
    for number, row in enumerate(sorted_rows.merge_sorted(task.files, ["url"]), task.first):
        counts = Counter(document_terms(row, words))
        combiner.add(number, counts)
        rows.append(
            {
                "number": number,
                "url": row["url"],
                "words": counts.total(),
                "norm": document_norm(counts.values()),
            }
        )
        if len(rows) == NUMBERED_ROWS:
            numbered.write(pa.Table.from_pylist(rows, NUMBERED.schema))
            rows.clear()
        if combiner.full:
            runs.write(combiner.take())
        heartbeat.beat()
    numbered.write(pa.Table.from_pylist(rows, NUMBERED.schema))
    runs.write(combiner.take())
    heartbeat.finish()
    yield from (
        *runs.close(),
        *numbered.close(),
        *task_output.count_rows({"documents": task.count}),
    )


def document_terms(row: Mapping[str, Any], words: Terms) -> Iterator[str]:
    """The terms of a document, each as often as it occurs."""
    for name in TEXT_COLUMNS:
        yield from words.analyze(compose_characters(row[name]))


def reduce_tasks(work: Workspace, runs: Layer | None) -> list[ReduceTask]:
    """The reduce tasks, each with all runs of its partition's terms."""
    if runs is None:
        return []
    written = work.engine.read(_paths(work, runs.files), RUN_DDL)
    shuffled = written.select("*", _part("term", work))
    attempt, parts = work.store.attempt("postings"), work.config.postings.partitions
    return [
        ReduceTask(work.root, part, parts, _paths(work, of_part), attempt)
        for part, of_part in sorted_rows.files_of_parts(
            _sort_by_part(work, shuffled, "term", "first")
        ).items()
    ]


def reduce_terms(task: ReduceTask) -> Iterator[task_output.Row]:
    """Reduce: write a partition, list its file, and count terms and postings.

    A term's rows contain its document frequency, so the counts of its runs are read first.
    """
    partition = PartitionWriter(task.root, task.attempt, task.part, task.parts)
    counts = sorted_rows.merge_sorted(task.files, ["term", "first"], ["term", "first", "count"])
    runs = sorted_rows.merge_sorted(task.files, ["term", "first"])
    done: Counter[str] = Counter()
    by_term = itemgetter("term")
    for (term, sizes), (_, its) in zip(
        groupby(counts, by_term), groupby(runs, by_term), strict=True
    ):
        df = sum(size["count"] for size in sizes)
        partition.write(term, df, (decode_pairs(run["pairs"]) for run in its))
        done.update(terms=1, postings=df)
    yield from (*partition.close(), *task_output.count_rows(done))


def _part(key: str, work: Workspace) -> Column:
    """The task of a URL, or the partition of a term as in `blocks.partition_of`."""
    return F.expr(f"pmod(xxhash64({key}), {work.config.postings.partitions})").alias("part")


def _sort_by_part(work: Workspace, rows: DataFrame, *order: str) -> tuple[File, ...]:
    dealt = rows.repartition(work.config.postings.partitions, "part")
    return work.scratch_files(dealt.sortWithinPartitions("part", *order), by=["part"])


def _paths(work: Workspace, files: Iterable[File]) -> list[str]:
    return [f"{work.root}/{file.path}" for file in files]
