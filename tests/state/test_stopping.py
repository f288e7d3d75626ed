"""Ctrl-C and SIGTERM, as a person or a service manager sends them to `gossamer crawl`."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from gossamer.api.crawl import Crawl
from gossamer.flow import rounds
from gossamer.state import stopping
from tests.support.crawl_settings import SITE_FILES
from tests.support.loopback import Loopback, page

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from collections.abc import Iterator
    from pathlib import Path

    from gossamer.engine.engine import Engine

pytestmark = pytest.mark.server

SETTINGS = """
fetch.delay_s = 0.1
fetch.delay_factor = 0
fetch.address_delay_s = 0
fetch.allow_networks = ["127.0.0.0/8"]
fetch.host_overrides = {{ "*.test" = "{address}" }}
"""
PAGES = [f"http://a.test/{n}" for n in range(14)]
"""More than are fetched between two looks of the fetch whether to stop."""
GOSSAMER = [sys.executable, "-c", "from gossamer.cli import main; main()"]


@pytest.fixture
def folder(server: Loopback, tmp_path: Path) -> Path:
    server.answers |= {f"/{n}": page(b"%d" % n) for n in range(len(PAGES))}
    with Crawl.create(str(tmp_path / "crawl"), SETTINGS.format(address=server.address)) as crawl:
        crawl.inject(PAGES)
    return tmp_path / "crawl"


def crawl(folder: Path) -> subprocess.Popen[str]:
    command = [*GOSSAMER, "crawl", str(folder), "--rounds", "1"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def steps(folder: Path) -> list[str]:
    with Crawl.open(str(folder)) as opened:
        return [done.step for done in opened.work.store.manifest.history]


@pytest.fixture
def heard() -> Iterator[list[int]]:
    """The signals that this process has got. Its handlers are given back."""
    numbers = (*stopping.SIGNALS, signal.SIGHUP, stopping.WATCHED)
    found: list[int] = []
    before = {each: signal.signal(each, lambda got, _: found.append(got)) for each in numbers}
    yield found
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_process_that_is_watched_over_is_stopped_by_its_parent_only(heard: list[int]) -> None:
    stopping.leave_to_parent()
    for number in (*stopping.SIGNALS, signal.SIGHUP):
        signal.raise_signal(number)
    assert not heard
    stopping.obey_parent()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(stopping.WATCHED)


def test_a_process_that_is_about_to_end_heeds_nobody(heard: list[int]) -> None:
    stopping.heed_nobody()
    signal.raise_signal(stopping.WATCHED)
    assert not heard


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code"),
    [pytest.param(signal.SIGINT, 130, marks=pytest.mark.long), (signal.SIGTERM, 143)],
)
def test_one_signal_ends_the_fetch_and_keeps_what_it_has(
    server: Loopback, folder: Path, engine: Engine, number: signal.Signals, code: int
) -> None:
    async def stop(_: StreamReader, writer: StreamWriter) -> None:
        child.send_signal(number)
        while not stopping.requested(str(folder)):  # noqa: ASYNC110  # another process makes it
            await asyncio.sleep(0)
        writer.write(page(b"the third"))

    server.answers["/2"] = stop
    child = crawl(folder)
    _, errors = child.communicate()
    assert child.returncode == code
    assert "the fetch of round 1 was stopped; what was fetched is kept\n" in errors
    assert "→ run the same command again to continue" in errors
    assert steps(folder) == ["inject", "generate", "fetch"]
    assert not stopping.requested(str(folder))  # of whatever comes next
    opened = Crawl.open(str(folder), engine)
    found = opened.dataset("responses").groupBy("outcome").count().collect()
    outcomes = {row["outcome"]: row["count"] for row in found}
    assert outcomes["ok"] in range(3, len(PAGES) - 1)
    assert sum(outcomes.values()) == len(PAGES)
    for step in ("parse", "update", *rounds.ROUND):
        rounds.ROUND[step](opened.work)
    left = opened.pages().where("status != 'fetched'").collect()
    assert left == []
    assert sorted(path for path in server.paths if path not in SITE_FILES) == sorted(
        url.removeprefix("http://a.test") for url in PAGES
    )


@pytest.mark.slow
def test_a_second_signal_aborts_and_the_next_run_is_not_stopped(
    server: Loopback, folder: Path, engine: Engine
) -> None:
    async def stop_twice(reader: StreamReader, _: StreamWriter) -> None:
        child.send_signal(signal.SIGINT)
        while not stopping.requested(str(folder)):  # noqa: ASYNC110  # another process makes it
            await asyncio.sleep(0)
        child.send_signal(signal.SIGINT)
        await reader.read()

    server.answers["/2"] = stop_twice
    child = crawl(folder)
    _, errors = child.communicate()
    assert child.returncode == 130
    assert "Run the command again to resume" in errors
    assert steps(folder) == ["inject", "generate"]
    server.answers["/2"] = page(b"2")
    opened = Crawl.open(str(folder), engine)
    for step in ("fetch", "parse", "update"):
        rounds.ROUND[step](opened.work)
    assert opened.pages().where("status = 'fetched'").count() == len(PAGES)


def test_signals_are_what_they_were_afterwards(tmp_path: Path) -> None:
    before = [signal.getsignal(number) for number in stopping.SIGNALS]
    with stopping.stop_on_signals(str(tmp_path)):
        os.kill(os.getpid(), signal.SIGTERM)
        assert stopping.requested(str(tmp_path))
    assert [signal.getsignal(number) for number in stopping.SIGNALS] == before


def test_a_second_signal_that_a_library_drops_is_not_lost(tmp_path: Path) -> None:
    with stopping.stop_on_signals(str(tmp_path)) as signals:
        os.kill(os.getpid(), signal.SIGINT)
        signals.check()
        with suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signals.check()


def test_other_threads_are_not_told_of_signals(tmp_path: Path) -> None:
    stopping.request(str(tmp_path))
    seen: list[bool] = []

    def run() -> None:
        with stopping.stop_on_signals(str(tmp_path)):
            seen.append(stopping.requested(str(tmp_path)))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [False]
