"""Parse HTTP requests from bytes, without I/O (RFC 9112).

Only GET and HEAD without a body are supported. Anything else gets an error status, and the
connection closes, because it is then unclear where the next request starts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from http import HTTPStatus

MAX_HEAD_BYTES = 16 << 10

_LINE = re.compile(rb"([!-~]+) ([!-~]+) HTTP/1\.([01])")
_HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\0\r\n]*?)[ \t]*")
_HOST = re.compile(rb"[A-Za-z0-9._:\[\]-]{0,255}")


@dataclass(slots=True)
class Request:
    """A request. `host` and `target` are as sent, but an absolute target is split into the two.

    The names in `headers` are in lower case.
    """

    method: str
    host: str
    target: str
    headers: dict[str, str]
    keep_alive: bool


@dataclass(frozen=True, slots=True)
class RefusedRequest:
    """A request that is answered with this status before the connection closes."""

    status: int
    reason: str
    method: str = "-"
    target: str = "-"


def take_request(buffer: bytearray) -> Request | RefusedRequest | None:
    """Remove the first request from `buffer` and return it; None if it is not complete yet."""
    if buffer.startswith(b"\r\n"):  # RFC 9112 §2.2: an empty line before a request is tolerated
        del buffer[:2]
    end = buffer.find(b"\r\n\r\n", 0, MAX_HEAD_BYTES)
    if end < 0:
        is_full, status = len(buffer) >= MAX_HEAD_BYTES, HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
        return RefusedRequest(status, "head larger than 16 KB") if is_full else None
    head = bytes(buffer[:end])
    del buffer[: end + 4]
    return parse_request(head)


def parse_request(head: bytes) -> Request | RefusedRequest:  # noqa: PLR0911 - one return per reason
    """Parse the lines of a request, without the empty line at the end."""
    first, *lines = head.split(b"\r\n")
    line = _LINE.fullmatch(first)
    if line is None:
        return RefusedRequest(HTTPStatus.BAD_REQUEST, "not an HTTP/1.1 request line")
    method, target = line[1].decode(), line[2].decode()
    if method not in {"GET", "HEAD"}:
        return RefusedRequest(HTTPStatus.METHOD_NOT_ALLOWED, "only GET and HEAD", method, target)
    headers: dict[str, str] = {}
    for text in lines:
        header = _HEADER.fullmatch(text)
        if header is None:
            return RefusedRequest(HTTPStatus.BAD_REQUEST, "malformed header", method, target)
        name = header[1].decode().lower()
        if name == "host" and name in headers:
            return RefusedRequest(HTTPStatus.BAD_REQUEST, "two Host headers", method, target)
        headers[name] = header[2].decode("latin-1")
    if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
        return RefusedRequest(HTTPStatus.BAD_REQUEST, "a body with GET", method, target)
    http_1_1 = line[3] == b"1"
    if http_1_1 and "host" not in headers:  # RFC 9112 §3.2
        return RefusedRequest(HTTPStatus.BAD_REQUEST, "no Host header", method, target)
    host = headers.get("host", "")
    if target[:7].lower() == "http://":  # absolute-form, sent to proxies, overrides Host (§3.2.2)
        host, slash, rest = target[7:].partition("/")
        target = slash + rest or "/"
    if not _HOST.fullmatch(host.encode("latin-1")):
        return RefusedRequest(HTTPStatus.BAD_REQUEST, "malformed Host", method, target)
    connection = headers.get("connection", "").lower()
    keep_alive = "close" not in connection if http_1_1 else "keep-alive" in connection
    return Request(method, host, target, headers, keep_alive)
