"""The rows of a graph for an iteration: the votes for each page.

The graph as it was built, if it fits into the memory given, is decoded once and held, at four bytes
per link and six per node. The rows of a larger one are decoded in each iteration, and once to count
the links of each page. What changed since is added to the votes and subtracted. In all cases the
nodes are divided into spans, on which threads work concurrently. The spans depend on the graph
only, so the results do not depend on the number of threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate, pairwise, starmap
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from gossamer.errors import StoreError
from gossamer.links.bvgraph import REMEDY
from gossamer.links.bvgraph.files import CHUNK
from gossamer.links.graph.overlay import split_overlay
from gossamer.links.rank import kernels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.links.bvgraph.files import BvGraph
    from gossamer.links.graph.overlay import Changes, Overlaid
    from gossamer.links.rank.kernels import Counts, Floats, Indices, Order, Places

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


class VoteRows(NamedTuple):
    """Rows of consecutive nodes: the places of the votes for each (`kernels.address_votes`)."""

    counts: Counts
    """The votes for each node, in the order of the rows here."""
    links: Places
    order: Order
    """The node of each row, counted from the first one of its chunk."""


class SpanThreads:
    """Threads that work on the spans of a graph: a context manager."""

    def __init__(self, nodes: int, threads: int) -> None:
        size = max(-(-nodes // (SPANS * CHUNK)), 1) * CHUNK
        self.spans = [Span(first, min(first + size, nodes)) for first in range(0, nodes, size)]
        self._others = threads - 1
        self._pool = ThreadPoolExecutor(threads)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    def each(self, work: Callable[[Span], Made], *more: Span) -> list[Made]:
        """What `work` makes of each span, and of more of them.

        Each thread, this one too, takes the next span when it has finished one: a task of the pool
        per span would take as long as a fifth of the work of an iteration.
        """
        spans = (*self.spans, *more)
        left, made = iter(range(len(spans))), dict[int, Made]()

        def work_on() -> None:
            for number in left:
                made[number] = work(spans[number])

        others = [self._pool.submit(work_on) for _ in spans[1 : self._others + 1]]
        work_on()
        for other in others:
            other.result()
        return [made[number] for number in range(len(spans))]


class Votes:
    """The votes for each node of a graph, which is given transposed."""

    def __init__(
        self,
        transposed: BvGraph | Overlaid,
        domains: Indices,
        memory_bytes: float,
        threads: SpanThreads,
    ) -> None:
        """`domains`: the number of the domain of each node."""
        self._base, changes = split_overlay(transposed)
        self._domains, self._threads = domains, threads
        self.beyond = transposed.nodes
        """Where the votes for nodes of other domains begin."""
        self._type: type[np.unsignedinteger[Any]] = (
            np.uint32 if 2 * self.beyond <= MAX_UINT32 else np.uint64
        )
        self._changed, self._changes = self._address_changes(changes)
        size = np.dtype(self._type).itemsize
        needed = size * self._base.arcs + BYTES_PER_NODE * self._base.nodes
        self._held = self._decode_all() if needed <= memory_bytes else None
        """The rows of the graph as it was built; None if they do not fit."""
        self._links: dict[Span, slice] = {}
        """The links of each span that are held."""
        if self._held is not None:
            counts = self._held.counts
            sums = threads.each(lambda span: int(counts[slice(*span)].sum()))
            ends = pairwise(accumulate(sums, initial=0))
            self._links = dict(zip(threads.spans, starmap(slice, ends), strict=True))

    def links(self) -> tuple[Indices, Indices]:
        """How many links of each node are within its domain, and how many lead to others.

        Rows are decoded by threads, but counted by one at a time: a node may have links to all
        spans, and counting takes little beside decoding.
        """
        counts = np.zeros((2, self.beyond), np.int32)
        one_at_a_time = Lock()

        def count(span: Span) -> None:
            for rows in self._rows(span):
                with one_at_a_time:
                    kernels.count_votes(rows.links, counts.ravel())

        self._threads.each(count)
        kernels.count_changes(self._changes, counts.ravel())
        within, beyond = counts[:, : self._domains.size]
        return within, beyond

    def pull(self, span: Span, votes: Floats, received: Floats) -> float:
        """Add up the votes that each node of a span receives, and return the sum of all of them.

        `votes`: what a link of each node within its domain carries, and from `beyond` on, what a
        link of each node to other domains does.
        """
        node, total = 0, 0.0
        for rows in self._rows(span):
            end = node + rows.counts.size
            total += kernels.pull_votes(CHUNK, *rows, votes, received[node:end])
            node = end
        received[node:] = 0  # of the nodes that were added since
        begin, end = np.searchsorted(self._changed, span)
        return total + kernels.correct_votes(
            self._changed[begin:end] - span.first, self._changes[begin:end], votes, received
        )

    def _rows(self, span: Span) -> Iterator[VoteRows]:
        """The rows of the nodes of a span that were in the graph as it was built."""
        if self._held is None:
            return self._decode(span)
        counts, links, order = self._held
        part = slice(*span)
        return iter((VoteRows(counts[part], links[self._links[span]], order[part]),))

    def _decode(self, span: Span) -> Iterator[VoteRows]:
        first, last = (min(node, self._base.nodes) for node in span)
        for rows in self._base.rows(CHUNK, first, last):
            size = rows.starts.size - 1
            held = self._empty(size, rows.targets.size)
            where = self._domains, self.beyond
            kernels.address_votes(first, *rows, *where, held.counts, held.links, held.order)
            yield held
            first += size

    def _decode_all(self) -> VoteRows:
        """All rows."""
        base = self._base
        held = self._empty(base.nodes, base.arcs)
        degrees = base.outdegrees(0, base.nodes)
        starts = np.append(0, degrees.cumsum())
        if starts[-1] != base.arcs:
            raise _damaged_rows()

        def decode(span: Span) -> None:
            node, end = (min(node, base.nodes) for node in span)
            for rows in self._decode(span):
                last = node + rows.counts.size
                begin, size = starts[node], rows.links.size
                if begin + size != starts[last]:
                    raise _damaged_rows()
                held.counts[node:last], held.order[node:last] = rows.counts, rows.order
                held.links[begin : begin + size] = rows.links
                node = last
            if node != end:
                raise _damaged_rows()

        self._threads.each(decode)
        return held

    def _empty(self, nodes: int, links: int) -> VoteRows:
        return VoteRows(
            np.empty(nodes, np.uint32), np.empty(links, self._type), np.empty(nodes, np.uint16)
        )

    def _address_changes(self, changes: Changes) -> tuple[Numbers, Numbers]:
        """The nodes whose votes changed, and the places of these votes, of removed ones as ~place.

        Raises StoreError for nodes that the graph does not have.
        """
        nodes, voters = changes
        is_added = voters >= 0
        voters = np.where(is_added, voters, ~voters)
        if max(nodes.max(initial=0), voters.max(initial=0)) >= max(self._domains.size, 1):
            raise _damaged_rows()
        places = voters + self.beyond * (self._domains[voters] != self._domains[nodes])
        return nodes, np.where(is_added, places, ~places)


def _damaged_rows() -> StoreError:
    return StoreError("the link graph", "its rows and their lengths differ", REMEDY)
