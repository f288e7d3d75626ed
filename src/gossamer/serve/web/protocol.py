"""uvicorn's HTTP/1.1, with bounds on what a connection may cost.

Facts (uvicorn 0.54)
  * With httptools, it accepts request heads of any length at any pace. h11 limits their length,
    but is slower.
  * It parses all requests in a read, which may be thousands of small ones, creates an object of
    some 10 kB for each, and reads more after each response: pipelined requests queue up without
    bound.
  * It waits without limit for a client to read a response.
  * httptools leaves white space at the end of a header's value, which is no part of it (RFC 9110,
    section 5.5).
"""

from __future__ import annotations

import re
import socket
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from gossamer.config.searching import UNIX

if TYPE_CHECKING:
    import asyncio

    from starlette.types import ASGIApp

    from gossamer.serve.web.connections import Connections

SHUTDOWN_S = 5
MAX_REQUEST_BYTES = 65_536
"""The size of a request with its head and body. Only /mcp expects bodies, of some hundred bytes."""
MAX_REQUEST_S = 30.0
"""From the connection, or the first byte of a further request, to the end of the request."""
MAX_UNREAD_S = 10.0
"""How long a client may leave data unread. The transport gets 64 kB at once (paced_sending.py):
this also sets the slowest pace: 5 kB/s."""
MAX_REFUSAL_S = 1.0
"""The time a client has to read a refusal; closing at once would cut it off (RFC 9112,
section 9.6)."""
_END_OF_HEAD = re.compile(rb"\n\r?\n")
_REFUSAL = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain; charset=utf-8\r\n"
    b"retry-after: 1\r\nconnection: close\r\ncontent-length: 21\r\n\r\ntoo many connections\n"
)


def server(
    application: ASGIApp, connections: Connections, log_level: str = "error"
) -> uvicorn.Server:
    """A server for this application that bounds what each connection may cost.

    At log levels below "error", strangers could fill the log with one line per malformed request.
    """
    protocol = cast("Any", partial(Bounded, connections))
    return uvicorn.Server(
        uvicorn.Config(
            application,
            lifespan="on",
            http=protocol,
            ws="none",
            log_level=log_level,
            access_log=False,
            server_header=False,
            proxy_headers=False,  # site_path.py reads them
            timeout_graceful_shutdown=SHUTDOWN_S,
        )
    )


class Bounded(HttpToolsProtocol):
    """A connection. It answers one request at a time, even if the client pipelines them.

    Invariants
      * While a request is being answered whose body has arrived, or one waits for its turn to
        begin (`turns.py`), the bytes that are not parsed are kept in `_ahead`, from `_at` on. If a
        request is being answered and there are any, or if they are more than MAX_REQUEST_BYTES,
        reading is paused.
      * `_is_waiting` if and only if `_all.turns` will call `_begin`.
      * The timer `_late` runs if and only if the rest of a request is awaited, of which `_size`
        bytes have arrived.
      * The timer `_unread` runs if the client must read before the transport can accept more data
        or close.
    """

    _ahead = b""
    _at = 0
    _size = 0
    _in_body = False
    _late: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _is_refused = False
    _is_waiting = False

    def __init__(self, connections: Connections, **given: Any) -> None:
        super().__init__(**given)
        self._all = connections

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if transport.get_extra_info("socket").family == socket.AF_UNIX:
            self.client = (UNIX, 0)
        if self._all.enter(self, self.client and self.client[0]):
            self._await_request()
        else:
            self._is_refused = True
            transport.write(_REFUSAL)
            transport.write_eof()
            self._late = self.loop.call_later(MAX_REFUSAL_S, transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        self._all.leave(self)
        self._ahead = b""
        self._end_request()
        self._end_reading()
        super().connection_lost(exc)

    def drop(self) -> None:
        """Close this idle connection to make room for another."""
        self._close()

    def data_received(self, data: bytes) -> None:
        if self._is_refused:
            return
        self._ahead = self._ahead[self._at :] + data
        self._at = 0
        self._await_turn()

    def _await_turn(self) -> None:
        """Parse what has been received when it is this client's turn."""
        if self._is_only_answering or (self._is_waiting and len(self._ahead) > MAX_REQUEST_BYTES):
            self.flow.pause_reading()
        elif not self._is_waiting and self._ahead:
            self._is_waiting = True
            self._all.turns.take(self._all.client_of(self), self._begin)

    def _begin(self) -> None:
        self._is_waiting = False
        self._parse()
        if not self._is_only_answering and not self.transport.is_closing():
            self.flow.resume_reading()

    def _parse(self) -> None:
        """Pass the received bytes on, request by request; stop while one is being answered."""
        while self._at < len(self._ahead) and not self.transport.is_closing():
            if self._is_only_answering:
                self.flow.pause_reading()
                return
            end = _END_OF_HEAD.search(self._ahead, self._at)
            start, self._at = self._at, end.end() if end else len(self._ahead)
            super().data_received(self._ahead[start : self._at])
            if not self._is_answering and not self.transport.is_closing():
                self._await_request()  # empty lines stop the timer, but do not begin a request
            if self._late is not None:
                self._size += self._at - start
                if self._size > MAX_REQUEST_BYTES:
                    self._refuse_size()
        self._ahead, self._at = b"", 0

    @property
    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def _is_only_answering(self) -> bool:
        """Whether a request is being answered whose body has arrived."""
        return self._is_answering and self._late is None

    def _refuse_size(self) -> None:
        self._all.refused["long request"] += 1
        if self._in_body:  # the request has been passed on, so its response is on the way
            self._close()
        else:
            self.send_400_response(f"A request may have at most {MAX_REQUEST_BYTES} bytes.")

    def send_400_response(self, msg: str) -> None:
        if not self.transport.is_closing():
            super().send_400_response(msg)
            self._await_reading()

    def _unsupported_upgrade_warning(self) -> None:
        """Log nothing: strangers could fill the log."""

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_body = False
        self._await_request()

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value.rstrip(b" \t"))

    def on_headers_complete(self) -> None:
        self._in_body = True
        self._all.busy(self)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._end_request()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.is_closing():
            self._await_reading()
            return
        self._all.idle(self)
        self._await_turn()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._await_reading()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._end_reading()

    def timeout_keep_alive_handler(self) -> None:
        self._close()

    def _close(self) -> None:
        """Close the connection once the client has read everything, or MAX_UNREAD_S has passed."""
        self.transport.close()
        self._await_reading()

    def _await_request(self) -> None:
        if self._late is None:
            self._size = 0
            self._late = self.loop.call_later(MAX_REQUEST_S, self._give_up_request)

    def _end_request(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _give_up_request(self) -> None:
        self._late = None
        self._all.refused["slow request"] += 1
        self._close()

    def _await_reading(self) -> None:
        if self._unread is None and self.transport.get_write_buffer_size():
            self._unread = self.loop.call_later(MAX_UNREAD_S, self._give_up_reading)

    def _end_reading(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _give_up_reading(self) -> None:
        self._unread = None
        self._all.refused["unread answer"] += 1
        self.transport.abort()
