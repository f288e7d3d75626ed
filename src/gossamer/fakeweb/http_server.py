"""HTTP/1.1 on loopback: keep-alive, pipelining, HEAD; answers in the order of the requests.

The life of a request: bytes arrive (`data_received`), a request is taken off the buffer, the web
answers, and the answer is written at once or, on a slow host, later. Until then, and while the
client does not read what was written, the connection takes no further request. Once its buffer
holds `MAX_BUFFER_BYTES`, it stops reading, so a client that only sends cannot fill the memory.

A hostile host answers with an act, which a `Player` plays; a playing act counts as the pending
answer. `Server.routes` lists the hosts with their own ports.
"""

from __future__ import annotations

import asyncio
import socket
import time
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from http import HTTPStatus
from ipaddress import IPv4Address, ip_address
from pathlib import Path
from typing import TYPE_CHECKING, cast

from gossamer.errors import GossamerError, UsageError
from gossamer.fakeweb.connect_ports import open_connect_ports
from gossamer.fakeweb.hostile.act import Act, Player
from gossamer.fakeweb.http_answer import Answer, refusal
from gossamer.fakeweb.http_request import RefusedRequest, Request, take_request
from gossamer.fakeweb.request_log import RequestLog
from gossamer.fakeweb.tls import TLS_HOSTS, TlsPort, open_tls

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from gossamer.fakeweb.web import Web

MAX_BUFFER_BYTES = 64 << 10
IDLE_S = 60.0
ACT_S = 600.0  # replaces IDLE_S during an act; longer than any client should wait
SWEEP_S = 5.0
MAX_ADDRESSES = 250
BACKLOG = 1024
BIND_TRIES = 20  # ports to try until one is free on all addresses


@dataclass(eq=False)
class Server:
    """A running server: its `port` and the `addresses` it listens on.

    `routes` maps host patterns to address:port, with a route for every host, in the form of the
    setting fetch.host_overrides: the first matching pattern counts. `tls` is the port of the https
    hosts, None without them.
    """

    web: Web
    addresses: list[str]
    port: int
    log: RequestLog | None
    tls: TlsPort | None = None
    routes: dict[str, str] = field(default_factory=dict)
    connections: set[Connection] = field(default_factory=set)
    served: int = 0
    connected: int = 0
    _date: tuple[int, bytes] = (0, b"")

    @property
    def address(self) -> str:
        """The first address, as host:port."""
        return f"{self.addresses[0]}:{self.port}"

    def date(self, now_s: float) -> bytes:
        """Return the Date header, which is built once per second."""
        second = int(now_s)
        if self._date[0] != second:
            self._date = second, f"Date: {formatdate(second, usegmt=True)}\r\n".encode()
        return self._date[1]

    def close_idle(self, now_s: float) -> None:
        for connection in list(self.connections):
            if now_s - connection.active_s > connection.patience_s:
                connection.close()

    def note(self, client: str, request: str, status: int, size: int, when: str = "") -> None:
        """Log a request: `client` is connection, port and address, `request` method to target."""
        self.served += 1
        if self.log is not None:
            self.log.add(f"{when or now()}\t{client}\t{request}\t{int(status)}\t{size}")


def now() -> str:
    """Return the log's first two columns: the time on the monotonic clock and in Unix time."""
    return f"{time.monotonic():.6f}\t{time.time():.6f}"


class Connection(asyncio.Protocol):
    """A connection of a client.

    Invariant: at most one answer is pending, and it belongs to the oldest unanswered request.
    """

    def __init__(
        self,
        server: Server,
        loop: asyncio.AbstractEventLoop,
        greeting: tuple[str, Act] | None = None,
    ) -> None:
        """`greeting` is a host's name, and the act it plays as soon as a client connects."""
        self._server = server
        self._loop = loop
        self._greeting = greeting
        self._buffer = bytearray()
        self._pending: asyncio.TimerHandle | Player | None = None
        self._paused = False  # the client does not read
        self._reading = True
        self._read = ""
        self.active_s = loop.time()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is not a subclass
        server = self._server
        server.connections.add(self)
        server.connected += 1
        peer, own = transport.get_extra_info("peername"), transport.get_extra_info("sockname")
        self._client = f"{server.connected}\t{peer[1]}\t{own[0]}"
        if self._greeting is not None:
            name, act = self._greeting
            self._play("-", name, "-", act)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._server.connections.discard(self)
        if self._pending is not None:
            self._pending.cancel()

    @property
    def patience_s(self) -> float:
        return ACT_S if isinstance(self._pending, Player) else IDLE_S

    def close(self) -> None:
        """Close the connection; abort if the client does not read or an act is playing."""
        if self._paused or isinstance(self._pending, Player):
            self._transport.abort()
        else:
            self._transport.close()

    def data_received(self, data: bytes) -> None:
        self.active_s = self._loop.time()
        self._buffer += data
        self._serve()

    def pause_writing(self) -> None:
        self._paused = True
        if isinstance(self._pending, Player):
            self._pending.pause()

    def resume_writing(self) -> None:
        self._paused = False
        if isinstance(self._pending, Player):
            self._pending.resume()
        else:
            self._serve()

    def _serve(self) -> None:
        """Answer the buffered requests until one must wait or the client stops reading."""
        while not (self._paused or self._pending or self._transport.is_closing()):
            request = take_request(self._buffer)
            if request is None:
                break
            self._read = now()  # the log holds the time of the request, not of the answer
            if isinstance(request, RefusedRequest):
                self._refuse(request)
                return
            answer = self._server.web.reply(request.host, request.target, request.headers)
            if isinstance(answer, Act):
                self._play(request.method, request.host, request.target, answer)
            elif answer.delay_s:
                self._pending = self._loop.call_later(answer.delay_s, self._late, request, answer)
            else:
                self._send(request, answer)
        self._pause_or_resume_reading()

    def _late(self, request: Request, answer: Answer) -> None:
        self._pending = None
        self._send(request, answer)
        self._serve()

    def _play(self, method: str, host: str, target: str, act: Act) -> None:
        self._log(method, host, target, act.status, 0)
        self._pending = player = Player(act, self._transport, self._loop, self._end_play)
        player.play()

    def _end_play(self) -> None:
        self._pending = None
        self._loop.call_soon(self._serve)  # not directly: `_serve` may be what started the act

    def _pause_or_resume_reading(self) -> None:
        full = len(self._buffer) >= MAX_BUFFER_BYTES
        if full is self._reading and not self._transport.is_closing():
            self._reading = not full
            (self._transport.pause_reading if full else self._transport.resume_reading)()

    def _send(self, request: Request, answer: Answer) -> None:
        body = answer.body if request.method == "GET" else b""
        self._write(answer, body, keep_alive=request.keep_alive)
        self._log(request.method, request.host, request.target, answer.status, len(body))

    def _refuse(self, refused: RefusedRequest) -> None:
        answer = refusal(refused.status, refused.reason)
        if refused.status == HTTPStatus.METHOD_NOT_ALLOWED:
            answer = Answer(answer.status, (*answer.headers, ("Allow", "GET, HEAD")), answer.body)
        self._buffer.clear()
        self._write(answer, answer.body, keep_alive=False)
        self._log(refused.method, "-", refused.target, answer.status, len(answer.body))

    def _write(self, answer: Answer, body: bytes, *, keep_alive: bool) -> None:
        end = b"\r\n" if keep_alive else b"Connection: close\r\n\r\n"
        date = self._server.date(time.time())
        self._transport.write(b"".join((answer.status_line, date, answer.head, end, body)))
        if not keep_alive:
            self._transport.close()

    def _log(self, method: str, host: str, target: str, status: int, size: int) -> None:
        self._server.note(self._client, f"{method}\t{host}\t{target}", status, size, self._read)


@asynccontextmanager
async def serve(
    web: Web,
    host: str = "127.0.0.1",
    port: int = 0,
    log: Path | str | None = None,
    *,
    addresses: int = 1,
) -> AsyncIterator[Server]:
    """Serve `web` while the context is open. Port 0 chooses a free port.

    The server listens on `addresses` consecutive addresses from `host` on, all with the same
    port: 3 means 127.0.0.1, 127.0.0.2 and 127.0.0.3. A web with `hostile` or `tls` has further
    ports on the first address. Raises UsageError for an address that is not loopback, because the
    pages are meant for this machine only.
    """
    names = loopback_addresses(host, addresses)
    request_log = RequestLog(Path(log)) if log is not None else None
    try:
        sockets = _bind(names, port)
    except GossamerError:
        if request_log is not None:
            request_log.close()
        raise
    loop = asyncio.get_running_loop()
    server = Server(web, names, sockets[0].getsockname()[1], request_log)
    async with AsyncExitStack() as stack:
        if request_log is not None:
            stack.callback(request_log.close)
        stack.push_async_callback(_end, server)
        for sock in sockets:
            listener = await loop.create_server(
                lambda: Connection(server, loop), sock=sock, backlog=BACKLOG
            )
            stack.callback(listener.close)
        await _open_other_ports(server, stack, loop)
        sweeper = asyncio.create_task(_sweep_idle_connections(server, loop))
        stack.callback(sweeper.cancel)
        yield server


async def _open_other_ports(
    server: Server, stack: AsyncExitStack, loop: asyncio.AbstractEventLoop
) -> None:
    def connection(name: str, act: Act | None) -> Connection:
        return Connection(server, loop, None if act is None else (name, act))

    first = server.addresses[0]

    def note_failure(client_port: int, name: str) -> None:
        server.connected += 1
        server.note(f"{server.connected}\t{client_port}\t{first}", f"-\t{name or '-'}\t-", 0, 0)

    if server.web.hostile is not None:
        cases = server.web.hostile.cases()
        server.routes |= await stack.enter_async_context(
            open_connect_ports(cases, first, connection, loop)
        )
    if server.web.tls:
        listening = _listening_server_socket(first, 0)
        server.tls = await stack.enter_async_context(open_tls(listening, connection, note_failure))
        server.routes[TLS_HOSTS] = server.tls.address
    server.routes["*.test"] = server.address


async def _end(server: Server) -> None:
    for connection in list(server.connections):
        connection.close()
    await asyncio.sleep(0)  # the transports close in the event loop's next iteration


def loopback_addresses(host: str, count: int) -> list[str]:
    """Return `count` consecutive IPv4 loopback addresses from `host` on."""
    try:
        first = ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        raise UsageError(host, "is not an IP address", "use 127.0.0.1") from None
    if not (isinstance(first, IPv4Address) and first.is_loopback):
        raise UsageError(host, "is not a loopback address", "fakeweb serves 127.0.0.0/8 only")
    if not 1 <= count <= MAX_ADDRESSES or not (first + (count - 1)).is_loopback:
        raise UsageError("addresses", f"{count} is out of range", f"choose 1 … {MAX_ADDRESSES}")
    return [str(first + step) for step in range(count)]


def _bind(addresses: list[str], port: int) -> list[socket.socket]:
    """Return one socket per address, all with the same port."""
    for _ in range(BIND_TRIES):
        sockets: list[socket.socket] = []
        try:
            for address in addresses:
                free = sockets[0].getsockname()[1] if sockets else port
                sockets.append(_listening_server_socket(address, free))
        except OSError as error:
            _close(sockets)
            if port:
                remedy = "choose another port, or 0 for any free port"
                where = f"{addresses[0]}:{port}"
                raise GossamerError(where, f"cannot be bound ({error})", remedy) from None
        else:
            return sockets
    raise GossamerError(addresses[-1], "no port is free on all addresses", "use fewer addresses")


def _listening_server_socket(address: str, port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((address, port))
    except OSError:
        listening.close()
        raise
    return listening


def _close(sockets: Iterable[socket.socket]) -> None:
    for each in sockets:
        each.close()


async def _sweep_idle_connections(server: Server, loop: asyncio.AbstractEventLoop) -> None:
    while True:
        await asyncio.sleep(SWEEP_S)
        server.close_idle(loop.time())
