"""The whole ranking on one page.

score(page) = words + coverage + names + typed + exact + pairs + language + popularity + freshness

  words       BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009, §3.4)
              of each word (`query_units.py`) in all text about the page (the field `text`).
  coverage    the share of the words that the page has, however often, weighted by their idf, if it
              may lack some: a lower bound for each word as in BM25+ (Lv and Zhai, "Lower-bounding
              term frequency normalization", CIKM 2011), less for each word of a longer query.
  names       BM25 of each word in the title, where it counts once, and in anchor texts, and its idf
              if title or first words of the text have it (`first_words`), each times its weight.
  typed       joined words as phrases, and words and code as they were typed (`exact_form.py`).
  exact       BM25 of the words as a phrase in the title, and a large bonus if they, or all but one
              of them, are the whole title: most queries for a certain page use its title.
  pairs       BM25 of each two neighbouring words of the query that occur within PAIR_SLOP
              positions of each other, as if they were one word: the sequential dependence of
              Metzler and Croft, "A Markov Random Field Model for Term Dependencies" (SIGIR 2005);
              less for each pair of a longer query, some of which are neighbours by chance.
  language    how probably the query is in the language of the page (`languages.py`).
  popularity  log2(1 + static_rank), where the static rank is PageRank over its mean: 1 for an
              average page. A logarithm added to those of BM25 is one of the forms of Craswell et
              al., "Relevance Weighting for Query Independent Evidence" (SIGIR 2005, §3).
  freshness   how near a page's date is to the time that the query asks for, if it asks for one
              (`recency.py`).

`all_terms` finds the pages that have every word, except stop words (`query_units.py`), and
`any_term` those that have any. A page that lacks a word may be better than one that has it in
passing, so the broker merges both by their scores, unless the query says what is required.

Ranking has two steps, because the full score costs many times as much as that of the words (pairs
need positions, which are read from disk). The first step of `all_terms` scores all matching pages
by everything but popularity, freshness and, if many pages match, pairs. That of `any_term` scores
words and names only, each a list of one term, so that tantivy can skip pages that cannot be among
the best (Ding and Suel, "Faster top-k document retrieval using block-max indexes", SIGIR 2011).
`rescore` adds the rest for the best pages, and `broker.py` popularity for some more of them.
`any_term` also counts boilerplate, for words that a page's text lacks: in the first step if no text
has them. The weights are settings (`[ranking]`). `profiles.py` has other formulas for comparison.
"""

from __future__ import annotations

import math
from functools import cached_property, partial
from heapq import nsmallest
from itertools import islice
from typing import TYPE_CHECKING, Any

from tantivy import Occur, Query

from gossamer.index.format.analysis import OTHER, analyzer_for
from gossamer.index.format.page_keys import title_keys, words_key
from gossamer.index.format.unspaced import clusters, is_pair
from gossamer.search import query as query_tree
from gossamer.search.compound_words import known_part_terms
from gossamer.search.filters import filter_query, spared_pages
from gossamer.search.interpretation import (
    SYNONYM_WEIGHT,
    Interpretation,
    all_but_one,
    pages_at_most,
    pair_weight,
)
from gossamer.search.messages import COUNTED_MATCHES
from gossamer.search.query_clauses import (
    CandidateQuery,
    add_optional,
    all_of,
    any_of,
    bonus_for_pages,
    exclude_text_matches,
    first_words_bonus,
    share_of,
    unit_clause,
    unit_clause_once,
)
from gossamer.search.query_units import (
    drop_stop_words,
    join_units,
    joined_unit,
    neighbours,
    parts_of,
    spellings,
    synonym_units,
    terms_of,
    units_of,
)
from gossamer.search.statistics import idf_correction, idf_sum
from gossamer.search.typed_forms import bonus_queries, pages_having, typed_terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tantivy import DocAddress, Schema

    from gossamer.config import RankingConfig
    from gossamer.index.format.analysis import Analyzer, Unit
    from gossamer.search.statistics import Statistics

PAIR_SLOP = 2
"""The slop of tantivy's phrase query for the two words of a pair."""
FEW_MATCHES = 2_000
"""If at most this many pages can have all the words, the first step scores pairs, too."""
CHARACTER_WEIGHT = 1.5
"""The weight of a character that is in two pairs, in scripts without spaces."""
SUMMED_TERMS = 3
"""The sum of two scores does not depend on their order."""
MAX_NAMES = 16
"""Units that are also searched in titles and anchor texts, the first of a query."""
MAX_PAIRS = 32
"""Neighbouring words that are sought together, and words that are sought in boilerplate."""
MAX_BOUND = 4
"""Words by which the pages are found to which pairs may add."""
TITLE_AND_ONE = range(2, 9)
"""The number of words of a query of which all but one may be the title of a page."""
MAX_PHRASE_TITLES = 5_000
"""A phrase finds pages by title beyond the first tier only if at most this many titles can contain
it. More frequent phrases identify no page, such as "unstable urgency" in Debian's changelogs."""
NOT_PREFERRED: Mapping[bool, Sequence[Query]] = {False: (), True: ()}


class Ranking:
    """Queries for an index of one language."""

    def __init__(
        self, schema: Schema, key: str, weights: RankingConfig, statistics: Statistics
    ) -> None:
        self.schema = schema
        self.analyzer: Analyzer = analyzer_for(key)
        self.weights = weights
        self.statistics = statistics

    def terms(self, tree: query_tree.Query) -> set[str]:
        """The terms of all words of a query, including those of `related:`."""
        words = query_tree.highlighted_words(tree)
        parts = known_part_terms(words, self.analyzer, self.statistics)
        return {*terms_of(words, self.analyzer), *typed_terms(words, self.analyzer), *parts}


class QueryPlan:
    """The tantivy queries for one query and one index.

    `meant`: the interpretation of the query for the language's whole index, of which this one may
    be a part. `preferred`: what to add to the scores of pages in the language of the query, of
    those that have all words (False) or any of them (True), if the index has several languages.
    """

    def __init__(
        self,
        ranking: Ranking,
        tree: query_tree.Query,
        meant: Interpretation,
        preferred: Mapping[bool, Sequence[Query]] = NOT_PREFERRED,
    ) -> None:
        self.preferred = preferred
        self._schema = ranking.schema
        self._analyzer = ranking.analyzer
        self._weights = ranking.weights
        self._statistics = ranking.statistics
        self._whole = meant.whole
        self._tree = meant.tree
        plain = query_tree.plain_words(self._tree)
        self.best_hits: dict[bool, Sequence[tuple[Any, DocAddress]]] = {}
        """The REORDERED best pages with all terms (False) and with any (True), if uncounted."""
        self._plain = [] if meant.synonyms else plain
        self._title = query_tree.title_words(tree)
        self._meant = meant
        self._units = meant.units
        self._weighted = [*zip(meant.units, meant.weights, strict=True)]
        self._may_lack = query_tree.allows_partial_matches(tree)
        self.is_loose = self._may_lack and not meant.symbols and len(self._units) > 1
        self.coverage = self._weights.coverage * meant.length_factor if self.is_loose else 0.0

    @property
    def splits_words(self) -> bool:
        """Whether pages may have all words by the parts of one, by which `any_term` finds none."""
        return bool(self._meant.split)

    @cached_property
    def max_matches(self) -> float:
        """An upper bound of the number of pages of the language that have all the words."""
        return self._meant.pages(self._whole) if self._plain else math.inf

    @property
    def max_matches_here(self) -> float:
        """An upper bound of how many of them are in this index."""
        return self._meant.pages(self._statistics) if self._plain else math.inf

    @property
    def _is_single_term(self) -> bool:
        """Whether the query is one term, whose document frequency is the number of matches."""
        exact = not (self._meant.symbols or self._meant.further or self._statistics.deleted)
        single = exact and [len(unit) for unit in self._units] == [1]
        return single and self.max_matches == self._whole.pages("text", *self._units[0])

    def all_terms(self) -> CandidateQuery:
        """The first step, for pages that have every word."""
        words = len(self._units or self._meant.symbols) + len(query_tree.similar_words(self._tree))
        if not self.max_matches:  # usual if the index has many languages
            return CandidateQuery(None, words)
        if self._matching_pages is None:
            return CandidateQuery(None)
        more = [*self._name_queries, *self._exact_queries, *self._typed_queries]
        few = self.max_matches <= FEW_MATCHES
        if self._is_single_term and not self._exact_queries:
            some = [self._matching_pages, *more, *(self._second_step if few else ())]
            pages = self._statistics.pages("text", *self._units[0])
            terms = 1 + len(self._name_queries)
            skips = len(some) == terms >= SUMMED_TERMS
            return CandidateQuery(any_of(some), words, pages, rescore=not few, skips=skips)
        if few:
            if self._second_step:
                more.append(
                    bonus_for_pages(self._few_pages(self._matching_pages), self._second_step)
                )
            return CandidateQuery(add_optional(self._matching_pages, more), words)
        clauses = [(Occur.Must, self._matching_pages), *((Occur.Should, each) for each in more)]
        return CandidateQuery(Query.boolean_query(clauses), words, rescore=bool(self._second_step))

    def any_term(self, *, counted: bool) -> CandidateQuery:
        """The first step, for pages that have any of the words.

        `counted`: whether they are counted, if they are not too many.
        """
        if not self._units or not self._may_lack:
            return CandidateQuery(None)
        terms = [*self._unit_queries(), *self._name_queries]
        some = any_of(terms)
        if self._conditions:
            found = Query.boolean_query([(Occur.Must, some), *self._conditions])
            return CandidateQuery(found, len(self._units), rescore=True)
        here = self._statistics
        units = [*self._units, *(unit for unit, _ in self._meant.synonyms)]
        most = [min(here.pages("text", term) for term in unit) for unit in units]
        single = [pages for unit, pages in zip(units, most, strict=True) if len(unit) == 1]
        fewest = max(single, default=0) - here.deleted
        if counted and (sum(most) <= COUNTED_MATCHES or fewest <= 0):
            return CandidateQuery(some, len(self._units), rescore=True)
        skips = len(terms) >= SUMMED_TERMS and all(len(unit) == 1 for unit in units)
        return CandidateQuery(
            some, len(self._units), max(fewest, 0), exact=False, rescore=True, skips=skips
        )

    def _coverage_queries(self) -> Iterator[Query]:
        """What a page's score gains by each unit that it has, however often."""
        weights = [weight * idf_sum(unit, "text", self._whole) for unit, weight in self._weighted]
        for unit, weight in zip(self._units, weights, strict=True):
            if self.coverage and pages_at_most([unit], self._whole):
                gain = self.coverage * weight / sum(weights)
                yield Query.const_score_query(self._bm25("text", unit), gain)

    def near_matches(self, hash_prefixes: Iterable[str], *, whole: bool) -> Query:
        """Pages with these hash prefixes that meet all conditions, without scores.

        Those that have all words are left out, unless `whole`.
        """
        term_query = partial(Query.term_query, self._schema, "hash_prefix")
        found = any_of([term_query(each, "basic") for each in hash_prefixes])
        clauses = [(Occur.Must, Query.const_score_query(found, 0.0))]
        clauses += [self._condition(part) for part in query_tree.query_conditions(self._tree)]
        if not whole and self.max_matches and self._matching_pages is not None:
            clauses.append((Occur.MustNot, self._matching_pages))
        return Query.boolean_query(clauses)

    def title_matches(self, *, any_term: bool) -> Query | None:
        """The matches of `all_terms` whose title is the query, or has it as a rare phrase.

        With `any_term`, the pages whose title is the query without one of its words.
        """
        if any_term:
            within = [*self._title_within()]
            found = [*self._unit_queries(), *self._name_queries]
            named = Query.boolean_query([(Occur.Must, any_of(within)), *self._conditions])
            return add_optional(named, found) if within else None
        called = [*self._whole_title(), *self._title_phrase(MAX_PHRASE_TITLES)]
        if not called or self._matching_pages is None:
            return None
        required = [Query.const_score_query(any_of(called), 0.0), self._matching_pages]
        more = [*self._name_queries, *self._exact_queries, *self._typed_queries]
        return add_optional(all_of(required), more)

    def rescore(self, hash_prefixes: Iterable[str], *, any_term: bool) -> Query | None:
        """The second step, for pages with these hash prefixes; None if it would add nothing."""
        if not any_term and (self.max_matches <= FEW_MATCHES or not self._second_step):
            return None
        # tantivy's query for a set of terms scans the whole dictionary.
        term_query = partial(Query.term_query, self._schema, "hash_prefix")
        either = [term_query(each, "basic") for each in hash_prefixes]
        found = Query.const_score_query(any_of(either), 0.0)
        if not any_term:
            return bonus_for_pages(found, self._second_step)
        weight = self._weights.boilerplate
        beside = [
            exclude_text_matches(self._bm25("boilerplate", unit, weight), self._schema, unit)
            for unit in self._units[:MAX_PAIRS]
        ]
        exact = [*self._exact_queries, *self._typed_queries]
        return bonus_for_pages(
            found, [*exact, *beside, *self._coverage_queries(), *self._second_step]
        )

    @cached_property
    def _matching_pages(self) -> Query | None:
        found = self._match(self._tree)
        if not self._plain or not self._meant.symbols:
            return found
        symbols = all_of([pages_having(terms, self._schema) for terms in self._meant.symbols])
        symbols = Query.const_score_query(symbols, 0.0)
        return all_of([found, symbols]) if found else symbols

    def _pages_of(self, unit: Unit) -> int:
        return pages_at_most([unit], self._whole)

    def _few_pages(self, found: Query) -> Query:
        """Few pages, among them those of `found`, without scores: a clause that is cheap to copy.

        That of a long query would be as long as it, and copied for each of its words.
        """
        if len(self._units) > MAX_BOUND and not self._meant.split:
            rarest = nsmallest(MAX_BOUND, self._units, self._pages_of)
            found = all_of([self._bm25("text", unit) for unit in rarest])
        return Query.const_score_query(found, 0.0)

    def _match(self, tree: query_tree.Query) -> Query | None:
        """The query of a tree; None if the tree is empty or only excludes something."""
        match tree:
            case query_tree.Words():
                return self._words(tree)
            case query_tree.Filter() | query_tree.Urls():
                return self._filter(tree)
            case query_tree.Like():
                return self._similar_pages(tree)
            case query_tree.Not():
                return None
            case query_tree.Or(parts):
                either = [found for part in parts if (found := self._match(part))]
                return any_of(either) if either else None
            case query_tree.And(parts):
                asked = [part for part in parts if not isinstance(part, query_tree.Not)]
                matched = map(self._match, drop_stop_words(asked, self._analyzer))
                wanted = [(Occur.Must, found) for found in matched if found]
                unwanted = [
                    self._condition(part) for part in parts if isinstance(part, query_tree.Not)
                ]
                return Query.boolean_query([*wanted, *unwanted]) if wanted else None

    def _words(self, words: query_tree.Words) -> Query | None:
        parts = parts_of(words, self._analyzer)
        wanted = [found for part in parts if (found := self._word_part(part)) is not None]
        typed = [all_of(wanted)] if wanted else []
        joined = joined_unit(words, self._analyzer)
        if typed and joined and pages_at_most([joined], self._whole):
            typed.append(self._bm25("text", joined, self._meant.scale))
        synonyms = [
            self._bm25("text", unit, SYNONYM_WEIGHT * self._meant.scale)
            for text in words.also
            for unit in synonym_units(text, self._analyzer)
        ]
        either = [*typed, *synonyms]
        return any_of(either) if len(either) > 1 else either[0] if either else None

    def _word_part(self, part: query_tree.Words) -> Query | None:
        """Pages that have a word; if it is in CamelCase, also those that have its parts."""
        found = []
        for units, weight in spellings(part, self._analyzer):
            weights = [
                self._meant.scale * weight * pair_weight(unit, self._whole) for unit in units
            ]
            weighted = zip(units, weights, strict=True)
            found.append(all_of([self._bm25("text", unit, weight) for unit, weight in weighted]))
        return any_of(found) if len(found) > 1 else found[0] if found else None

    def _similar_pages(self, like: query_tree.Like) -> Query:
        """Pages that have enough of the words, each by BM25 times its weight."""
        units = [
            (unit, weight)
            for text, weight in like.words
            for unit in units_of([query_tree.Words(text)], self._analyzer)
        ]
        return share_of([self._bm25("text", unit, weight) for unit, weight in units])

    @cached_property
    def _conditions(self) -> Sequence[tuple[Occur, Query]]:
        """What every page must meet, whatever words it has."""
        return [self._condition(part) for part in query_tree.query_conditions(self._tree)]

    def _condition(self, part: query_tree.Query) -> tuple[Occur, Query]:
        """A Filter, Urls or Not as a clause. An empty one holds for every page."""
        inner = part.part if isinstance(part, query_tree.Not) else part
        found = self._match(inner)
        if found is None:
            return Occur.Must, Query.const_score_query(Query.all_query(), 0.0)
        if not isinstance(part, query_tree.Not):
            return Occur.Must, found
        if unless := spared_pages(self._schema, part):
            found = Query.boolean_query([(Occur.Must, found), (Occur.MustNot, unless)])
        return Occur.MustNot, found

    def _filter(self, part: query_tree.Filter | query_tree.Urls) -> Query:
        return Query.const_score_query(filter_query(self._schema, part, self._analyzer.terms), 0.0)

    def _unit_queries(self) -> Iterator[Query]:
        """The query of each unit, in text, and in boilerplate if no text has all of its terms.

        All clauses are optional: to require a half or a quarter of the units would lose the pages
        that long questions are about.
        """
        for unit, weight in self._weighted:
            yield self._bm25("text", unit, weight)
            if not all(self._whole.pages("text", term) for term in unit):
                yield self._bm25("boilerplate", unit, self._weights.boilerplate)
        for unit, weight in self._meant.synonyms:
            yield self._bm25("text", unit, weight)

    @cached_property
    def _name_queries(self) -> Sequence[Query]:
        return [
            self._bm25(field, part, weight * share)
            for unit, share in [*self._weighted[:MAX_NAMES], *self._meant.synonyms]
            for field, part, weight in self._name_fields(unit)
            if all(self._whole.pages(field, term) for term in part)
        ]

    def _name_fields(self, unit: Unit) -> Iterator[tuple[str, Unit, float]]:
        """Where a unit also counts, as a phrase or by its terms: field, terms and weight."""
        # In a run of a script without spaces, each character is in two units.
        times = 2 if is_pair(unit[0]) else 1
        yield "title", unit, self._weights.title / times
        for character in clusters(unit[0]) if times > 1 else ():
            yield "text", (character,), CHARACTER_WEIGHT / times
        for term in unit:  # anchors have no positions
            yield "anchors", (term,), self._weights.anchors / len(unit) / times

    @cached_property
    def _typed_queries(self) -> Sequence[Query]:
        """What is on a page as it was typed: words joined in this way, forms, code, options."""
        typed = bonus_queries(
            self._meant.typed, self._schema, self._whole, self._weights.exact_form
        )
        further = [self._bm25("text", unit, weight) for unit, weight in self._meant.further]
        return [*further, *typed]

    @cached_property
    def _exact_queries(self) -> Sequence[Query]:
        return [*self._title_phrase(), *self._whole_title()]

    def _title_phrase(self, most: float = math.inf) -> Iterator[Query]:
        """The words as a phrase in the title, if at most `most` titles can contain it."""
        if len(self._units) > 1 and not self._meant.is_passage:
            phrase = join_units(self._units)
            if 0 < min(self._whole.pages("title", term) for term in phrase) <= most:
                yield self._bm25("title", phrase, self._weights.title_phrase)

    def _whole_title(self) -> Iterator[Query]:
        """The words as the whole title, if any page has this title."""
        text = " ".join(each.text for each in self._title)
        *_, key = title_keys(text)
        if self._title and self._statistics.pages("title_key", key):
            yield self._title_bonus(key, text)

    def _title_within(self) -> Iterator[Query]:
        """All words but one as the whole title, times the share of the idf that these have."""
        words = [each.text for each in self._title]
        if not (self.is_loose and len(words) in TITLE_AND_ONE):
            return
        for text, share in all_but_one(words, self._analyzer, self._whole):
            if self._statistics.pages("title_key", key := words_key(text)):
                yield self._title_bonus(key, text, share)

    def _title_bonus(self, key: str, text: str, share: float = 1) -> Query:
        found = Query.term_query(self._schema, "title_key", key, "basic")
        words = len(analyzer_for(OTHER).terms_of(text))
        return Query.const_score_query(found, self._weights.whole_title * words * share)

    @cached_property
    def _second_step(self) -> Sequence[Query]:
        """Pairs, and units in title or first words: what the second step may add."""
        # Pages with split words are found by all words, which are copied for each pair.
        copied = self._meant.split and len(self._units) > MAX_PAIRS
        weight = self._weights.pairs * self._meant.length_factor
        pairs = [
            self._bm25("text", pair, weight * self._meant.weights[at], PAIR_SLOP)
            for at, pair in islice(neighbours(self._units), MAX_BOUND if copied else MAX_PAIRS)
        ]
        led = {
            unit: weight * self._weights.first_words for unit, weight in self._weighted[:MAX_NAMES]
        }
        return [*pairs, *first_words_bonus(self._schema, led, self._statistics, self._whole)]

    def _bm25(self, field: str, unit: Unit, weight: float = 1, slop: int = 0) -> Query:
        """BM25 of a unit, whose terms may be up to `slop` positions apart."""
        if field == "title":
            found = unit_clause_once(self._schema, field, unit, self._statistics)
        else:
            found = unit_clause(self._schema, field, unit, slop)
        weight *= idf_correction(unit, field, self._statistics, self._whole)
        return found if weight == 1 else Query.boost_query(found, weight)
