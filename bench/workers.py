"""How much faster are steps on two workers of a Spark cluster than on one?

    SPARK_HOME=.spark python bench/workers.py [--pages 4000] [--times 2] [--linked 300_000]

`make .spark/.unpacked` fetches Spark, which needs Java 17. A cluster of one worker with one core,
bound to a core of this machine, runs the steps after a fetch on copies of a synthetic crawl; then a
cluster of two such workers does. `rank` runs on another crawl, of LINKED pages with ten links each,
by ITERATIONS joins: otherwise a graph that fits into memory would be ranked without the cluster.

Prints for each step the seconds of its fastest run, and in it the CPU seconds of the workers, of
the Connect server, and of this process; and how many times as fast two workers are. The server and
this process are not bound. If the machine has only two cores, they share them with the workers.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import psutil
import pyarrow as pa
from graph import synthetic
from harness import Options, local_settings, report, skip

from gossamer import Crawl, dedup, fetch, index, parse
from gossamer.config import Config, EngineConfig
from gossamer.dedup import boilerplate
from gossamer.engine.engine import Engine
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.links import invert, rank
from gossamer.schedule import generate, update
from gossamer.state.workspace import Workspace
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.store import Store
from gossamer.storage.task_output import ParquetWriter, layers_of
from gossamer.tables import DATASETS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gossamer.storage.store import Layer, StepReport

    Steps = Mapping[str, Callable[[Workspace], StepReport]]

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.support.spark_cluster import Cluster

HOSTS = 20
TASKS = 4
"""Of each step, and shards of the index, on both clusters."""
ITERATIONS = 4
GROUP_ROWS = 100_000
PLAIN: dict[str, object] = {
    "round": 1,
    "relation": "a",
    "nofollow": False,
    "outcome": "ok",
    "status": "fetched",
}
STEPS: Steps = {
    "parse": parse.run,
    "update": update.run,
    "invert": invert.run,
    "boilerplate": boilerplate.run,
    "dedup": dedup.run,
    "index": index.run,
}
RANK: Steps = {"rank": rank.run}


class Used(NamedTuple):
    """Seconds of the clock, and of CPUs."""

    seconds: float
    workers_s: float
    server_s: float
    driver_s: float


def crawled(folder: Path, pages: int) -> int:
    """A crawl that has fetched a round of a synthetic web; returns how many pages it got."""
    web = Web(hosts=HOSTS, pages_per_host=-(-pages // HOSTS), mix=Mix.plain())
    budgets = {"pages": pages, "pages_per_host": pages, "domain_share": 1}
    settings = {f"generate.{name}": value for name, value in budgets.items()}
    settings["index.shards"] = TASKS
    with (
        FakeWeb(web, log_path="/dev/null") as fake,
        Crawl.create(str(folder), local_settings(fake.address, settings)) as crawl,
    ):
        crawl.inject(url for host in web.hosts() for url in web.urls(host))
        generate.run(crawl.work)
        fetch.run(crawl.work)
        return sum(layer.rows for layer in crawl.work.store.manifest.layers("responses"))


def linked(folder: Path, pages: int) -> None:
    """A crawl of fetched pages with links."""
    work = Workspace(Store.create(LocalBackend(folder)), Config())
    rows = synthetic(pages, 10 * pages)
    sources = np.repeat(np.arange(pages), np.diff(rows.starts))
    others = sources != rows.targets
    urls = pa.array([f"https://www.site-{n // 500:06}.example.org/{n:09}" for n in range(pages)])
    src, dst = (urls.take(pa.array(ends[others])) for ends in (sources, rows.targets))
    with work.step("bench", 1) as draft:
        draft.append["links"] = layer(work, "links", {"src": src, "dst": dst})
        draft.append["responses"] = layer(work, "responses", {"url": urls})
        draft.append["pages"] = layer(work, "pages", {"url": urls})
    work.close()
    settings = f"rank.memory_gb = 1e-9\nrank.iterations = {ITERATIONS}\n"
    (folder / "gossamer.toml").write_text(settings)


def layer(work: Workspace, name: str, columns: dict[str, pa.Array]) -> Layer:
    """Write columns, with PLAIN values or nulls for the others."""
    count = len(next(iter(columns.values())))
    rows = {
        field.name: columns[field.name]
        if field.name in columns
        else pa.repeat(pa.scalar(PLAIN.get(field.name), field.type), count)
        for field in DATASETS[name].schema
    }
    writer = ParquetWriter(work.root, name, work.store.attempt(name))
    for first in range(0, count, GROUP_ROWS):
        writer.write(pa.table(rows).slice(first, GROUP_ROWS))
    return layers_of(writer.close(), 1)[name]


def run(steps: Steps, crawl: Path, cluster: Cluster, engine: Engine) -> dict[str, Used]:
    """Run steps on a copy of a crawl."""
    copy = crawl.with_name("copy")
    shutil.copytree(crawl, copy)
    work = Crawl.open(str(copy), engine).work
    found = {}
    with work.store.lock():
        for name, step in steps.items():
            before = used(cluster)
            step(work)
            found[name] = Used(*(b - a for a, b in zip(before, used(cluster), strict=True)))
    shutil.rmtree(copy)
    return found


def used(cluster: Cluster) -> Used:
    """What was used so far."""
    workers_s = sum(cpu_s(worker.pid) for worker in cluster.workers)
    driver_s = sum(psutil.Process().cpu_times()[:2])
    return Used(time.monotonic(), workers_s, cpu_s(cluster.connect.pid), driver_s)


def cpu_s(pid: int) -> float:
    """CPU seconds of a process and its descendants, and of those that have ended."""
    root = psutil.Process(pid)
    total = 0.0
    for process in (root, *root.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            total += sum(process.cpu_times()[:4])
    return total


def measured(folder: Path, workers: int, times: int, *, warm: bool) -> dict[str, Used]:
    """Return the fastest run of each step on a cluster of `workers` workers."""
    home = Path(os.environ["SPARK_HOME"]).resolve()
    with (
        Cluster(home, folder, sys.executable, workers=workers, bound=True) as cluster,
        Engine(EngineConfig(url=cluster.url, workers=TASKS)) as engine,
    ):
        if warm:
            run({**STEPS, **RANK}, folder / "small", cluster, engine)  # loads the code
        runs = [run(STEPS, folder / "crawl", cluster, engine) for _ in range(times)]
        ranked = [run(RANK, folder / "linked", cluster, engine) for _ in range(times)]
    return {name: min(each[name] for each in runs) for name in STEPS} | min(
        ranked, key=lambda each: each["rank"]
    )


def main() -> None:
    options = Options(__doc__, pages=(4_000, 40), linked=(300_000, 1_000), times=(2, 1)).read()
    if "SPARK_HOME" not in os.environ:
        skip("needs SPARK_HOME (make .spark/.unpacked) and Java 17")
    with tempfile.TemporaryDirectory(prefix="workers-") as scratch:
        folder = Path(scratch)
        pages = crawled(folder / "crawl", options.pages)
        crawled(folder / "small", HOSTS)
        linked(folder / "linked", options.linked)
        one, two = (
            measured(folder, workers, options.times, warm=not options.tiny) for workers in (1, 2)
        )
    machine = f"{psutil.cpu_count()} cores, load {psutil.getloadavg()[0]:.1f}"
    print(f"{pages:,} pages; {options.linked:,} linked ones; {machine}")
    print(f"{'':12}{'one worker':>32}{'two workers':>32}")
    columns = "".join(f"{name:>8}" for name in ("s", "workers", "server", "driver"))
    print(f"{'':12}{columns}{columns}{'ratio':>8}")
    for name, alone in one.items():
        cells = "".join(f"{value:8.1f}" for value in (*alone, *two[name]))
        print(f"{name:12}{cells}{alone.seconds / two[name].seconds:8.2f}")
    whole, halves = (sum(used.seconds for used in each.values()) for each in (one, two))
    report(f"two workers are {whole / halves:.2f} × as fast as one, over all steps")


if __name__ == "__main__":
    main()
