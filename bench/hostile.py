"""What do good hosts lose by hostile ones beside them? Pages a second until the last good page.

    python bench/hostile.py [good pages] [runs]

One task, without delays, fetches the good hosts alone, and then with every host of the hostile web
beside them, some of which it holds open all the while: by turns, each run in a process of its own,
against one server for the good hosts and one for the hostile ones. CPU time counts hostile pages,
too, 450 ms for all of them: bodies without end are cut at 4 MB, and stored. Printed are all runs,
and the median of what the second of each pair lost. Exits with 1 if a good page was lost, or 5 % of
speed.
"""

from __future__ import annotations

import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from gossamer.config import FetchConfig
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.fakeweb.hostile import CATALOGUE
from gossamer.fetch.task import Part, fetch_part
from gossamer.tables import FETCHLIST
from gossamer.urls import UrlRules, host_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HOSTS = 200
HOSTILE = [case.url for case in CATALOGUE.values()]
MAX_LOSS = 0.05


class Run(NamedTuple):
    pages_per_s: float
    cpu_ms: float
    """Of the whole task, for each good page."""
    peak_mb: float
    lost: int
    """Good pages that are not ok."""
    late: int
    """Hostile pages that were settled after the last good one."""


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


def fetch(good: Sequence[str], beside: Sequence[str], config: FetchConfig) -> Run:
    blank = {"round": 1, "part": 0, "score": 1.0, "depth": 0, "hops": 0, "fetches": 0}
    blank |= {"asked": False}
    rows = [blank | {"url": url, "host": host_of(url)} for url in (*good, *beside)]
    with tempfile.TemporaryDirectory() as root:
        path = Path(root, "fetchlist.parquet")
        pq.write_table(pa.Table.from_pylist(rows, schema=FETCHLIST.schema), path)
        attempts = ("responses/1", "warc/1", "hosts/1")
        began_s, cpu_s = time.time(), time.process_time()
        fetch_part(Part(root, 1, 0, (str(path),), (), config, UrlRules(), attempts))
        cpu_s = time.process_time() - cpu_s
        names = ["url", "outcome", "fetched_ms", "elapsed_ms"]
        found = pq.read_table(f"{root}/responses", columns=names).to_pylist()
    ended_s = {row["url"]: (row["fetched_ms"] + row["elapsed_ms"]) / 1000 for row in found}
    outcomes = {row["url"]: row["outcome"] for row in found}
    last_s = max(ended_s[url] for url in good)
    return Run(
        len(good) / (last_s - began_s),
        1000 * cpu_s / len(good),
        peak_mb(),
        sum(outcomes[url] != "ok" for url in good),
        sum(ended_s[url] > last_s for url in beside),
    )


def run(good: Sequence[str], beside: Sequence[str], config: FetchConfig) -> Run:
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(fetch, good, beside, config).result()


def main(pages: int, runs: int) -> int:
    web = Web(hosts=HOSTS, pages_per_host=pages / HOSTS, mix=Mix.plain(), cache_bytes=1 << 30)
    good = [url for host in web.hosts() for url in web.urls(host)]
    hostile = Web(hosts=0, hostile=True, tls=True)
    with FakeWeb(web, warm=len(good)) as ours, FakeWeb(hostile) as theirs:
        routes = {host: where for host, where in theirs.routes.items() if host != "*.test"}
        routes |= {"*.hostile.test": theirs.address, "*.test": ours.address}
        patience_s = len(good) / run(good, (), settings(routes, 60)).pages_per_s
        config = settings(routes, 2 * patience_s)
        print(f"{len(good):,} good pages of {HOSTS} hosts, {len(HOSTILE)} hostile hosts")
        print("beside   pages/s  CPU ms/page  peak MB  open at the end")
        made_by: dict[str, list[Run]] = {"nobody": [], "hostile": []}
        for _ in range(runs):
            for name, beside in (("nobody", ()), ("hostile", HOSTILE)):
                made = run(good, beside, config)
                made_by[name].append(made)
                print(
                    f"{name:7}  {made.pages_per_s:7,.0f}  {made.cpu_ms:11.3f}  {made.peak_mb:7,.0f}"
                    f"  {made.late:15}"
                )
                if made.lost:
                    print(f"{made.lost:,} good pages were lost")
                    return 1
    pairs = list(zip(made_by["nobody"], made_by["hostile"], strict=True))
    loss = 1 - median(beside.pages_per_s / alone.pages_per_s for alone, beside in pairs)
    more = median(beside.cpu_ms / alone.cpu_ms for alone, beside in pairs) - 1
    print(f"{100 * loss:.1f} % of speed is lost")
    print(f"{100 * more:.1f} % more CPU is taken")
    return 1 if loss > MAX_LOSS else 0


if __name__ == "__main__":
    sizes = [int(size) for size in sys.argv[1:]]
    sys.exit(main(*sizes, *[25_000, 5][len(sizes) :]))
