"""Arcs become the files of a graph.

Nodes are shared among tasks by ranges of whole chunks, so that each task holds at most as many arcs
as fit into `graph.memory_mb`, or a chunk. A task merges the rows of its nodes in all runs and
writes the files of a graph; the bits of all parts are joined in the end.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

import pyarrow as pa

from gossamer.links.bvgraph.files import CHUNK, BvGraph, Csr, Writer
from gossamer.links.graph import runs
from gossamer.links.graph.host_links import firsts
from gossamer.links.graph.hosts import between
from gossamer.links.graph.numbering import MEGABYTE
from gossamer.storage import task_output
from gossamer.storage.store import File
from gossamer.storage.task_output import ParquetWriter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gossamer.links.graph.runs import Files
    from gossamer.state.workspace import Workspace

PARTS = "parts"
LINKS = pa.schema([("links", pa.int64())])
ARC_BYTES = 65
"""Memory that a task takes per arc; 60 bytes were measured. A chunk of nodes
is never divided."""


@dataclass(frozen=True)
class Range:
    """A task: encode the rows of the nodes from `first` to before `last`."""

    root: str
    number: int
    files: tuple[str, ...]
    first: int
    last: int
    target: str
    hosts: tuple[str, ...]
    scratch: str
    counted: bool


@dataclass(frozen=True)
class Encoded:
    """The files of a graph, its number of arcs, and runs of the arcs between its hosts."""

    files: Sequence[File]
    arcs: int
    between_hosts: Files


def write(
    work: Workspace,
    arcs: Sequence[File],
    nodes: int,
    base: str,
    *,
    hosts: Sequence[File] = (),
    counted: bool = False,
) -> Encoded:
    """Write the graph of the arcs in runs.

    `base`: the path of the files in the crawl, without an ending. `hosts`: the names of hosts, if
    the arcs between them are wanted. `counted`: write how many links each arc is.
    """
    most = work.config.graph.memory_mb * MEGABYTE // ARC_BYTES
    paths = tuple(f"{work.root}/{file.path}" for file in arcs)
    begins = [0, *runs.bounds(map(runs.Run, paths), nodes, most)]
    scratch = work.scratch_attempt()
    tasks = [
        Range(
            work.root,
            number,
            paths,
            first,
            last,
            base,
            tuple(f"{work.root}/{file.path}" for file in hosts),
            scratch,
            counted,
        )
        for number, (first, last) in enumerate(zip(begins, [*begins[1:], nodes], strict=True))
    ]
    made = runs.mapped(work, tasks, encode)
    writer = Writer(f"{work.root}/{base}")
    for file in made[PARTS]:
        writer.join(BvGraph(f"{work.root}/{PurePath(file.path).with_suffix('')}"))
    folder = PurePath(base).parent
    files = [File(f"{folder}/{file.name}", writer.arcs, *file[1:]) for file in writer.close()]
    return Encoded([*files, *made["graph"]], writer.arcs, made)


def encode(task: Range) -> Iterator[task_output.Row]:
    """Write the files of a part, as a graph by itself."""
    rows = runs.merged([runs.Run(path) for path in task.files], task.first, task.last)
    base = f"{task.root}/{task.scratch}/{task.number:06}-{uuid.uuid4().hex}"
    writer = Writer(base, first=task.first)
    for first in range(0, task.last - task.first, CHUNK):
        starts = rows.starts[first : first + CHUNK + 1]
        writer.append(Csr(starts - starts[0], rows.targets[starts[0] : starts[-1]]))
    name, size, xxh3 = writer.close()[0]
    yield task_output.file_row(PARTS, f"{task.scratch}/{name}", writer.arcs, size, xxh3)
    if task.hosts:
        found = between(rows.starts, rows.targets, firsts(task.hosts), task.first)
        yield runs.write(task.root, task.scratch, runs.FORWARD, task.number, found)
        turned = runs.transposed(found)
        yield runs.write(task.root, task.scratch, runs.TRANSPOSED, task.number, turned)
    if task.counted and rows.links.size:
        attempt, name = PurePath(task.target).parent, PurePath(task.target).name
        file = ParquetWriter(
            task.root, "graph", str(attempt), name=f"{name}-links-{task.number:04}-", schema=LINKS
        )
        file.write(pa.table({"links": rows.links}))
        yield from file.close()
