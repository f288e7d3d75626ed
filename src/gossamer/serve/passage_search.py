"""The passages of found pages that answer a query best.

The search ranks pages; here, the passages of the best ones are ranked by the words and the code of
the query (`exact_form.py`): BM25 over these passages, in which the headings above a passage count
as a part of it. idf is that of the passages that are compared, as a word in all of them does not
tell them apart. Terms in the heading next above a passage count more, as it says what the passage
is about, and so do those in the first line or in the name of an item, the more of that they are.
The score is multiplied by the square root of the share of the query that the passage has, by idf,
and by a factor for the rank of the page. A list of links counts less. `bench/passages.py` measures
it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

from gossamer.index.format.analysis import analyzer_for, index_language_of
from gossamer.index.format.exact_form import code_in, pieces_of
from gossamer.search.query_text import effective_query
from gossamer.serve.passage_names import is_list_of_links, names_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import TypeAlias

    from gossamer.parse.rendition.rendered import Passage
    from gossamer.serve.documents import Document

    LineTerms: TypeAlias = Callable[[str], Sequence[str]]
    """The terms of a heading or name, which recur and are kept."""

K1, B = 1.2, 0.5
HEADINGS = 2
"""How often each word of the headings counts."""
NEXT_HEADING = 1.0
"""What a term counts there in addition, times its idf."""
NAME, OTHER_WORD = 2.0, 4.0
"""What terms count in a name in addition, times their idf and their share of it; and what each
other word of the name weighs in that share, times the highest idf in the query."""
OF_LINKS = 0.4
"""Factor on the score of a list of links."""
PAGE_DECAY = 0.9
"""Factor on the score of passages for each page that is ranked before theirs."""
_TARGET = re.compile(r"\]\([^()\s]*\)")
"""The target of a link in Markdown, whose words nobody reads."""
_MARKUP = re.compile(r"\\([!-/:-@\[-`{-~])|[`*]+")
"""Escapes in Markdown, and marks of code and emphasis."""
_CODE = "\0"
"""Begins the terms of code, which are not those of words."""
PER_PAGE = 4
"""Passages of a page among the results."""


class FoundPassage(NamedTuple):
    """A passage and its page: the number of that among the pages that were found."""

    page: int
    passage: Passage
    score: float


class _Candidate(NamedTuple):
    """A passage, the number of its page, and its terms with those of its headings."""

    page: int
    passage: Passage
    terms: Counter[str]
    next_heading: Collection[str]
    """The terms of the heading next above it."""


def best_passages(
    query: str, documents: Sequence[Document], count: int, per_page: int = PER_PAGE
) -> list[FoundPassage]:
    """Return at most `count` passages of pages, which are given in the order of their ranks."""
    languages = [document.language for document in documents]
    line_terms = {each: cache(partial(_terms_of, language=each)) for each in {*languages}}
    candidates = [
        _candidate(number, passage, language, line_terms[language])
        for number, (document, language) in enumerate(zip(documents, languages, strict=True))
        for passage in document.passages
    ]
    mean = sum(each.terms.total() for each in candidates) / max(len(candidates), 1) or 1.0
    wanted = {
        each: {term: _idf(term, candidates) for term in _wanted(query, each)} for each in line_terms
    }
    scored = []
    for each in candidates:
        language = languages[each.page]
        score = _score(each, wanted[language], mean, line_terms[language])
        scored.append(FoundPassage(each.page, each.passage, PAGE_DECAY**each.page * score))
    scored.sort(key=lambda found: -found.score)
    chosen: list[FoundPassage] = []
    of_pages = Counter[int]()
    for found in scored:
        if of_pages[found.page] < per_page and len(chosen) < count:
            of_pages[found.page] += 1
            chosen.append(found)
    return chosen


def _candidate(
    page: int, passage: Passage, language: str | None, line_terms: LineTerms
) -> _Candidate:
    terms = Counter(_terms_of(passage.text, language))
    next_heading: Collection[str] = ()
    for heading in passage.path:
        next_heading = line_terms(heading)
        for term in next_heading:
            terms[term] += HEADINGS
    return _Candidate(page, passage, terms, next_heading)


def _idf(term: str, candidates: Sequence[_Candidate]) -> float:
    frequency = sum(term in each.terms for each in candidates)
    return math.log(1 + (len(candidates) - frequency + 0.5) / (frequency + 0.5))


def _score(
    candidate: _Candidate, wanted: Mapping[str, float], mean: float, line_terms: LineTerms
) -> float:
    """The score of a passage for the terms of a query, given with their idf."""
    score = held = 0.0
    norm = K1 * (1 - B + B * candidate.terms.total() / mean)
    for term, idf in wanted.items():
        if often := candidate.terms[term]:
            more = NEXT_HEADING if term in candidate.next_heading else 0.0
            score += idf * (often * (K1 + 1) / (often + norm) + more)
            held += idf
    if not held:
        return 0.0
    text = candidate.passage.text
    named = (_of_name(line_terms(name), wanted) for name in names_of(text))
    score += NAME * max(named, default=0.0)
    if is_list_of_links(text):
        score *= OF_LINKS
    return score * math.sqrt(held / sum(wanted.values()))


def _of_name(terms: Collection[str], wanted: Mapping[str, float]) -> float:
    """The idf of the wanted terms in a name, times their share of the name."""
    held = sum(idf for term, idf in wanted.items() if term in terms)
    others = sum(term not in wanted and not term.startswith(_CODE) for term in {*terms})
    return held and held * held / (held + others * OTHER_WORD * max(wanted.values()))


def _terms_of(markdown: str, language: str | None) -> list[str]:
    """The terms of words, and of code, which are marked as such."""
    text = _MARKUP.sub(lambda mark: mark[1] or "", _TARGET.sub("]", markdown))
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
