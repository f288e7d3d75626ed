"""Responses from the bytes of a connection, in pieces of any size (RFC 9112 §2.2, §6 and §7)."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

import pytest
from aiohttp.client_proto import ResponseHandler
from aiohttp.http_exceptions import ContentLengthError, TransferEncodingError
from hypothesis import given
from hypothesis import strategies as st

from gossamer.fetch.http import response_parser
from gossamer.fetch.http.response_parser import ResponseParser

OK = b"HTTP/1.1 200 OK\r\n"
SIZED = OK + b"Content-Length: 5\r\n\r\nhello"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n"
UNTIL_CLOSED = OK + b"\r\nhello"
INTERIM = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"


class Read(NamedTuple):
    """What was read: statuses of final heads, the body, and whether its last byte came."""

    statuses: list[int]
    body: bytes
    is_complete: bool
    flaw: str | None
    is_reusable: bool
    """Whether the connection may be used for another request."""


class Reader:
    """A parser, and what it has returned so far."""

    def __init__(self, *, has_body: bool = True) -> None:
        self._loop = asyncio.new_event_loop()
        self._connection = ResponseHandler(self._loop)
        self.heads = 0
        self._messages: list[response_parser.Message] = []
        self.parser = ResponseParser(
            self._connection, self._loop, 1_000, None, self._count, has_body=has_body
        )
        self._loop.close()

    def _count(self) -> None:
        self.heads += 1

    def feed(self, *pieces: bytes) -> Read:
        for piece in pieces:
            if self.parser.flaw is None:
                self._messages += self.parser.feed_data(piece)[0]
        assert self.heads == len(self._messages)
        bodies = [body for _, body in self._messages]
        flaw = self.parser.flaw
        return Read(
            [message.code for message, _ in self._messages],
            b"".join(body.read_nowait() for body in bodies),
            all(body.is_eof() for body in bodies),
            None if flaw is None else str(flaw.message),
            not self._connection.should_close,
        )


def read(*pieces: bytes) -> Read:
    return Reader().feed(*pieces)


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


@given(
    st.sampled_from([SIZED, CHUNKED, UNTIL_CLOSED]),
    st.sampled_from([b"", b"\r\n", INTERIM, INTERIM * 3]),
    st.integers(1, 99),
)
def test_a_response_is_the_same_in_pieces_of_any_size(
    response: bytes, before: bytes, size: int
) -> None:
    if before == b"\r\n" and size == 1:
        before = b""
    found = read(*cut(before + response, size))
    assert found == ([200], b"hello", response != UNTIL_CLOSED, None, True)


@pytest.mark.parametrize("status", [101, 204, 304, 404])
def test_the_final_head_may_have_any_status_that_is_not_interim(status: int) -> None:
    found = read(b"HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n" % status)
    assert found == ([status], b"", True, None, True)
    assert read(b"HTTP/1.1 100 Continue\r\n\r\n").statuses == []
    assert read(b"HTTP/1.1 199 Odd\r\n\r\n").statuses == []


def test_the_answer_to_head_has_no_body() -> None:
    reader = Reader(has_body=False)
    assert reader.feed(SIZED.partition(b"hello")[0]) == ([200], b"", True, None, True)
    assert reader.feed(b"x").flaw == "more bytes than the response"


@pytest.mark.parametrize("response", [SIZED, CHUNKED])
def test_after_the_response_the_connection_is_not_used_for_what_follows(response: bytes) -> None:
    assert read(response + b"x") == ([200], b"hello", True, None, False)
    assert read(response, b"x").flaw == "more bytes than the response"


@pytest.mark.parametrize("size", [1, 7, 1_000])
def test_heads_are_bounded_together(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    head = SIZED.removesuffix(b"hello")
    monkeypatch.setattr(response_parser, "MAX_HEAD_BYTES", len(INTERIM + head))
    assert read(*cut(INTERIM + SIZED, size)).body == b"hello"
    monkeypatch.setattr(response_parser, "MAX_HEAD_BYTES", len(INTERIM + head) - 1)
    found = read(*cut(INTERIM + SIZED, size))
    assert (found.statuses, found.flaw) == (
        [],
        f"head of more than {len(INTERIM + head) - 1} bytes",
    )


def test_a_head_without_an_end_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_parser, "MAX_HEAD_BYTES", len(OK) + 9)
    assert read(OK, b"a" * 9).flaw is None
    assert read(OK, b"a" * 9, b"a").flaw is not None


@pytest.mark.parametrize(("number", "is_read"), [(15, True), (16, False)])
def test_interim_responses_are_bounded(number: int, is_read: bool) -> None:
    found = read(INTERIM * number + SIZED)
    assert (found.body == b"hello", found.flaw is None) == (is_read, is_read)


def test_what_frames_a_body_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a body of n bytes, 20 and twice n bytes may be on the wire."""
    monkeypatch.setattr(response_parser, "MAX_FRAMING_BYTES", 20)
    head, chunk = OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1;%b\r\na\r\n"
    assert read(head, chunk % (b"x" * 15)).flaw is None
    assert read(head, chunk % (b"x" * 16)).flaw == "a body in 23 bytes of framing"
    assert read(head, chunk % (b"x" * 99) + b"0\r\n\r\n").flaw is None, "it is complete"


@pytest.mark.parametrize("received", [b"", b"\r\n", INTERIM])
def test_a_connection_that_ends_before_a_head(received: bytes) -> None:
    reader = Reader()
    reader.feed(received)
    assert reader.parser.feed_eof() == (b"\r\n" if received == b"\r\n" else None)
    reader = Reader()
    reader.feed(received, OK[:12])
    assert (reader.parser.feed_eof() or b"").endswith(OK[:12])


@pytest.mark.parametrize("received", [SIZED, CHUNKED, CHUNKED[:-2], CHUNKED[:-2] + b"A: b\r\n"])
def test_a_connection_that_ends_with_a_body(received: bytes) -> None:
    reader = Reader()
    body = reader.feed(received).body
    assert reader.parser.feed_eof() is None
    assert (body, reader.feed().is_complete) == (b"hello", True)


def test_a_body_without_a_length_ends_with_the_connection() -> None:
    reader = Reader()
    assert not reader.feed(UNTIL_CLOSED).is_complete
    assert reader.parser.feed_eof() is None
    assert reader.feed().is_complete


def test_a_connection_that_ends_within_a_body() -> None:
    reader = Reader()
    reader.feed(SIZED[:-2])
    with pytest.raises(ContentLengthError, match="2 bytes are missing"):
        reader.parser.feed_eof()
    for size in (5, 9):
        reader = Reader()
        reader.feed(CHUNKED[:-size])
        with pytest.raises(TransferEncodingError, match="the last chunk is missing"):
            reader.parser.feed_eof()
    assert not reader.feed().is_complete


def test_nothing_is_read_after_an_error() -> None:
    found = read(OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\nzz\r\n")
    assert (found.statuses, found.body) == ([200], b"he")
    assert found.flaw is not None


def test_a_header_that_is_not_utf_8_is_kept_as_it_came() -> None:
    reader = Reader()
    messages, _, _ = reader.parser.feed_data(OK[:-4] + b"\xfc\r\nX-A: \xfc\r\nX-A: b\r\n\r\n")
    ((message, _),) = messages
    assert message.headers.getall("x-a") == ["\udcfc", "b"]
    assert message.raw_headers == ((b"X-A", b"\xfc"), (b"X-A", b"b"))
    assert (message.reason, message.version, message.should_close) == ("\udcfc", (1, 1), False)
