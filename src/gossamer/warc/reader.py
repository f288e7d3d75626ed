"""Gives stored bodies back.

It reads gzip members, and trusts none that is not whole: the checksum at a member's end tells
both a file that was cut and bytes that changed. FastWARC and warcio give what there is of a
record that was cut, and cannot be asked whether it was.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from isal import isal_zlib

from gossamer.warc.records import GZIP

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

BUFFER_BYTES = 128 << 10
CHUNK_BYTES = 16 << 10
HEAD_END = b"\r\n\r\n"


class StoredResponse(NamedTuple):
    """A stored body: where its record starts, its HTTP headers (names lower-case), the bytes."""

    offset: int
    headers: dict[str, str]
    body: bytes


class WarcReader:
    """Bodies of one file, by offset; cheapest in the file's order. A context manager."""

    def __init__(self, path: str | Path) -> None:
        self._file = Path(path).open("rb", buffering=BUFFER_BYTES)  # noqa: SIM115  # see __exit__

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def at(self, offset: int) -> StoredResponse | None:
        """The body at an offset; None where no whole record that holds one starts there."""
        member = self._member(offset)
        return None if member is None else _response(offset, member[0])

    def __iter__(self) -> Iterator[StoredResponse]:
        """All bodies, up to the first record that is not whole."""
        offset = 0
        while (member := self._member(offset)) is not None:
            response = _response(offset, member[0])
            if response is not None:
                yield response
            offset = member[1]

    def _member(self, offset: int) -> tuple[bytes, int] | None:
        """A gzip member, and where the next one starts."""
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


def responses(path: str | Path) -> Iterator[StoredResponse]:
    """The bodies of a file, in its order, up to its last whole record."""
    with WarcReader(path) as reader:
        yield from reader


def read_response(path: str | Path, offset: int) -> StoredResponse:
    """The body at an offset. Raises ValueError where none starts there."""
    with WarcReader(path) as reader:
        found = reader.at(offset)
    if found is None:
        raise ValueError(f"{path}: no whole record with a body at {offset}")
    return found


def _response(offset: int, record: bytes) -> StoredResponse | None:
    """The body of a record; None where it holds none of its own."""
    start = record.find(HEAD_END)
    if start < 0:
        return None
    headers = head_fields(record[:start])
    end = len(record) - len(HEAD_END)  # each record ends with two line ends
    kind = headers.get("warc-type")
    if kind == "resource":
        described = {"content-type": headers.get("content-type", "")}
        return StoredResponse(offset, described, record[start + len(HEAD_END) : end])
    if kind != "response":
        return None
    start += len(HEAD_END)
    body = record.find(HEAD_END, start, end) + len(HEAD_END)
    if body < len(HEAD_END):
        return None
    return StoredResponse(offset, head_fields(record[start:body]), record[body:end])


def head_fields(head: bytes) -> dict[str, str]:
    """Header fields by their names in lower case; repeats are one list (RFC 9110 §5.3)."""
    headers: dict[str, str] = {}
    for line in head.decode("latin-1").split("\r\n")[1:]:
        name, colon, value = line.partition(":")
        if colon:
            folded, value = name.lower(), value.strip()
            known = headers.get(folded)
            headers[folded] = value if known is None else f"{known}, {value}"
    return headers
