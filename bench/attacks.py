"""What does a visitor notice while others attack the server, and how much memory does it take?

    python bench/attacks.py CRAWL

CRAWL is created if it does not exist: 30,000 documents by `bench/corpus.py`, stored copies of
2,000 pages and one page of 12 MB, and images. For each attack, a `gossamer serve` is started as
users start it. A visitor searches alone, then while the attack runs, with 25 searches per second,
all different, and a new connection after every tenth. It sends one search at a time, so it falls
behind when they are slow; it stops with the attack, so that no search counts that was sent later.

Attackers come from four addresses (127.0.0.2 to 127.0.0.5), the visitor from a fifth. Unlike real
attackers, they share the machine with the server. So they run in one process of the lowest
priority (nice 19), speak no more HTTP than necessary, and send at most as many requests per second
as the table states: what the visitor sees then comes from the server, not from the scheduler.
Memory is the highest resident set (RSS) of the server and its search processes together, before
and during the attack, including mapped index files.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import random
import re
import socket
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, urlsplit

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import uvloop
from corpus import crawl, options, requested_documents
from rich.console import Console
from rich.table import Table
from serve import percent, queries

from gossamer.api import Crawl
from gossamer.config import EngineConfig
from gossamer.engine import Engine
from gossamer.tables import DOCUMENTS, PAGES, RESPONSES
from gossamer.task_output import ParquetWriter, layers_of
from gossamer.warc import Capture, WarcWriter, payload_digest, request_head, response_head

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from gossamer.workspace import Workspace

SETTINGS = "index.shards = 2\nindex.memory_mb = 1000\n"
COPIES = 2_000
LARGE_BYTES = 12_000_000
PICTURES = 20
PICTURE_BYTES = 1_900_000
DATE_MS = 1_800_000_000_000
HOST = "https://copies.example/"
VISITOR = "127.0.0.9"
ATTACKERS = ("127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5")
PER_S = 25
"""Searches that the visitor sends per second."""
PATIENCE_S = 10.0
"""How long visitors and attackers wait for an answer before it counts as an error."""
SAMPLE_S = 0.05
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


async def pipelined(target: Target, attack: Attack) -> None:
    """Send small requests endlessly on each connection, and discard the answers."""
    batch = request("/health", target.host) * 2_000
    pause_s = attack.workers * 2_000 / attack.per_s

    async def worker(number: int) -> None:
        while not target.is_over:
            with suppress(OSError, asyncio.IncompleteReadError):
                reader, writer = await target.connected(number)
                reading = asyncio.create_task(discarding(reader))
                while not target.is_over and not reading.done():
                    writer.write(batch)
                    async with asyncio.timeout_at(asyncio.get_running_loop().time() + PATIENCE_S):
                        await writer.drain()
                    target.seen["requests sent"] += 2_000
                    await asyncio.sleep(pause_s)
                reading.cancel()
                writer.close()
            await asyncio.sleep(0.1)

    await together(worker, attack.workers)


async def discarding(reader: asyncio.StreamReader) -> None:
    while await reader.read(1 << 18):
        pass


async def unread(target: Target, attack: Attack) -> None:
    """Request 20 large answers at once on each connection, and read none of them."""

    async def worker(number: int) -> None:
        draw = random.Random(number)  # noqa: S311  # reproducible
        while not target.is_over:
            with suppress(OSError):
                _, writer = await target.connected(number, room=4_096)
                writer.write(request(attack.paths(target, draw), target.host) * 20)
                target.seen["connections"] += 1
                while not target.is_over and not writer.transport.is_closing():  # noqa: ASYNC110
                    await asyncio.sleep(0.5)
                writer.transport.abort()
            await asyncio.sleep(0.1)

    await together(worker, attack.workers)


async def slow(target: Target, attack: Attack) -> None:
    """Send one byte every half second: of the head on half of the connections, else of the body."""

    async def worker(number: int) -> None:
        head = f"POST / HTTP/1.1\r\nHost: {target.host}\r\nContent-Length: 100000\r\n\r\n".encode()
        while not target.is_over:
            with suppress(OSError):
                _, writer = await target.connected(number)
                target.seen["connections"] += 1
                writer.write(head if number % 2 else b"GET / HTTP/1.1\r\nX-")
                while not target.is_over and not writer.transport.is_closing():
                    writer.write(b"x")
                    await asyncio.sleep(0.5)
                writer.transport.abort()
            await asyncio.sleep(0.1)

    await together(worker, attack.workers)


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


class Visit(NamedTuple):
    """The seconds of a visitor's searches, the errors, and the highest memory in bytes."""

    took: list[float]
    errors: int
    memory: int


async def visit(url: str, asked: Sequence[str], server: int) -> Visit:
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or 0
    took, errors, highest = [], 0, 0
    opened = None
    started_s = time.monotonic()

    async def sample() -> None:
        nonlocal highest
        while True:
            highest = max(highest, memory(server))
            await asyncio.sleep(SAMPLE_S)

    sampling = asyncio.create_task(sample())
    ends_s = started_s + len(asked) / PER_S
    for number, query in enumerate(asked):
        if time.monotonic() >= ends_s:  # the attack is over: searches that are overdue do not count
            break
        await asyncio.sleep(max(started_s + number / PER_S - time.monotonic(), 0))
        begun_s = time.perf_counter()
        try:
            async with asyncio.timeout(PATIENCE_S):
                if opened is None or number % 10 == 0:
                    if opened is not None:
                        opened[1].close()
                    opened = await asyncio.open_connection(host, port, local_addr=(VISITOR, 0))
                opened[1].write(request(f"/api/search?q={quote(query)}", host))
                status, _ = await answered(opened[0])
                errors += status != "200"
        except (OSError, asyncio.IncompleteReadError):
            errors += 1
            opened = None if opened is None else opened[1].close()
        took.append(time.perf_counter() - begun_s)
    sampling.cancel()
    if opened is not None:
        opened[1].close()
    return Visit(took, errors, highest)


def memory(server: int) -> int:
    """Return the resident set of a process and its descendants, in bytes."""
    with suppress(psutil.Error):
        first = psutil.Process(server)
        return sum(each.memory_info().rss for each in (first, *first.children(recursive=True)))
    return 0


def started(folder: Path) -> tuple[subprocess.Popen[str], str]:
    """Start the server as users do, and return it with its URL."""
    command = [sys.executable, "-c", "from gossamer.cli import main; main()", "serve"]
    server = subprocess.Popen(
        [*command, str(folder), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert server.stdout is not None
    return server, server.stdout.readline().strip()


def measured(folder: Path, name: str, seconds: float, asked: Sequence[str]) -> list[str]:
    """Run an attack and return its row of the table."""
    count = int(seconds * PER_S)
    server, url = started(folder)
    try:
        uvloop.run(visit(url, asked[2 * count : 2 * count + 50], server.pid))  # warm the caches
        alone = uvloop.run(visit(url, asked[:count], server.pid))
        command = [sys.executable, __file__, str(folder), "--attack", name, "--url", url]
        attackers = subprocess.Popen(
            [*command, "--seconds", str(seconds + 1)], stdout=subprocess.PIPE, text=True
        )
        assert attackers.stdout is not None
        attackers.stdout.readline()
        time.sleep(1)  # until the attack is under way
        beside = uvloop.run(visit(url, asked[count : 2 * count], server.pid))
        printed, _ = attackers.communicate()
    finally:
        server.terminate()
        try:
            server.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            server.kill()
    before, after = (percent(each.took, 0.99) for each in (alone, beside))
    middle = [percent(each.took, 0.5) for each in (alone, beside)]
    seen = json.loads(printed or "{}")
    attack = ATTACKS[name]
    rate = f"{attack.per_s:.0f}/s" if attack.per_s else ""
    return [
        name,
        rate,
        ", ".join(f"{count} {what}" for what, count in sorted(seen.items())),
        f"{middle[0]:.1f} → {middle[1]:.1f}",
        f"{before:.1f} → {after:.1f}",
        f"{after / before:.1f}",
        f"{beside.errors} of {len(beside.took)}",
        f"{alone.memory >> 20} → {max(alone.memory, beside.memory) >> 20}",
        f"{max(beside.memory, alone.memory) / alone.memory:.1f}",
    ]


def with_copies(made: Crawl) -> None:
    """Add stored copies of pages and images, as fetch and parse write them."""
    draw = random.Random(3)  # noqa: S311  # reproducible
    warc = WarcWriter(made.path, made.work.store.attempt("warc"), {})
    bodies = list(_bodies(draw))
    responses, documents, pages = [], [], []
    for url, body, media in bodies:
        headers = [(b"Content-Type", media.encode())]
        capture = Capture(
            url, DATE_MS, body, payload_digest(body),
            response_head(200, "OK", headers, len(body), decoded=False),
            request_head("/", [("Host", "copies.example")]),
            200, media, "127.0.0.1", None, {},
        )  # fmt: skip
        key = {"url": url, "host": "copies.example", "fetched_ms": DATE_MS, "round": 1}
        responses.append(
            {**key, "outcome": "ok", "http_status": 200, "body_bytes": len(body),
             "truncated": False, "warc_offset": warc.write(capture), "warc_file": warc.path}
        )  # fmt: skip
        is_page = media.startswith("text/")
        documents.append(
            {**key, "outcome": "parsed" if is_page else "stored", "content_type": media,
             "charset": "utf-8" if is_page else None, "title": "Copy of Linux", "language": "en",
             "text": "linux system\n" * 20, "main_text": "linux system " * 20, "boilerplate": "",
             "noindex": not is_page, "noarchive": False, "nosnippet": False, "nofollow": False}
        )  # fmt: skip
        pages.append(
            {"url": url, "host": "copies.example", "status": "fetched", "source": "seed",
             "depth": 0, "fetches": 1, "failures": 0}
        )  # fmt: skip
    written = warc.close()
    for form, rows in ((RESPONSES, responses), (DOCUMENTS, documents), (PAGES, pages)):
        writer = ParquetWriter(made.path, form.name, made.work.store.attempt(form.name))
        blank = dict.fromkeys(form.column_names)
        writer.write(pa.Table.from_pylist([blank | row for row in rows], form.schema))
        written += writer.close()
    with made.work.step("test", 1) as draft:
        draft.append = layers_of(written, 1)


def _bodies(draw: random.Random) -> Iterator[tuple[str, bytes, str]]:
    line = "<p>A paragraph of <a href='/x'>some</a> words, number {}.</p>\n"
    for number in range(COPIES):
        body = "".join(line.format(draw.random()) for _ in range(200))
        yield f"{HOST}{number}.html", body.encode(), "text/html"
    large = "".join(line.format(number) for number in range(LARGE_BYTES // len(line)))
    yield f"{HOST}large.html", large.encode(), "text/html"
    for number in range(PICTURES):
        body = b"\x89PNG\r\n\x1a\n" + draw.randbytes(PICTURE_BYTES)
        yield f"{HOST}{number}.png", body, "image/png"


def make(folder: Path, asked: argparse.Namespace) -> None:
    with Engine(EngineConfig()) as engine:
        with_copies(crawl(folder, requested_documents(asked), engine, SETTINGS))
    command = [sys.executable, "-c", "from gossamer.cli import main; main()", "index"]
    subprocess.run([*command, str(folder)], check=True)


def words_of(work: Workspace) -> list[str]:
    """Return words of the documents, the same on each run, for the attackers' queries."""
    rows = pq.ParquetFile(work.paths("documents")[0]).read_row_group(0, ["main_text"])
    texts = " ".join(text[:500] for text in rows["main_text"].to_pylist()[:2_000])
    return sorted(set(re.findall(r"[a-z]{4,}", texts)))


def main() -> None:
    parser = options(30_000)
    parser.description = __doc__
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("crawl", type=Path, help="folder of the crawl, created if it is missing")
    parser.add_argument("--seconds", type=float, default=8, help="with and without each attack")
    parser.add_argument(
        "--only", action="append", choices=[*ATTACKS], help="attacks to run, by default all"
    )
    parser.add_argument("--attack", help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    gc.disable()  # neither the visitor nor the attackers may take time of their own
    if asked.attack:
        work = Crawl.open(str(asked.crawl)).work
        attacking(asked.attack, asked.url, asked.seconds, words_of(work))
        return
    if not asked.crawl.exists():
        make(asked.crawl, asked)
    drawn = queries(Crawl.open(str(asked.crawl)).work, int(asked.seconds * PER_S) * 2 + 50)
    table = Table(
        "attack", "at most", "attackers saw", "p50 ms", "p99 ms", "ratio", "errors", "MB", "ratio"
    )
    for name in asked.only or ATTACKS:
        row = measured(asked.crawl, name, asked.seconds, drawn)
        print(" | ".join(row), flush=True)
        table.add_row(*row)
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
