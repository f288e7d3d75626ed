"""HTTP/1.1 as uvicorn speaks it, with bounds on what comes before a request is whole.

uvicorn takes the heads of requests at any length and any pace where httptools parses them. It is
asked for as h11, which has a bound of its own on their length, takes longer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    import asyncio

    from starlette.types import ASGIApp

MAX_CONNECTIONS = 2_048
"""More are told 503, so that memory is bounded. Of searches `limits.py` bounds the number."""
SHUTDOWN_S = 5
MAX_HEAD_BYTES = 65_536
MAX_HEAD_S = 30.0
"""From the connection, or from the first byte of a further request, to the end of its head."""


def server(application: ASGIApp, log_level: str = "warning") -> uvicorn.Server:
    """A server of this application within bounds. A proxy on this machine may say who asks, how."""
    return uvicorn.Server(
        uvicorn.Config(
            application,
            lifespan="on",
            http=Bounded,
            log_level=log_level,
            access_log=False,
            server_header=False,
            limit_concurrency=MAX_CONNECTIONS,
            timeout_graceful_shutdown=SHUTDOWN_S,
        )
    )


class Bounded(HttpToolsProtocol):
    """Invariant: `_late` is running if and only if a head is awaited; it has `_head` bytes so far.

    They are counted by what was received at once, so some of another request may count, too.
    """

    _late: asyncio.TimerHandle | None = None
    _head = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._late is not None:
            self._head += len(data)
            if self._head > MAX_HEAD_BYTES and not self.transport.is_closing():
                self.send_400_response(f"The head of a request has at most {MAX_HEAD_BYTES} bytes.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._await_head()

    def on_headers_complete(self) -> None:
        self._end_head()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_head()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        if self._late is None:
            self._head = 0
            self._late = self.loop.call_later(MAX_HEAD_S, self.transport.close)

    def _end_head(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
