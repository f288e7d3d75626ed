"""Content codings (RFC 9110 §8.4), decoded without trust.

Facts: deflate expands at most 1,032-fold, brotli and zstd without bound, and codings may be
stacked; so no decoder is ever asked for more than the limit. There is no bound on the ratio
beside it: input and output are bounded, and with them time and memory, whatever lies between;
a ratio would only refuse the page of a million blanks. Servers name codings that do not exist
("utf-8", "none"): like browsers we leave such a body as it is. Streams without their end are
common, and taken as far as they go; "deflate" is often sent without its zlib frame.
"""

from __future__ import annotations

import sys
import zlib
from typing import TYPE_CHECKING, Protocol

import brotli
from isal import isal_zlib

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ACCEPT_ENCODING = "gzip, deflate, br, zstd"
MAX_CODINGS = 2
MAX_MEMBERS = 64
"""Members of a gzip body, frames of a zstd body. Each costs a copy of what follows it."""
_ZSTD_OPTIONS: Mapping[int, int] = {zstd.DecompressionParameter.window_log_max: 23}
"""8 MiB, the window that a decoder must have and an encoder may not exceed (RFC 9659 §3)."""
IsalError: type[Exception] = isal_zlib.error  # type: ignore[assignment]  # their stub is wrong
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS


class Undecodable(ValueError):
    """The body is not what its Content-Encoding says."""


class _Decoder(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int) -> bytes: ...


def decode(body: bytes, content_encoding: str, limit: int) -> tuple[bytes, bool, bool]:
    """The decoded body; whether it was cut at `limit` bytes; whether anything was decoded.

    Raises Undecodable.
    """
    codings = [name for token in content_encoding.split(",") if (name := token.strip().lower())]
    decoders = [_DECODERS[name] for name in reversed(codings) if name in _DECODERS]
    if not body:
        return body, False, bool(decoders)
    if len(decoders) > MAX_CODINGS:
        raise Undecodable(f"{len(decoders)} codings on top of each other")
    cut = False
    for decoder in decoders:
        try:
            body = decoder(body, limit + 1)
        except (zlib.error, IsalError, brotli.error, zstd.ZstdError) as error:
            raise Undecodable(f"{content_encoding}: {error}") from None
        cut = cut or len(body) > limit
        body = body[:limit]
    return body, cut, bool(decoders)


def _gunzip(data: bytes, limit: int) -> bytes:
    """All members (RFC 1952 §2.2)."""
    return _members(lambda: isal_zlib.decompressobj(_GZIP_OR_ZLIB), IsalError, data, limit)


def _unzstd(data: bytes, limit: int) -> bytes:
    """All frames (RFC 8878 §3), skippable ones too."""
    return _members(
        lambda: zstd.ZstdDecompressor(options=_ZSTD_OPTIONS), zstd.ZstdError, data, limit
    )


def _members(
    decoder: Callable[[], _Decoder], error: type[Exception], data: bytes, limit: int
) -> bytes:
    """One stream after the other, up to `limit` bytes; what follows that is none is left."""
    parts: list[bytes] = []
    while data and limit > 0 and len(parts) < MAX_MEMBERS:
        member = decoder()
        try:
            part = member.decompress(data, limit)
        except error:
            if parts:
                break
            raise
        parts.append(part)
        limit -= len(part)
        data = member.unused_data if member.eof else b""
    return b"".join(parts)


def _inflate(data: bytes, limit: int) -> bytes:
    try:
        return bytes(zlib.decompressobj(_GZIP_OR_ZLIB).decompress(data, limit))
    except zlib.error:
        return bytes(zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, limit))


def _unbrotli(data: bytes, limit: int) -> bytes:
    # `output_buffer_limit` is where brotli stops to grow its buffer, not an exact size. Of a stream
    # without its end a call returns 32 KiB at most, and the next calls the rest.
    decoder = brotli.Decompressor()
    parts: list[bytes] = []
    while limit > 0 and (part := decoder.process(data, output_buffer_limit=limit)):
        parts.append(part[:limit])
        limit -= len(part)
        if decoder.is_finished():
            break
        data = b""
    return b"".join(parts)


_DECODERS: Mapping[str, Callable[[bytes, int], bytes]] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _inflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}
