"""Combinations of tantivy queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tantivy import Occur, Query

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class CandidateQuery(NamedTuple):
    """A query of the first step for the index of a language. `query` is None if nothing can match.

    `words`: how many words other than stop words it has. `min_matches`: the number of matches if it
    is `exact`, else a lower bound. It replaces counting them if the query is a union, so that
    tantivy can skip pages that cannot be among the best; -1 if matches are counted. `rescore`:
    whether the second step would add to the scores.
    """

    query: Query | None
    words: int = 0
    min_matches: int = -1
    exact: bool = True
    rescore: bool = False


def any_of(queries: Iterable[Query]) -> Query:
    """What matches at least one of the queries."""
    return Query.boolean_query([(Occur.Should, each) for each in queries])


def all_of(queries: Sequence[Query]) -> Query:
    """What matches each of the queries."""
    if len(queries) == 1:
        return queries[0]
    return Query.boolean_query([(Occur.Must, each) for each in queries])


def with_optional(found: Query, more: Iterable[Query]) -> Query:
    """The query `found`, with each of `more` as an optional clause that adds to the score.

    They are nested: in one union, tantivy would score all of `more` for other pages, too.
    """
    for each in more:
        found = Query.boolean_query([(Occur.Must, found), (Occur.Should, each)])
    return found


def added(found: Query, more: Iterable[Query]) -> Query:
    """What `more` adds to the scores of the few pages that `found` matches.

    Each clause is bound to these pages, as one that is optional would be sought far behind them.
    That makes a union of many cheap; nested, tantivy would copy each clause once for every other.
    """
    return any_of([Query.boolean_query([(Occur.Must, found), (Occur.Must, each)]) for each in more])
