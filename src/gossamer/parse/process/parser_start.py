"""Starts the processes that parse pages (`guarded_parser.py`).

Importing the parsers takes as long as 100 pages. On Linux, the workers of a crawl therefore share a
fork server that has imported them. It has none of the passwords in their environment, as its
children must not have them in their memory, and it never has a page. Where there is no such server,
each process is a new interpreter, and the first one can be started ahead.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

from gossamer.engine import fork_server
from gossamer.engine.processes import start_python
from gossamer.parse.process import sandbox

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.engine.fork_server import Forked, ForkServer

    Run = Callable[[int, int, int], None]
    ParserProcess = subprocess.Popen[bytes] | Forked

MAX_CPU_S = 5
"""Processor time per page. Honest pages take 0.03 s per megabyte, and fetch cuts them at a few."""

_MODULE = "gossamer.parse.process.guarded_parser"
_servers: list[ForkServer] = []
"""The server that this process shares with those that are forked from it, if there is one."""
_ahead: list[subprocess.Popen[bytes]] = []
"""Processes that no parser uses yet."""


def start_ahead(prepare: Callable[[], None]) -> None:
    """Start what this process's first parser needs, unless its settings are unusual."""
    if fork_server.is_possible():
        _servers.append(fork_server.start_server(prepare, sandbox.environment(os.environ)))
    else:
        _ahead.append(_spawn(MAX_CPU_S, sandboxed=True))


def start_parser(run: Run, max_cpu_s: int, *, sandboxed: bool) -> ParserProcess:
    """Start a process with pipes, which then waits for the `Rules`. Raises OSError."""
    if sandboxed and _servers:
        with suppress(EOFError, ConnectionError):  # the server was killed
            return _fork(_servers[0], run, max_cpu_s)
        _servers.pop().end()
    usual = sandboxed and max_cpu_s == MAX_CPU_S
    return _ahead.pop() if usual and _ahead else _spawn(max_cpu_s, sandboxed=sandboxed)


def _spawn(max_cpu_s: int, *, sandboxed: bool) -> subprocess.Popen[bytes]:
    return start_python(
        f"from {_MODULE} import main; main({max_cpu_s})",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=sandbox.environment(os.environ) if sandboxed else None,
    )


def _fork(server: ForkServer, run: Run, max_cpu_s: int) -> Forked:
    pages, answers = os.pipe(), os.pipe()
    try:
        forked = server.fork(run, [max_cpu_s], [pages[0], answers[1]], environment=None)
    except BaseException:
        os.close(pages[1])
        os.close(answers[0])
        raise
    finally:
        os.close(pages[0])
        os.close(answers[1])
    forked.stdin, forked.stdout = open(pages[1], "wb"), open(answers[0], "rb")  # noqa: PTH123, SIM115  # pipes
    return forked
