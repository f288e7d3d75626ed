"""The neighbourhood of a node: what links to it and what it links to, within a few links.

Each direction is a breadth-first search. If more nodes are reached than are wanted, the nearest
are kept, and of equally near ones the heaviest of both directions in turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.links.graph.overlay import Graph

    Weights = NDArray[np.integer]

MAX_READ = 1_000_000
"""Links that are read per step and direction. Those of further nodes are left out."""


class Surroundings(NamedTuple):
    """A node and the nodes around it: the nearest first, and of these the heaviest."""

    nodes: Numbers
    linking: Numbers
    """Links from each node to the first; -1 if they are more than the depth."""
    linked: Numbers
    """Links from the first node to each; -1 if they are more than the depth."""
    arcs: Numbers
    """The links among these nodes, as pairs of places in `nodes`: from, to."""
    more_linking: int
    """Nodes that were reached and left out."""
    more_linked: int


class _DirectionSearch:
    """The search in one direction.

    Invariant: `nodes` are the kept nodes, `steps` their distances, and `rim` the last ones of them.
    """

    def __init__(self, graph: Graph, centre: int) -> None:
        self._graph = graph
        self.nodes = self.rim = np.array([centre], np.int64)
        self.steps = np.zeros(1, np.int64)
        self.left_out = 0

    def next_nodes(self) -> Numbers:
        """The nodes after the rim that are not kept."""
        rows, read = [np.empty(0, np.int64)], 0
        for node in self.rim.tolist():
            rows.append(self._graph.successors(node))
            read += rows[-1].size
            if read > MAX_READ:
                break
        return np.setdiff1d(np.concatenate(rows), self.nodes)

    def keep(self, found: Numbers, step: int, kept: Numbers) -> None:
        """Keep those of the nodes found in a step that are in `kept`."""
        self.rim = np.intersect1d(found, kept, assume_unique=True)
        self.nodes = np.concatenate([self.nodes, self.rim])
        self.steps = np.concatenate([self.steps, np.full(self.rim.size, step)])
        self.left_out += found.size - self.rim.size

    def distances(self, nodes: Numbers) -> Numbers:
        """The distances of sorted nodes; -1 of those that are not kept."""
        found = np.full(nodes.size, -1)
        found[np.searchsorted(nodes, self.nodes)] = self.steps
        return found


def nodes_around(
    forward: Graph, transposed: Graph, centre: int, depth: int, most: int, weights: Weights
) -> Surroundings:
    """At most `most` nodes within `depth` links of a node, itself included.

    `weights`: how important each node of the graph is.
    """
    back, ahead = sides = _DirectionSearch(transposed, centre), _DirectionSearch(forward, centre)
    for step in range(1, depth + 1):
        found = [side.next_nodes() for side in sides]
        kept = _choose_nearest(found, np.union1d(back.nodes, ahead.nodes), most, weights)
        for side, own in zip(sides, found, strict=True):
            side.keep(own, step, kept)
    nodes = np.union1d(back.nodes, ahead.nodes)
    linking, linked = (side.distances(nodes) for side in sides)
    nearest = np.where(
        linking < 0, linked, np.where(linked < 0, linking, np.minimum(linking, linked))
    )
    order = np.lexsort((nodes, -weights[nodes].astype(np.int64), nearest))
    return Surroundings(
        nodes[order],
        linking[order],
        linked[order],
        _arcs_among(forward, nodes, order),
        back.left_out,
        ahead.left_out,
    )


def _choose_nearest(
    found: Sequence[Numbers], kept: Numbers, most: int, weights: Weights
) -> Numbers:
    """The nodes that are kept already and, up to `most`, those that were found in both directions.

    The directions take turns, each with its heaviest node. All nodes are given in ascending order.
    """
    nodes = np.setdiff1d(np.union1d(*found), kept)
    turns = np.full(nodes.size, np.iinfo(np.int64).max)
    for first, own in enumerate(found):
        new = np.setdiff1d(own, kept)
        ordered = new[np.argsort(-weights[new].astype(np.int64), kind="stable")]
        places = np.searchsorted(nodes, ordered)
        turns[places] = np.minimum(turns[places], first + 2 * np.arange(ordered.size))
    chosen = nodes[np.argsort(turns)[: max(most - kept.size, 0)]]
    return np.union1d(kept, chosen)


def _arcs_among(forward: Graph, nodes: Numbers, order: Numbers) -> Numbers:
    """The links among sorted nodes, as pairs of places in `order`."""
    places = np.argsort(order)
    pairs = [np.empty((0, 2), np.int64)]
    for at, node in enumerate(nodes.tolist()):
        row = forward.successors(node)
        found = np.searchsorted(row, nodes)
        among = np.flatnonzero(np.append(row, -1)[found] == nodes)
        pairs.append(np.column_stack([np.full(among.size, places[at]), places[among]]))
    return np.concatenate(pairs)
