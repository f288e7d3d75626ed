"""Hyphens at the ends of lines: whether they belong to the word.

PDFium marks them, and joins the parts. A hyphen stays if the document has the word with it
elsewhere; if an uppercase letter or a digit follows ("Baden-Baden", "COVID-19"), but not within a
word in capitals; and if both parts, but not the joined word, are words of the document
("price-determining"). After a first part that is completed later ("Vor- und Nachteile") it stays
with the space.
"""

from __future__ import annotations

import re

MAX_WORDS = 200_000
"""Words of a document that are remembered."""
MIN_PART_CHARS = 3
"""Shortest part that is compared with words of the document: syllables may be words, too."""

_BROKEN = re.compile("(?:\\b(\\w+))?[\x02\ufffe]\\s*(\\w*)")
"""PDFium's mark for a hyphen at the end of a line (CPDF_TextPage), or that of older versions."""
_MARK = re.compile("[\x02\ufffe]")
_SOFT = re.compile("\xad\\s*")
_NUMBERS = re.compile(r"(?<=\d)([-\u2013])[ \t]*[\r\n]+[ \t]*(?=\d)")
_WORD = re.compile(r"\w+(?:-\w+)*")
_CONJUNCTIONS = frozenset(("and", "und", "oder", "sowie", "bzw", "och", "eller"))
"""Words before the completing part that do not end other words, as "bis" does in "cannabis"."""


class Hyphens:
    """Joins words that lines break, by the words of the pages so far."""

    def __init__(self) -> None:
        self._words: set[str] = set()

    def joined(self, text: str) -> str:
        """Return the text of the next page with its broken words joined."""
        text = _NUMBERS.sub(r"\1", _SOFT.sub("", text))
        is_broken = _MARK.search(text) is not None
        if len(self._words) < MAX_WORDS:
            whole = _BROKEN.sub(" ", text) if is_broken else text
            self._words.update(_WORD.findall(whole.lower()))
        return _BROKEN.sub(self._join, text) if is_broken else text

    def _join(self, broken: re.Match[str]) -> str:
        before, after = broken[1], broken[2]
        if before is None:
            return after
        if after in _CONJUNCTIONS and (before + after).lower() not in self._words:
            return f"{before}- {after}"
        return f"{before}{'-' if self._stays(before, after) else ''}{after}"

    def _stays(self, before: str, after: str) -> bool:
        known, start, end = self._words, before.lower(), after.lower()
        if f"{start}-{end}" in known:
            return True
        if start + end in known:
            return False
        if not after[:1].islower():
            return bool(after) and not (before.isupper() and after.isupper() and len(before) > 1)
        return min(len(start), len(end)) >= MIN_PART_CHARS and start in known and end in known
