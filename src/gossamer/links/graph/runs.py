"""Sorted arcs in scratch files, of which a task reads those that leave a range of nodes.

Each task that makes arcs writes a run: its arcs as the rows of their sources, and transposed, as
those of their targets. A task that encodes a range of nodes merges their rows in all runs. Files
are arrays of numpy, of which only that range is read: they are mapped into memory, or fetched by
ranges if they are objects. A run says where a range is:

    n, rows before each chunk (n), arcs before each chunk (n), sources, starts, targets, links
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from gossamer.links.bvgraph.compiled import compiled
from gossamer.links.bvgraph.files import CHUNK
from gossamer.storage import files, task_output
from gossamer.storage.copies import local
from gossamer.storage.errors import disk_errors
from gossamer.storage.objects.bucket import is_object_url
from gossamer.storage.places import local_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy.typing as npt

    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import File
    from gossamer.storage.task_output import Row

    Files = Mapping[str, tuple[File, ...]]
    """The files of each kind."""
    Indices = npt.NDArray[np.int32]

Task = TypeVar("Task")
FORWARD, TRANSPOSED = "forward", "transposed"
_NONE = np.empty(0, np.int64)


class Rows(NamedTuple):
    """Rows of arcs: those of `sources[n]` lead to `targets[starts[n] : starts[n + 1]]`.

    Sources are ascending, and so are the targets of each.
    """

    sources: Numbers
    starts: Numbers
    targets: Numbers
    links: Numbers
    """How many links each arc is; empty if they are not counted."""

    def part(self, first: int, last: int) -> Rows:
        """The rows of the nodes from `first` to before `last`."""
        begin, end = np.searchsorted(self.sources, [first, last])
        starts = self.starts[begin : end + 1]
        arcs = slice(starts[0], starts[-1])
        return Rows(
            self.sources[begin:end], starts - starts[0], self.targets[arcs], self.links[arcs]
        )


def of_arcs(sources: Numbers, targets: Numbers, links: Numbers = _NONE) -> Rows:
    """Rows of arcs that are in the order of their sources, and then of their targets."""
    begins = np.flatnonzero(np.diff(sources, prepend=-1))
    return Rows(sources[begins], np.append(begins, sources.size), targets, links)


def of_nodes(numbers: Numbers, starts: Numbers, targets: Indices) -> Rows:
    """Rows of all nodes, which get these numbers, ascending ones."""
    is_source = np.diff(starts) > 0
    begins = np.append(starts[:-1][is_source], starts[-1])
    return Rows(numbers[is_source], begins, numbers[targets], _NONE)


def transposed(rows: Rows) -> Rows:
    sources = np.repeat(rows.sources, np.diff(rows.starts))
    order = np.argsort(rows.targets, kind="stable")
    links = rows.links[order] if rows.links.size else rows.links
    return of_arcs(rows.targets[order], sources[order], links)


def mapped(work: Workspace, tasks: Sequence[Task], write: Callable[[Task], Iterable[Row]]) -> Files:
    """The files that tasks write, of each kind in the order of the numbers of the tasks.

    In a small graph each step is one task, for which a worker would load numba in 0.3 s.
    """
    schema, ddl = task_output.YIELD, task_output.YIELD_DDL
    return files_of(work.engine.map_tasks(tasks, write, schema, ddl, at_home=True))


def files_of(made: Iterable[Row]) -> Files:
    """The files among the rows that tasks yield."""
    layers = task_output.layers_of(made, 0)
    return defaultdict(tuple, {name: layer.files for name, layer in layers.items()})


def save(root: str, attempt: str, name: str, number: int, array: Numbers | Indices) -> Row:
    """Write an array; return its file as a row of `task_output.YIELD`, with the dataset `name`.

    Files of a name are in the order of the numbers of their tasks when their paths are sorted.
    """
    path = f"{attempt}/{name}-{number:06}-{uuid.uuid4().hex}.npy"
    file = files.create(f"{root}/{path}")
    with disk_errors(f"{root}/{path}"):
        np.lib.format.write_array(file, array, allow_pickle=False)
        file.close()
    return task_output.file_row(name, path, array.shape[-1], file.size, "")


def load(path: str) -> Numbers:
    """An array, mapped into memory."""
    found: Numbers = np.load(local(path), mmap_mode="r")
    return found


def sliced(path: str) -> Numbers | _Remote:
    """An array of one dimension, of which only the slices that are used are read."""
    return _Remote(path) if is_object_url(local_path(path)) else load(path)


class _Remote:
    """An array in an object."""

    def __init__(self, url: str) -> None:
        self._file = files.open_file(url)
        np.lib.format.read_magic(self._file)
        (self._size,), _, self._type = np.lib.format.read_array_header_1_0(self._file)
        self._first = self._file.tell()

    def __getitem__(self, part: slice) -> Numbers:
        begin, end, _ = part.indices(self._size)
        self._file.seek(self._first + begin * self._type.itemsize)
        data = self._file.read(max(end - begin, 0) * self._type.itemsize)
        return np.frombuffer(data, self._type)


def write(root: str, attempt: str, name: str, number: int, rows: Rows) -> Row:
    """Write a run as `save` does."""
    last = rows.sources[-1] if rows.sources.size else -1
    chunks = np.arange(0, last + CHUNK + 1, CHUNK)
    before = np.searchsorted(rows.sources, chunks)
    index = [[chunks.size], before, rows.starts[before]]
    return save(root, attempt, name, number, np.concatenate([*index, *rows]))


class Run:
    """The rows of arcs in a file."""

    def __init__(self, path: str) -> None:
        self._array = sliced(path)
        chunks = int(self._array[:1][0])
        self._rows, self._arcs = self._array[1 : 1 + 2 * chunks].reshape(2, chunks)
        """How many are before each chunk; the last ones are all."""
        sizes = 1 + 2 * chunks, self._rows[-1], self._rows[-1] + 1, self._arcs[-1]
        self._places = np.cumsum(sizes).tolist()
        """Where the columns of `Rows` begin."""

    def before(self, nodes: Numbers) -> Numbers:
        """How many arcs the sources before each of these nodes have, with which chunks begin."""
        counts: Numbers = self._arcs[np.minimum(nodes // CHUNK, self._arcs.size - 1)]
        return counts

    def part(self, first: int, last: int) -> Rows:
        """The rows of the nodes from `first` to before `last`."""
        chunks = np.minimum([first // CHUNK, -(-last // CHUNK)], self._rows.size - 1)
        begin, end = self._rows[chunks].tolist()
        start, stop = self._arcs[chunks].tolist()
        ends = (begin, end), (begin, end + 1), (start, stop), (start, stop)
        sources, starts, targets, links = (
            self._array[place + one : place + other]
            for place, (one, other) in zip(self._places, ends, strict=True)
        )
        return Rows(sources, starts - start, targets, links).part(first, last)


def merged(runs: Sequence[Rows | Run], first: int, last: int) -> Rows:
    """The rows of all nodes from `first` to before `last`, empty ones too; each arc is there once.

    The links of arcs that are in several runs are added up.
    """
    parts = [rows.part(first, last) for rows in runs]
    counts = np.zeros(last - first + 1, np.int64)
    for rows in parts:
        counts[rows.sources - first + 1] += np.diff(rows.starts)
    starts = counts.cumsum()
    targets = np.empty(starts[-1], np.int64)
    is_counted = any(rows.links.size for rows in parts)
    links = np.empty(starts[-1] if is_counted else 0, np.int64)
    free = starts[:-1].copy()
    for rows in parts:
        _place(rows.sources - first, *rows[1:], free, targets, links)
    if len(parts) > 1:
        _sort(starts, targets, links)
    end = starts[-1]
    return Rows(np.arange(first, last), starts, targets[:end], links[:end])


@compiled
def _place(
    rows: Numbers,
    starts: Numbers,
    targets: Numbers,
    links: Numbers,
    free: Numbers,
    into: Numbers,
    links_into: Numbers,
) -> None:
    """Copy rows to the first free places of theirs."""
    for n in range(rows.size):
        at = free[rows[n]]
        size = starts[n + 1] - starts[n]
        into[at : at + size] = targets[starts[n] : starts[n + 1]]
        if links_into.size:
            links_into[at : at + size] = links[starts[n] : starts[n + 1]]
        free[rows[n]] = at + size


@compiled
def _sort(starts: Numbers, targets: Numbers, links: Numbers) -> None:
    """Sort each row, with each target once, and close the gaps that this leaves."""
    at = begin = 0
    for row in range(starts.size - 1):
        end = starts[row + 1]
        is_sorted = True
        for n in range(begin + 1, end):
            is_sorted &= targets[n - 1] < targets[n]
        if not is_sorted and not links.size:
            targets[begin:end].sort()
        elif not is_sorted:
            order = np.argsort(targets[begin:end])
            targets[begin:end] = targets[begin:end][order]
            links[begin:end] = links[begin:end][order]
        first = at
        for n in range(begin, end):
            if at > first and targets[at - 1] == targets[n]:
                if links.size:
                    links[at - 1] += links[n]
                continue
            targets[at] = targets[n]
            if links.size:
                links[at] = links[n]
            at += 1
        begin = end
        starts[row + 1] = at


@compiled
def gathered(sources: Indices, targets: Indices, nodes: int) -> tuple[Numbers, Indices]:
    """The rows of all nodes, from arcs in any order, each of which may be there several times.

    Returns where rows begin, and their targets. Arcs are dealt to their targets, and from these, in
    their order, to their sources.
    """
    begins = np.zeros(nodes + 1, np.int64)
    for target in targets:
        begins[target + 1] += 1
    begins = begins.cumsum()
    dealt = np.empty(sources.size, np.int32)
    free = begins[:-1].copy()
    for n in range(sources.size):
        dealt[free[targets[n]]] = sources[n]
        free[targets[n]] += 1
    starts = np.zeros(nodes + 1, np.int64)
    for source in sources:
        starts[source + 1] += 1
    starts = starts.cumsum()
    free = starts[:-1].copy()
    rows = np.empty(sources.size, np.int32)
    for target in range(nodes):
        for n in range(begins[target], begins[target + 1]):
            source = dealt[n]
            at = free[source]
            if at == starts[source] or rows[at - 1] != target:
                rows[at] = target
                free[source] = at + 1
    at = 0
    for source in range(nodes):
        begin, end = starts[source], free[source]
        starts[source] = at
        for n in range(begin, end):
            rows[at] = rows[n]
            at += 1
    starts[nodes] = at
    return starts, rows[:at]


@compiled
def turned(starts: Numbers, targets: Indices) -> tuple[Numbers, Indices]:
    """Rows of all nodes, transposed."""
    nodes = starts.size - 1
    begins = np.zeros(nodes + 1, np.int64)
    for target in targets:
        begins[target + 1] += 1
    begins = begins.cumsum()
    free = begins[:-1].copy()
    found = np.empty(targets.size, np.int32)
    for node in range(nodes):
        for n in range(starts[node], starts[node + 1]):
            found[free[targets[n]]] = node
            free[targets[n]] += 1
    return begins, found


def bounds(runs: Iterable[Run], nodes: int, most: int) -> list[int]:
    """The nodes with which ranges of at most `most` arcs begin, after the first.

    A chunk of nodes is never divided.
    """
    chunks = np.arange(0, nodes + CHUNK, CHUNK)
    before = sum((rows.before(chunks) for rows in runs), np.zeros(chunks.size, np.int64))
    found: list[int] = []
    begin = 0
    for end in range(1, chunks.size):
        if before[end] - before[begin] > most and end - 1 > begin:
            begin = end - 1
            found.append(int(chunks[begin]))
    return found
