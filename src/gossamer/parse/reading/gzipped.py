"""Gzip as a file format. Content codings, which servers apply, are decoded by fetch."""

from __future__ import annotations

import zlib

from isal import isal_zlib

TYPES = frozenset(("application/gzip", "application/x-gzip"))
MAGIC = b"\x1f\x8b"
MAX_MEMBERS = 64
"""Members read per file: each one copies the rest of the file."""

_GZIP = 16 + zlib.MAX_WBITS
IsalError: type[Exception] = isal_zlib.error  # type: ignore[assignment]  # their stub is wrong


def gunzip(body: bytes, limit: int) -> bytes:
    """Return up to `limit` bytes of all members of a gzip file, as far as it is intact."""
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
