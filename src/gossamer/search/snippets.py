"""Snippets: the part of a page's text that shows why it was found.

Splitting a whole text into words takes 1 µs per word, and only one line of it is shown. So we first
cut out a passage where most of the query's words stand close together, by searching the stored
beginning of the text for prefixes of these words. Only the passage is split into words, as the
index does it, and searched for words and phrases. (tantivy's generator marks the words of a phrase
wherever they occur, which is everywhere in Chinese and Japanese, where each character is a word.)

A word whose form in the text does not begin like the typed one (`Ärger` for `arger`) is marked if
the passage contains it, but does not affect the choice of the passage.
"""

from __future__ import annotations

import re
from collections import defaultdict
from html import escape
from itertools import chain
from typing import TYPE_CHECKING

from gossamer.fulltext.analysis import FIRST_UNSPACED, OTHER, analyzer_for
from gossamer.search.units import joined_phrases, units_of, without_stop_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from gossamer.fulltext.analysis import Analyzer, Span, Unit
    from gossamer.search.query import Words

SNIPPET_CHARS = 220
BEFORE_CHARS = 60
"""Characters of a snippet before its first mark."""
PASSAGE_CHARS = 240
"""Characters of a passage, which is split into words."""
HEAD_CHARS = 600
"""The beginning of a text, searched first: most pages have the words close together in it."""
MAX_MATCHES = 10
"""Occurrences of each word that are considered."""

_WORD = re.compile(r"[^\W_]+")


class Snippets:
    """Snippets for one query and one language. `wanted`: the query's words and phrases."""

    def __init__(self, wanted: Iterable[Words], language: str) -> None:
        typed = list(wanted)
        self._analyzer = analyzer_for(language)
        self._phrases: dict[str, set[Unit]] = defaultdict(set)
        units = units_of(typed, self._analyzer)
        for unit in chain(units, joined_phrases(typed, self._analyzer)):
            self._phrases[unit[0]].add(unit)
        # Phrases need all words of the passage. Without phrases, words are skipped by initial.
        every = (phrase for phrases in self._phrases.values() for phrase in phrases)
        self._single_terms = all(len(phrase) == 1 for phrase in every)
        initials = (
            "".join(sorted({term[0] for term in self._phrases})) if self._single_terms else ""
        )
        self._initials = initials if initials.isascii() and initials.isalnum() else ""
        self._beginnings = beginnings(without_stop_words(typed, self._analyzer), self._analyzer)

    def of(self, text: str, description: str) -> str:
        """HTML: escaped text with the matches in <b>; the page's beginning if there are none."""
        begin = passage(text, self._beginnings)
        cut = text[begin : begin + PASSAGE_CHARS]
        marks = [(start + begin, end + begin) for start, end in self._marks(cut)]
        if marks:
            return _html(text, _start(text, marks[0][0]), marks)
        return _html(description or text, 0, [])

    def _marks(self, text: str) -> list[Span]:
        """Where the words and phrases occur in the text, in order; overlapping spans are joined."""
        if self._single_terms:
            return self._analyzer.spans(text, self._phrases, self._initials)
        words = self._analyzer.words(text)
        spans = sorted(
            (start, words[first + len(phrase) - 1][1][1])
            for first, (term, (start, _)) in enumerate(words)
            for phrase in self._phrases.get(term, ())
            if len(phrase) == 1
            or tuple(word[0] for word in words[first : first + len(phrase)]) == phrase
        )
        return list(_merged(spans))


def passage(text: str, words: Sequence[Collection[str]]) -> int:
    """Where to begin the passage of a text that has most of the words close together.

    Each word is given by the prefixes that its forms may have. A passage near the beginning that
    has all words is taken without searching the rest of the text.
    """
    begin, have = _closest(text[:HEAD_CHARS], words)
    if have < len(words):
        begin, _ = _closest(text, words)
    return _start(text, begin)


def _closest(text: str, words: Sequence[Collection[str]]) -> tuple[int, int]:
    """Where the window with most of the words begins, and how many of them it has."""
    lower = text.lower()
    if len(lower) != len(text):  # a few letters change length, such as `İ`
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


def beginnings(typed: Iterable[Words], analyzer: Analyzer) -> list[set[str]]:
    """For each word that was typed, the prefixes of its forms: what the word and its stem share.

    There is one for the word with its accents, and one without.
    """
    return [
        {
            form[: _shared(form, "".join(analyzer.analyzed(form)))] or form
            for form in (word.lower(), *analyzer_for(OTHER).analyzed(word))
        }
        for words in typed
        for word in _WORD.findall(words.text)
    ]


def _places(text: str, form: str) -> list[int]:
    """The first MAX_MATCHES places where a word begins with `form`. Both are in lower case."""
    places: list[int] = []
    unspaced = form[0] >= FIRST_UNSPACED
    at = text.find(form)
    while at >= 0 and len(places) < MAX_MATCHES:
        if unspaced or not at or not text[at - 1].isalnum():
            places.append(at)
        at = text.find(form, at + len(form))
    return places


def _shared(word: str, stem: str) -> int:
    """The length of the common prefix of a word and its stem."""
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
    """The beginning of a word, at most BEFORE_CHARS before a mark."""
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
