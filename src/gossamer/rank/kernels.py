"""The compiled loops of an iteration. Each writes to rows of its own, so threads share nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gossamer.bvgraph.compiled import compiled

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from gossamer.bvgraph.codes import Numbers

    Floats = npt.NDArray[np.float64]
    Indices = npt.NDArray[np.int32]
    """Numbers of domains, or of links of a node."""
    Places = npt.NDArray[np.unsignedinteger[Any]]
    """Places in an array of votes, of 32 bits if they fit. They have no sign, because numba would
    look at it in each access."""


@compiled
def count(first: int, starts: Numbers, targets: Numbers, domains: Indices, within: Indices) -> None:
    """Count the links of the nodes from `first` on that stay in the domain of their node."""
    for row in range(starts.size - 1):
        domain = domains[first + row]
        found = 0
        for at in range(starts[row], starts[row + 1]):
            found += domains[targets[at]] == domain
        within[row] = found


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
    received: Floats, preference: Floats, damping: float, spread: float, ranks: Floats
) -> float:
    """Replace ranks by those of the next iteration; return the sum of the changes.

    `spread`: the rank that is divided among all nodes by preference.
    """
    change = 0.0
    for node in range(ranks.size):
        rank = damping * received[node] + spread * preference[node]
        change += abs(rank - ranks[node])
        ranks[node] = rank
    return change


@compiled
def vote(ranks: Floats, inner: Floats, outer: Floats, within: Floats, beyond: Floats) -> None:
    """Write what each link of a node within its domain carries, and each link to others."""
    for node in range(ranks.size):
        within[node] = ranks[node] * inner[node]
        beyond[node] = ranks[node] * outer[node]
