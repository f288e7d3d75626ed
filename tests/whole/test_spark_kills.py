"""Executors and whole workers of a cluster are killed in all steps: nothing is lost or doubled.

An executor is a JVM with its Python workers. A worker is a machine: the process that starts
executors, and all that it has started. Spark starts another executor, and the test another worker.
A step may fail, if Spark has lost the same task four times. Then it is run again, as users do.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from gossamer.api.crawl import Crawl
from gossamer.config import EngineConfig
from gossamer.engine.engine import Engine
from gossamer.errors import EngineError, UsageError
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.fakeweb.request_log import group_by_host
from gossamer.fetch.cluster import fetch_lease
from gossamer.flow.rounds import HARVEST, ROUND
from tests.support.crawl_settings import loopback_settings
from tests.support.crawl_tables import answers, damaged_records, tables

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport
    from tests.support.spark_cluster import Cluster

pytestmark = pytest.mark.spark

_log = logging.getLogger(__name__)

STEPS = {**ROUND, **HARVEST}
FEW_STEPS = ("fetch", "parse", "dedup", "index")
DELAY_S = 0.3
SETTINGS = f"""
fetch.delay_s = {DELAY_S}
generate.pages = 36
rank.damping = 0.01
rank.tolerance = 1e-12
"""
"""With this damping, ranks are so exact after six iterations. By joins, each is two queries."""
BY_JOINS = "rank.memory_gb = 1e-9\n"
"""Else most of `rank` happens in the driver."""
MOST_S = 2.0
"""Between the begin of a step and a kill, or between two kills in a step."""
AGAIN = 1 / 3
"""The chance of another kill in the same step."""
EVERY = 4
"""One kill in so many takes a whole worker."""
SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "50ms",
    "spark.speculation.minTaskRuntime": "50ms",
    "spark.speculation.multiplier": "1.01",
    "spark.speculation.quantile": "0.1",
}
"""Copies of all tasks that are slower than others."""
MARKED = "as speculatable"


@pytest.fixture(scope="module")
def web() -> Iterator[FakeWeb]:
    mix = Mix(calendars=0, crawl_delay=0, slow=0)
    with FakeWeb(Web(hosts=6, pages_per_host=60, page_bytes=3_000, mix=mix)) as fake:
        yield fake


@pytest.fixture(scope="module")
def speculating(new_cluster: Callable[..., Cluster]) -> Iterator[Cluster]:
    with new_cluster(options=SPECULATION) as started:
        yield started


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(7, 7 + metafunc.config.getoption("seeds")))


class Killer:
    """Kills executors and workers of a cluster while steps run on it."""

    def __init__(
        self, cluster: Cluster, chance: Random, kills: int, steps: Collection[str] = STEPS
    ) -> None:
        """`steps`: the names of those during which it kills."""
        self._cluster, self._chance, self._kills, self._steps = cluster, chance, kills, steps
        self.killed: Counter[tuple[str, str]] = Counter()
        """By step, and by what was killed: "executor" or "worker"."""
        self.failed: Counter[str] = Counter()
        """Steps that had to be run again."""

    @property
    def is_done(self) -> bool:
        return self.killed.total() >= self._kills

    def run(self, name: str, step: Callable[[Workspace], StepReport], work: Workspace) -> None:
        """Run a step until it succeeds, in a thread: the one that starts workers has to live."""
        with ThreadPoolExecutor(1) as thread:
            while True:
                before = self.killed.total()
                running = thread.submit(step, work)
                self._disturb(name, running)
                try:
                    running.result()
                except EngineError:
                    assert self.killed.total() > before, "the error has another reason"
                    self.failed[name] += 1
                    _log.info("%s: has to be run again", name)
                else:
                    break

    def _disturb(self, name: str, running: Future[StepReport]) -> None:
        """Kill at least once while a step runs, if it runs for so long."""
        again = name in self._steps
        while again and not self.is_done:
            wait([running], self._chance.uniform(0, MOST_S))
            if running.done():
                break
            kind = self._kill()
            self.killed[name, kind] += 1
            _log.info("%s: %s killed", name, kind)
            again = self._chance.random() < AGAIN

    def _kill(self) -> str:
        if self.killed.total() % EVERY == EVERY - 1:
            self._cluster.kill_worker(self._chance.randrange(len(self._cluster.workers)))
            return "worker"
        while not (executors := self._cluster.executors()):
            threading.Event().wait(0.1)
        executor = self._chance.choice(executors)
        executor.kill()
        psutil.wait_procs([executor])
        return "executor"


def created(root: str, web: FakeWeb, engine: Engine, more: str = "") -> Crawl:
    crawl = Crawl.create(root, loopback_settings(web.address, SETTINGS + more), engine=engine)
    crawl.inject(url for host in web.web.hosts() for url in web.web.urls(host))
    return crawl


def disturbed(crawl: Crawl, killer: Killer, fetching: Engine) -> int:
    """Crawl, with a harvest after each round, until there were enough kills: how many rounds."""
    work = crawl.work
    with work.store.lock():
        while not killer.is_done:
            for name, step in STEPS.items():
                killer.run(name, step, replace(work, _engine=fetching) if name == "fetch" else work)
    return work.round


def check_equal(crawl: Crawl, web: FakeWeb, engine: Engine, folder: Path, rounds: int) -> None:
    """Compare a crawl with one that nobody disturbed."""
    undisturbed = created(str(folder / "undisturbed"), web, engine)
    for _ in range(rounds):
        undisturbed.run(rounds=1)
    assert tables(crawl) == tables(undisturbed)
    titles = [row.title for row in undisturbed.dataset("documents").limit(20).collect()]
    assert answers(crawl, titles) == answers(undisturbed, titles)
    assert any(answers(crawl, titles).values())
    assert damaged_records(crawl) == []


def check_polite(web: FakeWeb, since: int) -> None:
    """Check that no host was asked before its delay had passed."""
    for requests in group_by_host(web.log()[since:]).values():
        gaps = [after.monotonic_s - before.monotonic_s for before, after in pairwise(requests)]
        assert min(gaps, default=DELAY_S) > DELAY_S * 0.95


@pytest.mark.parametrize(
    ("place", "kills", "steps"),
    [
        ("s3", 4, FEW_STEPS),
        pytest.param("s3", 28, STEPS, marks=pytest.mark.long),
        pytest.param("folder", 28, STEPS, marks=pytest.mark.long),
    ],
)
def test_a_crawl_whose_workers_are_killed_is_one_whose_are_not(
    cluster: Cluster,
    spark_engine: Engine,
    engine: Engine,
    web: FakeWeb,
    s3: str,
    tmp_path: Path,
    place: str,
    kills: int,
    steps: Collection[str],
    seed: int,
) -> None:
    began = len(web.log())
    root = s3 if place == "s3" else str(tmp_path / "disturbed")
    killer = Killer(cluster, Random(f"{place} {seed}"), kills, steps)  # noqa: S311  # reproducible
    crawl = created(root, web, spark_engine, BY_JOINS)
    rounds = disturbed(crawl, killer, spark_engine)
    _log.info("%d rounds; killed: %s; run again: %s", rounds, killer.killed, killer.failed)
    check_polite(web, began)
    check_equal(crawl, web, engine, tmp_path, rounds)


@pytest.mark.long
def test_so_it_is_if_tasks_are_run_twice_to_save_time(
    speculating: Cluster,
    s3_engine: Engine,
    engine: Engine,
    web: FakeWeb,
    s3: str,
    tmp_path: Path,
    seed: int,
) -> None:
    killer = Killer(speculating, Random(seed), 24)  # noqa: S311  # reproducible
    with Engine(EngineConfig(url=speculating.url)) as started:
        crawl = created(s3, web, started, BY_JOINS)
        refused: Any = fetch_lease.hold(s3, started)
        with pytest.raises(UsageError, match=r"spark\.speculation"), refused:
            pass
        rounds = disturbed(crawl, killer, s3_engine)
        copies = speculating.connect.count(MARKED)
        _log.info("%d copies; killed: %s; run again: %s", copies, killer.killed, killer.failed)
        assert copies > rounds * len(ROUND)
        check_equal(crawl, web, engine, tmp_path, rounds)
