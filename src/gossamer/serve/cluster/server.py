"""A process that answers requests from some shards of a crawl's index.

It answers one request at a time: much of the work is Python's, so another thread would add little,
whereas another process adds a core.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from typing import TYPE_CHECKING, Protocol

import uvloop

from gossamer.errors import StoreError
from gossamer.search.messages import (
    Answered,
    Directed,
    Probe,
    Question,
    Report,
    RequestRefused,
    Suggest,
    Suggested,
)
from gossamer.serve.cluster import wire
from gossamer.serve.cluster.follower import Follower
from gossamer.serve.cluster.members import Members
from gossamer.serve.cluster.tls import HANDSHAKE_S, server_context
from gossamer.serve.process_setup import exempt_present_objects

if TYPE_CHECKING:
    from socket import socket
    from ssl import SSLContext

    from gossamer.search.messages import AnyReply, AnyRequest
    from gossamer.search.searcher import Searcher
    from gossamer.serve.dispatch.reloader import OpenIndex
    from gossamer.state.workspace import Workspace

MAX_CONNECTIONS = 256
UNREAD_S = 10.0
"""A client must read an answer within this time."""
_log = logging.getLogger(__name__)


class Source(Protocol):
    """What a process has opened."""

    def report(self) -> Report: ...

    def searcher(self, request: AnyRequest) -> Searcher | None:
        """What answers a request; None if it is not open. Raises StoreError."""


class Newest:
    """The newest index as a whole. It is opened between two requests."""

    def __init__(self, live: OpenIndex) -> None:
        self._live = live
        self._last: Searcher | None = None

    def report(self) -> Report:
        """Nothing is reported, as all processes of a machine hold the same, but it is opened."""
        self._newest()
        return Report()

    def searcher(self, _: AnyRequest) -> Searcher | None:
        return self._newest()

    def _newest(self) -> Searcher | None:
        searcher = self._live.searcher()
        if searcher is not self._last:
            self._last = searcher
            exempt_present_objects()
        return searcher


class Server:
    """Answers the requests of one or several servers, one at a time."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._connections: set[asyncio.Task[None]] = set()

    def answer(self, request: AnyRequest) -> AnyReply:
        try:
            return self._answer(request)
        except (KeyboardInterrupt, SystemExit):
            raise
        except StoreError as error:
            return RequestRefused(str(error))
        except BaseException as error:  # noqa: BLE001  # tantivy's panics are not Exceptions
            _log.exception("a request failed")
            return RequestRefused(repr(error))

    def _answer(self, request: AnyRequest) -> AnyReply:
        if isinstance(request, Probe):
            return self._source.report()
        searcher = self._source.searcher(request)
        if searcher is None:
            return RequestRefused("this index is not open here")
        match request.request if isinstance(request, Directed) else request:
            case Question() as question:
                return Answered(searcher.state, searcher.answer(question))
            case Suggest(text, limit):
                return Suggested(searcher.complete(text, limit))
            case step:
                return searcher.node.reply(step)

    async def run(
        self, listener: socket, stop: asyncio.Event, tls: SSLContext | None = None
    ) -> None:
        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if len(self._connections) >= MAX_CONNECTIONS:
                writer.close()
                return
            task = asyncio.create_task(self._serve(reader, writer))
            self._connections.add(task)
            task.add_done_callback(self._connections.discard)

        patience_s = None if tls is None else HANDSHAKE_S
        server = await asyncio.start_server(
            connected, sock=listener, ssl=tls, ssl_handshake_timeout=patience_s
        )
        await stop.wait()
        server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                request = wire.request_of(await wire.next_request(reader))
                writer.write(wire.pack(self.answer(request)))
                async with asyncio.timeout(UNREAD_S):
                    await writer.drain()
        except TimeoutError:
            writer.transport.abort()  # it may be waiting until the client reads
        except (wire.BadFrameError, asyncio.IncompleteReadError, ConnectionError):
            pass  # the broker notices the closed connection
        finally:
            writer.close()


def listen(work: Workspace, name: str, listener: socket, tls: SSLContext | None = None) -> None:
    """Follow a crawl, and answer requests on this socket, until SIGINT or SIGTERM."""
    uvloop.run(_answer_until_stopped(work, name, listener, tls))


async def _answer_until_stopped(
    work: Workspace, name: str, listener: socket, tls: SSLContext | None
) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    config = work.config.serve
    members = Members(config.nodes, server_context(config, work.root))
    follower = Follower(work, name, members, config.groups if config.nodes else 1)
    following = asyncio.create_task(follower.follow())
    following.add_done_callback(lambda _: stop.set())
    await Server(follower).run(listener, stop, tls)
    if following.done():
        following.result()  # raises: it only ends by an error
    following.cancel()
