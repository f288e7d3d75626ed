"""The head of an HTTP/1 response, read as browsers read it.

RFC 9112 lets a client refuse much of what servers send; browsers refuse little of it, so servers do
not notice. Where the RFC leaves a choice, this follows Chromium (net/http: `http_util.cc`,
`http_response_headers.cc`, `http_stream_parser.cc`), and tests/browser/test_answers.py asks it:

  * Up to four bytes may precede `HTTP`. Without a status in the status line, it is 200.
  * A head ends at an empty line, lines end at CR, LF or both.
  * A line that is no field is skipped: it lacks a colon, or its name is not a token. Blanks around
    a name are removed.
  * A transfer coding `chunked` takes precedence over any length, but not from HTTP/1.0.
  * Equal lengths are one, different ones are an error. A length that is not a number is none, and
    the body ends with the connection.

Chromium also reads an empty length as none. Here that is an error: such a server sends its body
on a connection that it keeps open, and every request would wait for the end of its time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from aiohttp.http_exceptions import BadHttpMessage

if TYPE_CHECKING:
    from collections.abc import Iterator

JUNK_BYTES = 4
"""Bytes that may precede the status line, such as line ends after the previous body."""
PROTOCOL = b"http"
CHUNKED = -1
UNTIL_CLOSED = -2
HTTP_1_0, HTTP_1_1 = (1, 0), (1, 1)
MAX_STATUS = 999
_BODILESS = frozenset((204, 205, 304))
_END = re.compile(rb"\n\r?\n")
_LINE_ENDS = re.compile(rb"[\r\n]+")
_VERSION = re.compile(rb"[^ /]*+/(\d)[^ .]*+\.(\d)")
_STATUS = re.compile(rb"[^ ]* +(\d+)(.*)", re.DOTALL)
_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_LENGTH = re.compile(r"\d{1,18}", re.ASCII)


class Head(NamedTuple):
    version: tuple[int, int]
    status: int
    reason: bytes
    fields: list[tuple[bytes, bytes]]
    """Names and values, without blanks around them."""

    def items(self, name: bytes) -> Iterator[bytes]:
        """The items of all fields with this name (in lower case), each of which is a list."""
        for sent, value in self.fields:
            if len(sent) == len(name) and sent.lower() == name:
                for item in value.split(b","):
                    yield item.strip(b" \t")


def start_of_status_line(received: bytes) -> int:
    """The offset of the status line; -1 if more bytes are needed. Raises BadHttpMessage."""
    start = received[: JUNK_BYTES + len(PROTOCOL)].lower().find(PROTOCOL)
    if start < 0 and len(received) >= JUNK_BYTES + len(PROTOCOL):
        line = received[:20].partition(b"\r")[0].decode("latin-1")
        raise BadHttpMessage(f"expected HTTP, got {line!a}")
    return start


def end_of_head(received: bytes, start: int) -> int:
    """The offset after the empty line that ends a head; -1 if it has not arrived."""
    found = _END.search(received, start)
    return found.end() if found else -1


def parse_head(head: bytes) -> Head:
    """Parse a head from its status line to the empty line. Raises BadHttpMessage."""
    if b"\0" in head:
        raise BadHttpMessage("NUL in the head")
    status_line, *lines = _LINE_ENDS.split(head.rstrip(b"\r\n"))
    version = _VERSION.match(status_line)
    numbers = (int(version[1]), int(version[2])) if version else HTTP_1_0
    found = _STATUS.match(status_line)
    status, reason = (
        (found[1].lstrip(b"0") or b"0", found[2].strip(b" ")) if found else (b"200", b"")
    )
    if len(status) > len(str(MAX_STATUS)):
        raise BadHttpMessage("a status of more than three digits")
    return Head(min(max(numbers, HTTP_1_0), HTTP_1_1), int(status), reason, _fields(lines))


def _fields(lines: list[bytes]) -> list[tuple[bytes, bytes]]:
    fields: list[tuple[bytes, list[bytes]]] = []
    """Names, and the parts of values: a line may go on in the next one (RFC 9112 §5.2)."""
    kept = False
    """Whether the previous line was a field or a part of one."""
    for line in lines:
        if line[0] in b" \t":
            if kept:
                fields[-1][1].append(line.strip(b" \t"))
            continue
        name, colon, value = line.partition(b":")
        name = name.rstrip(b" \t")
        kept = bool(colon) and _TOKEN.fullmatch(name) is not None
        if kept:
            fields.append((name, [value.strip(b" \t")]))
    return [(name, b" ".join(filter(None, parts))) for name, parts in fields]


def body_size(head: Head) -> int:
    """How many bytes the body has, CHUNKED or UNTIL_CLOSED. Raises BadHttpMessage."""
    if head.status in _BODILESS or head.status < 200:  # noqa: PLR2004  # RFC 9110 §15.2
        return 0
    if head.version >= HTTP_1_1 and any(
        item.lower() == b"chunked" for item in head.items(b"transfer-encoding")
    ):
        return CHUNKED
    lengths = set(head.items(b"content-length"))
    if len(lengths) > 1:
        raise BadHttpMessage("different values of Content-Length")
    if not lengths:
        return UNTIL_CLOSED
    length = lengths.pop().decode("latin-1")
    if not length:
        raise BadHttpMessage("an empty Content-Length")
    return int(length) if _LENGTH.fullmatch(length) else UNTIL_CLOSED


def closes(head: Head) -> bool:
    """Whether the server closes the connection after this response (RFC 9112 §9.3)."""
    options = {item.lower() for item in head.items(b"connection")}
    return b"close" in options or (head.version < HTTP_1_1 and b"keep-alive" not in options)
