"""Does a fetch task's memory stay flat, however much it fetches?

    python -m tests.support.fetch_memory [--pages 1_000_000] [--tasks 1] [--hosts 2000]

Prints the resident memory of the task's process while it runs. Exits with 1 if its peak in the
second half of the pages is more than 8 % above the peak between 10 % and 50 % of them. With several
tasks, one process runs them one after the other, like a worker round by round: this shows memory
that outlives a task.

WARC files are removed when they are closed, because a million pages take gigabytes.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from gossamer.config import FetchConfig
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.fetch.fetch_part import FetchPart
from gossamer.fetch.fetch_task import fetch_part
from gossamer.state.heartbeats import heartbeats
from gossamer.tables import FETCHLIST
from gossamer.web.urls import UrlRules

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SPAWN = multiprocessing.get_context("spawn")
MAX_GROWTH = 0.08
"""The allocator alone makes up to 6 % (13 runs of 40,000 pages); a kilobyte kept of each page would
make 10 %."""
LINES = 20
PAGE_BYTES = 2_000
HOSTS_PER_GROUP = 100
LOOK_S = 0.2
WARC_FILES_KEPT = 8


def work(parts: Sequence[FetchPart]) -> None:
    for part in parts:
        fetch_part(part)


def resident_mb(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / (1 << 20)


def write_list(web: Web, path: Path, number: int, pages_per_host: int) -> None:
    """Write the fetch list of a task, with pages that no earlier task had."""
    blank = {"round": 1, "part": 0, "depth": 0, "hops": 0, "fetches": 0, "asked": False}
    first, hosts = number * pages_per_host, web.hosts()
    with pq.ParquetWriter(path, FETCHLIST.schema) as writer:
        while some := list(islice(hosts, HOSTS_PER_GROUP)):
            rows = [
                blank | {"url": url, "host": host, "score": 1 / (1 + place)}
                for host in some
                for place, url in enumerate(islice(web.urls(host), first, first + pages_per_host))
            ]
            writer.write_table(pa.Table.from_pylist(rows, schema=FETCHLIST.schema))


def watched(parts: Sequence[FetchPart], each: int) -> Iterator[tuple[int, float]]:
    """Run the parts and yield, every LOOK_S, the pages fetched so far and the resident MB."""
    process = SPAWN.Process(target=work, args=(parts,))
    process.start()
    task, last, root = 0, 0, Path(parts[0].root)
    while process.is_alive():
        process.join(LOOK_S)
        for beat in heartbeats(str(root)):
            task += beat.done < last
            last = beat.done
            if process.is_alive() and last:
                yield task * each + last, resident_mb(process.pid or 0)
        closed = sorted(root.glob("warc/*/*"), key=lambda path: path.stat().st_mtime)
        for path in closed[:-WARC_FILES_KEPT]:
            path.unlink()
    assert process.exitcode == 0, f"the task ended with {process.exitcode}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--tasks", type=int, default=1)
    parser.add_argument("--hosts", type=int, default=2_000)
    options = parser.parse_args()
    pages_per_host = options.pages // options.hosts // options.tasks
    each = pages_per_host * options.hosts
    pages = each * options.tasks
    web = Web(
        hosts=options.hosts,
        pages_per_host=8 * pages_per_host * options.tasks,  # so that the smallest has enough
        page_bytes=PAGE_BYTES,
        mix=Mix.plain(),
        cache_bytes=1 << 20,
    )
    with FakeWeb(web, log_path="/dev/null") as fake, tempfile.TemporaryDirectory() as root:
        config = FetchConfig(
            delay_s=0,
            delay_factor=0,
            address_delay_s=0,
            allow_networks=("127.0.0.0/8",),
            host_overrides={"*.test": fake.address},
        )
        parts = []
        for number in range(options.tasks):
            path = Path(root, f"fetchlist-{number}.parquet")
            write_list(web, path, number, pages_per_host)
            responses, warc = f"responses/{number}", f"warc/{number}"
            attempts = (responses, warc, f"scratch/{number}", f"hosts/{number}")
            parts.append(FetchPart(root, 1, 0, (str(path),), (), config, UrlRules(), attempts, 0))
        print(f"{options.tasks} × {each:,} pages of {options.hosts:,} hosts")
        print("     pages  resident MB   pages/s")
        peaks = [0.0, 0.0]
        began_s, shown = time.monotonic(), 0
        for done, now_mb in watched(parts, each):
            if 10 * done >= pages:
                peaks[2 * done > pages] = max(peaks[2 * done > pages], now_mb)
            if done >= shown:
                speed = done / (time.monotonic() - began_s)
                print(f"{done:10,}  {now_mb:11.0f}  {speed:8,.0f}", flush=True)
                shown += pages // LINES
    growth = peaks[1] / peaks[0] - 1
    print(f"peak: {peaks[0]:.0f} MB in the first half, {peaks[1]:.0f} in the second: {growth:+.1%}")
    return 0 if growth < MAX_GROWTH else 1


if __name__ == "__main__":
    sys.exit(main())
