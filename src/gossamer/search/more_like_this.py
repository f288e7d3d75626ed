"""The significant terms of a page, by which `related:` finds similar pages.

As in Lucene's MoreLikeThis, the words of a page with the highest tf-idf become a query. Here

    weight = (1 + ln tf) · ln(1 + (N - n + ½) / (n + ½))

for a word that occurs tf times in the text and on n of N pages. The logarithm of tf is Salton and
Buckley's ("Term-weighting approaches in automatic text retrieval", IPM 1988), so that no single
word drowns the others. The idf is BM25's, which is above 0 for every word. Words are counted by
their stems and returned in their most frequent spelling, because an index of another language stems
them in its own way.

In scripts without spaces, each pair of neighbouring characters is a word. The frequency of a pair
is not known without a search; that of its rarer character is an upper bound.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from heapq import nsmallest
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, TypeAlias

from gossamer.index.format.analysis import analyzer_for
from gossamer.index.format.unspaced import is_unspaced

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MAX_WORDS = 25
"""As in Lucene. More words make the query slower, and the last ones weigh little."""
MIN_PAGES = 2
"""A word that only this page has finds no other page."""

WordForms: TypeAlias = "dict[tuple[str, ...], Counter[str]]"
"""By the terms of a word, how often each of its spellings occurs."""


def words_by_terms(text: str, language: str) -> WordForms:
    """The words of a text by their terms. `language`: as for `analysis.analyzer_for`."""
    analyzer = analyzer_for(language)
    words: WordForms = defaultdict(Counter)
    for word, count in Counter(_subject_words(analyzer.content_words(text))).items():
        if terms := tuple(analyzer.terms.analyze(word)):
            words[terms][word] += count
    return words


def significant_terms(
    words: WordForms, frequencies: Mapping[str, int], pages: int
) -> list[tuple[str, float]]:
    """The MAX_WORDS most significant words, the best first, with weights from 1 down.

    `frequencies[term]` of `pages` pages have a term. Frequencies may include deleted pages.
    """
    weighed = []
    for terms, spellings in words.items():
        having = min(frequencies[term] for term in terms)
        if having >= MIN_PAGES:
            spelling, _ = spellings.most_common(1)[0]
            weight = _weight(spellings.total(), having, max(pages, having))
            weighed.append((-weight, spelling))
    best = nsmallest(MAX_WORDS, weighed)
    return [(word, negative / best[0][0]) for negative, word in best]


def _subject_words(tokens: Sequence[str]) -> Iterator[str]:
    """Words as people see them, without numbers, which say little about a page's subject."""
    for unspaced, run in groupby(tokens, is_unspaced):
        if unspaced:
            yield from map("".join, pairwise(run))
        else:
            yield from (word for word in run if not word.isdigit())


def _weight(count: int, having: int, pages: int) -> float:
    return (1 + math.log(count)) * math.log1p((pages - having + 0.5) / (having + 0.5))
