"""Child processes that end with their parent, however it dies.

Facts (prctl(2), PR_SET_PDEATHSIG)
  * The kernel sends the signal when the *thread* that forked the child ends, which may be long
    before its process does. The batch engine calls us in short-lived threads, whose end would kill
    its idle workers. So a single thread, which lives as long as the process, forks all children.
  * If the parent dies before the child requests the signal, none is sent. So the child then
    compares its parent with the process that started it.
  * Requesting the signal between fork and exec (Popen's `preexec_fn`) is not safe beside other
    threads. Instead the new interpreter requests it before it imports anything large.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import Future
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Process = subprocess.Popen[bytes]
    Start = tuple[Future[Process], Callable[[], Process]]

_PR_SET_PDEATHSIG = 1
_CODE = (
    "import sys; sys.path[:] = {path!r}\n"
    "from gossamer.engine.processes import end_with_parent; end_with_parent({pid}, {signal})\n"
    "{code}"
)


def start_python(
    code: str, arguments: Sequence[str] = (), end: signal.Signals = signal.SIGKILL, **options: Any
) -> Process:
    """Run Python code in a new interpreter that has our `sys.path`; `options` are Popen's.

    When this process dies, the kernel sends the child the signal `end`. A child that must clean up
    should get SIGTERM and handle it; for all others SIGKILL cannot fail. Raises OSError if the
    process cannot be started.
    """
    preamble = _CODE.format(path=sys.path, pid=os.getpid(), signal=int(end), code=code)
    command = [sys.executable, "-c", preamble, *arguments]
    return _forker().start(lambda: subprocess.Popen(command, **options))  # noqa: S603  # our own


def end_with_parent(parent: int, end: int) -> None:
    """Request the signal `end` for this process when its parent dies; called by the child."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_PDEATHSIG, end, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    if os.getppid() != parent:
        os._exit(1)


class _Forker:
    """The thread that starts all processes: a daemon, so it ends with the process."""

    def __init__(self) -> None:
        self._starts: SimpleQueue[Start] = SimpleQueue()
        threading.Thread(target=self._run, name="forker", daemon=True).start()

    def start(self, popen: Callable[[], Process]) -> Process:
        started: Future[Process] = Future()
        self._starts.put((started, popen))
        return started.result()

    def _run(self) -> None:
        while True:
            started, popen = self._starts.get()
            try:
                started.set_result(popen())
            except BaseException as error:  # noqa: BLE001  # raised in the caller's thread
                started.set_exception(error)


_lock = threading.Lock()
_forkers: list[_Forker] = []


def _forker() -> _Forker:
    with _lock:
        if not _forkers:
            _forkers.append(_Forker())
        return _forkers[0]


def _reset_forked() -> None:
    """Reset a forked process: it lacks the parent's threads, and its lock may be held for ever."""
    global _lock  # noqa: PLW0603
    _lock = threading.Lock()
    _forkers.clear()


os.register_at_fork(after_in_child=_reset_forked)
