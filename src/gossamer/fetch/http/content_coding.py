"""Content codings (RFC 9110 §8.4), decoded without trust.

Facts
  * deflate expands at most 1,032-fold, brotli and zstd without bound, and codings may be stacked.
    So no decoder is ever asked for more than the limit. There is no limit on the ratio: input and
    output are bounded, and with them time and memory; a ratio would only refuse harmless pages,
    such as one of a million blanks.
  * Servers name codings that do not exist ("utf-8", "none"). Like browsers, we leave such a body
    as it is.
  * Streams that lack their end are common; we decode what there is. "deflate" is often sent
    without its zlib frame.
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
"""Members of a gzip body or frames of a zstd body. Each costs a copy of the bytes after it."""
_ZSTD_OPTIONS: Mapping[int, int] = {zstd.DecompressionParameter.window_log_max: 23}
"""8 MiB: the window that decoders must support and encoders must not exceed (RFC 9659 §3)."""
IsalError: type[Exception] = isal_zlib.error  # type: ignore[assignment]  # their stub is wrong
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS


class Undecodable(ValueError):
    """The body does not match its Content-Encoding."""


class _Decoder(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int) -> bytes: ...


def decode(body: bytes, content_encoding: str, limit: int) -> tuple[bytes, bool, bool]:
    """Return the decoded body, whether it was cut at `limit` bytes, and whether it was encoded.

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
    """Decode all members (RFC 1952 §2.2)."""
    return _members(lambda: isal_zlib.decompressobj(_GZIP_OR_ZLIB), IsalError, data, limit)


def _unzstd(data: bytes, limit: int) -> bytes:
    """Decode all frames (RFC 8878 §3), including skippable ones."""
    return _members(
        lambda: zstd.ZstdDecompressor(options=_ZSTD_OPTIONS), zstd.ZstdError, data, limit
    )


def _members(
    decoder: Callable[[], _Decoder], error: type[Exception], data: bytes, limit: int
) -> bytes:
    """Decode one stream after the other, up to `limit` bytes, and ignore garbage after them."""
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
    # `output_buffer_limit` is where brotli stops growing its buffer, not an exact size. If a stream
    # lacks its end, each call returns at most 32 KiB, so we call again for the rest.
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
