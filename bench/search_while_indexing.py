"""How much slower are searches while `gossamer index` runs?

    python bench/search_while_indexing.py [--documents 50_000] [--seconds 10]

The documents are those of corpus.py, in two shards. One process runs searches on a Searcher without
pauses: alone for some seconds, then while `gossamer index` rebuilds the whole index in its own
processes, then alone again. So at least three processes share the cores. Queries are one to three
words of titles: plain, as a phrase, with a host, or with a date. The last line shows how much the
searches slow down indexing.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
from corpus import CorpusOptions, crawl, requested_documents
from harness import report

from gossamer import dedup
from gossamer.config import EngineConfig
from gossamer.engine.engine import Engine
from gossamer.search.searcher import Searcher
from gossamer.state.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

SHARDS = 2
TITLES = 5_000
FORMS = ("{}", "{}", "{}", '"{}"', "{} site:www.site1.example", "{} after:2025")
GOSSAMER = Path(sys.executable).with_name("gossamer")


def queries(titles: Sequence[str]) -> Iterator[str]:
    draw = random.Random(2)  # noqa: S311  # reproducible
    while True:
        words = re.findall(r"\w+", draw.choice(titles)) or ["words"]
        at = draw.randrange(len(words))
        yield draw.choice(FORMS).format(" ".join(words[at : at + draw.randint(1, 3)]))


def answered_ms(
    ask: Callable[[str], object], asked: Iterator[str], ends: Callable[[], bool]
) -> list[float]:
    """Search until `ends()` holds, and return the time of each answer, sorted."""
    took = []
    while not ends():
        query, began_s = next(asked), time.perf_counter()
        ask(query)
        took.append(1000 * (time.perf_counter() - began_s))
    return sorted(took)


def after(seconds: float) -> Callable[[], bool]:
    end_s = time.perf_counter() + seconds
    return lambda: time.perf_counter() > end_s


def reindex(work: Workspace) -> subprocess.Popen[bytes]:
    """Drop the index and start the command `gossamer index`."""
    with work.step("test", 1) as draft:
        draft.replace = {"index": (), "indexed": ()}
    return subprocess.Popen([GOSSAMER, "index", work.root], stdout=subprocess.DEVNULL)


def show(name: str, took_ms: Sequence[float], alone: Sequence[float]) -> float:
    """Print the times of searches, and return by which factor their p99 is higher than alone."""
    middle, late = median(took_ms), took_ms[len(took_ms) * 99 // 100]
    slower = middle / median(alone), late / alone[len(alone) * 99 // 100]
    print(f"{name:18}{len(took_ms):9,}{middle:9.2f}{late:9.2f}{slower[0]:10.2f}{slower[1]:9.2f}")
    return slower[1]


def main() -> None:
    given = CorpusOptions(__doc__, documents=(50_000, 200), seconds=(10.0, 0.5)).read()
    with tempfile.TemporaryDirectory(prefix="searching-") as name:
        folder = Path(name, "crawl")
        with Engine(EngineConfig()) as engine:
            made = crawl(folder, requested_documents(given), engine, f"index.shards = {SHARDS}")
            dedup.run(made.work)
        work = Workspace.open(str(folder))
        began_s = time.perf_counter()
        assert reindex(work).wait() == 0
        alone_s = time.perf_counter() - began_s
        work = Workspace.open(str(folder))
        searcher = Searcher.open(work)
        titles = pq.read_table(work.paths("documents")[0], columns=["title"])["title"][:TITLES]
        asked = queries(titles.to_pylist())
        answered_ms(searcher.search, asked, after(1))
        before = answered_ms(searcher.search, asked, after(given.seconds))
        began_s = time.perf_counter()
        indexing = reindex(work)
        meanwhile = answered_ms(searcher.search, asked, lambda: indexing.poll() is not None)
        searched_s = time.perf_counter() - began_s
        later = answered_ms(searcher.search, asked, after(given.seconds))
    alone = sorted(before + later)
    print(f"{searcher.pages:,} documents; load {os.getloadavg()[0]:.1f}")
    print(f"{'searches':18}{'queries':>9}{'p50 ms':>9}{'p99 ms':>9}{'× p50':>10}{'× p99':>9}")
    show("alone", alone, alone)
    slower = show("while indexing", meanwhile, alone)
    print(f"index: {alone_s:.1f} s alone, {searched_s:.1f} s while searches run")
    report(f"while `index` runs, the p99 of searches is {slower:.1f} × as high")


if __name__ == "__main__":
    main()
