"""A web server on loopback that sends exactly the configured bytes, in its own thread."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterator, Sequence

RESET = b"reset"
"""Instead of an answer: close the connection with a TCP reset."""
SILENCE = b"silence"
"""Instead of an answer: send nothing until the client disconnects."""
NOTHING = b""
"""Instead of an answer: close the connection."""

Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
"""Instead of an answer: a coroutine that controls the connection, which closes when it returns."""

LONGEST_S = 60
"""Nobody waits for longer. If somebody does, the test fails."""
LINGER_NOT = struct.pack("ii", 1, 0)
TLS_HANDSHAKE = b"\x16"


class Asked(NamedTuple):
    begun_s: float
    host: str
    path: str
    headers: dict[str, str]
    client: str
    """The address from which it was asked."""


@dataclass
class Loopback:
    """The server. `answers` maps a path, or host and path, to an answer or a list of answers.

    A list's answers are sent in turn, and then always the last one. Other paths are 404.
    """

    port: int = 0
    answers: dict[str, bytes | list[bytes] | Script] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    opened: int = 0
    """The number of connections so far."""
    all_closed: threading.Event = field(default_factory=threading.Event)
    """Set when the last open connection closes, cleared when one opens."""
    _open: int = 0

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def paths(self) -> list[str]:
        return [request.path for request in self.asked]

    def answer(self, host: str, path: str) -> bytes | Script:
        told = self.answers.get(host + path, self.answers.get(path, page(status="404 Not Found")))
        if isinstance(told, list):
            return told.pop(0) if len(told) > 1 else told[0]
        return told

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        self._open += 1
        self.all_closed.clear()
        client = writer.get_extra_info("peername")[0]
        try:
            while head := await _head(reader):
                begun_s = time.monotonic()
                line, *fields = head.decode("latin-1").strip().split("\r\n")
                path = line.split(" ")[1]
                headers = {
                    name.lower(): value
                    for name, _, value in (text.partition(": ") for text in fields)
                }
                answer = self.answer(headers["host"], path)
                if answer == SILENCE:
                    await reader.read()
                    return
                if answer == RESET:
                    reset(writer)
                    return
                # Before the answer is sent, so that a client that has it finds its request here.
                self.asked.append(Asked(begun_s, headers["host"], path, headers, client))
                if not isinstance(answer, bytes):
                    await answer(reader, writer)
                    return
                writer.write(answer)
                await writer.drain()
                if b"connection: close" in answer.lower() or not answer.startswith(b"HTTP/1.1"):
                    return
        except ConnectionError:
            return
        except asyncio.CancelledError:
            writer.transport.abort()  # unsent bytes would keep the connection open
            raise
        finally:
            writer.close()
            self._open -= 1
            if not self._open:
                self.all_closed.set()


def reset(writer: asyncio.StreamWriter) -> None:
    """Make the connection end with a TCP reset when it is closed."""
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOT)


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        first = await reader.readexactly(1)
        if first == TLS_HANDSHAKE:
            return b"GET /tls HTTP/1.1\r\nHost: nobody\r\n\r\n"  # which gets a 404
        return first + await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return b""


def page(
    body: bytes = b"",
    headers: Sequence[str] = ("Content-Type: text/html",),
    *,
    status: str = "200 OK",
    length: int | None = None,
) -> bytes:
    """Build an answer. `length` sets a wrong Content-Length."""
    lines = [
        f"HTTP/1.1 {status}",
        *headers,
        f"Content-Length: {len(body) if length is None else length}",
    ]
    return "\r\n".join([*lines, "\r\n"]).encode("latin-1") + body


class Held:
    """An answer that the server holds back until it is set `free`."""

    def __init__(self) -> None:
        self.asked, self.free = threading.Event(), threading.Event()

    async def __call__(self, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.asked.set()
        assert await asyncio.to_thread(self.free.wait, LONGEST_S)
        writer.write(page(b"<p>held"))


@contextmanager
def loopback(tls: ssl.SSLContext | None = None) -> Iterator[Loopback]:
    listener = socket.create_server(("127.0.0.1", 0))
    server = Loopback(listener.getsockname()[1])
    started, stop = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def main() -> None:
        listening = await asyncio.start_server(server.serve, sock=listener, ssl=tls)
        started.set()
        await stop.wait()
        # Python 3.11 leaks a connection that it accepted just before its server closed: the new
        # transport fails when it registers with the server. So we accept no more, and then close.
        for sock in listening.sockets:
            loop.remove_reader(sock)
        await settle()
        listening.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
            await asyncio.wait([task])
        await settle()

    async def settle() -> None:
        """Let the loop start serving accepted connections and finish closing closed ones."""
        for _ in range(5):
            await asyncio.sleep(0)

    thread = threading.Thread(target=loop.run_until_complete, args=(main(),))
    thread.start()
    started.wait()
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()
