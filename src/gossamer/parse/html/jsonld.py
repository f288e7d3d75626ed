"""JSON-LD in script elements: the top-level objects, and those nested in graphs.

Facts: a few per cent of the JSON-LD on the web is not valid JSON. Found in practice: comment and
CDATA marks around it, line breaks within strings, commas before a closing bracket, invalid escapes,
comments, several objects in a row, a semicolon at the end, quotes as HTML entities. JSON-LD's own
algorithms (contexts, expansion) are not needed: search engines only read schema.org's vocabulary in
its compact form.

Decision: msgspec reads valid JSON, at some hundred MB/s. Anything else is repaired and read by the
json module's scanner, object by object, up to the first that cannot be repaired. Bounds: time is
linear in the number of characters, which is limited for all scripts of a page together; both
readers stop at Python's recursion limit.
"""

from __future__ import annotations

import json
import re
from html import unescape
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

Thing: TypeAlias = dict[str, Any]
"""A schema.org node from JSON-LD or microdata: its properties, including @type and @id."""

MAX_CHARS = 1_000_000
MAX_MENDED_CHARS = 200_000
"""Characters of invalid JSON that are repaired per page: it takes up to 3 s per million."""
MAX_THINGS = 200
MAX_DEPTH = 6
"""Depth of nested lists and graphs."""

_NESTING = ("@graph", "mainEntity", "mainEntityOfPage")
"""Properties whose values are collected as nodes of their own."""

_OPENING = re.compile(r"(?:[\s\ufeff/*>]|<!--|-->|<!\[CDATA\[)+")
_BLANKS = " \t\r\n\f;/*"
_CLOSING = ("-->", "]]>", "-->")
_ESCAPE = re.compile(r'(\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})|\\')
_STRING = r'("[^"\\]*+(?:\\.[^"\\]*+)*+"?)'
_COMMENT = re.compile(_STRING + r"|/\*(?:[^*]|\*(?!/))*+(?:\*/)?|//[^\n]*", re.DOTALL)
_LAST_COMMA = re.compile(_STRING + r"|,(?=\s*[}\]])", re.DOTALL)
_START = re.compile(r"[\[{]")
_LENIENT = json.JSONDecoder(strict=False, parse_int=float)
"""Accepts control characters within strings, and numbers of any length."""


def read_jsonld(scripts: Iterable[str]) -> list[Thing]:
    """Return the objects of all scripts, outer ones before those within them. Never raises."""
    things: list[Thing] = []
    left, mendable = MAX_CHARS, MAX_MENDED_CHARS
    for script in scripts:
        if len(script) > left:
            continue
        left -= len(script)
        text = _unwrap_script(script)
        try:
            _gather(msgspec.json.decode(text), things, MAX_DEPTH)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            if len(text) <= mendable:
                mendable -= len(text)
                _gather(_repair_json(text), things, MAX_DEPTH + 1)
    return things


def _gather(value: object, things: list[Thing], depth: int) -> None:
    if not depth:
        return
    if isinstance(value, list):
        for item in value[:MAX_THINGS]:
            _gather(item, things, depth - 1)
    elif isinstance(value, dict) and len(things) < MAX_THINGS:
        things.append(value)
        for name in _NESTING:
            if name in value:
                _gather(value[name], things, depth - 1)


def _unwrap_script(text: str) -> str:
    """Remove the comment and CDATA marks that hide scripts from old browsers and XML parsers."""
    if opening := _OPENING.match(text):
        text = text[opening.end() :]
    text = text.rstrip(_BLANKS)
    for mark in _CLOSING:
        text = text.removesuffix(mark).rstrip(_BLANKS)
    return text


def _repair_json(text: str) -> list[object]:
    """Repair invalid JSON; return the values that can be read, in order."""
    if "&" in text[:20]:  # it was escaped as HTML
        text = unescape(text)
    for stray in (_ESCAPE, _COMMENT, _LAST_COMMA):
        text = stray.sub(r"\1", text)
    values: list[object] = []
    at = 0
    while len(values) < MAX_THINGS and (start := _START.search(text, at)):
        try:
            value, at = _LENIENT.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            break
        values.append(value)
    return values
