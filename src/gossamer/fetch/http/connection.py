"""aiohttp's connections, with limits where aiohttp has none, and with our own parser.

Facts about aiohttp 3.14, each with a test:
  * The time until the head is unlimited.
  * An error in a body is raised in the coroutine that waits for the next head, not in the one that
    reads the body: the reader waits until its time is over.
  * Any request that got no response is sent again at once. RFC 9112 §9.3.1 permits that only on a
    reused connection, which its server may have closed for idleness.
  * A transport that is closed under TLS keeps reading until its peer has closed, too.
  * Each read of a piece of the body resumes the connection, paused or not. A paused parser would
    then continue with the bytes it has, by data_received(b""); ours never pauses.

aiohttp has no setting for the class of connections, so we replace the connector's factory.
"""

from __future__ import annotations

from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.http_exceptions import HttpProcessingError

from gossamer.fetch.http.response_parser import ResponseParser

if TYPE_CHECKING:
    import asyncio

    from aiohttp.connector import Connection as Lease
    from aiohttp.streams import StreamReader

established: ContextVar[int] = ContextVar("established")
"""TCP connections that were established for a request so far: a failure after that is TLS's."""


class NoAnswer(aiohttp.ClientError):
    """The connection ended before the head did; `__cause__` is the reason."""


class HeadTimeout(aiohttp.SocketTimeoutError):
    """The head did not arrive in time."""


class Connection(ResponseHandler):
    """A connection whose heads are bounded in time."""

    def __init__(self, loop: asyncio.AbstractEventLoop, head_timeout_s: float) -> None:
        super().__init__(loop)
        established.set(established.get(0) + 1)
        self.address: str | None = None
        self._head_timeout_s = head_timeout_s
        self._head_timer: asyncio.TimerHandle | None = None
        self._requests = 0
        self._silent = True

    @property
    def was_idle(self) -> bool:
        """Whether the connection is reused and nothing has arrived since the current request."""
        return self._requests > 1 and self._silent

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        peer = transport.get_extra_info("peername")
        self.address = peer[0] if peer else None

    def set_response_params(self, **params: Any) -> None:
        """Expect a response; aiohttp calls this before each request."""
        self._requests += 1
        self._silent = True
        self._head_timer = self._loop.call_later(self._head_timeout_s, self._too_late)
        super().set_response_params(**params)
        self._parser = ResponseParser(  # type: ignore[assignment]
            self,
            self._loop,
            self._read_bufsize,
            params.get("timer"),
            self._stop_timer,
            has_body=not params.get("skip_payload"),
        )

    def data_received(self, data: bytes) -> None:
        if not data or self._exception is not None:
            return
        self._silent = False
        parser = self._parser
        super().data_received(data)
        if isinstance(parser, ResponseParser) and parser.flaw is not None:
            self.set_exception(HttpProcessingError(message=parser.flaw.message), parser.flaw)

    def resume_reading(self, resume_parser: bool = True) -> None:
        if self._reading_paused:
            super().resume_reading(resume_parser)

    def set_exception(self, exc: BaseException, *cause: BaseException) -> None:
        self._stop_timer()
        payload, transport = self._payload, self.transport
        super().set_exception(exc, *cause)
        if payload is not None:
            # Later, so that the reader first gets the bytes that came before the error.
            self._loop.call_soon(_break_off, payload, exc)
        if transport is not None:
            transport.abort()

    def connection_lost(self, exc: BaseException | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def close(self) -> None:
        self.abort()

    def abort(self) -> None:
        self._stop_timer()
        super().abort()

    def _too_late(self) -> None:
        self.set_exception(HeadTimeout(f"no answer within {self._head_timeout_s:g} s"))

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


class Connector(aiohttp.TCPConnector):
    """Creates bounded connections."""

    def __init__(self, head_timeout_s: float, **settings: Any) -> None:
        super().__init__(
            limit=0,  # the frontier bounds requests per host, `hosts_at_once` those of the task
            use_dns_cache=False,  # the resolver caches
            **settings,
        )
        self._factory = partial(Connection, self._loop, head_timeout_s)  # type: ignore[assignment]


class Response(aiohttp.ClientResponse):
    """A response that keeps its peer's address after the connection is gone."""

    address: str | None = None

    async def start(self, connection: Lease) -> aiohttp.ClientResponse:
        protocol = connection.protocol
        assert isinstance(protocol, Connection)  # noqa: S101  # all that the connector creates
        self.address = protocol.address
        try:
            return await super().start(connection)
        except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
            if protocol.was_idle:
                raise  # aiohttp sends the request again
            raise NoAnswer from error


def _break_off(payload: StreamReader, error: BaseException) -> None:
    if not payload.is_eof() and payload.exception() is None:
        payload.set_exception(aiohttp.ClientPayloadError(str(error)))
