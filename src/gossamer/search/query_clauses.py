"""Clauses of tantivy queries: combinations of queries, and queries for units of the query."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from tantivy import Occur, Query

from gossamer.search.statistics import idf_sum

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tantivy import Schema

    from gossamer.index.format.analysis import Unit
    from gossamer.search.statistics import Frequencies

LIKE_SHARE = 0.1
"""The share of a page's terms that a similar page must have. Lucene's 0.3 excludes short pages."""


class CandidateQuery(NamedTuple):
    """A query of the first step for the index of a language. `query` is None if nothing can match.

    `words`: how many words other than stop words it has. `min_matches`: the number of matches if it
    is `exact`, else a lower bound. It replaces counting them if the query is a union, so that
    tantivy can skip pages that cannot be among the best; -1 if matches are counted. `rescore`:
    whether the second step would add to the scores. `skips`: whether tantivy skips pages and adds
    up the scores of three or more terms, in an order that depends on how many hits are wanted.
    """

    query: Query | None
    words: int = 0
    min_matches: int = -1
    exact: bool = True
    rescore: bool = False
    skips: bool = False


def any_of(queries: Iterable[Query]) -> Query:
    """What matches at least one of the queries."""
    return Query.boolean_query([(Occur.Should, each) for each in queries])


def all_of(queries: Sequence[Query]) -> Query:
    """What matches each of the queries."""
    if len(queries) == 1:
        return queries[0]
    return Query.boolean_query([(Occur.Must, each) for each in queries])


def share_of(queries: Sequence[Query]) -> Query:
    """What matches LIKE_SHARE of the queries."""
    if not queries:
        return Query.empty_query()
    some = [(Occur.Should, each) for each in queries]
    return Query.boolean_query(some, math.ceil(LIKE_SHARE * len(some)))


def add_optional(found: Query, more: Iterable[Query]) -> Query:
    """The query `found`, with each of `more` as an optional clause that adds to the score.

    They are nested: in one union, tantivy would score all of `more` for other pages, too.
    """
    for each in more:
        found = Query.boolean_query([(Occur.Must, found), (Occur.Should, each)])
    return found


def bonus_for_pages(found: Query, more: Iterable[Query]) -> Query:
    """What `more` adds to the scores of the few pages that `found` matches.

    Each clause is bound to these pages, as one that is optional would be sought far behind them.
    That makes a union of many cheap; nested, tantivy would copy each clause once for every other.
    """
    return any_of([Query.boolean_query([(Occur.Must, found), (Occur.Must, each)]) for each in more])


def unit_clause(schema: Schema, field: str, unit: Unit, slop: int = 0) -> Query:
    """BM25 of a term, or of a phrase whose terms may be up to `slop` positions apart."""
    if len(unit) > 1:
        return Query.phrase_query(schema, field, [*unit], slop)
    # For terms, tantivy then reads only the frequencies, not the positions.
    return Query.term_query(schema, field, unit[0], "freq")


def unit_clause_once(schema: Schema, field: str, unit: Unit, among: Frequencies) -> Query:
    """A unit that counts once, however often a page has it: BM25 of a term, the idf of a phrase.

    The title `vector::vector` is no more about vectors than `vector`.
    """
    if len(unit) > 1:
        phrase = Query.phrase_query(schema, field, [*unit])
        return Query.const_score_query(phrase, idf_sum(unit, field, among))
    return Query.term_query(schema, field, unit[0], "basic")


def first_words_bonus(
    schema: Schema, weights: Mapping[Unit, float], here: Frequencies, among: Frequencies
) -> Iterator[Query]:
    """The idf that units have in texts, times their weights, on pages with them at the front.

    One query, if any page has one of them there.
    """
    found = [
        Query.const_score_query(
            unit_clause(schema, "first_words", unit), weight * idf_sum(unit, "text", among)
        )
        for unit, weight in weights.items()
        if weight and all(here.pages("first_words", term) for term in unit)
    ]
    if found:
        yield any_of(found)


def exclude_text_matches(scored: Query, schema: Schema, unit: Unit) -> Query:
    """The scores of a query, on pages whose text lacks a unit."""
    lacks = (Occur.MustNot, unit_clause(schema, "text", unit))
    return Query.boolean_query([(Occur.Must, scored), lacks])
