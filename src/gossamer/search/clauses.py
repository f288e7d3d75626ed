"""Combinations of tantivy queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tantivy import Occur, Query

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


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
