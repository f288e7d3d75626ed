"""Runs: files of sorted arcs, of which a task reads those that leave a range of nodes.

Each task that sorts arcs writes two runs: its arcs as the rows of their sources, and transposed, as
those of their targets. A task that encodes a range of nodes merges their rows in all runs. A run is
an array that says where a range is:

    n, rows before each chunk (n), arcs before each chunk (n), sources, starts, targets, links
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gossamer.links.bvgraph.files import CHUNK
from gossamer.links.graph import task_files
from gossamer.links.graph.arc_rows import ArcRows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.storage.task_output import Row

FORWARD, TRANSPOSED = "forward", "transposed"
"""Kinds of scratch files."""


def write_run(root: str, attempt: str, kind: str, number: int, rows: ArcRows) -> Row:
    """Write a run (see `save_array`). `kind`: FORWARD or TRANSPOSED."""
    last = rows.sources[-1] if rows.sources.size else -1
    chunks = np.arange(0, last + CHUNK + 1, CHUNK)
    before = np.searchsorted(rows.sources, chunks)
    index = [[chunks.size], before, rows.starts[before]]
    return task_files.save_array(root, attempt, kind, number, np.concatenate([*index, *rows]))


class ArcRun:
    """The rows of arcs in the file of a run."""

    def __init__(self, path: str) -> None:
        self._array = task_files.open_array(path)
        chunks = int(self._array[:1][0])
        self._rows, self._arcs = self._array[1 : 1 + 2 * chunks].reshape(2, chunks)
        """How many are before each chunk; the last ones are all."""
        sizes = 1 + 2 * chunks, self._rows[-1], self._rows[-1] + 1, self._arcs[-1]
        self._places = np.cumsum(sizes).tolist()
        """Where the columns of `ArcRows` begin."""

    def arcs_before(self, nodes: Numbers) -> Numbers:
        """Count the arcs whose sources are before each of these nodes, with which chunks begin."""
        counts: Numbers = self._arcs[np.minimum(nodes // CHUNK, self._arcs.size - 1)]
        return counts

    def part(self, first: int, last: int) -> ArcRows:
        """The rows of the nodes from `first` to before `last`."""
        chunks = np.minimum([first // CHUNK, -(-last // CHUNK)], self._rows.size - 1)
        begin, end = self._rows[chunks].tolist()
        start, stop = self._arcs[chunks].tolist()
        ends = (begin, end), (begin, end + 1), (start, stop), (start, stop)
        sources, starts, targets, links = (
            self._array[place + one : place + other]
            for place, (one, other) in zip(self._places, ends, strict=True)
        )
        return ArcRows(sources, starts - start, targets, links).part(first, last)


def range_bounds(runs: Iterable[ArcRun], nodes: int, most: int) -> list[int]:
    """Divide nodes into ranges of at most `most` arcs; return where they begin, after the first.

    A chunk of nodes is never divided.
    """
    chunks = np.arange(0, nodes + CHUNK, CHUNK)
    before = sum((run.arcs_before(chunks) for run in runs), np.zeros(chunks.size, np.int64))
    found: list[int] = []
    begin = 0
    for end in range(1, chunks.size):
        if before[end] - before[begin] > most and end - 1 > begin:
            begin = end - 1
            found.append(int(chunks[begin]))
    return found
