"""Sums over ranges of a page's blocks: of a range it is that at its end less that at its start."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from gossamer.parse.maintext.blocks import CELLS, HEADINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gossamer.parse.maintext.blocks import Block

LINKS_ALONE = 0.75
"""Of a block's characters: it is a link with some words around."""
TABULAR = CELLS - {"li"} | {"pre"}
"""Definitions, tables and code: what is a link there is a name, and no teaser."""


def prefix_sums(values: Iterable[int]) -> list[int]:
    return list(accumulate(values, initial=0))


class Amounts(NamedTuple):
    """Of some blocks together."""

    prose: int
    chars: int
    link_chars: int
    links: int
    teasers: int
    """Characters of blocks that are links alone."""
    headlines: int
    """Headings that are links alone: each leads to an article, whatever is said of it below."""

    @property
    def written(self) -> int:
        """Characters that are in no link."""
        return self.chars - self.link_chars


class Sums(NamedTuple):
    """Amounts of the blocks that are kept, up to each block and to the end."""

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
    if link_chars < LINKS_ALONE * chars or block.tag in TABULAR:
        return prose, chars, link_chars, block.links, 0, 0
    return prose, chars, link_chars, block.links, chars, block.tag in HEADINGS
