"""How fast is search for one client, for a hundred, and for a thousand?

    python bench/serve.py [--documents 1_000_000] [--folder FOLDER]

The documents are those of corpus.py. Their crawl is created in FOLDER, unless it is there already,
and left there for the next run. Queries are drawn from them: 1 to 5 words of a line, neighbours or
not; phrases, words with a filter, titles, words with a missing letter. The server is `gossamer
serve` with its cache disabled; it, its search processes and this process share the machine.
Requests go to /api/v1/search, which returns ten snippets. Each client has an address of its own, as
visitors have.

  alone     one client, one query after the other
  together  100 clients, 10 queries each
  at once   1,000 clients, one connection and one query each

Then, in this process and without HTTP: Gossamer's searcher beside bare tantivy on the same index,
used as in its documentation: its query parser, every word in title or text, the ten best hits and
their stored documents, without snippets, popularity, pairs, hosts, or languages.
"""

from __future__ import annotations

import asyncio
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote, urlsplit

import pyarrow.parquet as pq
import uvloop
from corpus import CorpusOptions, crawl, requested_documents
from harness import report
from rich.console import Console
from rich.table import Table

from gossamer import dedup, index
from gossamer.api.crawl import Crawl
from gossamer.config import EngineConfig
from gossamer.engine.engine import Engine
from gossamer.index.format import schema
from gossamer.index.format.analysis import analyzer_for
from gossamer.index.format.stored_document import read_stored_document
from gossamer.search.searcher import Searcher

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    import tantivy

    from gossamer.state.workspace import Workspace

WORDS = (1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 5)
SETTINGS = """\
index.shards = 2
index.memory_mb = 1000
serve.cache_mb = 0
"""
"""`memory_mb` gives few segments, which are faster to search; `cache_mb` disables the cache, so
that every search is computed."""
REQUEST = "GET /api/v1/search?q={} HTTP/1.1\r\nHost: {}\r\n\r\n"
LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
Connection: TypeAlias = "tuple[asyncio.StreamReader, asyncio.StreamWriter]"


def queries(path: str, n: int) -> list[str]:
    """Draw `n` queries from a file of documents, the same on each run."""
    rows = pq.ParquetFile(path).read_row_group(0, ["title", "main_text"]).drop_null()
    titles, texts = (rows[name].to_pylist() for name in ("title", "main_text"))
    draw = random.Random(5)  # noqa: S311  # reproducible
    return [_query(draw, titles, texts) for _ in range(n)]


def _query(draw: random.Random, titles: Sequence[str], texts: Sequence[str]) -> str:
    number = draw.randrange(len(texts))
    line = draw.choice(texts[number].split("\n"))
    words = re.findall(r"[^\W\d_]{3,}", line) or ["linux"]
    count = min(draw.choice(WORDS), len(words))
    at = draw.randrange(len(words) - count + 1)
    chosen = words[at : at + count] if draw.random() < 0.5 else draw.sample(words, count)
    kind = draw.random()
    if kind < 0.75:
        return " ".join(chosen)
    if kind < 0.85:
        return f'"{" ".join(words[at : at + 2])}" {chosen[0]}'
    if kind < 0.93:
        return f"{' '.join(chosen)} type:pdf"
    if kind < 0.97:
        return titles[number].split(" - ")[0]
    return " ".join([chosen[0][:2] + chosen[0][3:], *chosen[1:]])


async def ask(connection: Connection, host: str, query: str) -> str:
    """Return the status of the answer to a query.

    It parses only the necessary parts of HTTP, because an HTTP library would take more of the
    cores that it shares with the server.
    """
    reader, writer = connection
    writer.write(REQUEST.format(quote(query), host).encode())
    head = await reader.readuntil(b"\r\n\r\n")
    length = LENGTH.search(head)
    assert length is not None
    await reader.readexactly(int(length[1]))
    return head[9:12].decode()


async def load(url: str, clients: int, each: int, asked: Sequence[str]) -> tuple[list[float], Any]:
    """Return the seconds of each request, and the number of answers by outcome."""
    took: list[float] = []
    outcomes: Counter[str] = Counter()
    parts = urlsplit(url)
    host, port = parts.hostname, parts.port

    async def client(number: int) -> None:
        connection: Connection | None = None
        for at in range(each):
            query = asked[(number * each + at) % len(asked)]
            started_s = time.perf_counter()
            try:
                connection = connection or await asyncio.open_connection(
                    host, port, local_addr=(client_address(number), 0)
                )
                outcomes[await ask(connection, str(host), query)] += 1
            except (OSError, asyncio.IncompleteReadError) as error:
                outcomes[type(error).__name__] += 1
                connection = None
            took.append(time.perf_counter() - started_s)
        if connection is not None:
            connection[1].close()

    await asyncio.gather(*(client(number) for number in range(clients)))
    return took, outcomes


def client_address(client: int) -> str:
    """An address of loopback for each client: the server divides its turns between addresses."""
    return f"127.0.{1 + client // 250}.{1 + client % 250}"


def serving(folder: Path) -> tuple[subprocess.Popen[str], str]:
    """Start the server as users do, and return it with its URL."""
    command = [sys.executable, "-c", "from gossamer.cli import main; main()", "serve"]
    server = subprocess.Popen(
        [*command, str(folder), "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    return server, server.stdout.readline().strip()


def tantivy_alone(work: Workspace) -> Callable[[str], int]:
    """Return a search as in tantivy's documentation: all words in title or text, ten hits."""
    folders = [Path(path).parent for path in work.paths("index") if path.endswith(schema.META)]
    indexes = [schema.open_index(folder) for folder in folders]
    for folder, each in zip(folders, indexes, strict=True):  # which take terms apart only
        each.register_tokenizer("terms", analyzer_for(folder.name).terms.analyzer)
    searchers = [index.searcher() for index in indexes]

    def search(query: str) -> int:
        best: list[tuple[float, int, tantivy.DocAddress]] = []
        for number, each in enumerate(indexes):
            words = query.replace(" type:pdf", "")
            tree, _ = each.parse_query_lenient(
                words, ["title", "text"], conjunction_by_default=True
            )
            found = searchers[number].search(tree, 10)
            best += [(score, number, at) for score, at in found.hits]
        first = sorted(best, key=lambda hit: -hit[0])[:10]
        return sum(
            len(read_stored_document(searchers[number].doc(at)).title) for _, number, at in first
        )

    return search


def clocked(search: Callable[[str], object], asked: Sequence[str]) -> list[float]:
    """Run all queries twice, and return the seconds of each in the second run."""
    for query in asked:
        search(query)
    took = []
    for query in asked:
        started_s = time.perf_counter()
        search(query)
        took.append(time.perf_counter() - started_s)
    return took


def percent(took: Sequence[float], share: float) -> float:
    return sorted(took)[min(int(len(took) * share), len(took) - 1)] * 1000


def measure(folder: Path, options: argparse.Namespace) -> None:
    console = Console()
    work = Crawl.open(str(folder)).work
    drawn = queries(work.paths("documents")[0], options.queries)
    server, url = serving(folder)
    loads = {"alone": (1, options.queries), "together": (100, 10), "at once": (options.clients, 1)}
    p99_ms = {}
    try:
        uvloop.run(load(url, 2, len(drawn), drawn))  # warm up files and processes
        table = Table("load", "answers", "p50 ms", "p99 ms", "slowest", "queries/s")
        for name, (clients, each) in loads.items():
            started_s = time.perf_counter()
            took, outcomes = uvloop.run(load(url, clients, each, drawn))
            rate = len(took) / (time.perf_counter() - started_s)
            answers = ", ".join(f"{count} {what}" for what, count in outcomes.items() if count)
            times = [percent(took, share) for share in (0.5, 0.99, 1)]
            p99_ms[name] = times[1]
            table.add_row(name, answers, *(f"{each:.1f}" for each in times), f"{rate:.0f}")
        console.print(table)
    finally:
        server.terminate()
        server.wait()
    searcher = Searcher.open(work)
    table = Table("in this process", "mean ms", "p50 ms", "p99 ms")
    for name, search in (("Gossamer", searcher.search), ("tantivy", tantivy_alone(work))):
        took = clocked(search, drawn)
        times = [mean(took) * 1000, *(percent(took, share) for share in (0.5, 0.99))]
        table.add_row(name, *(f"{each:.2f}" for each in times))
    console.print(table)
    report(f"p99 of one client {p99_ms['alone']:.1f} ms, with {searcher.pages:,} documents")


def main() -> None:
    parser = CorpusOptions(
        __doc__, documents=(1_000_000, 200), queries=(1_000, 20), clients=(1_000, 100)
    )
    parser.add_argument("--folder", type=Path)
    options = parser.read()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(options.folder or scratch, "crawl")
        if not folder.exists():
            with Engine(EngineConfig()) as engine:
                work = crawl(folder, requested_documents(options), engine, SETTINGS).work
                dedup.run(work)
                index.run(work)
        measure(folder, options)


if __name__ == "__main__":
    main()
