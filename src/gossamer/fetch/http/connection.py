"""aiohttp's connections, with limits where aiohttp has none.

Facts about aiohttp 3.14, each with a test:
  * The time until the head is unlimited, and so are interim responses (1xx): a server may send
    them for ever. Header lines are limited in length and number, but not the head as a whole.
  * An error in a chunked body is raised in the coroutine that waits for the next head, not in the
    one that reads the body: the reader waits until its time is over.
  * If head and error arrive in one piece, the head is lost.
  * Any request that got no response is sent again at once. RFC 9112 §9.3.1 permits that only on a
    reused connection, which its server may have closed for idleness.
  * A transport that is closed under TLS keeps reading until its peer has closed, too.
  * Only the size of chunks is limited: a chunk extension may be endless, without any body.
  * Each read of a piece of the body resumes the connection, paused or not. A paused parser then
    continues with the bytes it has, by data_received(b"").

aiohttp has no setting for the class of connections, so we replace the connector's factory.
"""

from __future__ import annotations

import os
import ssl
from contextvars import ContextVar
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.http_exceptions import BadHttpMessage

if TYPE_CHECKING:
    import asyncio

    from aiohttp.connector import Connection as Lease
    from aiohttp.http import RawResponseMessage
    from aiohttp.streams import StreamReader

MAX_HEAD_BYTES = 256 << 10
"""For all heads of a response together, interim ones included. Chrome's limit."""
MAX_INTERIM = 16
"""Heads with a status of 1xx before the final one."""
MAX_FRAMING_BYTES = 1 << 20
MAX_FRAMING_RATIO = 2
"""A body of n bytes may take MAX_FRAMING_BYTES + n * MAX_FRAMING_RATIO bytes on the wire. A chunk
of one byte takes six, and 3 µs to parse; its extension is unlimited (RFC 9112 §7.1.1)."""
SWITCHING_PROTOCOLS = 101
FINAL = 200
AUTHORITIES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""OpenSSL's environment variables for where authorities are."""
BLANK_LINE = b"\r\n\r\n"

established: ContextVar[int] = ContextVar("established")
"""TCP connections that were established for a request so far: a failure after that is TLS's."""


class NoAnswer(aiohttp.ClientError):
    """The connection ended before the head did; `__cause__` is the reason."""


class HeadTimeout(aiohttp.SocketTimeoutError):
    """The head did not arrive in time."""


class Connection(ResponseHandler):
    """A connection whose heads are bounded in time, size and number.

    Invariant: at most one head is ever queued per request, the final one.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, head_timeout_s: float) -> None:
        super().__init__(loop)
        established.set(established.get(0) + 1)
        self.address: str | None = None
        self._head_timeout_s = head_timeout_s
        self._head_timer: asyncio.TimerHandle | None = None
        self._requests = 0
        self._silent = True
        self._head_left = 0
        """Bytes that the head may still take; 0 if no head is expected."""
        self._interim_left = 0
        self._body_bytes = 0
        """Bytes on the wire after the current response's head."""

    @property
    def was_idle(self) -> bool:
        """Whether the connection is reused and nothing has arrived since the current request."""
        return self._requests > 1 and self._silent

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        peer = transport.get_extra_info("peername")
        self.address = peer[0] if peer else None

    def set_response_params(self, **params: Any) -> None:
        """Reset all limits; aiohttp calls this before each request."""
        self._requests += 1
        self._silent = True
        self._head_left = MAX_HEAD_BYTES
        self._interim_left = MAX_INTERIM
        self._body_bytes = 0
        self._head_timer = self._loop.call_later(self._head_timeout_s, self._too_late)
        super().set_response_params(**params)

    def data_received(self, data: bytes) -> None:
        """Feed the parser. Empty data makes a paused parser continue."""
        if not data:
            if self._exception is None:
                super().data_received(data)
            return
        self._silent = False
        # Head by head, so that an error after a head does not lose the head.
        while data and self._head_left:
            end = data.find(BLANK_LINE) + len(BLANK_LINE)
            head, data = (data[:end], data[end:]) if end >= len(BLANK_LINE) else (data, b"")
            self._head_left -= min(len(head), self._head_left)
            if not self._head_left:
                self.set_exception(BadHttpMessage(f"head of more than {MAX_HEAD_BYTES} bytes"))
                return
            super().data_received(head)
        if data and self._exception is None:
            super().data_received(data)
            self._bound_framing(len(data))

    def resume_reading(self, resume_parser: bool = True) -> None:
        if self._reading_paused:
            super().resume_reading(resume_parser)

    def feed_data(self, data: tuple[RawResponseMessage, StreamReader], size: int = 0) -> None:
        """Accept a parsed head, or fail if there are too many."""
        message, _ = data
        if not self._head_left:
            self.set_exception(BadHttpMessage("a response without a request"))
        elif SWITCHING_PROTOCOLS < message.code < FINAL or message.code == 100:  # noqa: PLR2004
            self._interim_left -= 1
            if not self._interim_left:
                self.set_exception(BadHttpMessage(f"{MAX_INTERIM} interim responses in a row"))
        else:
            self._head_left = 0
            self._stop_timer()
            super().feed_data(data, size)

    def _bound_framing(self, size: int) -> None:
        self._body_bytes += size
        if self._body_bytes <= MAX_FRAMING_BYTES or self._payload is None:
            return
        if self._body_bytes > MAX_FRAMING_BYTES + MAX_FRAMING_RATIO * self._payload.total_bytes:
            self.set_exception(BadHttpMessage(f"a body in {self._body_bytes} bytes of framing"))

    def set_exception(self, exc: BaseException, *cause: BaseException) -> None:
        self._stop_timer()
        self._head_left = 0
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


def tls_context(*, verify: bool) -> ssl.SSLContext:
    """A context that verifies with the system's authorities, or those in $SSL_CERT_FILE.

    Without verification it also accepts the oldest protocols and ciphers that OpenSSL supports. The
    authorities are read once per process, not for each task, unless the environment changes.
    """
    return _tls_context(verify, *map(os.environ.get, AUTHORITIES))


@lru_cache(2)
def _tls_context(verify: bool, *_: str | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.options |= getattr(ssl, "OP_LEGACY_SERVER_CONNECT", 0x4)  # RFC 5746, named in 3.12
    return context


def _break_off(payload: StreamReader, error: BaseException) -> None:
    if not payload.is_eof() and payload.exception() is None:
        payload.set_exception(aiohttp.ClientPayloadError(str(error)))
