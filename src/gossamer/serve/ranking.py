"""How pages are ranked: this page says it all.

score(page) = words + names + exact + pairs + popularity + freshness

  words       BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009, §3.4)
              of each word in all that speaks of the page (the field `text`).
  names       BM25 of each word in the title, and in what others call the page, each times its
              weight.
  exact       the words as a phrase in the title, and a large bonus where they are the whole title:
              most queries that name a page name it by its title.
  pairs       BM25 of each two neighbouring words of the query that stand within PAIR_SLOP places
              of one another, as if they were a word: Metzler and Croft, "A Markov Random Field
              Model for Term Dependencies" (SIGIR 2005), the sequential dependence.
  popularity  log2(1 + merit), of PageRank over the mean one: 1 for an average page. The logarithm,
              added to those that BM25 is made of, is one of the forms of Craswell et al.,
              "Relevance Weighting for Query Independent Evidence" (SIGIR 2005, §3).
  freshness   how near a page's date is to the time that the query wants, for queries that want one
              (`recency.py`).

Which pages: `strict` has those with every word, but stop words. Where these are few, they are
followed by those of `wide`, which have any of the words.

In two steps, since what a page is worth in full costs many times what its words cost (where words
stand is read from disk for pairs): the first scores all pages that match by words, names and exact,
and by pairs only where they are few; `closer` adds the rest to the best. Popularity is added to
more of them (`broker.py`).
Of `wide` the first step has words alone: tantivy then passes over pages that cannot be among the
best (Ding and Suel, "Faster top-k document retrieval using block-max indexes", SIGIR 2011). What
surrounds the text of a page (`around`) counts there, too: for a word that no text has, or in the
second step.

The weights are settings (`[ranking]`). Other formulas, to compare with, are in `profiles.py`.
"""

from __future__ import annotations

import math
from functools import cached_property
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from tantivy import Occur, Query

from gossamer.index.analysis import OTHER, is_unspaced, tongue
from gossamer.index.schema import title_key
from gossamer.serve import query as language
from gossamer.serve.filters import filter_query
from gossamer.serve.statistics import lift

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tantivy import Schema

    from gossamer.config import RankingConfig
    from gossamer.index.analysis import Tongue
    from gossamer.serve.statistics import Frequencies, Statistics

MAX_TERMS = 64
"""Words of a query that are looked for; a longer query is a quotation, and found by these."""
PAIR_SLOP = 2
FEW = 2_000
"""Where no more pages can have all the words, their pairs are looked at in the first step."""
NAMING = 5_000
"""A phrase names pages where no more titles can have it. What more titles say is no name, such as
the "unstable urgency" of Debian's changelogs."""
OCCURRENCES = "freq"
"""What of a word's postings is read to score it: how often, and not where."""
LIKE_SHARE = 0.1
"""Of a page's telling words, what one like it has at least. The 0.3 of Lucene's MoreLikeThisQuery
leave out many pages that are short."""

Unit = tuple[str, ...]
"""A term, or several as a phrase."""
_Part = TypeVar("_Part", bound=language.Query)


class Plan(NamedTuple):
    """What to look for in the index of a language. None: nothing can be found.

    `words` that tell something are looked for. At least `some` pages have one of them: a union is
    not counted, since tantivy passes over pages that cannot be among the best (-1: it is counted).
    `closer`: the second step adds to the scores.
    """

    found: Query | None
    words: int = 0
    some: int = -1
    closer: bool = False


NOTHING = Plan(None)


class Ranking:
    """Queries for an index of one language."""

    def __init__(
        self, schema: Schema, key: str, weights: RankingConfig, statistics: Statistics
    ) -> None:
        self.schema = schema
        self.tongue: Tongue = tongue(key)
        self.weights = weights
        self.statistics = statistics

    def terms(self, tree: language.Query) -> set[str]:
        """All that a query looks for."""
        words = language.shown(tree)
        return {term for each in words for term in self.tongue.analyzed(each.text)}

    def sought(self, tree: language.Query, whole: Frequencies | None = None) -> Sought:
        """`whole`: of the language in the whole index, where this one is a part of it."""
        return Sought(self, tree, whole or self.statistics)


class Sought:
    """What is looked for in an index for one query.

    Invariant: `_units` are what its words are looked for by, repeated ones too: they weigh more.
    """

    def __init__(self, ranking: Ranking, tree: language.Query, whole: Frequencies) -> None:
        self._schema = ranking.schema
        self._tongue = ranking.tongue
        self._weights = ranking.weights
        self._statistics = ranking.statistics
        self._whole = whole
        self._tree = tree
        self._plain = language.plain(tree)
        units = units_of(language.typed(tree), self._tongue)
        self._units = list(islice(units, MAX_TERMS))

    @cached_property
    def bound(self) -> float:
        """No more pages than these have all the words."""
        if not self._plain:
            return math.inf
        having = (self._whole.pages("text", term) for unit in self._units for term in unit)
        return min(having, default=0)

    @property
    def _is_word(self) -> bool:
        """Whether all pages that have it, and no others, have it in their text."""
        is_term = len(self._units) == 1 and len(self._units[0]) == 1
        return is_term and bool(self._plain) and not self._statistics.deleted

    def strict(self) -> Plan:
        """The first step, for pages that have every word."""
        words = len(self._units) + len(language.alike(self._tree))
        if not self.bound:  # as in most of many languages
            return Plan(None, words)
        if self._matched is None:
            return NOTHING
        more = [*self._names, *self._exact]
        if self._is_word and not self._exact:
            pages = self._statistics.pages("text", *self._units[0])
            return Plan(_any_of([self._matched, *more]), words, pages)
        if self.bound <= FEW:
            pairs = [*self._paired(Query.const_score_query(self._matched, 0.0))]
            return Plan(self._with(self._matched, [*more, *pairs]), words)
        some = [(Occur.Must, self._matched), *((Occur.Should, each) for each in more)]
        return Plan(Query.boolean_query(some), words, closer=bool(self._pairs))

    def wide(self) -> Plan:
        """The first step, for pages that have any of the words."""
        units = self._units
        if not units or not language.is_loose(self._tree):
            return NOTHING
        some = _any_of(self._anywhere())
        if conditions := [self._condition(part) for part in language.conditions(self._tree)]:
            found = Query.boolean_query([(Occur.Must, some), *conditions])
            return Plan(found, len(units), closer=True)
        here = self._statistics.pages
        pages = max(here("text", term) for unit in units for term in unit)
        return Plan(some, len(units), pages, closer=True)

    def named(self) -> Query | None:
        """Of the pages of a strict plan those whose title the query names."""
        called = [*self._titled(), *self._phrased(NAMING)]
        if self._matched is None or not called:
            return None
        either = _any_of(called)
        more = [(Occur.Should, each) for each in (*self._names, *self._exact)]
        required = [
            (Occur.Must, Query.const_score_query(either, 0.0)),
            (Occur.Must, self._matched),
        ]
        return Query.boolean_query([*required, *more])

    def closer(self, slots: Iterable[str], *, wide: bool) -> Query | None:
        """The second step, for pages that are in these slots. None: it would add nothing."""
        if not wide and (self.bound <= FEW or not self._pairs):
            return None
        # tantivy's query for a set of terms walks through the whole dictionary for it.
        either = [Query.term_query(self._schema, "slot", slot, "basic") for slot in slots]
        found = Query.const_score_query(_any_of(either), 0.0)
        pairs = [*self._paired(found)]
        if not wide:
            return _any_of(pairs)
        around = [self._scored("around", unit, self._weights.around) for unit in self._units]
        return self._with(found, [*self._names, *self._exact, *around, *pairs])

    def _with(self, found: Query, more: Iterable[Query]) -> Query:
        """What is found, and what adds to its score.

        One within the other: as one union tantivy would score all of them for other pages, too.
        """
        for each in more:
            found = Query.boolean_query([(Occur.Must, found), (Occur.Should, each)])
        return found

    @cached_property
    def _matched(self) -> Query | None:
        return self._match(self._tree)

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
                either = [found for part in parts if (found := self._match(part))]
                return _any_of(either) if either else None
            case language.All(parts):
                asked = [part for part in parts if not isinstance(part, language.Not)]
                matched = map(self._match, telling(asked, self._tongue))
                wanted = [(Occur.Must, found) for found in matched if found]
                unwanted = [
                    self._condition(part) for part in parts if isinstance(part, language.Not)
                ]
                return Query.boolean_query([*wanted, *unwanted]) if wanted else None

    def _words(self, words: language.Words) -> Query | None:
        wanted = [self._scored("text", unit) for unit in units_of([words], self._tongue)]
        if len(wanted) > 1:
            return Query.boolean_query([(Occur.Must, each) for each in wanted])
        return wanted[0] if wanted else None

    def _like(self, like: language.Like) -> Query:
        """Pages that have LIKE_SHARE of the words, each by BM25 times its weight."""
        units = [
            (unit, weight)
            for text, weight in like.words
            for unit in units_of([language.Words(text)], self._tongue)
        ]
        if not units:
            return Query.empty_query()
        some = [(Occur.Should, self._scored("text", unit, weight)) for unit, weight in units]
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

    def _anywhere(self) -> Iterator[Query]:
        """Each unit where pages show it. One that repeats weighs more.

        To ask for half of them, or a quarter, loses what questions of many words look for.
        """
        for unit in self._units:
            yield self._scored("text", unit)
            if not all(self._whole.pages("text", term) for term in unit):
                yield self._scored("around", unit, self._weights.around)

    @cached_property
    def _names(self) -> Sequence[Query]:
        return [
            self._scored(field, part, weight)
            for unit in self._units
            for field, part, weight in self._called(unit)
            if all(self._whole.pages(field, term) for term in part)
        ]

    def _called(self, unit: Unit) -> Iterator[tuple[str, Unit, float]]:
        yield "title", unit, self._weights.title
        for term in unit:
            yield "anchors", (term,), self._weights.anchors

    @cached_property
    def _exact(self) -> Sequence[Query]:
        return [*self._phrased(), *self._titled()]

    def _phrased(self, most: float = math.inf) -> Iterator[Query]:
        """The words as a phrase in the title, where no more titles than `most` can have it."""
        if len(self._units) > 1:
            phrase = tuple(term for unit in self._units for term in unit)
            if 0 < min(self._whole.pages("title", term) for term in phrase) <= most:
                yield self._scored("title", phrase, self._weights.title_phrase)

    def _titled(self) -> Iterator[Query]:
        """The words as the whole title, where there is one such."""
        if self._plain:
            text = " ".join(each.text for each in self._plain)
            key = title_key(text)
            if self._statistics.pages("title_key", key):
                named = Query.term_query(self._schema, "title_key", key, "basic")
                weight = self._weights.whole_title * len(tongue(OTHER).analyzed(text))
                yield Query.const_score_query(named, weight)

    @cached_property
    def _pairs(self) -> Sequence[Query]:
        return [
            self._scored("text", (*first, *second), self._weights.pairs, PAIR_SLOP)
            for first, second in pairwise(self._units)
            if first != second and len(first) == len(second) == 1
        ]

    def _paired(self, found: Query) -> Iterator[Query]:
        """The pairs on the pages of a query that scores nothing.

        Both are required: for a pair that may only add to a score, tantivy goes on to the next page
        that has it, however far that is.
        """
        for pair in self._pairs:
            yield Query.boolean_query([(Occur.Must, found), (Occur.Must, pair)])

    def _scored(self, field: str, unit: Unit, weight: float = 1, slop: int = 0) -> Query:
        """BM25 of a unit, of whose words others may stand between."""
        if len(unit) == 1:
            found = Query.term_query(self._schema, field, unit[0], OCCURRENCES)
        else:
            found = Query.phrase_query(self._schema, field, [*unit], slop)
        weight *= lift(unit, field, self._statistics, self._whole)
        return found if weight == 1 else Query.boost_query(found, weight)


def _any_of(queries: Iterable[Query]) -> Query:
    return Query.boolean_query([(Occur.Should, each) for each in queries])


def telling(parts: Sequence[_Part], spoken: Tongue) -> Sequence[_Part]:
    """Those that are more than a stop word, if there are such."""
    return [
        part
        for part in parts
        if not isinstance(part, language.Words) or part.exact or spoken.tells(part.text)
    ] or parts


def units_of(words: Sequence[language.Words], spoken: Tongue) -> Iterator[Unit]:
    """What the telling ones of these words are looked for by: the terms of each.

    A run of a script without spaces is a text, not a word, and asks for each two neighbours.
    """
    for each in telling(words, spoken):
        terms = spoken.analyzed(each.text)[:MAX_TERMS]
        if not each.exact and len(terms) > 2 and all(map(is_unspaced, terms)):  # noqa: PLR2004
            yield from pairwise(terms)
        elif terms:
            yield terms


def popularity(merit: float) -> float:
    """How popular a page is whose PageRank is so many times that of an average page."""
    return math.log2(1 + merit)
