"""Gzip as a file format. Content codings, which servers apply, are decoded by fetch.

A file is gzip by its bytes, whatever its type says: servers send `sitemap.xml.gz` as XML, and what
they have unpacked themselves as gzip.
"""

from __future__ import annotations

from gossamer.web import compressed_streams

MAGIC = compressed_streams.GZIP_MAGIC + b"\x08"  # the only method (RFC 1952 §2.3.1)
_WORDS = ("gzip", "gunzip")


def is_gzip_type(mime: str) -> bool:
    """Whether a type is one of the names of gzip, such as `application/x-gzip-compressed`."""
    return any(word in mime for word in _WORDS)


def gunzip(body: bytes, limit: int) -> bytes:
    """Return up to `limit` bytes of all members of a gzip file, as far as it is intact."""
    try:
        return compressed_streams.gunzip(body, limit).content
    except compressed_streams.IsalError:
        return b""
