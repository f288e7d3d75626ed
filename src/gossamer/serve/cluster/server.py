"""A process that answers requests from some shards of a crawl's index.

It answers one request at a time: much of the work is Python's, so another thread would add little,
whereas another process adds a core. A newer index is opened between two requests. The previous one
stays open, because the second step of a search must show documents of the index that the first step
searched.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from gossamer.errors import StoreError
from gossamer.search.messages import (
    Answered,
    Explain,
    Question,
    Refused,
    Rescore,
    Show,
    Suggest,
    Suggested,
    Weigh,
)
from gossamer.serve.cluster import wire
from gossamer.serve.cluster.tls import HANDSHAKE_S
from gossamer.serve.gc_pauses import exempt_present_objects

if TYPE_CHECKING:
    from socket import socket
    from ssl import SSLContext

    from gossamer.search.messages import AnyReply, IndexRequest, Request
    from gossamer.search.searcher import Searcher
    from gossamer.serve.reloader import Live

MAX_CONNECTIONS = 256
_log = logging.getLogger(__name__)


class Server:
    """Answers from the newest index, or from the previous one if a request names its state."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._now: Searcher | None = None
        self._before: Searcher | None = None
        self._connections: set[asyncio.Task[None]] = set()

    def answer(self, request: IndexRequest | Request) -> AnyReply:
        try:
            return self._answer(request)
        except (KeyboardInterrupt, SystemExit):
            raise
        except StoreError as error:
            return Refused(str(error))
        except BaseException as error:  # noqa: BLE001  # tantivy's panics are not Exceptions
            _log.exception("a request failed")
            return Refused(repr(error))

    def _answer(self, request: IndexRequest | Request) -> AnyReply:
        searcher = self._live.searcher()
        if searcher is not self._now:
            self._before, self._now = self._now, searcher
            exempt_present_objects()
        if searcher is None:
            return Refused("no index yet")
        match request:
            case Question():
                return Answered(searcher.state, searcher.answer(request))
            case Suggest(text, limit):
                return Suggested(searcher.complete(text, limit))
            case Show() | Explain() | Rescore() | Weigh():
                if self._before is not None and request.state == self._before.state:
                    searcher = self._before
        return searcher.node.reply(request)

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
                request = wire.request_of(await wire.next_frame(reader))
                writer.write(wire.packed(self.answer(request)))
                await writer.drain()
        except (wire.BadFrameError, asyncio.IncompleteReadError, ConnectionError):
            pass  # the broker notices the closed connection
        finally:
            writer.close()
