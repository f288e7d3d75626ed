"""Texts of strangers as labels of drawings: what would not be seen is replaced, and they fit."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unicodedata import east_asian_width

if TYPE_CHECKING:
    from collections.abc import Iterable


def visible(text: str) -> str:
    """A text in which characters that are not printed, or change the direction, are replaced."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def fitting_label(text: str, chars: int) -> str:
    """A text that is at most so wide: the middle of a longer one is left out."""
    if _width(text) <= chars:
        return text
    end = _label_beginning(text[::-1], chars - chars // 3 - 1)[::-1]
    return f"{_label_beginning(text, chars // 3)}…{end}"


def _width(text: Iterable[str]) -> int:
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def _label_beginning(text: str, chars: int) -> str:
    """The beginning of a text that is at most so wide."""
    while _width(text[:chars]) > chars:
        text = text[: min(len(text), chars) - 1]
    return text[:chars]
