"""The program of the processes that `Children` starts.

Arguments: the folder of the crawl, and the path of the socket to listen on.
"""

from __future__ import annotations

import asyncio
import shutil
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path

import msgspec
import uvloop

from gossamer.serve.cluster.children import WHOLE_FILES
from gossamer.serve.cluster.server import Newest, Server
from gossamer.serve.dispatch.reloader import OpenIndex
from gossamer.state.workspace import Workspace
from gossamer.storage.store import File

BACKLOG = 128


async def _answer_requests(server: Server, path: str) -> None:
    stop = asyncio.Event()
    ended = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, ended.feed_eof)  # also sent when the parent dies
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(ended), sys.stdin)
    with socket.socket(socket.AF_UNIX) as listener:
        try:
            listener.bind(path)
        except FileNotFoundError:  # the parent has ended, and removed the folder
            return
        listener.listen(BACKLOG)
        running = asyncio.create_task(server.run(listener, stop))
        await ended.read()
        stop.set()
        await running


def main() -> None:
    root, path = sys.argv[1:]
    folder, work = Path(path).parent, Workspace.open(root)
    with suppress(FileNotFoundError):  # the parent is ending, or did not start this process
        whole = (folder / WHOLE_FILES).read_bytes()
        work.store.trust(msgspec.json.decode(whole, type=list[File]))
    uvloop.run(_answer_requests(Server(Newest(OpenIndex(work))), path))
    # The parent may have been killed, so the last process to end removes the folder.
    Path(path).unlink(missing_ok=True)
    with suppress(OSError):  # another process has removed it
        if {file.name for file in folder.iterdir()} <= {WHOLE_FILES}:
            shutil.rmtree(folder)
