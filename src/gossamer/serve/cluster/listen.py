"""The command `node`: answers servers from its shards of a crawl, over TCP."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

import uvloop

from gossamer.serve.cluster.follower import Follower
from gossamer.serve.cluster.members import Members
from gossamer.serve.cluster.server import Server
from gossamer.serve.cluster.tls import of_server

if TYPE_CHECKING:
    from socket import socket
    from ssl import SSLContext

    from gossamer.state.workspace import Workspace


def listen(work: Workspace, name: str, listener: socket, tls: SSLContext | None = None) -> None:
    """Follow a crawl, and answer requests on this socket, until SIGINT or SIGTERM."""
    uvloop.run(_run(work, name, listener, tls))


async def _run(work: Workspace, name: str, listener: socket, tls: SSLContext | None) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    config = work.config.serve
    members = Members(config.nodes, of_server(config, work.root))
    follower = Follower(work, name, members, config.groups if config.nodes else 1)
    following = asyncio.create_task(follower.follow())
    following.add_done_callback(lambda _: stop.set())
    await Server(follower).run(listener, stop, tls)
    if following.done():
        following.result()  # raises: it only ends by an error
    following.cancel()
