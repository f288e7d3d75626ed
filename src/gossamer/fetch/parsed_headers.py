"""The header fields by which a body is parsed: the column `headers` of responses and pages.

They are stored as text: a line `name: value` per field, with the name in lower case, in the order
of the names. If they differ, equal bodies are not the same page. Links come last, because they may
be long, and the text has a limit. Of `Link`, those to other pages count: many servers name their
stylesheets there, with another version in each answer.

A 304 has no body, but its fields replace those that were stored with it (RFC 9111 §3.2). Many
servers send a 304 with default values, and browsers ignore its Content-Type and Content-Encoding.
There are three exceptions:

  * A Content-Encoding is ignored: the stored body is decoded already.
  * A Content-Type without parameters does not remove the charset from the same type.
  * A Content-Type that is not a media type is ignored.

What robots.txt and tdmrep.json say about uses of a page (`web/publisher_wishes.py`) is kept as if
they were headers of these names. It is that of the last visit, also after a 304.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gossamer.web.publisher_wishes import HEADERS as WISHES
from gossamer.web.publisher_wishes import RSL_TYPE, SITE_FILES, condense

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.fetch.exchange import FetchResult

CONTENT_TYPE, CONTENT_ENCODING = "content-type", "content-encoding"
LINK, REFRESH = "link", "refresh"
READ_BY_PARSERS = (
    CONTENT_TYPE,
    CONTENT_ENCODING,
    "content-language",
    LINK,
    REFRESH,
    "x-content-type-options",
    "x-robots-tag",
    *WISHES,
)
_NAMES = {name.encode(): name for name in READ_BY_PARSERS}
MAX_CHARS = 4_096
"""Of all fields together."""
_NEXT_LINK = re.compile(rb",\s*(?=<)")
_TO_PAGES = re.compile(
    rb"canonical|alternate|amphtml|next|prev|" + re.escape(RSL_TYPE.encode()), re.IGNORECASE
)
MAX_STATEMENTS = 5
"""Of files of the site about the uses of a page."""


def parsed_headers(answer: FetchResult, statements: Sequence[str] = ()) -> str:
    """Return the fields of an answer that parsers read, with the `statements` of site files."""
    found = [
        (_NAMES[folded], value)
        for name, value in answer.headers
        if (folded := name.strip().lower()) in _NAMES
    ]
    fields = [(name, _links_to_pages(value) if name == LINK else value) for name, value in found]
    lines = [
        f"{name}: {b' '.join(value.split()).decode('latin-1')}"
        for name, value in fields
        if not (answer.decoded and name == CONTENT_ENCODING) and (value or name != LINK)
    ]
    lines += [
        line.replace(" ", ": ", 1)  # `robots.txt Content-Signal: …`, as a header
        for line in condense(statements, MAX_STATEMENTS)
    ]
    return "\n".join(sorted(lines, key=_order))[:MAX_CHARS]


def update_headers(stored: str, not_modified: str) -> str:
    """Return the stored fields as those of a 304 update them."""
    stored_type = header_value(stored, CONTENT_TYPE) or ""
    sent = [line for line in _lines(not_modified) if not _is_default(line, stored_type)]
    if not sent and all(header_value(stored, name) is None for name in SITE_FILES):
        return stored
    replaced = {*SITE_FILES, *map(_name, sent)}
    kept = [line for line in _lines(stored) if _name(line) not in replaced]
    return "\n".join(sorted(kept + sent, key=_order))[:MAX_CHARS]


def are_same_headers(some: str, others: str) -> bool:
    """Whether two texts of fields mean the same: the case of values does not matter."""
    return some.lower() == others.lower()


def header_value(headers: str, name: str) -> str | None:
    """Return the value of the first field with this name."""
    values = (line.partition(": ")[2] for line in _lines(headers) if _name(line) == name)
    return next(values, None)


def _is_default(line: str, stored_type: str) -> bool:
    """Whether a field of a 304 says nothing about the stored body."""
    name, _, value = line.partition(": ")
    if name != CONTENT_TYPE:
        return name == CONTENT_ENCODING
    media_type = stored_type.partition(";")[0].strip()
    return "/" not in value or value.strip("; ").lower() == media_type.lower()


def _lines(headers: str) -> list[str]:
    return headers.split("\n") if headers else []  # splitlines() also splits at 0x85


def _name(line: str) -> str:
    return line.partition(":")[0]


def _order(line: str) -> tuple[bool, str]:
    name = _name(line)
    return name in {LINK, REFRESH}, name


def _links_to_pages(value: bytes) -> bytes:
    return b", ".join(link for link in _NEXT_LINK.split(value) if _TO_PAGES.search(link))
