"""The bytes of WARC records: framing, digests, dates, and the HTTP heads inside.

Facts
  * A WARC header or an HTTP header ends at CR LF, its block after as many bytes as it says. So a
    value that held a line end of its own could forge headers, or a record. Strangers choose
    URLs, header values and reason phrases; whatever they hold is one line here.
  * isal's gzip costs 8 µs before the first byte at level 1, and nearly nothing at level 0, which
    hardly compresses. Request and metadata records are some hundred bytes.
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
"""Of isal's gzip. Measured on text: level 0 is no faster on 90 KB and a fifth larger."""
SMALL_BYTES = 1_024
SMALL_LEVEL = 0
"""Of records up to SMALL_BYTES: 4 µs in place of 13, for 200 bytes more."""
GZIP = 31

TRANSFER = frozenset((b"content-encoding", b"transfer-encoding", b"content-length"))
"""Headers that describe the transfer, and would be wrong for what is stored."""
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
"""Request headers that are archived. Others come from the settings, and may be secrets."""
WITHHELD = "(withheld)"

_ONE_LINE = bytes.maketrans(b"\r\n\0", b"   ")


def record(kind: str, record_id: str, fields: str, block: bytes) -> bytes:
    """A whole record, compressed. `fields` are header lines, each with its CR LF."""
    head = (
        f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: {record_id}\r\n{fields}"
        f"Content-Length: {len(block)}\r\n\r\n"
    ).encode()
    data = b"".join((head, block, b"\r\n\r\n"))
    level = LEVEL if len(data) > SMALL_BYTES else SMALL_LEVEL
    return bytes(isal_zlib.compress(data, level, GZIP))


def block_digest(block: bytes) -> str:
    """A header line, for records that hold no payload of their own.

    One over head and body of a response would cost a second SHA-1 of the body, a fourth of what
    its gzip costs, and tell nothing that payload digest and the member's CRC-32 do not.
    """
    return f"WARC-Block-Digest: sha1:{payload_digest(block)}\r\n"


def payload_digest(body: bytes) -> str:
    """SHA-1 in base 32, as WARC has it: for identity, not for security."""
    return b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()


def warc_date(time_ms: int) -> str:
    seconds, ms = divmod(time_ms, 1000)
    return f"{_second(seconds)}.{ms:03d}Z"


def request_head(target: str, headers: Iterable[tuple[str, str]]) -> bytes:
    """The head of a GET request, without secrets. `target` is path and query."""
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
    """The head of a response as it is stored beside its decoded body (docs/formats.md, WARC).

    `body_bytes` is None where the answer has no body by its status (304). A field without a name
    is left out: nothing could read it.
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
    """A block of the type application/warc-fields."""
    return b"".join([one_line(f"{name}: {value}") + b"\r\n" for name, value in fields.items()])


def plain(text: str) -> str:
    """Text in one line, without what UTF-8 cannot say."""
    return one_line(text).decode(errors="replace").strip()


def one_line(text: str) -> bytes:
    """Text as bytes without line ends. Bytes that were no UTF-8 come back as they were sent."""
    return text.encode("utf-8", "surrogateescape").translate(_ONE_LINE)


@lru_cache(maxsize=256)
def _field(name: str, value: str) -> bytes:
    """A header line of a request: all of ours hold the same but for a few."""
    return one_line(f"{name}: {value}") + b"\r\n"


@lru_cache(maxsize=16)
def _second(seconds: int) -> str:
    """Many requests begin in each."""
    return strftime("%Y-%m-%dT%H:%M:%S", gmtime(seconds))
