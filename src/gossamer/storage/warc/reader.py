"""Reads stored bodies.

The reader accepts only complete gzip members: the checksum at the end of a member detects both
truncated files and changed bytes. FastWARC and warcio return the part of a truncated record that
is there, without reporting that it is truncated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from isal import isal_zlib

from gossamer.storage import opening
from gossamer.storage.local_copies import open_near
from gossamer.storage.warc.records import GZIP
from gossamer.web.publisher_wishes import SITE_FILES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from typing import Self

CHUNK_BYTES = 16 << 10  # decompressed per call
HEAD_END = b"\r\n\r\n"
_LINE_WISE = frozenset(("x-robots-tag", *SITE_FILES))
HEAD_BYTES = 8 << 10
"""More than the header of a record has, unless its URL is very long."""


class StoredResponse(NamedTuple):
    """A stored body, with the offset of its record and its HTTP headers.

    `fields` are those of the WARC record itself, `length` are its compressed bytes. All names are
    in lower case.
    """

    offset: int
    headers: dict[str, str]
    body: bytes
    fields: dict[str, str]
    length: int


class WarcReader:
    """Reads bodies of one file by offset, fastest in file order. A context manager.

    `near`: reads the copy of an object, if this machine has one. The object may be damaged then.
    """

    def __init__(self, path: str | Path, *, near: bool = False) -> None:
        self._file = open_near(str(path)) if near else opening.open_file(str(path))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def at(self, offset: int) -> StoredResponse | None:
        """Return the body at `offset`; None if no complete record with a body starts there."""
        member = self._member(offset)
        return None if member is None else _response(offset, *member)

    def __iter__(self) -> Iterator[StoredResponse]:
        """Iterate over all bodies, up to the first incomplete record."""
        for record, offset, end in self.records():
            response = _response(offset, record, end)
            if response is not None:
                yield response

    def records(self) -> Iterator[tuple[bytes, int, int]]:
        """Iterate over records, up to the first incomplete one: bytes, offset, and its end."""
        offset = 0
        while (member := self._member(offset)) is not None:
            yield member[0], offset, member[1]
            offset = member[1]

    def fields(self, offset: int) -> dict[str, str]:
        """Return the header fields of the record at `offset`, as far as they can be read."""
        self._file.seek(offset)
        decompressor = isal_zlib.decompressobj(GZIP)
        try:
            start = decompressor.decompress(self._file.read(HEAD_BYTES), HEAD_BYTES)
        except isal_zlib.error:  # type: ignore[misc]  # as below
            return {}
        return head_fields(start.partition(HEAD_END)[0])

    def _member(self, offset: int) -> tuple[bytes, int] | None:
        """Return the data of a gzip member and the offset of the next; None if it is incomplete."""
        self._file.seek(offset)
        decompressor = isal_zlib.decompressobj(GZIP)
        chunks: list[bytes] = []
        try:
            while not decompressor.eof:
                chunk = self._file.read(CHUNK_BYTES)
                if not chunk:
                    return None
                chunks.append(decompressor.decompress(chunk))
        except isal_zlib.error:  # type: ignore[misc]  # its stub declares an instance
            return None
        end = self._file.tell() - len(decompressor.unused_data)
        return (chunks[0] if len(chunks) == 1 else b"".join(chunks)), end


def read_responses(path: str | Path) -> Iterator[StoredResponse]:
    """Iterate over the bodies of a file in file order, up to the first incomplete record."""
    with WarcReader(path) as reader:
        yield from reader


def read_response(path: str | Path, offset: int) -> StoredResponse:
    """Return the body at `offset`. Raises ValueError if no complete record starts there."""
    with WarcReader(path) as reader:
        found = reader.at(offset)
    if found is None:
        raise ValueError(f"{path}: no whole record with a body at offset {offset}")
    return found


def _response(offset: int, record: bytes, until: int) -> StoredResponse | None:
    """Return the body of a record up to the offset `until`; None for kinds that hold none."""
    start = record.find(HEAD_END)
    if start < 0:
        return None
    headers, length = head_fields(record[:start]), until - offset
    end = len(record) - len(HEAD_END)  # each record ends with two line ends
    kind = headers.get("warc-type")
    if kind == "resource":
        described = {"content-type": headers.get("content-type", "")}
        block = record[start + len(HEAD_END) : end]
        return StoredResponse(offset, described, block, headers, length)
    if kind != "response":
        return None
    start += len(HEAD_END)
    body = record.find(HEAD_END, start, end) + len(HEAD_END)
    if body < len(HEAD_END):
        return None
    answer = head_fields(record[start:body])
    return StoredResponse(offset, answer, record[body:end], headers, length)


def head_fields(head: bytes) -> dict[str, str]:
    """Return the fields of a head, without its first line, as `header_values` does."""
    return header_values(head.decode("latin-1").split("\r\n")[1:])


def header_values(lines: Iterable[str]) -> dict[str, str]:
    """Return header fields by lower-case name, repeats joined by commas (RFC 9110 §5.3).

    Those of X-Robots-Tag are joined by line ends: an agent's name is valid to the end of its field.
    So are the statements of a site's files, which are kept among the headers.
    """
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            continue
        folded, value = name.lower(), value.strip()
        if folded in headers:
            end = "\n" if folded in _LINE_WISE else ", "
            value = f"{headers[folded]}{end}{value}"
        headers[folded] = value
    return headers
