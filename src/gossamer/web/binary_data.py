"""Which bytes do not occur in text? Source: WHATWG MIME Sniffing, §3 and §5.2."""

from __future__ import annotations

HEADER_BYTES = 1_445
"""Bytes of a body that are examined (§5.2)."""
_BINARY_BYTES = bytes((*range(0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)))
_BOMS = (b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf")


def looks_like_text(body: bytes) -> bool:
    """Whether a body begins with a byte-order mark, or without a byte that text does not have."""
    header = body[:HEADER_BYTES]
    return header.startswith(_BOMS) or len(header.translate(None, _BINARY_BYTES)) == len(header)
