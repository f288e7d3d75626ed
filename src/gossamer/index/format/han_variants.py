"""Chinese characters that are forms of one another: simplified, traditional and regional ones.

The tables of OpenCC relate single characters. All that are related, directly or by others, are one
character in the index: `发` is written `發` or `髮` in traditional texts, so these three are one,
and so is Japanese `発`. That is more than any of them means, but each two neighbours are a term,
too, which tell `頭髮` from `出發`. What a page or query has as it is written is an exact form
(`normalization.variant_forms`), which counts more.

A Japanese form is left alone if Chinese has the same character with another meaning, as `欠` (to
owe), which is Japanese for `缺`: a character that GB 2312 or Big5 has, unless the other tables
relate both.

Facts: reading the tables takes 20 ms, in the first text with a Chinese character that a process
normalises. Of 8,400 characters that have another form, 4,400 are replaced.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_PACKAGE = "opencc"
_CHINESE = ("TSCharacters", "STCharacters", "TWVariants", "HKVariants")
_JAPANESE = "JPVariants"
_CHINESE_STANDARDS = ("gb2312", "big5")
HAN_CLASS = "\u3400-\u4dbf\u4e00-\u9fff"
"""Characters of the first plane that may have other forms, without compatibility ideographs."""
HAN = re.compile(f"[{HAN_CLASS}\U00020000-\U0003ffff]+")


@cache
def replaced_variants() -> Mapping[str, str]:
    """What becomes of characters that have other forms: the same one of them for all."""
    forms = _Forms()
    for one, other in (row for table in _CHINESE for row in _read(table)):
        forms.relate(one, other)
    for one, other in _read(_JAPANESE):
        if not any(_is_in(standard, other) for standard in _CHINESE_STANDARDS):
            forms.relate(one, other)
    return dict(forms.replaced(Counter(simple for _, simple in _read(_CHINESE[0]))))


@cache
def characters_with_variants() -> frozenset[str]:
    """All characters that have other forms."""
    variants = replaced_variants()
    return frozenset((*variants, *variants.values()))


class _Forms:
    """Sets of characters that are forms of one another."""

    def __init__(self) -> None:
        self._nearer: dict[str, str] = {}

    def relate(self, one: str, other: str) -> None:
        root, other_root = self._root(one), self._root(other)
        if root != other_root:
            self._nearer[root] = other_root

    def replaced(self, simple: Mapping[str, int]) -> Iterator[tuple[str, str]]:
        """Each character with what replaces it: that of its set which is simple for most others."""
        sets: dict[str, list[str]] = {}
        for char in sorted(self._nearer):
            root = self._root(char)
            sets.setdefault(root, [root]).append(char)
        for chars in sets.values():
            simplest = max(chars, key=lambda char: (simple.get(char, 0), -ord(char)))
            yield from ((char, simplest) for char in chars if char != simplest)

    def _root(self, char: str) -> str:
        while nearer := self._nearer.get(char):
            char = nearer
        return char


def _read(table: str) -> Iterable[tuple[str, str]]:
    """The rows of a table: a character, and one that it becomes. It may have several rows."""
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("opencc-python-reimplemented", name=_PACKAGE)
    path = Path(spec.submodule_search_locations[0], "dictionary", f"{table}.txt")
    for line in path.read_text("utf-8-sig").splitlines():
        char, *others = line.split()
        for other in others:
            yield char, other


def _is_in(standard: str, char: str) -> bool:
    try:
        char.encode(standard)
    except UnicodeEncodeError:
        return False
    return True
