"""Units of a query as tantivy queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tantivy import Occur, Query

from gossamer.search.clauses import any_of
from gossamer.search.statistics import idf_sum

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tantivy import Schema

    from gossamer.index.format.analysis import Unit
    from gossamer.search.statistics import Frequencies


def unit_query(schema: Schema, field: str, unit: Unit, slop: int = 0) -> Query:
    """BM25 of a term, or of a phrase whose terms may be up to `slop` positions apart."""
    if len(unit) > 1:
        return Query.phrase_query(schema, field, [*unit], slop)
    # For terms, tantivy then reads only the frequencies, not the positions.
    return Query.term_query(schema, field, unit[0], "freq")


def unit_once(schema: Schema, field: str, unit: Unit, among: Frequencies) -> Query:
    """A unit that counts once, however often a page has it: BM25 of a term, the idf of a phrase.

    The title `vector::vector` is no more about vectors than `vector`.
    """
    if len(unit) > 1:
        phrase = Query.phrase_query(schema, field, [*unit])
        return Query.const_score_query(phrase, idf_sum(unit, field, among))
    return Query.term_query(schema, field, unit[0], "basic")


def leading(
    schema: Schema, weights: Mapping[Unit, float], here: Frequencies, among: Frequencies
) -> Iterator[Query]:
    """The idf that units have in texts, times their weights, on pages with them at the front.

    One query, if any page has one of them there.
    """
    found = [
        Query.const_score_query(
            unit_query(schema, "lead", unit), weight * idf_sum(unit, "text", among)
        )
        for unit, weight in weights.items()
        if weight and all(here.pages("lead", term) for term in unit)
    ]
    if found:
        yield any_of(found)


def without_text(scored: Query, schema: Schema, unit: Unit) -> Query:
    """The scores of a query, on pages whose text lacks a unit."""
    lacks = (Occur.MustNot, unit_query(schema, "text", unit))
    return Query.boolean_query([(Occur.Must, scored), lacks])
