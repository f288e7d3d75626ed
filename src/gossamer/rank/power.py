"""PageRank as the fixed point of a contraction, in arrays.

With s[u→v] the share of u's vote that its link to v carries (`shares.py`), f[u] the factor of u's
votes, t the preference vector, which sums to 1, and α the damping:

    x(t+1)[v] = α · Σ_{u→v} f[u]·s[u→v]·x(t)[u] + (1 − α·Σ_u kept[u]·x(t)[u]) · t[v]

where kept[u] is f[u] if u has links, and 0 if it is dangling: rank that no link carries is given to
all nodes by preference. As dangling nodes and teleporting share one vector, this is the strongly
preferential PageRank of Boldi, Santini and Vigna ("PageRank: Functional dependencies", ACM TOIS
27(4), 2009).

The error is bounded, not guessed. The map T that takes x(t) to x(t+1) is affine; its linear part,
on vectors whose sum is zero, is α times a matrix P whose columns sum to 1 and have no negative
entries: column u has f[u]·s[u→v] for its links, and (1 − kept[u])·t besides. So
‖T(x) − T(y)‖₁ = α·‖P(x − y)‖₁ ≤ α·‖x − y‖₁. With T(x*) = x*,

    ‖x(t+1) − x*‖ ≤ α·‖x(t) − x*‖ ≤ α·(‖x(t+1) − x(t)‖ + ‖x(t+1) − x*‖), hence
    ‖x(t+1) − x*‖₁ ≤ α/(1 − α) · ‖x(t+1) − x(t)‖₁

which is where iterations stop, from whatever ranks they start. So x(t+1) need not be T(x(t)): it is
accelerated (`acceleration.py`), which halves the number of iterations. If a change is larger than
what plain iterations guarantee, α times the change before, the next one starts from the last T(x)
that is not; so the changes always become smaller. The ranks that are returned are a T(x). Any that
are below 0, by less than the error, become 0, which is nearer to their true values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gossamer.rank import kernels
from gossamer.rank.acceleration import KEPT, Weights
from gossamer.rank.rows import Span

if TYPE_CHECKING:
    from gossamer.config import RankConfig
    from gossamer.rank.kernels import Floats
    from gossamer.rank.rows import Threads, Votes
    from gossamer.rank.shares import Shares


class Ranked(NamedTuple):
    ranks: Floats
    iterations: int
    error: float
    """A bound on Σ|rank − true rank|."""


def bound(change: float, damping: float) -> float:
    """The error of ranks that the last iteration changed by this sum."""
    return damping / (1 - damping) * change


def fixed_point(
    votes: Votes,
    shares: Shares,
    preference: Floats,
    start: Floats,
    config: RankConfig,
    threads: Threads,
) -> Ranked:
    """The ranks of all nodes. `start` sums to 1, and is overwritten.

    `shares`: of the nodes of the graph, with their factors. `preference` and `start` may have more
    nodes, at their end, that have no links.
    """
    nodes = shares.inner.size
    images = [start, *(np.zeros(start.size) for _ in range(KEPT - 1))]  # T(ranks), newest first
    changes = [np.zeros(start.size) for _ in range(KEPT)]  # images without their ranks
    ranks = np.empty(start.size)
    carried = np.empty((2, nodes))
    alone = Span(nodes, ranks.size)
    weights, spread = Weights(), 0.0

    def move(span: Span) -> Floats:
        part = slice(*span)
        new, *last = (change[part] for change in changes)
        moved = images[0][part], preference[part], ranks[part], new
        return np.array(kernels.move(*moved, config.damping, spread, *last))

    def combine(span: Span) -> None:
        part = slice(*span)
        new, last, before = (image[part] for image in images)
        kernels.combine(new, last, before, weights.now, ranks[part])

    def vote(span: Span) -> None:
        combine(span)
        part = slice(*span)
        kernels.vote(ranks[part], shares.inner[part], shares.outer[part], *carried[:, part])

    iteration, error = 0, np.inf
    while error > config.tolerance and iteration < config.iterations and ranks.size:
        iteration += 1
        combine(alone)
        threads.each(vote)
        images, changes = ([*kept[-1:], *kept[:-1]] for kept in (images, changes))
        images[0][nodes:] = 0  # which nobody votes for
        spread = 1 - config.damping * votes.pull(carried.ravel(), images[0])
        change, *products = sum(threads.each(move), move(alone))
        if weights.are_plain or bound(change, config.damping) <= config.damping * error:
            error = bound(change, config.damping)
            weights.learn(products)
        else:
            weights.forget()
    return Ranked(np.maximum(images[weights.best], 0.0), iteration, error)
