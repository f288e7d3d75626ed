"""The parser of plain text, including sitemaps of one URL per line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from gossamer.parse.listing import parse_lines
from gossamer.parse.page import ParsedPage, fold
from gossamer.parse.reading.charset import decode

if TYPE_CHECKING:
    from gossamer.parse.page import Content, Rules


def parse_text(content: Content, rules: Rules) -> ParsedPage:
    """Parse plain text. It has no title. A list of URLs is parsed as a sitemap."""
    text, charset = decode(content.page.body, content.label)
    if (listing := parse_lines(content, text, rules)) is not None:
        return structs.replace(listing, charset=charset)
    lines = map(fold, text.replace("\0", "").splitlines())
    visible = "\n".join(line for line in lines if line)
    return ParsedPage(outcome="parsed" if visible else "empty", charset=charset, text=visible)
