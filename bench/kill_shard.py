"""What do people see while a part of the index is gone? A node is killed under load, and returns.

    python bench/corpus.py CRAWL --documents 20_000 && gossamer index CRAWL
    python bench/kill_shard.py CRAWL

Two nodes each serve half of the index's shards, and a server sends its searches to both. While
clients search, one node is killed (SIGKILL) and later started again. For each of the three phases,
the table has the number of answers, those with another status than 200, those that report missing
shards, and the response times. The last line is the time from the node's return (when it reports
that it listens) to the last answer that lacks its shards.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import aiohttp
import msgspec
from rich.console import Console
from rich.table import Table
from serve import percent, queries

from gossamer.api import Crawl
from gossamer.fulltext.layout import shard_of

if TYPE_CHECKING:
    from collections.abc import Sequence

CLIENTS = 8
EACH_S = 5.0
"""Seconds of each phase: with both nodes, with one, and with both again."""
COMMAND = (sys.executable, "-c", "from gossamer.cli import main; main()")


class Seen(NamedTuple):
    """An answer: the time of its request, how long it took, its status, and missing nodes."""

    at_s: float
    took_s: float
    status: int
    missing: int


def started(*arguments: str) -> tuple[subprocess.Popen[str], str]:
    """Start a command of Gossamer and return it with the address that it prints."""
    process = subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def node(crawl: Path, shards: Sequence[int], port: str = "0") -> tuple[subprocess.Popen[str], str]:
    named = [word for shard in shards for word in ("--shard", str(shard))]
    return started("node", str(crawl), "--port", port, *named)


async def client(url: str, asked: Sequence[str], end_s: float, seen: list[Seen]) -> None:
    async with aiohttp.ClientSession() as session:
        at = 0
        while (now_s := time.monotonic()) < end_s:
            parameters = {"q": asked[at % len(asked)]}
            at += 1
            async with session.get(f"{url}api/search", params=parameters) as answer:
                body = msgspec.json.decode(await answer.read())
            took_s = time.monotonic() - now_s
            seen.append(Seen(now_s, took_s, answer.status, body.get("missing", 0)))


async def run(crawl: Path, url: str, nodes: list[subprocess.Popen[str]], second: str) -> None:
    asked = queries(Crawl.open(str(crawl)).work, 500)
    seen: list[Seen] = []
    begin_s = time.monotonic()
    end_s = begin_s + 3 * EACH_S
    clients = [
        asyncio.create_task(client(url, asked[number:], end_s, seen)) for number in range(CLIENTS)
    ]
    await asyncio.sleep(EACH_S)
    nodes[1].kill()
    nodes[1].wait()
    gone_s = time.monotonic()
    await asyncio.sleep(EACH_S)
    shards, _, port = second.partition(" ")
    back, _ = await asyncio.to_thread(node, crawl, list(map(int, shards.split(","))), port)
    nodes[1] = back
    back_s = time.monotonic()
    await asyncio.gather(*clients)
    table = Table("nodes", "answers", "not 200", "partial", "p50 ms", "p99 ms")
    times = {"both": (begin_s, gone_s), "one": (gone_s, back_s), "both again": (back_s, end_s)}
    for name, (since_s, until_s) in times.items():
        some = [each for each in seen if since_s <= each.at_s < until_s]
        took = [each.took_s for each in some]
        refused = sum(each.status != 200 for each in some)
        partial = sum(each.missing > 0 for each in some)
        shares = (f"{percent(took, share):.1f}" for share in (0.5, 0.99))
        table.add_row(name, str(len(some)), str(refused), str(partial), *shares)
    console = Console()
    console.print(table)
    last_s = max((each.at_s + each.took_s for each in seen if each.missing), default=back_s)
    console.print(f"complete answers again {max(last_s - back_s, 0):.2f} s after the node's return")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("crawl", type=Path)
    crawl = parser.parse_args().crawl
    paths = Crawl.open(str(crawl)).work.paths("index")
    shards = sorted({shard_of(Path(path).parent) or 0 for path in paths})
    halves = (shards[: len(shards) // 2], shards[len(shards) // 2 :])
    processes, addresses = zip(*(node(crawl, half) for half in halves), strict=True)
    nodes = list(processes)
    settings = crawl / "gossamer.toml"
    before = settings.read_text()
    listed = ", ".join(f'["{address}"]' for address in addresses)
    settings.write_text(f"serve.nodes = [{listed}]\n{before}")
    try:
        server, url = started("serve", str(crawl), "--port", "0")
        nodes.append(server)
        second = ",".join(map(str, halves[1])) + " " + addresses[1].rpartition(":")[2]
        asyncio.run(run(crawl, url, nodes, second))
    finally:
        settings.write_text(before)
        for process in nodes:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    main()
