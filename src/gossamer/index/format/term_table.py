"""A table of words and their terms: each word of an index is analysed once, not in each text."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from gossamer.native import native_text

if TYPE_CHECKING:
    from collections.abc import Callable

SMALL_WORDS = bytes(
    byte if not (char := chr(byte)).isascii() or char.isalnum() else ord(" ")
    for byte in bytes(range(256)).lower()
)
"""By byte: itself, a small letter, or a space between words."""


@native_text
class TermTable:
    """The terms of at most `most` words; then it begins again.

    Words are what stands between characters of ASCII other than letters and digits. They are known
    in small letters where they are ASCII.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._terms: dict[bytes, str] = {}

    def write(
        self, texts: list[str], make: Callable[[list[str]], list[str]]
    ) -> tuple[list[str], str]:
        """The terms of each text, with spaces between, and the different words of all.

        `make` returns the terms of each of some words.
        """
        if len(self._terms) >= self._most:
            self._terms = {}
        known = self._terms
        words = [text.encode().translate(SMALL_WORDS).split() for text in texts]
        different = dict.fromkeys(chain.from_iterable(words))
        if new := [word for word in different if word not in known]:
            known.update(zip(new, make([word.decode() for word in new]), strict=True))
        terms = [" ".join(filter(None, map(known.__getitem__, each))) for each in words]
        return terms, b" ".join(different).decode()
