"""The loops of an iteration. Each writes to rows of its own, so threads share nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer.links.graph.string_arrays import string_bounds
from gossamer.native import are_places, are_starts, native

if TYPE_CHECKING:
    import numpy.typing as npt

    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.links.graph.string_arrays import Bytes, Offsets

    Floats = npt.NDArray[np.float64]
    Indices = npt.NDArray[np.int32]
    """Numbers of domains, or of links of a node."""
    Places = npt.NDArray[np.unsignedinteger[Any]]
    """Places in an array of votes, of 32 bits if they fit."""
    Order = npt.NDArray[np.uint16]
    """Nodes of a chunk, counted from its first one."""
    Counts = npt.NDArray[np.uint32]
    Hashes = npt.NDArray[np.uint64]

LENGTHS = 256
"""Lengths by which rows are ordered: this many, less one, and all that are longer."""
FNV_BASIS = 0xCBF29CE484222325
FNV_PRIME = 0x100000001B3
ALL = (1 << 64) - 1


@native
def hash_each(offsets: Offsets, data: Bytes, hashes: Hashes) -> None:
    """Write the hash of each string: FNV-1a of 64 bits, by Fowler, Noll and Vo."""
    for n, (begin, end) in enumerate(string_bounds(offsets, data)):
        found = FNV_BASIS
        for byte in data[begin:end]:
            found = (found ^ byte) * FNV_PRIME & ALL
        hashes[n] = found


@native
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
    if not are_starts(starts, len(sources)) or not are_places(sources, len(domains)):
        raise ValueError("address_votes: rows that are not inside their arrays")
    lengths = np.diff(starts)
    by_length = np.argsort(np.minimum(lengths, LENGTHS - 1), kind="stable")
    np.asarray(order)[:] = by_length
    np.asarray(counts)[:] = lengths = lengths[by_length]
    begins = np.asarray(starts)[by_length] - (lengths.cumsum() - lengths)
    ours = np.asarray(sources)[np.repeat(begins, lengths) + np.arange(len(links))]
    of_nodes = np.asarray(domains)
    differ = of_nodes[ours] != np.repeat(of_nodes[first + by_length], lengths)
    np.asarray(links)[:] = ours + beyond * differ


@native
def count_votes(links: Places, counts: Indices) -> None:
    """Count the links that carry each vote: add the number of those that have each place."""
    np.add.at(np.asarray(counts), np.asarray(links), 1)


def count_changes(places: Numbers, counts: Indices) -> None:
    """Count the links that were added at some places, and subtract those removed at ~place."""
    is_added = places >= 0
    np.add.at(counts, places[is_added], 1)
    np.subtract.at(counts, ~places[~is_added], 1)


@native
def pull_votes(
    chunk: int, counts: Counts, links: Places, order: Order, votes: Floats, received: Floats
) -> float:
    """Add up the votes that each node receives, of rows that begin with a chunk; and all of them.

    `chunk`: the nodes of a chunk. All sums are in the order of the links, and then of the rows.
    """
    pulled = np.asarray(votes)[np.asarray(links)]
    begin, total = 0, 0.0
    for first in range(0, len(order), chunk):
        nodes = np.asarray(order[first : first + chunk])
        lengths = np.asarray(counts[first : first + chunk])
        end = begin + int(lengths.sum())
        rows = np.repeat(nodes, lengths)
        found = np.bincount(rows, pulled[begin:end], nodes.size)
        np.asarray(received)[first : first + chunk] = found
        total = float(np.append(total, found[nodes]).cumsum()[-1])
        begin = end
    return total


def correct_votes(nodes: Numbers, places: Numbers, votes: Floats, received: Floats) -> float:
    """Add the votes at some places to those that nodes receive; subtract that at ~place.

    Returns the sum.
    """
    is_added = places >= 0
    changes = np.where(is_added, 1.0, -1.0) * votes[np.where(is_added, places, ~places)]
    np.add.at(received, nodes, changes)
    return float(changes.sum())


@native
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
    found, moved = np.asarray(received), damping * np.asarray(received)
    moved += spread * np.asarray(preference)
    found[:] = moved
    np.multiply(inner, moved, out=np.asarray(within))
    np.multiply(outer, moved, out=np.asarray(beyond))
    return float(np.abs(moved - np.asarray(ranks)).sum())


def cast_votes(ranks: Floats, inner: Floats, outer: Floats, within: Floats, beyond: Floats) -> None:
    """Write what each link of a node within its domain carries, and each link to others."""
    np.multiply(inner, ranks, out=within)
    np.multiply(outer, ranks, out=beyond)


@native
def multiply_changes(*arrays: Floats) -> None:
    """Add up the products of the changes between the last ranks, newest first, with each other.

    `arrays`: these ranks, and the array of the products.
    """
    *ranks, products = map(np.asarray, arrays)
    changes = np.diff(ranks, axis=0)
    products += np.einsum("ik,jk->ij", changes, changes).ravel()


@native
def combine_ranks(*arrays: Floats) -> None:
    """Replace the oldest ranks by the weighted sums of the others.

    `arrays`: the last ranks, newest first, and the weights.
    """
    *ranks, into, weights = map(np.asarray, arrays)
    into[:] = sum(weight * each for weight, each in zip(weights, ranks, strict=True))
