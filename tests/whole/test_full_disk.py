"""A disk that is full at any step: a clear error, nothing lost, and with more space it goes on."""

from __future__ import annotations

import threading
from collections import Counter
from functools import partial
from itertools import count, cycle, islice, product
from typing import TYPE_CHECKING, NamedTuple

import pytest
from tantivy import Document

from gossamer.api.crawl import Crawl
from gossamer.errors import StoreFull
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.flow import rounds, waiting
from gossamer.flow.check import checks
from gossamer.flow.forever import Listener
from gossamer.index.format import schema
from gossamer.index.parts import WriterFeed, index_errors
from gossamer.upkeep import compaction, prune
from tests.support.crawl_settings import loopback_settings
from tests.support.crawl_tables import answers, garbage, tables
from tests.support.resizable_disk import TRIES, Disk, disk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from gossamer.engine.engine import Engine
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport

__all__ = ["disk"]

RUN = {**rounds.ROUND, **rounds.HARVEST, "compact": compaction.run, "prune": prune.run}
STEPS = [*rounds.ROUND, *rounds.ROUND, "compact", "prune", *rounds.HARVEST]
SPARE_PAGES = [2 * 3**n for n in range(8)]
"""So that it fails early, in the middle, late, and at last not at all."""


@pytest.fixture(scope="module")
def web() -> Iterator[FakeWeb]:
    mix = Mix(calendars=0, crawl_delay=0, slow=0)
    with FakeWeb(Web(hosts=4, pages_per_host=30, page_bytes=8_000, mix=mix)) as fake:
        yield fake


def attempt(run: Callable[[Workspace], StepReport], crawl: Crawl) -> StoreFull | None:
    try:
        run(crawl.work)
    except StoreFull as full:
        return full
    return None


@pytest.mark.server
def test_a_disk_that_fills_up_while_documents_are_added(disk: Disk) -> None:
    """tantivy's writing thread then ends, and the next call does not say why."""
    path = disk.folder / "part"
    path.mkdir()
    feed = WriterFeed(schema.create(path).writer(16_000_000, 1))
    texts = (" ".join(f"{n:x}" for n in range(first, first + 5_000)) for first in count(0, 5_000))

    def fill() -> None:
        with index_errors(path):
            for text in islice(texts, TRIES):
                feed.add(Document(text=text))

    with disk.with_space(50), pytest.raises(StoreFull, match=str(path)):
        fill()


@pytest.mark.slow
def test_every_step_survives_a_full_disk(
    web: FakeWeb,
    disk: Disk,
    engine: Engine,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compaction.step, "FEW", 2)
    # Without a limit, or it would pause.
    settings = loopback_settings(web.address, "store.min_free_gb = 0\nstore.warc_versions = 1")
    whole = Crawl.create(str(tmp_path / "whole"), settings, engine)
    starved = Crawl.create(str(disk.folder / "crawl"), settings, engine)
    for crawl in (whole, starved):
        crawl.inject(web.web.seeds())
    for name in STEPS:
        run = RUN[name]
        run(whole.work)
        before = starved.work.store.manifest
        failures = 0
        for pages in SPARE_PAGES:
            with disk.with_space(pages):
                full = attempt(run, starved)
            if full is None:
                break
            failures += 1
            assert full.subject.startswith(str(disk.folder)), (name, full.subject)
            assert "free some space" in full.remedy
            assert starved.work.store.refresh() == before
        else:
            run(starved.work)
        assert failures, name
    assert tables(starved) == tables(whole)
    assert capfd.readouterr().err == ""
    titles = [row.title for row in whole.dataset("documents").limit(10).collect()]
    assert answers(starved, titles) == answers(whole, titles)


# Harvests beside rounds


class Point(NamedTuple):
    """A step of a harvest, and one of the round beside it, which begin at the same time."""

    harvest: str
    round: str
    starved: frozenset[str]
    """The lanes for whose step the disk is nearly full: harvest, round or both. The step of the
    other lane begins when there is space again."""


HARVEST, ROUND = frozenset(["harvest"]), frozenset(["round"])
BOTH = HARVEST | ROUND
POINTS = [
    *(Point(step, "fetch", HARVEST) for step in rounds.HARVEST),
    *map(partial(Point, starved=ROUND), ("graph", "rank", "dedup", "index"), rounds.ROUND),
    Point("invert", "generate", BOTH),
    Point("graph", "parse", BOTH),
    Point("rank", "update", BOTH),
    Point("dedup", "fetch", BOTH),
    Point("index", "update", BOTH),
]
FEW_PAGES = (1, 12)
LEAST = {HARVEST: 8, ROUND: 6, BOTH: 4}
"""Failures in these lanes, for each point with each number of pages."""
SOME = [
    Point("index", "fetch", HARVEST),
    Point("rank", "fetch", ROUND),
    Point("graph", "parse", BOTH),
    Point("index", "update", ROUND),
]
SELDOM = dict.fromkeys(LEAST, 1)
LONGEST_S = 120
"""Nobody waits for longer. If somebody does, the test fails."""


class Ended(Exception):
    """Ends a crawl in a test."""


class Undisturbed(Listener):
    """Runs the steps of a crawl."""

    def run(
        self,
        _name: str,
        _number: int,
        step: Callable[[Workspace], StepReport],
        work: Workspace,
    ) -> StepReport:
        return step(work)


class Starved(Undisturbed):
    """Lets the steps of a point meet in a crawl without end, and starves them."""

    def __init__(self, crawl: Crawl, disk: Disk, point: Point, pages: int) -> None:
        self._crawl, self._disk, self._point = crawl, disk, point
        self._first: int | None = None
        """The first round, which no harvest runs beside."""
        self._met = threading.Barrier(2, partial(disk.leave, pages))
        self._roomy = threading.Event()
        self._begun: set[str] = set()
        self._over: set[str] = set()
        self.failed: set[str] = set()
        """The lanes in which a step failed."""
        self.commits = 0

    def run(
        self,
        name: str,
        number: int,
        step: Callable[[Workspace], StepReport],
        work: Workspace,
    ) -> StepReport:
        self._first = number if self._first is None else self._first
        lane = "round" if name in rounds.ROUND else "harvest"
        begins = name == getattr(self._point, lane) and lane not in self._begun
        try:
            if begins and (lane == "harvest" or number > self._first):
                return self._beside(lane, step, work)
            return step(work)
        except StoreFull:
            self.failed.add(lane)
            raise

    def _beside(
        self, lane: str, step: Callable[[Workspace], StepReport], work: Workspace
    ) -> StepReport:
        self._begun.add(lane)
        self._met.wait(LONGEST_S)
        if lane not in self._point.starved:
            assert self._roomy.wait(LONGEST_S)
        try:
            return step(work)
        finally:
            self._over.add(lane)
            if self._over >= self._point.starved and not self._roomy.is_set():
                self._disk.grow()
                self._roomy.set()
            # A lane that fails ends the crawl, and the other with it, before that fails, too.
            assert self._roomy.wait(LONGEST_S)

    def look(self) -> None:
        if self._over == BOTH and not self.failed:
            raise Ended

    def report(self, _done: StepReport) -> None:
        self.commits += 1

    def may_end(self) -> None:
        """Nothing is left of the steps that failed before."""
        assert garbage(self._crawl) == set()


@pytest.mark.parametrize(
    ("times", "least"),
    [
        pytest.param([*zip(SOME, cycle(FEW_PAGES))], SELDOM, marks=pytest.mark.slow, id="some"),
        pytest.param([*product(POINTS, FEW_PAGES)], LEAST, marks=pytest.mark.long, id="all"),
    ],
)
def test_a_harvest_and_the_round_beside_it_survive_a_full_disk(
    times: list[tuple[Point, int]],
    least: dict[frozenset[str], int],
    disk: Disk,
    engine: Engine,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    listener, do = Undisturbed(), rounds._do

    def heard(
        work: Workspace,
        name: str,
        step: Callable[[Workspace], StepReport],
        number: int,
        announce: Callable[[str, int], None],
    ) -> StepReport:
        return do(work, name, partial(listener.run, name, number, step), number, announce)

    monkeypatch.setattr(rounds, "_do", heard)
    monkeypatch.setattr(compaction.step, "FEW", 2)
    # Which lines a host repeats is looked at when its pages have doubled, so it depends on when
    # harvests were.
    monkeypatch.setattr("gossamer.dedup.boilerplate.host_lines.MIN_PAGES", 1_000_000)
    monkeypatch.setattr(waiting, "LOOK_S", 0.01)
    monkeypatch.setattr("gossamer.flow.harvests.PARTS", 1)
    monkeypatch.setattr("gossamer.flow.harvests.END_S", float(LONGEST_S))
    limits = "store.min_free_gb = 0\nstore.warc_versions = 1\ngenerate.pages = 4\n"
    mix = Mix(calendars=0, crawl_delay=0, slow=0)
    failures = Counter[frozenset[str]]()
    with FakeWeb(Web(hosts=4, pages_per_host=80, page_bytes=3_000, mix=mix)) as web:
        settings = loopback_settings(web.address, limits + "rank.tolerance = 1e-12")
        whole = Crawl.create(str(tmp_path / "whole"), settings, engine)
        starved = Crawl.create(str(disk.folder / "crawl"), settings, engine)
        for crawl in (whole, starved):
            crawl.inject(web.web.seeds())
        for point, pages in times:
            before = starved.work.store.refresh().version
            listener = Starved(starved, disk, point, pages)
            with pytest.raises((StoreFull, Ended)) as ended:
                starved.run_forever(listener)
            assert isinstance(ended.value, StoreFull) == bool(listener.failed), point
            if isinstance(ended.value, StoreFull):
                assert ended.value.subject.startswith(str(disk.folder)), ended.value
                assert "free some space" in ended.value.remedy
            assert starved.work.store.refresh().version == before + listener.commits
            assert not any(wrong for _, wrong in checks.check_files(starved.work))
            failures[frozenset(listener.failed)] += 1
        listener = Undisturbed()
        starved.run(rounds=1)
        whole.run(rounds=starved.work.round)
    assert all(failures[lanes] >= number for lanes, number in least.items()), failures
    assert failures.total() - failures[frozenset()] >= 0.58 * len(times)
    assert garbage(starved) == set()
    assert tables(starved) == tables(whole)
    assert capfd.readouterr().err == ""
    titles = [row.title for row in whole.dataset("documents").limit(10).collect()]
    assert answers(starved, titles) == answers(whole, titles)
