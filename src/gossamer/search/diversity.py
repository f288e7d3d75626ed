"""The order of the candidates of all nodes: by their scores, further results of a host later."""

from __future__ import annotations

import math
from operator import attrgetter
from typing import TYPE_CHECKING

import msgspec

from gossamer.index.format.page_keys import host_bits
from gossamer.search.messages import Candidate  # noqa: TC001  # msgspec reads it

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gossamer.search.messages import Place

HOST_RESULTS = 2
"""Results per host that count in full."""
CROWDED_FACTOR = 0.5
"""Further results of a host count this share of their score, so results of other hosts that score
more than half as much come first."""


class PlacedPage(msgspec.Struct, gc=False):
    """A candidate, its node, the score of its words (`words`) and its whole `score`.

    `partial`: it lacks some words of the query. `cosine`: of page and query, set only by the
    profile `cosine`. `more`: its host has further results, which come later. `near`: how similar
    it is to the query by its meaning, if it was found by that; `language`: that of such a page.
    """

    node: int
    page: Candidate
    partial: bool
    words: float
    score: float
    cosine: float = 0.0
    more: bool = False
    near: float = 0.0
    language: str = ""

    @property
    def is_only_near(self) -> bool:
        """Whether it was found by its meaning, and not by its words."""
        return self.near > 0 and not self.words

    @property
    def place(self) -> tuple[int, Place]:
        return self.node, self.page.place


def sort_by_score(placed: Iterable[PlacedPage]) -> list[PlacedPage]:
    """The best first. The order of ties does not depend on which node holds a page."""
    by_key = sorted(placed, key=attrgetter("page.key"))
    return sorted(by_key, key=attrgetter("score"), reverse=True)  # stable, in reverse too


def merge_partial_matches(
    whole: Sequence[PlacedPage], partial: Iterable[PlacedPage], better_than: int
) -> list[PlacedPage]:
    """Pages with all words and pages that lack some in one order, the best first.

    `better_than`: if positive, a page that lacks words must score more than as many of `whole`, or
    all of them if they are fewer.
    """
    best = sorted([each.score for each in whole], reverse=True)[:better_than]
    bar = min(best, default=-math.inf)
    return sort_by_score([*whole, *(each for each in partial if each.score > bar)])


def demote_crowded_hosts(
    placed: Sequence[PlacedPage], worth: Sequence[float] | None = None
) -> list[PlacedPage]:
    """Reorder as if each host's results beyond HOST_RESULTS had CROWDED_FACTOR of their score.

    `worth`: used in place of the scores.

    So the first page shows several hosts, if they have relevant pages. If a host has further
    results, the last of its first HOST_RESULTS is marked `more`.
    """
    seen: dict[int, int] = {}
    last: dict[int, PlacedPage] = {}
    worth = [each.score for each in placed] if worth is None else [*worth]
    hosts = [host_bits(each.page.key) for each in placed]
    for number, host in enumerate(hosts):
        seen[host] = count = seen.get(host, 0) + 1
        if count > HOST_RESULTS:
            last[host].more = True
            worth[number] *= CROWDED_FACTOR
        else:
            last[host] = placed[number]
    order = sorted(range(len(placed)), key=worth.__getitem__, reverse=True)
    return [placed[number] for number in order]
