"""Harvests beside the rounds of a crawl without end."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest

from gossamer import Crawl
from gossamer.errors import WorkerDied
from gossamer.flow import harvests, rounds, waiting
from gossamer.flow.check import checks
from gossamer.flow.forever import Listener
from gossamer.flow.harvests import Harvests
from tests.support.crawl_settings import loopback_settings
from tests.support.crawl_tables import garbage
from tests.support.loopback import LONGEST_S, page

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from collections.abc import Iterator
    from pathlib import Path

    from gossamer.engine.engine import Engine
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport
    from tests.support.loopback import Loopback

pytestmark = pytest.mark.slow

FIRST, HELD = "http://a.test/first", "http://a.test/held"
LINKS = b'<a href="/first">first</a> <a href="/held">held</a>'


class Ended(Exception):
    """Ends a crawl in a test."""


class Listening(Listener):
    """Notes the steps in the order of their commits, and ends the crawl when it waits."""

    def __init__(self) -> None:
        self.steps: list[tuple[int, str]] = []

    def report(self, done: StepReport) -> None:
        self.steps.append((done.round, done.step))

    def waits(self, _due_ms: int | None) -> None:
        raise Ended


@pytest.fixture
def crawl(
    server: Loopback, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Crawl]:
    monkeypatch.setattr(waiting, "LOOK_S", 0.01)
    server.answers = {"/": page(LINKS), "/first": page(b"alpha"), "/held": page(b"beta")}
    made = Crawl.create(str(tmp_path / "crawl"), loopback_settings(server.address), engine)
    made.inject(["http://a.test/"])
    yield made
    assert not any(wrong for _, wrong in checks.check_files(made.work))
    assert list(checks.check_contents(made.work)) == []


def test_a_page_is_fetched_while_those_of_the_round_before_are_indexed(
    crawl: Crawl, server: Loopback
) -> None:
    """The server holds back a page of the second round until the first one is searchable."""
    indexed = threading.Event()
    in_time = []

    async def hold(_reader: StreamReader, writer: StreamWriter) -> None:
        in_time.append(await asyncio.to_thread(indexed.wait, LONGEST_S))
        writer.write(page(b"beta"))

    class Indexed(Listening):
        def report(self, done: StepReport) -> None:
            super().report(done)
            if done.step == "index":
                indexed.set()

    server.answers["/held"] = hold
    listener = Indexed()
    with pytest.raises(Ended):
        crawl.run_forever(listener)
    assert in_time == [True]
    steps = listener.steps
    assert steps.index((1, "index")) < steps.index((2, "fetch")) < steps.index((3, "index"))
    assert [name for number, name in steps if number == 1] == [*rounds.ROUND, *rounds.HARVEST]
    assert {hit.url for hit in crawl.search("beta").hits} == {HELD}
    assert garbage(crawl) == set()


def test_rounds_wait_for_a_harvest_while_too_many_documents_are_not_searchable(
    crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first harvest is held back until the crawl has looked around thrice after round 2."""
    monkeypatch.setattr(harvests, "MOST_BEHIND", 1)
    ended, looks = threading.Event(), 0

    class Slow(Listening):
        def report(self, done: StepReport) -> None:
            if done.step == "index":
                assert ended.wait(LONGEST_S)
            super().report(done)

        def look(self) -> None:
            nonlocal looks
            looks += (2, "update") in self.steps
            if looks == 3:
                assert (3, "generate") not in self.steps
                ended.set()

    listener = Slow()
    with pytest.raises(Ended):
        crawl.run_forever(listener)
    assert listener.steps.index((1, "index")) < listener.steps.index((3, "generate"))


def test_what_was_crawled_beside_a_harvest_is_harvested_next(crawl: Crawl) -> None:
    """The harvest of the first round is held back until the third one has begun."""
    later = threading.Event()

    class Held(Listening):
        def announce(self, step: str, round_: int) -> None:
            if (step, round_) == ("generate", 3):
                later.set()

    def held(work: Workspace) -> StepReport:
        assert later.wait(LONGEST_S)
        return invert(work)

    invert = rounds.HARVEST["invert"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rounds, "HARVEST", {**rounds.HARVEST, "invert": held})
        listener = Held()
        with pytest.raises(Ended):
            crawl.run_forever(listener)
    steps = listener.steps
    assert steps.index((2, "update")) < steps.index((1, "invert"))
    assert [number for number, name in steps if name == "index"] == [1, 3, 3]
    rows = {row["url"]: row["round"] for row in crawl.dataset("indexed").collect()}
    assert rows == {"http://a.test/": 1, FIRST: 2, HELD: 2}
    assert {hit.url for hit in crawl.search("beta").hits} == {HELD}


def test_new_pages_are_searchable_first_and_links_count_in_the_end(
    crawl: Crawl, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second harvest has a new page, whose link names another page."""
    server.answers["/held"] = page(b'beta <a href="/first">epsilon</a>')
    shown: dict[str, set[str]] = {}

    def rank(work: Workspace) -> StepReport:
        reader = Crawl.open(crawl.path, crawl.work.engine)
        for word in ("beta", "epsilon"):
            shown[word] = {hit.url for hit in reader.search(word).hits}
        return ranked(work)

    ranked = rounds.HARVEST["rank"]
    monkeypatch.setattr(rounds, "HARVEST", {**rounds.HARVEST, "rank": rank})
    crawl.run(1)
    shown.clear()
    listener = Listening()
    with pytest.raises(Ended):
        crawl.run_forever(listener)
    assert shown == {"beta": {HELD}, "epsilon": {HELD}}
    harvested = [name for _, name in listener.steps if name in rounds.HARVEST]
    assert harvested == [*rounds.NEW_FIRST, *rounds.SEARCHABLE]
    assert {hit.url for hit in crawl.search("epsilon").hits} == {FIRST, HELD}
    indexed = crawl.dataset("indexed").collect()
    for _ in rounds.harvest(crawl.work):
        pass
    assert crawl.dataset("indexed").collect() == indexed


def test_links_take_a_part_of_the_time_and_count_in_the_end(crawl: Crawl) -> None:
    """Each step of links takes a second, and a round begins every five seconds."""
    seconds, steps = [0.0], []

    def report(done: StepReport) -> None:
        steps.append(done.step)
        seconds[0] += done.step in rounds.OF_LINKS

    crawl.run()
    with Harvests(lambda *_: None, report, lambda: seconds[0]) as harvests:
        for _ in range(7):
            assert harvests.are_due(found=True, hurries=True)
            harvests.begin(crawl.work)
            harvests.wait(LONGEST_S)
            seconds[0] += 5
        while harvests.are_due(found=False):
            harvests.begin(crawl.work)
            harvests.wait(LONGEST_S)
        assert not harvests.is_behind
    new = rounds.SEARCHABLE
    until_links = *rounds.NEW_FIRST, *new, *new
    assert steps == [*until_links, *new, *until_links, *rounds.HARVEST]


def test_an_error_of_a_harvest_ends_the_crawl(
    crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(_: Workspace) -> StepReport:
        raise WorkerDied("worker process 1", "died", "start it again")

    monkeypatch.setattr(rounds, "HARVEST", {**rounds.HARVEST, "rank": dies})
    with pytest.raises(WorkerDied):
        crawl.run_forever(Listening())
    with crawl.work.store.lock():
        assert "graph" in {done.step for done in crawl.work.store.manifest.history}


def test_a_harvest_that_is_given_up_commits_nothing(
    crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, over, done = threading.Event(), threading.Event(), threading.Event()

    class Impatient(Listening):
        def look(self) -> None:
            if begun.is_set():
                raise Ended

    def slow(work: Workspace) -> StepReport:
        begun.set()
        assert over.wait(LONGEST_S)
        try:
            return invert(work)
        finally:
            done.set()

    invert = rounds.HARVEST["invert"]
    monkeypatch.setattr("gossamer.flow.harvests.END_S", 0.0)
    monkeypatch.setattr(rounds, "HARVEST", {**rounds.HARVEST, "invert": slow})
    with pytest.raises(Ended):
        crawl.run_forever(Impatient())
    with crawl.work.store.lock():  # somebody else may work now
        version = crawl.work.store.manifest.version
        over.set()
        assert done.wait(LONGEST_S)
        assert crawl.work.store.refresh().version == version
        crawl.work.store.collect_garbage(keep_versions=0)
    assert garbage(crawl) == set()
