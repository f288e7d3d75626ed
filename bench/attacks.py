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
import re
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, urlsplit

import psutil
import pyarrow.parquet as pq
import uvloop
from attackers import ATTACKS, PATIENCE_S, answered, attacking, request
from corpus import crawl, options, requested_documents
from rich.console import Console
from rich.table import Table
from serve import percent, queries
from stored_copies import with_copies

from gossamer.api import Crawl
from gossamer.config import EngineConfig
from gossamer.engine import Engine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.workspace import Workspace

SETTINGS = "index.shards = 2\nindex.memory_mb = 1000\n"
VISITOR = "127.0.0.9"
PER_S = 25
"""Searches that the visitor sends per second."""
SAMPLE_S = 0.05


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
