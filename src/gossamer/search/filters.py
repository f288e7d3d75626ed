"""The filters of the query language as tantivy queries."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tantivy import FieldType, Query

from gossamer.index.format.analysis import plain_analyzer
from gossamer.search.query import Filter, Urls
from gossamer.search.typed_forms import code_of, pages_having

if TYPE_CHECKING:
    from tantivy import Schema, TextAnalyzer

    from gossamer.search.query import Not

_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")


def filter_query(schema: Schema, asked: Filter | Urls, words: TextAnalyzer) -> Query:
    """The query for pages that the filter accepts. An invalid value matches nothing.

    So does a filter that `page_filters.py` should have replaced.
    """
    match asked:
        case Urls(urls):
            found = Query.term_set_query(schema, "url", [*urls])
        case Filter("site" | "host" as field, value):
            found = Query.term_query(schema, field, host_in(value))
        case Filter("lang", value):
            found = Query.term_query(schema, "language", value.lower())
        case Filter("type", value):
            found = Query.term_query(schema, "kind", value.lower().lstrip("."))
        case Filter("intitle", value):
            found = _phrase_filter(schema, "title", words.analyze(value))
        case Filter("inurl", value):
            found = _phrase_filter(schema, "address", plain_analyzer().analyze(value))
        case Filter("before" | "after" as name, value):
            found = _date_range(schema, name, date_begin_ms(value))
        case _:
            found = Query.empty_query()
    return found


def spared_pages(schema: Schema, excluded: Not) -> Query | None:
    """The pages that an exclusion spares although they match what it excludes.

    They have the option that `-word` may be; or only copies of them are on the site of `-site:`.
    """
    if code := code_of(excluded.unless):
        return pages_having(code, schema)
    match excluded.part:
        case Filter("site", value):
            return Query.term_query(schema, "copy_site", host_in(value))
    return None


def _date_range(schema: Schema, name: str, moment: int | None) -> Query:
    if moment is None:
        return Query.empty_query()
    if name == "after":
        return Query.range_query(schema, "date_ms", FieldType.Integer, lower_bound=moment)
    return Query.range_query(
        schema, "date_ms", FieldType.Integer, upper_bound=moment, include_upper=False
    )


def host_in(value: str) -> str:
    """The host in what people write: a URL, capitals, dots or asterisks at either end."""
    return value.lower().rpartition("://")[2].partition("/")[0].strip(".*")


def date_begin_ms(value: str) -> int | None:
    """When a day, month or year (`2024-06-30`) begins, ms UTC; None if it is not a date."""
    found = _DATE.fullmatch(value)
    if found is None:
        return None
    year, month, day = (int(part or 1) for part in found.groups())
    try:
        return int(datetime(year, month, day, tzinfo=UTC).timestamp() * 1000)
    except ValueError:
        return None


def _phrase_filter(schema: Schema, field: str, terms: list[str]) -> Query:
    if not terms:
        return Query.empty_query()
    if len(terms) == 1:
        return Query.term_query(schema, field, terms[0])
    return Query.phrase_query(schema, field, [*terms])
