"""Do the memory and the files of a crawl without end stay as they are, while it is served?

    python -m tests.support.endless_memory [--minutes 60]

`gossamer crawl --forever --serve` fetches 20 sites of 30 pages each, of which hundreds are due in
each round, for there is always one that was fetched half a minute ago. Prints every minute the
memory of all processes (proportional set size), their open files, the files of the crawl, and those
of its archive.

The process that crawls grows until it is replaced. So what counts is what PART of the looks in a
time are below: that of the last two fifths may be at most GROWTH above that of the two before them.
In the first fifth, the process has not been replaced yet. The number of archive files has a limit
that does not depend on time. Exits with 1 if anything has grown.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import psutil

from gossamer import Crawl
from gossamer.config import FetchConfig
from gossamer.fakeweb import FakeWeb, Web
from gossamer.upkeep.joining import FAN_IN
from tests.support.crawl_service import Service
from tests.support.crawl_settings import loopback_settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MB = 1_000_000
SETTINGS = """
fetch.own_hosts = ["*.test"]
update.interval_days = 0.0003
serve.port = 0
"""
LOOK_S = 15.0
SHOWN = 4
"""Every so many looks are printed."""
WARM = 1 / 5
PART = 0.9
GROWTH = 0.1
SMALLEST_BYTES = 256
"""A file of the archive is larger."""


class Footprint(NamedTuple):
    """What a crawl takes at one time."""

    memory_mb: float
    open_files: float
    files: float
    archive_files: float


def footprint(process: psutil.Process, folder: Path) -> Footprint:
    memory, open_files = 0, 0
    for each in (process, *process.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            memory += each.memory_full_info().pss
            open_files += each.num_fds()
    names = [name for _, _, found in os.walk(folder) for name in found]
    archive_files = sum(name.endswith(".warc.gz") for name in names)
    return Footprint(memory / MB, open_files, len(names), archive_files)


def watched(service: Service, folder: Path, seconds: float) -> Iterator[Footprint]:
    """Look at a crawl between its rounds."""
    process, end_s = psutil.Process(service.process.pid), time.monotonic() + seconds
    due_s = 0.0
    while (now_s := time.monotonic()) < end_s:
        service.until(step="update")
        if now_s >= due_s:
            due_s = now_s + LOOK_S
            yield footprint(process, folder)


def usual(looks: Sequence[Footprint]) -> Footprint:
    return Footprint(*np.quantile(looks, PART, axis=0).tolist())


def has_grown(looks: Sequence[Footprint]) -> bool:
    """Print what both parts of the time took, and compare it."""
    later = looks[math.ceil(WARM * len(looks)) :]
    before, after = usual(later[: len(later) // 2]), usual(later[len(later) // 2 :])
    print("before", before)
    print("after ", after)
    limits = Footprint(*((1 + GROWTH) * value for value in before))
    largest_bytes = FetchConfig().warc_mb * (1 << 20) / FAN_IN  # of those that are joined
    sizes = math.ceil(math.log(largest_bytes / SMALLEST_BYTES, FAN_IN))
    limits = limits._replace(archive_files=FAN_IN * sizes)
    return any(now > limit for now, limit in zip(after, limits, strict=True))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=60)
    options = parser.parse_args()
    web = Web(hosts=20, pages_per_host=30)
    looks: list[Footprint] = []
    with FakeWeb(web) as fake, tempfile.TemporaryDirectory(prefix="endless-") as scratch:
        folder = Path(scratch, "crawl")
        Crawl.create(str(folder), loopback_settings(fake.address, SETTINGS)).inject(web.seeds())
        with Service(folder, options=["--serve"]) as service:
            for look in watched(service, folder, 60 * options.minutes):
                if len(looks) % SHOWN == 0:
                    print(look, flush=True)
                looks.append(look)
            service.end()
    return 1 if has_grown(looks) else 0


if __name__ == "__main__":
    sys.exit(main())
