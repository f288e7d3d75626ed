"""Sort the arcs of each run, by their sources and by their targets, once all nodes have numbers.

An arc of a run is a pair of places among the names of the run. These are small numbers, in the
order of the numbers of nodes, so arcs are sorted by counting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gossamer.links.bvgraph.compiled import compiled
from gossamer.links.graph import arc_runs, task_files
from gossamer.links.graph.arc_rows import number_rows

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


@compiled
def rows_of_arcs(sources: Indices, targets: Indices, nodes: int) -> tuple[Numbers, Indices]:
    """Sort arcs, which may be in any order and repeat, into the rows of all nodes.

    Returns where rows begin, and their targets. This is a radix sort: by targets, then by sources.
    """
    starts = _row_starts(targets, nodes)
    free = starts[:-1].copy()
    by_target = np.empty(sources.size, np.int32)
    for n in range(sources.size):
        by_target[free[targets[n]]] = sources[n]
        free[targets[n]] += 1
    starts, rows = transpose_arcs(starts, by_target)
    return starts, _drop_repeats(starts, rows)


@compiled
def transpose_arcs(starts: Numbers, targets: Indices) -> tuple[Numbers, Indices]:
    """Transpose the rows of all nodes."""
    nodes = starts.size - 1
    begins = _row_starts(targets, nodes)
    free = begins[:-1].copy()
    sources = np.empty(targets.size, np.int32)
    for node in range(nodes):
        for n in range(starts[node], starts[node + 1]):
            sources[free[targets[n]]] = node
            free[targets[n]] += 1
    return begins, sources


@compiled
def _row_starts(ends: Indices, nodes: int) -> Numbers:
    """Where the row of each node begins, if it has an arc for each time that it is among `ends`."""
    starts = np.zeros(nodes + 1, np.int64)
    for end in ends:
        starts[end + 1] += 1
    return starts.cumsum()


@compiled
def _drop_repeats(starts: Numbers, targets: Indices) -> Indices:
    """Keep each target of a row, which are sorted, once; move the starts of rows accordingly."""
    at = begin = 0
    for row in range(starts.size - 1):
        first, end = at, starts[row + 1]
        for n in range(begin, end):
            if at == first or targets[at - 1] != targets[n]:
                targets[at] = targets[n]
                at += 1
        begin = end
        starts[row + 1] = at
    return targets[:at]
