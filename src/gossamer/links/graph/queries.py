"""Who links to whom? The graphs of a crawl, by URL and by host."""

from __future__ import annotations

from collections import Counter
from functools import cached_property, reduce
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from gossamer.errors import UsageError
from gossamer.links.graph.components import graph_structure
from gossamer.links.graph.names import host_name, host_prefix, name_of, url_of
from gossamer.links.graph.neighbourhood import nodes_around
from gossamer.links.graph.paths import MAX_VISITED, TooMuch, shortest_path
from gossamer.links.graph.stored_graph import open_graph
from gossamer.state.lookup import Lookup
from gossamer.web.urls import normalize

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.links.graph.components import Structure
    from gossamer.links.graph.overlay import Graph
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import File

MAX_NEIGHBOURS = 50
"""Nodes of a neighbourhood, if no other number is asked for."""
BATCH_NODES = 1 << 20
"""Nodes whose degrees are read at once."""


class UnknownName(UsageError):
    """No node of the graph has this name."""


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


class Spread(NamedTuple):
    """How many nodes have each number of links: pairs of a degree and nodes, ascending."""

    inlinks: Sequence[tuple[int, int]]
    outlinks: Sequence[tuple[int, int]]


class Neighbour(msgspec.Struct, frozen=True):
    """A page of a neighbourhood, or a host of one."""

    name: str
    inlinks: int
    outlinks: int
    linking: int | None
    """Links from it to the page in the centre; null if there are more than the depth."""
    linked: int | None
    """Links from the page in the centre to it; null if there are more than the depth."""

    @property
    def depth(self) -> int:
        """Links between it and the centre, in whichever direction there are fewer."""
        return min(steps for steps in (self.linking, self.linked) if steps is not None)


class Neighbourhood(msgspec.Struct, frozen=True):
    """The pages around a page, which is the first one: the nearest, and of these the most linked.

    `links` are those among these pages: pairs of places in `pages`. `more_linking` and
    `more_linked` pages were found in each direction and left out.
    """

    pages: list[Neighbour]
    links: list[tuple[int, int]]
    more_linking: int
    more_linked: int


class LinkedHost(msgspec.Struct, frozen=True):
    """A host, and the number of links between its pages and those of another host."""

    name: str
    links: int


class HostLinks(msgspec.Struct, frozen=True):
    """The pages of a host, the links between them, and the hosts with which it has the most links.

    `linked` and `linking` are the first of `hosts_linked` and `hosts_linking` hosts.
    """

    name: str
    pages: int
    links_inside: int
    hosts_linked: int
    linked: list[LinkedHost]
    hosts_linking: int
    linking: list[LinkedHost]


class LinkGraph:
    """The graph of pages or of hosts, as the step `graph` last brought it up to date.

    Names that were added since the graph was built come after all others. Raises UsageError if it
    was never built; MissingFile or StoreError for damaged files.
    """

    def __init__(self, work: Workspace, kind: str = "page", lookup: Lookup | None = None) -> None:
        """`kind`: "page" or "host". `lookup`: one that is shared, if any."""
        self._kind = kind
        opened = open_graph(work, kind)
        self._listed, self._names = opened.listed, opened.names
        self._forward, self._transposed = opened.forward, opened.transposed
        self._lookup = lookup or Lookup(work)
        self._rules = work.config.urls

    def outlinks(self, name: str, limit: int | None = None, offset: int = 0) -> Linked:
        """The pages to which a page links, in the order of their names; hosts of a host."""
        return self._page_of_links(self._forward.successors(self._number(name)), limit, offset)

    def inlinks(self, name: str, limit: int | None = None, offset: int = 0) -> Linked:
        """The pages that link to a page, in the order of their names; hosts of a host."""
        return self._page_of_links(self._transposed.successors(self._number(name)), limit, offset)

    def anchors(self, url: str) -> Mapping[str, str]:
        """The anchor texts of links to a page, by the page that links.

        The last `gossamer invert` recorded them, for a bounded number of pages.
        """
        row = next(self._lookup.rows("inlinks", "dst", self._normalise(url), ["sources"]), None)
        sources = row["sources"] if row else []
        return {source["src"]: source["anchor"] for source in sources if source["anchor"]}

    def common(
        self,
        names: Sequence[str],
        limit: int | None = None,
        offset: int = 0,
        *,
        linked: bool = False,
    ) -> Linked:
        """The pages that link to all of these pages (co-citation); hosts of hosts.

        With `linked`, the pages to which all of them link (bibliographic coupling).
        """
        graph = self._forward if linked else self._transposed
        rows = [graph.successors(self._number(name)) for name in names]
        return self._page_of_links(reduce(np.intersect1d, rows), limit, offset)

    def path(self, start: str, end: str, most: int = MAX_VISITED) -> Sequence[str] | None:
        """A shortest way along links from a page to another, both included; None without one.

        Raises TooMuch if it would visit more than `most` pages.
        """
        first, last = self._number(start), self._number(end)
        found = shortest_path(self._forward, self._transposed, first, last, most)
        return None if found is None else self._urls_of(found)

    def neighbourhood(self, name: str, depth: int, most: int = MAX_NEIGHBOURS) -> Neighbourhood:
        """At most `most` pages within `depth` links of a page, in both directions."""
        found = nodes_around(
            self._forward, self._transposed, self._number(name), depth, most, self.inlink_counts
        )
        names = self._urls_of(found.nodes.tolist())
        outlinks = (int(self._forward.outdegrees(node, 1)[0]) for node in found.nodes.tolist())
        inlinks = self.inlink_counts[found.nodes].tolist()
        steps = ([None if n < 0 else n for n in far.tolist()] for far in found[1:3])
        pages = [Neighbour(*each) for each in zip(names, inlinks, outlinks, *steps, strict=True)]
        links = [(src, dst) for src, dst in found.arcs.tolist()]
        return Neighbourhood(pages, links, found.more_linking, found.more_linked)

    def host(self, name: str, limit: int | None = None, most: int | None = None) -> HostLinks:
        """Count the pages of a host, and the links between it and other hosts; of pages only.

        Reads the rows of all its pages. Raises TooMuch if there are more than `most`.
        """
        own = self._names.ranges_with_prefix(f"{host_name(name)} ")
        pages = sum(map(len, own))
        if not pages:
            raise self._unknown(name, "host")
        if most is not None and pages > most:
            what = f"has {pages:,} pages, and links of at most {most:,} are counted here"
            raise TooMuch(name, what, f"gossamer graph host CRAWL {name}")
        linked, linking = (
            self._count_by_host(graph.successors(node) for nodes in own for node in nodes)
            for graph in (self._forward, self._transposed)
        )
        inside = linked.pop(own_name := url_of(host_name(name)), 0)
        linking.pop(own_name, None)
        first = ([LinkedHost(*each) for each in of.most_common(limit)] for of in (linked, linking))
        return HostLinks(
            own_name, pages, inside, len(linked), next(first), len(linking), next(first)
        )

    def _count_by_host(self, rows: Iterable[Numbers]) -> Counter[str]:
        """The hosts of nodes, counted."""
        nodes, counts = np.unique(np.concatenate(list(rows)), return_counts=True)
        found: Counter[str] = Counter()
        names = self._names.take(nodes).to_pylist()
        for name, count in zip(names, counts.tolist(), strict=True):
            found[host_prefix(name)] += count
        return Counter({url_of(host): count for host, count in found.items()})

    @cached_property
    def inlink_counts(self) -> NDArray[np.uint32]:
        """The number of inlinks of each node. Reads all of them, once."""
        return self._transposed.outdegrees(0, self._forward.nodes).astype(np.uint32)

    def _page_of_links(self, nodes: Numbers, limit: int | None, offset: int) -> Linked:
        end = None if limit is None else offset + limit
        return Linked(self._urls_of(nodes[offset:end].tolist()), nodes.size)

    def _urls_of(self, nodes: Iterable[int]) -> list[str]:
        return [url_of(self._names[node]) for node in nodes]

    def _number(self, name: str) -> int:
        given = {"host": host_name, "page": name_of}[self._kind](name)
        number = self._names.number(given)
        if number is None and self._kind == "page":
            number = self._names.number(name_of(self._normalise(name)))
        if number is None:
            raise self._unknown(name, self._kind)
        return number

    def _unknown(self, name: str, kind: str) -> UnknownName:
        return UnknownName(
            name,
            f"no {kind} of this name links or is linked to in this crawl",
            "check its spelling; gossamer graph build adds what was crawled since",
        )

    def _normalise(self, url: str) -> str:
        return normalize(url, None, self._rules) or url

    @cached_property
    def spread(self) -> Spread:
        """How links are spread over the nodes. Reads the whole graph, once."""
        return Spread(*map(_count_degrees, (self._transposed, self._forward)))

    def structure(self) -> Structure:
        """Count components and the parts of the bow tie. Reads the whole graph."""
        return graph_structure(self._forward)

    def degrees(self) -> Degrees:
        """Count links per node. Reads the whole graph."""
        nodes, arcs = self._forward.nodes, max(self._forward.arcs, 1)
        without = (dict(degrees).get(0, 0) for degrees in self.spread)
        most = (max(dict(degrees), default=0) for degrees in self.spread)
        without_inlinks, without_outlinks = without
        max_inlinks, max_outlinks = most
        return Degrees(
            nodes,
            self._forward.arcs,
            without_outlinks,
            without_inlinks,
            max_outlinks,
            max_inlinks,
            self._forward.bits / arcs,
            self._transposed.bits / arcs,
            _total_bytes(self._listed) / max(nodes, 1),
        )


def _count_degrees(graph: Graph) -> Sequence[tuple[int, int]]:
    found: Counter[int] = Counter()
    for first in range(0, graph.nodes, BATCH_NODES):
        degrees = graph.outdegrees(first, min(BATCH_NODES, graph.nodes - first))
        counted = np.unique(degrees, return_counts=True)
        found.update(dict(zip(*(each.tolist() for each in counted), strict=True)))
    return sorted(found.items())


def _total_bytes(files: Sequence[File]) -> int:
    return sum(file.bytes for file in files)
