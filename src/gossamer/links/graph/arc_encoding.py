"""Encode sorted arcs: they become the files of a graph.

Nodes are shared among tasks by ranges of whole chunks, so that each task holds at most as many arcs
as fit into `graph.memory_mb`, or a chunk. A task merges the rows of its nodes in all runs and
writes the files of a graph; the bits of all parts are joined in the end.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING

import pyarrow as pa

from gossamer.links.bvgraph.files import CHUNK, BvGraph, Csr, GraphWriter
from gossamer.links.graph import arc_runs, task_files
from gossamer.links.graph.arc_rows import merge_rows, transpose_rows
from gossamer.links.graph.arc_runs import FORWARD, TRANSPOSED, ArcRun
from gossamer.links.graph.host_links import first_pages_of
from gossamer.links.graph.hosts import arcs_between_hosts
from gossamer.links.graph.numbering import MEGABYTE
from gossamer.storage import task_output
from gossamer.storage.store import File
from gossamer.storage.task_output import ParquetWriter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.links.graph.arc_rows import ArcRows
    from gossamer.links.graph.task_files import Files
    from gossamer.state.workspace import Workspace
    from gossamer.storage.task_output import Row

PARTS = "parts"
"""A kind of scratch files: the rows of ranges of nodes."""
LINKS = pa.schema([("links", pa.int64())])
ARC_BYTES = 65
"""Memory that a task takes per arc; 60 bytes were measured. A chunk of nodes is never divided."""


@dataclass(frozen=True)
class NodeRange:
    """A task: encode the rows of the nodes from `first` to before `last`."""

    root: str
    number: int
    runs: tuple[str, ...]
    first: int
    last: int
    target: str
    hosts: tuple[str, ...]
    scratch: str
    counts_links: bool


@dataclass(frozen=True)
class EncodedGraph:
    """The files of a graph, its number of arcs, and runs of the arcs between its hosts."""

    files: Sequence[File]
    arcs: int
    between_hosts: Files


def write_graph(
    work: Workspace,
    runs: Sequence[File],
    nodes: int,
    base: str,
    *,
    hosts: Sequence[File] = (),
    counts_links: bool = False,
) -> EncodedGraph:
    """Write the graph of the arcs in runs.

    `base`: the path of the files in the crawl, without an ending. `hosts`: the names of hosts, if
    the arcs between them are wanted. `counts_links`: write how many links each arc is.
    """
    most = work.config.graph.memory_mb * MEGABYTE // ARC_BYTES
    paths, of_hosts = (
        tuple(f"{work.root}/{file.path}" for file in files) for files in (runs, hosts)
    )
    firsts = [0, *arc_runs.range_bounds(map(ArcRun, paths), nodes, most)]
    scratch = work.scratch_attempt()
    tasks = [
        NodeRange(work.root, number, paths, *span, base, of_hosts, scratch, counts_links)
        for number, span in enumerate(pairwise([*firsts, nodes]))
    ]
    made = task_files.map_to_files(work, tasks, encode_range)
    writer = GraphWriter(f"{work.root}/{base}")
    for file in made[PARTS]:
        writer.join(BvGraph(f"{work.root}/{PurePath(file.path).with_suffix('')}"))
    folder = PurePath(base).parent
    files = [File(f"{folder}/{file.name}", writer.arcs, *file[1:]) for file in writer.close()]
    return EncodedGraph([*files, *made["graph"]], writer.arcs, made)


def encode_range(task: NodeRange) -> Iterator[Row]:
    """Write the files of a part, as a graph by itself."""
    parts = [ArcRun(path).part(task.first, task.last) for path in task.runs]
    rows = merge_rows(parts, task.first, task.last)
    yield _write_part(task, rows)
    if task.hosts:
        first_pages = first_pages_of(task.hosts)
        forward = arcs_between_hosts(rows.starts, rows.targets, first_pages, task.first)
        for kind, each in ((FORWARD, forward), (TRANSPOSED, transpose_rows(forward))):
            yield arc_runs.write_run(task.root, task.scratch, kind, task.number, each)
    if task.counts_links and rows.links.size:
        yield from _write_link_counts(task, rows.links)


def _write_part(task: NodeRange, rows: ArcRows) -> Row:
    base = f"{task.root}/{task.scratch}/{task.number:06}-{uuid.uuid4().hex}"
    writer = GraphWriter(base, first=task.first)
    for first in range(0, task.last - task.first, CHUNK):
        starts = rows.starts[first : first + CHUNK + 1]
        writer.append(Csr(starts - starts[0], rows.targets[starts[0] : starts[-1]]))
    name, size, xxh3 = writer.close()[0]
    return task_output.file_row(PARTS, f"{task.scratch}/{name}", writer.arcs, size, xxh3)


def _write_link_counts(task: NodeRange, links: Numbers) -> list[Row]:
    """Write how many links each arc is, in the order of the arcs."""
    attempt, name = PurePath(task.target).parent, PurePath(task.target).name
    file = ParquetWriter(
        task.root, "graph", str(attempt), name=f"{name}-links-{task.number:04}-", schema=LINKS
    )
    file.write(pa.table({"links": links}))
    return file.close()
