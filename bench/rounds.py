"""What does a round cost as the page database grows? Seconds and CPU seconds of each step.

    python bench/rounds.py [--known 10_000 100_000 1_000_000 10_000_000] [--page-bytes 25_000]

One real round of 20,000 fetches: generate, fetch, parse, update. The page database holds 20,000
due pages (at most the `--known` number) of a fakeweb of ten times this size, with the best scores.
The rest are pages of other hosts, 19 in 20 of them due and never fetched (synthetic.py). So the
round has to examine every known page, and finds links to known and to new pages. The page state's
share is (generate + update) / round. The engine and its workers start before the clock. fakeweb
has generated its pages before, and its CPU time is not counted.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from itertools import islice
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from crawl import tree_cpu_s
from fetch_clients import pycurl
from local_settings import local_settings
from synthetic import NOW_MS, layer_of, make_pages

from gossamer.api import Crawl
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.rounds import ROUND
from gossamer.store import StepReport
from gossamer.tables import PAGES
from gossamer.task_output import YIELD, YIELD_DDL
from gossamer.urls import host_of

ROUND_PAGES = 20_000
HOSTS = 2_000
MOST_INLINKS = 40_000
"""For a score above all those from `make_pages`."""


def wanted(web: Web) -> list[str]:
    """Return the pages that the round will fetch: the first ones of each host."""
    urls: list[str] = []
    for host in web.hosts():
        urls += islice(web.urls(host), 2 * ROUND_PAGES // HOSTS)
    return urls[:ROUND_PAGES]


def by_host(urls: list[str]) -> dict[str, list[str]]:
    hosts: dict[str, list[str]] = {}
    for url in urls:
        hosts.setdefault(host_of(url), []).append(url)
    return hosts


def known_pages(folder: Path, urls: list[str], known: int) -> None:
    make_pages(duckdb.connect(), folder, max(known - len(urls), 1))
    row = {
        "status": "unfetched",
        "source": "link",
        "depth": 1,
        "hops": 0,
        "inlinks": MOST_INLINKS,
        "cash": 0,
        "found_ms": NOW_MS,
        "fetches": 0,
        "failures": 0,
        "next_fetch_ms": 0,
        "interval_s": 2_592_000,
    }
    rows = [row | {"url": url, "host": host_of(url)} for url in urls]
    table = pa.Table.from_pylist(rows, schema=PAGES.schema)
    pq.write_table(table, folder / "best.parquet", compression="zstd")


def measure(known: int, urls: list[str], fake: FakeWeb, folder: Path) -> None:
    settings = local_settings(
        fake.address, {"generate.pages": len(urls), "generate.domain_share": 1}
    )
    with Crawl.create(str(folder), settings) as crawl:
        work = crawl.work
        base = folder / "pages" / "base"
        known_pages(base, urls, known)
        work.store.commit(
            StepReport("inject", 0, 0, 0.0), append={"pages": layer_of(folder, base, 0)}
        )
        work.engine.map_tasks(range(work.engine.workers), nothing, YIELD, YIELD_DDL)
        wall_s, cpu_s = {}, {}
        for name, step in ROUND.items():
            started_s, started_cpu_s = time.perf_counter(), tree_cpu_s(fake.pid)
            report = step(work)
            wall_s[name] = time.perf_counter() - started_s
            cpu_s[name] = tree_cpu_s(fake.pid) - started_cpu_s
            if name == "fetch" and report.counts.get("ok") != len(urls):
                print(f"not all of {len(urls):,} pages were fetched: {report.counts}")
        touched = report.counts["touched"]
    for unit, of in ((f"{known:,}", wall_s), ("  CPU", cpu_s)):
        whole = sum(of.values())
        cells = "".join(f"{of[name]:10.1f}" for name in ROUND)
        share = (of["generate"] + of["update"]) / whole
        print(f"{unit:>12}{cells}{whole:10.1f}{share:12.1%}", end="")
        print(f"{touched:12,}" if of is wall_s else "", flush=True)


def nothing(_: int) -> list[dict[str, object]]:
    return []


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--known", type=int, nargs="+", default=[10**n for n in range(4, 8)])
    parser.add_argument("--page-bytes", type=int, default=25_000)
    parser.add_argument("--folder", default=tempfile.gettempdir())
    options = parser.parse_args()
    web = Web(
        hosts=HOSTS,
        pages_per_host=10 * ROUND_PAGES / HOSTS,
        page_bytes=options.page_bytes,
        mix=Mix.plain(),
        cache_bytes=4 << 30,
    )
    urls = wanted(web)
    with FakeWeb(web, log_path="/dev/null") as fake:
        pycurl(by_host(urls), fake.address)()  # fakeweb generates pages on their first request
        print(f"{len(urls):,} pages of {options.page_bytes:,} bytes per round; seconds")
        print(f"{'known':>12}" + "".join(f"{name:>10}" for name in (*ROUND, "round")), end="")
        print(f"{'page state':>12}{'touched':>12}")
        for known in options.known:
            root = Path(tempfile.mkdtemp(prefix="rounds-", dir=options.folder))
            try:
                measure(known, urls[:known], fake, root / "crawl")
            finally:
                shutil.rmtree(root)


if __name__ == "__main__":
    main()
