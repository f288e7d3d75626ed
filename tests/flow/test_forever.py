"""A crawl without end."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import threading
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from gossamer import Crawl, config
from gossamer.errors import ConfigError, Locked
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.flow import forever, rounds, waiting
from gossamer.flow.forever import Handover, Listener, Reload
from gossamer.flow.harvests import MOST_BEHIND, PARTS, Harvests
from gossamer.rules.filter_rules import crawl_rules
from gossamer.status.human_units import moment
from gossamer.status.overview import CrawlWatch
from gossamer.storage.names import CONFIG_NAME, is_made_here
from tests.support.command_line import gossamer
from tests.support.crawl_settings import loopback_settings
from tests.support.merging_program import GOSSAMER
from tests.support.systemd_socket import Systemd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gossamer.config import Config
    from gossamer.engine.engine import Engine
    from gossamer.storage.store import StepReport

pytestmark = pytest.mark.slow

ROUND = list(rounds.ROUND)
HARVEST = list(rounds.HARVEST)


class Ended(Exception):
    """Ends a crawl in a test."""


class Script(Listener):
    """Acts each time the crawl waits, and ends it when there is nothing left to do."""

    def __init__(self, *acts: Callable[[int | None], object]) -> None:
        self._acts = list(acts)
        self.steps: list[list[str]] = [[]]
        """Before the first wait, before the second, and so on."""
        self.due_ms: list[int | None] = []
        self.refusals: list[str] = []

    def report(self, done: StepReport) -> None:
        self.steps[-1].append(done.step)

    def waits(self, due_ms: int | None) -> None:
        self.due_ms.append(due_ms)
        if not self._acts:
            raise Ended
        self._acts.pop(0)(due_ms)
        self.steps.append([])

    def refused(self, error: ConfigError) -> None:
        self.refusals.append(str(error))


@pytest.fixture(scope="module")
def fake() -> Iterator[FakeWeb]:
    with FakeWeb(Web(hosts=1, pages_per_host=6, mix=Mix.plain())) as running:
        yield running


@pytest.fixture
def crawl(fake: FakeWeb, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Crawl:
    monkeypatch.setattr(waiting, "LOOK_S", 0.01)
    made = Crawl.create(str(tmp_path / "crawl"), loopback_settings(fake.address), engine)
    made.inject(fake.web.seeds())
    return made


@pytest.fixture(scope="module")
def whole(fake: FakeWeb, engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl that has fetched all pages and harvested."""
    folder = tmp_path_factory.mktemp("whole") / "crawl"
    made = Crawl.create(str(folder), loopback_settings(fake.address), engine)
    made.inject(fake.web.seeds())
    made.run()
    return folder


@pytest.fixture
def idle(whole: Path, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Crawl:
    """A copy of it, in which nothing is due."""
    monkeypatch.setattr(waiting, "LOOK_S", 0.01)
    return Crawl.open(str(shutil.copytree(whole, tmp_path / "crawl")), engine)


def run(crawl: Crawl, *acts: Callable[[int | None], object]) -> Script:
    script = Script(*acts)
    with pytest.raises(Ended):
        crawl.run_forever(script)
    return script


class Life(Script):
    """That of a crawl from its first round until a page is due again, and was fetched again."""

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(self.time_passes)
        self.crawl = crawl
        self.searches: list[tuple[str, str]] = []
        """While it waits: the title that was searched for, and the one that was found first."""
        self.locked_out: list[str] = []
        """The steps beside which another command was refused."""

    def announce(self, step: str, _round: int) -> None:
        with pytest.raises(Locked):
            Crawl.open(self.crawl.path, self.crawl.work.engine).refresh()
        self.locked_out.append(step)

    def time_passes(self, due_ms: int | None) -> None:
        title = self.crawl.dataset("documents").collect()[2]["title"]
        self.searches.append((title, self.crawl.search(title).hits[0].title))
        self.crawl.work.clock_ms = due_ms


@pytest.fixture(scope="module")
def life(fake: FakeWeb, engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Life:
    folder = tmp_path_factory.mktemp("life") / "crawl"
    crawl = Crawl.create(str(folder), loopback_settings(fake.address), engine)
    crawl.inject(fake.web.seeds())
    lived = Life(crawl)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(waiting, "LOOK_S", 0.01)
        with pytest.raises(Ended):
            crawl.run_forever(lived)
    return lived


def test_it_waits_until_the_first_page_is_due_again(life: Life) -> None:
    first, second = life.steps
    assert first[:4] == ROUND
    assert first[-len(HARVEST) :] == HARVEST
    assert second[:4] == ROUND  # of the page that was fetched first
    assert not set(HARVEST) & set(second)  # it was as it had been
    fetched = life.crawl.pages().where("status = 'fetched'").collect()
    assert len(fetched) == 6
    assert {row["fetches"] for row in fetched} == {1, 2}
    assert life.due_ms[1] == min(row["next_fetch_ms"] for row in fetched if row["fetches"] == 1)


def test_what_it_has_fetched_is_found_while_it_waits(life: Life) -> None:
    ((title, found),) = life.searches
    assert title
    assert found == title


def test_others_see_until_when_it_waits(idle: Crawl) -> None:
    seen: set[str | None] = set()

    class Seen(Script):
        def look(self) -> None:
            seen.add(CrawlWatch(idle.work).look()["waiting"])
            if len(seen) > 1:
                raise Ended

    script = Seen(lambda _: None)
    with pytest.raises(Ended):
        idle.run_forever(script)
    assert script.due_ms[0] is not None
    assert seen == {None, f"no page is due before {moment(script.due_ms[0])}"}
    assert CrawlWatch(idle.work).look()["waiting"] is None
    assert is_made_here(".waiting")


@pytest.mark.parametrize("is_long", [True, False])
def test_its_engine_rests_while_it_waits_for_long(
    idle: Crawl, monkeypatch: pytest.MonkeyPatch, is_long: bool
) -> None:
    rests: list[bool] = []
    month_ms = 31 * 86_400_000  # until the first page is due again
    monkeypatch.setattr(forever, "REST_MS", forever.REST_MS if is_long else month_ms)
    monkeypatch.setattr(idle.work.engine, "rest", lambda: rests.append(True))

    class Waiting(Script):
        def look(self) -> None:
            if self.due_ms:
                raise Ended

    with pytest.raises(Ended):
        idle.run_forever(Waiting(lambda _: None))
    assert rests == [True] * is_long


def test_one_that_follows_another_waits_for_its_turn(idle: Crawl) -> None:
    idle.refresh()
    others = idle.work.store.lock()

    class Patient(Script):
        def begins(self) -> None:
            others.__enter__()

        def look(self) -> None:
            if idle.work.store.backend.holder() is not None and not self.looked:
                self.looked = True
                others.__exit__(None, None, None)

        looked = False

    script = Patient()
    with idle.work.store.lock(), pytest.raises(Locked):
        idle.run_forever(script)
    with pytest.raises(Ended):
        idle.run_forever(script, follows=Handover())
    assert script.looked
    assert script.steps[0][:4] == ROUND


def test_another_command_may_change_the_crawl_while_it_waits(idle: Crawl, engine: Engine) -> None:
    def refresh(_due_ms: int | None) -> None:
        Crawl.open(idle.path, engine).refresh()

    script = run(idle, refresh)
    assert script.steps[1][:4] == ROUND
    assert {row["fetches"] for row in idle.pages().where("status = 'fetched'").collect()} == {2}


def test_nobody_else_may_while_it_works(life: Life) -> None:
    assert {*life.locked_out} >= {*ROUND, *HARVEST}


def test_it_does_not_begin_beside_another_crawl(idle: Crawl) -> None:
    with idle.work.store.lock(), pytest.raises(Locked):
        Crawl.open(idle.path, idle.work.engine).run_forever()


def test_it_waits_for_its_turn_after_other_commands(idle: Crawl) -> None:
    others = idle.work.store.lock()
    looked = threading.Event()

    class Patient(Script):
        def look(self) -> None:
            if looked.is_set():
                others.__exit__(None, None, None)
                looked.clear()

    def another_begins(due_ms: int | None) -> None:
        idle.work.clock_ms = due_ms
        others.__enter__()
        looked.set()

    script = Patient(another_begins)
    with pytest.raises(Ended):
        idle.run_forever(script)
    assert script.steps[1][:4] == ROUND


def test_a_wait_ends_when_the_clock_is_set_back(idle: Crawl) -> None:
    """Until when it waits may follow from what the clock was before."""
    looks = count()

    class SetBack(Script):
        def look(self) -> None:
            if len(self.due_ms) == 1:
                idle.work.clock_ms = began_ms - 1_000
                assert next(looks) < 100

    began_ms = idle.work.clock_ms = idle.work.now_ms()
    script = SetBack(lambda _: None)
    with pytest.raises(Ended):
        idle.run_forever(script)
    assert len(script.due_ms) == 2


def test_settings_are_read_anew_on_sighup(idle: Crawl) -> None:
    file = Path(idle.path, CONFIG_NAME)
    text = file.read_text()

    def write(text: str) -> Callable[[int | None], None]:
        def act(_due_ms: int | None) -> None:
            file.write_text(text)
            os.kill(os.getpid(), signal.SIGHUP)

        return act

    class Contact(Script):
        def settings(self, read: Config) -> Config:
            contacts.append(read.fetch.contact)
            return read

    contacts: list[str] = []
    before = signal.getsignal(signal.SIGHUP)
    script = Contact(write(text + '\nfetch.contact = "a@b.test"'), write(text + "\nnonsense = 1"))
    with pytest.raises(Ended):
        idle.run_forever(script)
    assert contacts == ["a@b.test"]
    assert idle.work.config.fetch.contact == "a@b.test"
    (refusal,) = script.refusals
    assert "nonsense" in refusal
    assert str(file) in refusal
    assert signal.getsignal(signal.SIGHUP) is before
    assert [steps[0] for steps in script.steps] == [
        "generate"
    ] * 3  # new settings may make pages due


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('filter.rules = ["deny nonsense x"]', "nonsense"),
        ('filter.deny = ["("]', "filter.deny"),
        ('update.fit_rules = ["allow"]', "update.fit_rules"),
        ('update.scoring = "best"', "best"),
    ],
)
def test_settings_with_which_a_round_would_end_are_refused(
    idle: Crawl, line: str, what: str
) -> None:
    config, script = idle.work.config, Script()
    reload = Reload(idle.work, script)
    with reload.handle_hangup():
        with Path(idle.path, CONFIG_NAME).open("a") as file:
            file.write(f"\n{line}\n")
        os.kill(os.getpid(), signal.SIGHUP)
        assert reload.if_requested()
    (refusal,) = script.refusals
    assert what in refusal
    assert idle.work.config is config


def test_a_file_of_rules_that_breaks_stands_for_its_last_rules(idle: Crawl) -> None:
    file = Path(idle.path, "rules.txt")
    file.write_text("deny suffix .iso\n")
    with Path(idle.path, CONFIG_NAME).open("a") as settings:
        settings.write('\nfilter.files = ["rules.txt"]\n')
    idle.work.config = config.load(Path(idle.path, CONFIG_NAME))
    in_force: list[list[str]] = []

    def goes_on(text: str) -> Callable[[int | None], None]:
        def act(due_ms: int | None) -> None:
            in_force.append([each.rule.text for each in crawl_rules.list_rules(idle.work)])
            file.write_text(text)
            idle.work.clock_ms = due_ms

        return act

    script = run(idle, *map(goes_on, ("deny sufix .iso", "deny sufix .iso\n", "deny suffix .img")))
    (refusal,) = script.refusals
    assert "rules.txt, line 1" in refusal
    assert in_force == [["deny suffix .iso"]] * 3
    assert [each.rule.text for each in crawl_rules.list_rules(idle.work)] == ["deny suffix .img"]
    assert script.steps[1][:4] == script.steps[2][:4] == ROUND


def test_harvests_take_a_part_of_the_time_while_pages_are_due(
    crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = 0.0

    def harvest(*_: object) -> Iterator[StepReport]:
        nonlocal now_s
        now_s += 10
        return iter(())

    def nothing(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(rounds, "harvest", harvest)
    with crawl.work.store.lock(), Harvests(nothing, nothing, lambda: now_s) as harvests:
        assert harvests.are_due(found=True)
        harvests.begin(crawl.work)
        harvests.wait(60)
        assert not harvests.are_due(found=False)  # nothing has changed
        assert not harvests.are_due(found=True)
        now_s += (PARTS - 1) * 10 - 1
        assert not harvests.are_due(found=True)
        assert harvests.are_due(found=False)  # nothing else is left to do
        now_s += 1
        assert harvests.are_due(found=True)


def test_a_harvest_of_many_documents_does_not_wait_until_the_last_one_has_rested(
    crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = 0.0

    def harvest(*_: object) -> Iterator[StepReport]:
        nonlocal now_s
        now_s += 10
        return iter(())

    def ignore(*_: object) -> None: ...

    monkeypatch.setattr(rounds, "harvest", harvest)
    with crawl.work.store.lock(), Harvests(ignore, ignore, lambda: now_s) as harvests:
        harvests.begin(crawl.work)
        harvests.wait(60)
        harvests.behind = MOST_BEHIND - 1
        assert not harvests.are_due(found=True)
        harvests.behind = MOST_BEHIND
        assert harvests.are_due(found=True)
        harvests.begin(crawl.work)
        assert not harvests.is_full


def test_harvests_follow_brief_rounds_that_brought_something(crawl: Crawl) -> None:
    now_s = 0.0

    def ignore(*_: object) -> None: ...

    def report(_: StepReport) -> None:
        nonlocal now_s
        now_s += 10

    with crawl.work.store.lock(), Harvests(ignore, report, lambda: now_s) as harvests:
        harvests.is_stale = False
        assert not harvests.are_due(found=True, is_new=False, hurries=True)
        assert harvests.are_due(found=True, hurries=True)
        list(rounds.round_(crawl.work, ignore))
        harvests.begin(crawl.work)
        harvests.wait(60)
        assert not harvests.is_running()
        assert not harvests.are_due(found=True)
        assert harvests.are_due(found=True, hurries=True)


def test_a_round_of_unchanged_pages_needs_no_harvest(idle: Crawl) -> None:
    def time_passes(due_ms: int | None) -> None:
        idle.work.clock_ms = due_ms

    assert run(idle, time_passes).steps[1] == [*ROUND, "generate"]


@contextmanager
def killed(process: subprocess.Popen[str]) -> Iterator[None]:
    """Kill a process if the block fails, or the end of its output would be awaited for ever."""
    try:
        yield
    except BaseException:
        process.kill()
        raise


def test_the_command_serves_tells_systemd_and_ends_in_order(fake: FakeWeb, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = loopback_settings(fake.address, f"serve.port = {port}\nserve.processes = 1")
    Crawl.create(str(folder), settings).close()
    command = [*GOSSAMER, "crawl", str(folder), *fake.web.seeds()]
    with (
        Systemd(tmp_path) as systemd,
        subprocess.Popen(
            [*command, "--forever", "--serve", "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "NOTIFY_SOCKET": systemd.path, "WATCHDOG_USEC": "60000000"},
        ) as service,
        killed(service),
    ):
        assert service.stdout is not None
        assert service.stderr is not None
        assert systemd.received() == {"READY": "1"}
        assert systemd.received()["STATUS"] == "round 1: generate"
        lines: list[dict[str, Any]] = []
        while not lines or lines[-1].get("event") != "wait":
            lines.append(json.loads(service.stdout.readline()))
        steps = [line["step"] for line in lines if "step" in line]
        assert steps[:4] == ROUND
        assert steps[-len(HARVEST) :] == HARVEST
        assert lines[-1]["text"].startswith("no page is due before 2")
        address = service.stderr.readline().strip()
        assert address == f"http://127.0.0.1:{port}/"
        assert httpx.get(f"{address}status").status_code == 200
        gossamer("inject", folder, *fake.web.seeds())
        service.send_signal(signal.SIGTERM)
        service.communicate()
    with pytest.raises(OSError, match="refused"), socket.create_connection(("127.0.0.1", port)):
        pass


def test_the_command_explains_what_it_cannot_do(fake: FakeWeb, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    said = gossamer("crawl", folder, "--forever", "--rounds", "3", code=2).stderr
    assert "it has no end" in " ".join(said.split())
    said = gossamer("crawl", folder, "--serve", code=2).stderr
    assert "only with --forever" in " ".join(said.split())
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        settings = loopback_settings(fake.address, f"serve.port = {port}")
        Crawl.create(str(folder), settings).close()
        done = subprocess.run(
            [*GOSSAMER, "crawl", str(folder), "http://a.test/", "--forever", "--serve"],
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert f"127.0.0.1:{port}: cannot listen" in done.stderr
    assert "the search page: ended with status 1" in done.stderr
