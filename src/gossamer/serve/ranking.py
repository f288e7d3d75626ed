"""How pages are ranked: this page says it all.

score(page) = words(page) + exact(page) + rank_weight · popularity(page)

  words       BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009, §3.4)
              of each word in each field, times the field's weight. Of a word's fields the best
              counts whole and the others a part, since title and text say the same thing twice
              (the disjunction maximum of Lucene).
  exact       a bonus when the words stand in the title in this order, and a large one when they
              are the whole title: most queries that name a page name it by its title.
  popularity  log2(1 + rank · pages): 1 for a page of average PageRank. The logarithm, added to
              the logarithms that BM25 is made of, is one of the forms of Craswell et al.,
              "Relevance Weighting for Query Independent Evidence" (SIGIR 2005, §3).

Every word must be in the page. Only where no page has all are pages taken that have half of them
(`relaxed`). Popularity reorders the best pages by words and exactness, see search.py.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tantivy import Occur, Query

from gossamer.index.schema import title_key
from gossamer.serve import query as language

if TYPE_CHECKING:
    from tantivy import Schema, TextAnalyzer

FIELD_WEIGHTS = {
    "title": 3.0,
    "anchors": 2.0,
    "headings": 1.5,
    "address": 1.0,
    "description": 1.0,
    "text": 1.0,
}
OTHER_FIELDS = 0.3
"""What a word's other fields count beside its best one."""
PHRASE_IN_TITLE = 2.0
"""Weight of the query as one phrase in the title: BM25 of the phrase, times this."""
WHOLE_TITLE = 10.0
"""For each word of a query that is a page's whole title. A longer name is less likely a chance:
of the many pages called `Introduction`, popularity still has its say."""
MAX_TERMS = 64
"""Words of a query that are looked for; a longer query is a quotation, and found by these."""
RELAXED_SHARE = 0.5


class Ranking:
    """Queries for indexes of one schema."""

    def __init__(self, schema: Schema, words: TextAnalyzer) -> None:
        self._schema = schema
        self._words = words

    def strict(self, text: str, tree: language.Query) -> Query:
        """Pages that have what the tree asks for, or that are called as the text says."""
        matched = self._match(tree)
        if matched is None:
            return Query.empty_query()
        terms = self._terms(tree)
        scored = [(Occur.Must, matched)]
        if len(terms) > 1:
            in_title = Query.phrase_query(self._schema, "title", [*terms])
            scored.append((Occur.Should, Query.boost_query(in_title, PHRASE_IN_TITLE)))
        return Query.boolean_query(
            [
                (Occur.Should, Query.boolean_query(scored)),
                (Occur.Should, self._named(text)),
                *self._unwanted(tree),
            ]
        )

    def _named(self, text: str) -> Query:
        name = self._words.analyze(text)
        named = Query.term_query(self._schema, "title_key", title_key(name), "basic")
        return Query.const_score_query(named, WHOLE_TITLE * len(name))

    def relaxed(self, tree: language.Query) -> Query:
        """Pages that have at least half of the words that the tree asks for, in any order."""
        terms = dict.fromkeys(self._terms(tree))
        if len(terms) < 2:  # noqa: PLR2004  # of one word there is no half
            return Query.empty_query()
        half = Query.boolean_query(
            [(Occur.Should, self._anywhere([term])) for term in terms],
            minimum_number_should_match=math.ceil(len(terms) * RELAXED_SHARE),
        )
        return Query.boolean_query([(Occur.Must, half), *self._unwanted(tree)])

    def _terms(self, tree: language.Query) -> list[str]:
        typed = language.typed(tree)
        return [term for text in typed for term in self._words.analyze(text)][:MAX_TERMS]

    def _match(self, tree: language.Query) -> Query | None:
        """None where the tree asks for nothing, or only for the absence of something."""
        match tree:
            case language.Words(text):
                terms = self._words.analyze(text)[:MAX_TERMS]
                return self._anywhere(terms) if terms else None
            case language.Not():
                return None
            case language.Any(parts):
                either = [(Occur.Should, found) for part in parts if (found := self._match(part))]
                return Query.boolean_query(either) if either else None
            case language.All(parts):
                wanted = [(Occur.Must, found) for part in parts if (found := self._match(part))]
                return Query.boolean_query([*wanted, *self._unwanted(tree)]) if wanted else None

    def _unwanted(self, tree: language.Query) -> list[tuple[Occur, Query]]:
        found = map(self._match, language.unwanted(tree))
        return [(Occur.MustNot, part) for part in found if part]

    def _anywhere(self, terms: list[str]) -> Query:
        """A word, or words as a phrase, in any field."""
        return Query.disjunction_max_query(
            [
                Query.boost_query(self._in_field(field, terms), weight)
                for field, weight in FIELD_WEIGHTS.items()
            ],
            OTHER_FIELDS,
        )

    def _in_field(self, field: str, terms: list[str]) -> Query:
        if len(terms) == 1:
            return Query.term_query(self._schema, field, terms[0])
        return Query.phrase_query(self._schema, field, [*terms])


def popularity(rank: float | None, pages: int) -> float:
    """How popular a page of this PageRank is among so many; an unknown one is not."""
    return math.log2(1 + rank * pages) if rank else 0.0
