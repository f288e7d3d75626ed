"""Sort the arcs of each run, by their sources and by their targets, once all nodes have numbers.

An arc of a run is a pair of places among the names of the run. These are small numbers, in the
order of the numbers of nodes, so arcs are sorted by counting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gossamer.links.graph import arc_runs, task_files
from gossamer.links.graph.arc_rows import number_rows
from gossamer.native import are_places, are_starts, native

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.links.graph.numbering import NumberedNodes, NumbersOfRun
    from gossamer.links.graph.task_files import Files
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import File
    from gossamer.storage.task_output import Row

    Indices = npt.NDArray[np.int32]


@dataclass(frozen=True)
class RunToSort:
    """A task: sort the arcs of a run."""

    root: str
    number: int
    places: str
    """The file of its links, as places among its names."""
    numbers: NumbersOfRun
    scratch: str


def sort_arcs(work: Workspace, nodes: NumberedNodes, places: Sequence[File]) -> Files:
    """Write the runs of the arcs between pages, from the files that `name_ends` wrote."""
    scratch = work.scratch_attempt()
    tasks = [
        RunToSort(work.root, number, file.path, numbers, scratch)
        for number, (file, numbers) in enumerate(zip(places, nodes.of_runs, strict=True))
    ]
    return task_files.map_to_files(work, tasks, sort_run)


def sort_run(task: RunToSort) -> Iterator[Row]:
    """Write the arcs of a run as rows of numbers, forward and transposed."""
    numbers = task.numbers.load(task.root)
    sources, targets = task_files.load_array(f"{task.root}/{task.places}")
    rows = rows_of_arcs(sources, targets, numbers.size)
    for kind, each in ((arc_runs.FORWARD, rows), (arc_runs.TRANSPOSED, transpose_arcs(*rows))):
        numbered = number_rows(numbers, *each)
        yield arc_runs.write_run(task.root, task.scratch, kind, task.number, numbered)


def rows_of_arcs(sources: Indices, targets: Indices, nodes: int) -> tuple[Numbers, Indices]:
    """Sort arcs, which may be in any order and repeat, into the rows of all nodes.

    Returns where rows begin, and their targets.
    """
    starts, rows = np.empty(nodes + 1, np.int64), np.empty(sources.size, np.int32)
    count = fill_rows_of_arcs(sources, targets, starts, rows)
    return starts, rows[:count]


@native
def fill_rows_of_arcs(sources: Indices, targets: Indices, starts: Numbers, rows: Indices) -> int:
    """Write where rows begin, and their targets; return the number of different arcs.

    In C, this is a radix sort: by targets, then by sources.
    """
    nodes = len(starts) - 1
    if not are_places(sources, nodes) or not are_places(targets, nodes):
        raise ValueError("fill_rows_of_arcs: a node that does not exist")
    arcs = np.sort(np.asarray(sources, np.int64) * nodes + np.asarray(targets))
    arcs = arcs[np.diff(arcs, prepend=-1) > 0]  # np.unique takes ten times as long
    np.asarray(starts)[:] = np.searchsorted(arcs, np.arange(nodes + 1) * nodes)
    np.asarray(rows)[: arcs.size] = arcs % max(nodes, 1)
    return arcs.size


def transpose_arcs(starts: Numbers, targets: Indices) -> tuple[Numbers, Indices]:
    """Transpose the rows of all nodes."""
    begins, sources = np.empty_like(starts), np.empty_like(targets)
    fill_transposed(starts, targets, begins, sources)
    return begins, sources


@native
def fill_transposed(starts: Numbers, targets: Indices, begins: Numbers, sources: Indices) -> None:
    """Write where the transposed rows begin, and the sources of each."""
    nodes = len(starts) - 1
    if not are_starts(starts, len(targets)) or not are_places(targets, nodes):
        raise ValueError("fill_transposed: rows that are not inside their arrays")
    counts = np.bincount(np.asarray(targets), minlength=nodes)
    np.asarray(begins)[:] = np.append(0, counts.cumsum())
    nodes_of_arcs = np.repeat(np.arange(nodes), np.diff(starts))
    np.asarray(sources)[:] = nodes_of_arcs[np.argsort(targets, kind="stable")]
