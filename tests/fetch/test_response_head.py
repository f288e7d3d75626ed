"""Heads as Chromium reads them; tests/browser/test_answers.py asks it about more of them."""

from __future__ import annotations

import time

import pytest
from aiohttp.http_exceptions import BadHttpMessage
from hypothesis import given
from hypothesis import strategies as st

from gossamer.fetch.http.response_head import (
    CHUNKED,
    UNTIL_CLOSED,
    body_size,
    closes,
    end_of_head,
    parse_head,
    start_of_status_line,
)

OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("line", "version", "status", "reason"),
    [
        (b"HTTP/1.1 200 OK", (1, 1), 200, b"OK"),
        (b"HTTP/1.1 404", (1, 1), 404, b""),
        (b"HTTP/1.1 404 ", (1, 1), 404, b""),
        (b"http/1.1  404   Not Found ", (1, 1), 404, b"Not Found"),
        (b"HTTP/1.0 200 OK", (1, 0), 200, b"OK"),
        (b"HTTP/0.9 200 OK", (1, 0), 200, b"OK"),
        (b"HTTP/3.7 200 OK", (1, 1), 200, b"OK"),
        (b"HTTP/2 200 OK", (1, 0), 200, b"OK"),
        (b"HTTP 200 OK", (1, 0), 200, b"OK"),
        (b"HTTP/1.1 0200 OK", (1, 1), 200, b"OK"),
        (b"HTTP/1.1 404Not Found", (1, 1), 404, b"Not Found"),
        (b"HTTP/1.1 000 Zero", (1, 1), 0, b"Zero"),
        (b"HTTP/1.1 Not Found", (1, 1), 200, b""),  # without a number it is 200
        (b"HTTP/1.1 -1 No", (1, 1), 200, b""),
        (b"HTTP/1.1", (1, 1), 200, b""),
        (b"HTTP/1.1 200 \xc3\x9cber", (1, 1), 200, b"\xc3\x9cber"),
    ],
)
def test_a_status_line(line: bytes, version: tuple[int, int], status: int, reason: bytes) -> None:
    head = parse_head(line + b"\r\n\r\n")
    assert (head.version, head.status, head.reason, head.fields) == (version, status, reason, [])


@pytest.mark.parametrize(
    ("received", "start"),
    [
        (OK, 0),
        (b"\r\n\r\n" + OK, 4),
        (b"abcd" + OK, 4),
        (b"\xef\xbb\xbfhttp", 3),
        (b"\r\nHT", -1),
        (b"", -1),
    ],
)
def test_what_precedes_a_status_line(received: bytes, start: int) -> None:
    assert start_of_status_line(received) == start


@pytest.mark.parametrize("received", [b"\r\n\r\n\r\n" + OK, b"abcde" + OK, b"<!doctype html>"])
def test_what_is_no_head(received: bytes) -> None:
    with pytest.raises(BadHttpMessage, match="expected HTTP"):
        start_of_status_line(received)


@pytest.mark.parametrize("end", [b"\r\n\r\n", b"\n\n", b"\n\r\n", b"\r\n\n"])
def test_the_end_of_a_head(end: bytes) -> None:
    received = b"HTTP/1.1 200 OK\r\nA: b" + end + b"body\r\n\r\n"
    assert received[end_of_head(received, 0) :] == b"body\r\n\r\n"
    assert end_of_head(received[: -len(end)].partition(b"b" + end)[0], 0) == -1


@pytest.mark.parametrize(
    ("lines", "fields"),
    [
        (b"A: b", [(b"A", b"b")]),
        (b"A:b", [(b"A", b"b")]),
        (b"A : b", [(b"A", b"b")]),
        (b"A\t:\tb\t", [(b"A", b"b")]),
        (b"A:", [(b"A", b"")]),
        (b"A:: b", [(b"A", b": b")]),
        (b"no colon\r\nA: b", [(b"A", b"b")]),
        (b": x\r\nA: b", [(b"A", b"b")]),
        (b"A b: x\r\nA: b", [(b"A", b"b")]),
        (b"\xc3\xbc: x\r\nA: b", [(b"A", b"b")]),
        (b"<b>Warning</b>: x\r\nA: b", [(b"A", b"b")]),
        (b"HTTP/1.1 200 OK\r\nA: b", [(b"A", b"b")]),
        (b"A: b\rC: d", [(b"A", b"b"), (b"C", b"d")]),
        (b"A: b\nC: d\r\r\nE: f", [(b"A", b"b"), (b"C", b"d"), (b"E", b"f")]),
        (b"A: b\r\n  c\r\n\td", [(b"A", b"b c d")]),
        (b"A: b\r\n  ", [(b"A", b"b")]),
        (b"A b: x\r\n c\r\nA: b", [(b"A", b"b")]),  # what is skipped is skipped with its folds
        (b"A: b\r\nno colon\r\n c", [(b"A", b"b")]),
        (b"A: \xfc\x01", [(b"A", b"\xfc\x01")]),
    ],
)
def test_fields(lines: bytes, fields: list[tuple[bytes, bytes]]) -> None:
    assert parse_head(OK + lines + b"\r\n\r\n").fields == fields
    assert parse_head(OK + b"Z: z\n" + lines + b"\n\n").fields == [(b"Z", b"z"), *fields]


@pytest.mark.parametrize(
    ("lines", "size"),
    [
        (b"", UNTIL_CLOSED),
        (b"Content-Length: 7", 7),
        (b"Content-Length: 7\r\ncontent-length:7", 7),
        (b"Content-Length: 7, 7", 7),
        (b"Content-Length: 7\r\nContent-Length: 7,7", 7),
        (b"Content-Length: 007", 7),
        (b"Content-Length: -7", UNTIL_CLOSED),
        (b"Content-Length: +7", UNTIL_CLOSED),
        (b"Content-Length: 0x7", UNTIL_CLOSED),
        (b"Content-Length: 7 bytes", UNTIL_CLOSED),
        (b"Content-Length: \xd9\xa7", UNTIL_CLOSED),  # a digit, but not one of ASCII
        (b"Content-Length: 1" + b"0" * 29, UNTIL_CLOSED),
        (b"Transfer-Encoding: chunked", CHUNKED),
        (b"Transfer-Encoding: x,  Chunked", CHUNKED),
        (b"Transfer-Encoding: x\r\nTransfer-Encoding: chunked", CHUNKED),
        (b"Content-Length: 7\r\nTransfer-Encoding: chunked", CHUNKED),
        (b"Content-Length: 7, 8\r\nTransfer-Encoding: chunked", CHUNKED),
        (b"Transfer-Encoding: identity\r\nContent-Length: 7", 7),
        (b"Transfer-Encoding: identity", UNTIL_CLOSED),
        (b'Transfer-Encoding: "chunked"\r\nContent-Length: 7', 7),
    ],
)
def test_the_size_of_a_body(lines: bytes, size: int) -> None:
    assert body_size(parse_head(OK + lines + b"\r\n\r\n")) == size


@pytest.mark.parametrize("status", [b"101", b"204", b"205", b"304"])
def test_answers_without_a_body(status: bytes) -> None:
    assert body_size(parse_head(b"HTTP/1.1 %b No\r\nContent-Length: 7\r\n\r\n" % status)) == 0


def test_http_1_0_has_no_chunks() -> None:
    head = b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 7\r\n\r\n"
    assert body_size(parse_head(head)) == 7


@pytest.mark.parametrize("value", [b"", b"  ", b"7, 8", b"7\r\nContent-Length: 8", b"7,"])
def test_lengths_that_are_errors(value: bytes) -> None:
    with pytest.raises(BadHttpMessage, match="Content-Length"):
        body_size(parse_head(OK + b"Content-Length: " + value + b"\r\n\r\n"))


@pytest.mark.parametrize(
    ("head", "closed"),
    [
        (OK, False),
        (OK + b"Connection: close", True),
        (OK + b"Connection: x, Close", True),
        (OK + b"Connection: keep-alive", False),
        (b"HTTP/1.0 200 OK", True),
        (b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive", False),
    ],
)
def test_who_closes(head: bytes, closed: bool) -> None:
    assert closes(parse_head(head + b"\r\n\r\n")) is closed


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP" + b"/1" * 130_000,
        b"HTTP/1.1" + b" " * 260_000,
        OK + b"A: b\r\n" + b" a\n" * 80_000,
        OK + b"A" * 260_000,
        OK + b"a:b\n" * 60_000,
    ],
)
def test_a_head_costs_no_more_than_its_bytes(head: bytes) -> None:
    """One server must not hold up all others. The first took two minutes, while nothing moved."""
    started_s = time.process_time()
    parse_head(head + b"\r\n\r\n")
    assert time.process_time() - started_s < 2


def test_a_blank_line_of_a_field_adds_nothing() -> None:
    head = parse_head(OK + b"A: b\r\n \r\n\tc\r\n\r\n")
    assert head.fields == [(b"A", b"b c")]


PIECES = st.sampled_from(
    [b"\r", b"\n", b" ", b"\t", b":", b",", b"A", b"\xff", b"Content-Length", b"chunked", b"7"]
)


@given(st.lists(PIECES, max_size=40).map(b"".join))
def test_any_lines_are_fields_or_nothing(lines: bytes) -> None:
    received = OK + lines + b"\r\n\r\n"
    head = parse_head(received[: end_of_head(received, 0)])
    for name, value in head.fields:
        assert name
        assert not {*b"\r\n\t :"} & {*name}
        assert not {*b"\r\n"} & {*value}
        assert value == value.strip(b" \t")
