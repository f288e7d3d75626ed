"""Where a page shows other articles, and captions again.

A *teaser* has a heading that is a link, and an excerpt that looks like prose of the article. A row
of teasers is left out if the page has an article beside it; a page of teasers alone is an index. A
gallery repeats its captions, once for the large picture and once for the small one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gossamer.parse.maintext.blocks import HEADINGS
from gossamer.parse.maintext.rows import rows
from gossamer.parse.maintext.sums import ONLY_LINKS, prefix_sums

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gossamer.parse.maintext.blocks import Block, Outline
    from gossamer.parse.maintext.rows import Range

MIN_ROW: Final = 3
MAX_EXCERPT_CHARS: Final = 500
"""Prose of the longest teaser. Articles one after the other have linked headings, too."""
MIN_ARTICLE: Final = 0.5
"""Least prose of an article beside teasers, as a share of theirs. A list of products with links is
an article, and its introduction is shorter."""
MIN_ARTICLE_CHARS: Final = 150
MIN_CAPTION_CHARS: Final = 40
"""Shortest caption whose repetition is no chance."""


def teasers(outline: Outline, prose: Sequence[int]) -> list[Range]:
    """Return the ranges of teasers beside an article, and of repeated captions.

    `prose` is without comments.
    """
    repeated = list(_repeated_captions(outline.blocks))
    headlines = [
        index
        for index, block in enumerate(outline.blocks)
        if block.tag in HEADINGS and _is_headline(block)
    ]
    if len(headlines) < MIN_ROW:
        return repeated
    sums = prefix_sums(prose)
    found: list[Range] = []
    covered = 0
    for start, end in sorted(_teasers(outline, headlines, sums)):
        if start >= covered:
            found.append((start, end))
            covered = end
    beside = sum([sums[end] - sums[start] for start, end in found])
    has_article = sums[-1] - beside >= max(MIN_ARTICLE_CHARS, MIN_ARTICLE * beside)
    return [*repeated, *found] if has_article else repeated


def _repeated_captions(blocks: Sequence[Block]) -> Iterator[Range]:
    seen: set[str] = set()
    for index, block in enumerate(blocks):
        if block.tag == "figcaption" and block.chars >= MIN_CAPTION_CHARS:
            if block.text in seen:
                yield index, index + 1
            seen.add(block.text)


def _is_headline(heading: Block) -> bool:
    return heading.links > 0 and heading.link_chars >= ONLY_LINKS * heading.chars


def _teasers(outline: Outline, headlines: Sequence[int], prose: Sequence[int]) -> Iterator[Range]:
    """Yield the boxes of rows in which each has a headline and at most an excerpt."""
    for items in rows(outline, headlines, MIN_ROW):
        boxes = [outline.boxes[item.box] for item in items]
        longest = max([prose[box.end] - prose[box.start] for box in boxes])
        if longest <= MAX_EXCERPT_CHARS and all(box.end - box.start > 1 for box in boxes):
            yield from ((box.start, box.end) for box in boxes)
