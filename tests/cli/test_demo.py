"""`gossamer demo`: a crawl of the fake web, and its search page."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import httpx
import pytest

from gossamer.cli import demo
from gossamer.cli.demo import FIRST_PORT, MARK, free_port
from gossamer.errors import UsageError
from gossamer.state.stopping import CTRL_C
from tests.support.code_blocks import blocks
from tests.support.command_line import gossamer
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# This machine may have many manuals; tests/whole/test_real_webs.py has some.
OF_THE_FAKE_WEB_ALONE = """
from gossamer.cli import demo, main
demo.doc_folders = dict
main()
"""
LONGEST_S = 60
MOST_LINES = 300
"""Newspapers publish without end, so lines are printed without end, too."""


class Running:
    """A demo of one synthetic host; others of this web ask for a crawl delay."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.lines: list[str] = []
        words = ["demo", "--hosts", "1", "--folder", str(folder), "--port", str(self.port)]
        self.process = subprocess.Popen(
            [sys.executable, "-c", OF_THE_FAKE_WEB_ALONE, *words, "--no-browser"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            process_group=0,
        )

    def until_found(self, query: str) -> None:
        """Wait until a query has an answer, which is looked for whenever a line is printed."""
        address = f"http://127.0.0.1:{self.port}/api/v1/search"
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip())
            assert len(self.lines) < MOST_LINES, self.lines
            with suppress(httpx.TransportError):  # it may not listen yet
                answer = httpx.get(address, params={"q": query}, timeout=LONGEST_S)
                if answer.status_code == 200 and answer.json()["hits"]:
                    return
        raise AssertionError(f"it ended: {self.lines}")

    def end(self) -> None:
        """End it by Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        printed, _ = self.process.communicate()
        self.lines += printed.splitlines()
        assert self.process.returncode == CTRL_C, self.lines
        assert not [line for line in self.lines if "Traceback" in line]


@contextmanager
def running(folder: Path) -> Iterator[Running]:
    started = Running(folder)
    try:
        yield started
    finally:
        started.process.kill()
        started.process.wait()


@pytest.mark.slow
@pytest.mark.server
def test_it_searches_while_it_crawls_and_continues_after_ctrl_c(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    with running(folder) as first:
        first.until_found("site:gazette.test")
        first.end()
    with running(folder) as second:
        second.until_found("site:agency.test")
        second.end()
    assert shape_of_readme() <= {shape(line) for line in first.lines}
    assert json.loads(gossamer("status", folder, "--json").stdout)["round"] > 1


def shape_of_readme() -> set[str]:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (shown,) = [block for block in blocks(readme, "") if block.startswith("A web of")]
    return {shape(line) for line in shown.splitlines() if line != "…"}


def shape(line: str) -> str:
    """A line without its figures; a step without its counts, which depend on the web."""
    line = re.sub(r"^(round .*? s)  .*", r"\1", line.rstrip())
    return re.sub(r" +", " ", re.sub(r"[\d,.]*\d", "N", line))


@pytest.mark.parametrize("content", [None, "", "{}", "[1]"])
def test_the_demo_leaves_other_folders_alone(tmp_path: Path, content: str | None) -> None:
    (tmp_path / "file").touch()
    if content is not None:
        (tmp_path / MARK).write_text(content)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    said = gossamer("demo", "--folder", tmp_path, "--no-browser", code=1).stderr
    assert "is no demo of Gossamer's" in said
    assert "--folder" in said
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_port_that_is_taken_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: set[int] = set()

    @contextmanager
    def listen(address: tuple[str, int]) -> Iterator[None]:
        if address[1] in taken:
            raise OSError
        yield

    monkeypatch.setattr("gossamer.cli.demo.socket.create_server", listen)
    assert free_port() == FIRST_PORT
    taken |= {FIRST_PORT, FIRST_PORT + 1}
    assert free_port() == FIRST_PORT + 2
    taken |= set(range(FIRST_PORT, FIRST_PORT + demo.PORTS))
    with pytest.raises(UsageError, match="--port"):
        free_port()


@pytest.mark.parametrize(
    ("environment", "expected"),
    [({}, False), ({"DISPLAY": ":0"}, True), ({"WAYLAND_DISPLAY": "wayland-0"}, True)],
)
def test_a_browser_opens_only_where_there_is_a_screen(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], *, expected: bool
) -> None:
    monkeypatch.setattr("gossamer.cli.demo.sys.platform", "linux")
    monkeypatch.setattr("gossamer.cli.demo.os.environ", environment)
    assert demo.has_screen() is expected
