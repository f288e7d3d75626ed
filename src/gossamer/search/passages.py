"""Passages: where in a page's text the most telling words of a query stand close together.

Splitting a whole text into words takes 1 µs per word, and only one line of it is shown. So the
text, in UTF-8, is searched for prefixes of the words, and only the words found are compared by
their terms. It is read window by window (`index/format/stored_document.py`), until a window has all
the words close together.
"""

from __future__ import annotations

import math
import re
from collections import deque
from heapq import heapify, heappop, heapreplace
from typing import TYPE_CHECKING, NamedTuple

from gossamer.index.format.analysis import (
    OTHER,
    analyzer_for,
    camel_parts,
)
from gossamer.index.format.stored_document import Window, text_windows
from gossamer.index.format.unspaced import FIRST_UNSPACED, is_korean, is_unspaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from gossamer.index.format.analysis import Analyzer, Unit
    from gossamer.search.query import Words

WIDE_CHARS = 130
"""Words at most this far apart are close together."""
MAX_MATCHES = 10
"""Occurrences of each word per window that are considered."""
MAX_TRIES = 1_000
"""Places per window where a word may begin that are compared with it."""
AFTER_BYTES = 600
"""Words in the last bytes of a window are left to the next one, which also has what follows."""
MAX_COMPARED_BYTES = 500_000
"""Text of a page in which the best passage is looked for, at 4 ms per million bytes. Beyond it, the
first passage with any of the words is taken."""
MAX_SEARCHED_BYTES = 30_000_000
"""Text that is searched for the snippets of one request. Each page gets an equal share, so all of
ten pages is searched, however long they are."""
FREE_WORDS = 8
"""Of more words than these, less text is searched, and each is compared with fewer places."""
MAX_PHRASE_TERMS = 2_000
"""Terms of phrases that are compared with texts for one request, at 7 µs each. A phrase of n terms
counts n times for each place of its longest word. Each page gets an equal share."""
EXACT_FACTOR = 1.5
"""How much more than other forms of a word the typed one is worth."""
MIN_PREFIX_CHARS = 4

_WORD = re.compile(r"[^\W_]+")
_RUN = re.compile(rb"[0-9A-Za-z\x80-\xff]+")
"""A word in UTF-8, possibly with punctuation that is not ASCII around it."""
_MAX_RUN_BYTES = 200
_BREAKS = bytes(code for code in range(0x80) if not chr(code).isalnum())
"""The ASCII characters behind which a word begins."""


class Place(NamedTuple):
    """Where a passage begins in a window, and the worth of the words in it."""

    window: Window
    at: int
    worth: int


class WantedWord(NamedTuple):
    """A word or phrase to look for: its terms, prefixes of it in UTF-8, and how telling it is.

    `worths`: of any form of the word, and of those that were `typed`, in thousandths, because sums
    of integers are exact. `unspaced`: it may begin anywhere, as its characters are words, or code.
    `is_word`: it is one word, between spaces or punctuation. `met`: which words begin with a prefix
    and were compared, each with its form.
    """

    terms: Unit
    needles: frozenset[bytes]
    worths: tuple[int, int]
    typed: frozenset[bytes]
    unspaced: bool
    is_word: bool
    met: dict[bytes, int]


UNKNOWN, OTHER_WORD, ANY_FORM, TYPED_FORM = -2, -1, 0, 1
"""What a word in the text is: another one, or a form of the wanted one, an index of `worths`."""


class Passages:
    """The best passages for one query and one language.

    `units`: the terms of its words and phrases, which were `typed`, and the share of each in the
    word that it is a part of. `code`: what is looked for as it was typed. `worth`: how telling a
    term is. `pages`: number of texts that will be searched.
    """

    def __init__(
        self,
        typed: Iterable[Words],
        units: Mapping[Unit, float],
        code: Iterable[str],
        analyzer: Analyzer,
        worth: Callable[[str], float],
        pages: int,
    ) -> None:
        self._analyzer = analyzer
        forms = _wanted_forms(typed, analyzer)
        self._wanted = [
            _wanted_word(unit, forms, 1 + round(1000 * share * max(map(worth, unit))))
            for unit, share in units.items()
        ]
        for text in code:
            most = max(map(worth, analyzer.terms_of(text)), default=1.0)
            self._wanted.append(_wanted_code(text, 1 + round(1000 * most)))
        self._needles = [
            (needle, number, each)
            for number, each in enumerate(self._wanted)
            for needle in each.needles
        ]
        # By needle and form, how many matches are considered: the typed form only counts by itself.
        self._left = [
            MAX_MATCHES if forms else 0
            for *_, each in self._needles
            for forms in (True, each.typed)
        ]
        self._worths = [worth for each in self._wanted for worth in each.worths]
        self._all = sum(each.worths[ANY_FORM] for each in self._wanted)
        self._most = sum(each.worths[TYPED_FORM] for each in self._wanted)
        self._enough = len(self._wanted) if len(self._wanted) > 1 else math.inf
        free = FREE_WORDS / max(len(self._wanted), FREE_WORDS)
        self._share_bytes = MAX_SEARCHED_BYTES * free / max(pages, 1)
        self._compared_bytes = MAX_COMPARED_BYTES * free
        self._tries = math.ceil(MAX_TRIES * free * free)
        self._share_terms = MAX_PHRASE_TERMS * free / max(pages, 1)
        self._left_terms = self._share_terms

    def lacks_words(self, worth: int) -> bool:
        """Whether a passage of this worth lacks some of the words."""
        return worth < self._all

    def worth(self, text: str) -> int:
        """The worth of the words of a short text."""
        self._left_terms = self._share_terms
        place = self._densest(Window(text.encode(), first=True, last=True))
        return place.worth if place else 0

    def best(self, stored: Sequence[bytes]) -> Place | None:
        """The passage with the most telling words; of equal ones, the first."""
        best: Place | None = None
        read = 0
        self._left_terms = self._share_terms
        for window in text_windows(stored):
            found = self._densest(window)
            if found and (best is None or found.worth > best.worth):
                best = found
            read += len(window.text)
            enough = self._all if read < self._compared_bytes else 1
            if (best and best.worth >= enough) or read > self._share_bytes:
                break
        return best

    def _densest(self, window: Window) -> Place | None:
        """The place where the words with the greatest sum of worths are close together.

        Words are found and compared in the order of the text, until all are close together. Only a
        single word is also looked for in its typed form when another form was found.
        """
        worths, seen = self._worths, [0] * len(self._worths)
        near: deque[tuple[int, int]] = deque()
        begin = most = have = words = wide = 0
        for place, number in self._matches(window):
            near.append((place, number))
            if not seen[number]:
                have += worths[number]
                words += not seen[number ^ 1]  # the other form of the same word
            seen[number] += 1
            if place - near[0][0] > WIDE_CHARS:
                wide = wide or _bytes_of(WIDE_CHARS, window.text)
                while place - near[0][0] > wide:
                    _, gone = near.popleft()
                    seen[gone] -= 1
                    if not seen[gone]:
                        have -= worths[gone]
                        words -= not seen[gone ^ 1]
            if have > most:
                begin, most = near[0][0], have
                if most >= self._most or words == self._enough:
                    break
        return Place(window, begin, most) if most else None

    def _matches(self, window: Window) -> Iterator[tuple[int, int]]:
        """The places where words and phrases begin, in order, each with the number of its worth.

        For each prefix, a form is found at most MAX_MATCHES times. One loop over a heap is faster
        than merging an iterator per prefix.
        """
        text, needles = window.text, self._needles
        find = text.lower().find  # of ASCII letters, which changes no lengths
        until = len(text) - (0 if window.last else AFTER_BYTES)
        heap = [
            (place, at)
            for at, (needle, *_) in enumerate(needles)
            if (place := find(needle, 0, until)) >= 0
        ]
        heapify(heap)
        tries, left = [self._tries] * len(needles), self._left.copy()
        while heap:
            place, at = heap[0]
            needle, number, wanted = needles[at]
            form = OTHER_WORD
            if (
                not place
                or text[place - 1] in _BREAKS
                or wanted.unspaced
                or _begins_word(text, place)
            ):
                if wanted.is_word:
                    run = _RUN.match(text, place, place + _MAX_RUN_BYTES)
                    word = run[0] if run else b""
                    form = wanted.met.get(word, UNKNOWN)
                    if form == UNKNOWN:
                        form = wanted.met[word] = self._form_of(wanted, word)
                elif wanted.unspaced:
                    form = ANY_FORM
                elif self._left_terms > 0:
                    self._left_terms -= len(wanted.terms)
                    if self._is_phrase(wanted.terms, text, place):
                        form = ANY_FORM
                else:
                    tries[at] = 1
            if form != OTHER_WORD and left[2 * at + form]:
                left[2 * at + form] -= 1
                yield place, 2 * number + form
            tries[at] -= 1
            more = tries[at] and (left[2 * at] or left[2 * at + 1])
            following = find(needle, place + len(needle), until) if more else -1
            if following < 0:
                heappop(heap)
            else:
                heapreplace(heap, (following, at))

    def _is_phrase(self, terms: Unit, text: bytes, at: int) -> bool:
        """Whether the phrase is at this place, or so near that it has the word there."""
        around = len(terms) * _MAX_RUN_BYTES // 4
        near = text[max(at - around, 0) : at + around].decode("utf-8", "ignore")
        found = self._analyzer.terms.analyze(near)
        return any(
            term == terms[0] and tuple(found[first : first + len(terms)]) == terms
            for first, term in enumerate(found)
        )

    def _form_of(self, wanted: WantedWord, word: bytes) -> int:
        """The form of a wanted word that this word is."""
        if word.lower() in wanted.typed:
            return TYPED_FORM
        decoded, analyzed = word.decode("utf-8", "ignore"), self._analyzer.terms_of
        same = analyzed(decoded)[:1] == wanted.terms
        if not same and not decoded.isascii():
            same = wanted.terms[0] in self._analyzer.stems_of(decoded)
        if not same and (parts := camel_parts(decoded)):
            same = analyzed(parts[0])[:1] == wanted.terms
        return ANY_FORM if same else OTHER_WORD


def _wanted_word(unit: Unit, forms: Mapping[str, frozenset[str]], worth: int) -> WantedWord:
    """A unit with the prefixes of its longest word, by which a phrase is found."""
    unspaced = all(is_unspaced(term) or is_korean(term) for term in unit)
    longest = max(unit, key=len)
    words = frozenset(("".join(unit),)) if unspaced else forms.get(longest) or frozenset((longest,))
    prefixes = words if unspaced else frozenset(_prefix_pattern(word, longest) for word in words)
    typed = _passage_needles(words) if len(unit) == 1 and prefixes != words else frozenset()
    most = round(EXACT_FACTOR * worth) if typed else worth
    is_word = len(unit) == 1 and not unspaced
    return WantedWord(unit, _passage_needles(prefixes), (worth, most), typed, unspaced, is_word, {})


def _wanted_code(text: str, worth: int) -> WantedWord:
    """Code, which is found wherever it stands in the text."""
    needles = _passage_needles((text.lower(),))
    return WantedWord(
        (), needles, (worth, worth), frozenset(), unspaced=True, is_word=False, met={}
    )


def _passage_needles(forms: Iterable[str]) -> frozenset[bytes]:
    """What to search for in UTF-8 whose ASCII letters are in lower case."""
    return frozenset(
        variant.encode().lower()
        for form in forms
        for variant in (form, form.capitalize(), form.upper())
    )


def _wanted_forms(typed: Iterable[Words], analyzer: Analyzer) -> dict[str, frozenset[str]]:
    """By term, the words that were typed for it: as they were typed, and without accents."""
    found: dict[str, frozenset[str]] = {}
    for words in typed:
        for word in _WORD.findall(words.text):
            stem = "".join(analyzer.terms_of(word))
            forms = (word.lower(), *analyzer_for(OTHER).terms_of(word))
            found[stem] = found.get(stem, frozenset()).union(forms)
    return found


def _prefix_pattern(word: str, stem: str) -> str:
    """What other forms of a word begin with: what it and its stem share.

    The last character is left out, because it may be one that a stemmer replaces (`studies`,
    `study`).
    """
    shared = next(
        (place for place, (a, b) in enumerate(zip(word, stem, strict=False)) if a != b),
        min(len(word), len(stem)),
    )
    if word == stem or not shared:
        return word
    return word[: max(shared - 1, min(shared, MIN_PREFIX_CHARS))]


def _begins_word(text: bytes, at: int) -> bool:
    """Whether a word begins behind another character, or a part of a word in CamelCase."""
    if text[at - 1] < 0x80:  # noqa: PLR2004  # ASCII
        before = text[at - 1 : at]
        return not before.isalnum() or (text[at : at + 1].isupper() and not before.isupper())
    last = text[max(at - 4, 0) : at].decode("utf-8", "ignore")[-1:]
    return last >= FIRST_UNSPACED or not last.isalnum()


def _bytes_of(chars: int, text: bytes) -> int:
    """The average number of bytes of `chars` characters of a text."""
    return chars if text.isascii() else chars * len(text) // len(text.decode())
