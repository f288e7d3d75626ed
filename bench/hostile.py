"""What do good hosts lose by hostile hosts in the same crawl? Good pages fetched per second.

    python bench/hostile.py [good pages] [pairs]

Two tasks without delays fetch the same good hosts at the same time. One of them also fetches every
host of the hostile web; some of these connections stay open all the time. Each task has its own
core, which they swap from pair to pair, and both use the same two servers, one for the good hosts
and one for the hostile ones. So both see the same disturbances by the machine, whose speed varies
more from minute to minute than hostile hosts cost. A pair's loss compares the numbers of good pages
when the first task has all of them. CPU time includes the hostile pages; endless bodies are cut at
4 MB (files at 16 MB) and stored. Exits with 1 if a good page was lost, or 5 % of speed.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gossamer.config import FetchConfig
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.fakeweb.hostile import CATALOGUE
from gossamer.fetch.part import Part
from gossamer.fetch.task import fetch_part
from gossamer.tables import FETCHLIST
from gossamer.urls import UrlRules, host_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from threading import Barrier

HOSTS = 200
HOSTILE = [case.url for case in CATALOGUE.values()]
MAX_LOSS = 0.05
PATIENCE_S = 40
"""The timeout of all requests, longer than the good pages take: silent hosts hold their connections
until those are done."""


class Run(NamedTuple):
    ended_s: np.ndarray
    """Seconds from the start until each good page was fetched, sorted, float64."""
    cpu_s: float
    """CPU seconds of the whole task."""
    peak_mb: float
    lost: int
    """Good pages whose outcome is not ok."""
    late: int
    """Hostile pages that ended after the last good one."""

    def pages_at(self, time_s: float) -> int:
        return int(np.searchsorted(self.ended_s, time_s, side="right"))


def peak_mb() -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def settings(routes: Mapping[str, str], patience_s: float) -> FetchConfig:
    return FetchConfig(
        delay_s=0,
        delay_factor=0,
        address_delay_s=0,
        connections_per_address=1_000,
        connect_timeout_s=patience_s,
        head_timeout_s=patience_s,
        timeout_s=patience_s,
        min_bytes_per_s=0,
        allow_networks=("127.0.0.0/8",),
        resolve=dict(routes),
    )


def fetch(
    start: Barrier, core: int, good: Sequence[str], beside: Sequence[str], config: FetchConfig
) -> Run:
    os.sched_setaffinity(0, {core})
    blank = {"round": 1, "part": 0, "score": 1.0, "depth": 0, "hops": 0, "fetches": 0}
    blank |= {"asked": False}
    rows = [blank | {"url": url, "host": host_of(url)} for url in (*good, *beside)]
    with tempfile.TemporaryDirectory() as root:
        path = Path(root, "fetchlist.parquet")
        pq.write_table(pa.Table.from_pylist(rows, schema=FETCHLIST.schema), path)
        attempts = ("responses/1", "warc/1", "hosts/1")
        start.wait()
        began_s, cpu_s = time.time(), time.process_time()
        fetch_part(Part(root, 1, 0, (str(path),), (), config, UrlRules(), attempts))
        cpu_s = time.process_time() - cpu_s
        names = ["url", "outcome", "fetched_ms", "elapsed_ms"]
        found = pq.read_table(f"{root}/responses", columns=names).to_pylist()
    ended_s = {row["url"]: (row["fetched_ms"] + row["elapsed_ms"]) / 1000 for row in found}
    outcomes = {row["url"]: row["outcome"] for row in found}
    ours_s = np.sort([ended_s[url] for url in good])
    return Run(
        ours_s - began_s,
        cpu_s,
        peak_mb(),
        sum(outcomes[url] != "ok" for url in good),
        sum(ended_s[url] > ours_s[-1] for url in beside),
    )


def pair(good: Sequence[str], config: FetchConfig, cores: Sequence[int]) -> tuple[Run, Run]:
    """Run both tasks: good hosts only on the first core, with hostile hosts on the second."""
    context = get_context("spawn")
    with context.Manager() as shared, ProcessPoolExecutor(2, context) as processes:
        start = shared.Barrier(2)
        runs = [
            processes.submit(fetch, start, core, good, beside, config)
            for core, beside in zip(cores, ((), HOSTILE), strict=True)
        ]
        return runs[0].result(), runs[1].result()


def main(pages: int, pairs: int) -> int:
    web = Web(hosts=HOSTS, pages_per_host=pages / HOSTS, mix=Mix.plain(), cache_bytes=1 << 30)
    good = [url for host in web.hosts() for url in web.urls(host)]
    hostile = Web(hosts=0, hostile=True, tls=True)
    cores = sorted(os.sched_getaffinity(0))[:2]
    losses, more = [], []
    with FakeWeb(web, warm=len(good)) as ours, FakeWeb(hostile) as theirs:
        routes = {host: where for host, where in theirs.routes.items() if host != "*.test"}
        routes |= {"*.hostile.test": theirs.address, "*.test": ours.address}
        config = settings(routes, PATIENCE_S)
        print(f"{len(good):,} good pages of {HOSTS} hosts, {len(HOSTILE)} hostile hosts")
        print("pages/s alone  beside   loss   CPU s alone  beside   MB alone  beside  open at end")
        for _ in range(pairs):
            alone, beside = pair(good, config, cores)
            cores.reverse()
            if lost := alone.lost + beside.lost:
                print(f"{lost:,} good pages were lost")
                return 1
            first_s = min(alone.ended_s[-1], beside.ended_s[-1])
            had = [run.pages_at(first_s) for run in (alone, beside)]
            losses.append(1 - had[1] / had[0])
            more.append(beside.cpu_s / alone.cpu_s - 1)
            print(
                f"{had[0] / first_s:13,.0f}  {had[1] / first_s:6,.0f}  {100 * losses[-1]:4.1f} %"
                f"  {alone.cpu_s:12.2f}  {beside.cpu_s:6.2f}"
                f"  {alone.peak_mb:9,.0f}  {beside.peak_mb:6,.0f}  {beside.late:11}"
            )
    print(f"median: {100 * median(losses):.1f} % less speed", end=", ")
    print(f"{100 * median(more):.1f} % more CPU")
    return 1 if median(losses) > MAX_LOSS else 0


if __name__ == "__main__":
    sizes = [int(size) for size in sys.argv[1:]]
    sys.exit(main(*sizes, *[25_000, 7][len(sizes) :]))
