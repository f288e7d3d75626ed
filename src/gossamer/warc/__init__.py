"""WARC 1.1 (ISO 28500:2017): an archive of what servers answered, its index and its reader.

A file is a `warcinfo` record and then, for each exchange, three records: what came, the
`request`, and `metadata` of the crawl. What came is one of

    response    an answer of HTTP: head and body
    resource    the body alone, of a scheme without such a head (ftp, file)
    revisit     the head of an answer whose body is stored already (§6.7)

Each record is a gzip member of its own (annex D), so that an offset is enough to read one.
`writer.py` puts them into files, and beside each its CDXJ index (`cdxj.py`); `records.py` makes
the bytes, `reader.py` gives bodies back. What the stored HTTP heads say, and why, is in
docs/formats.md.
"""

from __future__ import annotations

from gossamer.warc.reader import (
    StoredResponse,
    WarcReader,
    head_fields,
    read_response,
    responses,
)
from gossamer.warc.records import payload_digest, request_head, response_head
from gossamer.warc.writer import Capture, Known, WarcWriter

__all__ = [
    "Capture",
    "Known",
    "StoredResponse",
    "WarcReader",
    "WarcWriter",
    "head_fields",
    "payload_digest",
    "read_response",
    "request_head",
    "response_head",
    "responses",
]
