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

_MARK = re.compile("[\x02\ufffe]\\s*")
"""PDFium's mark for a hyphen at the end of a line (CPDF_TextPage), or that of older versions."""
_SOFT = re.compile("\xad\\s*")
_NUMBERS = re.compile("\r\n(?<=\\d[-\u2013]\r\n)(?=\\d)")
"""The end of a line within a range of numbers. A pattern that begins with letters is fast."""
_WORD = re.compile("\\w+(?:-\\w+)*(?:\x02\\w+)*")
"""Words, of which those that are broken differ from all others."""
_PUNCTUATION = ".,;:()[]{}<>\"'/\\=*+!?&%$#@|~^`“”‘’«»–—•·…"
"""What stands between words, in most texts. To replace each takes a fifth of a microsecond."""
_LAST, _FIRST = re.compile(r"(?<!\w)\w++\Z"), re.compile(r"\w*")
MAX_PART_CHARS = 60
_CONJUNCTIONS = frozenset(("and", "und", "oder", "sowie", "bzw", "och", "eller"))
"""Words before the completing part that do not end other words, as "bis" does in "cannabis"."""


class Hyphens:
    """Joins words that lines break, by the words of the pages so far."""

    def __init__(self) -> None:
        self._words: set[str] = set()
        self._unread: list[str] = []
        """Pages whose words are not needed yet."""

    def joined(self, text: str) -> str:
        """Return the text of the next page with its broken words joined."""
        text = _NUMBERS.sub("", text)
        if "\xad" in text:
            text = _SOFT.sub("", text)
        first, *others = parts = _MARK.split(text)
        self._unread.append("\x02".join(parts))
        if not others:
            return text
        for page in self._unread:
            if len(self._words) < MAX_WORDS:
                self._words |= words_of(page)
        self._unread.clear()
        pieces = [first]
        for other in others:
            last = _LAST.search(pieces[-1][-MAX_PART_CHARS:])
            following = _FIRST.match(other)
            if last is not None and following is not None:
                pieces.append(self._between(last[0], following[0]))
            pieces.append(other)
        return "".join(pieces)

    def _between(self, before: str, after: str) -> str:
        """Return what is written between the parts of a word."""
        if after in _CONJUNCTIONS and (before + after).lower() not in self._words:
            return "- "
        return "-" if self._stays(before, after) else ""

    def _stays(self, before: str, after: str) -> bool:
        known, start, end = self._words, before.lower(), after.lower()
        if f"{start}-{end}" in known:
            return True
        if start + end in known:
            return False
        if not after[:1].islower():
            return bool(after) and not (before.isupper() and after.isupper() and len(before) > 1)
        return min(len(start), len(end)) >= MIN_PART_CHARS and start in known and end in known


def words_of(text: str) -> set[str]:
    """Return the words of a text in lower case, as `_WORD` defines them, in half of its time."""
    text = text.lower()
    for each in _PUNCTUATION:
        text = text.replace(each, " ")
    found = set(text.split())
    words = set(filter(str.isalnum, found))
    if len(words) < len(found):
        words.update(_WORD.findall(" ".join(found - words)))
    return words
