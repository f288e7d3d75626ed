"""What does a crawl on object storage cost, beside one in a folder?

    python bench/object_storage.py [--hosts 10] [--pages 300] [--rounds 3] [--times 2]

A synthetic web is crawled without delays, in turn in a folder and on an S3 server (SeaweedFS) on
loopback: ROUNDS rounds, with a harvest after each. The server shares the machine's cores with the
crawl.

Prints for each kind of storage the seconds of the fastest crawl, by step; their ratio; and for
object storage the requests by kind, the files of datasets that the crawl wrote, and how many
requests there were for each.
"""

from __future__ import annotations

import os
import re
import socket
import sys
import tempfile
import time
import uuid
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple
from urllib.request import urlopen

import psutil
from harness import Options, local_settings, report

from gossamer import Crawl
from gossamer.config import EngineConfig
from gossamer.engine.engine import Engine
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.flow import rounds
from gossamer.storage import places
from gossamer.storage.objects import bucket

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.support.object_store import ADDRESS, BUCKET, object_store

REQUESTS = re.compile(r'^SeaweedFS_s3_request_total\{.*type="(\w+)"\} ([\d.e+]+)$', re.MULTILINE)


class Run(NamedTuple):
    seconds: dict[str, float]
    """By step."""
    files: set[str]
    """Of all datasets, as some version of the crawl named them."""

    @property
    def total_s(self) -> float:
        return sum(self.seconds.values())


def crawled(root: str, web: FakeWeb, engine: Engine, count: int) -> Run:
    """Crawl some rounds, with a harvest after each."""
    crawl = Crawl.create(root, local_settings(web.address, {}), engine=engine)
    seconds: defaultdict[str, float] = defaultdict(float)
    files: set[str] = set()
    crawl.inject(web.web.seeds())
    work = crawl.work
    with work.store.lock():
        for _ in range(count):
            began_s = time.monotonic()
            for done in rounds.run(work, rounds=1):
                files |= work.store.manifest.paths()
                seconds[done.step] += time.monotonic() - began_s  # with the garbage, too
                began_s = time.monotonic()
    return Run(dict(seconds), files)


def requests(port: int) -> Counter[str]:
    """How many requests the server has answered, by kind."""
    with urlopen(f"http://{ADDRESS}:{port}/metrics") as answer:  # loopback
        found = REQUESTS.findall(answer.read().decode())
    counts: Counter[str] = Counter()
    for kind, count in found:
        counts[kind] += int(float(count))
    return counts


def free_port() -> int:
    with socket.socket() as free:
        free.bind((ADDRESS, 0))
        port: int = free.getsockname()[1]
        return port


def main() -> None:
    options = Options(__doc__, hosts=(10, 2), pages=(300, 5), rounds=(3, 1), times=(2, 1)).read()
    port = free_port()
    web = Web(hosts=options.hosts, pages_per_host=options.pages, mix=Mix.plain())
    with (
        tempfile.TemporaryDirectory() as folder,
        object_store(Path(folder, "s3"), f"-metricsPort={port}") as environment,
        FakeWeb(web) as fake,
    ):
        os.environ.update(environment | {places.CACHE: f"{folder}/cache"})
        os.environ.update(bucket.variables_of_engine(os.environ))
        here: list[Run] = []
        there: list[Run] = []
        with Engine(EngineConfig()) as engine:
            crawled(f"{folder}/warm", fake, engine, 1)
            for number in range(options.times):
                here.append(crawled(f"{folder}/{number}", fake, engine, options.rounds))
                before = requests(port)
                root = f"s3://{BUCKET}/{uuid.uuid4().hex}"
                there.append(crawled(root, fake, engine, options.rounds))
                asked = requests(port) - before
        summarize(here, there, asked)


def summarize(here: list[Run], there: list[Run], asked: Counter[str]) -> None:
    local, remote = (min(runs, key=lambda run: run.total_s) for runs in (here, there))
    print(f"load {psutil.getloadavg()[0]:.1f}")
    print(f"{'step':12}{'folder s':>10}{'objects s':>11}{'ratio':>8}")
    for step, seconds in local.seconds.items():
        other = remote.seconds[step]
        print(f"{step:12}{seconds:10.2f}{other:11.2f}{other / seconds:8.2f}")
    ratio = remote.total_s / local.total_s
    print(f"{'all':12}{local.total_s:10.2f}{remote.total_s:11.2f}{ratio:8.2f}")
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in asked.most_common())
    files = len(there[-1].files)
    each = asked.total() / files
    print(f"{asked.total():,} requests ({kinds}) for {files:,} files")
    report(f"{ratio:.2f} × the time of a folder, {each:.1f} requests per file")


if __name__ == "__main__":
    main()
