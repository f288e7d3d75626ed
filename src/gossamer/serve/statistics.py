"""How telling words are: among the pages of one index, and of all of them.

A rare word tells more than a frequent one: BM25 weighs it by its inverse document frequency (idf;
Sparck Jones 1972, in the form of Robertson and Zaragoza 2009, §3.3). An index knows its own
frequencies only, and tantivy's binding takes no others. So where an index is one of many, its
words are lifted: each is boosted by what it would weigh among all pages over what it weighs here.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from tantivy import Searcher

    from gossamer.serve.ranking import Unit

SCORED = ("text", "around", "title", "anchors")
"""Fields whose words count for the score."""
MAX_KEPT = 20_000
"""Frequencies that are kept at hand."""
ALL = ""
"""The field, and the term, that stand for all pages."""


class Frequencies(Protocol):
    """`held` pages, and by field and term how many of them have the term."""

    @property
    def held(self) -> int: ...

    @property
    def pages(self) -> Callable[[str, str], int]: ...


class Statistics:
    """Frequencies of one index; `held` are its documents, the deleted ones that it still holds too.

    `deleted` are so many of them.
    """

    def __init__(self, searcher: Searcher, held: int) -> None:
        self.held = held
        self.deleted = held - searcher.num_docs
        # It is looked up in each segment, and asked for again and again.
        self.pages: Callable[[str, str], int] = lru_cache(MAX_KEPT)(searcher.doc_freq)

    def counts(self, terms: Collection[str]) -> dict[str, dict[str, int]]:
        """By field and term, and of ALL."""
        found = {field: {term: self.pages(field, term) for term in terms} for field in SCORED}
        return {**found, ALL: {ALL: self.held}}


class Summed:
    """Frequencies of several indexes together, from what they counted."""

    def __init__(self, counts: Mapping[str, Mapping[str, int]]) -> None:
        self._counts = counts
        self.held = counts[ALL][ALL]

    def pages(self, field: str, term: str) -> int:
        return self._counts[field].get(term, 0)


def lift(unit: Unit, field: str, here: Frequencies, there: Frequencies) -> float:
    """What makes a unit of an index weigh as much as it would `there`."""
    if here is there:
        return 1.0
    return _weight(unit, field, there) / _weight(unit, field, here)


def _weight(unit: Unit, field: str, among: Frequencies) -> float:
    """The idf of its words, as tantivy computes it."""
    weight = 0.0
    for term in unit:
        having = among.pages(field, term)
        weight += math.log(1 + (among.held - having + 0.5) / (having + 0.5))
    return weight
