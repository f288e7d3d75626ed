"""A server of `gossamer.serve.web` around an application of a test, on loopback in a thread."""

from __future__ import annotations

import socket
import threading
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse

from gossamer.config import ServeConfig
from gossamer.serve.web import protocol
from gossamer.serve.web.clients import Clients
from gossamer.serve.web.connections import MAX_CONNECTIONS, Connections
from gossamer.serve.web.headers import Headers
from gossamer.serve.web.site_path import behind_proxies

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import uvicorn
    from starlette.types import ASGIApp, Receive, Scope, Send

PATIENCE_S = 30
ANYBODY = Clients(("127.0.0.1",))


@dataclass
class Listening:
    server: uvicorn.Server
    address: tuple[str, int]
    refused: Counter[str]

    def connected(self, source: str = "127.0.0.1", room: int | None = None) -> socket.socket:
        """A connection from an address of loopback; `room`: of its receive buffer."""
        ours = socket.socket()
        if room:
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        ours.settimeout(PATIENCE_S)
        ours.bind((source, 0))
        ours.connect(self.address)
        return ours


@contextmanager
def listening(
    application: ASGIApp,
    *,
    connections: int = MAX_CONNECTIONS,
    refused: Counter[str] | None = None,
    clients: Clients = ANYBODY,
    proxies: Sequence[str] = (),
    at: socket.socket | None = None,
) -> Iterator[Listening]:
    """`refused` counts what is refused; `clients` tells whom connections count for.

    `at`: a socket that listens, which is closed in the end.
    """
    counts = Counter() if refused is None else refused
    admitted = Connections(clients, counts, connections)
    # Headers passes on what is sent, and answers a lifespan as starlette does.
    settings = ServeConfig(proxies=tuple(proxies))
    proxied = behind_proxies(Headers(_Alive(application)), settings, clients)
    server = protocol.server(proxied, admitted, "critical")
    with at or socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield Listening(server, listener.getsockname(), counts)
        finally:
            server.should_exit = True
            thread.join()


class _Alive:
    """An application with a lifespan in which nothing happens."""

    def __init__(self, inner: ASGIApp) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._inner(scope, receive, send)
            return
        for step in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{step}.complete"})


@dataclass
class Gate:
    """An application that answers when `open` is set. `begun` is released once per request."""

    begun: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    open: threading.Event = field(default_factory=threading.Event)
    inside: int = 0
    most: int = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        import asyncio

        self.inside += 1
        self.most = max(self.most, self.inside)
        self.begun.release()
        await asyncio.to_thread(self.open.wait, PATIENCE_S)
        self.inside -= 1
        await PlainTextResponse(scope["path"])(scope, receive, send)

    def wait(self, requests: int = 1) -> None:
        """Until so many more requests have come."""
        for _ in range(requests):
            assert self.begun.acquire(timeout=PATIENCE_S)


def get(path: str = "/", headers: str = "") -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n".encode()


def read(ours: socket.socket, ending: bytes) -> bytes:
    """What comes until it ends like this, or the connection does."""
    got = b""
    while not got.endswith(ending) and (more := ours.recv(65_536)):
        got += more
    return got
