"""The attackers of attacks.py: what they send, from which addresses, and how often."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import socket
import time
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, urlsplit

import uvloop
from stored_copies import COPIES, HOST, PICTURES

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

ATTACKERS = ("127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5")
PATIENCE_S = 10.0
"""How long visitors and attackers wait for an answer before it counts as an error."""
BATCH = 2_000
"""Requests that are sent at once by pipelining."""
LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


class Attack(NamedTuple):
    """An attack over `workers` connections, which send `per_s` requests per second together.

    `paths` draws the path of a request.
    """

    about: str
    run: Callable[[Target, Attack], Awaitable[None]]
    workers: int = 64
    per_s: float = 200
    paths: Callable[[Target, random.Random], str] = lambda *_: "/"


class Target:
    """The server under attack, which lasts `seconds`; `seen` counts answers by status."""

    def __init__(self, url: str, seconds: float, words: Sequence[str]) -> None:
        parts = urlsplit(url)
        self.host, self.port = parts.hostname or "", parts.port or 0
        self.ends_s = time.monotonic() + seconds
        self.words = words
        self.seen: Counter[str] = Counter()

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self.ends_s

    async def connected(
        self, number: int, room: int | None = None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect from one of the attackers' addresses, with a receive buffer of `room` bytes."""
        client = socket.socket()
        if room:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        client.setblocking(False)
        client.bind((ATTACKERS[number % len(ATTACKERS)], 0))
        try:
            loop = asyncio.get_running_loop()
            async with asyncio.timeout(PATIENCE_S):
                await loop.sock_connect(client, (self.host, self.port))
        except BaseException:
            client.close()
            raise
        return await asyncio.open_connection(sock=client)


def request(path: str, host: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()


async def answered(reader: asyncio.StreamReader) -> tuple[str, bytes]:
    """Read an answer and return its status and body."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = LENGTH.search(head)
    return head[9:12].decode(), await reader.readexactly(int(length[1]) if length else 0)


async def flood(target: Target, attack: Attack) -> None:
    """Request the paths that `paths` draws; each worker waits for its answers."""

    async def worker(number: int) -> None:
        draw = random.Random(number)  # noqa: S311  # reproducible
        pause_s = attack.workers / attack.per_s
        await asyncio.sleep(draw.random() * pause_s)
        opened = None
        while not target.is_over:
            next_s = time.monotonic() + pause_s
            try:
                async with asyncio.timeout(PATIENCE_S):
                    opened = opened or await target.connected(number)
                    opened[1].write(request(attack.paths(target, draw), target.host))
                    status, _ = await answered(opened[0])
                    target.seen[status] += 1
            except (OSError, asyncio.IncompleteReadError):
                target.seen["cut off"] += 1
                opened = None if opened is None else opened[1].close()
            await asyncio.sleep(max(next_s - time.monotonic(), 0.01))

    await together(worker, attack.workers)


async def together(worker: Callable[[int], Awaitable[None]], workers: int) -> None:
    await asyncio.gather(*(worker(number) for number in range(workers)))


async def reconnecting(
    target: Target, attack: Attack, attempt: Callable[[int], Awaitable[None]]
) -> None:
    """Run `attempt` again and again in each worker, whatever error it ends with."""

    async def worker(number: int) -> None:
        while not target.is_over:
            with suppress(OSError, asyncio.IncompleteReadError):
                await attempt(number)
            await asyncio.sleep(0.1)

    await together(worker, attack.workers)


async def held(target: Target, writer: asyncio.StreamWriter, sent: bytes = b"") -> None:
    """Keep a connection open as long as possible, and send these bytes every half second."""
    target.seen["connections"] += 1
    while not target.is_over and not writer.transport.is_closing():
        writer.write(sent)
        await asyncio.sleep(0.5)
    writer.transport.abort()


async def pipelined(target: Target, attack: Attack) -> None:
    """Send small requests endlessly on each connection, and discard the answers."""
    batch = request("/health", target.host) * BATCH

    async def attempt(number: int) -> None:
        reader, writer = await target.connected(number)
        reading = asyncio.create_task(discarding(reader))
        while not target.is_over and not reading.done():
            writer.write(batch)
            async with asyncio.timeout(PATIENCE_S):
                await writer.drain()
            target.seen["requests sent"] += BATCH
            await asyncio.sleep(attack.workers * BATCH / attack.per_s)
        reading.cancel()
        writer.close()

    await reconnecting(target, attack, attempt)


async def discarding(reader: asyncio.StreamReader) -> None:
    while await reader.read(1 << 18):
        pass


async def unread(target: Target, attack: Attack) -> None:
    """Request 20 large answers at once on each connection, and read none of them."""
    draw = random.Random(1)  # noqa: S311  # reproducible

    async def attempt(number: int) -> None:
        _, writer = await target.connected(number, room=4_096)
        writer.write(request(attack.paths(target, draw), target.host) * 20)
        await held(target, writer)

    await reconnecting(target, attack, attempt)


async def slow(target: Target, attack: Attack) -> None:
    """Send one byte every half second: of the head on half of the connections, else of the body."""
    head = f"POST / HTTP/1.1\r\nHost: {target.host}\r\nContent-Length: 100000\r\n\r\n".encode()

    async def attempt(number: int) -> None:
        _, writer = await target.connected(number)
        writer.write(head if number % 2 else b"GET / HTTP/1.1\r\nX-")
        await held(target, writer, b"x")

    await reconnecting(target, attack, attempt)


async def many(target: Target, attack: Attack) -> None:
    """Keep connections open without a request, and reopen those that the server closes."""

    async def worker(number: int) -> None:
        await asyncio.sleep(number / attack.per_s)
        while not target.is_over:
            try:
                reader, writer = await target.connected(number)
                target.seen["connections"] += 1
                async with asyncio.timeout_at(
                    asyncio.get_running_loop().time() + target.ends_s - time.monotonic()
                ):
                    await reader.read(1)
                writer.transport.abort()
                target.seen["cut off"] += 1
            except OSError:
                target.seen["cut off"] += 1
            await asyncio.sleep(1 + attack.workers / attack.per_s)

    await together(worker, attack.workers)


def _long(target: Target, draw: random.Random, words: int = 64) -> str:
    return quote(" ".join(draw.sample(target.words, words)))


def _distinct(target: Target, draw: random.Random) -> str:
    return quote(" ".join(draw.sample(target.words, 2)))


def _copied(draw: random.Random) -> str:
    return quote(f"{HOST}{draw.randrange(COPIES)}.html")


ATTACKS = {
    "explain": Attack(
        "100 results of 16 words, explained", flood, 64, 50,
        lambda at, draw: f"/api/search?q={_long(at, draw, 16)}&explain=1&limit=100",
    ),
    "long queries": Attack(
        "64 words with facets, 100 results", flood, 64, 50,
        lambda at, draw: f"/api/search?q={_long(at, draw)}&facets=1&limit=100",
    ),
    "deep pages": Attack(
        "results 900 to 1,000 of one word", flood, 64, 100,
        lambda at, draw: f"/api/search?q={draw.choice(at.words)}&offset=900&limit=100",
    ),
    "distinct queries": Attack(
        "two words, different each time", flood, 64, 200,
        lambda at, draw: f"/search?q={_distinct(at, draw)}",
    ),
    "completions": Attack(
        "of the first two letters of words", flood, 64, 200,
        lambda at, draw: f"/api/complete?q={quote(draw.choice(at.words)[:2])}",
    ),
    "related": Attack(
        "pages similar to a page", flood, 64, 50,
        lambda _, draw: f"/search?q=related:{_copied(draw)}",
    ),
    "pipelining": Attack("requests that do not wait for answers", pipelined, 4, 40_000),
    "unread answers": Attack(
        "copies of 12 MB that are never read", unread, 300, 0,
        lambda *_: f"/copy/raw?url={quote(HOST)}large.html",
    ),
    "unread results": Attack(
        "results of 100 hits that are never read", unread, 300, 0,
        lambda at, draw: f"/api/search?q={draw.choice(at.words)}&limit=100",
    ),
    "copies": Attack(
        "copies, one in ten of 12 MB", flood, 64, 100,
        lambda _, draw: f"/copy/raw?url={_copied(draw)}" if draw.random() < 0.9
        else f"/copy/raw?url={quote(HOST)}large.html",
    ),
    "page views": Attack(
        "views of single pages", flood, 64, 200,
        lambda _, draw: f"/page?url={_copied(draw)}",
    ),
    "pictures": Attack(
        "of 1.9 MB", flood, 64, 100,
        lambda _, draw: f"/image?url={quote(HOST)}{draw.randrange(PICTURES)}.png",
    ),
    "status": Attack("the dashboard", flood, 64, 200, lambda *_: "/status"),
    "metrics": Attack("", flood, 64, 200, lambda *_: "/metrics"),
    "slow requests": Attack("a byte every half second", slow, 500),
    "connections": Attack("3,000 that stay open", many, 3_000, 1_500),
}  # fmt: skip


def attacking(name: str, url: str, seconds: float, words: Sequence[str]) -> None:
    """Attack the server in this process, and print the answer counts as JSON."""
    os.nice(19)
    target = Target(url, seconds, words)
    print("ready", flush=True)

    async def run() -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds + PATIENCE_S):
                await ATTACKS[name].run(target, ATTACKS[name])

    uvloop.run(run())
    print(json.dumps(target.seen))
