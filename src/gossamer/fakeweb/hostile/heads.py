"""Response heads that are too slow, too long, too many or not HTTP/1.1."""

from __future__ import annotations

from itertools import chain, repeat
from typing import TYPE_CHECKING

from gossamer.fakeweb.hostile.act import Act, End, Steps
from gossamer.fakeweb.hostile.case import Case, good_html

if TYPE_CHECKING:
    from gossamer.fakeweb.hostile.case import Ask, Reply

HTML = "Content-Type: text/html; charset=utf-8"
FLOOD_BYTES = 32 << 10  # per write
MANY = 20_000
BIG_BYTES = 1 << 20


def head(*lines: str, status: str = "HTTP/1.1 200 OK") -> bytes:
    return "\r\n".join((status, *lines, "", "")).encode("latin-1")


def page(ask: Ask, *lines: str, status: str = "HTTP/1.1 200 OK") -> bytes:
    """Return a complete response with a correct length and the additional header lines `lines`."""
    body = good_html(ask)
    return head(HTML, f"Content-Length: {len(body)}", *lines, status=status) + body


def raw_act(status: int, raw: bytes, end: End = End.CLOSE) -> Act:
    """Return an act that sends the bytes `raw`."""
    return Act(status, lambda: (raw,), end)


def flood(line: bytes) -> bytes:
    """Repeat `line` as often as it fits into one write."""
    return line * (FLOOD_BYTES // len(line))


def drip(raw: bytes, pause_s: float) -> Steps:
    """Yield `raw` byte by byte, with pauses."""
    for number in range(len(raw)):
        yield raw[number : number + 1]
        yield pause_s


def _slow(ask: Ask) -> Act:
    raw = page(ask, *(f"X-Slow-{number}: {number}" for number in range(100)))
    return Act(200, lambda: drip(raw, ask.drip_s))


def _endless(_: Ask) -> Act:
    return Act(200, lambda: chain([head(HTML)[:-2]], repeat(flood(b"X-Flood: rain\r\n"))))


def _many(ask: Ask) -> Act:
    return raw_act(200, page(ask, *(f"X-Header-{n}: {n}" for n in range(MANY))), End.KEEP)


def _big(ask: Ask) -> Act:
    return raw_act(200, page(ask, f"X-Big: {'x' * BIG_BYTES}"), End.KEEP)


def _continue(_: Ask) -> Act:
    return Act(100, lambda: repeat(flood(b"HTTP/1.1 100 Continue\r\n\r\n")))


def _hints(ask: Ask) -> Act:
    hint = head("Link: </style.css>; rel=preload", status="HTTP/1.1 103 Early Hints")
    return raw_act(200, 3 * hint + page(ask), End.KEEP)


def _status_line(line: str, status: int = 0) -> Reply:
    return lambda ask: raw_act(status, page(ask, status=line))


def _header(line: str) -> Reply:
    return lambda ask: raw_act(200, page(ask, line), End.KEEP)


CASES = (
    Case("slow-head", "sends its head byte by byte, with pauses", ("timeout",), _slow),
    Case("endless-head", "sends endless header lines", ("broken",), _endless),
    Case("many-headers", f"a head of {MANY:,} lines, then a page", ("broken",), _many),
    Case("big-header", "a header of 1 MB, then a page", ("broken",), _big),
    Case("continue-flood", "100 Continue, endlessly", ("broken", "timeout"), _continue),
    Case("early-hints", "103 three times, then a page (RFC 8297)", ("ok",), _hints),
    Case("status-garbage", "an invalid status line", ("broken",), _status_line("It works!")),
    Case(
        "status-http09",
        "a body without any head, as in HTTP/0.9",
        ("broken",),
        lambda ask: raw_act(0, good_html(ask)),
    ),
    Case(
        "status-version",
        "answers in HTTP/3.7",
        ("ok", "broken"),
        _status_line("HTTP/3.7 200 OK", 200),
    ),
    Case(
        "status-icy",
        "answers ICY 200, like Internet radio",
        ("broken",),
        _status_line("ICY 200 OK", 200),
    ),
    Case(
        "status-999",
        "the status 999, which has no class and should be treated as 5xx (RFC 9110 §15)",
        ("server_error", "refused", "broken"),
        _status_line("HTTP/1.1 999 Request denied", 999),
    ),
    Case(
        "status-short",
        "a status of two digits",
        ("server_error", "broken"),
        _status_line("HTTP/1.1 20 OK", 20),
    ),
    Case(
        "status-no-reason",
        "a status line without reason phrase and the space before it (RFC 9112 §4)",
        ("ok", "broken"),
        _status_line("HTTP/1.1 200", 200),
    ),
    Case("status-nul", "NULs in the status line", ("broken",), _status_line("HTTP/1.1 2\0\0 OK")),
    Case(
        "header-nul",
        "a NUL in a header, which may be read as a space (RFC 9110 §5.5)",
        ("broken", "ok"),
        _header("X-Nul: a\0b"),
    ),
    Case("header-no-colon", "a header line without a colon", ("broken", "ok"), _header("No colon")),
    Case(
        "folded-header",
        "one header folded over two lines (RFC 9112 §5.2)",
        ("ok", "broken"),
        _header("X-Folded: one\r\n two"),
    ),
    Case(
        "bare-lf",
        "lines that end in a bare LF, which clients may accept (RFC 9112 §2.2)",
        ("ok", "broken"),
        lambda ask: raw_act(200, page(ask).replace(b"\r\n", b"\n")),
    ),
)
