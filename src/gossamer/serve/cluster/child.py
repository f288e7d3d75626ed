"""The process that `Children` starts: with the folder of a crawl, and where to listen."""

from __future__ import annotations

import asyncio
import socket
import sys
from contextlib import suppress
from pathlib import Path

import uvloop

from gossamer.serve.cluster.server import Server
from gossamer.serve.live import Live
from gossamer.workspace import Workspace

BACKLOG = 128


async def _run(server: Server, path: str) -> None:
    stop = asyncio.Event()
    ended = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(ended), sys.stdin)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(BACKLOG)
        running = asyncio.create_task(server.run(listener, stop))
        await ended.read()
        stop.set()
        await running


def main() -> None:
    root, path = sys.argv[1:]
    uvloop.run(_run(Server(Live(Workspace.open(root))), path))
    # However the parent died, nothing of it stays.
    Path(path).unlink(missing_ok=True)
    with suppress(OSError):  # others are still in there, or it is gone
        Path(path).parent.rmdir()
