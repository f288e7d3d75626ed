"""What does a visitor notice while others attack the search with expensive queries?

    python bench/attacks.py [--documents 30_000] [--seconds 8] [--attacks 4] [--doors 7]
        [--folder FOLDER]

The documents are those of corpus.py. Their crawl is created in FOLDER, unless it is there already,
and left there for the next run.

The doors for programs (door_requests.py) are attacked, too, on a crawl of a manual.

First, each of the expensive QUERIES of 1,000 characters is searched in this process, and its CPU
time is compared with the mean of the queries that serve.py draws, which visitors send.

Then, for each attack, a `gossamer serve` is started as users start it. A visitor sends 25 searches
per second, all different, alone and then during the attack. It sends one search at a time, and a
new connection after every tenth. Attackers come from four addresses, the visitor from a fifth.
Unlike real attackers, they share the machine with the server: they run in a process of the lowest
priority (nice 19), and send at most as many requests per second as the table states.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from functools import partial
from itertools import cycle, islice, pairwise
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, urlsplit

import pyarrow.parquet as pq
import uvloop
from corpus import CorpusOptions, crawl, requested_documents
from door_requests import DOORS, Ask, crawl_changing_manual, door_requests
from harness import report
from rich.console import Console
from rich.table import Table
from serve import ask, percent, queries, serving

from gossamer import dedup, index
from gossamer.api.crawl import Crawl
from gossamer.config import EngineConfig
from gossamer.engine.engine import Engine
from gossamer.search.messages import Question
from gossamer.search.searcher import Searcher

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from serve import Connection

    from gossamer.state.workspace import Workspace

SETTINGS = "index.shards = 2\nindex.memory_mb = 1000\n"
QUERY_CHARS = 1_000
ATTACKERS = ("127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5")
VISITOR = "127.0.0.9"
PER_S = 25
"""Searches that the visitor sends per second."""
PATIENCE_S = 10.0
WORKERS = 64
PIPELINED = 12_500


def expensive_queries(words: Sequence[str]) -> dict[str, str]:
    """Queries of QUERY_CHARS characters by what makes them expensive, of frequent words."""
    pairs = [*pairwise(words)]
    stop = ["the", "of", "to", "and", "a", "in", "is", "it", "for", "on"]
    cjk = "東京都港区情報技術研究所開発環境設定方法"
    several = {
        "two letters with points": ["a.b." * 240],
        "frequent words": words,
        "the same joined by points": [".".join(words)],
        "the same joined by hyphens": ["-".join(words)],
        "the same in quotes": [f'"{" ".join(words)}"'],
        "pairs joined by points": [f"{one}.{other}" for one, other in pairs],
        "pairs joined by hyphens": [f"{one}-{other}" for one, other in pairs],
        "names with underscores": [f"{one}_{other}" for one, other in pairs],
        "CamelCase": [one.capitalize() + other.capitalize() for one, other in pairs],
        "code": [f"{one}::{other}" for one, other in pairs],
        "options": [f".{word}" for word in words],
        "regular expressions": [r".*(a|b)+[x-z]{2,}\d"] * 100,
        "symbols": ["!=", "==", "->", "++", "::", "&&", "||", "<=", ">="] * 60,
        "stop words joined": [".".join(stop * 40)],
        "stop words in quotes": [f'"{" ".join(stop * 40)}"'],
        "letters": list("abcdefghijklmnopqrstuvwxyz") * 20,
        "letters joined": [".".join("abcdefghijklmnopqrstuvwxyz" * 20)],
        "Chinese": [cjk * 60],
        "Chinese with spaces": list(cjk * 60),
        "Chinese in quotes": [f'"{cjk * 60}'],
        "several scripts": ["PDFにエクスポートする" * 100],
        "excluded words": ["linux", *(f"-{word}-x" for word in words)],
        "excluded phrases": ["linux", *(f'-"{one} {other}"' for one, other in pairs)],
        "titles": ["linux", *(f"intitle:{word}" for word in words)],
        "sites": ["linux", *(f"site:site{number}.example" for number in range(99))],
        "misspelt words": [f"{word}qx" for word in words],
        "one word again and again": ["linux"] * 200,
        "parentheses": ["(the OR (of OR"] * 99,
    }
    alternatives = {
        "words": words,
        "phrases": [f'"{one} {other}"' for one, other in pairs],
        "phrases of stop words": [f'"{one} {other}"' for one, other in pairwise(stop * 9)],
        "pairs": [f"{one}.{other}" for one, other in pairs],
        "dates": [f"after:{year}" for year in range(1950, 2030)],
        "titles": [f"intitle:{word}" for word in words],
    }
    return {
        **{name: " ".join(parts)[:QUERY_CHARS] for name, parts in several.items()},
        **{
            f"{name} with OR": " OR ".join(parts)[:QUERY_CHARS].removesuffix(" O")
            for name, parts in alternatives.items()
        },
    }


class Attack(NamedTuple):
    """WORKERS connections that send `requests` at up to `per_s` per second together.

    Each sends `ahead` requests at once.
    """

    per_s: int
    requests: Callable[[Sequence[str], Sequence[str]], Sequence[Ask]]
    """Given frequent words, and URLs."""
    ahead: int = 1
    workers: int = WORKERS


def _distinct(words: Sequence[str], _urls: Sequence[str]) -> list[Ask]:
    draw = random.Random(1)  # noqa: S311  # reproducible
    return [Ask(f"/search?q={quote(' '.join(draw.sample(words, 2)))}") for _ in range(10_000)]


def _expensive(words: Sequence[str], _urls: Sequence[str]) -> list[Ask]:
    """Each time another query: what is different at its end is cut off."""
    made = [*expensive_queries(words).values()]
    return [Ask(f"/search?q={quote(f'{number} {each}')}") for number in range(50) for each in made]


def _same(words: Sequence[str], _urls: Sequence[str]) -> list[Ask]:
    return [Ask(f"/search?q={words[0]}")]


ATTACKS = {
    "different searches": Attack(200, _distinct),
    "expensive searches": Attack(50, _expensive),
    "one search, pipelined": Attack(4 * PIPELINED, _same, PIPELINED, 4),
    "one search, pipelined on many connections": Attack(4 * PIPELINED, _same, 200, 250),
}
ON_DOORS = {name: Attack(per_s, partial(door_requests, name)) for name, (per_s, _) in DOORS.items()}


async def attack(url: str, chosen: Attack, seconds: float, asks: Sequence[Ask]) -> None:
    parts, ends_s = urlsplit(url), time.monotonic() + seconds
    requests = cycle(asks)

    async def send(number: int) -> None:
        source = (ATTACKERS[number % len(ATTACKERS)], 0)
        reader, writer = await asyncio.open_connection(
            parts.hostname, parts.port, local_addr=source
        )
        discarding = asyncio.create_task(_discard(reader))
        try:
            while time.monotonic() < ends_s and not discarding.done():
                writer.write(next(requests).encode(str(parts.hostname)) * chosen.ahead)
                async with asyncio.timeout(PATIENCE_S):
                    await writer.drain()
                await asyncio.sleep(chosen.workers * chosen.ahead / chosen.per_s)
        finally:
            discarding.cancel()
            writer.close()

    async def worker(number: int) -> None:
        while time.monotonic() < ends_s:
            with suppress(OSError):
                await send(number)
            await asyncio.sleep(0.1)

    await asyncio.gather(*map(worker, range(chosen.workers)))


async def _discard(reader: asyncio.StreamReader) -> None:
    while await reader.read(1 << 18):
        pass


async def visit(url: str, asked: Sequence[str]) -> tuple[list[float], Counter[str]]:
    """The seconds of the visitor's searches, and the number of answers by outcome."""
    parts = urlsplit(url)
    took: list[float] = []
    outcomes: Counter[str] = Counter()
    connection: Connection | None = None
    started_s = time.monotonic()
    ends_s = started_s + len(asked) / PER_S
    for number, query in enumerate(asked):
        if time.monotonic() >= ends_s:  # the attack is over
            break
        await asyncio.sleep(max(started_s + number / PER_S - time.monotonic(), 0))
        begun_s = time.perf_counter()
        try:
            async with asyncio.timeout(PATIENCE_S):
                if connection is None or number % 10 == 0:
                    if connection is not None:
                        connection[1].close()
                    connection = await asyncio.open_connection(
                        parts.hostname, parts.port, local_addr=(VISITOR, 0)
                    )
                outcomes[await ask(connection, str(parts.hostname), query)] += 1
        except (OSError, asyncio.IncompleteReadError) as error:
            outcomes[type(error).__name__] += 1
            connection = None
        took.append(time.perf_counter() - begun_s)
    if connection is not None:
        connection[1].close()
    return took, outcomes


def measure_attack(
    folder: Path, name: str, seconds: float, drawn: Sequence[str], per_s: int
) -> list[str]:
    """Run an attack and return its row of the table; the last cell is the ratio."""
    count = int(seconds * PER_S)
    server, url = serving(folder)
    try:
        uvloop.run(visit(url, drawn[2 * count :]))  # warm up files and processes
        alone, _ = uvloop.run(visit(url, drawn[:count]))
        command = [sys.executable, __file__, "--folder", str(folder), "--attack", name]
        attackers = subprocess.Popen(
            [*command, "--url", url, "--seconds", str(seconds + 1)], stdout=subprocess.PIPE
        )
        assert attackers.stdout is not None
        attackers.stdout.readline()
        time.sleep(1)  # until the attack is under way
        beside, outcomes = uvloop.run(visit(url, drawn[count : 2 * count]))
        attackers.wait()
    finally:
        server.terminate()
        server.wait()
    answers = ", ".join(f"{count} {what}" for what, count in outcomes.items())
    cells = [f"{percent(alone, share):.1f} → {percent(beside, share):.1f}" for share in (0.5, 0.99)]
    ratio = percent(beside, 0.99) / percent(alone, 0.99)
    return [name, f"{per_s}/s", answers, *cells, f"{ratio:.1f}"]


def measure_costs(work: Workspace, words: Sequence[str], drawn: Sequence[str]) -> dict[str, float]:
    """The CPU time of each expensive query, over the mean of the drawn ones."""
    searcher = Searcher.open(work)

    def cpu_s(query: str) -> float:
        began_s = time.process_time()
        searcher.answer(Question(query, facets=True))
        return time.process_time() - began_s

    for query in drawn:
        cpu_s(query)
    usual_s = mean(map(cpu_s, drawn))
    return {
        name: min(cpu_s(query) for _ in range(3)) / usual_s
        for name, query in expensive_queries(words).items()
    }


def largest_file(work: Workspace) -> str:
    """The file with most documents: a crawl has a file per round and task."""
    return max(work.paths("documents"), key=lambda path: pq.read_metadata(path).num_rows)


def frequent_words(work: Workspace) -> list[str]:
    """The most frequent words of some documents, the same on each run."""
    rows = pq.ParquetFile(largest_file(work)).read_row_group(0, ["main_text"])
    found: Counter[str] = Counter()
    for text in rows["main_text"].to_pylist()[:5_000]:
        found.update(set(re.findall(r"[a-z]{2,}", (text or "").lower())))
    return [word for word, _ in found.most_common(400)]


def urls_of(work: Workspace) -> list[str]:
    """Some pages of the crawl, the same on each run."""
    rows = pq.ParquetFile(largest_file(work)).read_row_group(0, ["url", "outcome"])
    return sorted({row["url"] for row in rows.to_pylist() if row["outcome"] == "parsed"})[:5_000]


def query_costs(folder: Path, seconds: float) -> dict[str, float]:
    work = Crawl.open(str(folder)).work
    drawn = queries(largest_file(work), int(seconds * PER_S) * 2 + 50)
    return measure_costs(work, frequent_words(work), drawn)


def attacked(folder: Path, seconds: float, attacks: dict[str, Attack]) -> list[list[str]]:
    work = Crawl.open(str(folder)).work
    drawn = queries(largest_file(work), int(seconds * PER_S) * 2 + 50)
    return [
        measure_attack(folder, name, seconds, drawn, each.per_s) for name, each in attacks.items()
    ]


def first(attacks: dict[str, Attack], count: int) -> dict[str, Attack]:
    return dict(islice(attacks.items(), count))


def measure(searched: Path, manual: Path, options: argparse.Namespace) -> None:
    console = Console(width=None if sys.stdout.isatty() else 150)
    costs = query_costs(searched, options.seconds) if options.attacks else {}
    table = Table("1,000 characters of", "× the CPU time of a usual query")
    for name in sorted(costs, key=costs.__getitem__, reverse=True):
        table.add_row(name, f"{costs[name]:.1f}")
    console.print(table)
    table = Table("attack", "at most", "the visitor's answers", "p50 ms", "p99 ms", "p99 ratio")
    rows: list[list[str]] = []
    for folder, attacks in (
        (searched, first(ATTACKS, options.attacks)),
        (manual, first(ON_DOORS, options.doors)),
    ):
        if attacks:
            rows += attacked(folder, options.seconds, attacks)
    for row in rows:
        table.add_row(*row)
    console.print(table)
    worst = max(float(row[-1]) for row in rows)
    most = max(costs.values(), default=0.0)
    report(f"p99 {worst:.1f} × beside attacks; a query costs {most:.1f} × at most")


def main() -> None:
    parser = CorpusOptions(
        __doc__, documents=(30_000, 200), seconds=(8.0, 0.2), attacks=(4, 1), doors=(7, 1)
    )
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--attack", help="for the process of the attackers")
    parser.add_argument("--url", help="for the process of the attackers")
    options = parser.read()
    if options.attack:
        os.nice(19)
        work = Crawl.open(str(options.folder)).work
        chosen = (ATTACKS | ON_DOORS)[options.attack]
        asks = chosen.requests(frequent_words(work), urls_of(work))
        print(json.dumps("ready"), flush=True)
        with suppress(TimeoutError):
            uvloop.run(attack(options.url, chosen, options.seconds, asks))
        return
    with tempfile.TemporaryDirectory() as scratch:
        searched, manual = (Path(options.folder or scratch, name) for name in ("crawl", "manual"))
        if options.attacks and not searched.exists():
            with Engine(EngineConfig()) as engine:
                work = crawl(searched, requested_documents(options), engine, SETTINGS).work
                dedup.run(work)
                index.run(work)
        if options.doors and not manual.exists():
            crawl_changing_manual(manual, options)
        measure(searched, manual, options)


if __name__ == "__main__":
    main()
