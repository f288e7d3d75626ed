"""The rows of a graph in any order, for algorithms whose inner loops are compiled.

A graph of at most MAX_RESIDENT links is decoded once and held in memory, at four bytes per link. Of
a larger one, each row is decoded when it is asked for, so that memory does not grow with the links.
An algorithm sees a window of rows: it runs until it needs a row outside of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gossamer.errors import StoreError
from gossamer.links.bvgraph import REMEDY

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.links.graph.overlay import Graph

    Indices = npt.NDArray[np.signedinteger[Any]]
    """Numbers of nodes, in the type that `index_type` chooses."""

MAX_RESIDENT = 250_000_000
"""Links of the largest graph that is held in memory: one gigabyte."""
SPARSE = 20
"""One of so many rows is decoded for itself in the time of a pass over all rows."""
MAX_INT32 = (1 << 31) - 1


class Window(NamedTuple):
    """Rows of the nodes from `first` on, in the form of `Csr`."""

    first: int
    starts: Numbers
    targets: Indices


def index_type(nodes: int) -> type[np.signedinteger[Any]]:
    """The smaller integer that can number all nodes, and be one less than 0."""
    return np.int32 if nodes <= MAX_INT32 else np.int64


class WindowedRows:
    """The rows of a graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._whole = _whole(graph) if graph.arcs <= MAX_RESIDENT else None

    def around(self, node: int) -> Window:
        """A window that has the row of a node."""
        if self._whole is not None:
            return self._whole
        targets = self._graph.successors(node).astype(index_type(self._graph.nodes))
        return Window(node, np.array([0, targets.size]), targets)

    def along(self, nodes: Numbers) -> Iterator[Window]:
        """Windows that have the rows of these nodes, which ascend, one after the other.

        If that takes many windows, all rows of the graph are decoded, which is faster.
        """
        if self._whole is not None:
            yield self._whole
        elif nodes.size > self._graph.nodes / SPARSE:
            first = 0
            for starts, targets in self._graph.rows():
                yield Window(first, starts, targets.astype(index_type(self._graph.nodes)))
                first += starts.size - 1
        else:
            yield from map(self.around, nodes.tolist())


def _whole(graph: Graph) -> Window:
    """All rows. Raises StoreError if they have other links than the graph counts."""
    starts = np.zeros(graph.nodes + 1, np.int64)
    targets = np.empty(graph.arcs, index_type(graph.nodes))
    node = arc = 0
    for chunk in graph.rows():
        count, size = chunk.starts.size - 1, chunk.targets.size
        if arc + size > graph.arcs:
            break
        starts[node + 1 : node + count + 1] = arc + chunk.starts[1:]
        targets[arc : arc + size] = chunk.targets
        node, arc = node + count, arc + size
    if (node, arc) != (graph.nodes, graph.arcs):
        raise StoreError("graph", "the changes of the link graph are damaged", REMEDY)
    return Window(0, starts, targets)
