"""The compiled loops of an iteration. Each writes to rows of its own, so threads share nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer.links.bvgraph.compiled import compiled, summing
from gossamer.links.bvgraph.files import CHUNK
from gossamer.links.rank.extrapolation import KEPT

if TYPE_CHECKING:
    import numpy.typing as npt

    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.links.graph.string_arrays import Bytes, Offsets

    Floats = npt.NDArray[np.float64]
    Indices = npt.NDArray[np.int32]
    """Numbers of domains, or of links of a node."""
    Places = npt.NDArray[np.unsignedinteger[Any]]
    """Places in an array of votes, of 32 bits if they fit. They have no sign, because numba would
    look at it in each access."""
    Order = npt.NDArray[np.uint16]
    """Nodes of a chunk, counted from its first one."""
    Counts = npt.NDArray[np.uint32]
    Hashes = npt.NDArray[np.uint64]

BLOCK = 1_024
"""Nodes whose changes fit into the first cache of a processor."""
LENGTHS = 256
"""Lengths by which rows are ordered: this many, less one, and all that are longer."""
FNV_BASIS = np.uint64(0xCBF29CE484222325)
FNV_PRIME = np.uint64(0x100000001B3)


@compiled
def hash_each(offsets: Offsets, data: Bytes, hashes: Hashes) -> None:
    """Write the hash of each string: FNV-1a of 64 bits, by Fowler, Noll and Vo."""
    for n in range(hashes.size):
        found = FNV_BASIS
        for at in range(offsets[n], offsets[n + 1]):
            found = (found ^ np.uint64(data[at])) * FNV_PRIME
        hashes[n] = found


@compiled
def address_votes(
    first: int,
    starts: Numbers,
    sources: Numbers,
    domains: Indices,
    beyond: int,
    counts: Counts,
    links: Places,
    order: Order,
) -> None:
    """Write the rows of a chunk, of the nodes from `first` on, in the order of their lengths.

    So loops over rows that follow each other take equally many turns, which a processor predicts;
    otherwise, `pull_votes` takes half as long again. A row has the places of the votes for its
    node: the vote of node n for nodes of its own domain is at n, and its vote for others at
    n + `beyond`.
    """
    begins = np.zeros(LENGTHS + 1, np.int64)
    for row in range(order.size):
        begins[min(starts[row + 1] - starts[row], LENGTHS - 1) + 1] += 1
    begins = begins.cumsum()
    for row in range(order.size):
        length = min(starts[row + 1] - starts[row], LENGTHS - 1)
        order[begins[length]] = row
        begins[length] += 1
    at = 0
    for n in range(order.size):
        node = np.int64(order[n])
        domain = domains[first + node]
        counts[n] = starts[node + 1] - starts[node]
        for source in sources[starts[node] : starts[node + 1]]:
            links[at] = source if domains[source] == domain else source + beyond
            at += 1


@compiled
def count_votes(links: Places, counts: Indices) -> None:
    """Count the links that carry each vote: add the number of those that have each place."""
    for at in range(links.size):
        counts[links[at]] += 1


@compiled
def count_changes(places: Numbers, counts: Indices) -> None:
    """Count the links that were added at some places, and subtract those removed at ~place."""
    for place in places:
        if place >= 0:
            counts[place] += 1
        else:
            counts[~place] -= 1


@compiled
def pull_votes(
    counts: Counts, links: Places, order: Order, votes: Floats, received: Floats
) -> float:
    """Add up the votes that each node receives, of rows that begin with a chunk; and all of them.

    Slices of a chunk are indexed from 0 or by numbers without a sign: numba compares others with 0.
    """
    begin, total = np.int64(0), 0.0
    for first in range(0, order.size, CHUNK):
        nodes = order[first : first + CHUNK]
        lengths, found = counts[first : first + CHUNK], received[first : first + CHUNK]
        for n in range(nodes.size):
            votes_of_row = 0.0
            end = begin + np.int64(lengths[n])
            for place in links[begin:end]:
                votes_of_row += votes[place]
            found[nodes[n]] = votes_of_row
            total += votes_of_row
            begin = end
    return total


@compiled
def correct_votes(nodes: Numbers, places: Numbers, votes: Floats, received: Floats) -> float:
    """Add the votes at some places to those that nodes receive; subtract that at ~place.

    Returns the sum.
    """
    total = 0.0
    for n in range(nodes.size):
        place = places[n]
        vote = votes[place] if place >= 0 else -votes[~place]
        received[nodes[n]] += vote
        total += vote
    return total


@summing
def move_ranks(
    received: Floats,
    ranks: Floats,
    preference: Floats,
    damping: float,
    spread: float,
    inner: Floats,
    outer: Floats,
    within: Floats,
    beyond: Floats,
) -> float:
    """Replace the votes received by the ranks that follow from them, and write the next votes.

    `spread`: the rank that is divided among all nodes by preference. Returns the sum of the
    absolute changes.
    """
    total = 0.0
    for node in range(ranks.size):
        rank = damping * received[node] + spread * preference[node]
        total += abs(rank - ranks[node])
        received[node] = rank
        within[node] = inner[node] * rank
        beyond[node] = outer[node] * rank
    return total


@compiled
def cast_votes(ranks: Floats, inner: Floats, outer: Floats, within: Floats, beyond: Floats) -> None:
    """Write what each link of a node within its domain carries, and each link to others."""
    for node in range(ranks.size):
        rank = ranks[node]
        within[node] = inner[node] * rank
        beyond[node] = outer[node] * rank


@compiled
def multiply_changes(ranks: tuple[Floats, ...], products: Floats) -> None:
    """Add up the products of the changes between the last ranks, newest first, with each other."""
    changes = np.empty((KEPT, BLOCK))
    size = ranks[0].size
    for first in range(0, size, BLOCK):
        last = min(first + BLOCK, size)
        for n in range(KEPT):
            _subtract(ranks[n][first:last], ranks[n + 1][first:last], changes[n])
        for n in range(KEPT):
            for other in range(n + 1):
                found = _product(changes[n, : last - first], changes[other, : last - first])
                products[n, other] += found
                products[other, n] = products[n, other]


@compiled
def _subtract(newer: Floats, older: Floats, changes: Floats) -> None:
    for node in range(newer.size):
        changes[node] = newer[node] - older[node]


@summing
def _product(ours: Floats, theirs: Floats) -> float:
    """The inner product."""
    found = 0.0
    for n in range(ours.size):
        found += ours[n] * theirs[n]
    return found


@compiled
def combine_ranks(ranks: tuple[Floats, ...], weights: Floats) -> None:
    """Replace the oldest ranks by the weighted sums of the others."""
    into = ranks[KEPT]
    for node in range(into.size):
        found = 0.0
        for n in range(KEPT):
            found += weights[n] * ranks[n][node]
        into[node] = found
