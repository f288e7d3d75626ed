"""Child processes that end with their parent, however it dies.

Facts (prctl(2), PR_SET_PDEATHSIG)
  * The kernel sends the signal when the *thread* that forked the child ends, which may be long
    before its process does. The batch engine calls us in short-lived threads, whose end would kill
    its idle workers. So a thread forks all children that lives as long as the process: the main
    one, or a single other one for all others.
  * If the parent dies before the child requests the signal, none is sent. So the child then
    compares its parent with the process that started it.
  * Requesting the signal between fork and exec (Popen's `preexec_fn`) is not safe beside other
    threads. Instead the new interpreter requests it before it imports anything large.

Other systems have no such signal. There, each child starts a watcher, which sends the signal when
the parent's end of a pipe closes, and ends when the child does. A thread of the child could not do
so while a call, such as a regular expression that never ends, holds the interpreter's lock. A
watcher takes some 10 ms to start, and 10 MB of memory.
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
    "from gossamer.engine.processes import end_with_parent\n"
    "end_with_parent({pid}, {signal}, {lifeline})\n"
    "{code}"
)
_WATCHER = """
import os, select, sys
child, signal, lifeline, of_child = map(int, sys.argv[1:])
ready, _, _ = select.select([lifeline, of_child], [], [])
if of_child not in ready and os.getppid() == child:  # else the child has ended
    os.kill(child, signal)
"""


def start_python(
    code: str, arguments: Sequence[str] = (), end: signal.Signals = signal.SIGKILL, **options: Any
) -> Process:
    """Run Python code in a new interpreter that has our `sys.path`; `options` are Popen's.

    When this process dies, the child gets the signal `end`. A child that must clean up
    should get SIGTERM and handle it; for all others SIGKILL cannot fail. Raises OSError if the
    process cannot be started.
    """
    lifeline = None if sys.platform == "linux" else _lifeline()
    if lifeline is not None:
        options["pass_fds"] = (*options.get("pass_fds", ()), lifeline)
    preamble = _CODE.format(
        path=sys.path, pid=os.getpid(), signal=int(end), lifeline=lifeline, code=code
    )
    command = [sys.executable, "-c", preamble, *arguments]

    def popen() -> Process:
        return subprocess.Popen(command, **options)  # noqa: S603  # our own

    return popen() if is_main_thread() else _forker().start(popen)


def is_main_thread() -> bool:
    """Whether this thread lives as long as its process."""
    return threading.get_native_id() == os.getpid() or sys.platform != "linux"


def end_with_parent(parent: int, end: int, lifeline: int | None = None) -> None:
    """Request the signal `end` for this process when its parent dies; called by the child.

    `lifeline` is a pipe whose other end only the parent has; None: the kernel sends the signal.
    """
    if lifeline is None:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_PR_SET_PDEATHSIG, end, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    else:
        _start_watcher(lifeline, end)
    if os.getppid() != parent:
        os._exit(1)


def _start_watcher(lifeline: int, end: int) -> None:
    ours, _ = os.pipe()  # its other end closes with this process
    given = [str(number) for number in (os.getpid(), end, lifeline, ours)]
    quiet = subprocess.DEVNULL  # as its reader waits for the end of a pipe of ours
    _watchers.append(
        subprocess.Popen(  # noqa: S603  # our own
            [sys.executable, "-I", "-S", "-c", _WATCHER, *given],
            stdin=quiet,
            stdout=quiet,
            stderr=quiet,
            pass_fds=[lifeline, ours],
            process_group=0,  # a signal of the terminal must not end it before its child
        )
    )
    os.close(lifeline)
    os.close(ours)


def _lifeline() -> int:
    """The reading end of a pipe whose other end closes when this process ends."""
    with _lock:
        if not _lifelines:
            _lifelines.extend(os.pipe())
        return _lifelines[0]


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
_lifelines: list[int] = []
"""Both ends of the pipe by which children notice that this process has ended."""
_watchers: list[Process] = []
"""That of this process, if it has one."""


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
    for descriptor in _lifelines:
        os.close(descriptor)
    _lifelines.clear()


os.register_at_fork(after_in_child=_reset_forked)
