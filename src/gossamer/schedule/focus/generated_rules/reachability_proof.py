"""Proof on the link graph that pages stay reachable if sections of their site are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gossamer.links.graph.names import host_name, name_of
from gossamer.native import native

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.links.graph.names import Names
    from gossamer.links.graph.overlay import Graph

    Flags = npt.NDArray[np.bool_]


class Site:
    """The pages of a domain and the links between them, less those of what is refused."""

    def __init__(self, graph: Graph, names: Names, domain: str, starts: Flags, kept: Flags) -> None:
        """`starts`: the nodes from which a crawl begins. `kept`: those that it must reach.

        Kept pages that no start leads to now, because pages of other domains do, do not count.
        """
        self._names = names
        name = host_name(domain).rstrip()
        self._nodes = _nodes_with_prefixes(names, [f"{name} ", f"{name},"])
        rows = graph.rows_of(self._nodes)
        places = np.searchsorted(self._nodes, rows.targets)
        inside = places < self._nodes.size
        inside[inside] = self._nodes[places[inside]] == rows.targets[inside]
        self._first = np.concatenate([[0], inside.cumsum()])[rows.starts]
        self._targets = places[inside]
        self._starts = np.flatnonzero(starts[self._nodes])
        self._refused = np.zeros(self._nodes.size, np.bool_)
        self._kept = kept[self._nodes] & self._reachable(self._refused)

    @property
    def kept(self) -> int:
        """Pages that must be reached, and are."""
        return int(np.count_nonzero(self._kept))

    def refuse(self, prefixes: Iterable[str]) -> int:
        """Refuse pages, by prefixes of their URLs, unless a kept page would not be reached.

        Returns the number of such pages.
        """
        refused = self._refused.copy()
        refused[
            np.searchsorted(self._nodes, _nodes_with_prefixes(self._names, map(name_of, prefixes)))
        ] = True
        lost = int(np.count_nonzero(self._kept & ~self._reachable(refused)))
        if not lost:
            self._refused = refused
        return lost

    def _reachable(self, refused: Flags) -> Flags:
        reached = np.zeros(self._nodes.size, np.bool_)
        _mark_reached(self._first, self._targets, self._starts, refused, reached)
        return reached


def _nodes_with_prefixes(names: Names, prefixes: Iterable[str]) -> Numbers:
    """The nodes whose names begin with one of these, which do not begin with each other."""
    ranges = [each for prefix in prefixes for each in names.ranges_with_prefix(prefix)]
    return np.sort(np.concatenate([np.arange(each.start, each.stop) for each in ranges]))


@native
def _mark_reached(
    first: Numbers, targets: Numbers, starts: Numbers, refused: Flags, reached: Flags
) -> None:
    """Mark what links lead to from the starts, without the nodes that are refused."""
    waiting = [*starts]
    while waiting:
        node = waiting.pop()
        if not refused[node] and not reached[node]:
            reached[node] = True
            waiting += targets[first[node] : first[node + 1]]
