"""Gzip as a file format: what was packed before a server had it. Content codings are fetch's."""

from __future__ import annotations

import zlib

from isal import isal_zlib

TYPES = frozenset(("application/gzip", "application/x-gzip"))
MAGIC = b"\x1f\x8b"
MAX_MEMBERS = 64
"""Each costs a copy of what follows it."""

_GZIP = 16 + zlib.MAX_WBITS
IsalError: type[Exception] = isal_zlib.error  # type: ignore[assignment]  # their stub is wrong


def gunzip(body: bytes, limit: int) -> bytes:
    """At most `limit` bytes of a gzip file, all members; of a damaged one what can be read."""
    parts: list[bytes] = []
    for _ in range(MAX_MEMBERS):
        if limit <= 0 or not body.startswith(MAGIC):
            break
        member = isal_zlib.decompressobj(_GZIP)
        try:
            part = member.decompress(body, limit)
        except IsalError:
            break
        parts.append(part)
        limit -= len(part)
        body = member.unused_data if member.eof else b""
    return b"".join(parts)
