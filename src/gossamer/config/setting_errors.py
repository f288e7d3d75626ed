"""The message for an invalid setting: its key, its value, and what was expected.

msgspec's own message is "Expected `float` <= 10.0 - at `$.fetch.delay_s`". Values of
[[fetch.sites]] may be secrets and are never repeated.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Any

from msgspec.inspect import AnyType, LiteralType, Metadata, StructType, Type, type_info

from gossamer.config.settings_table import LINE, SITE_PATH

SHOWN_CHARS = 80
"""Characters of a value that a message repeats."""
SHOWN_BITS = 128
"""Larger integers are not repeated; Python refuses to format more than 4,300 digits."""
ALIKE = 0.7
"""Similarity (0 to 1) from which a key is taken for another one that is misspelt."""
_PATTERNS = {LINE: "without control characters", SITE_PATH: "like /find, with no / at the end"}
_AT = re.compile(r"^(.*) - at `\$\.?(.*)`$", re.DOTALL)
_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]|(\[\.\.\.\])")
_ENUM = re.compile("^Invalid enum value ")
_UNKNOWN = re.compile(r"^Object contains unknown field `(.*)`$", re.DOTALL)


def explain_message(message: str, tables: Any, kind: type = Any) -> str:
    """Rewrite msgspec's message about these tables, which should be of a kind."""
    problem, key = match.groups() if (match := _AT.match(message)) else (message, "")
    if unknown := _UNKNOWN.match(problem):
        where = f" in {key}" if key else ""
        return f"unknown key `{unknown[1]}`{where}{_suggest_key(kind, key, unknown[1])}"
    if _ENUM.match(problem) and isinstance(valid := _type_at(kind, key), LiteralType):
        problem = f"expected one of {', '.join(map(repr, valid.values))}"
    for pattern, meaning in _PATTERNS.items():
        problem = problem.replace(f"matching regex {pattern!r}", meaning)
    problem = problem[:1].lower() + problem[1:]
    if not key:
        return problem
    shown = "" if key.startswith("fetch.sites") else _show_value(_value(tables, key))
    return f"{key}{shown}: {problem}"


def _suggest_key(kind: type, key: str, name: str) -> str:
    """A key that was probably meant by an unknown one, as a question; or nothing."""
    table = _type_at(kind, key)
    names = [field.name for field in table.fields] if isinstance(table, StructType) else []
    inner = ((each, _type_at(kind, each)) for each in ([] if key else names))
    near = [
        f"`{name}` in [{each}]"
        for each, table in inner
        if isinstance(table, StructType) and name in {field.name for field in table.fields}
    ] or [f"`{each}`" for each in get_close_matches(name, names, n=1, cutoff=ALIKE)]
    return f": did you mean {' or '.join(near)}?" if near else ""


def _type_at(kind: type, key: str) -> Type:
    """The type at a path in msgspec's notation; AnyType within lists and dictionaries."""
    found = type_info(kind)
    for name in filter(None, key.split(".")):
        fields = found.fields if isinstance(found, StructType) else ()
        found = next((field.type for field in fields if field.name == name), AnyType())
        if isinstance(found, Metadata):
            found = found.type
    return found


def _value(tables: Any, key: str) -> Any:
    """The value at a path in msgspec's notation; None if it contains `[...]`, which is any key."""
    value = tables
    for name, index, any_key in _STEP.findall(key):
        if any_key:
            return None
        try:
            value = value[int(index)] if index else value[name]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _show_value(value: Any) -> str:
    if isinstance(value, bool | float | str) or (
        isinstance(value, int) and value.bit_length() <= SHOWN_BITS
    ):
        text = repr(value)
        return f" = {text[:SHOWN_CHARS]}…" if len(text) > SHOWN_CHARS else f" = {text}"
    if isinstance(value, int):
        return f" is an integer of {value.bit_length():,} bits"
    return ""
