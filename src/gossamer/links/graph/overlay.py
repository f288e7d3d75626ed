"""A graph and what changed in it since it was written, as one graph.

An array of changes has two rows: the sources of the arcs that were added or removed, and their
targets, that of a removed arc as its complement, -target - 1. They are sorted by source and by
target. Arcs that the base has are not added, and only those are removed; so each arc is at most
once in the array. Nodes that the base lacks have the numbers that follow. The file of an array is
one of numpy (`.npy`), and is mapped into memory.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from gossamer.errors import StoreError
from gossamer.links.bvgraph import REMEDY
from gossamer.links.bvgraph.files import CHUNK, BvGraph, Csr
from gossamer.native import are_starts, native
from gossamer.storage import opening
from gossamer.storage.errors import disk_errors, system_error
from gossamer.storage.local_copies import local_copy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.links.bvgraph.codes import Numbers

Changes: TypeAlias = "Numbers"
"""Changes of a graph, of shape (2, n)."""


class Graph(Protocol):
    """A graph that can be read: a BvGraph, or an Overlaid one."""

    nodes: int
    arcs: int

    @property
    def bits(self) -> int:
        """The size of its rows."""

    def successors(self, node: int) -> Numbers:
        """The successors of a node, ascending."""

    def rows_of(self, nodes: Numbers) -> Csr:
        """The rows of some nodes, in their order."""

    def outdegrees(self, first: int, count: int) -> Numbers:
        """The numbers of successors of nodes, from `first` on."""

    def rows(self, count: int = CHUNK, first: int = 0, last: int | None = None) -> Iterator[Csr]:
        """The rows of the nodes from `first` to before `last`, by default all, `count` at a time.

        Several threads may read rows: decoding runs without the GIL.
        """


class Overlaid:
    """A graph whose changes are kept beside it. Raises StoreError for damaged files.

    `base` and `changes` are public for code that walks over the compressed rows itself.
    """

    def __init__(self, base: BvGraph, changes: Changes, nodes: int) -> None:
        """`nodes`: the number of nodes, with those that the base lacks."""
        self.base, self.changes, self.nodes = base, changes, nodes
        added = int(np.count_nonzero(changes[1] >= 0))
        self.arcs = base.arcs + 2 * added - changes.shape[1]

    @property
    def bits(self) -> int:
        return self.base.bits + 8 * self.changes.nbytes

    def successors(self, node: int) -> Numbers:
        return self.rows_of(np.array([node])).targets

    def rows_of(self, nodes: Numbers) -> Csr:
        is_built = nodes < self.base.nodes
        rows = self.base.rows_of(nodes[is_built])
        if not is_built.all():
            degrees = np.zeros(nodes.size, np.int64)
            degrees[is_built] = np.diff(rows.starts)
            rows = Csr(np.concatenate([_ZERO, degrees.cumsum()]), rows.targets)
        begins, ends = (np.searchsorted(self.changes[0], nodes, side) for side in ("left", "right"))
        counts = ends - begins
        if not counts.any():
            return rows
        places = np.repeat(np.arange(nodes.size), counts)
        before = counts.cumsum() - counts
        found = np.arange(places.size) + np.repeat(begins - before, counts)
        return self._merge(rows, 0, places, self.changes[1][found])

    def outdegrees(self, first: int, count: int) -> Numbers:
        of_base = min(count, max(self.base.nodes - first, 0))
        found = np.zeros(count, np.int64)
        if of_base:
            found[:of_base] = self.base.outdegrees(first, of_base)
        begin, end = np.searchsorted(self.changes[0], (first, first + count))
        sources, targets = self.changes[:, begin:end]
        signs = np.where(targets >= 0, 1, -1)
        np.add.at(found, sources - first, signs)
        return found

    def rows(self, count: int = CHUNK, first: int = 0, last: int | None = None) -> Iterator[Csr]:
        last = self.nodes if last is None else last
        of_base = self.base.rows(count, *(min(end, self.base.nodes) for end in (first, last)))
        for node in range(first, last, count):
            size = min(count, last - node)
            rows = next(of_base, _NO_ROWS)
            empty = size - rows.starts.size + 1
            if empty:
                starts = np.concatenate([rows.starts, np.full(empty, rows.starts[-1])])
                rows = Csr(starts, rows.targets)
            begin, end = np.searchsorted(self.changes[0], (node, node + size))
            yield self._merge(rows, node, *self.changes[:, begin:end]) if begin < end else rows

    def _merge(self, rows: Csr, first: int, sources: Numbers, targets: Numbers) -> Csr:
        found = Csr(*merge_changes(rows.starts, rows.targets, first, sources, targets))
        if found.targets.max(initial=0) >= self.nodes:
            raise StoreError(self.base.path, "its changes are damaged", REMEDY)
        return found


_ZERO = np.zeros(1, np.int64)
_NO_ROWS = Csr(_ZERO, np.empty(0, np.int64))


def merge_changes(
    starts: Numbers, targets: Numbers, first: int, sources: Numbers, changed: Numbers
) -> tuple[Numbers, Numbers]:
    """Rows from the node `first` on, with changes of some of them."""
    ends = np.empty_like(starts)
    found = np.empty(targets.size + changed.size, np.int64)
    count = fill_changed_rows(starts, targets, first, sources, changed, ends, found)
    return ends, found[:count]


@native
def fill_changed_rows(
    starts: Numbers,
    targets: Numbers,
    first: int,
    sources: Numbers,
    changed: Numbers,
    ends: Numbers,
    found: Numbers,
) -> int:
    """Write where the changed rows begin, and their targets; return how many these are."""
    if not are_starts(starts, len(targets)):
        raise ValueError("fill_changed_rows: rows that are not inside their arrays")
    ends[0] = count = change = 0
    for row, (begin, end) in enumerate(pairwise(starts)):
        at = begin
        while change < len(changed) and sources[change] <= first + row:
            value = changed[change]
            target = value if value >= 0 else ~value
            while at < end and targets[at] < target:
                found[count] = targets[at]
                count, at = count + 1, at + 1
            if value >= 0:
                found[count] = target
                count += 1
            elif at < end and targets[at] == target:
                at += 1
            change += 1
        found[count : count + end - at] = targets[at:end]
        count += end - at
        ends[row + 1] = count
    return count


def split_overlay(graph: BvGraph | Overlaid) -> tuple[BvGraph, Changes]:
    """The graph as it was built, and its changes."""
    if isinstance(graph, Overlaid):
        return graph.base, graph.changes
    return graph, np.empty((2, 0), np.int64)


def sort_changes(sources: Numbers, targets: Numbers) -> Changes:
    """Changes (see above) in their order."""
    ends = np.where(targets >= 0, targets, ~targets)
    order = np.argsort(sources * (ends.max(initial=0) + 1) + ends)
    return np.stack([sources[order], targets[order]])


def transpose_changes(changes: Changes) -> Changes:
    """The same changes of the transposed graph."""
    sources, targets = changes
    is_added = targets >= 0
    ends = np.where(is_added, targets, ~targets)
    return sort_changes(ends, np.where(is_added, sources, ~sources))


def save_changes(path: str, changes: Changes) -> tuple[int, str]:
    """Write changes to a new file; return its size in bytes and its checksum."""
    file = opening.create(path)
    with disk_errors(path):
        np.lib.format.write_array(file, np.ascontiguousarray(changes, "<i8"), allow_pickle=False)
        file.close()
    return file.size, file.xxh3


def load_changes(path: str) -> Changes:
    """Map a file of changes into memory. Raises StoreError if it is damaged."""
    try:
        changes = np.load(local_copy(path), mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise system_error(error, path) from None
    except (ValueError, EOFError) as error:
        raise StoreError(path, f"is not a file of numpy: {error}", REMEDY) from None
    if changes.dtype != np.dtype("<i8") or changes.ndim != 2 or changes.shape[0] != 2:  # noqa: PLR2004
        raise StoreError(path, "is not an array of changes", REMEDY)
    return np.asarray(changes)
