"""The passages of found pages that answer a query best.

The search ranks pages; here, the passages of the best ones are ranked by the words of the query:
BM25 over these passages, in which the headings above a passage count as a part of it, times a
factor for the rank of the page. idf is that of the passages that are compared, as a word in all
of them does not tell them apart.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from gossamer.index.format.analysis import analyzer_for, index_language_of
from gossamer.search.query_text import effective_query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.parse.rendition.rendered import Passage
    from gossamer.serve.documents import Document

K1, B = 1.2, 0.5
HEADINGS = 2
"""How often each word of the headings counts."""
PAGE_DECAY = 0.9
"""Factor on the score of passages for each page that is ranked before theirs."""
_TARGET = re.compile(r"\]\([^()\s]*\)")
"""The target of a link in Markdown, whose words nobody reads."""
PER_PAGE = 2
"""Passages of a page among the results."""


class FoundPassage(NamedTuple):
    """A passage and its page: the number of that among the pages that were found."""

    page: int
    passage: Passage
    score: float


def best_passages(
    query: str, documents: Sequence[Document], count: int, per_page: int = PER_PAGE
) -> list[FoundPassage]:
    """Return at most `count` passages of pages, which are given in the order of their ranks."""
    candidates = [
        (number, passage, _terms(passage, document.language))
        for number, document in enumerate(documents)
        for passage in document.passages
    ]
    frequencies = Counter(term for _, _, terms in candidates for term in terms)
    mean = sum(terms.total() for _, _, terms in candidates) / max(len(candidates), 1) or 1.0
    wanted = {document.language: _wanted(query, document.language) for document in documents}
    scored = [
        FoundPassage(
            number,
            passage,
            PAGE_DECAY**number
            * _bm25(terms, wanted[documents[number].language], frequencies, len(candidates), mean),
        )
        for number, passage, terms in candidates
    ]
    scored.sort(key=lambda found: -found.score)
    chosen: list[FoundPassage] = []
    of_pages = Counter[int]()
    for found in scored:
        if of_pages[found.page] < per_page and len(chosen) < count:
            of_pages[found.page] += 1
            chosen.append(found)
    return chosen


def _bm25(
    terms: Counter[str], wanted: Sequence[str], frequencies: Counter[str], number: int, mean: float
) -> float:
    score = 0.0
    norm = K1 * (1 - B + B * terms.total() / mean)
    for term in wanted:
        if often := terms[term]:
            idf = math.log(1 + (number - frequencies[term] + 0.5) / (frequencies[term] + 0.5))
            score += idf * often * (K1 + 1) / (often + norm)
    return score


def _terms(passage: Passage, language: str | None) -> Counter[str]:
    terms = Counter(_words(passage.text, language))
    for heading in passage.path:
        for word in _words(heading, language):
            terms[word] += HEADINGS
    return terms


def _words(text: str, language: str | None) -> list[str]:
    return analyzer_for(index_language_of(language)).terms.analyze(_TARGET.sub("]", text))


def _wanted(query: str, language: str | None) -> list[str]:
    """Return the terms of a query's words that are not stop words, or of all, if all are."""
    analyzer = analyzer_for(index_language_of(language))
    text = effective_query(query)
    words = analyzer.content_words(text) or [text]
    return [*dict.fromkeys(term for word in words for term in analyzer.terms.analyze(word))]
