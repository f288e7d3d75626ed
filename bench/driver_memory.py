"""Does the driver of a Spark cluster take more memory when a crawl grows?

    SPARK_HOME=.spark python bench/driver_memory.py [--fewer 100_000] [--more 1_000_000]

For both numbers of known pages, `update`, `generate`, `invert` and `rank` (by joins) run over a
synthetic crawl, in which a round has found half as many links as it knows pages. Each size has a
new process, and a new cluster of one worker, whose Connect server has a heap of HEAP_MB. `make
.spark/.unpacked` fetches Spark, which needs Java 17.

Prints the seconds of the steps, and the peak memory of the process and of the server.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import duckdb
import psutil
from harness import Options, report, skip
from msgspec import structs
from page_state import sized
from synthetic import NOW_MS, layer_of, make_links, make_pages

from gossamer.config import Config, EngineConfig
from gossamer.engine.engine import Engine
from gossamer.links import invert, rank
from gossamer.schedule import generate, update
from gossamer.state.workspace import Workspace
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.store import StepReport, Store

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.support.spark_cluster import Cluster

HEAP_MB = 512
CHOSEN = 10_000
"""Pages that `generate` selects."""
STEPS = {"update": update.run, "generate": generate.run, "invert": invert.run, "rank": rank.run}


def made(root: Path, known: int) -> None:
    """Write a crawl that knows `known` pages and has parsed a round."""
    store, sql = Store.create(LocalBackend(root)), duckdb.connect()
    base, links = root / "pages" / "base", root / "links" / "round-1"
    make_pages(sql, base, known)
    store.commit(StepReport("inject", 0, 0, 0.0), append={"pages": layer_of(root, base, 0)})
    make_links(sql, links, base, known // 2, 1)
    store.commit(StepReport("parse", 1, 0, 0.0), append={"links": layer_of(root, links, 1)})


def run(root: Path, url: str) -> tuple[dict[str, float], float]:
    """Run the steps in this process; return their seconds, and its peak memory in MB."""
    config = sized(Config(), CHOSEN)
    config = structs.replace(config, rank=structs.replace(config.rank, memory_gb=1e-9))
    seconds = {}
    with Engine(EngineConfig(url=url)) as engine:
        store = Store.open(LocalBackend(root))
        work = Workspace(store, config, clock_ms=NOW_MS, _engine=engine)
        for name, step in STEPS.items():
            began_s = time.monotonic()
            step(work)
            seconds[name] = time.monotonic() - began_s
    return seconds, peak_mb(os.getpid())


def peak_mb(pid: int) -> float:
    found = re.search(r"VmHWM:\s*(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found
    return int(found[1]) / 1000


def main() -> None:
    options = Options(__doc__, fewer=(100_000, 200), more=(1_000_000, 200)).read()
    if "SPARK_HOME" not in os.environ:
        skip("needs SPARK_HOME (make .spark/.unpacked) and Java 17")
    home = Path(os.environ["SPARK_HOME"]).resolve()
    print(f"{'known pages':>12}{'driver MB':>12}{'server MB':>12}  seconds", flush=True)
    drivers_mb = []
    for known in sorted({options.fewer, options.more}):
        with (
            tempfile.TemporaryDirectory(prefix="driver-memory-") as folder,
            ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process,
        ):
            crawl = Path(folder, "crawl")
            made(crawl, known)
            heap = {"spark.driver.memory": f"{HEAP_MB}m"}
            with Cluster(home, Path(folder), sys.executable, workers=1, options=heap) as cluster:
                seconds, driver_mb = process.submit(run, crawl, cluster.url).result()
                server_mb = peak_mb(cluster.connect.pid)
        drivers_mb.append(driver_mb)
        each = ", ".join(f"{name} {value:.1f}" for name, value in seconds.items())
        print(f"{known:12,}{driver_mb:12.0f}{server_mb:12.0f}  {each}", flush=True)
    print(f"load {psutil.getloadavg()[0]:.1f}")
    times = options.more / options.fewer
    growth = drivers_mb[-1] / drivers_mb[0]
    report(f"{growth:.2f} × the memory of the driver for {times:.0f} × the pages")


if __name__ == "__main__":
    main()
