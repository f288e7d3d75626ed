"""Which parser reads which media type: the extension point for formats.

The built-in parsers are below. Those of installed packages take precedence
(`installed_parsers.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from gossamer.parse.documents.binary import BINARY_TYPES, JSON_SUFFIX, parse_file
from gossamer.parse.documents.tables import TABLE_TYPES, rows_of
from gossamer.parse.html.html_page import parse_html
from gossamer.parse.installed_parsers import installed_parsers
from gossamer.parse.listing.listing_page import LISTING_TYPES, parse_lines, parse_listing
from gossamer.parse.parsed_page import ParsedPage, fold
from gossamer.parse.reading.charset import decode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gossamer.parse.installed_parsers import Parser
    from gossamer.parse.parsed_page import Content, Rules

LINE_TYPES = ("application/x-ndjson", "application/jsonl", "application/yaml")
"""Types of text that are not in `text/`, and not one value of JSON."""


def parse_text(content: Content, rules: Rules) -> ParsedPage:
    """Parse plain text. It has no title. A list of URLs is parsed as a sitemap."""
    text, charset = decode(content.page.body, content.label)
    if (listing := parse_lines(content, text, rules)) is not None:
        return structs.replace(listing, charset=charset)
    lines = map(fold, text.replace("\0", "").splitlines())
    visible = "\n".join(line for line in lines if line)
    return ParsedPage(outcome="parsed" if visible else "empty", charset=charset, text=visible)


def parse_table(content: Content, rules: Rules) -> ParsedPage:
    """Parse a table of comma- or tab-separated values (RFC 4180): a row is a line."""
    text, charset = decode(content.page.body, content.label)
    visible = "\n".join(rows_of(text.replace("\0", ""), rules.max_text_chars))
    return ParsedPage(outcome="parsed" if visible else "empty", charset=charset, text=visible)


BUILT_IN: Mapping[str, Parser] = {
    **dict.fromkeys(BINARY_TYPES, parse_file),
    **dict.fromkeys(LISTING_TYPES, parse_listing),
    "text/html": parse_html,
    "application/xhtml+xml": parse_html,
    "text/plain": parse_text,
    **dict.fromkeys(TABLE_TYPES, parse_table),
    **dict.fromkeys(LINE_TYPES, parse_text),
}


def parser_of(mime: str) -> Parser | None:
    """Return the parser of a media type (lower case, no parameters); None if there is none.

    Types without a parser of their own have that of their suffix (RFC 6839), and what is `text/`
    is text. Raises ConfigError if a parser of an installed package cannot be used.
    """
    if (parser := installed_parsers().get(mime) or BUILT_IN.get(mime)) is not None:
        return parser
    if mime.endswith(JSON_SUFFIX):
        return parse_file
    return parse_text if mime.startswith("text/") else None
