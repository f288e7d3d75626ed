"""What was meant: words of the index like those that were typed, and how they may go on.

The words are those of titles, headings and links (the field `vocabulary`), as they are written.
A word is only compared with those that begin alike: most people get the first letter right (Kukich,
"Techniques for automatically correcting words in text", ACM Computing Surveys 1992).
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from rapidfuzz.distance import DamerauLevenshtein
from rapidfuzz.process import extract
from tantivy import Occur, Query

from gossamer.index.analysis import plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tantivy import Schema, Searcher

FIELD = "vocabulary"
RARE_PAGES = 2
"""A word that so few pages have may be misspelt."""
MIN_RATIO = 10
"""A suggestion is so many times as frequent as what it replaces."""
MIN_CHARS, LONG_CHARS = 4, 8
"""One letter may be wrong from the first on, two from the second."""
MAX_WORDS = 20_000
"""Words of the same beginning that are compared, of each index the most frequent."""
MAX_INITIALS = 16
"""Whose words are kept at hand."""
MAX_LOOKED = 8
"""Words of a query."""
_WORD = re.compile(r"[^\W\d_]+")
_LAST = re.compile(r"[^\W_]+$")


class Near(NamedTuple):
    """So many pages have a word, and so many each word like it."""

    pages: int
    words: dict[str, int]


def looked_up(text: str) -> list[str]:
    """The words of a query that may be misspelt."""
    return list(dict.fromkeys(match[0] for match in _WORD.finditer(text)))[:MAX_LOOKED]


def suggestion(text: str, known: Mapping[str, Near]) -> str | None:
    """The query with its rare words replaced; None where there is nothing better."""
    better = {word: found for word, near in known.items() if (found := _better(word, near))}
    return _WORD.sub(lambda match: better.get(match[0], match[0]), text) if better else None


def completed(text: str, counts: Mapping[str, int], limit: int) -> list[str]:
    """The text with its last word completed, the most frequent first."""
    before, _ = _parted(text)
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return [before + term for term, _ in ordered[:limit]]


def _better(word: str, near: Near) -> str | None:
    """The nearest of the words like one that is rare, of these the most frequent."""
    if near.pages > RARE_PAGES:
        return None
    term = plain().analyze(word)[0]
    ranked = sorted(
        (DamerauLevenshtein.distance(term, found), -pages, found)
        for found, pages in near.words.items()
        if pages >= max(MIN_RATIO * near.pages, 1)
    )
    return ranked[0][2] if ranked else None


def _parted(text: str) -> tuple[str, str]:
    """A query, and its last word, which is being typed."""
    last = _LAST.search(text)
    return (text[: last.start()], last[0]) if last else (text, "")


class Spelling:
    """The words of some indexes."""

    def __init__(self, schema: Schema, searchers: Sequence[Searcher]) -> None:
        self._schema = schema
        self._searchers = searchers
        # It is counted in each segment, and words begin with few letters.
        self._beginning_with = lru_cache(MAX_INITIALS)(self._with_initial)

    def like(self, word: str) -> Near:
        """How many pages have a word, and, where these are few, the words like it with theirs."""
        terms = plain().analyze(word)
        if len(terms) != 1 or len(terms[0]) < MIN_CHARS:
            return Near(RARE_PAGES + 1, {})
        term = terms[0]
        pages = sum(searcher.doc_freq(FIELD, term) for searcher in self._searchers)
        if pages > RARE_PAGES:
            return Near(pages, {})
        counts = self._beginning_with(term[0])
        distance = 1 if len(term) < LONG_CHARS else 2
        near = extract(
            term,
            counts.keys(),
            scorer=DamerauLevenshtein.distance,
            score_cutoff=distance,
            limit=None,
        )
        return Near(pages, {found: counts[found] for found, _, _ in near if found != term})

    def completions(self, text: str, limit: int) -> dict[str, int]:
        """What the last word may become, on pages that have the others, with their number."""
        before, last = _parted(text)
        terms = plain().analyze(last)
        if len(terms) != 1:
            return {}
        others = plain().analyze(before)
        having = [
            (Occur.Must, Query.term_query(self._schema, FIELD, term, "basic")) for term in others
        ]
        query = Query.boolean_query(having) if having else None
        counts = self._with_prefix(terms[0], limit + 1, query)
        return {term: pages for term, pages in counts.items() if term != terms[0]}

    def _with_initial(self, initial: str) -> Counter[str]:
        return self._with_prefix(initial, MAX_WORDS, None)

    def _with_prefix(self, prefix: str, limit: int, query: Query | None) -> Counter[str]:
        counts: Counter[str] = Counter()
        for searcher in self._searchers:
            for term, pages in searcher.terms_with_prefix(FIELD, prefix, query, limit):
                counts[term] += pages
        return counts
