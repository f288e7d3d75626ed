"""No round fetches what another one is fetching: whoever plans it, and whatever has died before.

A round is planned when the one before is over, and only the process that has locked the crawl plans
any.
"""

from __future__ import annotations

import subprocess
import threading
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gossamer import Crawl, config, fetch
from gossamer.errors import Locked, StoreError
from gossamer.flow import rounds, waiting
from gossamer.flow.forever import Listener
from gossamer.schedule import generate
from gossamer.storage.names import CONFIG_NAME
from tests.support.bare_rounds import run_rounds
from tests.support.crawl_service import Service
from tests.support.crawl_settings import loopback_settings
from tests.support.crawl_tables import garbage
from tests.support.loopback import LONGEST_S, Held, page
from tests.support.merging_program import GOSSAMER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.engine.engine import Engine
    from gossamer.storage.store import StepReport
    from tests.support.loopback import Loopback

pytestmark = pytest.mark.slow

LINKS = b'<a href="/first">first</a> <a href="/held">held</a>'
URLS = {f"http://a.test{path}" for path in ("/", "/first", "/held")}
ALWAYS_DUE = "\nupdate.interval_days = 0.000001\nupdate.interval_factor = 1"


class Ended(Exception):
    """Ends a crawl in a test."""


@pytest.fixture
def held(server: Loopback) -> Iterator[Held]:
    answer = Held()
    server.answers = {"/": page(LINKS), "/first": page(b"<p>first"), "/held": answer}
    yield answer
    answer.free.set()


@pytest.fixture
def folder(server: Loopback, held: Held, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:  # noqa: ARG001
    """A crawl of the three pages, the last of which is held back."""
    monkeypatch.setattr(waiting, "LOOK_S", 0.01)
    made = tmp_path / "crawl"
    Crawl.create(str(made), loopback_settings(server.address)).close()
    return made


def opened(folder: Path, engine: Engine) -> Crawl:
    return Crawl.open(str(folder), engine)


def listed(crawl: Crawl) -> set[str]:
    return {row["url"] for row in crawl.dataset("fetchlist").select("url").collect()}


def check_once(crawl: Crawl, fetches: int = 1) -> None:
    """Check that each step of a round was committed once, and each page fetched so often."""
    steps = [(done.round, done.step) for done in crawl.work.store.refresh().history]
    of_rounds = Counter(each for each in steps if each[1] in rounds.ROUND)
    assert set(of_rounds.values()) == {1}
    answers = Counter(row["url"] for row in crawl.dataset("responses").collect())
    assert answers == dict.fromkeys(URLS, fetches)
    assert {row["fetches"] for row in crawl.pages().collect()} == {fetches}


def test_a_round_is_planned_when_all_answers_of_the_one_before_are_known(
    folder: Path, held: Held, engine: Engine
) -> None:
    """All pages are always due, so a round that was planned early would choose them again."""
    held.free.set()
    crawl = opened(folder, engine)
    crawl.work.config = config.loads(Path(folder, CONFIG_NAME).read_text() + ALWAYS_DUE, "test")
    lists: list[set[str]] = []

    class Planning(Listener):
        def announce(self, step: str, round_: int) -> None:
            if step == "generate" and round_ > 1:
                assert crawl.work.store.manifest.steps_of(round_ - 1) >= {"fetch", "update"}
                answers = crawl.work.read("responses", round_ - 1).select("url").collect()
                assert {row["url"] for row in answers} == lists[-1]

        def report(self, done: StepReport) -> None:
            if done.step == "generate":
                lists.append(listed(crawl))
            if len(lists) == 3:
                raise Ended

    crawl.inject(["http://a.test/"])
    with pytest.raises(Ended):
        crawl.run_forever(Planning())
    assert lists[-1] == URLS


def test_fetchers_that_outlive_their_process_change_nothing(
    folder: Path, held: Held, server: Loopback, engine: Engine
) -> None:
    """As on a cluster, whose tasks go on for a while when the process that planned them is gone."""
    dead = opened(folder, engine)
    dead.inject(["http://a.test/"])
    run_rounds(dead, 1)
    generate.run(dead.work)
    ended: list[StoreError] = []

    def fetch_on() -> None:
        try:
            fetch.run(dead.work)
        except StoreError as error:
            ended.append(error)

    fetchers = threading.Thread(target=fetch_on)
    fetchers.start()
    assert held.asked.wait(LONGEST_S)
    server.answers["/held"] = page(b"<p>held")
    crawl = opened(folder, engine)
    run_rounds(crawl)
    assert listed(crawl) == set()
    check_once(crawl)
    held.free.set()
    fetchers.join(LONGEST_S)
    assert len(ended) == 1  # its files are garbage of the crawl that went on
    check_once(crawl)
    assert server.paths.count("/held") == 2
    after = opened(folder, engine)
    with after.work.store.lock():
        after.work.store.collect_garbage(keep_versions=2)
    assert garbage(after) == set()


def test_nobody_plans_a_round_while_a_crawl_without_end_fetches(
    folder: Path, held: Held, server: Loopback, engine: Engine
) -> None:
    with Service(folder) as service:
        assert held.asked.wait(LONGEST_S)
        others = [
            subprocess.Popen([*GOSSAMER, *words], stderr=subprocess.PIPE, text=True)
            for words in (
                ("crawl", str(folder)),
                ("crawl", str(folder), "--forever"),
                ("generate", str(folder)),
                ("fetch", str(folder)),
            )
        ]
        for other in others:
            _, errors = other.communicate(timeout=LONGEST_S)
            assert other.returncode == 1
            assert f"kill {service.process.pid}" in errors
        held.free.set()
        while not is_fetched("/held", opened(folder, engine)):
            service.until(event="wait")  # it may have waited before, for what it was fetching
        service.end()
    assert server.paths.count("/held") == 1
    check_once(opened(folder, engine))


def test_what_a_killed_crawl_was_fetching_is_fetched_by_the_same_round(
    folder: Path, held: Held, server: Loopback, engine: Engine
) -> None:
    with Service(folder) as service:
        assert held.asked.wait(LONGEST_S)
        server.answers["/held"] = page(b"<p>held")
        service.process.kill()  # the process that crawls, and its workers, die soon after it
        crawl = opened(folder, engine)
        while not crawled(crawl):
            threading.Event().wait(0.05)
    assert server.paths.count("/held") == 2
    assert server.paths.count("/") == 1
    check_once(crawl)


def is_fetched(path: str, crawl: Crawl) -> bool:
    return any(row["fetches"] for row in crawl.pages().where(f"url LIKE '%{path}'").collect())


def crawled(crawl: Crawl) -> bool:
    try:
        run_rounds(crawl)
    except Locked:
        return False
    return True


def test_a_crawl_that_begins_while_one_without_end_waits_has_its_turn(
    folder: Path, held: Held, server: Loopback, engine: Engine
) -> None:
    held.free.set()

    class Waiting(Listener):
        waits_before = 0

        def waits(self, _due_ms: int | None) -> None:
            self.waits_before += 1
            if self.waits_before == 2:
                raise Ended
            other = opened(folder, engine)
            other.refresh()
            run_rounds(other)
            check_once(other, fetches=2)

    crawl = opened(folder, engine)
    crawl.inject(["http://a.test/"])
    with pytest.raises(Ended):
        crawl.run_forever(Waiting())
    check_once(crawl, fetches=2)
    assert server.paths.count("/held") == 2
