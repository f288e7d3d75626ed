"""Who reads an answer, by its type: the extension point for formats.

The built-in parsers are below. Others come from installed packages: an entry point in the group
`gossamer.parsers`, whose name is a media type in lower case, names a callable

    (content: Content, rules: Rules) -> ParsedPage

which is asked before the built-in one. It is called in the process that reads strangers' pages,
whose time and memory have an end (`guard.py`); what it raises makes the page `failed`. It need
not care for the language, nor for what the headers ask of crawlers: docs/plugins.md.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from gossamer.errors import ConfigError
from gossamer.parse.binary import BINARY_TYPES
from gossamer.parse.files import parse_file
from gossamer.parse.html import parse_html, trafilatura_text
from gossamer.parse.html.site_rules import sites_of
from gossamer.parse.listing import LISTING_TYPES, parse_listing
from gossamer.parse.page import Rules
from gossamer.parse.text import parse_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gossamer.config import Config
    from gossamer.parse.page import Content, ParsedPage, SiteRule

    Parser = Callable[[Content, Rules], ParsedPage]

ENTRY_POINTS = "gossamer.parsers"

_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+")
"""RFC 6838 §4.2, in lower case."""

BUILT_IN: Mapping[str, Parser] = {
    **dict.fromkeys(BINARY_TYPES, parse_file),
    **dict.fromkeys(LISTING_TYPES, parse_listing),
    "text/html": parse_html,
    "application/xhtml+xml": parse_html,
    "text/plain": parse_text,
}


def parser_of(mime: str) -> Parser | None:
    """Who reads a media type, lower-case and without parameters; None where nobody does.

    Raises ConfigError where an installed package's parsers cannot be used.
    """
    return installed().get(mime) or BUILT_IN.get(mime)


def rules_of(config: Config, root: str, sites: tuple[SiteRule, ...] | None = None) -> Rules:
    """What the pages of a crawl are parsed by; `sites` in place of its own. Raises ConfigError."""
    rules = Rules.of(config, sites_of(config.parse, root) if sites is None else sites)
    check(rules)
    return rules


def check(rules: Rules) -> None:
    """Raises ConfigError where a package's parser, or one of the settings, cannot be used."""
    installed()
    if rules.extractor == "trafilatura":
        trafilatura_text.check()


@cache
def installed() -> Mapping[str, Parser]:
    """The parsers of installed packages, by media type. Raises ConfigError."""
    found: dict[str, Parser] = {}
    for entry in sorted(entry_points(group=ENTRY_POINTS), key=lambda entry: entry.value):
        if not _TYPE.fullmatch(entry.name):
            raise _unusable(entry.name, "its name is no media type in lower case")
        if entry.name in found:
            raise _unusable(entry.name, f"{entry.value} is not the only one for this type")
        try:
            parser = entry.load()
        except Exception as error:
            raise _unusable(entry.name, repr(error)) from error
        if not callable(parser):
            raise _unusable(entry.name, f"{entry.value} is no function")
        found[entry.name] = parser
    return found


def _unusable(name: str, what: str) -> ConfigError:
    return ConfigError(
        f"parser {name} (entry point in {ENTRY_POINTS})",
        f"cannot be used: {what}",
        "repair or uninstall the package it came with",
    )
