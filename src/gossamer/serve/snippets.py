"""Snippets: the part of a page's text that shows why it was found.

Splitting a whole text into words takes 1 µs a word, for one line of it. So a passage is cut
out first, where most of the query's words stand together, by a regular expression over the
stored beginning of the text; only the passage is split, as the index does it, and phrases are
looked for among its words. (tantivy's generator marks the words of a phrase wherever they stand:
in Chinese and Japanese, where a character is a word, that is everywhere.)

A word that stands in the text in another form than it was typed (`Ärger`, `arger`) is marked
where a passage has it, but no passage is chosen for it.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from html import escape
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import tantivy

SNIPPET_CHARS = 220
BEFORE_CHARS = 60
"""What of a snippet stands before its first mark."""
PASSAGE_CHARS = 600
MAX_MATCHES = 500
"""Matches that are looked at in a text."""

_WORD = re.compile(r"[^\W_]+")

Span = tuple[int, int]


class Snippets:
    """Snippets for one query; `wanted` are its words and phrases as typed."""

    def __init__(self, wanted: Iterable[str], words: tantivy.TextAnalyzer) -> None:
        typed = list(wanted)
        self._words = words
        self._phrases = {terms for text in typed if (terms := tuple(words.analyze(text)))}
        self._typed = {word.lower() for text in typed for word in _WORD.findall(text)}
        self._pattern = any_of(self._typed)

    def of(self, text: str, description: str) -> str:
        """HTML: escaped text with marks in <b>; how the page begins where there are none."""
        begin = passage(text, self._pattern, len(self._typed))
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


def any_of(words: Iterable[str]) -> re.Pattern[str]:
    """Any of the words, in any case."""
    # Longest first: an alternation takes the first that matches. In scripts without spaces
    # there are no word boundaries to look for. `(?!)` matches nowhere.
    listed = "|".join(
        rf"\b{re.escape(word)}\b" if word.isascii() else re.escape(word)
        for word in sorted(words, key=lambda word: (-len(word), word))
    )
    return re.compile(listed or "(?!)", re.IGNORECASE)


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
