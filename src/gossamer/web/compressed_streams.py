"""Compressed streams of strangers: as much of one as can be read, and never more than a limit.

Facts
  * Streams that lack their end are common, and so are wrong checksums. Browsers show what there is.
  * zlib, isal and zstd raise an exception without the bytes that they decoded before an error. So
    after an error, `_read_to_error` decodes the stream again, in small pieces.
"""

from __future__ import annotations

import zlib
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

from isal import isal_zlib

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_MEMBERS = 64
"""Members of a gzip file or frames of a zstd body. Each costs a copy of the bytes after it."""
GZIP_MAGIC = b"\x1f\x8b"
FHCRC, FEXTRA, FNAME, FCOMMENT = 2, 4, 8, 16
"""Flags of a gzip header."""
TRAILER_BYTES = 8
"""An error in the last bytes is one of a checksum or a length (gzip: RFC 1952 §2.3.1)."""
PIECE_BYTES = 4 << 10
IsalError: type[Exception] = isal_zlib.error  # type: ignore[assignment]  # their stub is wrong
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS


class Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class Decompressed(NamedTuple):
    content: bytes
    is_whole: bool
    """Whether the stream has no error but in its checksum."""


def gunzip(data: bytes, limit: int) -> Decompressed:
    """Decode all members of a gzip file (RFC 1952 §2.2), or a zlib stream.

    Raises IsalError if not even the first byte can be decoded.
    """
    try:
        return decompress(lambda: isal_zlib.decompressobj(_GZIP_OR_ZLIB), IsalError, data, limit)
    except IsalError:
        # The header may have a wrong checksum of its own (FHCRC), which zlib verifies, too.
        if not data.startswith(GZIP_MAGIC) or not data[3:4] or not data[3] & FHCRC:
            raise
        stream = data[_end_of_header(data) :]
        return inflate(stream, limit)


def inflate(data: bytes, limit: int) -> Decompressed:
    """Decode one raw deflate stream (RFC 1951). What follows it would be taken for another one.

    Raises IsalError if nothing can be decoded.
    """
    new = partial(isal_zlib.decompressobj, -zlib.MAX_WBITS)
    return decompress(new, IsalError, data, limit, max_members=1)


def _end_of_header(data: bytes) -> int:
    """The offset after the header of a gzip member (RFC 1952 §2.3.1)."""
    flags, place = data[3], 10
    if flags & FEXTRA:
        place += 2 + int.from_bytes(data[place : place + 2], "little")
    for flag in (FNAME, FCOMMENT):
        if flags & flag:
            place = data.find(b"\0", place) + 1 or len(data)
    return place + 2


def decompress(
    new: Callable[[], Decompressor],
    error: type[Exception],
    data: bytes,
    limit: int,
    max_members: int = MAX_MEMBERS,
) -> Decompressed:
    """Decode one stream after the other, up to `limit` bytes, and ignore garbage after them.

    Raises `error` if nothing can be decoded.
    """
    parts: list[bytes] = []
    is_whole = True
    while data and limit > 0 and len(parts) < max_members:
        member = new()
        try:
            part = member.decompress(data, limit)
            data = member.unused_data if member.eof else b""
        except error:
            part, place = _read_to_error(new, error, data, limit)
            if not part and not parts:
                raise
            is_whole = not part or place >= len(data) - TRAILER_BYTES
            data = b""
        parts.append(part)
        limit -= len(part)
    return Decompressed(b"".join(parts), is_whole)


def _read_to_error(
    new: Callable[[], Decompressor], error: type[Exception], data: bytes, limit: int
) -> tuple[bytes, int]:
    """Return what precedes the error, up to `limit` bytes, and the error's offset."""
    _, start = _read_in_pieces(new(), error, data, 0, PIECE_BYTES, limit)
    reader = new()
    begin = reader.decompress(data[:start], limit) if start else b""
    rest, place = _read_in_pieces(reader, error, data, start, 1, limit - len(begin))
    return begin + rest, place


def _read_in_pieces(
    reader: Decompressor, error: type[Exception], data: bytes, start: int, size: int, limit: int
) -> tuple[bytes, int]:
    """Read from `start` to the error; return what was decoded and the start of its piece."""
    parts: list[bytes] = []
    place = start
    while place < len(data) and limit > 0 and not reader.eof:
        try:
            part = reader.decompress(data[place : place + size], limit)
        except error:
            break
        parts.append(part)
        limit -= len(part)
        place += size
    return b"".join(parts), place
