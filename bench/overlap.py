"""Is the fetcher kept waiting by harvests, and are searches, if delays bound a crawl without end?

    python bench/overlap.py [--hosts 40] [--rounds 4] [--pages 40] [--delay-s 1] [--src SRC]...

All pages are seeds. A round takes so many pages of each host, which is left alone for the delay
after each request. `gossamer crawl --forever --serve` of each SRC, by default of this checkout,
crawls them, until the pages of so many rounds are searchable. Meanwhile one client searches, 20
times a second, and goes on when the crawl is paused.

Printed are: the seconds from the first to the last request, the share of them in which a fetch ran,
the pages per second; from the end of a fetch to the next one, and to the commit of an index that
was begun after it (medians and largest); the CPU time of the crawl; the 99th percentile of searches
during the crawl, and while it is paused.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

import httpx
from crawl import adopt_orphans, children_s
from local_settings import local_settings
from searchable import reap_orphans

import gossamer as package
from gossamer import pausing
from gossamer.fakeweb import FakeWeb, Mix, Web

if TYPE_CHECKING:
    from collections.abc import Iterator

COLUMNS = "{:>8}{:>8}{:>9}{:>15}{:>15}{:>8}{:>11}{:>11}{:>7}"
HEAD = (
    *("s", "fetch", "pages/s", "next fetch s", "searchable s", "CPU s"),
    *("p99 ms", "alone ms", "load"),
)
PAUSE_S = 5
"""Seconds until the steps and requests that are running have ended."""
HARVEST = {"invert", "index"}
SEARCHES_S = 20
"""Searches a second."""
WORDS = ("about", "harbour", "house", "lantern", "market", "music", "people", "river", "water")


class Searches(threading.Thread):
    """One client, which searches until it is told to end."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self._url, self._over = url, threading.Event()
        self.took_ms: list[float] = []

    def run(self) -> None:
        draw = random.Random(3)  # noqa: S311  # reproducible
        with httpx.Client(timeout=30) as client:
            while not self._over.wait(1 / SEARCHES_S):
                query = " ".join(draw.sample(WORDS, 2))
                began_s = time.perf_counter()
                with suppress(httpx.HTTPError):  # it has no index yet
                    if client.get(self._url, params={"q": query}).is_success:
                        self.took_ms.append(1000 * (time.perf_counter() - began_s))

    def ended(self) -> float:
        """End, and return the 99th percentile in milliseconds."""
        self._over.set()
        self.join()
        return quantiles(self.took_ms, n=100)[98]


def crawled(src: Path, fake: FakeWeb, options: argparse.Namespace) -> str:
    seeds = [url for host in fake.web.hosts() for url in fake.web.urls(host)]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = {
        "fetch.delay_s": options.delay_s,
        "generate.pages_per_host": options.pages,
        "serve.port": port,
    }
    url = f"http://127.0.0.1:{port}/api/search"
    command = [sys.executable, "-c", "from gossamer.cli import main; main()", "crawl"]
    with tempfile.TemporaryDirectory(prefix="overlap-") as made:
        folder, listed = f"{made}/crawl", f"{made}/seeds.txt"
        Path(folder).mkdir()
        Path(folder, "gossamer.toml").write_text(local_settings(fake.address, settings))
        Path(listed).write_text("\n".join(seeds) + "\n")
        before_s = children_s()
        with subprocess.Popen(
            [*command, folder, "--list", listed, "--forever", "--serve", "--json"],
            stdout=subprocess.PIPE,
            stderr=sys.stderr,
            env=os.environ | {"PYTHONPATH": str(src)},
        ) as service:
            during = Searches(url)
            during.start()
            lines = until_searchable(service, options.rounds)
            p99_ms = during.ended()
            pausing.pause(folder)
            time.sleep(PAUSE_S)
            alone = Searches(url)
            alone.start()
            time.sleep(options.alone_s)
            alone_ms = alone.ended()
            service.send_signal(signal.SIGTERM)
            service.communicate()
        reap_orphans(fake.pid)
        cpu_s = children_s() - before_s
    return row(lines, cpu_s, p99_ms, alone_ms)


def until_searchable(service: subprocess.Popen[bytes], rounds: int) -> list[dict[str, Any]]:
    """The reports of so many rounds, and of the harvests up to the one that has the last round."""
    lines: list[dict[str, Any]] = []
    for line in reports(service):
        if line["step"] in HARVEST or line["round"] <= rounds:
            lines.append(line)
        if line["step"] == "index" and line["round"] >= rounds:
            return lines
    raise SystemExit("the crawl ended")


def reports(service: subprocess.Popen[bytes]) -> Iterator[dict[str, Any]]:
    assert service.stdout is not None
    lines = map(json.loads, service.stdout)
    return (line for line in lines if "step" in line)


def row(lines: list[dict[str, Any]], cpu_s: float, p99_ms: float, alone_ms: float) -> str:
    ended_s = lambda line: line["started_ms"] / 1000 + line["seconds"]  # noqa: E731
    fetches = [line for line in lines if line["step"] == "fetch"]
    begins = [line["started_ms"] / 1000 for line in fetches]
    ends = [ended_s(line) for line in fetches]
    harvests = [line["started_ms"] / 1000 for line in lines if line["step"] == "invert"]
    indexed = [ended_s(line) for line in lines if line["step"] == "index"]
    searchable = [
        min(ended for begun, ended in zip(harvests, indexed, strict=True) if begun >= end) - end
        for end in ends
    ]
    gaps = [begin - end for begin, end in zip(begins[1:], ends, strict=False)]
    wall_s = ends[-1] - begins[0]
    pages = sum(line["counts"].get("ok", 0) for line in fetches)
    return COLUMNS.format(
        f"{wall_s:.1f}",
        f"{sum(line['seconds'] for line in fetches) / wall_s:.1%}",
        f"{pages / wall_s:.1f}",
        f"{median(gaps):.1f}, {max(gaps):.1f}",
        f"{median(searchable):.1f}, {max(searchable):.1f}",
        f"{cpu_s:.1f}",
        f"{p99_ms:.1f}",
        f"{alone_ms:.1f}",
        f"{os.getloadavg()[0]:.1f}",
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--hosts", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--pages", type=int, default=40, help="of a host in a round")
    parser.add_argument("--delay-s", type=float, default=1.0)
    parser.add_argument("--alone-s", type=float, default=20, help="of searching alone")
    parser.add_argument("--src", type=Path, action="append", metavar="SRC")
    options = parser.parse_args()
    sources = [src.resolve() for src in options.src or [Path(package.__path__[0]).parent]]
    adopt_orphans()
    for src in sources:
        compileall.compile_dir(src / "gossamer", quiet=1)
    # Hosts differ in size; the smallest has a fraction of the mean.
    pages = 4 * options.rounds * options.pages
    web = Web(hosts=options.hosts, pages_per_host=pages, page_bytes=40_000, mix=Mix.plain())
    print(COLUMNS.format(*HEAD))
    with FakeWeb(web, log_path="/dev/null") as fake:
        for src in sources:
            print(crawled(src, fake, options), f" {src}", flush=True)


if __name__ == "__main__":
    main()
