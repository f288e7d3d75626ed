"""How endings are removed from words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gossamer.index.format.normalization import normalize

if TYPE_CHECKING:
    from collections.abc import Callable


def remove_endings(*steps: str, least: int = 3) -> Callable[[str], str]:
    """A stemmer that removes the longest ending of each step, in order.

    A step lists endings; `ending>other` replaces one. `least` letters of the word remain.
    """
    compiled = [_compile(step, least) for step in steps]

    def stem(word: str) -> str:
        for found, others in compiled:
            if match := found.search(word):
                word = word[: match.start()] + others[match[0]]
        return word

    return stem


def _compile(step: str, least: int) -> tuple[re.Pattern[str], dict[str, str]]:
    others = {}
    for each in normalize(step).split():
        ending, _, other = each.partition(">")
        others[ending] = other
    longest = sorted(others, key=len, reverse=True)
    return re.compile(rf"(?<=.{{{least}}})(?:{'|'.join(map(re.escape, longest))})$"), others
