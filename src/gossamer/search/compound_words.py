"""The parts of compounds: words that Germanic and Finnic languages write as one.

`Druckerwarteschlange` (printer queue) also finds pages with `Drucker` or `Warteschlange`.
No dictionary splits it, but this index: both parts must be words of its texts, and of several pairs
that one counts whose frequencies have the highest geometric mean (Koehn and Knight, "Empirical
Methods for Compound Splitting", EACL 2003). Between them may be a linking element, such as the `s`
of `Arbeitszeit`. A part is sought by its stem and adds PART_WEIGHT times its BM25; a compound that
no page has is replaced by its parts.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from gossamer.index.format.analysis import MAX_KEPT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gossamer.index.format.analysis import Analyzer, Unit
    from gossamer.search.query import Words
    from gossamer.search.statistics import Frequencies

LINKS = {
    "da": ("", "e", "s"),
    "de": ("", "e", "en", "er", "es", "n", "s"),
    "et": ("",),
    "fi": ("", "n"),
    "nl": ("", "e", "en", "s"),
    "no": ("", "e", "s"),
    "sv": ("", "s"),
}
"""By language, what may link the parts of a compound."""
MIN_PART_CHARS = 4
MAX_COMPOUND_CHARS = 40
MAX_COMPOUNDS = 8
"""Words of a query that are split, the first ones."""
PART_WEIGHT = 0.3


def compound_units(
    words: Iterable[Words], analyzer: Analyzer, pages: Frequencies
) -> Iterator[tuple[Unit, float]]:
    """The parts of the compounds of a query, with their weight."""
    for each in _splittable(words, analyzer):
        for part in parts_of_compound(each, analyzer, pages):
            yield part, PART_WEIGHT


def parts_of_compound(word: Words, analyzer: Analyzer, pages: Frequencies) -> Sequence[Unit]:
    """The terms of the two parts of a compound; none if the index has no such parts."""
    best: float = 0
    found: Sequence[Unit] = ()
    for first, second in _divisions(word, analyzer) if _may_be_compound(word) else ():
        having = math.sqrt(pages.pages("text", first) * pages.pages("text", second))
        if having > best:
            best, found = having, ((first,), (second,))
    return found


def known_part_terms(
    words: Iterable[Words], analyzer: Analyzer, pages: Frequencies
) -> Iterator[str]:
    """The terms of parts of the query's compounds that the index has, of all their divisions."""
    for each in _splittable(words, analyzer):
        for first, second in _divisions(each, analyzer):
            if pages.pages("text", first) and pages.pages("text", second):
                yield from (first, second)


def _splittable(words: Iterable[Words], analyzer: Analyzer) -> Sequence[Words]:
    """The words that may be compounds. Other languages write them apart."""
    if analyzer.language not in LINKS:
        return ()
    return [each for each in words if _may_be_compound(each)][:MAX_COMPOUNDS]


def _may_be_compound(word: Words) -> bool:
    letters = len(word.text)
    is_long = 2 * MIN_PART_CHARS <= letters <= MAX_COMPOUND_CHARS
    return is_long and not word.exact and word.text.isalpha()


@lru_cache(MAX_KEPT)
def _divisions(word: Words, analyzer: Analyzer) -> Sequence[tuple[str, str]]:
    """The terms of both parts of a word, for each place where it may be divided."""
    if not (links := LINKS.get(analyzer.language)):
        return ()
    text = word.text.lower()
    found: dict[tuple[str, str], None] = {}
    for at in range(MIN_PART_CHARS, len(text) - MIN_PART_CHARS + 1):
        second = analyzer.terms_of(text[at:])
        for link in links:
            first = text[:at].removesuffix(link)
            if len(first) == at - len(link) >= MIN_PART_CHARS:
                terms = (*analyzer.terms_of(first), *second)
                if len(terms) == 2:  # noqa: PLR2004
                    found[terms[0], terms[1]] = None
    return tuple(found)
