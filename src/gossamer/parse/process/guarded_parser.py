"""Parses untrusted pages in a child process with limited time and memory.

Facts (lexbor in selectolax 1.0): HTML's own parsing rules let a small page cost much, and a call
into the parser cannot be interrupted.

    120 KB  one element of 30,000 attributes            2.4 s    quadratic
    500 KB  100,000 open div elements                   11 s     quadratic
     32 KB  1,800 different unclosed b in one p, and
            4,000 p after it, each reopening all        2.6 GB   quadratic

Decision: each task's process has a child process that parses one page after the other. Its memory
is limited as `memory_limit.py` says, and its processor time by the kernel (RLIMIT_CPU), anew for
each page. A page that exceeds a limit is recorded as `failed`. This covers defects of native code,
too. Measured: 0.3 ms per page of 90 KB.

The child may also end for reasons other than the page: the kernel runs out of memory and kills it,
or somebody does. So a page whose child ended other than by the limits above is tried again in a new
child. If that one is killed too, the page is `interrupted`: the step tries it once more while no
other page is being parsed (`run.py`). If it ended otherwise, for instance by a fault in native
code, the page is `failed`.

If a page exploits a defect of a parser, the kernel refuses everything beyond parsing
(`sandbox.py`).

Protocol over the two pipes: a frame is its length (8 bytes, little-endian) followed by msgpack. The
first one contains the `Rules`, which may be too long for a command line; the child answers `hello`.
It then answers each `Page` by the processor time that it took (8 bytes, IEEE 754) and a
`ParsedPage`. What a parser prints goes to standard error.
"""

from __future__ import annotations

import atexit
import gc
import os
import resource
import select
import signal
import struct
import sys
import time
from contextlib import suppress
from functools import cache
from typing import IO, TYPE_CHECKING, NamedTuple

import msgspec

from gossamer.engine.allocators import trim_heap
from gossamer.engine.fork_server import name_process
from gossamer.errors import ConfigError, EngineError
from gossamer.parse.parsed_page import Page, ParsedPage, Rules
from gossamer.parse.process import memory_limit, sandbox
from gossamer.parse.process.parser_start import MAX_CPU_S, start_parser

if TYPE_CHECKING:
    from typing import Self

    from gossamer.parse.process.parser_start import ParserProcess

MAX_WALL_S = 300
"""Wall-clock time per page, for parsers that wait. A busy machine needs far less for MAX_CPU_S."""
MAX_DETAIL_CHARS = 200
READ_BYTES = 1 << 16
"""What a pipe holds: most answers are read by one call."""
GARBAGE = 50_000
"""Net new objects after which Python looks for cycles among them. A page is made of thousands that
live until its end; with the default, 700, the search takes 7 % of the time."""

KILLED = frozenset(
    (-signal.SIGKILL, -signal.SIGTERM, -signal.SIGHUP, -signal.SIGINT, -signal.SIGQUIT)
)
"""Exit codes of a process that was ended from outside; no page causes them."""

LARGE_BYTES = 1_000_000
"""A page after which the child returns what is free in its heap, while nobody waits for it. That is
half of the 67 MB that a page of 3.5 MB leaves."""

LOWER = 5
"""By how much the child's priority is lower than that of its parent (nice(2)). So fetch tasks come
first while pages are parsed ahead. Parent and child wait for each other, so it costs them nothing.
"""

_LENGTH_BYTES = 8
_CPU = struct.Struct("<d")


class _BadAnswer(Exception):
    """What a process sends is not an answer."""


class _TooLarge(Exception):
    """A process has more memory than it may have."""


class _End(NamedTuple):
    """A process ended before its answer. `limit` is the limit that the page exceeded, if any."""

    code: int
    limit: str | None


@cache
def standing_parser(rules: Rules) -> GuardedParser:
    """Return this process's parser for all its tasks: starting one takes as long as 100 pages.

    It ends with this process: at its exit, or killed by the kernel (processes.py).
    """
    parser = GuardedParser(rules)
    atexit.register(parser.__exit__)
    return parser


class GuardedParser:
    """`parse_page` in a child process with limits on time and memory.

    The child ends at the end of the context, or with this process. `max_cpu_s` limits the processor
    time per page; as the kernel counts whole seconds, a page may get one more. `cpu_s` is the
    processor time of all pages so far; a page without an answer counts with the time that passed,
    up to the limit. Linux updates the time of a process at ticks (1 to 10 ms) and when it sleeps,
    so a part counts with the next page: right in total, but not for a single small page.
    """

    def __init__(
        self, rules: Rules, max_cpu_s: int = MAX_CPU_S, max_wall_s: float = MAX_WALL_S
    ) -> None:
        self.cpu_s = 0.0
        self._max_cpu_s = max_cpu_s
        self._max_wall_s = max_wall_s
        self._rules = msgspec.msgpack.encode(rules)
        self._sandboxed = rules.sandbox
        self._answer = msgspec.msgpack.Decoder(ParsedPage)
        self._process: ParserProcess | None = None
        self._kept: memory_limit.KeptMemory | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._end(self._process)

    def parse(self, page: Page) -> ParsedPage:
        """Parse a page. It is `interrupted` if two processes in a row were killed while parsing it.

        Raises EngineError if no process can be started; no page makes it raise.
        """
        answer = self._try_page(page)
        if isinstance(answer, _End) and answer.limit is None:
            answer = self._try_page(page)
        if isinstance(answer, ParsedPage):
            return answer
        ended = f"the parser ended with exit code {answer.code}"
        if answer.limit is None and answer.code in KILLED:
            return ParsedPage(outcome="interrupted", detail=f"{ended}, twice")
        return _failed_page(answer.limit or ended)

    def _try_page(self, page: Page) -> ParsedPage | _End:
        process = self._process or self._start()
        if isinstance(process, _End):
            return process
        began_s = time.monotonic()
        answer, wrong = None, None
        try:
            answer = _exchange(process, msgspec.msgpack.encode(page), began_s + self._max_wall_s)
        except BrokenPipeError:
            pass
        except TimeoutError:
            wrong = f"no answer within {self._max_wall_s} s"
        except _TooLarge:
            wrong = f"takes more than {memory_limit.MAX_MEMORY_BYTES >> 20:,} MB to parse"
        except _BadAnswer as error:
            wrong = str(error)
        if answer is None:
            self.cpu_s += min(time.monotonic() - began_s, self._max_cpu_s + 1)
            if wrong is not None:
                process.kill()
            code = self._end(process)
            return _End(code, wrong or self._exceeded_limit(code))
        (cpu_s,) = _CPU.unpack_from(answer)
        self.cpu_s += min(max(0.0, cpu_s), self._max_cpu_s + 1)  # also if it is not a number
        if self._keeps_too_much(process.pid):
            self._end(process)
        try:
            return self._answer.decode(answer[_CPU.size :])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            # A plugin's parser may fill in anything, and a process that was taken over even more.
            return _failed_page(f"the parser returned an invalid page: {error}")

    def _keeps_too_much(self, pid: int) -> bool:
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended: its next page tells
            if self._kept is None:
                self._kept = memory_limit.KeptMemory(pid)
            return self._kept.is_too_much()
        return False

    def _start(self) -> ParserProcess | _End:
        process = start_parser(run, self._max_cpu_s, sandboxed=self._sandboxed)
        with suppress(BrokenPipeError):
            _send(process.stdin, self._rules)
        if _receive(process.stdout) is None:
            code = self._end(process)
            if code in KILLED:
                return _End(code, None)
            raise EngineError(
                "the parser's process",
                f"did not start: exit code {code}",
                f"run `{sys.executable} -c 'import {__name__}'` to see the error",
            )
        self._process = process
        return process

    def _end(self, process: ParserProcess) -> int:
        self._process = None
        if self._kept is not None:
            self._kept.close()
            self._kept = None
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):  # closing flushes data that nobody reads any more
                    pipe.close()
        return process.wait()

    def _exceeded_limit(self, code: int) -> str | None:
        if code == -signal.SIGXCPU:
            return f"takes more than {self._max_cpu_s} s to parse"
        return None


def main(max_cpu_s: int) -> None:
    """Run the child process, a new interpreter with pipes for standard input and output."""
    prepare()
    run(max_cpu_s, os.dup(0), os.dup(1))


def prepare() -> None:
    """Import what takes long, before there are pages, and look for plugins."""
    from gossamer.parse import installed_parsers, page_parsing  # noqa: F401

    installed_parsers.find_plugins()


def run(max_cpu_s: int, source: int, target: int) -> None:
    """Answer what comes from a pipe until the parent closes its other end, or dies."""
    name_process("gossamer-parser")
    os.nice(LOWER)
    gc.freeze()
    gc.set_threshold(GARBAGE)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the parent, and with it the pipe
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(2, 1)
    with open(source, "rb") as pages, suppress(BrokenPipeError), open(target, "wb") as answers:
        if (frame := _receive(pages)) is not None:
            serve(msgspec.msgpack.decode(frame, type=Rules), max_cpu_s, pages, answers)


def serve(rules: Rules, max_cpu_s: int, pages: IO[bytes], answers: IO[bytes]) -> None:
    """Answer pages. Exits if the parser of an installed package cannot be used.

    Raises BrokenPipeError if the other end was closed before an answer.
    """
    from gossamer.parse.installed_parsers import installed_parsers  # the parent needs no parsers

    try:
        installed_parsers()
    except ConfigError as error:
        sys.exit(str(error))
    memory_limit.limit_own_memory()
    if rules.sandbox:
        sandbox.enter()
    decoder = msgspec.msgpack.Decoder(Page)
    _send(answers, b"hello")
    counted_s = time.process_time()
    while (frame := _receive(pages)) is not None:
        page = decoder.decode(frame)
        memory_limit.limit_resource(resource.RLIMIT_CPU, int(time.process_time()) + 1 + max_cpu_s)
        answer = _answer(page, rules)
        spent_s = time.process_time()
        _send(answers, _CPU.pack(spent_s - counted_s) + answer)
        counted_s = spent_s
        if len(frame) > LARGE_BYTES:
            trim_heap()


def _answer(page: Page, rules: Rules) -> bytes:
    from gossamer.parse.page_parsing import parse_page

    try:
        return msgspec.msgpack.encode(parse_page(page, rules))
    except Exception as error:  # noqa: BLE001  # any page may break a parser
        return msgspec.msgpack.encode(_failed_page(repr(error)))


def _failed_page(why: str) -> ParsedPage:
    return ParsedPage(outcome="failed", detail=why[:MAX_DETAIL_CHARS])


def _send(pipe: IO[bytes] | None, frame: bytes) -> None:
    if pipe is not None:
        pipe.write(_frame_head(frame) + frame)  # at once, so that its reader is woken once
        pipe.flush()


def _frame_head(frame: bytes) -> bytes:
    return len(frame).to_bytes(_LENGTH_BYTES, "little")


def _exchange(process: ParserProcess, page: bytes, until_s: float) -> memoryview | None:
    """Send a page; return the answer, or None if the process ended before.

    It trusts nothing that comes back, because the page may have taken over the process. Raises
    TimeoutError, BrokenPipeError, _TooLarge and _BadAnswer.
    """
    assert process.stdin is not None  # noqa: S101  # `_start` made both pipes
    assert process.stdout is not None  # noqa: S101
    sending, receiving = process.stdin.fileno(), process.stdout.fileno()
    os.set_blocking(sending, False)
    rest = [memoryview(_frame_head(page)), memoryview(page)]
    while rest:
        try:
            sent = os.writev(sending, rest)
        except BlockingIOError:
            _await_pipe(process, sending, select.POLLOUT, until_s)
        else:
            rest = _behind(rest, sent)
    frame, size = bytearray(), _LENGTH_BYTES
    while len(frame) < size:
        _await_pipe(process, receiving, select.POLLIN, until_s)
        piece = os.read(receiving, READ_BYTES)
        if not piece:
            return None
        frame += piece
        if size == _LENGTH_BYTES <= len(frame):
            length = int.from_bytes(frame[:_LENGTH_BYTES], "little")
            if not _CPU.size <= length <= memory_limit.MAX_MEMORY_BYTES:
                raise _BadAnswer(f"the parser sent an answer of {length:,} bytes")
            size += length
    if len(frame) > size:
        raise _BadAnswer(f"the parser sent {len(frame) - size:,} bytes behind its answer")
    return memoryview(frame)[_LENGTH_BYTES:]


def _behind(parts: list[memoryview], sent: int) -> list[memoryview]:
    """What is left of parts, of which so many bytes were sent."""
    while parts and sent >= len(parts[0]):
        sent -= len(parts.pop(0))
    return [parts[0][sent:], *parts[1:]] if parts else []


def _await_pipe(process: ParserProcess, pipe: int, event: int, until_s: float) -> None:
    """Wait until a pipe is ready, or its other end is gone. Raises TimeoutError and _TooLarge."""
    watch, look_s = select.poll(), memory_limit.look_s()
    watch.register(pipe, event)
    while True:
        left_s = max(0.0, until_s - time.monotonic())
        if watch.poll(min(left_s, look_s) * 1000):
            return
        if left_s <= look_s:
            raise TimeoutError
        if memory_limit.is_too_large(process.pid):
            raise _TooLarge


def _receive(pipe: IO[bytes] | None) -> bytes | None:
    """Return the next frame; None if the other end was closed, even in the middle of a frame."""
    if pipe is None:
        return None
    head = pipe.read(_LENGTH_BYTES)
    length = int.from_bytes(head, "little")
    frame = pipe.read(length) if len(head) == _LENGTH_BYTES else b""
    return frame if head and len(frame) == length else None
