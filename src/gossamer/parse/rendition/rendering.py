"""The rendition of a page: its Markdown and its passages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gossamer.parse.rendition.blocks import Heading, Run, plain
from gossamer.parse.rendition.building import build_blocks
from gossamer.parse.rendition.markdown import write_blocks
from gossamer.parse.rendition.passages import cut_passages
from gossamer.parse.rendition.plain_text import lines_as_blocks
from gossamer.parse.rendition.recording import TooLong, record_element, record_main_text
from gossamer.parse.rendition.rendered import Rendition

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from selectolax.lexbor import LexborNode

    from gossamer.parse.parsed_page import ParsedPage, Rules
    from gossamer.parse.rendition.blocks import Block

SITE_HEADINGS = 20
"""Headings among which that of the page may be, behind those of the site."""
_SEPARATOR = re.compile(r"\W+\Z")


def main_text_blocks(root: LexborNode, title: str, base: str, rules: Rules) -> list[Block] | None:
    """Return the main text of an HTML page; None if the page is too long to keep its elements."""
    try:
        return build_blocks(record_main_text(root, title, rules), base)
    except TooLong:
        return None


def element_blocks(roots: Iterable[LexborNode], base: str, rules: Rules) -> list[Block] | None:
    """Return the text of some elements; None if one is too long to keep its elements."""
    try:
        recordings = [record_element(root, rules) for root in roots]
    except TooLong:
        return None
    return [block for each in recordings for block in build_blocks(each, base)]


def text_blocks(page: ParsedPage) -> list[Block]:
    """Return the text of a page in any format, without elements."""
    return list(lines_as_blocks(page.main_text or page.text or "", page.headings, _title(page)))


def render(page: ParsedPage, blocks: Sequence[Block], limit: int) -> Rendition:
    """Return a page with its title, in at most `limit` characters, unless the first block has more.

    The title is its heading of level 1. A page may have it in its main text, too.
    """
    title = _title(page)
    shown = list(blocks)
    is_titled = shown and isinstance(shown[0], Heading) and plain(shown[0].runs) == title
    if title and not is_titled:
        shown.insert(0, Heading(1, [Run(title)]))
    text, kept = write_blocks(shown, limit)
    return Rendition(text, tuple(cut_passages(shown[:kept])), kept < len(shown))


def _title(page: ParsedPage) -> str:
    """Return the title, or the first heading if the title repeats that among other words.

    If the name of the site is the first heading, and ends the title, the one before it counts.
    """
    title = page.headline or page.title or ""
    first = page.headings[0] if page.headings else ""
    if not first or first not in title:
        return " ".join(title.split())
    before = _SEPARATOR.sub("", title.removesuffix(first))
    is_heading = before and before in page.headings[1:SITE_HEADINGS]
    return " ".join((before if is_heading else first).split())
