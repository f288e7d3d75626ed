"""Nothing lost, nothing twice: a crawl that is killed often ends as one that is not."""

from __future__ import annotations

import os
import random
import select
import shutil
import signal
import subprocess
import sys
import urllib.request
import uuid
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawl_settings import loopback_settings
from gossamer.api import Crawl
from gossamer.fakeweb import FakeWeb, Mix, Web
from tables import answers, damaged_records, garbage, tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.engine import Engine

SETTINGS = """
engine.workers = 2
generate.pages = 120
generate.pages_per_host = 40
"""
GOSSAMER = [sys.executable, "-c", "from gossamer.cli import main; main()"]
MARK = "GOSSAMER_TEST_RUN"
GONE_S = 20


@pytest.fixture(scope="module")
def web() -> Iterator[FakeWeb]:
    """Finite, for a crawl that ends by itself, and without hosts that want to be waited for."""
    mix = Mix(calendars=0, crawl_delay=0, slow=0)
    with FakeWeb(Web(hosts=8, pages_per_host=30, page_bytes=3_000, mix=mix)) as fake:
        yield fake


@pytest.fixture(scope="module")
def whole(web: FakeWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl that nobody disturbed."""
    folder = create(tmp_path_factory.mktemp("undisturbed") / "crawl", web)
    assert start(folder, web, "").wait() == 0
    return folder


@pytest.fixture
def mark() -> str:
    """Found in the environment of every process that a test's crawls start."""
    return uuid.uuid4().hex


def create(folder: Path, web: FakeWeb) -> Path:
    Crawl.create(str(folder), loopback_settings(web.address, SETTINGS)).close()
    return folder


def start(folder: Path, web: FakeWeb, mark: str) -> subprocess.Popen[bytes]:
    return launch(folder, mark, "crawl", *web.web.seeds())


def launch(folder: Path, mark: str, command: str, *words: str) -> subprocess.Popen[bytes]:
    with (folder.parent / "stderr").open("ab") as stderr:
        return subprocess.Popen(
            [*GOSSAMER, command, str(folder), *words],
            env=os.environ | {MARK: mark},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
        )


def marked(mark: str) -> list[int]:
    """Processes that carry the mark and are alive."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:  # ended, or not ours
            continue
    return found


def strays(mark: str) -> list[int]:
    """Those that do not end by themselves."""
    for pid in marked(mark):
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            select.select([descriptor], [], [], GONE_S)
        finally:
            os.close(descriptor)
    return marked(mark)


def version(folder: Path) -> int:
    return max(int(path.stem) for path in (folder / "manifest").glob("[0-9]*.json"))


def kill_somewhen(process: subprocess.Popen[bytes], folder: Path, chance: random.Random) -> None:
    """After none to four more commits, and somewhere within the step that follows.

    The first commit of a run is that of its seeds.
    """
    goal = version(folder) + chance.randrange(5)
    while version(folder) < goal and process.poll() is None:
        wait(process, 0.01)
    wait(process, chance.random() * 0.8)
    process.kill()
    process.wait()


def wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)


@pytest.mark.parametrize("kills", [4, pytest.param(20, marks=pytest.mark.slow)])
def test_a_crawl_that_is_killed_often_ends_as_one_that_is_not(
    web: FakeWeb, whole: Path, mark: str, engine: Engine, tmp_path: Path, kills: int
) -> None:
    killed = create(tmp_path / "killed", web)
    chance = random.Random(7)  # noqa: S311 - moments, not secrets
    cut_off: set[int] = set()
    for _ in range(kills):
        process = start(killed, web, mark)
        kill_somewhen(process, killed, chance)
        if process.returncode == -signal.SIGKILL:
            cut_off.add(version(killed))
        assert strays(mark) == []
    assert len(cut_off) >= kills / 2, "the kills should be spread over the run"
    assert start(killed, web, mark).wait() == 0
    assert strays(mark) == []

    assert (tmp_path / "stderr").read_text() == ""
    with_kills, without = Crawl.open(str(killed), engine), Crawl.open(str(whole), engine)
    assert garbage(with_kills) == garbage(without) == set()
    expected = tables(without)
    assert len(expected["pages"]) > 300
    for name, rows in tables(with_kills).items():
        assert rows == expected[name], name
    titles = [row.title for row in without.dataset("documents").limit(20).collect()]
    assert answers(with_kills, titles) == answers(without, titles)
    assert damaged_records(with_kills) == damaged_records(without) == []


def test_parsing_again_that_is_killed_leaves_the_old_state(
    whole: Path, mark: str, engine: Engine, tmp_path: Path
) -> None:
    folder = tmp_path / "crawl"
    shutil.copytree(whole, folder)
    with (folder / "gossamer.toml").open("a") as settings:
        settings.write("parse.max_text_chars = 50\n")
    was, before = version(folder), tables(Crawl.open(str(folder), engine))
    process = launch(folder, mark, "reparse")
    while not any(folder.glob(f"documents/{was + 1:08d}-*/*")) and process.poll() is None:
        wait(process, 0.01)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert strays(mark) == []
    assert version(folder) == was
    assert tables(Crawl.open(str(folder), engine)) == before

    assert launch(folder, mark, "reparse").wait() == 0
    after = Crawl.open(str(folder), engine)
    assert garbage(after) == set()
    assert {name for name, rows in tables(after).items() if rows != before[name]} == {"documents"}
    texts = [row.text or "" for row in after.dataset("documents").collect()]
    assert max(map(len, texts)) == 50


def test_a_server_that_is_killed_leaves_the_crawl_as_it_was(whole: Path) -> None:
    before = sorted((whole / "manifest").iterdir())
    for _ in range(2):
        serve = [*GOSSAMER, "serve", str(whole), "--port", "0"]
        with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            with urllib.request.urlopen(f"{url}api/search?q=page", timeout=30) as answer:  # noqa: S310 - our own server
                assert answer.status == 200
            server.kill()
    assert sorted((whole / "manifest").iterdir()) == before


def test_of_two_crawls_the_second_names_the_first(web: FakeWeb, mark: str, tmp_path: Path) -> None:
    folder = create(tmp_path / "crawl", web)
    first = start(folder, web, mark)
    lock = folder / ".lock"
    while not (lock.exists() and lock.read_bytes()) and first.poll() is None:
        wait(first, 0.01)
    second = subprocess.run(
        [*GOSSAMER, "crawl", str(folder)], capture_output=True, text=True, check=False
    )
    first.kill()
    first.wait()
    assert second.returncode == 1
    assert f"process {first.pid} on" in second.stderr
    assert f"kill {first.pid}" in second.stderr
    assert "Traceback" not in second.stderr
    assert strays(mark) == []


def test_a_server_that_is_told_to_end_leaves_nothing_behind(whole: Path, tmp_path: Path) -> None:
    serve = [*GOSSAMER, "serve", str(whole), "--port", "0"]
    alone = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True, env=alone) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        with urllib.request.urlopen(f"{url}api/search?q=page", timeout=30) as answer:  # noqa: S310 - our own server
            assert answer.status == 200
        server.terminate()
        assert server.wait(30) == 0
    assert not list(tmp_path.iterdir())
