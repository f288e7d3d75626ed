"""PageRank as the fixed point of a contraction, in arrays.

With s[u→v] the share of u's vote that its link to v carries (`vote_shares.py`), f[u] the factor of
u's votes, t the preference vector, which sums to 1, and α the damping:

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
extrapolated now and then (`extrapolation.py`), which halves the number of iterations. The ranks
that are returned are a T(x). Any that are below 0, by less than the error, become 0, which is
nearer to their true values.

An iteration is two passes over the nodes, a span of them at a time: each adds up the votes that it
receives; then, each writes its own for the next iteration over the last ones. The kept part of all
ranks is what all nodes receive together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gossamer.links.rank import kernels
from gossamer.links.rank.extrapolation import KEPT, ExtrapolationCycle, extrapolation_weights
from gossamer.links.rank.vote_rows import Span
from gossamer.links.rank.vote_shares import Shares, link_shares

if TYPE_CHECKING:
    from gossamer.config import RankConfig
    from gossamer.links.rank.kernels import Floats
    from gossamer.links.rank.vote_rows import SpanThreads, Votes


class FixedPoint(NamedTuple):
    ranks: Floats
    iterations: int
    error: float
    """A bound on Σ|rank − true rank|."""


def share_votes(votes: Votes, weight: float, factor: Floats, threads: SpanThreads) -> Shares:
    """Share the ranks of nodes among their links.

    `weight`: as in `link_shares`; `factor`: of each node's votes.
    """
    links = votes.links()
    found = Shares(*(np.empty(factor.size) for _ in Shares._fields))

    def share(span: Span) -> None:  # whose arrays fit into a processor's cache
        part = slice(*span)
        within, beyond = (each[part] for each in links)
        each = link_shares(within, beyond, weight)
        for whole, of_span in zip(found, each, strict=True):
            np.multiply(of_span, factor[part], out=whole[part])

    threads.each(share)
    return found


def error_bound(change: float, damping: float) -> float:
    """The error of ranks that the last iteration changed by this sum."""
    return damping / (1 - damping) * change


def fixed_point(
    votes: Votes,
    shares: Shares,
    preference: Floats,
    start: Floats,
    config: RankConfig,
    threads: SpanThreads,
) -> FixedPoint:
    """The ranks of all nodes. `start` sums to 1, and is overwritten.

    `preference` and `start` may have more nodes, at their end, that have no links.
    """
    iterates = _Iterates(votes, shares, preference, start, config.damping, threads)
    cycle = ExtrapolationCycle(config.damping)
    iteration, error = 0, np.inf
    while error > config.tolerance and iteration < config.iterations and start.size:
        if cycle.is_over:
            iterates.extrapolate()
            cycle.extrapolated()
        iteration += 1
        change = iterates.advance()
        if cycle.keeps(change):
            error = error_bound(change, config.damping)
        else:
            iterates.go_back()
    return FixedPoint(np.maximum(iterates.newest, 0.0), iteration, error)


class _Iterates:
    """The last ranks, and the votes that follow from the newest."""

    def __init__(
        self,
        votes: Votes,
        shares: Shares,
        preference: Floats,
        start: Floats,
        damping: float,
        threads: SpanThreads,
    ) -> None:
        self._votes, self._shares, self._preference = votes, shares, preference
        self._damping, self._threads = damping, threads
        nodes = shares.inner.size
        self._alone = Span(nodes, start.size)
        """The nodes without links, which receive no votes."""
        self._ranks = [start, *(np.empty(start.size) for _ in range(KEPT))]
        """Newest first."""
        self._cast = np.zeros((2, votes.beyond))
        """What each link of each node carries, within its domain and to others."""
        self._vote()

    @property
    def newest(self) -> Floats:
        return self._ranks[0]

    def advance(self) -> float:
        """Make T(x) of the newest ranks x the newest; return ‖T(x) − x‖₁."""
        self._ranks = [self._ranks[-1], *self._ranks[:-1]]
        new, old = self._ranks[:2]

        def pull(span: Span) -> float:
            return self._votes.pull(span, self._cast.ravel(), new[slice(*span)])

        spread = 1 - self._damping * sum(self._threads.each(pull))

        def move(span: Span) -> float:
            part = slice(*span)
            return kernels.move_ranks(
                new[part],
                old[part],
                self._preference[part],
                self._damping,
                spread,
                *self._shares_of(part),
                *self._cast[:, part],
            )

        change = sum(self._threads.each(move))
        alone = slice(*self._alone)
        new[alone] = spread * self._preference[alone]
        return float(change + np.abs(new[alone] - old[alone]).sum())

    def extrapolate(self) -> None:
        """Make a combination of the last images the newest ranks."""

        def multiply(span: Span) -> Floats:
            found = np.zeros((KEPT, KEPT))
            kernels.multiply_changes(*self._part(span), found)
            return found

        products = sum(self._threads.each(multiply, self._alone), np.zeros((KEPT, KEPT)))
        found = extrapolation_weights(products)
        self._threads.each(
            lambda span: kernels.combine_ranks(*self._part(span), found), self._alone
        )
        self._ranks = [self._ranks[-1], *self._ranks[:-1]]
        self._vote()

    def go_back(self) -> None:
        """Return to the ranks before the last extrapolation."""
        self._ranks = [*self._ranks[2:], *self._ranks[:2]]
        self._vote()

    def _part(self, span: Span) -> tuple[Floats, ...]:
        return tuple(ranks[slice(*span)] for ranks in self._ranks)

    def _vote(self) -> None:
        def vote(span: Span) -> None:
            part = slice(*span)
            kernels.cast_votes(self.newest[part], *self._shares_of(part), *self._cast[:, part])

        self._threads.each(vote)

    def _shares_of(self, part: slice) -> tuple[Floats, Floats]:
        inner, outer = self._shares
        return inner[part], outer[part]
