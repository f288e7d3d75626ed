"""Spelling suggestions and completions, from the words of the index.

The words are those of titles, headings and anchors (the field `vocabulary`), not stemmed. A word is
only compared with words of the same first letter, which most people get right (Kukich, "Techniques
for automatically correcting words in text", ACM Computing Surveys 1992).
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from rapidfuzz.distance import DamerauLevenshtein
from rapidfuzz.process import extract
from tantivy import Occur, Query

from gossamer.fulltext.analysis import plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tantivy import Schema, Searcher

FIELD = "vocabulary"
MAX_RARE_PAGES = 2
"""A word on at most this many pages may be misspelt."""
MIN_RATIO = 10
"""A suggestion is at least this many times as frequent as the word that it replaces."""
MIN_CHARS, LONG_CHARS = 4, 8
"""From MIN_CHARS characters one edit is tried, from LONG_CHARS two."""
MAX_WORDS = 20_000
"""Words per index and initial that are compared, the most frequent ones."""
MAX_INITIALS = 16
"""Initials whose words are cached."""
MAX_CHECKED = 8
"""Words of a query that are checked."""
_WORD = re.compile(r"[^\W\d_]+")
_LAST = re.compile(r"[^\W_]+$")


class SimilarWords(NamedTuple):
    """How many `pages` have a word, and how many have each of the similar `words`."""

    pages: int
    words: dict[str, int]


def words_to_check(text: str) -> list[str]:
    """The words of a query that may be misspelt."""
    return list(dict.fromkeys(match[0] for match in _WORD.finditer(text)))[:MAX_CHECKED]


def suggestion(text: str, known: Mapping[str, SimilarWords]) -> str | None:
    """The query with its rare words replaced; None if there is nothing better."""
    better = {word: found for word, near in known.items() if (found := _better(word, near))}
    return _WORD.sub(lambda match: better.get(match[0], match[0]), text) if better else None


def completed(text: str, counts: Mapping[str, int], limit: int) -> list[str]:
    """The text with its last word completed in `limit` ways, the most frequent first."""
    before, _ = _split_last_word(text)
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return [before + term for term, _ in ordered[:limit]]


def _better(word: str, near: SimilarWords) -> str | None:
    """The replacement of a rare word: the nearest similar word, of several the most frequent."""
    if near.pages > MAX_RARE_PAGES:
        return None
    term = plain().analyze(word)[0]
    ranked = sorted(
        (DamerauLevenshtein.distance(term, found), -pages, found)
        for found, pages in near.words.items()
        if pages >= max(MIN_RATIO * near.pages, 1)
    )
    return ranked[0][2] if ranked else None


def _split_last_word(text: str) -> tuple[str, str]:
    """A query without its last word, and that word, which is being typed."""
    last = _LAST.search(text)
    return (text[: last.start()], last[0]) if last else (text, "")


class Spelling:
    """The vocabulary of some indexes."""

    def __init__(self, schema: Schema, searchers: Sequence[Searcher]) -> None:
        self._schema = schema
        self._searchers = searchers
        # Cached because terms are counted in each segment, and there are few initials.
        self._words_with_initial = lru_cache(MAX_INITIALS)(self._with_initial)

    def like(self, word: str) -> SimilarWords:
        """The frequency of a word and, if it is rare, similar words with theirs."""
        terms = plain().analyze(word)
        if len(terms) != 1 or len(terms[0]) < MIN_CHARS:
            return SimilarWords(MAX_RARE_PAGES + 1, {})
        term = terms[0]
        pages = sum(searcher.doc_freq(FIELD, term) for searcher in self._searchers)
        if pages > MAX_RARE_PAGES:
            return SimilarWords(pages, {})
        counts = self._words_with_initial(term[0])
        distance = 1 if len(term) < LONG_CHARS else 2
        near = extract(
            term,
            counts.keys(),
            scorer=DamerauLevenshtein.distance,
            score_cutoff=distance,
            limit=None,
        )
        return SimilarWords(pages, {found: counts[found] for found, _, _ in near if found != term})

    def completions(self, text: str, limit: int) -> dict[str, int]:
        """Words that complete the last one on pages that have the others, with their number."""
        before, last = _split_last_word(text)
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
