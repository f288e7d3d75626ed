"""Units: which terms a page needs for each word of a query.

A word that joins several by punctuation or by its scripts (`router-setup`, `Optional.orElseThrow`,
`PDFにエクスポート`) is taken for its parts, so that pages without this spelling are found, too. Its
terms as a phrase add to the score (`joined_phrases`). A phrase in quotes is one unit.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from gossamer.fulltext.analysis import MAX_KEPT, is_unspaced
from gossamer.fulltext.camel_case import camel_parts
from gossamer.search.query import Words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gossamer.fulltext.analysis import Analyzer, Unit
    from gossamer.search.query import Query

MAX_TERMS = 64
"""Terms of a word or phrase that are searched."""
MAX_COMPOUNDED = 16
"""Words of a query that are tried as one word with their neighbours."""
MAX_IN_COMPOUND = 4

_Part = TypeVar("_Part", bound="Query")


def without_stop_words(parts: Sequence[_Part], analyzer: Analyzer) -> Sequence[_Part]:
    """The parts without single stop words; all of them if nothing else is left."""
    return [
        part
        for part in parts
        if not isinstance(part, Words) or part.exact or analyzer.has_content_word(part.text)
    ] or parts


def units_of(words: Sequence[Words], analyzer: Analyzer) -> Iterator[Unit]:
    """The units of the words that are not stop words."""
    for each in without_stop_words(words, analyzer):
        yield from _units_of_word(each, analyzer)


@lru_cache(MAX_KEPT)
def _units_of_word(word: Words, analyzer: Analyzer) -> Sequence[Unit]:
    """The units of a word.

    A run of a script without spaces is a text, not a word, so each two neighbouring characters are
    a unit.
    """
    units: list[Unit] = []
    for part in parts_of(word, analyzer):
        terms = analyzer.analyzed(part.text)[:MAX_TERMS]
        if not part.exact and len(terms) > 2 and all(map(is_unspaced, terms)):  # noqa: PLR2004
            units += pairwise(terms)
        elif terms:
            units.append(terms)
    return tuple(units)


def in_a_row(units: Iterable[Unit]) -> Unit:
    """The terms of units as one phrase. Pairs of neighbouring characters overlap."""
    terms: list[str] = []
    for unit in units:
        overlaps = terms and len(unit) > 1 and unit[0] == terms[-1] and is_unspaced(unit[0])
        terms += unit[1:] if overlaps else unit
    return tuple(terms)


@lru_cache(MAX_KEPT)
def parts_of(words: Words, analyzer: Analyzer) -> Sequence[Words]:
    """The words that are joined in a word, without stop words; a phrase in quotes is one part.

    In a word of several scripts, hiragana mostly inflects or joins the others and is left out.
    """
    text = words.text
    if words.exact or (text.isascii() and text.isalnum()):
        return (words,)
    found = analyzer.words(text)
    mixed = not all(is_unspaced(term) for term, _ in found)
    runs: list[_Run] = []
    for term, (start, end) in found:
        kind = _kind(term, text[start]) if mixed else _UNSPACED
        if kind != _SPACED and runs and runs[-1].kind == kind and runs[-1].end == start:
            runs[-1] = runs[-1]._replace(end=end)
        else:
            runs.append(_Run(kind, start, end))
    runs = [run for run in runs if run.kind != _HIRAGANA] or runs
    parts = [Words(text[run.start : run.end]) for run in runs]
    return without_stop_words(parts, analyzer) if mixed or len(parts) > 1 else (words,)


class _Run(NamedTuple):
    """One word, or neighbouring characters of a script without spaces."""

    kind: int
    start: int
    end: int


_SPACED, _UNSPACED, _HIRAGANA = range(3)


def _kind(term: str, character: str) -> int:
    if not is_unspaced(term):
        return _SPACED
    return _HIRAGANA if "\u3040" <= character <= "\u309f" else _UNSPACED


def joined_phrases(words: Iterable[Words], analyzer: Analyzer) -> Iterator[Unit]:
    """The terms of each word that has several parts, or is a long run without spaces, in order."""
    for each in words:
        terms = _characters(each, analyzer) or analyzer.analyzed(each.text)
        if not each.exact and len(terms) > 1:
            yield terms[:MAX_TERMS]


def compounds(words: Sequence[Words], analyzer: Analyzer) -> Iterator[tuple[Unit, float]]:
    """What neighbouring words are if they are written as one (`hash map`, `hashmap`), with weights.

    A query of few words is one word in full, with stop words: `or else throw`.
    """
    plain = [each.text for each in words if not each.exact and each.text.isalnum()][:MAX_COMPOUNDED]
    telling = [word for word in plain if analyzer.has_content_word(word)]
    joined = {
        "".join(telling[first : first + size]): 1 / len(words)
        for size in (2, 3)
        for first in range(len(telling) - size + 1)
    }
    if 1 < len(plain) == len(words) <= MAX_IN_COMPOUND:
        joined["".join(plain)] = 1.0
    for each, weight in joined.items():
        terms = analyzer.analyzed(each)
        if len(terms) == 1:
            yield terms, weight


def terms_of(words: Sequence[Words], analyzer: Analyzer) -> Iterator[str]:
    """All terms of words, with those of compounds and of the parts of CamelCase."""
    yield from (term for unit, _ in compounds(words, analyzer) for term in unit)
    for each in words:
        yield from analyzer.analyzed(each.text)
        for part in parts_of(each, analyzer):
            yield from (term for unit in split_units(part, analyzer) for term in unit)


@lru_cache(MAX_KEPT)
def split_units(word: Words, analyzer: Analyzer) -> Sequence[Unit]:
    """The units of the parts of a word in CamelCase, or of a run without spaces that is one word.

    None of another word.
    """
    if characters := _characters(word, analyzer):
        return (characters,) if word.exact else tuple(pairwise(characters))
    parts = [] if word.exact else [Words(part) for part in camel_parts(word.text)]
    return tuple(units_of(parts, analyzer)) if len(parts) > 1 else ()


def _characters(word: Words, analyzer: Analyzer) -> Unit:
    """The characters of a run without spaces that this language takes for one word."""
    if word.text.isascii():
        return ()
    terms = tuple(term for term, _ in analyzer.words(word.text))[:MAX_TERMS]
    is_run = len(terms) > 1 == len(analyzer.analyzed(word.text)) and all(map(is_unspaced, terms))
    return terms if is_run else ()
