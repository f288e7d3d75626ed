"""The indexes of a node, and the plans of its last query for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tantivy import Query

from gossamer.search.interpretation import Interpretation
from gossamer.search.languages import read_by_language
from gossamer.search.ranking import NOT_PREFERRED, QueryPlan
from gossamer.search.statistics import SummedStatistics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import tantivy

    from gossamer.config import RankingConfig
    from gossamer.search.languages import LanguageReading
    from gossamer.search.messages import Counts, Find
    from gossamer.search.query import Query as QueryTree
    from gossamer.search.ranking import Ranking
    from gossamer.search.statistics import Frequencies, Statistics

WHOLE_BONUS = 0.6
"""How much larger the bonus for the language of the query is if a page has all words; less in a
query of many words (`length_factor`)."""


class Index(NamedTuple):
    """The pages of one language, or those of them that are in the first tier."""

    language: str
    searcher: tantivy.Searcher
    ranking: Ranking
    statistics: Statistics
    whole: Statistics
    """The statistics of all pages of the language."""


class _LastQuery(NamedTuple):
    """The last query, what it means by language, and its plans by number of index.

    The next query replaces this object, so a thread that holds it can go on using it.
    """

    query: QueryTree | None
    counts: Counts | None
    language: str
    readings: Mapping[str, LanguageReading]
    meant: dict[str, Interpretation]
    plans: dict[int, QueryPlan]


class QueryPlans:
    """Makes the plans of a query, and keeps them because the broker asks in several steps."""

    def __init__(self, indexes: Sequence[Index], weights: RankingConfig) -> None:
        self._indexes = indexes
        self._whole = [at for at, each in enumerate(indexes) if each.whole is each.statistics]
        self._weights = weights
        self._last = _LastQuery(None, None, "", {}, {}, {})

    def plan_for(self, number: int, ask: Find) -> QueryPlan:
        """The plan for an index."""
        return self._plan_for(number, ask, self._query(ask))

    def _plan_for(self, number: int, ask: Find, last: _LastQuery) -> QueryPlan:
        if number not in last.plans:
            language, _, ranking, *_ = self._indexes[number]
            if language not in last.meant:
                among, _, stems, _ = last.readings[language]
                meant = Interpretation.from_query(ask.query, ranking.analyzer, among, stems)
                last.meant[language] = meant
            meant = last.meant[language]
            preferred = self._preferred(last.readings[language], meant, ranking.schema)
            last.plans[number] = QueryPlan(ranking, ask.query, meant, preferred)
        return last.plans[number]

    def score_bonus(self, number: int, ask: Find) -> float:
        """What to add to the scores of all pages of an index that the first step found.

        If only pages in one of its languages are preferred, the plan does that.
        """
        last = self._query(ask)  # without plans if another thread has asked since
        language = self._indexes[number].language
        reading, coverage = last.readings[language], 0.0
        if not ask.any_term:  # what is a word and a stop word here may be two words elsewhere
            coverage = max(self._plan_for(each, ask, last).coverage for each in self._whole)
        if reading.within:
            return coverage
        self._plan_for(number, ask, last)
        return self._gain(reading, last.meant[language], any_term=ask.any_term) + coverage

    def _gain(self, reading: LanguageReading, meant: Interpretation, *, any_term: bool) -> float:
        """The bonus of pages in the language of the query, more for those with all words.

        So a page in another language that has both words of `RAID LVM` comes before those that have
        one of them in the user's language, but after those that have both.
        """
        more = 0.0 if any_term else WHOLE_BONUS * meant.length_factor
        return self._weights.language * reading.probability * (1 + more)

    def _preferred(
        self, reading: LanguageReading, meant: Interpretation, schema: tantivy.Schema
    ) -> Mapping[bool, Sequence[Query]]:
        """The bonus where only some pages of an index get it, by whether any term is enough."""
        if not reading.within:
            return NOT_PREFERRED
        pages = Query.term_query(schema, "language", reading.within, "basic")
        return {
            any_term: [
                Query.const_score_query(pages, self._gain(reading, meant, any_term=any_term))
            ]
            for any_term in (False, True)
        }

    def _query(self, ask: Find) -> _LastQuery:
        last = self._last
        same = ask.query is last.query and ask.counts is last.counts
        if not same or ask.language != last.language:
            here: dict[str, Frequencies] = {each.language: each.whole for each in self._indexes}
            counted = {
                key: SummedStatistics(each) for key, each in (ask.counts or {}).items() if each
            }
            read = read_by_language(ask.query, here | counted, ask.language)
            last = self._last = _LastQuery(ask.query, ask.counts, ask.language, read, {}, {})
        return last
