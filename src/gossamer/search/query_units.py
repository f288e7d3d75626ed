"""Units: which terms a page needs for each word of a query.

A word that joins several by punctuation or by its scripts (`router-setup`, `Optional.orElseThrow`,
`PDFにエクスポート`) is taken for its parts, so that pages without this spelling are found, too. Its
terms as a phrase add to the score (`joined_phrases`). A phrase in quotes is one unit.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from gossamer.index.format.analysis import MAX_KEPT, camel_parts
from gossamer.index.format.joined_words import number_of, without_hyphen
from gossamer.index.format.normalization import normalize
from gossamer.index.format.unspaced import clusters, is_korean, is_pair, is_unspaced
from gossamer.search.query import Words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gossamer.index.format.analysis import Analyzer, Unit
    from gossamer.search.query import Query

MAX_TERMS = 64
"""Terms of a word or phrase that are searched."""
MAX_COMPOUNDED = 16
"""Words of a query that are tried as one word with their neighbours."""
MAX_IN_COMPOUND = 4
LONG_RUN = 4
"""Characters in a row that are sought as a phrase."""
RUN_DAMPING = 0.3
"""A unit of a run of n characters without spaces weighs n to the power of -RUN_DAMPING."""

_Part = TypeVar("_Part", bound="Query")


def drop_stop_words(parts: Sequence[_Part], analyzer: Analyzer) -> Sequence[_Part]:
    """The parts without single stop words; all of them if nothing else is left."""
    return [
        part
        for part in parts
        if not isinstance(part, Words) or part.exact or analyzer.has_content_word(part.text)
    ] or parts


def units_of(words: Sequence[Words], analyzer: Analyzer) -> Iterator[Unit]:
    """The units of the words that are not stop words."""
    for each in drop_stop_words(words, analyzer):
        yield from _units_of_word(each, analyzer)


@lru_cache(MAX_KEPT)
def _units_of_word(word: Words, analyzer: Analyzer) -> Sequence[Unit]:
    """The units of a word.

    A run of a script without spaces is a text, not a word, so each two neighbouring characters are
    a unit. So are those of a Korean word, which has particles. A language that takes a run for one
    word, or for several where it has marks, has these as a phrase, and pairs as other spellings
    (`split_units`).
    """
    units: list[Unit] = []
    for part in parts_of(word, analyzer):
        terms = analyzer.terms_of(part.text)[:MAX_TERMS]
        if analyzer.splits_unspaced and not part.exact and (pairs := _pairs(terms)):
            units += [(pair,) for pair in pairs]
        elif terms:
            units.append(terms)
    return tuple(units)


def _pairs(terms: Unit) -> Sequence[str]:
    """Each two neighbouring characters of a run, as terms; none of other words."""
    if len(terms) == 1 and is_korean(terms[0]) and len(terms[0]) > 1:
        terms = tuple(terms[0])
    elif not all(map(is_unspaced, terms)):
        return ()
    return [first + second for first, second in pairwise(terms)]


def synonym_units(text: str, analyzer: Analyzer) -> Sequence[Unit]:
    """The unit of a synonym: a term, or several as a phrase."""
    return [*units_of([Words(text, exact=True)], analyzer)]


def run_weight(units: Sequence[Unit]) -> float:
    """The weight of each unit of a part of a word: below 1 if it is a run without spaces.

    A run of n characters has n - 1 overlapping pairs. If each counted in full, the run would
    outweigh the other words of the query.
    """
    terms = [term for unit in units for term in unit]
    if terms and all(map(is_unspaced, terms)):
        characters = len(join_units(units))
    elif len(units) > 1 and all(map(is_korean, terms)):
        characters = len(units) + 1
    else:
        return 1.0
    return math.pow(characters, -RUN_DAMPING)


def spellings(part: Words, analyzer: Analyzer) -> Iterator[tuple[Sequence[Unit], float]]:
    """The units of a part of a word, and those of the parts of CamelCase, with `run_weight`."""
    for units in (tuple(units_of([part], analyzer)), split_units(part, analyzer)):
        if units:
            yield units, run_weight(units)


def neighbours(units: Sequence[Unit]) -> Iterator[tuple[int, Unit]]:
    """Each two neighbouring words, and the number of the first.

    In a run without spaces, two pairs of characters are neighbours if they do not overlap.
    """
    for at, (first, second) in enumerate(pairwise(units)):
        if first != second and len(first) == len(second) == 1 and not _in_run(*first, *second):
            yield at, (*first, *second)
    for at, (first, *between, last) in enumerate(zip(units, units[1:], units[2:], strict=False)):
        if all(len(unit) == 1 and is_pair(unit[0]) for unit in (first, *between, last)):
            row = join_units((first, *between, last))
            if len(row) == LONG_RUN and first != last:
                yield at, row


def _in_run(first: str, second: str) -> bool:
    """Whether one of two terms is a part of a run without spaces, or both are of Korean words."""
    return is_pair(first) or is_pair(second) or (is_korean(first) and is_korean(second))


def join_units(units: Iterable[Unit]) -> Unit:
    """The terms of units as one phrase. Pairs of neighbouring characters overlap."""
    terms: list[str] = []
    for unit in units:
        characters = clusters(unit[0]) if len(unit) == 1 and is_pair(unit[0]) else unit
        overlaps = terms and characters is not unit and characters[0] == terms[-1]
        terms += characters[1:] if overlaps else characters
    return tuple(terms)


@lru_cache(MAX_KEPT)
def parts_of(words: Words, analyzer: Analyzer) -> Sequence[Words]:
    """The words that are joined in a word, without stop words; a phrase in quotes is one part.

    In a word of several scripts, hiragana mostly inflects or joins the others and is left out.
    """
    text = normalize(words.text)
    if words.exact or (text.isascii() and text.isalnum()):
        return (words,)
    if number := number_of(text):
        return (Words(number),)
    found = analyzer.words(text)
    mixed = not all(is_unspaced(term) for term, _ in found)
    runs: list[_Run] = []
    for term, (start, end) in found:
        if runs and runs[-1].end == end:  # another term of the same word
            continue
        kind = _script_kind(term, text[start]) if mixed else _UNSPACED
        if kind != _SPACED and runs and runs[-1].kind == kind and runs[-1].end == start:
            runs[-1] = runs[-1]._replace(end=end)
        else:
            runs.append(_Run(kind, start, end))
    runs = [run for run in runs if run.kind != _HIRAGANA] or runs
    parts = [Words(text[run.start : run.end]) for run in runs]
    return drop_stop_words(parts, analyzer) if mixed or len(parts) > 1 else (words,)


class _Run(NamedTuple):
    """One word, or neighbouring characters of a script without spaces."""

    kind: int
    start: int
    end: int


_SPACED, _UNSPACED, _HIRAGANA = range(3)


def _script_kind(term: str, character: str) -> int:
    if not is_unspaced(term):
        return _SPACED
    return _HIRAGANA if "\u3040" <= character <= "\u309f" else _UNSPACED


def joined_phrases(words: Iterable[Words], analyzer: Analyzer) -> Iterator[Unit]:
    """The terms of each word that has several parts, in order.

    A run without spaces is such a word only where the language takes it for one. Elsewhere it is a
    text, whose neighbouring pairs count (`neighbours`): the whole run would outweigh them.
    """
    for each in words:
        characters = _characters_as_word(each, analyzer)
        terms = characters or analyzer.terms_of(each.text)
        is_text = not characters and all(map(is_unspaced, terms))
        if not each.exact and len(terms) > 1 and not is_text and not number_of(each.text):
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
        terms = analyzer.terms_of(each)
        if len(terms) == 1:
            yield terms, weight


def terms_of(words: Sequence[Words], analyzer: Analyzer) -> Iterator[str]:
    """All terms of words, with those of compounds and of the parts of CamelCase."""
    yield from (term for unit, _ in compounds(words, analyzer) for term in unit)
    for each in words:
        yield from analyzer.terms_of(each.text)
        yield from joined_unit(each, analyzer)
        for part in parts_of(each, analyzer):
            yield from (term for unit in split_units(part, analyzer) for term in unit)


def joined_unit(word: Words, analyzer: Analyzer) -> Unit:
    """The term of a word with a hyphen as it is written without; () of another word."""
    joined = "" if word.exact else without_hyphen(normalize(word.text))
    return analyzer.terms_of(joined)


@lru_cache(MAX_KEPT)
def split_units(word: Words, analyzer: Analyzer) -> Sequence[Unit]:
    """The units of the parts of a word in CamelCase, or of a run without spaces that is one word.

    None of another word.
    """
    if characters := _characters_as_word(word, analyzer):
        if word.exact:
            return () if is_korean(characters[0]) else (characters,)
        return tuple((first + second,) for first, second in pairwise(characters))
    parts = [] if word.exact else [Words(part) for part in camel_parts(word.text)]
    return tuple(units_of(parts, analyzer)) if len(parts) > 1 else ()


def _characters_as_word(word: Words, analyzer: Analyzer) -> Unit:
    """The characters of a run without spaces that this language takes for one word."""
    if word.text.isascii():
        return ()
    terms = tuple(term for term, _ in analyzer.words(word.text))[:MAX_TERMS]
    if len(terms) == 1 and is_korean(terms[0]) and not analyzer.splits_unspaced:
        return tuple(terms[0]) if len(terms[0]) > 1 else ()
    is_run = len(terms) > 1 == len(analyzer.terms_of(word.text)) and all(map(is_unspaced, terms))
    return terms if is_run else ()
