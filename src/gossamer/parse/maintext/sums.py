"""Sums over ranges of a page's blocks, as differences of prefix sums."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from gossamer.parse.maintext.blocks import CELLS, HEADINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gossamer.parse.maintext.blocks import Block

ONLY_LINKS: Final = 0.75
"""Share of a block's characters in links from which on it counts as nothing but links."""
TABULAR: Final = CELLS - {"li"} | {"pre"}
"""Tags of definitions, tables and code: a link there is a name, not a teaser."""


def prefix_sums(values: Iterable[int]) -> list[int]:
    return list(accumulate(values, initial=0))


class Amounts(NamedTuple):
    """Totals over some blocks."""

    prose: int
    chars: int
    link_chars: int
    links: int
    teasers: int
    """Characters of blocks that are only links."""
    headlines: int
    """Number of headings that are only links. Each leads to another article."""

    @property
    def written(self) -> int:
        """Number of characters outside links."""
        return self.chars - self.link_chars


class Sums(NamedTuple):
    """Prefix sums over the kept blocks: entry i is the total of blocks 0 to i - 1."""

    prose: list[int]
    chars: list[int]
    link_chars: list[int]
    links: list[int]
    teasers: list[int]
    headlines: list[int]

    @classmethod
    def of(cls, blocks: Sequence[Block], prose: Sequence[int], kept: Sequence[bool]) -> Sums:
        columns: list[list[int]] = [[0] for _ in cls._fields]
        all_prose, all_chars, all_link_chars, all_links, all_teasers, all_headlines = columns
        prose_sum = chars = link_chars = links = teasers = headlines = 0
        for block, weight, keep in zip(blocks, prose, kept, strict=True):
            if keep:
                prose_sum += weight
                chars += block.chars
                link_chars += block.link_chars
                links += block.links
                if block.link_chars >= ONLY_LINKS * block.chars and block.tag not in TABULAR:
                    teasers += block.chars
                    headlines += block.tag in HEADINGS
            all_prose.append(prose_sum)
            all_chars.append(chars)
            all_link_chars.append(link_chars)
            all_links.append(links)
            all_teasers.append(teasers)
            all_headlines.append(headlines)
        return cls(*columns)

    def between(self, start: int, end: int) -> Amounts:
        return Amounts(*[column[end] - column[start] for column in self])
