"""Responses from the bytes of a connection, in place of aiohttp's parser.

aiohttp's parser is llhttp, which refuses heads that all browsers show (`response_head.py`), and
with the robots.txt of a host every page of it. This one has the same interface.

Invariants
  * Heads, interim ones included, and what frames a chunked body are bounded.
  * After the first error nothing is parsed. It is kept in `flaw`, not raised: a head that came with
    the error in one piece is still returned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiohttp.http import HttpVersion, RawResponseMessage
from aiohttp.http_exceptions import BadHttpMessage, ContentLengthError, TransferEncodingError
from aiohttp.streams import EMPTY_PAYLOAD, StreamReader
from multidict import CIMultiDict, CIMultiDictProxy

from gossamer.fetch.http.chunked_body import ChunkedBody
from gossamer.fetch.http.response_head import (
    CHUNKED,
    UNTIL_CLOSED,
    body_size,
    closes,
    end_of_head,
    parse_head,
    start_of_status_line,
)

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from aiohttp.client_proto import ResponseHandler
    from aiohttp.helpers import BaseTimerContext

    from gossamer.fetch.http.response_head import Head

    Message = tuple[RawResponseMessage, StreamReader]

MAX_HEAD_BYTES = 256 << 10
"""For all heads of a response together, interim ones included. Chrome's limit."""
MAX_INTERIM = 16
"""Heads with a status of 1xx before the final one."""
MAX_FRAMING_BYTES = 1 << 20
MAX_FRAMING_RATIO = 2
"""A body of n bytes may take MAX_FRAMING_BYTES + n * MAX_FRAMING_RATIO bytes on the wire. A chunk
of one byte takes six, and a microsecond; its extension is unlimited (RFC 9112 §7.1.1)."""
SWITCHING_PROTOCOLS = 101
FINAL = 200


class ResponseParser:
    """Parses the response to one request."""

    def __init__(
        self,
        connection: ResponseHandler,
        loop: asyncio.AbstractEventLoop,
        buffer_bytes: int,
        timer: BaseTimerContext | None,
        has_taken_head: Callable[[], None],
        *,
        has_body: bool,
    ) -> None:
        self.flaw: BadHttpMessage | None = None
        self._connection = connection
        self._loop = loop
        self._buffer_bytes = buffer_bytes
        self._timer = timer
        self._has_taken_head = has_taken_head
        self._has_body = has_body
        self._head = b""
        """What has arrived of the current head."""
        self._is_head_expected = True
        self._head_left = MAX_HEAD_BYTES
        self._interim_left = MAX_INTERIM
        self._payload = EMPTY_PAYLOAD
        self._left = 0
        """Bytes of the body that have not arrived, CHUNKED or UNTIL_CLOSED."""
        self._chunks: ChunkedBody | None = None
        self._wire_bytes = 0
        """Bytes that have arrived of a chunked body."""

    def feed_data(self, data: bytes) -> tuple[list[Message], bool, bytes]:
        """Return the final head and its body as a stream, if its last byte is in the data.

        The other two parts of the result are about protocols that HTTP can be left for.
        """
        messages: list[Message] = []
        try:
            while data and self._is_head_expected:
                data = self._take_head(data, messages)
            if data:
                self._take_body(data)
        except BadHttpMessage as error:
            self.flaw = error
        return messages, False, b""

    def feed_eof(self) -> bytes | None:
        """End at the end of the connection. Return the bytes of an incomplete head.

        Raises an exception if the body is incomplete.
        """
        if self._is_head_expected:
            return self._head or None
        if self._left == UNTIL_CLOSED or (self._chunks is not None and self._chunks.in_trailers):
            self._end_body()
        elif self._left == CHUNKED:
            raise TransferEncodingError("the last chunk is missing")
        elif self._left:
            raise ContentLengthError(f"{self._left} bytes are missing")
        return None

    def pause_reading(self) -> None:
        """Do nothing: what has been read from the socket is bounded, so it is always parsed."""

    def _take_head(self, data: bytes, messages: list[Message]) -> bytes:
        """Take what belongs to the head, and return the rest. Raises BadHttpMessage."""
        known = len(self._head)
        received = self._head + data
        start = start_of_status_line(received)
        # The empty line may have begun two bytes before the new ones.
        end = -1 if start < 0 else end_of_head(received, max(start, known - 2))
        size = len(received) if end < 0 else end
        if size > self._head_left:
            raise BadHttpMessage(f"head of more than {MAX_HEAD_BYTES} bytes")
        if end < 0:
            self._head = received
            return b""
        self._head, self._head_left = b"", self._head_left - size
        head = parse_head(received[start:end])
        if 100 <= head.status < FINAL and head.status != SWITCHING_PROTOCOLS:  # noqa: PLR2004
            self._interim_left -= 1
            if not self._interim_left:
                raise BadHttpMessage(f"{MAX_INTERIM} interim responses in a row")
        else:
            self._begin_body(head)
            messages.append((_message(head), self._payload))
            self._has_taken_head()
        return received[end:]

    def _begin_body(self, head: Head) -> None:
        self._left = body_size(head) if self._has_body else 0
        self._is_head_expected = False
        if self._left:
            self._payload = StreamReader(
                self._connection, self._buffer_bytes, timer=self._timer, loop=self._loop
            )
        if self._left == CHUNKED:
            self._chunks = ChunkedBody(self._payload.feed_data)

    def _take_body(self, data: bytes) -> None:
        """Raises BadHttpMessage."""
        if not self._left:
            raise BadHttpMessage("more bytes than the response")
        if self._chunks is not None:
            end = self._chunks.feed(data)
            self._wire_bytes += len(data)
            framing_bytes = self._wire_bytes - MAX_FRAMING_RATIO * self._payload.total_bytes
            if end < 0 and framing_bytes > MAX_FRAMING_BYTES:
                raise BadHttpMessage(f"a body in {self._wire_bytes} bytes of framing")
            is_complete = end >= 0
        elif self._left == UNTIL_CLOSED:
            self._payload.feed_data(data)
            return
        else:
            end = self._left
            self._payload.feed_data(data[:end])
            self._left -= min(len(data), end)
            is_complete = not self._left
        if is_complete:
            if end < len(data):
                self._connection.force_close()  # else the next response would begin with the rest
            self._end_body()

    def _end_body(self) -> None:
        self._left, self._chunks = 0, None
        payload, self._payload = self._payload, EMPTY_PAYLOAD
        payload.feed_eof()


def _message(head: Head) -> RawResponseMessage:
    headers = CIMultiDict(
        (name.decode("ascii"), value.decode("utf-8", "surrogateescape"))
        for name, value in head.fields
    )
    return RawResponseMessage(
        version=HttpVersion(*head.version),
        code=head.status,
        reason=head.reason.decode("utf-8", "surrogateescape"),
        headers=CIMultiDictProxy(headers),
        raw_headers=tuple(head.fields),
        should_close=closes(head),
        compression=None,
        upgrade=False,
        chunked=False,
    )
