"""A crawl without end is run by processes that follow each other."""

from __future__ import annotations

import os
import signal
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from psutil import NoSuchProcess, Process

from gossamer import Crawl
from gossamer.cli.supervisor import PATIENCE, WAITS_S, cause_of_death, next_wait_s
from gossamer.errors import Locked
from gossamer.flow import rounds
from gossamer.state.stopping import CTRL_C
from gossamer.state.workspace import Workspace
from gossamer.status.overview import CrawlWatch
from gossamer.storage.backends import open_backend
from gossamer.storage.names import CONFIG_NAME
from gossamer.storage.store import Store
from tests.support.crawl_service import Service
from tests.support.crawl_settings import loopback_settings
from tests.support.loopback import Held, page
from tests.support.systemd_socket import LONGEST_S, Systemd

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from collections.abc import Iterator

    from gossamer.engine.engine import Engine
    from tests.support.loopback import Loopback

pytestmark = pytest.mark.slow

ROUND = list(rounds.ROUND)
PAGES = 4
DAY_MS = 86_400_000
AT_ONCE = "update.interval_days = 0.000001\nupdate.interval_factor = 1\nengine.workers = 1"
"""All pages are always due, and no process starts that the test does not need."""
ALWAYS = "from gossamer.cli import forever_process as standing; standing.GROWTH = -1\n"
"""Replaces the process after a round that follows a harvest."""
NO_HARVEST = (
    "from gossamer.flow.harvests import Harvests\nHarvests.are_due = lambda *_, **__: False\n"
)
"""Its processes only fetch, parse and update. The code of a harvest takes seconds to load."""
EACH_ROUND = f'{NO_HARVEST}{ALWAYS}standing.LAST = "update"\n'
"""Replaces the process after its first round."""


class Clock:
    """What two processes take for the time: that of the machine, and what a file adds."""

    def __init__(self, file: Path) -> None:
        self._file = file
        file.write_text("0")
        now = f"int(1000 * time.time()) + int(Path({str(file)!r}).read_text())"
        imports = "import time; from pathlib import Path\n"
        self.of_supervisor = f"{imports}renewal.wall_ms = lambda: {now}\n"
        self.of_crawl = (
            f"{imports}from gossamer.state.workspace import Workspace\n"
            f"Workspace.now_ms = lambda _: {now}\n"
        )

    def set_ahead(self, ms: int) -> None:
        draft = self._file.with_suffix(".draft")
        draft.write_text(str(ms))
        draft.replace(self._file)


@pytest.fixture
def folder(server: Loopback, tmp_path: Path) -> Path:
    links = "".join(f'<a href="/{n}">{n}</a>' for n in range(1, PAGES))
    server.answers |= {f"/{n}": page(b"<p>page %d" % n) for n in range(1, PAGES)}
    server.answers["/"] = page(b"<p>all pages" + links.encode())
    made = tmp_path / "crawl"
    Crawl.create(str(made), loopback_settings(server.address, AT_ONCE)).close()
    return made


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[Systemd]:
    with Systemd(tmp_path) as listening:
        yield listening


def check_history(folder: Path, engine: Engine) -> None:
    """As `check_rounds`, of a crawl in which all pages were always due."""
    crawl = Crawl.open(str(folder), engine)
    check_rounds(crawl)
    updated = [done for done in crawl.work.store.manifest.history if done.step == "update"]
    rows = crawl.pages().select("fetches").collect()
    assert max(row["fetches"] for row in rows) == len(updated)


def check_rounds(crawl: Crawl) -> None:
    """Check that each step of each round was committed once, and all that was fetched is there."""
    history = crawl.work.store.manifest.history
    numbers = [done.round for done in history if done.step == "fetch"]  # something was due
    steps = [
        (each.round, each.step) for each in history if each.step in ROUND and each.round in numbers
    ]
    expected = [(number, step) for number in numbers for step in ROUND]
    assert steps == expected[: len(steps)]
    fetched = sum(done.counts.get("ok", 0) for done in history if done.step == "fetch")
    assert crawl.dataset("responses").where("outcome = 'ok'").count() == fetched
    assert crawl.pages().count() == PAGES


def test_a_process_that_has_grown_is_replaced_between_two_rounds(
    server: Loopback, folder: Path, engine: Engine
) -> None:
    """The server holds back a page of the second round until the harvest of the first is over."""
    server.answers["/1"] = held = Held()
    with Service(folder, ALWAYS) as service:
        lines = service.until(step="generate")
        first = service.crawling().pid
        lines += service.until(step=list(rounds.HARVEST)[-1])
        server.answers["/1"] = page(b"<p>page 1")
        held.free.set()
        lines += service.until(event="renew")
        steps = [(line["round"], line["step"]) for line in lines if "step" in line]
        in_rounds = [each for each in steps if each[1] in ROUND]
        last = in_rounds[-1][0]
        assert in_rounds == [(n, step) for n in range(1, last + 1) for step in ROUND]
        # Not before a harvest has ended, which began after its first round.
        assert [step for _, step in steps if step in rounds.HARVEST] == list(rounds.HARVEST)
        assert "the process has grown from" in lines[-1]["text"]
        assert service.until(step="generate")[-1]["round"] == last + 1
        assert service.crawling().pid != first
        service.end()
    check_history(folder, engine)


def test_others_may_use_the_crawl_between_two_processes(
    folder: Path, engine: Engine, systemd: Systemd
) -> None:
    with Service(folder, EACH_ROUND, NOTIFY_SOCKET=systemd.path) as service:
        service.until(step="generate")
        store = Store.open(open_backend(str(folder)))
        holder = store.backend.holder()
        assert holder is not None
        assert holder.pid == service.process.pid, "not the one to be ended"
        assert "--forever --json" in holder.command
        assert systemd.received() == {"READY": "1"}
        (renewed,) = [
            line for line in service.until(event="renew") if line.get("step") == "update"
        ][-1:]
        with ExitStack() as stack:
            while True:
                try:
                    stack.enter_context(store.lock())
                    break
                except Locked:
                    continue
            while systemd.received() != {"READY": "1"}:  # the next process is there, and waits
                pass
            version = store.refresh().version
        lines = service.until(step="generate")
        assert lines[-1]["round"] == renewed["round"] + 1
        assert store.refresh().version >= version + 1
        service.end()
    check_history(folder, engine)


def test_a_process_that_is_killed_is_followed_by_another(
    folder: Path, engine: Engine, systemd: Systemd
) -> None:
    with Service(folder, NOTIFY_SOCKET=systemd.path) as service:
        service.until(step="generate", round=2)
        while not systemd.is_silent():
            pass  # it drops messages if it is not listened to
        service.crawling().kill()
        (died,) = service.until(event="died")[-1:]
        assert "was killed by signal 9 (SIGKILL)" in died["text"]
        assert "lower engine.memory_gb" in died["text"]
        while "SIGKILL" not in systemd.received().get("STATUS", ""):
            pass
        service.until(step="update", round=3)
        service.end()
    check_history(folder, engine)


def test_a_worker_that_is_killed_does_not_end_the_crawl(
    server: Loopback, folder: Path, engine: Engine
) -> None:
    async def kill(_: StreamReader, writer: StreamWriter) -> None:
        server.answers["/1"] = page(b"<p>page 1")
        for worker in service.crawling().children(recursive=True):
            with suppress(NoSuchProcess):  # those that wait for work end by themselves
                worker.kill()
        writer.write(page(b"nobody reads this"))

    server.answers["/1"] = kill
    with Service(folder, NO_HARVEST) as service:
        lost, died = service.until(event="died")[-2:]
        assert lost["event"] == "lost"
        assert "died with exit code -9" in lost["text"]
        assert "lost a worker" in died["text"]
        service.until(step="update", round=2)
        service.end()
    check_history(folder, engine)


def waits(folder: Path) -> str | None:
    """What others are told of a crawl that waits."""
    told: str | None = CrawlWatch(Workspace.open(str(folder))).look()["waiting"]
    return told


def test_nobody_crawls_while_nothing_is_due(
    server: Loopback, folder: Path, engine: Engine, systemd: Systemd
) -> None:
    """Another process goes on when others change the crawl, a page is due, or SIGHUP comes."""
    rules = folder / "rules.txt"
    rules.write_text("deny suffix .iso\n")
    settings = 'engine.workers = 1\nfilter.files = ["rules.txt"]'
    (folder / CONFIG_NAME).write_text(loopback_settings(server.address, settings))
    crawl, clock = Crawl.open(str(folder), engine), Clock(folder.with_name("clock"))

    def fetches() -> list[int]:
        crawl.work.store.refresh()
        return [row["fetches"] for row in crawl.pages().select("fetches").collect()]

    def next_steps() -> list[object]:
        return [line["step"] for line in service.until(event="wait") if "step" in line]

    with Service(
        folder, clock.of_crawl, before=clock.of_supervisor, NOTIFY_SOCKET=systemd.path
    ) as service:
        service.until(step="generate")
        first = service.crawling()
        service.until(event="wait")
        first.wait(LONGEST_S)
        assert not Process(service.process.pid).children()
        assert (waits(folder) or "").startswith("no page is due before 2")
        crawl.refresh()  # it is not locked
        assert next_steps()[: len(ROUND)] == ROUND
        assert fetches() == [2] * PAGES
        clock.set_ahead(40 * DAY_MS)
        service.until(step="generate")
        clock.set_ahead(0)  # as tasks have another clock
        assert next_steps()[: len(ROUND) - 1] == ROUND[1:]
        assert fetches() == [3] * PAGES
        rules.write_text("deny sufix .iso\n")
        service.process.send_signal(signal.SIGHUP)
        lines = service.until(event="settings")
        assert "rules.txt, line 1" in next(each for each in lines if "event" in each)["text"]
        lines += service.until(event="wait")
        assert {line["step"] for line in lines if "step" in line} <= {"generate"}, "all was found"
        service.end(signal.SIGINT)
    assert waits(folder) is None
    crawl.work.store.refresh()
    check_rounds(crawl)


def test_a_crawl_that_never_began_ends_with_its_process(folder: Path) -> None:
    with Service(folder, "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)\n") as service:
        out, errors = service.process.communicate()
    assert service.process.returncode == 1
    assert out == ""
    assert "the process that crawls: was killed by signal 11 (SIGSEGV)\n" in errors
    assert "→ run the command again" in errors


def test_errors_end_the_crawl_with_their_message_and_code(folder: Path) -> None:
    with Store.open(open_backend(str(folder))).lock(), Service(folder) as service:
        _, errors = service.process.communicate()
    assert service.process.returncode == 1
    assert "has locked this crawl" in errors


def test_settings_count_from_sighup_to_the_next_whatever_the_file_says(
    server: Loopback, folder: Path
) -> None:
    file = Path(folder, CONFIG_NAME)
    text = file.read_text()

    def contacts(since: int) -> set[str]:
        return {one.headers["user-agent"].partition("+")[2] for one in server.asked[since:]}

    with Service(folder, EACH_ROUND) as service:
        service.until(event="renew")
        file.write_text(f'{text}\nfetch.contact = "a@b.test"')
        service.process.send_signal(signal.SIGHUP)  # no process is there to be told
        service.until(event="settings")
        file.write_text("nonsense = 1")
        since = len(server.asked)
        service.process.send_signal(signal.SIGHUP)
        assert "nonsense" in service.until(event="refused")[-1]["text"]
        service.until(event="renew")
        service.until(step="update")
        assert contacts(since) == {"a@b.test)"}
        service.end()


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, CTRL_C), pytest.param(signal.SIGTERM, 0, marks=pytest.mark.long)],
)
def test_a_signal_to_all_processes_counts_once(
    server: Loopback, folder: Path, number: signal.Signals, code: int
) -> None:
    async def stop(_: StreamReader, writer: StreamWriter) -> None:
        os.killpg(service.process.pid, number)  # as a terminal does
        writer.write(page(b"the first"))

    server.answers["/1"] = stop
    with Service(folder) as service:
        _, errors = service.process.communicate()
    assert service.process.returncode == code
    assert errors.count("gossamer: ") == 1
    assert "the fetch of round 2 was stopped; what was fetched is kept" in errors
    history = Store.open(open_backend(str(folder))).manifest.history
    # The harvest of round 1 may still have committed a step.
    assert [each.step for each in history if each.round == 2] == ["generate", "fetch"]


def test_the_last_of_several_signals_kills_a_crawl_that_does_not_end(folder: Path) -> None:
    """A process in its place only says that it was asked to end."""
    deaf = (
        "import json, signal\n"
        "def tell(event): print(json.dumps(dict(event=event)), flush=True)\n"
        "signal.signal(signal.SIGUSR1, lambda *_: tell('asked'))\n"
        "tell('runs')\n"
        "while True: signal.pause()\n"
    )
    with Service(folder, deaf) as service:
        service.until(event="runs")
        for _ in range(PATIENCE):
            service.process.send_signal(signal.SIGTERM)
            service.until(event="asked")
        service.end()


def test_systemd_is_told_that_the_process_that_crawls_is_alive(
    folder: Path, systemd: Systemd
) -> None:
    watched = {"NOTIFY_SOCKET": systemd.path, "WATCHDOG_USEC": "300000"}
    with Service(folder, NO_HARVEST, **watched) as service:
        while "WATCHDOG" not in systemd.received():
            pass
        service.end()


def test_waits_grow_while_processes_die_soon() -> None:
    shortest_s, longest_s = WAITS_S
    waits = [0.0]
    for _ in range(12):
        waits.append(next_wait_s(waits[-1], lived_s=1))
    assert waits[1:4] == [shortest_s, 2 * shortest_s, 4 * shortest_s]
    assert waits[-1] == longest_s
    assert next_wait_s(longest_s, lived_s=longest_s) == shortest_s


def test_the_signal_of_a_crash_is_named() -> None:
    assert cause_of_death(-signal.SIGABRT) == "was killed by signal 6 (SIGABRT)"
