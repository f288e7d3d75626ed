"""Parsers of installed packages: the extension point for formats.

An entry point in the group `gossamer.parsers`, whose name is a media type in lower case, points to
a callable

    (content: Content, rules: Rules) -> ParsedPage

which takes precedence over the built-in parser (`parsers.py`). It runs in the guarded process,
whose time and memory are limited (`guarded_parser.py`); if it raises, the page is `failed`. It does
not have to set the language, nor to read directives from the headers: docs/plugins.md.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from gossamer.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from importlib.metadata import EntryPoint

    from gossamer.parse.parsed_page import Content, ParsedPage, Rules

    Parser = Callable[[Content, Rules], ParsedPage]

ENTRY_POINTS = "gossamer.parsers"

_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+")
"""A media type in lower case (RFC 6838 §4.2)."""


@cache
def find_plugins() -> tuple[EntryPoint, ...]:
    """The entry points of parsers, without loading them.

    Looking for them takes as long as parsing several pages.
    """
    return tuple(sorted(entry_points(group=ENTRY_POINTS), key=lambda entry: entry.value))


@cache
def installed_parsers() -> Mapping[str, Parser]:
    """Return the parsers of installed packages by media type. Raises ConfigError."""
    found: dict[str, Parser] = {}
    for entry in find_plugins():
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
