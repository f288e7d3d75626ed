"""Decompression bombs, and bodies that are not in their declared content coding.

Each bomb is ten gigabytes of zeros. It repeats one compressed megabyte: a flush ends on a byte
boundary, and the compressor is then in the same state as one megabyte of zeros before. The gzip
bombs lack their final checksum, which would take one second per gigabyte to compute.
"""

from __future__ import annotations

import zlib
from functools import cache
from itertools import chain, repeat
from typing import TYPE_CHECKING

import brotli

from gossamer.fakeweb.hostile.act import Act, End
from gossamer.fakeweb.hostile.case import Case, good_html
from gossamer.fakeweb.hostile.heads import HTML, head, raw_act

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gossamer.fakeweb.hostile.case import Ask, Reply

MEGABYTE = bytes(1 << 20)
BOMB_MEGABYTES = 10_000
NESTED = 1_000  # megabytes of zeros per repeated part of the nested bomb
GZIP = 16 + zlib.MAX_WBITS
TOWER = 20

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
ZSTD_WINDOW = b"\x00\x50"  # RFC 8878 §3.1.1.1: no size, no checksum; a window of 1 MB
ZSTD_WINDOW_2GB = b"\x00\xa8"
ZSTD_BLOCK_BYTES = 128 << 10  # RFC 8878 §3.1.1.2.4
ZSTD_RLE = (ZSTD_BLOCK_BYTES << 3 | 1 << 1).to_bytes(3, "little") + b"\0"
ZSTD_LAST = b"\x01\x00\x00"  # a raw block of no bytes


def gzip_zeros() -> Iterator[bytes]:
    first, again = _gzip_twice(MEGABYTE, MEGABYTE)
    yield first
    yield from repeat(again, BOMB_MEGABYTES - 1)


def gzip_in_gzip() -> Iterator[bytes]:
    first, again = _gzip_twice(MEGABYTE, MEGABYTE)
    first, again = _gzip_twice(first + (NESTED - 1) * again, NESTED * again)
    yield first
    yield from repeat(again, BOMB_MEGABYTES // NESTED - 1)


@cache
def _gzip_twice(first: bytes, second: bytes) -> tuple[bytes, bytes]:
    """Return the start of a gzip member (RFC 1952) with `first`, and bytes that append `second`."""
    packer = zlib.compressobj(9, wbits=GZIP)
    packed = packer.compress(first) + packer.flush(zlib.Z_FULL_FLUSH)
    return packed, packer.compress(second) + packer.flush(zlib.Z_FULL_FLUSH)


def brotli_zeros() -> Iterator[bytes]:
    packer = brotli.Compressor(quality=5)
    yield packer.process(MEGABYTE) + packer.flush()
    yield from repeat(packer.process(MEGABYTE) + packer.flush(), BOMB_MEGABYTES - 1)
    yield packer.finish()


def zstd_zeros(window: bytes = ZSTD_WINDOW) -> Iterator[bytes]:
    """Yield a frame of RLE blocks that each repeat a zero 128 Ki times (RFC 8878 §3.1.1.2.2)."""
    blocks = (1 << 20) // ZSTD_BLOCK_BYTES
    yield ZSTD_MAGIC + window
    yield from repeat(blocks * ZSTD_RLE, BOMB_MEGABYTES)
    yield ZSTD_LAST


def _bomb(coding: str, body: Callable[[], Iterator[bytes]]) -> Reply:
    opening = head(HTML, f"Content-Encoding: {coding}", "Connection: close")
    return lambda _: Act(200, lambda: chain([opening], body()))


def _encode_page(coding: str, change: Callable[[bytes], bytes]) -> Reply:
    """A page whose body is passed through `change`, with a correct Content-Length."""

    def reply(ask: Ask) -> Act:
        body = change(good_html(ask))
        length = f"Content-Length: {len(body)}"
        return raw_act(200, head(HTML, f"Content-Encoding: {coding}", length) + body, End.KEEP)

    return reply


def _gzip(body: bytes) -> bytes:
    return zlib.compress(body, wbits=GZIP)


def _tower(body: bytes) -> bytes:
    for _ in range(TOWER):
        body = _gzip(body)
    return body


CUT = ("ok", "broken")
"""A client may cut the body at its size limit or reject it for its compression ratio."""

CASES = (
    Case("gzip-bomb", "10 GB of zeros in 10 MB of gzip", CUT, _bomb("gzip", gzip_zeros)),
    Case(
        "gzip-in-gzip", "the same, gzipped again to 24 KB", CUT, _bomb("gzip, gzip", gzip_in_gzip)
    ),
    Case("brotli-bomb", "10 GB of zeros in 130 KB of brotli", CUT, _bomb("br", brotli_zeros)),
    Case("zstd-bomb", "10 GB of zeros in 320 KB of zstd", CUT, _bomb("zstd", zstd_zeros)),
    Case(
        "zstd-window",
        "the same; its frame requires a window of 2 GB, although 8 MB is the limit (RFC 9659 §3)",
        ("broken", "ok"),
        _bomb("zstd", lambda: zstd_zeros(ZSTD_WINDOW_2GB)),
    ),
    Case(
        "coding-tower",
        f"a page gzipped {TOWER} times",
        ("broken",),
        _encode_page(", ".join(TOWER * ["gzip"]), _tower),
    ),
    Case("not-gzip", "plain text declared as gzip", ("ok", "broken"), _encode_page("gzip", bytes)),
    Case(
        "gzip-cut",
        "gzip that is cut off",
        ("ok", "broken"),
        _encode_page("gzip", lambda body: _gzip(body)[:-12]),
    ),
)
