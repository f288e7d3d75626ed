"""Builds the bytes of WARC records: framing, digests, dates, and the HTTP heads inside.

Facts
  * WARC and HTTP headers end at CR LF, and a record's block after the declared number of bytes. So
    a value with a line end could forge headers or whole records. Strangers choose URLs, header
    values and reason phrases, so every value is reduced to one line.
  * isal's gzip costs 8 µs before the first byte at level 1, and almost nothing at level 0, which
    hardly compresses. Request and metadata records are a few hundred bytes.
"""

from __future__ import annotations

import hashlib
from base64 import b32encode
from functools import lru_cache
from time import gmtime, strftime
from typing import TYPE_CHECKING

from isal import isal_zlib

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LEVEL = 1
"""Compression level of isal's gzip. On 90 KB of text, level 0 is not faster and a fifth larger."""
SMALL_BYTES = 1_024
SMALL_LEVEL = 0
"""Compression level for records up to SMALL_BYTES: 4 µs instead of 13, but 200 bytes more."""
GZIP = 31
"""Window bits that select the gzip format."""

TRANSFER = frozenset((b"content-encoding", b"transfer-encoding", b"content-length"))
"""Response headers that describe the transfer and would be wrong for the stored body."""
SHOWN = frozenset(
    (
        "host",
        "user-agent",
        "accept",
        "accept-encoding",
        "accept-language",
        "connection",
        "if-none-match",
        "if-modified-since",
    )
)
"""Request headers whose values are archived. Others come from the settings and may be secret."""
WITHHELD = "(withheld)"

_ONE_LINE = bytes.maketrans(b"\r\n\0", b"   ")


def warc_record(kind: str, record_id: str, fields: str, block: bytes) -> bytes:
    """Return a complete, compressed record. `fields` holds header lines, each with its CR LF."""
    head = (
        f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: {record_id}\r\n{fields}"
        f"Content-Length: {len(block)}\r\n\r\n"
    ).encode()
    data = b"".join((head, block, b"\r\n\r\n"))
    level = LEVEL if len(data) > SMALL_BYTES else SMALL_LEVEL
    return bytes(isal_zlib.compress(data, level, GZIP))


@lru_cache(maxsize=256)
def block_digest(block: bytes) -> str:
    """Return the header line with the block digest, for records without a payload digest.

    Cached, because many exchanges have the same metadata. For a response, it would cost a second
    SHA-1 of the body, a quarter of the time of its gzip, and detect nothing that the payload digest
    and the gzip member's CRC-32 do not.
    """
    return f"WARC-Block-Digest: sha1:{payload_digest(block)}\r\n"


def payload_digest(body: bytes) -> str:
    """Return the SHA-1 in base 32, as in WARC-Payload-Digest: for identity, not for security."""
    return b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()


def warc_date(time_ms: int) -> str:
    seconds, ms = divmod(time_ms, 1000)
    return f"{_second(seconds)}.{ms:03d}Z"


def request_head(target: str, headers: Iterable[tuple[str, str]]) -> bytes:
    """Return the head of a GET request, without secrets. `target` is path and query."""
    lines = [b"GET %b HTTP/1.1\r\n" % one_line(target)]
    for name, value in headers:
        lines.append(_field(name, value if name.lower() in SHOWN else WITHHELD))
    lines.append(b"\r\n")
    return b"".join(lines)


def response_head(
    status: int,
    reason: str,
    headers: Iterable[tuple[bytes, bytes]],
    body_bytes: int | None,
    *,
    decoded: bool,
) -> bytes:
    """Return the head of a response as stored with its decoded body (docs/formats.md, WARC).

    `body_bytes` is None if a response with this status has no body (304). Fields without a name
    are omitted, because no reader could parse them.
    """
    lines = [b"HTTP/1.1 %d %b" % (status, one_line(reason))]
    for sent_name, value in headers:
        name = sent_name.translate(_ONE_LINE).strip()
        folded = name.lower()
        if folded in TRANSFER and (decoded or folded != b"content-encoding"):
            name = b"X-Crawler-" + name
        if name:
            lines.append(b"%b: %b" % (name, value.translate(_ONE_LINE)))
    if body_bytes is not None:
        lines.append(b"Content-Length: %d" % body_bytes)
    lines.append(b"\r\n")
    return b"\r\n".join(lines)


def warc_fields(fields: Mapping[str, object]) -> bytes:
    """Return a block of the type application/warc-fields."""
    return b"".join([one_line(f"{name}: {value}") + b"\r\n" for name, value in fields.items()])


def plain(text: str) -> str:
    """Return text as one line, with U+FFFD for bytes that were not UTF-8."""
    return one_line(text).decode(errors="replace").strip()


def one_line(text: str) -> bytes:
    """Return text as bytes without line ends. Bytes that were not UTF-8 stay as they were sent."""
    return text.encode("utf-8", "surrogateescape").translate(_ONE_LINE)


@lru_cache(maxsize=256)
def _field(name: str, value: str) -> bytes:
    """Return a header line of a request. Cached, because most are the same in all requests."""
    return one_line(f"{name}: {value}") + b"\r\n"


@lru_cache(maxsize=16)
def _second(seconds: int) -> str:
    """Return the date of a second. Cached, because many requests begin in the same second."""
    return strftime("%Y-%m-%dT%H:%M:%S", gmtime(seconds))
