"""Who links to whom? The graphs of a crawl, by URL and by host."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gossamer.errors import UsageError
from gossamer.graph.names import host_name, name_of, url_of
from gossamer.graph.paths import shortest_path
from gossamer.graph.stored import stored
from gossamer.urls import normalize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.bvgraph.codes import Numbers
    from gossamer.graph.overlaid import Graph
    from gossamer.store import File
    from gossamer.workspace import Workspace


class Linked(NamedTuple):
    """Pages or hosts that link, or are linked to: the first ones, and the number of all."""

    names: Sequence[str]
    total: int


class Degrees(NamedTuple):
    """Nodes, links, and how the links are spread over the nodes."""

    nodes: int
    links: int
    without_outlinks: int
    without_inlinks: int
    max_outlinks: int
    max_inlinks: int
    bits_per_link: float
    bits_per_link_transposed: float
    bytes_per_name: float


class LinkGraph:
    """The graph of pages or of hosts, as `gossamer graph build` last built it.

    Raises UsageError if it was never built; MissingFile or StoreError for damaged files.
    """

    def __init__(self, work: Workspace, kind: str = "page") -> None:
        """`kind`: "page" or "host"."""
        self._kind = kind
        self._listed, self._names, self._forward, self._transposed = stored(work, kind)

    def outlinks(self, name: str, limit: int | None = None) -> Linked:
        """The pages to which a page links, in the order of their names; hosts of a host."""
        return self._linked(self._forward, name, limit)

    def inlinks(self, name: str, limit: int | None = None) -> Linked:
        """The pages that link to a page, in the order of their names; hosts of a host."""
        return self._linked(self._transposed, name, limit)

    def common(self, names: Sequence[str], limit: int | None = None) -> Linked:
        """The pages that link to all of these pages (co-citation); hosts of hosts."""
        rows = [self._transposed.successors(self._number(name)) for name in names]
        return self._named(reduce(np.intersect1d, rows), limit)

    def path(self, start: str, end: str) -> Sequence[str] | None:
        """A shortest way along links from a page to another, both included; None without one.

        Raises UsageError if it would visit too many pages (`paths.MAX_VISITED`).
        """
        first, last = self._number(start), self._number(end)
        found = shortest_path(self._forward, self._transposed, first, last)
        return None if found is None else [url_of(self._names[node]) for node in found]

    def _linked(self, graph: Graph, name: str, limit: int | None) -> Linked:
        return self._named(graph.successors(self._number(name)), limit)

    def _named(self, nodes: Numbers, limit: int | None) -> Linked:
        return Linked([url_of(self._names[node]) for node in nodes[:limit].tolist()], nodes.size)

    def _number(self, name: str) -> int:
        number = self._names.number(self._written(name))
        if number is None:
            raise UsageError(
                name,
                f"no {self._kind} of this name links or is linked to in this crawl",
                "check its spelling; gossamer graph build adds what was crawled since",
            )
        return number

    def _written(self, name: str) -> str:
        if self._kind == "host":
            return host_name(name)
        return name_of(normalize(name) or name)

    def degrees(self) -> Degrees:
        """Count links per node. Reads the whole graph."""
        nodes = self._forward.nodes
        outlinks, inlinks = (
            graph.outdegrees(0, nodes) for graph in (self._forward, self._transposed)
        )
        arcs = max(self._forward.arcs, 1)
        return Degrees(
            nodes,
            self._forward.arcs,
            int(np.count_nonzero(outlinks == 0)),
            int(np.count_nonzero(inlinks == 0)),
            int(outlinks.max(initial=0)),
            int(inlinks.max(initial=0)),
            self._forward.bits / arcs,
            self._transposed.bits / arcs,
            _bytes(self._listed) / max(nodes, 1),
        )


def _bytes(files: Sequence[File]) -> int:
    return sum(file.bytes for file in files)
