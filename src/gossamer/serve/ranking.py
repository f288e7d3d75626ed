"""How pages are ranked: this page says it all.

score(page) = words + names + pairs + exact + popularity

  words       BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009, §3.4)
              of each word in all that speaks of the page (the field `text`).
  names       BM25 of each word in the title, and in what others call the page, each times its
              weight.
  pairs       BM25 of each two neighbouring words of the query that stand within PAIR_SLOP places
              of one another, as if they were a word: Metzler and Croft, "A Markov Random Field
              Model for Term Dependencies" (SIGIR 2005), the sequential dependence.
  exact       the words as a phrase in the title, and a large bonus where they are the whole title:
              most queries that name a page name it by its title.
  popularity  log2(1 + merit), of PageRank over the mean one: 1 for an average page. The logarithm,
              added to those that BM25 is made of, is one of the forms of Craswell et al.,
              "Relevance Weighting for Query Independent Evidence" (SIGIR 2005, §3). It reorders
              the best pages by all the rest (`search.py`).

Which pages: `strict` has those with every word, but stop words. Where these are few, they are
followed by those of `wide`, which have any of the words, and where also what surrounds the text of
a page counts (`around`). The weights are settings (`[ranking]`).
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from tantivy import Occur, Query

from gossamer.index.analysis import is_unspaced, plain, tongue
from gossamer.index.schema import title_key
from gossamer.serve import query as language
from gossamer.serve.filters import filter_query

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tantivy import Schema, TextAnalyzer

    from gossamer.config import RankingConfig
    from gossamer.index.analysis import Tongue

MAX_TERMS = 64
"""Words of a query that are looked for; a longer query is a quotation, and found by these."""
PAIR_SLOP = 2
LIKE_SHARE = 0.3
"""Of a page's telling words, what one like it has at least: as in Lucene's MoreLikeThisQuery."""

Unit = tuple[str, ...]
"""A term, or several as a phrase."""


class Plan(NamedTuple):
    """What to look for in the index of a language. None: nothing can be found.

    `words` that tell something are looked for.
    """

    strict: Query | None
    wide: Query | None
    words: int = 0

    def found(self, partial: bool) -> Query | None:
        """What a page was found by: one that has not all the words, or one that has."""
        return self.wide if partial else self.strict


class Ranking:
    """Queries for the indexes of one language."""

    def __init__(self, schema: Schema, key: str, weights: RankingConfig) -> None:
        self._schema = schema
        self._tongue: Tongue = tongue(key)
        self._weights = weights

    def plan(self, tree: language.Query) -> Plan:
        """For a query's tree."""
        matched = self._match(tree)
        if matched is None:
            return Plan(None, None)
        units = self._units(tree)
        bonus = list(self._bonus(units))
        conditions = [self._condition(part) for part in language.conditions(tree)]
        strict = Query.boolean_query([(Occur.Must, matched), *bonus])
        if words := language.plain(tree):
            named = self._named(" ".join(each.text for each in words))
            strict = Query.boolean_query([(Occur.Should, strict), (Occur.Should, named)])
        wide = None
        if units and language.is_loose(tree):
            some = self._some(units)
            wide = Query.boolean_query([(Occur.Must, some), *bonus, *conditions])
        return Plan(strict, wide, len(units))

    def _match(self, tree: language.Query) -> Query | None:
        """None where the tree asks for nothing, or only for the absence of something."""
        match tree:
            case language.Words():
                return self._words(tree)
            case language.Filter() | language.Urls():
                return self._filter(tree)
            case language.Like():
                return self._like(tree)
            case language.Not():
                return None
            case language.Any(parts):
                either = [(Occur.Should, found) for part in parts if (found := self._match(part))]
                return Query.boolean_query(either) if either else None
            case language.All(parts):
                asked = [part for part in parts if not isinstance(part, language.Not)]
                telling = [part for part in asked if self._tells(part)] or asked
                wanted = [(Occur.Must, found) for part in telling if (found := self._match(part))]
                unwanted = [
                    self._condition(part) for part in parts if isinstance(part, language.Not)
                ]
                return Query.boolean_query([*wanted, *unwanted]) if wanted else None

    def _tells(self, part: language.Query) -> bool:
        return not isinstance(part, language.Words) or part.exact or self._tongue.tells(part.text)

    def _words(self, words: language.Words) -> Query | None:
        units = units_of(words, self._tongue.terms)
        if not units:
            return None
        wanted = [(Occur.Must, self._in_field("text", unit)) for unit in units]
        return wanted[0][1] if len(wanted) == 1 else Query.boolean_query(wanted)

    def _like(self, like: language.Like) -> Query:
        """Pages that have LIKE_SHARE of the words, each by BM25 times its weight."""
        units = [
            (unit, weight)
            for text, weight in like.words
            for unit in units_of(language.Words(text), self._tongue.terms)
        ]
        if not units:
            return Query.empty_query()
        some = [
            (Occur.Should, boosted(self._in_field("text", unit), weight)) for unit, weight in units
        ]
        return Query.boolean_query(some, math.ceil(LIKE_SHARE * len(some)))

    def _condition(self, part: language.Query) -> tuple[Occur, Query]:
        """A Filter, Urls or a Not, as a clause; one that says nothing holds for every page."""
        inner = part.part if isinstance(part, language.Not) else part
        found = self._match(inner)
        if found is None:
            return Occur.Must, Query.const_score_query(Query.all_query(), 0.0)
        if isinstance(part, language.Not):
            return Occur.MustNot, found
        return Occur.Must, found

    def _filter(self, part: language.Filter | language.Urls) -> Query:
        found = filter_query(self._schema, part, self._tongue.terms)
        return Query.const_score_query(found, 0.0)

    def _units(self, tree: language.Query) -> list[Unit]:
        """What the query's words are looked for by, repeated ones too: they weigh more."""
        words = language.typed(tree)
        telling = [each for each in words if self._tells(each)] or words
        return [unit for each in telling for unit in units_of(each, self._tongue.terms)][:MAX_TERMS]

    def _some(self, units: Sequence[Unit]) -> Query:
        """Pages that have any of the units, wherever they show them. One that repeats weighs more.

        To ask for half of them, or a quarter, loses what questions of many words look for.
        """
        return Query.boolean_query([(Occur.Should, self._anywhere(unit)) for unit in units])

    def _anywhere(self, unit: Unit) -> Query:
        around = boosted(self._in_field("around", unit), self._weights.around)
        return Query.boolean_query(
            [(Occur.Should, self._in_field("text", unit)), (Occur.Should, around)]
        )

    def _bonus(self, units: Sequence[Unit]) -> Iterable[tuple[Occur, Query]]:
        weights = self._weights
        for unit in units:
            yield Occur.Should, boosted(self._in_field("title", unit), weights.title)
            for term in unit:
                found = Query.term_query(self._schema, "anchors", term, "freq")
                yield Occur.Should, boosted(found, weights.anchors)
        for first, second in pairwise(units):
            if first != second and len(first) == len(second) == 1:
                near = Query.phrase_query(self._schema, "text", [*first, *second], PAIR_SLOP)
                yield Occur.Should, boosted(near, weights.pairs)
        if len(units) > 1:
            terms = [term for unit in units for term in unit]
            phrase = Query.phrase_query(self._schema, "title", [*terms])
            yield Occur.Should, boosted(phrase, weights.title_phrase)

    def _named(self, text: str) -> Query:
        words = len(plain().analyze(text))
        named = Query.term_query(self._schema, "title_key", title_key(text), "basic")
        return Query.const_score_query(named, self._weights.whole_title * words)

    def _in_field(self, field: str, unit: Unit) -> Query:
        if len(unit) == 1:
            return Query.term_query(self._schema, field, unit[0])
        return Query.phrase_query(self._schema, field, [*unit])


def units_of(words: language.Words, analyzer: TextAnalyzer) -> list[Unit]:
    """What words are looked for by: their terms as one phrase.

    A run of a script without spaces is a text, not a word, and asks for each two neighbours.
    """
    terms = analyzer.analyze(words.text)[:MAX_TERMS]
    if not words.exact and len(terms) > 2 and all(map(is_unspaced, terms)):  # noqa: PLR2004
        return list(pairwise(terms))
    return [tuple(terms)] if terms else []


def boosted(query: Query, weight: float) -> Query:
    return query if weight == 1 else Query.boost_query(query, weight)


def popularity(merit: float) -> float:
    """How popular a page is whose PageRank is so many times that of an average page."""
    return math.log2(1 + merit)
