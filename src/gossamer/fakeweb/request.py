"""Requests as bytes: parsing with no I/O (RFC 9112).

Only GET and HEAD without a body are understood; a client that sends anything else is told so
and the connection closes, because where its next request starts is then uncertain.
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
    """`host` and `target` as sent (an absolute target already taken apart), lower-case names."""

    method: str
    host: str
    target: str
    headers: dict[str, str]
    keep_alive: bool


@dataclass(frozen=True, slots=True)
class Refused:
    """A request that gets this status, and then the connection closes."""

    status: int
    reason: str
    method: str = "-"
    target: str = "-"


def take(buffer: bytearray) -> Request | Refused | None:
    """The first request in `buffer`, removed from it; None if it is not all there yet."""
    if buffer.startswith(b"\r\n"):  # RFC 9112 §2.2: an empty line before a request is tolerated
        del buffer[:2]
    end = buffer.find(b"\r\n\r\n", 0, MAX_HEAD_BYTES)
    if end < 0:
        if len(buffer) >= MAX_HEAD_BYTES:
            return Refused(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "head above 16 KB")
        return None
    head = bytes(buffer[:end])
    del buffer[: end + 4]
    return parse(head)


def parse(head: bytes) -> Request | Refused:  # noqa: PLR0911 - one return per reason
    """A request from its lines, without the empty one."""
    first, *lines = head.split(b"\r\n")
    line = _LINE.fullmatch(first)
    if line is None:
        return Refused(HTTPStatus.BAD_REQUEST, "not a request line of HTTP/1.1")
    method, target = line[1].decode(), line[2].decode()
    if method not in {"GET", "HEAD"}:
        return Refused(HTTPStatus.METHOD_NOT_ALLOWED, "GET and HEAD only", method, target)
    headers: dict[str, str] = {}
    for text in lines:
        header = _HEADER.fullmatch(text)
        if header is None:
            return Refused(HTTPStatus.BAD_REQUEST, "malformed header", method, target)
        name = header[1].decode().lower()
        if name == "host" and name in headers:
            return Refused(HTTPStatus.BAD_REQUEST, "two Host headers", method, target)
        headers[name] = header[2].decode("latin-1")
    if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
        return Refused(HTTPStatus.BAD_REQUEST, "a body with GET", method, target)
    newest = line[3] == b"1"
    if newest and "host" not in headers:  # RFC 9112 §3.2
        return Refused(HTTPStatus.BAD_REQUEST, "no Host header", method, target)
    host = headers.get("host", "")
    if target[:7].lower() == "http://":  # absolute-form, to a proxy: it wins over Host (§3.2.2)
        host, slash, rest = target[7:].partition("/")
        target = slash + rest or "/"
    if not _HOST.fullmatch(host.encode("latin-1")):
        return Refused(HTTPStatus.BAD_REQUEST, "malformed Host", method, target)
    asked = headers.get("connection", "").lower()
    keep_alive = "close" not in asked if newest else "keep-alive" in asked
    return Request(method, host, target, headers, keep_alive)
