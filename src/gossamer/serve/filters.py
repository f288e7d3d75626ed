"""The filters of the query language, as tantivy's queries."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tantivy import FieldType, Query

from gossamer.index.analysis import plain

if TYPE_CHECKING:
    from tantivy import Schema, TextAnalyzer

_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")


def filter_query(schema: Schema, name: str, value: str, words: TextAnalyzer) -> Query:
    """Pages for which the filter holds. A value that makes no sense holds for no page."""
    match name:
        case "site" | "host":
            return Query.term_query(schema, name, host(value))
        case "lang":
            return Query.term_query(schema, "language", value.lower())
        case "type":
            return Query.term_query(schema, "kind", value.lower().lstrip("."))
        case "intitle":
            return _phrase(schema, "title", words.analyze(value))
        case "inurl":
            return _phrase(schema, "address", plain().analyze(value))
    return _dated(schema, name, time_ms(value))


def _dated(schema: Schema, name: str, moment: int | None) -> Query:
    if moment is None:
        return Query.empty_query()
    if name == "after":
        return Query.range_query(schema, "date_ms", FieldType.Integer, lower_bound=moment)
    return Query.range_query(
        schema, "date_ms", FieldType.Integer, upper_bound=moment, include_upper=False
    )


def host(value: str) -> str:
    """A host as people write it: a URL, capitals, a dot at either end."""
    return value.lower().rpartition("://")[2].partition("/")[0].strip(".*")


def time_ms(value: str) -> int | None:
    """The beginning of a day, a month or a year, UTC; None where it is none."""
    found = _DATE.fullmatch(value)
    if found is None:
        return None
    year, month, day = (int(part or 1) for part in found.groups())
    try:
        return int(datetime(year, month, day, tzinfo=UTC).timestamp() * 1000)
    except ValueError:
        return None


def _phrase(schema: Schema, field: str, terms: list[str]) -> Query:
    if not terms:
        return Query.empty_query()
    if len(terms) == 1:
        return Query.term_query(schema, field, terms[0])
    return Query.phrase_query(schema, field, [*terms])
