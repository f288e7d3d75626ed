"""A process that answers for some shards of a crawl's index, whoever connects.

Requests are answered one after the other: much of an answer's time is Python's, so a thread more
would add little, where a process more adds a core. A newer index is opened between two of them; the
one before stays at hand, for pages that are to be shown of what was just found in it.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from gossamer.errors import StoreError
from gossamer.serve.cluster import wire
from gossamer.serve.messages import (
    Answered,
    Explain,
    Look,
    Question,
    Refused,
    Show,
    Suggest,
    Suggested,
    Weigh,
)

if TYPE_CHECKING:
    from socket import socket

    from gossamer.serve.live import Live
    from gossamer.serve.messages import Outcome, Request, Whole
    from gossamer.serve.search import Searcher

MAX_CONNECTIONS = 256
_log = logging.getLogger(__name__)


class Server:
    """Answers from the newest index, and from the one before where that is asked about."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._now: Searcher | None = None
        self._before: Searcher | None = None
        self._connections: set[asyncio.Task[None]] = set()

    def answer(self, request: Whole | Request) -> Outcome:
        try:
            return self._answer(request)
        except (KeyboardInterrupt, SystemExit):
            raise
        except StoreError as error:
            return Refused(str(error))
        except BaseException as error:  # noqa: BLE001  # a panic of tantivy's is no Exception
            _log.exception("a request failed")
            return Refused(repr(error))

    def _answer(self, request: Whole | Request) -> Outcome:
        searcher = self._live.searcher()
        if searcher is not self._now:
            self._before, self._now = self._now, searcher
        if searcher is None:
            return Refused("no index yet")
        match request:
            case Question():
                return Answered(searcher.state, searcher.answer(request))
            case Suggest(text, limit):
                return Suggested(searcher.complete(text, limit))
            case Show() | Explain() | Look() | Weigh():
                if self._before is not None and request.state == self._before.state:
                    searcher = self._before
        return searcher.node.reply(request)

    async def run(self, listener: socket, stop: asyncio.Event) -> None:
        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if len(self._connections) >= MAX_CONNECTIONS:
                writer.close()
                return
            task = asyncio.create_task(self._serve(reader, writer))
            self._connections.add(task)
            task.add_done_callback(self._connections.discard)

        server = await asyncio.start_server(connected, sock=listener)
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
            pass  # the broker knows what to make of it
        finally:
            writer.close()
