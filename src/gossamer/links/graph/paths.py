"""Ways along the links of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gossamer.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.links.graph.overlay import Graph

MAX_VISITED = 1_000_000
"""Nodes that are visited in search of a path."""
NODES_AT_ONCE = 128
"""Nodes whose rows are decoded before the other rim is looked for among them."""


class TooMuch(UsageError):
    """An answer that would take more nodes than may be visited."""


def shortest_path(
    forward: Graph, transposed: Graph, start: int, end: int, most: int = MAX_VISITED
) -> Sequence[int] | None:
    """The nodes of a shortest path, with both ends; None if there is none.

    A breadth-first search from both ends, whose smaller rim grows next (Pohl, "Bi-directional
    Search", Machine Intelligence 6, 1971) and ends where it touches the other one: the last rim has
    most of the links. Of several paths, it is always the same one. Raises TooMuch if it has visited
    more than `most` nodes.
    """
    if start == end:
        return [start]
    sides = _SearchFromEnd(forward, start), _SearchFromEnd(transposed, end)
    while all(side.rim.size for side in sides):
        here, there = sorted(sides, key=lambda side: side.rim.size)
        # The other rim has all nodes that both sides reached, as they had not met before.
        if (link := here.grow(there.rim)) is not None:
            ways = [here.way(link.source), there.way(link.target)]
            ahead, behind = ways if here is sides[0] else reversed(ways)
            return [*reversed(ahead), *behind]
        if sum(side.visited.size for side in sides) > most:
            raise TooMuch(
                "path", f"none was found among {most:,} nodes around both ends", "try closer ends"
            )
    return None


class _Ring(NamedTuple):
    """The nodes that are equally far from an end, ascending, and from where each was reached."""

    nodes: Numbers
    before: Numbers


class _Link(NamedTuple):
    """A link between the two rims: from the one that grows."""

    source: int
    target: int


class _SearchFromEnd:
    """The search from one end, ring by ring. `visited`: the nodes of all rings, ascending."""

    def __init__(self, graph: Graph, end: int) -> None:
        self._graph = graph
        self.visited = np.array([end])
        self._rings = [_Ring(self.visited, np.array([-1]))]

    @property
    def rim(self) -> Numbers:
        """The nodes of the last ring."""
        return self._rings[-1].nodes

    def grow(self, other: Numbers) -> _Link | None:
        """Take a step from all nodes of the rim, or return the first link to the other rim."""
        targets, sources = [], []
        for begin in range(0, self.rim.size, NODES_AT_ONCE):
            some = self.rim[begin : begin + NODES_AT_ONCE]
            rows = self._graph.rows_of(some)
            targets.append(rows.targets)
            sources.append(np.repeat(some, np.diff(rows.starts)))
            places = np.minimum(np.searchsorted(other, rows.targets), other.size - 1)
            met = np.flatnonzero(other[places] == rows.targets)
            if met.size:
                return _Link(int(sources[-1][met[0]]), int(rows.targets[met[0]]))
        nodes, first = np.unique(np.concatenate(targets), return_index=True)
        is_new = ~np.isin(nodes, self.visited, assume_unique=True)
        ring = _Ring(nodes[is_new], np.concatenate(sources)[first[is_new]])
        self._rings.append(ring)
        self.visited = np.sort(np.concatenate([self.visited, ring.nodes]), kind="stable")
        return None

    def way(self, node: int) -> list[int]:
        """The nodes from one in the rim to the end."""
        found = [node]
        for nodes, before in reversed(self._rings[1:]):
            found.append(int(before[np.searchsorted(nodes, found[-1])]))
        return found
