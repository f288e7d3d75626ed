"""The lines of a format without elements as blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.parse.rendition.blocks import Heading, Paragraph, Run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gossamer.parse.rendition.blocks import Block

LEVEL = 2
"""Level of all headings but the title, as parsers return their texts only."""


def lines_as_blocks(text: str, headings: Sequence[str], title: str) -> Iterator[Block]:
    """Yield a paragraph for each line, or a heading if it is the next of `headings`."""
    expected = iter([*headings, None])
    heading = next(expected)
    for line in text.splitlines():
        if line == heading:
            yield Heading(1 if line == title else LEVEL, [Run(line)])
            heading = next(expected)
        elif line.strip():
            yield Paragraph([Run(line)])
