"""How long is it from the end of a fetch to the next round, if delays bound the fetch?

    python bench/parse_ahead.py [--hosts 20] [--pages 100] [--delay-s 0.1] [--src SRC]...
        [--repeat 2]

Each host has so many pages, and is left alone between two requests for the delay. All pages are
seeds, so the crawl is one round. Each SRC is the `src` of a checkout, by default of this one; their
crawls take turns. Printed are the seconds of the fetch, from its end to that of `update`, and of
`parse` in that, the CPU time of the crawl (parsing, ranking and indexing included), and the number
of files of responses and of documents.
"""

from __future__ import annotations

import argparse
import compileall
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from crawl import adopt_orphans, children_s
from local_settings import local_settings
from searchable import reap_orphans

import gossamer as package
from gossamer.backends import open_backend
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.store import Store

COLUMNS = "{:>8}{:>8}{:>8}{:>8}{:>11}{:>11}{:>7}"
HEAD = ("fetch s", "then s", "parse s", "CPU s", "responses", "documents", "load")


class Run(NamedTuple):
    fetch_s: float
    then_s: float
    parse_s: float
    cpu_s: float
    responses: int
    documents: int

    def row(self) -> str:
        times = (f"{seconds:.2f}" for seconds in self[:4])
        return COLUMNS.format(*times, *self[4:], f"{os.getloadavg()[0]:.1f}")


def crawled(src: Path, fake: FakeWeb, delay_s: float) -> Run:
    command = [str(Path(sys.executable).with_name("gossamer")), "crawl"]
    seeds = [url for host in fake.web.hosts() for url in fake.web.urls(host)]
    with tempfile.TemporaryDirectory(prefix="parse-ahead-") as folder:
        settings = local_settings(fake.address, {"fetch.delay_s": delay_s})
        Path(folder, "gossamer.toml").write_text(settings)
        before_s = children_s()
        subprocess.run(
            [*command, folder, *seeds, "--rounds", "1"],
            check=True,
            stdout=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": str(src)},
        )
        reap_orphans(fake.pid)
        cpu_s = children_s() - before_s
        store = Store.open(open_backend(folder))
        files = [len(store.listed(name)) for name in ("responses", "documents")]
    done = {report.step: report for report in store.manifest.history}
    fetch, update = done["fetch"], done["update"]
    then_s = (update.started_ms - fetch.started_ms) / 1000 + update.seconds - fetch.seconds
    return Run(fetch.seconds, then_s, done["parse"].seconds, cpu_s, *files)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--hosts", type=int, default=20)
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--delay-s", type=float, default=0.1)
    parser.add_argument("--src", type=Path, action="append", metavar="SRC")
    parser.add_argument("--repeat", type=int, default=2)
    options = parser.parse_args()
    sources = [src.resolve() for src in options.src or [Path(package.__path__[0]).parent]]
    adopt_orphans()
    for src in sources:
        compileall.compile_dir(src / "gossamer", quiet=1)
    mix = Mix.plain()
    web = Web(hosts=options.hosts, pages_per_host=options.pages, page_bytes=40_000, mix=mix)
    print(COLUMNS.format(*HEAD))
    with FakeWeb(web, log_path="/dev/null") as fake:
        for _ in range(options.repeat):
            for src in sources:
                print(crawled(src, fake, options.delay_s).row(), f" {src}", flush=True)


if __name__ == "__main__":
    main()
