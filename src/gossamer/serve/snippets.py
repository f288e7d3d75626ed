"""Snippets: the part of a page's text that shows why it was found.

Splitting a whole text into words takes 1 µs a word, for one line of it. So a passage is cut
out first, where most of the query's words stand together, by looking for their beginnings in the
stored beginning of the text; only the passage is split, as the index does it, and phrases are
looked for among its words. (tantivy's generator marks the words of a phrase wherever they stand:
in Chinese and Japanese, where a character is a word, that is everywhere.)

A word that stands in the text in a form that begins otherwise than what was typed (`Ärger` for
`arger`) is marked where a passage has it, but no passage is chosen for it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from html import escape
from typing import TYPE_CHECKING

from gossamer.index.analysis import FIRST_UNSPACED, OTHER, tongue
from gossamer.serve.ranking import Unit, telling, units_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from gossamer.index.analysis import Span, Tongue
    from gossamer.serve.query import Words

SNIPPET_CHARS = 220
BEFORE_CHARS = 60
"""What of a snippet stands before its first mark."""
PASSAGE_CHARS = 240
HEAD_CHARS = 600
"""Pages tend to say early what they are about: most have the words together in here."""
MAX_MATCHES = 10
"""Places that are looked at, of each word in a text."""

_WORD = re.compile(r"[^\W_]+")


class Snippets:
    """Snippets for one query and one language; `wanted` are its words and phrases."""

    def __init__(self, wanted: Iterable[Words], language: str) -> None:
        typed = list(wanted)
        self._tongue = tongue(language)
        self._phrases: dict[str, set[Unit]] = defaultdict(set)
        for unit in units_of(typed, self._tongue):
            self._phrases[unit[0]].add(unit)
        # Words of a phrase are told by their neighbours, whatever these begin with.
        every = (phrase for phrases in self._phrases.values() for phrase in phrases)
        self._alone = all(len(phrase) == 1 for phrase in every)
        initials = "".join(sorted({term[0] for term in self._phrases})) if self._alone else ""
        self._initials = initials if initials.isascii() and initials.isalnum() else ""
        self._beginnings = beginnings(telling(typed, self._tongue), self._tongue)

    def of(self, text: str, description: str) -> str:
        """HTML: escaped text with marks in <b>; how the page begins where there are none."""
        begin = passage(text, self._beginnings)
        cut = text[begin : begin + PASSAGE_CHARS]
        marks = [(start + begin, end + begin) for start, end in self._marks(cut)]
        if marks:
            return _html(text, _start(text, marks[0][0]), marks)
        return _html(description or text, 0, [])

    def _marks(self, text: str) -> list[Span]:
        """Where the text has the words and phrases, in its order; overlapping ones are one."""
        if self._alone:
            return self._tongue.spans(text, self._phrases, self._initials)
        words = self._tongue.words(text)
        spans = sorted(
            (start, words[first + len(phrase) - 1][1][1])
            for first, (term, (start, _)) in enumerate(words)
            for phrase in self._phrases.get(term, ())
            if len(phrase) == 1
            or tuple(word[0] for word in words[first : first + len(phrase)]) == phrase
        )
        return list(_merged(spans))


def passage(text: str, words: Sequence[Collection[str]]) -> int:
    """Where the part of a text begins that has most of the words close together.

    Each word is given by what its forms may begin with. The first such part, if it has all words:
    then the rest of the text is not looked at.
    """
    begin, have = _closest(text[:HEAD_CHARS], words)
    if have < len(words):
        begin, _ = _closest(text, words)
    return _start(text, begin)


def _closest(text: str, words: Sequence[Collection[str]]) -> tuple[int, int]:
    """Where most of the words begin to stand close together, and how many they are."""
    lower = text.lower()
    if len(lower) != len(text):  # of few letters, `İ` is one
        lower = text
    places = [
        (place, number)
        for number, forms in enumerate(words)
        for form in forms
        for place in _places(lower, form)
    ]
    places.sort()
    seen = [0] * len(words)
    begin = most = have = first = 0
    for place, number in places:
        have += not seen[number]
        seen[number] += 1
        while place - places[first][0] > SNIPPET_CHARS - BEFORE_CHARS:
            gone = places[first][1]
            seen[gone] -= 1
            have -= not seen[gone]
            first += 1
        if have > most:
            begin, most = places[first][0], have
            if most == len(words):
                break
    return begin, most


def beginnings(typed: Iterable[Words], spoken: Tongue) -> list[set[str]]:
    """For each word that was typed what its forms begin with: as it does, to where its stem ends.

    With its accents and without.
    """
    return [
        {
            form[: _shared(form, "".join(spoken.analyzed(form)))] or form
            for form in (word.lower(), *tongue(OTHER).analyzed(word))
        }
        for words in typed
        for word in _WORD.findall(words.text)
    ]


def _places(text: str, form: str) -> list[int]:
    """Where a text has a word that begins so, the first MAX_MATCHES; both in lower case."""
    places: list[int] = []
    unspaced = form[0] >= FIRST_UNSPACED
    at = text.find(form)
    while at >= 0 and len(places) < MAX_MATCHES:
        if unspaced or not at or not text[at - 1].isalnum():
            places.append(at)
        at = text.find(form, at + len(form))
    return places


def _shared(word: str, stem: str) -> int:
    """How many letters a word and its stem begin with alike."""
    return next(
        (place for place, (a, b) in enumerate(zip(word, stem, strict=False)) if a != b),
        min(len(word), len(stem)),
    )


def _merged(spans: Sequence[Span]) -> Iterator[Span]:
    start, end = 0, 0
    for span in spans:
        if span[0] > end:
            if end:
                yield start, end
            start = span[0]
        end = max(end, span[1])
    if end:
        yield start, end


def _start(text: str, mark: int) -> int:
    """The beginning of a word, about BEFORE_CHARS before a mark."""
    earliest = max(0, mark - BEFORE_CHARS)
    if earliest == 0:
        return 0
    return max(earliest, text.find(" ", earliest, mark) + 1)


def _html(text: str, start: int, marks: Sequence[Span]) -> str:
    end = start + SNIPPET_CHARS
    if end < len(text):
        end = max(text.rfind(" ", start + SNIPPET_CHARS // 2, end), end - SNIPPET_CHARS // 4)
    parts, at = ["… " if start else ""], start
    for first, last in marks:
        if last > end:
            break
        parts += [escape(text[at:first]), "<b>", escape(text[first:last]), "</b>"]
        at = last
    parts += [escape(text[at:end]), " …" if end < len(text) else ""]
    return "".join(parts)
