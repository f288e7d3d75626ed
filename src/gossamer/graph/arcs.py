"""Arcs become the files of a graph and of its transpose.

Arcs are shared among tasks by ranges of whole chunks of their source, so that each task holds at
most as many of them as fit into `graph.memory_mb`, or a chunk. A task sorts its arcs and writes the
files of a graph; the bits of all parts are joined in the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import functions as F

from gossamer import sorted_parts, task_output
from gossamer.bvgraph.files import CHUNK, BvGraph, Csr, Writer
from gossamer.graph.hosts import between, firsts
from gossamer.graph.numbering import MEGABYTE, part_of
from gossamer.store import File
from gossamer.task_output import ParquetWriter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import DataFrame

    from gossamer.bvgraph.codes import Numbers
    from gossamer.workspace import Workspace

LINKS = pa.schema([("links", pa.int64())])
HOST_ARCS = pa.schema([("src", pa.int64()), ("dst", pa.int64()), *LINKS])
HOST_ARCS_DDL = "src long, dst long, links long"
ARC_BYTES = 125
"""Memory that a task takes per arc, 123 bytes in bench/graph_memory.py. A chunk of nodes
is never divided."""


@dataclass(frozen=True)
class Rows:
    """A task: encode the rows of the nodes from `first` to before `last`."""

    root: str
    files: tuple[str, ...]
    ends: tuple[str, str]
    first: int
    last: int
    nodes: int
    base: str
    target: str
    hosts: tuple[str, ...]
    scratch: str
    counts: str
    """The name of the file of counts, without its ending; empty if arcs are not counted."""


@dataclass(frozen=True)
class Encoded:
    """The files of a graph, its number of arcs, and the arcs between its hosts (HOST_ARCS)."""

    files: Sequence[File]
    arcs: int
    between_hosts: DataFrame


def write(
    work: Workspace,
    arcs: DataFrame,
    nodes: int,
    ends: tuple[str, str],
    base: str,
    *,
    hosts: Sequence[File] = (),
    counted: bool = False,
) -> Encoded:
    """Write the graph of arcs from the first column of `ends` to the second.

    `base`: the path of the files in the crawl, without an ending. `hosts`: the names of hosts, if
    the arcs between them are wanted, which are counted by tasks, and may be in several rows.
    `counted`: add up the column `links` of each arc, and write the sums.
    """
    bounds = _bounds(arcs, ends[0], work.config.graph.memory_mb * MEGABYTE // ARC_BYTES)
    dealt = arcs.withColumn("part", part_of(F.col(ends[0]), bounds))
    shares = sorted_parts.parts(
        work.scratch_files(dealt.repartition(len(bounds) + 1, "part"), by=["part"])
    )
    scratch = work.scratch_attempt()
    ranges = zip([0, *bounds], [*bounds, nodes], strict=True)
    tasks = [
        Rows(
            work.root,
            tuple(file.path for file in shares.get(part, ())),
            ends,
            first,
            last,
            nodes,
            f"{scratch}/{part:04}",
            base,
            tuple(f"{work.root}/{file.path}" for file in hosts),
            scratch,
            f"{PurePath(base).name}-links-{part:04}-" if counted else "",
        )
        for part, (first, last) in enumerate(ranges)
    ]
    made = work.engine.map_tasks(tasks, encode, task_output.YIELD, task_output.YIELD_DDL)
    path = Path(work.root, base)
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = Writer(path)
    for task in tasks:
        writer.join(BvGraph(Path(work.root, task.base)))
    folder = PurePath(base).parent
    layers = task_output.layers_of(made, work.round)
    found = layers["scratch"].files if "scratch" in layers else ()
    counts = layers["graph"].files if "graph" in layers else ()
    files = [File(f"{folder}/{file.name}", writer.arcs, *file[1:]) for file in writer.close()]
    return Encoded(
        [*files, *counts],
        writer.arcs,
        work.engine.read([f"{work.root}/{file.path}" for file in found], HOST_ARCS_DDL),
    )


def encode(task: Rows) -> Iterator[task_output.Row]:
    """Write the files of a part, as a graph by itself."""
    sources, targets, links = _distinct(task)
    base = Path(task.root, task.base)
    base.parent.mkdir(parents=True, exist_ok=True)
    writer = Writer(base, first=task.first)
    for first in range(task.first, task.last, CHUNK):
        ends = np.arange(first, min(first + CHUNK, task.last) + 1)
        starts = np.searchsorted(sources, ends)
        writer.append(Csr(starts - starts[0], targets[starts[0] : starts[-1]]))
    writer.close()
    yield from task_output.counted({"arcs": writer.arcs})
    if task.hosts:
        found = between(sources, targets, firsts(task.hosts))
        file = ParquetWriter(task.root, "scratch", task.scratch, schema=HOST_ARCS)
        file.write(pa.table(found._asdict()))
        yield from file.close()
    if task.counts and links.size:
        attempt = str(PurePath(task.target).parent)
        file = ParquetWriter(task.root, "graph", attempt, name=task.counts, schema=LINKS)
        file.write(pa.table({"links": links}))
        yield from file.close()


def _distinct(task: Rows) -> tuple[Numbers, Numbers, Numbers]:
    """The arcs of a part, each once, by source and then by target, and how many links they are."""
    columns: list[Numbers] = [np.empty(0, np.int64)]
    counts: list[Numbers] = [np.empty(0, np.int64)]
    for path in task.files:
        table = pq.read_table(f"{task.root}/{path}")
        sources, targets = (table.column(end).to_numpy() for end in task.ends)
        columns.append((sources - task.first) * task.nodes + targets)
        if task.counts:
            counts.append(table.column("links").to_numpy())
    arcs, links = np.concatenate(columns), np.concatenate(counts)
    if task.counts:
        order = np.argsort(arcs)
        arcs, begins = np.unique(arcs[order], return_index=True)
        links = np.add.reduceat(links[order], begins) if arcs.size else links
    else:
        arcs = np.unique(arcs)
    sources, targets = np.divmod(arcs, max(task.nodes, 1))
    return sources + task.first, targets, links


def _bounds(arcs: DataFrame, source: str, most: int) -> Sequence[int]:
    """The nodes with which parts of `most` arcs begin, after the first: multiples of CHUNK."""
    chunk = (F.col(source) / CHUNK).cast("long")
    counts = arcs.groupBy(chunk.alias("chunk")).agg(F.count("*").alias("arcs")).collect()
    bounds: list[int] = []
    held = 0
    for row in sorted(counts, key=lambda row: row["chunk"]):
        held += row["arcs"]
        if held > most and row["chunk"]:
            bounds.append(row["chunk"] * CHUNK)
            held = row["arcs"]
    return bounds
