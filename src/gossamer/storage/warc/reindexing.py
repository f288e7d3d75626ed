"""Writes the CDXJ index of a WARC file again, from its records."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from gossamer.storage.warc import cdxj
from gossamer.storage.warc.reader import HEAD_END, WarcReader, head_fields
from gossamer.storage.warc.records import plain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CAPTURES = ("response", "resource", "revisit")
"""The types of records that have a line in the index."""


def index_of(path: str | Path) -> bytes:
    """The index of a whole WARC file, byte for byte as `WarcWriter` wrote it."""
    return b"".join(sorted(_lines(path)))


def _lines(path: str | Path) -> Iterator[bytes]:
    with WarcReader(path) as reader:
        for record, offset, end in reader.records():
            head, _, block = record.partition(HEAD_END)
            fields = head_fields(head)
            kind = fields.get("warc-type")
            if kind not in CAPTURES:
                continue
            answer = head_fields(block.partition(HEAD_END)[0])
            described = fields if kind == "resource" else answer
            mime = plain(described.get("content-type", "").split(";")[0])
            yield cdxj.line(
                fields["warc-target-uri"],
                fields["warc-date"],
                mime="warc/revisit" if kind == "revisit" else mime,
                status=None
                if kind == "resource" or not block.strip()
                else int(block.split(None, 2)[1]),
                digest=fields.get("warc-payload-digest", "").removeprefix("sha1:") or None,
                length=end - offset,
                offset=offset,
                filename=PurePath(path).name,
            )
