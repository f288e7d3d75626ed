"""The command `node`: answers brokers from some shards of a crawl, over TCP."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

import uvloop

from gossamer.serve.cluster.server import Server

if TYPE_CHECKING:
    from socket import socket
    from ssl import SSLContext

    from gossamer.serve.reloader import Live


def listen(live: Live, listener: socket, tls: SSLContext | None = None) -> None:
    """Answer requests on this socket until SIGINT or SIGTERM."""
    uvloop.run(_run(Server(live), listener, tls))


async def _run(server: Server, listener: socket, tls: SSLContext | None) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await server.run(listener, stop, tls)
