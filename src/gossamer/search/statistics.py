"""Document frequencies of one index and of several, and the correction of idf between them.

BM25 weights a word by its inverse document frequency (idf; Sparck Jones 1972, in the form of
Robertson and Zaragoza 2009, §3.3). An index uses its own frequencies, and tantivy's binding accepts
no others. So if an index is one of several, each word is boosted by its idf among all pages divided
by its idf in this index.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from gossamer.index.format.analysis import OTHER, index_language_of
from gossamer.parse.reading.ngrams import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from tantivy import Searcher

    from gossamer.index.format.analysis import Unit

SCORED = (
    *("text", "boilerplate", "title", "anchors"),
    *("exact_form", "code", "title_exact_form", "title_code"),
)
"""Fields whose words count for the score."""
TOGETHER = tuple(each for each in LANGUAGES if index_language_of(each) == OTHER)
"""Languages whose pages are in one index. Their pages are counted, too."""
MAX_KEPT = 20_000
"""Frequencies that are cached per index."""
ALL = ""
"""In Counts, the field and the term that stand for all pages."""


class Frequencies(Protocol):
    """The number of pages (`documents`), and how many have a term, by field and term (`pages`).

    `weighed`: the number of pages with a term that its weight depends on.
    """

    @property
    def documents(self) -> int: ...

    @property
    def pages(self) -> Callable[[str, str], int]: ...

    @property
    def pages_for_weight(self) -> Callable[[str, str], int]: ...


class Statistics:
    """Document frequencies of one index.

    `documents` counts its documents, including deleted ones that are not merged away yet; `deleted`
    counts only those.
    """

    def __init__(self, searcher: Searcher, held: int) -> None:
        self.documents = held
        self.deleted = held - searcher.num_docs
        # A frequency is looked up in each segment, and the same ones are needed again and again.
        self.pages: Callable[[str, str], int] = lru_cache(MAX_KEPT)(searcher.doc_freq)
        self.pages_for_weight = self.pages

    def counts(self, terms: Collection[str]) -> dict[str, dict[str, int]]:
        """The frequencies of terms, by field and term, and the number of documents under ALL."""
        found = {field: {term: self.pages(field, term) for term in terms} for field in SCORED}
        languages = {language: self.pages("language", language) for language in TOGETHER}
        return {**found, "language": languages, ALL: {ALL: self.documents}}


class SummedStatistics:
    """Document frequencies of several indexes together, summed by the broker."""

    def __init__(self, counts: Mapping[str, Mapping[str, int]]) -> None:
        self._counts = counts
        self.documents = counts[ALL][ALL]
        self.pages_for_weight = self.pages

    def pages(self, field: str, term: str) -> int:
        return self._counts[field].get(term, 0)


def idf_correction(unit: Unit, field: str, here: Frequencies, there: Frequencies) -> float:
    """The boost that gives a unit in the index `here` the idf that it has `there`."""
    if here is there:
        return 1.0
    return idf_sum(unit, field, there) / idf_sum(unit, field, here)


def idf(term: str, field: str, among: Frequencies) -> float:
    """The inverse document frequency of a term, as tantivy computes it."""
    having = among.pages_for_weight(field, term)
    return math.log(1 + (among.documents - having + 0.5) / (having + 0.5))


def idf_sum(unit: Unit, field: str, among: Frequencies) -> float:
    """The sum of the idf of a unit's terms, by which tantivy weights a phrase."""
    if len(unit) == 1:
        return idf(unit[0], field, among)
    return sum(idf(term, field, among) for term in unit)
