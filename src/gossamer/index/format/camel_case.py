"""CamelCase: words that are several, marked by capitals."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_CHARS = 80
"""A longer word is data."""

HUMP = re.compile(r"[A-Z](?:(?<=[a-z0-9][A-Z])|[A-Z][a-z])")
"""What texts with CamelCase have. It is found quickly, because it begins with a capital."""
_HUMP = re.compile(r"[a-z][0-9]*[A-Z]|[A-Z]{2}[a-z]{2}")
_HUMPS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")


def camel_parts(word: str) -> Sequence[str]:
    """The parts of a word in CamelCase; none of another word."""
    if word.islower() or len(word) > MAX_CHARS or not word.isascii():
        return ()
    return _HUMPS.findall(word) if _HUMP.search(word) else ()
