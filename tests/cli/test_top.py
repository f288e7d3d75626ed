"""`gossamer top`: what it draws, and how it treats the terminal."""

from __future__ import annotations

import io
import os
import pty
import select
import shutil
import signal
import subprocess
import termios
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from gossamer.cli import top_command
from gossamer.cli.top_view import draw_top
from gossamer.state import pausing
from gossamer.state.heartbeats import Heartbeat, Wait, note_waiting
from gossamer.status.busy_hosts import Host, Hosts
from gossamer.status.disk_space import Disk
from gossamer.status.due_queue import Freshness, Queue
from gossamer.status.fetch_progress import Lane, Outcome, Round
from gossamer.status.overview import CrawlWatch
from gossamer.storage.lock_holder import Holder
from tests.support.command_line import gossamer
from tests.support.merging_program import GOSSAMER
from tests.support.small_index import crawl
from tests.support.stored_web import put_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from rich.console import RenderableType

    from gossamer.state.workspace import Workspace

BIG = 10**11
EVIL = "\x1b]0;owned\x07[bold red]" + "host" * 30
HOST = Host(EVIL, BIG, BIG, BIG, BIG, "server_error", BIG)
FULL: dict[str, Any] = {
    "path": "/a/long/path" * 20,
    "round": BIG,
    "at_ms": 1_800_000_000_000,
    "paused": None,
    "running": EVIL,
    "waiting": None,
    "problems": [],
    "lanes": [
        Lane(step, BIG, 2, BIG // 2, BIG, 0.1) for step in ("fetch", "boilerplate", "x", "y")
    ],
    "rounds": [Round(BIG, BIG, BIG, BIG, 0.1)] * 40,
    "errors": [Outcome("server_error", "", BIG, 0.5, failed=True)] * 20,
    "hosts": Hosts(BIG, BIG, (), (HOST,) * 10, (HOST,) * 10),
    "queue": Queue(BIG, BIG, BIG),
    "freshness": Freshness(BIG, BIG // 3, 1e9),
    "last_commit_ms": 0,
    "disk": Disk("/", BIG, BIG, -1e12, 1e9),
    "steps": [{"step": "boilerplate", "round": BIG, "seconds": 1e6, "counts": {EVIL: BIG}}] * 20,
}


def drawn(shown: RenderableType, width: int = 80) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width, height=100).print(shown)
    return out.getvalue().splitlines()


def text_of(work: Workspace) -> str:
    return "\n".join(drawn(draw_top(CrawlWatch(work).look(), ()), 300))


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    return crawl(tmp_path / "crawl")


@pytest.mark.parametrize(
    ("width", "height", "used"), [(80, 24, 24), (80, 15, 15), (60, 24, 24), (200, 60, 46)]
)
def test_it_fits_the_terminal(width: int, height: int, used: int) -> None:
    rates = [(n, float(BIG)) for n in range(300)]
    lines = drawn(draw_top(FULL, rates, height), width)
    assert len(lines) == used
    assert max(map(cell_len, lines)) <= width
    assert not set("".join(lines)) & {"\x1b", "\x07"}
    assert "[bold red]" in "".join(lines), "a name was read as markup"


def test_what_a_running_crawl_shows(work: Workspace) -> None:
    with work.step("fetch", 1) as draft:
        draft.counts.update(ok=30, timeout=10)
    rows = [
        {"host": "bad.example", "failures": 3, "outcome": "timeout", "latency_ms": 20},
        {"host": "slow.example", "failures": 0, "latency_ms": 7_654},
    ]
    put_rows(work, "hosts", rows)
    put_rows(
        work, "due_times", [{"from_ms": 0, "interval_s": 60, "fetched": False, "pages": 4_321}]
    )
    Heartbeat(work.root, "fetch", 2, "0", 1_000).beat(250, "tls")
    with work.store.lock():
        text = text_of(work)
    assert "running: " in text
    for words in (
        "250 of 1,000",
        "40 at 0.0/s, 10 failed",
        "4,321",
        "timeout ×3",
        "7,654 ms",
        "tls",
    ):
        assert words in text
    assert "failing hosts (1 of 2)" in text


def test_a_crawl_that_waits_says_until_when(work: Workspace) -> None:
    with note_waiting(work.root, Wait(Holder.me(), 1_800_000_000_000)):
        assert "waiting: no page is due before 2027-01-15 08:00 UTC" in text_of(work)
        with work.store.lock():
            assert "running: " in text_of(work)


def test_an_idle_crawl_a_paused_one_and_a_damaged_one_say_so(work: Workspace) -> None:
    assert "idle: nothing runs now" in text_of(work)
    assert "no step reports progress" in text_of(work)
    pausing.pause(work.root)
    assert "paused: gossamer pause asked for it" in text_of(work)
    put_rows(work, "hosts", [{"host": "a.example"}])
    (path,) = work.paths("hosts")
    os.truncate(path, 1)
    assert "bytes, but" in text_of(work)


def test_a_crawl_that_vanishes_is_no_crash(work: Workspace) -> None:
    watch = CrawlWatch(work)
    shutil.rmtree(work.root)
    assert "is not a crawl" in "".join(drawn(top_command._draw_top(watch, 24), 1_000))


def test_in_a_pipe_it_prints_once(work: Workspace) -> None:
    assert "idle: nothing runs now" in gossamer("top", work.root).stdout


LONGEST_S = 60


@contextmanager
def on_a_terminal(folder: str) -> Iterator[tuple[subprocess.Popen[bytes], int, int]]:
    """The command, the terminal's end of the user, and the one of the command."""
    user, terminal = pty.openpty()
    env = os.environ | {"TERM": "xterm", "COLUMNS": "80", "LINES": "24"}
    process = subprocess.Popen(
        # Ctrl-C is ignored at first, as in a shell that runs in the background.
        ["/bin/sh", "-c", 'trap "" INT; exec "$@"', "sh", *GOSSAMER, "top", folder],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env=env,
    )
    try:
        yield process, user, terminal
    finally:
        process.kill()
        process.wait()
        os.close(user)
        os.close(terminal)


def until(user: int, words: bytes) -> None:
    """Read what is drawn up to these words."""
    seen = b""
    while words not in seen:
        assert select.select([user], [], [], LONGEST_S)[0], seen
        seen += os.read(user, 65_536)


@pytest.mark.slow
@pytest.mark.server
@pytest.mark.parametrize(
    "leave",
    [
        pytest.param(lambda _process, user: os.write(user, b"xq"), id="q"),
        pytest.param(lambda process, _user: process.send_signal(signal.SIGINT), id="Ctrl-C"),
        pytest.param(lambda process, _user: process.send_signal(signal.SIGTERM), id="SIGTERM"),
    ],
)
def test_it_leaves_the_terminal_as_it_was(
    work: Workspace, leave: Callable[[subprocess.Popen[bytes], int], object]
) -> None:
    with on_a_terminal(work.root) as (process, user, terminal):
        before = termios.tcgetattr(terminal)
        until(user, b"nothing runs now")
        assert termios.tcgetattr(terminal) != before
        leave(process, user)
        until(user, b"\x1b[?1049l")  # the normal screen
        assert process.wait() == 0
        assert termios.tcgetattr(terminal) == before
