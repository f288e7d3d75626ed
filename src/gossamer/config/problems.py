"""The message for an invalid setting: its key, its value, and what was expected.

msgspec's own message is "Expected `float` <= 10.0 - at `$.fetch.delay_s`". Values of
[[fetch.sites]] may be secrets and are never repeated.
"""

from __future__ import annotations

import re
from typing import Any

from gossamer.config.table import LINE

SHOWN_CHARS = 80
"""Characters of a value that a message repeats."""
SHOWN_BITS = 128
"""Larger integers are not repeated; Python refuses to format more than 4,300 digits."""
_AT = re.compile(r"^(.*) - at `\$\.?(.*)`$", re.DOTALL)
_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]|(\[\.\.\.\])")
_UNKNOWN = re.compile(r"^Object contains unknown field `(.*)`$", re.DOTALL)


def explained(message: str, tables: Any) -> str:
    """Rewrite msgspec's message about these tables."""
    problem, key = match.groups() if (match := _AT.match(message)) else (message, "")
    if unknown := _UNKNOWN.match(problem):
        return f"unknown key `{unknown[1]}`" + (f" in {key}" if key else "")
    problem = problem.replace(f"matching regex {LINE!r}", "without control characters")
    problem = problem[:1].lower() + problem[1:]
    if not key:
        return problem
    shown = "" if key.startswith("fetch.sites") else _shown(_value(tables, key))
    return f"{key}{shown}: {problem}"


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


def _shown(value: Any) -> str:
    if isinstance(value, bool | float | str) or (
        isinstance(value, int) and value.bit_length() <= SHOWN_BITS
    ):
        text = repr(value)
        return f" = {text[:SHOWN_CHARS]}…" if len(text) > SHOWN_CHARS else f" = {text}"
    if isinstance(value, int):
        return f" is an integer of {value.bit_length():,} bits"
    return ""
