"""The rows of a graph for an iteration: the votes for each page.

A graph that fits into the memory given is decoded once and held, at four bytes per link and six
per node. The rows of a larger one are decoded in each iteration, and once to count the links of
each page. In both cases the nodes are divided into spans, on which threads work concurrently. The
spans depend on the graph only, so the results do not depend on the number of threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from gossamer.bvgraph import REMEDY
from gossamer.bvgraph.files import CHUNK
from gossamer.errors import StoreError
from gossamer.rank import kernels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

    from gossamer.bvgraph.codes import Numbers
    from gossamer.graph.overlaid import Graph
    from gossamer.rank.kernels import Counts, Floats, Indices, Order, Places

Made = TypeVar("Made")

SPANS = 24
"""Spans into which the nodes are divided: many more than cores, because popular pages are
neighbours, so that one span may have many of the links."""
BYTES_PER_NODE = 6
MAX_UINT32 = (1 << 32) - 1


class Span(NamedTuple):
    """The nodes from `first` to before `last`."""

    first: int
    last: int


class Held(NamedTuple):
    """The rows of a span: the places of the votes for each node (`kernels.address`)."""

    order: Order
    """The nodes of each chunk, from its first one on, in the order of their rows here."""
    counts: Counts
    """The votes for each of them."""
    links: Places


class Threads:
    """Threads that work on the spans of a graph: a context manager."""

    def __init__(self, nodes: int, threads: int) -> None:
        size = max(-(-nodes // (SPANS * CHUNK)), 1) * CHUNK
        self.spans = [Span(first, min(first + size, nodes)) for first in range(0, nodes, size)]
        self._pool = ThreadPoolExecutor(threads)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    def each(self, work: Callable[[Span], Made], *more: Span) -> list[Made]:
        """What `work` makes of each span, and of more of them."""
        return list(self._pool.map(work, (*self.spans, *more)))


class Votes:
    """The votes for each node of a graph, which is given transposed."""

    def __init__(
        self, transposed: Graph, domains: Indices, memory_bytes: float, threads: Threads
    ) -> None:
        """`domains`: the number of the domain of each node."""
        self._graph, self._domains, self._threads = transposed, domains, threads
        self._type: type[np.unsignedinteger[Any]] = (
            np.uint32 if 2 * transposed.nodes <= MAX_UINT32 else np.uint64
        )
        size = np.dtype(self._type).itemsize
        needed = size * transposed.arcs + BYTES_PER_NODE * transposed.nodes
        self._held = (
            dict(zip(threads.spans, threads.each(self._hold), strict=True))
            if needed <= memory_bytes
            else {}
        )

    def links(self) -> tuple[Indices, Indices]:
        """How many links of each node are within its domain, and how many lead to others.

        Rows are decoded by threads, but counted by one at a time: a node may have links to all
        spans, and counting takes little beside decoding.
        """
        counts = np.zeros((2, self._graph.nodes), np.int32)
        one_at_a_time = Lock()

        def count(span: Span) -> None:
            for rows in self._rows(span):
                with one_at_a_time:
                    kernels.count(rows.links, counts.ravel())

        self._threads.each(count)
        within, beyond = counts
        return within, beyond

    def pull(self, span: Span, votes: Floats, received: Floats) -> None:
        """Add up the votes that each node of a span receives.

        `votes`: what a link of each node within its domain carries, and then what a link of each
        node to other domains does.
        """
        first = 0
        for rows in self._rows(span):
            last = first + rows.order.size
            kernels.pull(*rows, votes, received[first:last])
            first = last

    def _rows(self, span: Span) -> Iterator[Held]:
        if span in self._held:
            return iter((self._held[span],))
        return self._addressed(span)

    def _addressed(self, span: Span) -> Iterator[Held]:
        first = span.first
        for rows in self._graph.rows(CHUNK, *span):
            size = rows.starts.size - 1
            held = _empty(size, rows.targets.size, self._type)
            kernels.address(first, *rows, self._domains, *held)
            yield held
            first += size

    def _hold(self, span: Span) -> Held:
        arcs = int(self._graph.outdegrees(span.first, span.last - span.first).sum())
        held = _empty(span.last - span.first, arcs, self._type)
        node = at = 0
        for rows in self._addressed(span):
            last, end = node + rows.order.size, at + rows.links.size
            if end > arcs:
                raise _damaged()
            held.order[node:last], held.counts[node:last] = rows.order, rows.counts
            held.links[at:end] = rows.links
            node, at = last, end
        if at < arcs:
            raise _damaged()
        return held


def _empty(nodes: int, links: int, kind: type[np.unsignedinteger[Any]]) -> Held:
    return Held(np.empty(nodes, np.uint16), np.empty(nodes, np.uint32), np.empty(links, kind))


def _damaged() -> StoreError:
    return StoreError("the link graph", "its rows and their lengths differ", REMEDY)
