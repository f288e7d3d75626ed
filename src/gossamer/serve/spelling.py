"""What was meant: words of the index like those that were typed, and how they may go on.

The words are those of titles, headings and links (the field `vocabulary`), as they are written.
A word is only compared with those that begin alike: most people get the first letter right (Kukich,
"Techniques for automatically correcting words in text", ACM Computing Surveys 1992).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from rapidfuzz.distance import DamerauLevenshtein
from rapidfuzz.process import extract
from tantivy import Occur, Query

from gossamer.index.analysis import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

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
MAX_LOOKED = 8
"""Words of a query."""
_WORD = re.compile(r"[^\W\d_]+")
_LAST = re.compile(r"[^\W_]+$")


class Spelling:
    """Of the words in some indexes."""

    def __init__(self, schema: Schema, searchers: Sequence[Searcher]) -> None:
        self._schema = schema
        self._searchers = searchers

    def suggestion(self, text: str) -> str | None:
        """The query with its rare words replaced; None where there is nothing better."""
        words = list(dict.fromkeys(match[0] for match in _WORD.finditer(text)))[:MAX_LOOKED]
        better = {word: found for word in words if (found := self._better(word)) is not None}
        if not better:
            return None
        return _WORD.sub(lambda match: better.get(match[0], match[0]), text)

    def completions(self, text: str, limit: int) -> list[str]:
        """The text with its last word completed, on pages that have the others; frequent first."""
        last = _LAST.search(text)
        if last is None:
            return []
        terms = plain().analyze(last[0])
        if len(terms) != 1:
            return []
        before = text[: last.start()]
        others = plain().analyze(before)
        having = [
            (Occur.Must, Query.term_query(self._schema, FIELD, term, "basic")) for term in others
        ]
        query = Query.boolean_query(having) if having else None
        counts = self._with_prefix(terms[0], limit + 1, query)
        return [before + term for term, _ in counts.most_common() if term != terms[0]][:limit]

    def _better(self, word: str) -> str | None:
        terms = plain().analyze(word)
        if len(terms) != 1 or len(terms[0]) < MIN_CHARS:
            return None
        term = terms[0]
        pages = self._pages(term)
        if pages > RARE_PAGES:
            return None
        counts = self._with_prefix(term[0], MAX_WORDS, None)
        distance = 1 if len(term) < LONG_CHARS else 2
        near = extract(
            term,
            counts.keys(),
            scorer=DamerauLevenshtein.distance,
            score_cutoff=distance,
            limit=None,
        )
        ranked = sorted(
            (away, -counts[found], found)
            for found, away, _ in near
            if found != term and counts[found] >= max(MIN_RATIO * pages, 1)
        )
        return ranked[0][2] if ranked else None

    def _pages(self, term: str) -> int:
        return sum(searcher.doc_freq(FIELD, term) for searcher in self._searchers)

    def _with_prefix(self, prefix: str, limit: int, query: Query | None) -> Counter[str]:
        counts: Counter[str] = Counter()
        for searcher in self._searchers:
            for term, pages in searcher.terms_with_prefix(FIELD, prefix, query, limit):
                counts[term] += pages
        return counts
