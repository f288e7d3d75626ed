"""A cluster on this machine: a crawl that loses a worker on the way, and a search.

    make demo-cluster

Starts, on loopback: a synthetic web, an object store (SeaweedFS), an Apache Spark cluster of two
workers, and later two search nodes and the server that asks them. The web is crawled to s3://, and
in the middle of a fetch one worker is killed with its tasks, as if its machine were gone. Then the
index is searched, and what came out is compared with the web. All processes end with the demo, and
their logs are kept if it fails.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import psutil
from rich.console import Console
from rich.table import Table

from gossamer import Crawl
from gossamer.cli.step_progress import StepProgress
from gossamer.errors import GossamerError, Stopped, UsageError
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.fakeweb.request_log import group_by_host
from gossamer.state.stopping import CTRL_C
from gossamer.storage import places
from search_cluster import NODES, search_cluster

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.object_store import BUCKET, object_store
from tests.support.spark_cluster import WORKERS, Cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.fakeweb import LogEntry
    from search_cluster import SearchServer

CRAWL = f"s3://{BUCKET}/demo"
HOSTS, PAGES, ROUNDS = 8, 20, 2
DELAY_S = 0.2
LOSS_AFTER = 60
"""Requests after which a worker is lost: in the middle of the second round's fetch."""
LOOK_S = 0.1
SEARCHES = 3
SETTINGS = """\
[engine]
url = "{spark}"
workers = {workers}

[index]
shards = {shards}

[filter]
scope = "any"

[fetch]
delay_s = {delay_s}
delay_factor = 0
address_delay_s = 0
allow_networks = ["127.0.0.0/8"]
host_overrides = {{ "*.test" = "{web}" }}
"""
WORKER = "org.apache.spark.deploy.worker.Worker"
REPEATED = re.compile(r"Starting task (\d+\.[1-9]\d*) in stage (\S+)")
"""The second attempt of task 1 is 1.1."""


class Result(NamedTuple):
    """A line of the summary, and whether it says what it should."""

    name: str
    text: str
    is_right: bool = True


def run(folder: Path, spark_home: Path, console: Console) -> list[Result]:
    """Run everything; returns the lines of the summary."""
    web = Web(hosts=HOSTS, pages_per_host=PAGES, mix=Mix.plain())
    console.print("starting a web and an object store")
    with object_store(folder / "s3") as keys, FakeWeb(web) as fake:
        os.environ.update(keys | {places.CACHE: str(folder / "driver-cache")})
        of_workers = keys | {places.CACHE: str(folder / "workers-cache")}
        with Cluster(
            spark_home, folder, sys.executable, of_workers, announce=console.print
        ) as spark:
            settings = SETTINGS.format(
                spark=spark.url, workers=WORKERS, delay_s=DELAY_S, web=fake.address, shards=NODES
            )
            results = crawled(fake, settings, console)
        results += [repeated(folder), politeness(fake.log())]
        console.print("starting two search nodes and the server that asks them")
        with search_cluster(CRAWL, settings, folder) as server:
            return [*results, *searched(server, web)]


def crawled(fake: FakeWeb, settings: str, console: Console) -> list[Result]:
    """Crawl a web, and lose a worker meanwhile."""
    with Crawl.create(CRAWL, settings) as crawl:
        crawl.inject(f"http://{host}/" for host in fake.web.hosts())
        with StepProgress(crawl.work, console) as progress, losing_a_worker(fake, progress):
            crawl.run(ROUNDS, None, progress.announce, progress.report)
        return [pages(crawl), Result("rounds", str(crawl.work.round))]


@contextmanager
def losing_a_worker(web: FakeWeb, progress: StepProgress) -> Iterator[None]:
    """Kill a worker and its tasks after LOSS_AFTER requests, if the block lasts so long."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(LOOK_S):
            if len(web.log()) >= LOSS_AFTER:
                gone = kill_worker()
                text = f"killed a worker of Spark, with its executor and tasks: {gone} processes"
                progress.tell("killed", text)
                return

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield
    finally:
        over.set()
        watching.join()


def kill_worker() -> int:
    """Kill a worker, its executor and their Python processes; returns how many they were."""
    worker = next(each for each in psutil.Process().children() if WORKER in each.cmdline())
    processes = [worker, *worker.children(recursive=True)]
    for each in processes:
        each.kill()
    return len(processes)


def pages(crawl: Crawl) -> Result:
    """Whether all pages that the rounds reach were fetched, and stored once."""
    reached = crawl.pages().where(f"depth < {ROUNDS}").groupBy("status").count().collect()
    counts = {row["status"]: row["count"] for row in reached}
    stored = sum(layer.rows for layer in crawl.work.store.manifest.layers("responses"))
    text = ", ".join(f"{count} {status}" for status, count in counts.items())
    return Result("pages", f"{text}, {stored} stored", counts == {"fetched": stored})


def repeated(folder: Path) -> Result:
    """The tasks that Spark has run again, because they were lost with the worker."""
    logs = "".join(path.read_text() for path in folder.glob("connect*.log"))
    tasks = [f"{task} of stage {stage}" for task, stage in REPEATED.findall(logs)]
    return Result("tasks repeated", ", ".join(tasks), bool(tasks))


def politeness(log: list[LogEntry]) -> Result:
    """No host may be asked by two tasks at once: the lost one, and the one that repeats it."""
    requests = group_by_host(log).values()
    gap_s = min(
        after.monotonic_s - before.monotonic_s
        for each in requests
        for before, after in pairwise(each)
    )
    text = f"{len(log)}, at least {gap_s:.2f} s apart at each host; the delay is {DELAY_S} s"
    return Result("requests", text, gap_s > 0.95 * DELAY_S)


def searched(server: SearchServer, web: Web) -> Iterator[Result]:
    """Search pages by their titles, which are unique."""
    for host in islice(web.hosts(), SEARCHES):
        title, url = web.title(host, 0), f"http://{host}/"
        found = server.search(title)
        best = found["hits"][0]["url"] if found["hits"] else "nothing"
        text = f"{best}, the best of {found['total']}, in {found['took_ms']:.0f} ms"
        yield Result(f"search “{title}”", text, best == url and not found["missing"])
    up = server.nodes_up()
    yield Result("nodes that answered", ", ".join(up), up == sorted(server.nodes))


def summary(results: list[Result], seconds: float) -> Table:
    table = Table(title="The cluster's crawl", show_header=False, title_justify="left")
    for each in [*results, Result("all", f"{seconds:.0f} s")]:
        table.add_row(each.name, each.text if each.is_right else f"{each.text}: WRONG")
    return table


def check_spark(home: Path) -> None:
    if shutil.which("java") is None:
        raise UsageError("java", "is not installed", "apt-get install openjdk-17-jre-headless")
    if not (home / "bin" / "spark-class").exists():
        raise UsageError(home, "has no Apache Spark", "run `make demo-cluster`, which fetches it")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--spark", type=Path, required=True, help="folder of Spark")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the processes end in order
    console, began_s = Console(highlight=False), time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="gossamer-cluster-"))
    try:
        check_spark(options.spark)
        results = run(folder, options.spark.resolve(), console)
        console.print(summary(results, time.monotonic() - began_s))
        if not all(each.is_right for each in results):
            raise UsageError("the demo", "something is wrong, see above", "read the logs")
    except (KeyboardInterrupt, Stopped):
        shutil.rmtree(folder, ignore_errors=True)
        sys.exit(CTRL_C)
    except (GossamerError, RuntimeError, OSError) as error:
        sys.exit(f"{error}\nThe logs are in {folder}")
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
