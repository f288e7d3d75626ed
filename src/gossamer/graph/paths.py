"""Ways along the links of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    TooMuch if it would visit more than `most` nodes.
    """
    if start == end:
        return [start]
    sides = _Side(forward, start), _Side(transposed, end)
    while all(side.rim for side in sides):
        here, there = sorted(sides, key=lambda side: len(side.rim))
        meeting = here.grow(there)
        if meeting is not None:
            ahead, behind = (side.way(meeting) for side in sides)
            return [*reversed(ahead), *behind[1:]]
        if sum(len(side.before) for side in sides) > most:
            raise TooMuch(
                "path", f"none was found among {most:,} nodes around both ends", "try closer ends"
            )
    return None


class _Side:
    """The search from one end.

    `before`: the node from which each node was reached. `rim`: the nodes that were reached last,
    all equally far from the end.
    """

    def __init__(self, graph: Graph, end: int) -> None:
        self._graph = graph
        self.before: dict[int, int | None] = {end: None}
        self.rim = [end]

    def grow(self, other: _Side) -> int | None:
        """Take a step from all nodes of the rim; return a node that the other side reached, too.

        As the two had not met before, such a node is in the other's rim. So any of them is on a
        shortest path.
        """
        rim = []
        for node in self.rim:
            successors: list[int] = self._graph.successors(node).tolist()
            for following in successors:
                if following not in self.before:
                    self.before[following] = node
                    if following in other.before:
                        return following
                    rim.append(following)
        self.rim = rim
        return None

    def way(self, node: int | None) -> list[int]:
        """The nodes from here to the end."""
        nodes = []
        while node is not None:
            nodes.append(node)
            node = self.before[node]
        return nodes
