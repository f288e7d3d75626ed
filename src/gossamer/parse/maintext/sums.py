"""Sums over ranges of a page's blocks, as differences of prefix sums."""

from __future__ import annotations

from collections.abc import Sequence  # noqa: TC003  # mypyc reads the annotations
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from gossamer.parse.maintext.blocks import CELLS, HEADINGS

if TYPE_CHECKING:
    from collections.abc import Iterable

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

    prose: Sequence[int]
    chars: Sequence[int]
    link_chars: Sequence[int]
    links: Sequence[int]
    teasers: Sequence[int]
    headlines: Sequence[int]

    @classmethod
    def of(cls, blocks: Sequence[Block], prose: Sequence[int], kept: Sequence[bool]) -> Sums:
        none = (0,) * len(cls._fields)
        rows = [
            _amounts(block, weight) if keep else none
            for block, weight, keep in zip(blocks, prose, kept, strict=True)
        ]
        columns = zip(*rows, strict=True) if rows else ((),) * len(none)
        return cls(*[prefix_sums(column) for column in columns])

    def between(self, start: int, end: int) -> Amounts:
        return Amounts(*[column[end] - column[start] for column in self])


def _amounts(block: Block, prose: int) -> tuple[int, ...]:
    chars, link_chars = block.chars, block.link_chars
    if link_chars < ONLY_LINKS * chars or block.tag in TABULAR:
        return prose, chars, link_chars, block.links, 0, 0
    return prose, chars, link_chars, block.links, chars, block.tag in HEADINGS
