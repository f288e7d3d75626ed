"""Which process holds the lock of a crawl?"""

from __future__ import annotations

import os
import socket
import sys
import time
from datetime import UTC, datetime

import msgspec

from gossamer.errors import Locked

COMMAND_CHARS = 300
"""What is kept of a command line: thousands of seeds may stand there."""


class Holder(msgspec.Struct, frozen=True):
    """The process that holds the lock of a crawl."""

    pid: int
    machine: str
    command: str
    """Its command line, up to COMMAND_CHARS."""
    since_ms: int

    @classmethod
    def me(cls, pid: int | None = None) -> Holder:
        """This process, or the one with the number `pid` on whose behalf it works."""
        pid = os.getpid() if pid is None else pid
        # Names of files may be bytes that are no UTF-8.
        command = os.fsencode(" ".join(sys.argv)).decode(errors="replace")
        if len(command) > COMMAND_CHARS:
            command = command[: COMMAND_CHARS - 1] + "…"
        return cls(pid, socket.gethostname(), command, int(time.time() * 1000))

    def lives(self) -> bool:
        """Whether the process is still there; of one on another machine, that is assumed."""
        import psutil  # only needed here

        if self.machine != socket.gethostname():
            return True
        try:
            began_s: float = psutil.Process(self.pid).create_time()
        except psutil.Error:
            return False
        return began_s * 1000 <= self.since_ms  # otherwise another process has got its number


def locked_error(path: object, by: Holder | None) -> Locked:
    """The error for a crawl that is locked; `by`: None if the holder is not known yet."""
    if by is None:
        return Locked(path, "another process has locked this crawl", "wait for it to end")
    since = datetime.fromtimestamp(by.since_ms / 1000, UTC).isoformat(timespec="seconds")
    return Locked(
        path,
        f"process {by.pid} on {by.machine} has locked this crawl since {since} ({by.command})",
        f"wait for it, or end it: kill {by.pid}",
    )
