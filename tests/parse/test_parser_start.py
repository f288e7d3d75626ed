"""A parser that is forked gets its ends of two pipes, and this process keeps the others."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import pytest

from gossamer.parse.process import parser_start


class Server:
    """Takes the place of a process that forks: it keeps copies of the descriptors it is given."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error
        self.given: list[int] = []
        self.copies: list[int] = []

    def fork(self, _: object, arguments: list[int], given: list[int], **__: object) -> Any:
        self.given = given
        if self.error is not None:
            raise self.error
        self.copies = [os.dup(each) for each in given]
        return SimpleNamespace(arguments=arguments)


def open_files() -> set[str]:
    return {name for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}")}  # noqa: PTH110, PTH208


def test_the_ends_of_the_parser_are_closed_here() -> None:
    server, before = Server(), open_files()
    forked: Any = parser_start._fork(server, "run", 7)  # type: ignore[arg-type]
    pages, answers = server.copies
    assert not {*map(str, server.given)} & open_files()
    with forked.stdin, forked.stdout:
        forked.stdin.write(b"page")
        forked.stdin.flush()
        assert os.read(pages, 9) == b"page"
        os.write(answers, b"text")
        os.close(answers)
        assert forked.stdout.read() == b"text"
        os.close(pages)
        with pytest.raises(BrokenPipeError):
            forked.stdin.raw.write(b"more")
    assert open_files() == before


def test_nothing_stays_open_if_no_parser_can_be_forked() -> None:
    before = open_files()
    with pytest.raises(OSError, match="no memory"):
        parser_start._fork(Server(OSError("no memory")), "run", 7)  # type: ignore[arg-type]
    assert open_files() == before
