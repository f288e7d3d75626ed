"""Sends large responses in pieces, as fast as clients read, and bounds the memory that they take.

A transport that gets a whole response keeps it in memory for as long as the client likes. If it
gets pieces, it holds only a few at once; the rest waits here and is counted. Clients that stop
reading are cut off (`protocol.py`).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from gossamer.serve.dispatch.fair_queue import Busy
from gossamer.serve.web.problem import refusal_problem
from gossamer.serve.web.request_limits import client_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

PIECE_BYTES = 65_536
MAX_BYTES = 64 << 20
"""Total size of the large responses that are being sent."""
MAX_CLIENT_BYTES = MAX_BYTES // 4
"""The same for one client. A single larger response is sent nevertheless."""
KIND = "large answer"


class Sending:
    """Invariant: `_bytes` sums the large responses being sent, by client, and holds no zeros."""

    def __init__(self, inner: ASGIApp, refused: Counter[str]) -> None:
        self._inner = inner
        self._refused = refused
        self._bytes: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        client = client_of(scope)
        answer = _Answer(send, lambda length: self._has_room(client, length))
        try:
            await self._inner(scope, receive, answer.send)
        finally:
            self._bytes[client] -= answer.counted
            if not self._bytes[client]:
                del self._bytes[client]
        if answer.is_refused:
            self._refused[KIND] += 1
            await refusal_problem(scope, Busy(KIND))(scope, receive, send)

    def _has_room(self, client: str, length: int) -> bool:
        """Whether a large response may be sent; if so, count it from now on."""
        held = self._bytes[client]
        fits = self._bytes.total() + length <= MAX_BYTES
        fits = fits and (not held or held + length <= MAX_CLIENT_BYTES)
        self._bytes[client] += length if fits else 0
        return fits


class _Answer:
    """A response being sent, of which `counted` bytes are in the sum: 0 unless it is large.

    If it `is_refused`, nothing of it is sent.
    """

    def __init__(self, send: Send, has_room: Callable[[int], bool]) -> None:
        self.counted = 0
        self.is_refused = False
        self._send = send
        self._has_room = has_room

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and (length := _length(message)) > PIECE_BYTES:
            if self._has_room(length):
                self.counted = length
            else:
                self.is_refused = True
        if self.is_refused:
            return
        body = message.get("body", b"")
        if len(body) <= PIECE_BYTES:
            await self._send(message)
            return
        whole = memoryview(body)
        for at in range(0, len(whole), PIECE_BYTES):
            more = at + PIECE_BYTES < len(whole) or message.get("more_body", False)
            piece = whole[at : at + PIECE_BYTES]
            await self._send({"type": message["type"], "body": piece, "more_body": more})


def _length(message: Message) -> int:
    """The content-length; 0 if the header is missing."""
    return next((int(value) for name, value in message["headers"] if name == b"content-length"), 0)
