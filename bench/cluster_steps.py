"""What do the steps of a small crawl cost on a Spark cluster, in jobs and seconds?

    SPARK_HOME=.spark python bench/cluster_steps.py [--hosts 5] [--pages 8] [--manual FOLDER]

A cluster of two workers on this machine crawls a synthetic web of HOSTS hosts with PAGES pages each
in rounds, makes it searchable, and then fetches some pages again: a small round with its harvest.
Then it makes a manual searchable, and the embedded engine does the same.
`make .spark/.unpacked` fetches Spark, which needs Java 17.

Prints for each step how often it ran, its seconds, and what Spark did meanwhile by its event log:
jobs, stages, and how many of these wrote a shuffle. Jobs hardly depend on what else the machine
does, seconds do. The seconds of the manual are those of all its steps, without the start of the
engines.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import psutil
from crawl_cpu import HOST as MANUAL
from crawl_cpu import OWN
from harness import Options, local_settings, manual, report, skip

from gossamer import Crawl
from gossamer.config import EngineConfig
from gossamer.engine.engine import Engine
from gossamer.fakeweb import FakeWeb, Mix, Web

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gossamer.storage.store import StepReport

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.support.spark_cluster import Cluster

ROUNDS = 4
AGAIN = "1"
"""A pattern of the URLs that are fetched again."""
COLUMNS = ("jobs", "stages", "shuffles")


class Event(NamedTuple):
    """Something that Spark did, when it began, in milliseconds."""

    what: str
    at_ms: int


def events(folder: Path) -> Iterator[Event]:
    """Read the event log. A stage that wrote a shuffle is a shuffle, too."""
    for path in folder.iterdir():
        for line in path.read_text(encoding="utf-8").splitlines():
            event: dict[str, Any] = json.loads(line)
            if event["Event"] == "SparkListenerJobStart":
                yield Event("jobs", event["Submission Time"])
            elif event["Event"] == "SparkListenerStageCompleted":
                info = event["Stage Info"]
                yield Event("stages", info["Submission Time"])
                if any("shuffle.write" in each["Name"] for each in info["Accumulables"]):
                    yield Event("shuffles", info["Submission Time"])


def table(reports: Sequence[StepReport], found: Iterable[Event]) -> Iterator[str]:
    """A line per step: runs, seconds and events."""
    counted: defaultdict[str, Counter[str]] = defaultdict(Counter)
    seconds: defaultdict[str, float] = defaultdict(float)
    for event in found:
        step = next((each.step for each in reports if _is_within(each, event)), "none")
        counted[step][event.what] += 1
    for each in reports:
        seconds[each.step] += each.seconds
    runs = Counter(each.step for each in reports)
    yield f"{'':12}{'runs':>6}{'s':>8}" + "".join(f"{name:>10}" for name in COLUMNS)
    for step in [*runs, "none"]:
        cells = "".join(f"{counted[step][name]:10,}" for name in COLUMNS)
        yield f"{step:12}{runs[step]:6}{seconds[step]:8.1f}{cells}"
    sums = "".join(f"{sum(each[name] for each in counted.values()):10,}" for name in COLUMNS)
    yield f"{'all':12}{len(reports):6}{sum(seconds.values()):8.1f}{sums}"


def _is_within(step: StepReport, event: Event) -> bool:
    return 0 <= event.at_ms - step.started_ms <= 1000 * step.seconds


def begun(folder: Path, settings: str, seed: str, engine: Engine) -> Crawl:
    Crawl.create(str(folder), settings).close()
    crawl = Crawl.open(str(folder), engine)
    crawl.inject([seed])
    return crawl


def print_table(title: str, reports: Sequence[StepReport], found: Sequence[Event]) -> None:
    began, last = reports[0].started_ms, reports[-1]
    ended = last.started_ms + 1000 * last.seconds
    print(f"\n{title}, load {psutil.getloadavg()[0]:.1f}")
    print(*table(reports, [each for each in found if began <= each.at_ms <= ended]), sep="\n")


def seconds_of(reports: Sequence[StepReport]) -> float:
    return sum(each.seconds for each in reports)


def main() -> None:
    options = Options(__doc__, hosts=(5, 2), pages=(8, 4)).read()
    if "SPARK_HOME" not in os.environ:
        skip("needs SPARK_HOME (make .spark/.unpacked) and Java 17")
    with tempfile.TemporaryDirectory(prefix="cluster-steps-") as scratch:
        folder, log = Path(scratch), Path(scratch, "events")
        log.mkdir()
        logged = {
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": log.as_uri(),
            "spark.eventLog.rolling.enabled": "false",
            "spark.eventLog.compress": "false",
        }
        web = Web(
            hosts=options.hosts,
            pages_per_host=options.pages,
            mix=Mix.plain(),
            docs={MANUAL: manual(options, scratch)},
        )
        home = Path(os.environ["SPARK_HOME"]).resolve()
        with FakeWeb(web, log_path="/dev/null") as fake:
            plain, own = (local_settings(fake.address, more) for more in ({}, OWN))
            ours, theirs = web.seeds()
            with (
                Cluster(home, folder, sys.executable, options=logged) as cluster,
                Engine(EngineConfig(url=cluster.url, workers=2)) as engine,
            ):
                crawl = begun(folder / "crawl", plain, theirs, engine)
                first = crawl.run(ROUNDS)
                crawl.refresh(AGAIN)
                small = crawl.run(1)
                there = begun(folder / "there", own, ours, engine).run()
            with Engine(EngineConfig()) as engine:
                here = begun(folder / "here", own, ours, engine).run()
        found = list(events(log))
    print_table("from nothing", first, found)
    print_table("a small round", small, found)
    print_table("a manual", there, found)
    print_table("a manual, by the embedded engine", here, [])
    jobs = sum(
        any(_is_within(each, event) for each in small) for event in found if event.what == "jobs"
    )
    ratio = seconds_of(there) / seconds_of(here)
    report(
        f"{jobs} jobs and {seconds_of(small):.1f} s for a small round, {ratio:.2f} × the time of "
        "the embedded engine for a manual"
    )


if __name__ == "__main__":
    main()
