"""The filters of the query language as tantivy queries."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tantivy import FieldType, Occur, Query

from gossamer.index.format.analysis import plain_analyzer
from gossamer.index.format.document_builder import kind_of
from gossamer.search.addresses import typed_address
from gossamer.search.query import Filter, Urls
from gossamer.search.typed_forms import code_of, pages_having

if TYPE_CHECKING:
    from tantivy import Schema

    from gossamer.index.format.analysis import Terms
    from gossamer.search.query import Not

_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?", re.ASCII)
_KINDS = {"htm": "html", "xhtml": "html", "txt": "text"}
"""Other names of kinds of pages."""
_ANSWERS = {"y": ("yes",), "n": ("no",)}
NORWEGIAN = {"nb": "no", "nn": "no"}
"""The index has both under one code (`parse/reading/language.py`)."""


def filter_query(schema: Schema, asked: Filter | Urls, words: Terms) -> Query:
    """The query for pages that the filter accepts. An invalid value matches nothing.

    So does a filter that `page_filters.py` should have replaced.
    """
    match asked:
        case Urls(urls):
            found = Query.term_set_query(schema, "url", [*urls])
        case Filter("site" | "host" as field, value):
            found = _address_filter(schema, field, value)
        case Filter("lang", value):
            found = Query.term_query(schema, "language", _language_code(value))
        case Filter("type", value):
            found = Query.term_query(schema, "kind", _kind(value))
        case Filter("wish", value):
            found = Query.term_set_query(schema, "wish", _wishes(value))
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
        case Filter("site", value) if not (address := typed_address(value)).pattern:
            return Query.term_query(schema, "copy_site", address.host)
    return None


def _date_range(schema: Schema, name: str, moment: int | None) -> Query:
    if moment is None:
        return Query.empty_query()
    if name == "after":
        return Query.range_query(schema, "date_ms", FieldType.Integer, lower_bound=moment)
    return Query.range_query(
        schema, "date_ms", FieldType.Integer, upper_bound=moment, include_upper=False
    )


def _address_filter(schema: Schema, field: str, value: str) -> Query:
    """The pages of a site or host, and with a path, those of them at or below it."""
    address = typed_address(value)
    found = Query.term_query(schema, field, address.host)
    if not address.pattern:
        return found
    below = Query.regex_query(schema, "url", address.pattern)
    return Query.boolean_query([(Occur.Must, found), (Occur.Must, below)])


def _language_code(value: str) -> str:
    """The code of the index for a tag such as `de-AT`, `pt_BR` or `nb`."""
    code = re.split("[-_]", value.lower(), maxsplit=1)[0]
    return NORWEGIAN.get(code, code)


def _wishes(value: str) -> list[str]:
    """The terms for a wish such as `ai-train=no`; both answers if only the use is named."""
    use, sign, answer = value.lower().partition("=")
    words = _ANSWERS.get(answer, (answer,)) if sign else ("yes", "no")
    return [f"{use}={word}" for word in words]


def _kind(value: str) -> str:
    """The kind of pages that is meant by a name, an extension or a media type."""
    kind = kind_of(value) if "/" in value else value.lower().lstrip(".")
    return _KINDS.get(kind, kind)


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
