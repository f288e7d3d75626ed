"""How fast is the fetch step, beside bare aiohttp, bare libcurl and Scrapy?

    python bench/fetch.py [--hosts 200] [--pages 40] [--repeat 3] [--page-bytes 20000]

All clients fetch the same pages from one fakeweb in its own process, which has generated them
before. It shares the machine's cores, so compare pages per second only within one table. "× 2" are
two processes with half of the hosts each, which for Gossamer are the two tasks that it runs on two
cores. The fastest of `repeat` runs counts. Scrapy gets a quarter of the pages, because it is slow.

CPU is that of the client's processes, or of the web. All clocks start when every process of a
client has finished its imports. They stop with the last page, for Gossamer with the last file.
"""

from __future__ import annotations

import multiprocessing
import time
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import fetch_clients
import psutil
from harness import Options, report

from gossamer.fakeweb import FakeWeb, Mix, Web

if TYPE_CHECKING:
    from multiprocessing.queues import Queue
    from multiprocessing.synchronize import Barrier

SPAWN = multiprocessing.get_context("spawn")
PATIENCE_S = 300
"""How long to wait for clients, which may have died."""


class Run(NamedTuple):
    pages: int
    wall_s: float
    cpu_s: float
    web_cpu_s: float

    @property
    def pages_per_s(self) -> float:
        return self.pages / self.wall_s


def process(
    client: str, hosts: fetch_clients.Hosts, address: str, ready: Barrier, results: Queue[Run]
) -> None:
    run = getattr(fetch_clients, client)(hosts, address)
    ready.wait()
    began_s, before_s = time.monotonic(), time.process_time()
    whole = run()
    results.put(Run(whole, time.monotonic() - began_s, time.process_time() - before_s, 0))


def measure(client: str, hosts: fetch_clients.Hosts, fake: FakeWeb, processes: int) -> Run:
    ready, results = SPAWN.Barrier(processes + 1), SPAWN.Queue()
    shares = [dict(list(hosts.items())[n::processes]) for n in range(processes)]
    running = [
        SPAWN.Process(target=process, args=(client, share, fake.address, ready, results))
        for share in shares
    ]
    for each in running:
        each.start()
    ready.wait(PATIENCE_S)
    web = psutil.Process(fake.pid)
    before_s = sum(web.cpu_times()[:2])
    runs = [results.get(timeout=PATIENCE_S) for _ in running]
    web_cpu_s = sum(web.cpu_times()[:2]) - before_s
    for each in running:
        each.join()
    run = Run(
        sum(run.pages for run in runs),
        max(run.wall_s for run in runs),
        sum(run.cpu_s for run in runs),
        web_cpu_s,
    )
    assert run.pages == sum(map(len, hosts.values())), f"{client} missed pages: {run}"
    return run


def compare(page_bytes: int, hosts: int, pages: int, repeat: int) -> dict[str, Run]:
    """Return the best run of each client with one process."""
    web = Web(
        hosts=hosts,
        pages_per_host=8 * pages,  # sizes are Zipfian: so that even the smallest has enough
        page_bytes=page_bytes,
        mix=Mix.plain(),
        cache_bytes=4 << 30,
    )
    listed = {host: list(islice(web.urls(host), pages)) for host in web.hosts()}
    few = {host: urls[: max(pages // 4, 1)] for host, urls in listed.items()}
    print(f"{sum(map(len, listed.values())):,} pages of {page_bytes / 1000:.0f} KB, {hosts} hosts")
    print("               pages/s  CPU ms  web's  Gossamer × 2: pages/s  pages/CPU s")
    ours: Run | None = None
    found = {}
    with FakeWeb(web, log_path="/dev/null") as fake:
        measure("libcurl", listed, fake, 1)  # the web generates pages on their first request
        for client in ("gossamer", "aiohttp", "libcurl", "scrapy"):
            for processes in (2, 1):
                asked = few if client == "scrapy" else listed
                runs = [measure(client, asked, fake, processes) for _ in range(repeat)]
                best = max(runs, key=lambda run: run.pages_per_s)
                ours = ours or best
                found[client] = best
                each_ms = 1000 / best.pages
                print(
                    f"{client:>9} × {processes} {best.pages_per_s:9,.0f}"
                    f"{best.cpu_s * each_ms:8.3f}{best.web_cpu_s * each_ms:7.3f}"
                    f"{ours.pages_per_s / best.pages_per_s:21.2f} ×"
                    f"{best.cpu_s / best.pages / (ours.cpu_s / ours.pages):11.2f} ×",
                    flush=True,
                )
    return found


def main() -> None:
    options = Options(
        __doc__, hosts=(200, 4), pages=(40, 4), repeat=(3, 1), page_bytes=(20_000, 2_000)
    ).read()
    found = compare(options.page_bytes, options.hosts, options.pages, options.repeat)
    speed = found["gossamer"].pages_per_s / found["scrapy"].pages_per_s
    bare = found["gossamer"].pages_per_s / found["aiohttp"].pages_per_s
    report(f"{speed:.1f} × the pages/s of Scrapy, {bare:.2f} × those of bare aiohttp")


if __name__ == "__main__":
    main()
