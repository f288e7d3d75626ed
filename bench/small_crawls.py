"""What does each step cost if there is next to nothing to do, in several versions of Gossamer?

    python bench/small_crawls.py [--src SRC]... [--repeat 5] [--crawls 4]

Each SRC is the `src` of a checkout, by default of this one. In turns, a process for each of them
crawls a web of two hosts and some 16 pages again and again, on one embedded engine, as the tests
do: three rounds with a harvest after each, then one in which all pages are fetched again. Printed
are the CPU milliseconds of a run of each step, its workers' and the engine's included, in the
cheapest process, and the queries that it sent to the engine, with the questions about columns.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
from local_settings import local_settings

import gossamer as package
from gossamer import Crawl
from gossamer.config import EngineConfig
from gossamer.engine import Engine
from gossamer.fakeweb import FakeWeb, Mix, Web

if TYPE_CHECKING:
    from collections.abc import Callable

ASKED = ("_execute_plan_request_with_metadata", "_analyze_plan_request_with_metadata")
"""Methods of pyspark's client that begin a query, and a question about one."""


class Meter:
    """Adds up the CPU seconds and queries of each step."""

    def __init__(self, web: int) -> None:
        self.cpu_s: defaultdict[str, float] = defaultdict(float)
        self.queries: Counter[str] = Counter()
        self.runs: Counter[str] = Counter()
        self._web = web
        self._began_s = 0.0
        self._asked = self._before = 0

    def count_queries(self, client: object) -> None:
        for name in ASKED:
            setattr(client, name, self._counted(getattr(client, name)))

    def _counted(self, ask: Callable[..., object]) -> Callable[..., object]:
        def counted(*words: object, **named: object) -> object:
            self._asked += 1
            return ask(*words, **named)

        return counted

    def begin(self, *_: object) -> None:
        self._began_s, self._before = self._used_s(), self._asked

    def end(self, step: str) -> None:
        self.cpu_s[step] += self._used_s() - self._began_s
        self.queries[step] += self._asked - self._before
        self.runs[step] += 1

    def _used_s(self) -> float:
        """CPU seconds of this process and its workers."""
        used_s = time.process_time()
        for process in psutil.Process().children(recursive=True):
            if process.pid != self._web:
                times = process.cpu_times()
                used_s += times.user + times.system
        return used_s


def crawl(fake: FakeWeb, folder: str, engine: Engine, meter: Meter, rounds: int = 4) -> None:
    made = Crawl.create(folder, local_settings(fake.address, {}), engine)
    meter.begin()
    made.inject(fake.web.seeds())
    meter.end("inject")
    for number in range(rounds):
        if number == 3:  # all pages are fetched by then
            meter.begin()
            made.refresh()
            meter.end("refresh")
        made.run(rounds=1, announce=meter.begin, report=lambda done: meter.end(done.step))


def measured(crawls: int) -> dict[str, tuple[float, float]]:
    """CPU milliseconds and queries of a run of each step."""
    web = Web(hosts=2, pages_per_host=8, mix=Mix.plain())
    with (
        FakeWeb(web, log_path="/dev/null") as fake,
        Engine(EngineConfig(workers=2)) as engine,
        tempfile.TemporaryDirectory(prefix="small-crawls-") as folder,
    ):
        crawl(fake, f"{folder}/first", engine, Meter(fake.pid), rounds=1)  # imports
        meter = Meter(fake.pid)
        meter.count_queries(engine.spark.client)
        for number in range(crawls):
            crawl(fake, f"{folder}/{number}", engine, meter)
    return {
        step: (1000 * cpu_s / meter.runs[step], meter.queries[step] / meter.runs[step])
        for step, cpu_s in meter.cpu_s.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--src", type=Path, action="append", metavar="SRC")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--crawls", type=int, default=4)
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        print(json.dumps(measured(options.crawls)))
        return
    sources = [src.resolve() for src in options.src or [Path(package.__path__[0]).parent]]
    found: defaultdict[Path, list[dict[str, tuple[float, float]]]] = defaultdict(list)
    for _ in range(options.repeat):
        for src in sources:
            command = [sys.executable, __file__, "--alone", "--crawls", str(options.crawls)]
            env = os.environ | {"PYTHONPATH": str(src)}
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=env)
            found[src].append(json.loads(done.stdout.splitlines()[-1]))
    for number, src in enumerate(found, 1):
        print(f"{number}: {src}")
    titles = [
        f"{number}: {what:7}" for number in range(1, len(found) + 1) for what in ("ms", "queries")
    ]
    print(f"{'':12}", *titles)
    steps = list(found[sources[0]][0])
    total = [0.0] * 2 * len(sources)
    for step in steps:
        cells = []
        for runs in found.values():
            cells += [min(run[step][kind] for run in runs) for kind in (0, 1)]
        total = [sum(each) for each in zip(total, cells, strict=True)]
        print(f"{step:12}", *(f"{cell:10.1f}" for cell in cells))
    print(f"{'all':12}", *(f"{cell:10.1f}" for cell in total))


if __name__ == "__main__":
    main()
