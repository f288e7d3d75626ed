"""Figures of the status page that only it shows: how many links pages have."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from gossamer.links.graph.queries import Spread


class DegreeRange(msgspec.Struct, frozen=True):
    """How many pages have `least` to `most` inlinks, and outlinks."""

    least: int
    most: int
    with_inlinks: int
    with_outlinks: int


def degrees(spread: Spread | None) -> list[DegreeRange]:
    """Count pages by their numbers of links, in ranges that double: 0, 1, 2 to 3, 4 to 7 etc."""
    if spread is None:
        return []
    counts: list[Counter[int]] = []
    for points in spread:
        counts.append(Counter())
        for degree, pages in points:
            counts[-1][degree.bit_length()] += pages
    last = max((bits for count in counts for bits in count), default=-1)
    return [
        DegreeRange((1 << bits) >> 1, (1 << bits) - 1, *(count[bits] for count in counts))
        for bits in range(last + 1)
    ]
