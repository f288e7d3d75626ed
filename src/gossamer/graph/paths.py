"""Ways along the links of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gossamer.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.bvgraph.codes import Numbers
    from gossamer.graph.overlaid import Graph

MAX_VISITED = 1_000_000
"""Nodes that are visited in search of a path."""


class TooMuch(UsageError):
    """An answer that would take more nodes than may be visited."""


def shortest_path(
    forward: Graph, transposed: Graph, start: int, end: int, most: int = MAX_VISITED
) -> Sequence[int] | None:
    """The nodes of a shortest path, with both ends; None if there is none.

    A breadth-first search from both ends, whose smaller rim grows next (Pohl, "Bi-directional
    Search", Machine Intelligence 6, 1971). Of several paths, it is always the same one. Raises
    TooMuch if it has visited more than `most` nodes.
    """
    if start == end:
        return [start]
    sides = _Side(forward, start), _Side(transposed, end)
    while all(side.rim.size for side in sides):
        here, there = sorted(sides, key=lambda side: side.rim.size)
        here.grow()
        # The other rim has all nodes that both sides reached, as they had not met before.
        meeting = np.intersect1d(here.rim, there.rim, assume_unique=True)
        if meeting.size:
            ahead, behind = (side.way(int(meeting[0])) for side in sides)
            return [*reversed(ahead), *behind[1:]]
        if sum(side.visited.size for side in sides) > most:
            raise TooMuch(
                "path", f"none was found among {most:,} nodes around both ends", "try closer ends"
            )
    return None


class _Ring(NamedTuple):
    """The nodes that are equally far from an end, ascending, and from where each was reached."""

    nodes: Numbers
    before: Numbers


class _Side:
    """The search from one end, ring by ring. `visited`: the nodes of all rings, ascending."""

    def __init__(self, graph: Graph, end: int) -> None:
        self._graph = graph
        self.visited = np.array([end])
        self._rings = [_Ring(self.visited, np.array([-1]))]

    @property
    def rim(self) -> Numbers:
        """The nodes of the last ring."""
        return self._rings[-1].nodes

    def grow(self) -> None:
        """Take a step from all nodes of the rim."""
        rows = self._graph.several(self.rim)
        nodes, first = np.unique(rows.targets, return_index=True)
        before = np.repeat(self.rim, np.diff(rows.starts))[first]
        is_new = ~np.isin(nodes, self.visited, assume_unique=True)
        self._rings.append(_Ring(nodes[is_new], before[is_new]))
        self.visited = np.union1d(self.visited, nodes[is_new])

    def way(self, node: int) -> list[int]:
        """The nodes from one in the rim to the end."""
        found = [node]
        for nodes, before in reversed(self._rings[1:]):
            found.append(int(before[np.searchsorted(nodes, found[-1])]))
        return found
