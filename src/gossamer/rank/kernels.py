"""The compiled loops of an iteration. Each writes to rows of its own, so threads share nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer.bvgraph.compiled import compiled

if TYPE_CHECKING:
    import numpy.typing as npt

    from gossamer.bvgraph.codes import Numbers
    from gossamer.graph.text import Bytes, Offsets

    Floats = npt.NDArray[np.float64]
    Indices = npt.NDArray[np.int32]
    """Numbers of domains, or of links of a node."""
    Places = npt.NDArray[np.unsignedinteger[Any]]
    """Places in an array of votes, of 32 bits if they fit. They have no sign, because numba would
    look at it in each access."""
    Hashes = npt.NDArray[np.uint64]

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
def address(first: int, starts: Numbers, sources: Numbers, domains: Indices, links: Places) -> None:
    """Write the places of the votes that the nodes from `first` on receive to `links`.

    A node's vote for nodes of its own domain is at the place of its number, and its vote for others
    `domains.size` places further.
    """
    for row in range(starts.size - 1):
        domain = domains[first + row]
        for at in range(starts[row], starts[row + 1]):
            source = sources[at]
            links[at] = source if domains[source] == domain else source + domains.size


@compiled
def count(links: Places, counts: Indices) -> None:
    """Count the links that carry each vote: add the number of those that have each place."""
    for at in range(links.size):
        counts[links[at]] += 1


@compiled
def pull(starts: Numbers, links: Places, votes: Floats, received: Floats) -> float:
    """Add up the votes that each node receives; return the sum of all."""
    total = 0.0
    for row in range(starts.size - 1):
        votes_of_row = 0.0
        for at in range(starts[row], starts[row + 1]):
            votes_of_row += votes[links[at]]
        received[row] = votes_of_row
        total += votes_of_row
    return total


@compiled
def move(
    received: Floats,
    preference: Floats,
    ranks: Floats,
    changes: Floats,
    damping: float,
    spread: float,
    last: Floats,
    before: Floats,
) -> tuple[float, float, float, float]:
    """Replace the votes received by the ranks that follow from them, and write the changes.

    `spread`: the rank that is divided among all nodes by preference. Returns the sum of the
    absolute changes, and the products of the changes with themselves, the last ones and those
    before.
    """
    total, square, with_last, with_those_before = 0.0, 0.0, 0.0, 0.0
    for node in range(ranks.size):
        rank = damping * received[node] + spread * preference[node]
        change = rank - ranks[node]
        total += abs(change)
        square += change * change
        with_last += change * last[node]
        with_those_before += change * before[node]
        received[node], changes[node] = rank, change
    return total, square, with_last, with_those_before


@compiled
def combine(new: Floats, last: Floats, before: Floats, weights: Floats, ranks: Floats) -> None:
    """Write the weighted sums of three ranks of each node."""
    for node in range(ranks.size):
        ranks[node] = weights[0] * new[node] + weights[1] * last[node] + weights[2] * before[node]


@compiled
def vote(ranks: Floats, inner: Floats, outer: Floats, within: Floats, beyond: Floats) -> None:
    """Write what each link of a node within its domain carries, and each link to others."""
    for node in range(ranks.size):
        within[node] = ranks[node] * inner[node]
        beyond[node] = ranks[node] * outer[node]
