"""Strangers' pages are parsed in a process of their own, whose time and memory have an end.

Facts (lexbor in selectolax 1.0): HTML's own parsing rules let a small page cost much, and a call
into the parser cannot be interrupted.

    120 KB  one element of 30,000 attributes            2.4 s    grows with the square
    500 KB  100,000 open div elements                   11 s     grows with the square
     32 KB  1,800 unlike, unclosed b in one p, and
            4,000 p after it, each reopening all        2.6 GB   grows with the square

Decision: beside each task's process runs one that parses one page after the other. Before each page
it sets a limit to its own processor time (RLIMIT_CPU), and from the start to its memory
(RLIMIT_AS): the kernel ends it, nothing has to watch it, and the page is recorded as `failed`.
That holds for defects of native code too. Measured: 0.3 ms a page of 90 KB. What a greedy page
leaves in pieces, malloc seldom gives back; so a process that stays large is ended after its page.

Protocol over the two pipes: a frame is its length in 8 bytes, little-endian, and msgpack. The first
one holds the `Rules`, which may be longer than an argument of a program; the process says hello.
Then each `Page` is answered by a `ParsedPage`. What a parser prints goes to standard error.
"""

from __future__ import annotations

import atexit
import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING

import msgspec

from gossamer.errors import ConfigError, EngineError
from gossamer.parse.content import parse_page
from gossamer.parse.page import Page, ParsedPage, Rules
from gossamer.parse.parsers import check

if TYPE_CHECKING:
    from typing import Self

MAX_CPU_S = 5
"""Of one page. Honest ones take 0.03 s a megabyte, and fetch cuts them at a few."""
MAX_MEMORY_BYTES = 1 << 30
"""More than the process has when it starts."""
MAX_KEPT_BYTES = 1 << 28
"""Resident between two pages."""
MAX_DETAIL_CHARS = 200

_LENGTH_BYTES = 8


@cache
def standing_parser(rules: Rules) -> GuardedParser:
    """The parser of this process for all its tasks: to start one takes as long as 100 pages.

    It ends with this process: at its exit, or by the pipe that its death closes.
    """
    parser = GuardedParser(rules)
    atexit.register(parser.__exit__)
    return parser


class GuardedParser:
    """`parse_page` with an end, whatever the page. A context manager, or as long as its parent.

    `max_cpu_s` of processor time are for one page; the kernel counts whole seconds, so it may
    become one more.
    """

    def __init__(self, rules: Rules, max_cpu_s: int = MAX_CPU_S) -> None:
        self._max_cpu_s = max_cpu_s
        self._rules = msgspec.msgpack.encode(rules)
        self._answer = msgspec.msgpack.Decoder(ParsedPage)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._end(self._process)

    def parse(self, page: Page) -> ParsedPage:
        """Raises EngineError where no process can be started, and nothing for a page."""
        process = self._process or self._start()
        try:
            _send(process.stdin, msgspec.msgpack.encode(page))
            answer = _receive(process.stdout)
        except BrokenPipeError:
            answer = None
        if answer is None:
            return _failed(self._cause(self._end(process)))
        if _resident_bytes(process.pid) > MAX_KEPT_BYTES:
            self._end(process)
        try:
            return self._answer.decode(answer)
        except msgspec.ValidationError as error:  # another's parser may fill in anything
            return _failed(f"the parser's page is none: {error}")

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(  # noqa: S603  # this program, with our own settings
            [sys.executable, "-c", f"from {__name__} import main; main({self._max_cpu_s})"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        with suppress(BrokenPipeError):
            _send(process.stdin, self._rules)
        if _receive(process.stdout) is None:
            raise EngineError(
                "the parser's process",
                f"did not start: exit code {self._end(process)}",
                f"see what `{sys.executable} -c 'import {__name__}'` says",
            )
        self._process = process
        return process

    def _end(self, process: subprocess.Popen[bytes]) -> int:
        self._process = None
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):  # what was on its way to a process that is gone
                    pipe.close()
        return process.wait()

    def _cause(self, code: int) -> str:
        if code == -signal.SIGXCPU:
            return f"takes more than {self._max_cpu_s} s to parse"
        return f"the parser ended with exit code {code}"


def main(max_cpu_s: int) -> None:
    """The process's life: until the other end of the pipe is closed, however that ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the parent, and with it the pipe
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pipe = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with sys.stdin.buffer as pages, suppress(BrokenPipeError), os.fdopen(pipe, "wb") as answers:
        if (frame := _receive(pages)) is not None:
            serve(msgspec.msgpack.decode(frame, type=Rules), max_cpu_s, pages, answers)


def serve(rules: Rules, max_cpu_s: int, pages: IO[bytes], answers: IO[bytes]) -> None:
    """Answer pages. Ends the process where parsers are not as the settings want them.

    Raises BrokenPipeError where the other end was closed before an answer.
    """
    try:
        check(rules)
    except ConfigError as error:
        sys.exit(str(error))
    _limit(resource.RLIMIT_AS, _address_bytes() + MAX_MEMORY_BYTES)
    decoder = msgspec.msgpack.Decoder(Page)
    _send(answers, b"hello")
    while (frame := _receive(pages)) is not None:
        page = decoder.decode(frame)
        _limit(resource.RLIMIT_CPU, int(time.process_time()) + 1 + max_cpu_s)
        _send(answers, _answer(page, rules))


def _answer(page: Page, rules: Rules) -> bytes:
    try:
        return msgspec.msgpack.encode(parse_page(page, rules))
    except Exception as error:  # noqa: BLE001  # a page is data, and so is what it breaks
        return msgspec.msgpack.encode(_failed(repr(error)))


def _failed(why: str) -> ParsedPage:
    return ParsedPage(outcome="failed", detail=why[:MAX_DETAIL_CHARS])


def _address_bytes() -> int:
    """Of this process's address space, which is what RLIMIT_AS counts."""
    return _size_bytes("self", 0)


def _resident_bytes(pid: int) -> int:
    """0 of a process that has ended, as long as it was not waited for."""
    return _size_bytes(str(pid), 1)


def _size_bytes(process: str, column: int) -> int:
    """Of a column of statm (proc(5)): the address space, or what of it is resident."""
    pages = Path("/proc", process, "statm").read_text(encoding="ascii").split()
    return int(pages[column]) * resource.getpagesize()


def _limit(what: int, most: int) -> None:
    """Set the soft limit, as far as the hard one lets us."""
    _, hard = resource.getrlimit(what)
    resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _send(pipe: IO[bytes] | None, frame: bytes) -> None:
    if pipe is not None:
        pipe.write(len(frame).to_bytes(_LENGTH_BYTES, "little"))
        pipe.write(frame)
        pipe.flush()


def _receive(pipe: IO[bytes] | None) -> bytes | None:
    """The next frame; None where the other end is gone, or went in the middle of it."""
    if pipe is None:
        return None
    head = pipe.read(_LENGTH_BYTES)
    length = int.from_bytes(head, "little")
    frame = pipe.read(length) if len(head) == _LENGTH_BYTES else b""
    return frame if head and len(frame) == length else None
