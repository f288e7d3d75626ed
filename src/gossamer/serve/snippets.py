"""Snippets: the part of a page's text that shows why it was found.

Splitting a whole text into words takes 1 µs a word, for one line of it. So a passage is cut
out first, where most of the query's words stand together, by a regular expression over the
stored beginning of the text; only the passage is split, as the index does it, and phrases are
looked for among its words. (tantivy's generator marks the words of a phrase wherever they stand:
in Chinese and Japanese, where a character is a word, that is everywhere.)

A word that stands in the text in a form that begins otherwise than what was typed (`Ärger` for
`arger`) is marked where a passage has it, but no passage is chosen for it.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from html import escape
from itertools import islice
from typing import TYPE_CHECKING

from gossamer.index.analysis import FIRST_UNSPACED, plain, tongue
from gossamer.serve.ranking import units_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tantivy import TextAnalyzer

    from gossamer.serve.query import Words

SNIPPET_CHARS = 220
BEFORE_CHARS = 60
"""What of a snippet stands before its first mark."""
PASSAGE_CHARS = 600
MAX_MATCHES = 500
"""Matches that are looked at in a text."""

_WORD = re.compile(r"[^\W_]+")

Span = tuple[int, int]


class Snippets:
    """Snippets for one query and one language; `wanted` are its words and phrases."""

    def __init__(self, wanted: Iterable[Words], language: str) -> None:
        typed = list(wanted)
        self._words = tongue(language).terms
        self._phrases = {unit for words in typed for unit in units_of(words, self._words)}
        self._pattern, self._count = forms(typed, self._words)

    def of(self, text: str, description: str) -> str:
        """HTML: escaped text with marks in <b>; how the page begins where there are none."""
        begin = passage(text, self._pattern, self._count)
        cut = text[begin : begin + PASSAGE_CHARS]
        marks = [(start + begin, end + begin) for start, end in self._marks(cut)]
        if marks:
            return _html(text, _start(text, marks[0][0]), marks)
        return _html(description or text, 0, [])

    def _marks(self, text: str) -> list[Span]:
        """Where the text has the words and phrases, in its order; overlapping ones are one."""
        tokens = self._words.pre_tokenize(text).tokens
        terms = [token.text for token in tokens]
        spans = sorted(
            (tokens[first].char_offset_from, tokens[first + len(phrase) - 1].char_offset_to)
            for phrase in self._phrases
            for first in _places(terms, phrase)
        )
        return list(_merged(spans))


def passage(text: str, pattern: re.Pattern[str], words: int) -> int:
    """Where the part of a text begins that has most of the pattern's `words` close together."""
    window: deque[re.Match[str]] = deque()
    seen: Counter[str] = Counter()
    begin, most = 0, 0
    for match in islice(pattern.finditer(text), MAX_MATCHES):
        window.append(match)
        seen[match[0].lower()] += 1
        while match.end() - window[0].start() > SNIPPET_CHARS - BEFORE_CHARS:
            seen -= Counter([window.popleft()[0].lower()])
        if len(seen) > most:
            begin, most = window[0].start(), len(seen)
            if most == words:
                break
    return _start(text, begin)


def forms(typed: Iterable[Words], analyzer: TextAnalyzer) -> tuple[re.Pattern[str], int]:
    """A pattern for the forms of the words that were typed, and how many these are.

    A form begins as the word does up to where its stem ends, with accents or without.
    """
    stems: dict[str, str] = {}
    for words in typed:
        for word in _WORD.findall(words.text):
            for form in (word.lower(), *plain().analyze(word)):
                stems[form] = form[: _shared(form, "".join(analyzer.analyze(form)))] or form
    count = len({plain_form for word in stems for plain_form in plain().analyze(word)})
    return any_of(stems.values()), count


def any_of(beginnings: Iterable[str]) -> re.Pattern[str]:
    """Any word of these beginnings and few letters more, in any case."""
    # Longest first: an alternation takes the first that matches. In scripts without spaces
    # there are no word boundaries to look for. `(?!)` matches nowhere.
    listed = "|".join(
        re.escape(begin) if begin[0] >= FIRST_UNSPACED else rf"\b{re.escape(begin)}\w{{0,5}}\b"
        for begin in sorted(set(beginnings), key=lambda begin: (-len(begin), begin))
    )
    return re.compile(listed or "(?!)", re.IGNORECASE)


def _shared(word: str, stem: str) -> int:
    """How many letters a word and its stem begin with alike."""
    return next(
        (place for place, (a, b) in enumerate(zip(word, stem, strict=False)) if a != b),
        min(len(word), len(stem)),
    )


def _places(terms: Sequence[str], phrase: tuple[str, ...]) -> Iterator[int]:
    for first, term in enumerate(terms):
        if term == phrase[0] and tuple(terms[first : first + len(phrase)]) == phrase:
            yield first


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
