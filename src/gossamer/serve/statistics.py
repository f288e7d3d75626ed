"""How telling words are: among the pages of one index, and of all of them.

A rare word tells more than a frequent one: BM25 weighs it by its inverse document frequency (idf;
Sparck Jones 1972, in the form of Robertson and Zaragoza 2009, §3.3). An index knows its own
frequencies only, and tantivy's binding takes no others. So where an index is one of many, its
words are lifted: each is boosted by what it would weigh among all pages over what it weighs here.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from tantivy import Searcher

    from gossamer.serve.ranking import Unit

    Lift = Callable[[str, Unit], float]
    """By field and unit."""

SCORED = ("text", "around", "title", "anchors")
"""Fields whose words count for the score."""
MAX_KEPT = 20_000
"""Frequencies that are kept at hand."""
ALL = ""
"""The field, and the term, that stand for all pages."""


def as_is(field: str, unit: Unit) -> float:  # noqa: ARG001  # a Lift
    """An index that is all there is, needs no lift."""
    return 1.0


def idf(pages: int, having: int) -> float:
    """Of a word that so many of the pages have, as tantivy computes it."""
    return math.log(1 + (pages - having + 0.5) / (having + 0.5))


class Statistics:
    """Of one index; `held` are its documents, the deleted ones that it still holds too.

    `pages`: by field and term, how many of these have the term.
    """

    def __init__(self, searcher: Searcher, held: int) -> None:
        self._held = held
        self.deleted = held - searcher.num_docs
        # It is looked up in each segment, and asked for again and again.
        self.pages: Callable[[str, str], int] = lru_cache(MAX_KEPT)(searcher.doc_freq)

    def counts(self, terms: Collection[str]) -> dict[str, dict[str, int]]:
        """By field and term, and of ALL."""
        found = {field: {term: self.pages(field, term) for term in terms} for field in SCORED}
        return {**found, ALL: {ALL: self._held}}

    def lift(self, counts: Mapping[str, Mapping[str, int]]) -> Lift:
        """What makes a unit of this index weigh as much as these counts say."""
        pages = counts[ALL][ALL]

        def lift(field: str, unit: Unit) -> float:
            here = sum(idf(self._held, self.pages(field, term)) for term in unit)
            there = sum(idf(pages, counts[field].get(term, 0)) for term in unit)
            return there / here

        return lift
