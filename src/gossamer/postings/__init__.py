"""postings: documents become an index that is partitioned by terms.

Reads pages, documents, ranks; replaces postings, numbered. A shard of `index` holds documents, with
all their terms; a partition here holds terms, with all their documents. The documents are the same
(findable.py), by the words of title, description and text, as they are: of all languages alike,
not stemmed. A map-reduce:

    documents ─deal─▶ map ─runs─▶ shuffle ─▶ reduce ─▶ postings
                       └─────────────────────────────▶ numbered

deal     The engine deals documents to tasks by a hash of their URLs, sorted by URL. A task counts
         its documents on from those of the tasks before it: so numbers are dense, depend on the
         URLs and `postings.partitions` alone, and neighbours on a site are neighbours in number.
map      Documents become terms, which a task combines before anything is shuffled: a run is a
         term's postings in all documents since the last runs were written ("in-mapper combining",
         Lin and Dyer, "Data-Intensive Text Processing with MapReduce", 2010, §3.1 and §4.3 f.).
         5.1 million postings of 20,000 documents in 8 tasks are 0.65 million runs.
shuffle  The engine brings the runs of a term together, by a hash of the term, in the order of
         their first documents. Tasks have disjoint ranges of numbers: that is the postings' order.
reduce   A task writes a partition (format: blocks.py), run after run, holding one block.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import accumulate, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F

from gossamer import findable, layers, shuffle
from gossamer.index import schema
from gossamer.index.analysis import plain
from gossamer.monitor import Pulse, silence
from gossamer.postings.blocks import Writer
from gossamer.postings.combiner import RUN, RUN_DDL, Combiner, pairs_of
from gossamer.postings.retrieval import norm
from gossamer.tables import NUMBERED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import tantivy
    from pyspark.sql import Column, DataFrame

    from gossamer.store import File, Layer, StepReport
    from gossamer.workspace import Workspace

TEXTS = ("title", "description", "text")
"""Columns of documents whose words are indexed."""
NUMBERED_ROWS = 4_000
"""Of a row group: what is read for the URL of one document."""


@dataclass(frozen=True)
class Documents:
    """A map task: documents, sorted by URL in each file, and the number of the first of them."""

    root: str
    round: int
    part: int
    files: list[str]
    first: int
    count: int
    runs: str
    numbered: str


@dataclass(frozen=True)
class Terms:
    """A reduce task: the runs of a partition's terms, sorted by term and document in each file."""

    root: str
    part: int
    parts: int
    files: list[str]
    attempt: str


def run(work: Workspace) -> StepReport:
    silence(work.root, "postings")
    with work.step("postings", work.round) as draft:
        found = work.engine.map_tasks(mappers(work), collect, layers.YIELD, layers.YIELD_DDL)
        made = layers.layers_of(found, work.round)
        tasks = reducers(work, made.get("scratch"))
        found += work.engine.map_tasks(tasks, write, layers.YIELD, layers.YIELD_DDL)
        made = layers.layers_of(found, work.round)
        for dataset in ("postings", "numbered"):
            draft.replace[dataset] = (made[dataset],) if dataset in made else ()
        draft.counts.update(layers.counts_of(found))
    return draft.done


def mappers(work: Workspace) -> list[Documents]:
    """Deals the documents that may be found to tasks."""
    chosen = findable.fates(work).where("fate = 'indexed'").select("url", "round")
    dealt = (
        work.read("documents")
        .join(chosen, on=["url", "round"], how="inner")
        .select("url", *TEXTS, _part("url", work))
    )
    shares = shuffle.parts(_sorted(work, dealt, "url"))
    counts = [sum(file.rows for file in files) for files in shares.values()]
    attempts = work.scratch_attempt(), work.store.attempt("numbered")
    return [
        Documents(work.root, work.round, part, _paths(work, files), first, count, *attempts)
        for (part, files), count, first in zip(
            shares.items(), counts, accumulate(counts, initial=0), strict=False
        )
    ]


def collect(task: Documents) -> Iterator[layers.Row]:
    """Map: write runs, and the documents with their numbers; list and count them."""
    pulse = Pulse(task.root, "postings", task.round, str(task.part), task.count)
    runs = layers.ParquetWriter(task.root, "scratch", task.runs, schema=RUN)
    name = f"{task.part:04d}-"
    numbered = layers.ParquetWriter(task.root, "numbered", task.numbered, name=name)
    words, combiner = plain(), Combiner()
    rows: list[dict[str, Any]] = []
    for number, row in enumerate(shuffle.merged(task.files, ["url"]), task.first):
        counts = Counter(terms(row, words))
        combiner.add(number, counts)
        rows.append(
            {
                "number": number,
                "url": row["url"],
                "words": counts.total(),
                "norm": norm(counts.values()),
            }
        )
        if len(rows) == NUMBERED_ROWS:
            numbered.write(pa.Table.from_pylist(rows, NUMBERED.schema))
            rows.clear()
        if combiner.full:
            runs.write(combiner.take())
        pulse.beat()
    numbered.write(pa.Table.from_pylist(rows, NUMBERED.schema))
    runs.write(combiner.take())
    pulse.finish()
    yield from (*runs.close(), *numbered.close(), *layers.counted({"documents": task.count}))


def terms(row: Mapping[str, Any], words: tantivy.TextAnalyzer) -> Iterator[str]:
    """The terms of a document, as often as it has them."""
    for name in TEXTS:
        yield from words.analyze(schema.composed(row[name]))


def reducers(work: Workspace, runs: Layer | None) -> list[Terms]:
    """Brings the runs of each term together, for the task of its partition."""
    if runs is None:
        return []
    written = work.engine.read(_paths(work, runs.files), RUN_DDL)
    shuffled = written.select("*", _part("term", work))
    attempt, parts = work.store.attempt("postings"), work.config.postings.partitions
    return [
        Terms(work.root, part, parts, _paths(work, of_part), attempt)
        for part, of_part in shuffle.parts(_sorted(work, shuffled, "term", "first")).items()
    ]


def write(task: Terms) -> Iterator[layers.Row]:
    """Reduce: write a partition; list it, and count terms and postings.

    A term's row begins with the number of its documents, so the counts of its runs are read first.
    """
    partition = Writer(task.root, task.attempt, task.part, task.parts)
    counts = shuffle.merged(task.files, ["term", "first"], ["term", "first", "count"])
    runs = shuffle.merged(task.files, ["term", "first"])
    done: Counter[str] = Counter()
    by_term = itemgetter("term")
    for (term, sizes), (_, its) in zip(
        groupby(counts, by_term), groupby(runs, by_term), strict=True
    ):
        df = sum(size["count"] for size in sizes)
        partition.write(term, df, (pairs_of(run["pairs"]) for run in its))
        done.update(terms=1, postings=df)
    yield from (*partition.close(), *layers.counted(done))


def _part(key: str, work: Workspace) -> Column:
    """The task or partition of a URL or term, as `blocks.partition_of` has it."""
    return F.expr(f"pmod(xxhash64({key}), {work.config.postings.partitions})").alias("part")


def _sorted(work: Workspace, rows: DataFrame, *order: str) -> tuple[File, ...]:
    dealt = rows.repartition(work.config.postings.partitions, "part")
    return work.scratch_files(dealt.sortWithinPartitions("part", *order), by=["part"])


def _paths(work: Workspace, files: Iterable[File]) -> list[str]:
    return [f"{work.root}/{file.path}" for file in files]
