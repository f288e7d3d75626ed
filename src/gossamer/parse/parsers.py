"""Which parser reads which media type: the extension point for formats.

The built-in parsers are below. Installed packages add others: an entry point in the group
`gossamer.parsers`, whose name is a media type in lower case, points to a callable

    (content: Content, rules: Rules) -> ParsedPage

which takes precedence over the built-in parser. It runs in the guarded process, whose time and
memory are limited (`guarded_parser.py`); if it raises, the page is `failed`. It does not have to
set the language, nor to read directives from the headers: docs/plugins.md.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from msgspec import structs

from gossamer.errors import ConfigError
from gossamer.parse.documents.binary import BINARY_TYPES, JSON_SUFFIX, parse_file
from gossamer.parse.documents.tables import TABLE_TYPES, rows_of
from gossamer.parse.html.html_page import parse_html
from gossamer.parse.html.site_rules import sites_of
from gossamer.parse.listing.listing_page import LISTING_TYPES, parse_lines, parse_listing
from gossamer.parse.parsed_page import ParsedPage, Rules, fold
from gossamer.parse.reading.charset import decode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gossamer.config import Config
    from gossamer.parse.parsed_page import Content, SiteRule

    Parser = Callable[[Content, Rules], ParsedPage]

ENTRY_POINTS = "gossamer.parsers"

LINE_TYPES = ("application/x-ndjson", "application/jsonl", "application/yaml")
"""Types of text that are not in `text/`, and not one value of JSON."""

_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+")
"""A media type in lower case (RFC 6838 §4.2)."""


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


def rules_of(config: Config, root: str, sites: tuple[SiteRule, ...] | None = None) -> Rules:
    """Return the rules by which a crawl's pages are parsed.

    `sites` replaces the site rules that the settings name. Raises ConfigError.
    """
    rules = Rules.of(config, sites_of(config.parse, root) if sites is None else sites)
    installed_parsers()
    return rules


@cache
def installed_parsers() -> Mapping[str, Parser]:
    """Return the parsers of installed packages by media type. Raises ConfigError."""
    found: dict[str, Parser] = {}
    for entry in sorted(entry_points(group=ENTRY_POINTS), key=lambda entry: entry.value):
        if not _TYPE.fullmatch(entry.name):
            raise _unusable(entry.name, "its name is not a media type in lower case")
        if entry.name in found:
            raise _unusable(entry.name, f"{entry.value} is not the only parser for this type")
        try:
            parser = entry.load()
        except Exception as error:
            raise _unusable(entry.name, repr(error)) from error
        if not callable(parser):
            raise _unusable(entry.name, f"{entry.value} is not a function")
        found[entry.name] = parser
    return found


def _unusable(name: str, what: str) -> ConfigError:
    return ConfigError(
        f"parser {name} (entry point in {ENTRY_POINTS})",
        f"cannot be used: {what}",
        "repair or uninstall the package it came with",
    )
