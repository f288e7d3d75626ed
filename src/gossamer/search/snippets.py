"""Snippets: the part of a page's text that shows why it was found.

The passage is chosen by `passages.py`. It is then split into words, as the index does it, and its
words, phrases and code are marked. (tantivy's generator marks the words of a phrase wherever they
occur, which is everywhere in Chinese and Japanese, where each character is a word.)

A word whose form in the text does not begin like the typed one (`Ärger` for `arger`) is only looked
for if no other word is found.
"""

from __future__ import annotations

import re
from collections import defaultdict
from html import escape
from typing import TYPE_CHECKING

from gossamer.index.format.analysis import analyzer_for, merge_spans
from gossamer.index.format.stored_document import Window, text_windows
from gossamer.index.format.unspaced import grapheme_start
from gossamer.search.passages import Passages, Place
from gossamer.search.query_units import drop_stop_words, joined_phrases, split_units, units_of
from gossamer.search.typed_forms import is_more_than_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gossamer.index.format.analysis import Span, Unit
    from gossamer.search.query import Words

SNIPPET_CHARS = 220
BEFORE_CHARS = 60
"""Characters of a snippet before its first mark."""
PASSAGE_CHARS = 240
"""Characters of a passage, which is split into words."""
MAX_PHRASE = 16
"""Terms of a phrase that are looked for."""
MAX_ANALYZED_BYTES = 300_000
"""Text of a page that is split into words, at 0.04 ms per thousand bytes, if no word is found."""
NUMBER_SHARE = 0.25
"""A number is less telling than a word that is as rare: many are the numbers of sections."""
_FUNCTION_WORDS = """
about am any been being between can could did do does doing from had has have having he her here him
his how i its just me my our she should so than them what when where which who whom whose why would
you your"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
"""English words that are searched, but not marked beside other words. tantivy's list of stop words,
Lucene's, has only 33. Words that programmers look for, such as `while`, are not in this list."""


class Snippets:
    """Snippets for one query and one language. `words`: the query's words and phrases.

    `worth`: how telling a term is, for instance by its frequency. `pages`: number of snippets that
    will be made.
    """

    def __init__(
        self,
        words: Iterable[Words],
        language: str,
        worth: Callable[[str], float] = lambda _: 1.0,
        pages: int = 1,
    ) -> None:
        self._analyzer = analyzer_for(language)
        words = list(words)
        typed = drop_stop_words(words, self._analyzer)
        if language == "en":
            typed = [each for each in typed if each.exact or not _is_function_word(each)] or typed
        units: dict[Unit, float] = {}
        for word in typed:
            parts = [*units_of([word], self._analyzer)]
            split = split_units(word, self._analyzer)
            units |= {unit: 1 / len(split) for unit in split}
            units |= {unit: 1 / len(parts) for unit in parts}
            units |= dict.fromkeys(joined_phrases([word], self._analyzer), 1.0)
        units = {unit[:MAX_PHRASE]: worth for unit, worth in units.items()}
        for unit in units:
            units[unit] *= NUMBER_SHARE if "".join(unit).isdecimal() else 1
        self._terms = {unit[0] for unit in units if len(unit) == 1}
        self._phrases: dict[str, set[Unit]] = defaultdict(set)
        for unit in units:
            if len(unit) > 1:
                self._phrases[unit[0]].add(unit)
        initials = "".join(sorted({term[:1] for term in self._terms}))
        self._initials = initials if initials.isascii() and initials.isalnum() else ""
        code = [each.text for each in words if is_more_than_words(each.text)]
        self._code = re.compile("|".join(map(re.escape, code)), re.IGNORECASE) if code else None
        self._passages = Passages(typed, units, code, self._analyzer, worth, pages)

    def make_snippet(
        self,
        stored: Sequence[bytes],
        description: str,
        headings: Sequence[str] = (),
        boilerplate: Sequence[bytes] = (),
    ) -> str:
        """HTML: escaped text with the matches in <b>.

        `stored`: the pieces of a page's text; `boilerplate`: those of lines that its site repeats.
        The first of the `headings` that has more of the words than any passage is shown before it;
        they are not in the text. If the text has no matches, the page's description is shown, or
        one of the headings, or a line of boilerplate, or the text's beginning.
        """
        if passage := self._passage(stored, headings):
            return passage
        for other in (description, *headings):
            if marks := self._marks(other):
                return _snippet_html(other, _snippet_start(other, marks[0][0]), marks)
        if passage := self._passage(boilerplate, headings):
            return passage
        if description:
            return _snippet_html(description, 0, [])
        first = next(text_windows(stored), Window(b"", True, True))
        return _snippet_html(first.text.decode(), 0, [], follows=not first.last)

    def _passage(self, stored: Sequence[bytes], headings: Sequence[str]) -> str:
        """The best passage of a text, with its marks; "" if no word is found."""
        place = self._passages.best(stored) or self._first_analyzed_match(stored)
        shown = self._mark_passage(place) if place else ""
        return self._prepend_heading(shown, place.worth, headings) if place and shown else ""

    def _prepend_heading(self, shown: str, worth: int, headings: Sequence[str]) -> str:
        for heading in headings if self._passages.lacks_words(worth) else ():
            if self._passages.worth(heading) > worth and (marks := self._marks(heading)):
                before = _snippet_html(heading, _snippet_start(heading, marks[0][0]), marks)
                return f"{before.removesuffix(' …')} … {shown.removeprefix('… ')}"
        return shown

    def _first_analyzed_match(self, stored: Sequence[bytes]) -> Place | None:
        """The first place that has a word when all words are analysed.

        Of texts in ASCII, only words that are written apart are: others begin like those typed.
        """
        read = 0
        for window in text_windows(stored):
            text, analyzer = window.text.decode(), self._analyzer
            known = analyzer.joined_terms(text) if text.isascii() else analyzer.known_terms(text)
            if (known & self._terms or known & self._phrases.keys()) and (
                marks := self._marks(text)
            ):
                return Place(window, len(text[: marks[0][0]].encode()), 0)
            read += 0 if text.isascii() else len(window.text)
            if read > MAX_ANALYZED_BYTES:
                break
        return None

    def _mark_passage(self, place: Place) -> str:
        """The passage at a place, with its marks; "" if it has none."""
        window, at, _ = place
        begin = max(at - 4 * BEFORE_CHARS, 0)
        end = at + 4 * (BEFORE_CHARS + PASSAGE_CHARS)
        before = window.text[begin:at].decode("utf-8", "ignore")
        text = before + window.text[at:end].decode("utf-8", "ignore")
        start = _snippet_start(text, len(before))
        spans = self._marks(text[start : start + PASSAGE_CHARS])
        if not spans:
            return ""
        marks = [(first + start, last + start) for first, last in spans]
        return _snippet_html(
            text,
            start,
            marks,
            precedes=begin > 0 or not window.first,
            follows=end < len(window.text) or not window.last,
        )

    def _marks(self, text: str) -> list[Span]:
        """Where words, phrases and code occur in a text, in order; overlapping spans are joined."""
        spans = self._analyzer.spans(text, self._terms, self._initials) if self._terms else []
        if self._code:
            code = (match.span() for match in self._code.finditer(text))
            spans = list(merge_spans(sorted([*spans, *code])))
        if not self._phrases:
            return spans
        words = self._analyzer.words(text)
        phrases = (
            (start, words[first + len(phrase) - 1][1][1])
            for first, (term, (start, _)) in enumerate(words)
            for phrase in self._phrases.get(term, ())
            if tuple(word[0] for word in words[first : first + len(phrase)]) == phrase
        )
        return list(merge_spans(sorted([*spans, *phrases])))


def _is_function_word(word: Words) -> bool:
    return word.text.lower() in FUNCTION_WORDS


def _snippet_start(text: str, mark: int) -> int:
    """The beginning of a word, at most BEFORE_CHARS before a mark."""
    earliest = max(0, mark - BEFORE_CHARS)
    if earliest == 0:
        return 0
    return grapheme_start(text, max(earliest, text.find(" ", earliest, mark) + 1))


def _snippet_html(
    text: str, start: int, marks: Sequence[Span], *, precedes: bool = False, follows: bool = False
) -> str:
    """A snippet from `start`. `precedes`, `follows`: whether the page has text around this one."""
    end = start + SNIPPET_CHARS
    if end < len(text):
        end = max(text.rfind(" ", start, end), end - SNIPPET_CHARS // 4)
        end = grapheme_start(text, end)
    parts, at = ["… " if start or precedes else ""], start
    for first, last in marks:
        if last > end:
            break
        parts += [escape(text[at:first]), "<b>", escape(text[first:last]), "</b>"]
        at = last
    parts += [escape(text[at:end]), " …" if end < len(text) or follows else ""]
    return "".join(parts)
