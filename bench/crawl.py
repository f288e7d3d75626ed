"""How fast is a whole crawl, beside Scrapy's, on the same pages and links?

    python bench/crawl.py [--pages 4000] [--scrapy-pages 400] [--hosts 12] [--docs FOLDER]

Both crawl whole hosts from their home pages. The hosts belong to a fakeweb on loopback, whose
pages (90 KB with 300 links) are generated in advance, or which serves FOLDER as each of them.
Gossamer crawls all hosts, Scrapy one or two. Both obey robots.txt, without delays, on all
cores. Scrapy (scrapy_spider.py) fetches, extracts title, text and links, drops known URLs and
writes JSON lines, in one process, and in two with one host each. "Tuned" removes fragments before
requests are built. Most spiders do not, but it saves requests that the filter of known URLs would
drop. Gossamer runs rounds until nothing is due, and stores page state, WARC, links and documents.
"links" in the table are a page's distinct targets, without fragments.

CPU is that of all processes of the crawler, including the embedded engine, but not of the web.
Both clocks start when the crawler is ready (the reactor runs; the engine and its workers are up);
"with start" adds the interpreter, imports and the start of the engine.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness import Options, local_settings, report
from measuring import adopt_orphans, children_s, tree_cpu_s

from gossamer.api import Crawl
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.flow.rounds import ROUND
from gossamer.storage.task_output import YIELD, YIELD_DDL

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport

SPIDER = Path(__file__).with_name("scrapy_spider.py")
TEST_HOSTS = r"^http://[^/]+\.test/"


@dataclass(frozen=True)
class Run:
    crawler: str
    pages: int
    page_bytes: float
    links: float
    wall_s: float
    cpu_s: float
    whole_wall_s: float
    whole_cpu_s: float

    @property
    def pages_per_s(self) -> float:
        return self.pages / self.wall_s

    @property
    def cpu_ms(self) -> float:
        return 1000 * self.cpu_s / self.pages


def rounds(work: Workspace) -> Iterator[StepReport]:
    while True:
        for step in ROUND.values():
            yield (done := step(work))
            if done.counts.get("pages") == 0:
                return


def gossamer(
    fake: FakeWeb, seeds: list[str], pages: int, folder: Path
) -> tuple[Run, dict[str, float]]:
    """Run rounds until nothing is due; also return the seconds of each step."""
    settings = local_settings(
        fake.address,
        {"filter.allow": [TEST_HOSTS], "generate.pages": pages, "generate.pages_per_host": pages},
    )
    steps: defaultdict[str, float] = defaultdict(float)
    fetched = 0
    began_s, before_s = time.perf_counter(), tree_cpu_s(fake.pid)
    with Crawl.create(str(folder), settings) as crawl:
        crawl.inject(seeds)
        engine = crawl.work.engine
        engine.map_tasks(range(engine.workers), lambda _: (), YIELD, YIELD_DDL)  # workers are up
        started_s, started_cpu_s = time.perf_counter(), tree_cpu_s(fake.pid)
        for done in rounds(crawl.work):
            steps[done.step] += done.seconds
            fetched += done.counts.get("documents", 0)
        wall_s = time.perf_counter() - started_s
        cpu_s = tree_cpu_s(fake.pid) - started_cpu_s
        documents = (
            crawl.dataset("documents").selectExpr("sum(body_bytes)", "sum(links)").collect()[0]
        )
    start_s, start_cpu_s = started_s - began_s, started_cpu_s - before_s
    run = Run(
        "Gossamer",
        fetched,
        documents[0] / fetched,
        documents[1] / fetched,
        wall_s,
        cpu_s,
        wall_s + start_s,
        cpu_s + start_cpu_s,
    )
    return run, steps


def scrapy(fake: FakeWeb, hosts: list[str], folder: Path, *, tuned: bool, most: int = 0) -> Run:
    """Run one process per host; the wall time ends with the last of them.

    Each stops soon after `most` pages, unless this is 0.
    """
    tasks = [
        {"host": host, "out": str(folder / f"{host}-{tuned}.jsonl"), "tuned": tuned, "most": most}
        for host in hosts
    ]
    began_s, before_s = time.perf_counter(), children_s()
    running = [
        subprocess.Popen(
            [sys.executable, str(SPIDER), json.dumps(task)],
            stdout=subprocess.PIPE,
            env={"http_proxy": f"http://{fake.address}"},
        )
        for task in tasks
    ]
    done = [json.loads(process.communicate()[0]) for process in running]
    fetched = sum(each["pages"] for each in done)
    return Run(
        f"Scrapy{' tuned' * tuned} × {len(hosts)}",
        fetched,
        sum(each["bytes"] for each in done) / fetched,
        sum(each["links"] for each in done) / fetched,
        max(each["to_s"] for each in done) - min(each["from_s"] for each in done),
        sum(each["cpu_s"] for each in done),
        time.perf_counter() - began_s,
        children_s() - before_s,
    )


def web_of(options: argparse.Namespace) -> Web:
    if options.docs:
        docs = {f"docs-{number}.test": options.docs for number in range(options.hosts)}
        return Web(hosts=0, docs=docs)
    return Web(
        hosts=options.hosts,
        pages_per_host=options.pages / options.hosts,
        page_bytes=options.page_bytes,
        mix=Mix.plain(),
        cache_bytes=4 << 30,
    )


def hosts_for(web: Web, pages: int, processes: int) -> list[str]:
    """Return one host for each Scrapy process, with about `pages` pages together."""
    if web.docs:
        return list(web.docs)[:processes]
    return sorted(web.hosts(), key=lambda host: abs(web.size(host) - pages / processes))[:processes]


def print_runs(runs: list[Run]) -> None:
    print(f"{'':20}{'pages':>7}{'KB':>6}{'links':>7}{'pages/s':>9}{'CPU ms':>8}", end="")
    print(f"{'with start: pages/s':>21}{'CPU ms':>8}")
    for run in runs:
        print(
            f"{run.crawler:20}{run.pages:7,}{run.page_bytes / 1000:6.0f}{run.links:7.0f}"
            f"{run.pages_per_s:9.1f}{run.cpu_ms:8.2f}"
            f"{run.pages / run.whole_wall_s:21.1f}{1000 * run.whole_cpu_s / run.pages:8.2f}"
        )
    ours, *theirs = runs
    for run in theirs:
        print(
            f"Gossamer / {run.crawler}: {ours.pages_per_s / run.pages_per_s:.1f} × the pages/s, "
            f"{run.cpu_ms / ours.cpu_ms:.1f} × the pages per CPU second"
        )


def main() -> None:
    parser = Options(
        __doc__,
        pages=(4_000, 40),
        scrapy_pages=(400, 8),
        hosts=(12, 2),
        page_bytes=(90_000, 9_000),
    )
    parser.add_argument("--docs", type=Path, help="a folder of HTML files, which each host serves")
    options = parser.read()
    adopt_orphans()
    web = web_of(options)
    seeds = [f"http://{host}/" for host in web.hosts()]
    with tempfile.TemporaryDirectory(prefix="crawl-") as folder:
        warm = 0 if options.docs else 2 * options.pages
        with FakeWeb(web, warm=warm, log_path="/dev/null") as fake:
            ours, steps = gossamer(fake, seeds, options.pages, Path(folder, "crawl"))
            theirs = [
                scrapy(
                    fake,
                    hosts_for(web, options.scrapy_pages, processes),
                    Path(folder, "items"),
                    tuned=tuned,
                )
                for tuned in (False, True)
                for processes in (1, 2)
            ]
    print_runs([ours, *theirs])
    each = ", ".join(f"{name} {1000 * s / ours.pages:.2f}" for name, s in steps.items())
    print(f"Gossamer's elapsed ms per page: {each}")
    tuned = theirs[2]
    report(f"{tuned.cpu_ms / ours.cpu_ms:.1f} × the pages per CPU second of tuned Scrapy")


if __name__ == "__main__":
    main()
