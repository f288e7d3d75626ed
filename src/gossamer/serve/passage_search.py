"""The passages of found pages that answer a query best.

The search ranks pages; here, the passages of the best ones are ranked by the words and the code of
the query (`exact_form.py`): BM25 over these passages, in which the headings above a passage count
as a part of it. idf is that of the passages that are compared, as a word in all of them does not
tell them apart. Terms in the heading next above a passage, and in its first line, count more, as
these say what it is about. The score is multiplied by the share of the query that the passage has,
by idf, and by a factor for the rank of the page. `bench/passages.py` measures it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from gossamer.index.format.analysis import analyzer_for, index_language_of
from gossamer.index.format.exact_form import code_in, pieces_of
from gossamer.search.query_text import effective_query

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gossamer.parse.rendition.rendered import Passage
    from gossamer.serve.documents import Document

K1, B = 1.2, 0.5
HEADINGS = 2
"""How often each word of the headings counts."""
NEXT_HEADING, FIRST_LINE = 1.0, 0.5
"""What a term counts there in addition, times its idf."""
FIRST_LINE_CHARS = 200
PAGE_DECAY = 0.9
"""Factor on the score of passages for each page that is ranked before theirs."""
_TARGET = re.compile(r"\]\([^()\s]*\)")
"""The target of a link in Markdown, whose words nobody reads."""
_MARKUP = re.compile(r"\\([!-/:-@\[-`{-~])|[`*]+")
"""Escapes in Markdown, and marks of code and emphasis."""
_CODE = "\0"
"""Begins the terms of code, which are not those of words."""
PER_PAGE = 3
"""Passages of a page among the results."""


class FoundPassage(NamedTuple):
    """A passage and its page: the number of that among the pages that were found."""

    page: int
    passage: Passage
    score: float


class _Candidate(NamedTuple):
    """A passage, the number of its page, its terms, and what some count in addition."""

    page: int
    passage: Passage
    terms: Counter[str]
    prominent: Mapping[str, float]


def best_passages(
    query: str, documents: Sequence[Document], count: int, per_page: int = PER_PAGE
) -> list[FoundPassage]:
    """Return at most `count` passages of pages, which are given in the order of their ranks."""
    candidates = [
        _Candidate(number, passage, *_terms(passage, document.language))
        for number, document in enumerate(documents)
        for passage in document.passages
    ]
    frequencies = Counter(term for each in candidates for term in each.terms)
    mean = sum(each.terms.total() for each in candidates) / max(len(candidates), 1) or 1.0
    languages = {document.language for document in documents}
    wanted = {
        language: {
            term: _idf(frequencies[term], len(candidates)) for term in _wanted(query, language)
        }
        for language in languages
    }
    scored = [
        FoundPassage(
            each.page,
            each.passage,
            PAGE_DECAY**each.page * _score(each, wanted[documents[each.page].language], mean),
        )
        for each in candidates
    ]
    scored.sort(key=lambda found: -found.score)
    chosen: list[FoundPassage] = []
    of_pages = Counter[int]()
    for found in scored:
        if of_pages[found.page] < per_page and len(chosen) < count:
            of_pages[found.page] += 1
            chosen.append(found)
    return chosen


def _idf(frequency: int, number: int) -> float:
    return math.log(1 + (number - frequency + 0.5) / (frequency + 0.5))


def _score(candidate: _Candidate, wanted: Mapping[str, float], mean: float) -> float:
    """The score of a passage for the terms of a query, given with their idf."""
    score = held = 0.0
    norm = K1 * (1 - B + B * candidate.terms.total() / mean)
    for term, idf in wanted.items():
        if often := candidate.terms[term]:
            more = candidate.prominent.get(term, 0.0)
            score += idf * (often * (K1 + 1) / (often + norm) + more)
            held += idf
    return score * held / (sum(wanted.values()) or 1.0)


def _terms(passage: Passage, language: str | None) -> tuple[Counter[str], Mapping[str, float]]:
    """Return the terms of a passage with its headings, and what some count in addition."""
    terms = Counter(_terms_of(passage.text, language))
    prominent: dict[str, float] = {}
    for heading in passage.path:
        found = _terms_of(heading, language)
        prominent = dict.fromkeys(found, NEXT_HEADING)
        for term in found:
            terms[term] += HEADINGS
    first = passage.text.lstrip("#*->` \n").partition("\n")[0][:FIRST_LINE_CHARS]
    for term in {*_terms_of(first, language)}:
        prominent[term] = prominent.get(term, 0.0) + FIRST_LINE
    return terms, prominent


def _terms_of(markdown: str, language: str | None) -> list[str]:
    """The terms of words, and of code, which are marked as such."""
    text = _MARKUP.sub(r"\1", _TARGET.sub("]", markdown))
    words = analyzer_for(index_language_of(language)).terms.analyze(text)
    return words + _code_of(text)


def _code_of(text: str) -> list[str]:
    return [_CODE + term for term in code_in(pieces_of(text)).lower().split()]


def _wanted(query: str, language: str | None) -> list[str]:
    """The terms of a query's words that are not stop words, or of all, if all are; and its code."""
    analyzer = analyzer_for(index_language_of(language))
    text = effective_query(query)
    words = analyzer.content_words(text) or [text]
    terms = [term for word in words for term in analyzer.terms.analyze(word)]
    return [*dict.fromkeys(terms + _code_of(text))]
