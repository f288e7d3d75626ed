"""Candidates in the order of their scores, as the broker has them from all nodes."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import msgspec

from gossamer.index.schema import host_of
from gossamer.serve.messages import Candidate  # noqa: TC001  # msgspec reads it

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gossamer.serve.messages import Place

HOST_RESULTS = 2
CROWDED = 0.5
"""What a host's results beyond these count: those of others come first that are half as good."""


class Placed(msgspec.Struct, gc=False):
    """A candidate, whose it is, and what it is worth, by its words and in all.

    `partial`: it has not all the words of the query. `cosine`: with it, where the profile of that
    name asks for it. `more`: its host has further results, which come later.
    """

    node: int
    page: Candidate
    partial: bool
    words: float
    score: float
    cosine: float = 0.0
    more: bool = False

    @property
    def place(self) -> tuple[int, Place]:
        return self.node, self.page.place


def in_order(placed: Iterable[Placed]) -> list[Placed]:
    """The best first; equals in an order that does not depend on who has them."""
    return sorted(placed, key=lambda each: (-each.score, each.page.key))


def spread(placed: Sequence[Placed]) -> list[Placed]:
    """The same in an order where a host's further results count CROWDED of their score.

    So page one shows many hosts, where they have something to say. The last of HOST_RESULTS tells
    that its host has more.
    """
    seen: dict[int, int] = defaultdict(int)
    last: dict[int, Placed] = {}
    worth = []
    for each in placed:
        host = host_of(each.page.key)
        seen[host] += 1
        if seen[host] > HOST_RESULTS:
            last[host].more = True
            worth.append(each.score * CROWDED)
        else:
            last[host] = each
            worth.append(each.score)
    order = sorted(range(len(placed)), key=worth.__getitem__, reverse=True)
    return [placed[number] for number in order]
