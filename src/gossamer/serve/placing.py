"""Candidates in the order of their scores, as the broker has them from all nodes."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import msgspec

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
    of_host: dict[int, list[Placed]] = defaultdict(list)
    worth = []
    for each in placed:
        ours = of_host[each.page.host]
        ours.append(each)
        if len(ours) > HOST_RESULTS:
            ours[HOST_RESULTS - 1].more = True
        worth.append(each.score * (CROWDED if len(ours) > HOST_RESULTS else 1))
    order = sorted(range(len(placed)), key=lambda number: -worth[number])
    return [placed[number] for number in order]
