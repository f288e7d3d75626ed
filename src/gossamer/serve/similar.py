"""The words that tell a page from others: what pages like it are found by.

The form is that of Lucene's MoreLikeThis: of the words of a page those with the highest tf-idf,
looked for like a query of that many words. Here

    weight = (1 + ln tf) · ln(1 + (N - n + ½) / (n + ½))

for a word that stands tf times in the text and that n of N pages have; the logarithm of tf is
Salton and Buckley's ("Term-weighting approaches in automatic text retrieval", IPM 1988), so that
no single word drowns the others, and the idf is BM25's, which is above 0 for every word. Words are
counted by their stems, and given as they are most often written: an index of another language
stems them its own way.

Of scripts without spaces each two neighbouring characters are a word. How many pages have it is
not known without a search; no more have it than have the rarer of the two.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from heapq import nsmallest
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, TypeAlias

from gossamer.index.analysis import is_unspaced, tongue

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MAX_WORDS = 25
"""As in Lucene. More make the query slower, and the last ones weigh little."""
MIN_PAGES = 2
"""A word that the page has for itself finds no other."""

Written: TypeAlias = "dict[tuple[str, ...], Counter[str]]"
"""By its terms, how often a word is written in each form."""


def written(text: str, language: str) -> Written:
    """The words of a text. `language` is a key of `analysis.tongue`."""
    spoken = tongue(language)
    words: Written = defaultdict(Counter)
    for word, count in Counter(_words(spoken.telling(text))).items():
        if terms := tuple(spoken.terms.analyze(word)):
            words[terms][word] += count
    return words


def telling(words: Written, frequencies: Mapping[str, int], pages: int) -> list[tuple[str, float]]:
    """The most telling words, the best first, with weights from 1 down.

    Of so many pages of their language, `frequencies[term]` have a term; pages, too, that are not
    there any more.
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


def _words(tokens: Sequence[str]) -> Iterator[str]:
    """Words as people see them, without numbers, which say little of what a page is about."""
    for unspaced, run in groupby(tokens, is_unspaced):
        if unspaced:
            yield from map("".join, pairwise(run))
        else:
            yield from (word for word in run if not word.isdigit())


def _weight(count: int, having: int, pages: int) -> float:
    return (1 + math.log(count)) * math.log1p((pages - having + 0.5) / (having + 0.5))
