"""WARC 1.1 (ISO 28500:2017): an archive of servers' answers, its index and its reader.

A file holds a `warcinfo` record and then three records per exchange: the answer, the `request`,
and the crawl's `metadata`. The answer is one of

    response    an HTTP response: head and body
    resource    the body only, for schemes without such a head (file, those of plugins)
    revisit     the head of an answer whose body is already stored (§6.7)

Each record is a separate gzip member (annex D), so an offset is enough to read one. `writer.py`
writes the files, each with its CDXJ index (`cdxj.py`), which `cdxj_search.py` searches.
`records.py` builds the bytes of records, and `reader.py` reads stored bodies. docs/formats.md
describes the stored HTTP heads and explains how they differ from what was sent.
"""

from __future__ import annotations

from gossamer.storage.warc.reader import (
    StoredResponse,
    WarcReader,
    head_fields,
    header_values,
    read_response,
    read_responses,
)
from gossamer.storage.warc.record_lengths import record_length
from gossamer.storage.warc.records import payload_digest, request_head, response_head
from gossamer.storage.warc.writer import ARCHIVE, Capture, Known, WarcWriter, index_path

__all__ = [
    "ARCHIVE",
    "Capture",
    "Known",
    "StoredResponse",
    "WarcReader",
    "WarcWriter",
    "head_fields",
    "header_values",
    "index_path",
    "payload_digest",
    "read_response",
    "read_responses",
    "record_length",
    "request_head",
    "response_head",
]
