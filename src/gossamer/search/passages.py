"""Passages: where in a page's text the most telling words of a query stand close together.

Splitting a whole text into words takes 1 µs per word, and only one line of it is shown. So the
text, in UTF-8, is searched for prefixes of the words, and only the words found are compared by
their terms. It is read window by window (`fulltext/stored_text.py`), until a window has all the
words close together.
"""

from __future__ import annotations

import re
from collections import deque
from heapq import merge
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

from gossamer.fulltext.analysis import FIRST_UNSPACED, OTHER, analyzer_for, is_unspaced
from gossamer.fulltext.camel_case import camel_parts
from gossamer.fulltext.stored_text import Window, windows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from gossamer.fulltext.analysis import Analyzer, Unit
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
EXACT_FACTOR = 1.5
"""How much more than other forms of a word the typed one is worth."""
MIN_PREFIX_CHARS = 4

_WORD = re.compile(r"[^\W_]+")
_RUN = re.compile(rb"[0-9A-Za-z\x80-\xff]+")
"""A word in UTF-8, possibly with punctuation that is not ASCII around it."""
_MAX_RUN_BYTES = 200
_SPACES = b" \n"


class Place(NamedTuple):
    """Where a passage begins in a window, and the worth of the words in it."""

    window: Window
    at: int
    worth: int


class Wanted(NamedTuple):
    """A word or phrase to look for: its terms, prefixes of it in UTF-8, and how telling it is.

    `unspaced`: its characters are words, so it may begin anywhere. `compared`: whether words that
    were met are the wanted one.
    """

    terms: Unit
    needles: frozenset[bytes]
    worth: int
    """In thousandths, as sums of integers are exact."""
    unspaced: bool
    compared: dict[bytes, bool]
    exact: bool = False
    """Only the typed form of the word is wanted."""
    typed: frozenset[bytes] = frozenset()
    """Forms that are not wanted here, because another `Wanted` looks for them."""


class Passages:
    """The best passages for one query and one language.

    `units`: the terms of its words and phrases, which were `typed`, and the share of each in the
    word that it is a part of. `worth`: how telling a term is. `pages`: number of texts that will be
    searched.
    """

    def __init__(
        self,
        typed: Iterable[Words],
        units: Mapping[Unit, float],
        analyzer: Analyzer,
        worth: Callable[[str], float],
        pages: int,
    ) -> None:
        self._analyzer = analyzer
        forms = _forms(typed, analyzer)
        self._wanted = [
            each
            for unit, share in units.items()
            for each in _wanted(unit, forms, 1 + round(1000 * share * max(map(worth, unit))))
        ]
        self._all = sum(each.worth for each in self._wanted if not each.exact)
        self._most = sum(each.worth for each in self._wanted if not each.typed)
        self._units = units
        self._share_bytes = MAX_SEARCHED_BYTES // max(pages, 1)

    def best(self, stored: Sequence[bytes]) -> Place | None:
        """The passage with the most telling words; of equal ones, the first."""
        best: Place | None = None
        read = 0
        for window in windows(stored):
            found = self._densest(window)
            if found and (best is None or found.worth > best.worth):
                best = found
            read += len(window.text)
            enough = self._all if read < MAX_COMPARED_BYTES else 1
            if (best and best.worth >= enough) or read > self._share_bytes:
                break
        return best

    def _densest(self, window: Window) -> Place | None:
        """The place where the words with the greatest sum of worths are close together.

        Words are found and compared in the order of the text, until all are close together. Only a
        single word is also looked for in its typed form when another form was found.
        """
        lower = window.text.lower()  # of ASCII letters, which changes no lengths
        until = len(lower) - (0 if window.last else AFTER_BYTES)
        wide = _bytes_of(WIDE_CHARS, window.text)
        near: deque[tuple[int, int]] = deque()
        seen = [0] * len(self._wanted)
        begin = most = have = 0
        for place, number in merge(*self._found(window.text, lower, until)):
            near.append((place, number))
            have += 0 if seen[number] else self._wanted[number].worth
            seen[number] += 1
            while place - near[0][0] > wide:
                _, gone = near.popleft()
                seen[gone] -= 1
                have -= 0 if seen[gone] else self._wanted[gone].worth
            if have > most:
                begin, most = near[0][0], have
                if most >= self._most or (len(self._units) > 1 and self._has_all(seen)):
                    break
        return Place(window, begin, most) if most else None

    def _has_all(self, seen: Sequence[int]) -> bool:
        """Whether each word and phrase was seen, in any form."""
        forms = zip(self._wanted, seen, strict=True)
        return len({each.terms for each, count in forms if count}) == len(self._units)

    def _found(self, text: bytes, lower: bytes, until: int) -> Iterator[Iterator[tuple[int, int]]]:
        """For each prefix of a word or phrase, the places where it is found, and its number."""
        for number, wanted in enumerate(self._wanted):
            for needle in wanted.needles:
                places = self._places(text, lower, wanted, needle, until)
                yield zip(places, repeat(number))

    def _places(
        self, text: bytes, lower: bytes, wanted: Wanted, needle: bytes, until: int
    ) -> Iterator[int]:
        """The first MAX_MATCHES places where a word or phrase begins. `needle` is in lower case."""
        at, matches = lower.find(needle, 0, until), 0
        for _ in range(MAX_TRIES):
            if at < 0 or matches == MAX_MATCHES:
                return
            if wanted.unspaced or (_begins_word(text, at) and self._is(wanted, text, at)):
                matches += 1
                yield at
            at = lower.find(needle, at + len(needle), until)

    def _is(self, wanted: Wanted, text: bytes, at: int) -> bool:
        """Whether the word at a place is the wanted one, or belongs to the wanted phrase."""
        terms, compared = wanted.terms, wanted.compared
        if len(terms) > 1:
            around = len(terms) * _MAX_RUN_BYTES // 4
            near = text[max(at - around, 0) : at + around].decode("utf-8", "ignore")
            found = self._analyzer.terms.analyze(near)
            ends = range(len(terms), len(found) + 1)
            return any(tuple(found[end - len(terms) : end]) == terms for end in ends)
        run = _RUN.match(text, at, at + _MAX_RUN_BYTES)
        word = run[0] if run else b""
        if wanted.exact:
            return word.lower() in wanted.needles
        if wanted.typed and word.lower() in wanted.typed:
            return False
        if word not in compared:
            decoded = word.decode("utf-8", "ignore")
            begins = (decoded, *camel_parts(decoded)[:1])
            compared[word] = any(self._analyzer.analyzed(each)[:1] == terms for each in begins)
        return compared[word]


def _wanted(unit: Unit, forms: Mapping[str, frozenset[str]], worth: int) -> Iterator[Wanted]:
    """A unit with the prefixes of its longest word, by which a phrase is found."""
    unspaced = all(map(is_unspaced, unit))
    longest = max(unit, key=len)
    words = frozenset(("".join(unit),)) if unspaced else forms.get(longest) or frozenset((longest,))
    prefixes = words if unspaced else frozenset(_prefix(word, longest) for word in words)
    typed = _needles(words) if len(unit) == 1 and prefixes != words else frozenset()
    yield Wanted(unit, _needles(prefixes), worth, unspaced, {}, typed=typed)
    if typed:
        yield Wanted(unit, typed, round(EXACT_FACTOR * worth), unspaced, {}, exact=True)


def _needles(forms: Iterable[str]) -> frozenset[bytes]:
    """What to search for in UTF-8 whose ASCII letters are in lower case."""
    return frozenset(
        variant.encode().lower()
        for form in forms
        for variant in (form, form.capitalize(), form.upper())
    )


def _forms(typed: Iterable[Words], analyzer: Analyzer) -> dict[str, frozenset[str]]:
    """By term, the words that were typed for it: as they were typed, and without accents."""
    found: dict[str, frozenset[str]] = {}
    for words in typed:
        for word in _WORD.findall(words.text):
            stem = "".join(analyzer.analyzed(word))
            forms = (word.lower(), *analyzer_for(OTHER).analyzed(word))
            found[stem] = found.get(stem, frozenset()).union(forms)
    return found


def _prefix(word: str, stem: str) -> str:
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
    """Whether a word begins at a place, or a part of a word in CamelCase."""
    if not at or text[at - 1] in _SPACES:
        return True
    if text[at - 1] < 0x80:  # noqa: PLR2004  # ASCII
        before = text[at - 1 : at]
        return not before.isalnum() or (text[at : at + 1].isupper() and not before.isupper())
    last = text[max(at - 4, 0) : at].decode("utf-8", "ignore")[-1:]
    return last >= FIRST_UNSPACED or not last.isalnum()


def _bytes_of(chars: int, text: bytes) -> int:
    """How many bytes so many characters of a text have on average."""
    return chars if text.isascii() else chars * len(text) // max(len(text.decode()), 1)
