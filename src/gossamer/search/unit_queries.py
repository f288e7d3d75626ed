"""Units of a query as tantivy queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tantivy import Query

if TYPE_CHECKING:
    from tantivy import Schema

    from gossamer.fulltext.analysis import Unit


def unit_query(schema: Schema, field: str, unit: Unit, slop: int = 0) -> Query:
    """BM25 of a term, or of a phrase whose terms may be up to `slop` positions apart."""
    if len(unit) > 1:
        return Query.phrase_query(schema, field, [*unit], slop)
    # For terms, tantivy then reads only the frequencies, not the positions.
    return Query.term_query(schema, field, unit[0], "freq")


def unit_once(schema: Schema, field: str, unit: Unit, idf: float) -> Query:
    """A unit that counts once, however often a page has it: BM25 of a term, the idf of a phrase.

    The title `vector::vector` is no more about vectors than `vector`.
    """
    if len(unit) > 1:
        return Query.const_score_query(Query.phrase_query(schema, field, [*unit]), idf)
    return Query.term_query(schema, field, unit[0], "basic")
