"""Content codings (RFC 9110 §8.4), decoded without trust.

Facts
  * deflate expands at most 1,032-fold, brotli and zstd without bound, and codings may be stacked.
    So no decoder is ever asked for more than the limit. There is no limit on the ratio: input and
    output are bounded, and with them time and memory; a ratio would only refuse harmless pages,
    such as one of a million blanks.
  * Servers name codings that do not exist ("utf-8", "none"). Like browsers, we leave such a body
    as it is. They also name codings that they did not apply, or twice one that they applied once:
    what cannot be decoded and looks like text is left as it is, too.
  * "deflate" is often sent without its zlib frame, and names gzip.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

import brotli

from gossamer.web.binary_data import looks_like_text
from gossamer.web.compressed_streams import (
    GZIP_MAGIC,
    Decompressed,
    IsalError,
    decompress,
    gunzip,
    inflate,
)

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Decode = Callable[[bytes, int], Decompressed]

ACCEPT_ENCODING = "gzip, deflate, br, zstd"
MAX_CODINGS = 2
_ZSTD_OPTIONS: Mapping[int, int] = {zstd.DecompressionParameter.window_log_max: 23}
"""8 MiB: the window that decoders must support and encoders must not exceed (RFC 9659 §3)."""
_ERRORS = (IsalError, brotli.error, zstd.ZstdError)


class Undecodable(ValueError):
    """The body does not match its Content-Encoding."""


class Decoded(NamedTuple):
    body: bytes
    is_cut: bool = False
    """Whether bytes are missing, beyond the limit or after an error."""
    was_coded: bool = False


def decode(body: bytes, content_encoding: str, limit: int) -> Decoded:
    """Decode a body up to `limit` bytes. Raises Undecodable."""
    codings = [name for token in content_encoding.split(",") if (name := token.strip().lower())]
    decoders = [_DECODERS[name] for name in reversed(codings) if name in _DECODERS]
    if not body:
        return Decoded(body, was_coded=bool(decoders))
    if len(decoders) > MAX_CODINGS:
        raise Undecodable(f"{len(decoders)} codings on top of each other")
    found = Decoded(body)
    for decoder in decoders:
        try:
            found = _decode_once(decoder, found, limit)
        except _ERRORS as error:
            if not looks_like_text(found.body):
                raise Undecodable(f"{content_encoding}: {error}") from None
    return found


def _decode_once(decoder: Decode, coded: Decoded, limit: int) -> Decoded:
    """Raises what decoders do."""
    try:
        body, is_whole = decoder(coded.body, limit + 1)
    except _ERRORS:
        if decoder is gunzip or not coded.body.startswith(GZIP_MAGIC):
            raise
        body, is_whole = gunzip(coded.body, limit + 1)
    return Decoded(body[:limit], coded.is_cut or len(body) > limit or not is_whole, was_coded=True)


def _unzstd(data: bytes, limit: int) -> Decompressed:
    """Decode all frames (RFC 8878 §3), including skippable ones."""
    return decompress(
        lambda: zstd.ZstdDecompressor(options=_ZSTD_OPTIONS), zstd.ZstdError, data, limit
    )


def _inflate(data: bytes, limit: int) -> Decompressed:
    try:
        return gunzip(data, limit)
    except IsalError:
        return inflate(data, limit)


def _unbrotli(data: bytes, limit: int) -> Decompressed:
    return decompress(_Brotli, brotli.error, data, limit)


class _Brotli:
    """Brotli's decoder with zlib's interface."""

    unused_data = b""

    def __init__(self) -> None:
        self._decoder = brotli.Decompressor()

    @property
    def eof(self) -> bool:
        return bool(self._decoder.is_finished())

    def decompress(self, data: bytes, max_length: int) -> bytes:
        # `output_buffer_limit` is where brotli stops growing its buffer, not an exact size. If a
        # stream lacks its end, each call returns at most 32 KiB, so we call again for the rest.
        parts: list[bytes] = []
        while max_length > 0:
            part = self._decoder.process(data, output_buffer_limit=max_length)
            if not part:
                break
            parts.append(part[:max_length])
            max_length -= len(part)
            if self._decoder.is_finished():
                break
            data = b""
        return b"".join(parts)


_DECODERS: Mapping[str, Decode] = {
    "gzip": gunzip,
    "x-gzip": gunzip,
    "deflate": _inflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}
