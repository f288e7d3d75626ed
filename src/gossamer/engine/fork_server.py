"""Child processes forked from one that has imported what they need: 10 ms instead of a second.

A fork server calls a function that imports modules, and then forks a child whenever its owner
wants one. Children share its memory until they write to it.

Facts
  * fork(2) copies only the thread that calls it, and locks that other threads hold stay locked. So
    a server has one thread, and is forked from this process only before that has started any
    (`is_single`). Otherwise it is a new interpreter. numpy and Arrow contain OpenBLAS and jemalloc,
    which start a thread when they are imported, and have handlers (pthread_atfork(3)) that make
    forks safe.
  * A child can be waited for by its parent only, which is the server. So the server reports the
    exit code to the owner, which otherwise uses a pidfd (pidfd_open(2)): that never becomes another
    process's, as a number may.
  * Libraries of macOS must not be used after a fork without exec. So other systems have no servers
    (`is_possible`), and start an interpreter each time.

Protocol: an owner sends one byte over `requests`, a socket that several processes may share, and
with it the descriptors of the child (SCM_RIGHTS, unix(7)), first of all one end of a connection for
this child. The server answers there with the child's number (4 bytes) and a pidfd, or with the
negative number of an error, and finally with the exit code. In the other direction, the child gets
its `_Order`. When the owner closes its end, or dies, the server kills the child. The kernel kills
children when their server dies, and a server when the process dies that started it (processes.py).
"""

from __future__ import annotations

import ctypes
import os
import pickle
import select
import signal
import socket
import struct
import subprocess
import sys
import traceback
import warnings
from contextlib import suppress
from functools import cache, partial
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from gossamer.engine.lean_imports import pause_collections
from gossamer.engine.processes import end_with_parent, start_python

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

MAX_DESCRIPTORS = 8
_NUMBER = struct.Struct("=i")
_SIZE = struct.Struct("=Q")
_PR_SET_NAME = 15
_CLOEXEC: int = getattr(socket, "MSG_CMSG_CLOEXEC", 0)  # of Linux


class _Order(NamedTuple):
    """What a child does, and what it has in common with its owner."""

    call: Callable[..., object]
    arguments: tuple[Any, ...]
    environment: dict[str, str] | None
    path: list[str]
    folder: str | None
    priority: int


class Forked:
    """A child of a fork server. Its methods and attributes are those of `subprocess.Popen`."""

    def __init__(self, report: socket.socket) -> None:
        """Wait until it exists. Raises OSError, and EOFError if the server died."""
        self.stdin: IO[bytes] | None = None
        self.stdout: IO[bytes] | None = None
        self.returncode: int | None = None
        self._report = report
        answer, descriptors, _, _ = socket.recv_fds(report, _NUMBER.size, 1, _CLOEXEC)
        self.pid = _unpack_number(answer)
        if self.pid < 0:
            raise OSError(-self.pid, os.strerror(-self.pid))
        (self._pidfd,) = descriptors

    def poll(self) -> int | None:
        """The exit code, if it has ended."""
        if self.returncode is None:
            ended = select.poll()
            ended.register(self._pidfd, select.POLLIN)
            if ended.poll(0):
                self.wait()
        return self.returncode

    def wait(self) -> int:
        """Wait for its end and return the exit code. If its server dies, that is SIGKILL's."""
        if self.returncode is None:
            try:
                self.returncode = _unpack_number(self._report.recv(_NUMBER.size))
            except (EOFError, ConnectionError):
                self.returncode = -signal.SIGKILL
            self._report.close()
            os.close(self._pidfd)
        return self.returncode

    def kill(self) -> None:
        if sys.platform == "linux" and self.returncode is None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)


class ForkServer:
    """The owner's side of a server."""

    def __init__(self, pid: int, requests: socket.socket, wait: Callable[[], object]) -> None:
        self.pid = pid
        self._requests = requests
        self._wait = wait

    def fork(
        self,
        call: Callable[..., object],
        arguments: Sequence[Any],
        descriptors: Sequence[int],
        environment: Mapping[str, str] | None,
    ) -> Forked:
        """Fork a child that calls a function of a module with its arguments and descriptors.

        The child has the environment that is given, or that of the server, and the owner's
        `sys.path`, working directory and priority. Raises OSError, and EOFError if the server died.
        """
        report, theirs = socket.socketpair()
        try:
            with theirs:
                socket.send_fds(self._requests, [b"."], [theirs.fileno(), *descriptors])
            given = None if environment is None else dict(environment)
            order = _Order(call, tuple(arguments), given, sys.path, _folder(), os.nice(0))
            pickled = pickle.dumps(order)
            report.sendall(_SIZE.pack(len(pickled)) + pickled)
            return Forked(report)
        except BaseException:
            report.close()
            raise

    def end(self) -> None:
        """End the server and, with it, its children."""
        self._requests.close()
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(self.pid, signal.SIGKILL)
            self._wait()


@cache
def is_possible() -> bool:
    """Whether this system can have servers: older kernels, and some filters, refuse pidfds."""
    if sys.platform == "linux" and hasattr(os, "pidfd_open"):
        with suppress(OSError):
            pidfd = os.pidfd_open(os.getpid())
            try:
                signal.pidfd_send_signal(pidfd, 0)
            finally:
                os.close(pidfd)
            return True
    return False


def is_single() -> bool:
    """Whether this process has one thread only, those of libraries included."""
    return is_possible() and len(os.listdir("/proc/self/task")) == 1  # noqa: PTH208  # no paths


def fork_here(prepare: Callable[[], object]) -> ForkServer:
    """Fork a server from this process, which has one thread. It first calls `prepare`."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    parent = os.getpid()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()  # or the child would write it again
    with theirs, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 counts OpenBLAS's threads
        pid = os.fork()
        if not pid:
            _exit_after(partial(_serve_forked, parent, theirs, prepare))
    return ForkServer(pid, ours, partial(os.waitpid, pid, 0))


def start_server(
    prepare: Callable[[], object], environment: Mapping[str, str] | None = None
) -> ForkServer:
    """Start a server as a new interpreter, with this environment or that of this process.

    `prepare` can be pickled.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        given = f"{theirs.fileno()}, {pickle.dumps(prepare)!r}"
        try:
            process = start_python(
                f"from {__name__} import serve; serve({given})",
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env=environment,
            )
        except BaseException:
            ours.close()
            raise
    return ForkServer(process.pid, ours, process.wait)


def name_process(name: str) -> None:
    """Set the name of this process for ps(1) and top(1), of which Linux keeps 15 bytes."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_NAME, name.encode())


def serve(descriptor: int, prepare: bytes) -> None:
    """Run as a server in a new interpreter."""
    _serve(socket.socket(fileno=descriptor), partial(_call_pickled, prepare))


def _call_pickled(function: bytes) -> None:
    pickle.loads(function)()  # noqa: S301  # our own


def _serve_forked(parent: int, requests: socket.socket, prepare: Callable[[], object]) -> None:
    end_with_parent(parent, signal.SIGKILL)
    kept = {0, 1, 2, requests.fileno()}
    for number in map(int, os.listdir("/proc/self/fd")):  # noqa: PTH208  # no paths
        if number not in kept:
            with suppress(OSError):  # that of the folder
                os.close(number)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    _serve(requests, prepare)


def _serve(requests: socket.socket, prepare: Callable[[], object]) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):  # the owner handles Ctrl-C and the end of a
        signal.signal(number, signal.SIG_IGN)  # service
    name_process("gossamer-forks")
    with pause_collections(), suppress(Exception):  # children that need it meet it again
        prepare()
    _Children(requests).run()


class _Child(NamedTuple):
    pid: int
    pidfd: int
    report: socket.socket


class _Children:
    """The server's side of its children, each by both of its descriptors."""

    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests
        self._events = select.poll()
        self._events.register(requests, select.POLLIN)
        self._by_descriptor: dict[int, _Child] = {}

    def run(self) -> None:
        """Fork children until nobody is left who could ask for one.

        Requests come first, so no descriptor gets the number of one that another event is about.
        """
        if sys.platform != "linux":  # for mypy: others never start this server
            raise NotImplementedError
        while True:
            for descriptor, _ in self._events.poll():
                child = self._by_descriptor.get(descriptor)
                if descriptor == self._requests.fileno():
                    if not self._fork():
                        return
                elif child is None:
                    continue  # it has ended just now
                elif descriptor == child.pidfd:
                    self._report(child)
                else:
                    self._events.unregister(descriptor)
                    signal.pidfd_send_signal(child.pidfd, signal.SIGKILL)

    def _fork(self) -> bool:
        if sys.platform != "linux":  # for mypy, as above
            raise NotImplementedError
        word, given, _, _ = socket.recv_fds(self._requests, 1, MAX_DESCRIPTORS, _CLOEXEC)
        if not word:
            return False
        number, *descriptors = given
        report, server = socket.socket(fileno=number), os.getpid()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # as in `fork_here`
                pid = os.fork()
        except OSError as error:
            _answer(report, -(error.errno or 1))
            report.close()
        else:
            if not pid:
                self._leave()
                _exit_after(partial(_run_order, server, report, descriptors))
            child = _Child(pid, os.pidfd_open(pid), report)
            _answer(report, pid, [child.pidfd])
            self._by_descriptor |= {child.pidfd: child, number: child}
            self._events.register(child.pidfd, select.POLLIN)
            self._events.register(number, select.POLLRDHUP)
        for descriptor in descriptors:
            os.close(descriptor)
        return True

    def _report(self, child: _Child) -> None:
        _, status = os.waitpid(child.pid, 0)
        _answer(child.report, os.waitstatus_to_exitcode(status))
        for descriptor in (child.pidfd, child.report.fileno()):
            del self._by_descriptor[descriptor]
            with suppress(KeyError):  # its owner has shut it down
                self._events.unregister(descriptor)
        os.close(child.pidfd)
        child.report.close()

    def _leave(self) -> None:
        """Close, in a child, what belongs to the server."""
        self._requests.close()
        for child in set(self._by_descriptor.values()):
            os.close(child.pidfd)
            child.report.close()


def _run_order(server: int, report: socket.socket, descriptors: Sequence[int]) -> None:
    end_with_parent(server, signal.SIGKILL)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    with report:
        (size,) = _SIZE.unpack(_receive(report, _SIZE.size))
        order: _Order = pickle.loads(_receive(report, size))  # noqa: S301  # our own
    sys.path[:] = order.path
    if order.environment is not None and order.environment != dict(os.environ):
        os.environ.clear()
        os.environ.update(order.environment)
    if order.folder is not None and order.folder != _folder():
        with suppress(OSError):
            os.chdir(order.folder)
    os.nice(max(order.priority - os.nice(0), 0))
    order.call(*order.arguments, *descriptors)


def _exit_after(call: Callable[[], object]) -> None:
    """Call a function and end this forked process, which must not return to its parent's code."""
    code = 1
    try:
        call()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        if isinstance(ended.code, str):
            sys.stderr.write(f"{ended.code}\n")
    except BaseException:  # noqa: BLE001  # as the interpreter does
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()
        os._exit(code)


def _folder() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109  # no path is needed
    except OSError:
        return None


def _answer(report: socket.socket, number: int, descriptors: Sequence[int] = ()) -> None:
    with suppress(OSError):  # the owner has ended
        socket.send_fds(report, [_NUMBER.pack(number)], descriptors)


def _unpack_number(answer: bytes) -> int:
    """Raises EOFError if there is none, as the other end was closed."""
    if not answer:
        raise EOFError
    (number,) = _NUMBER.unpack(answer)
    return int(number)


def _receive(connected: socket.socket, size: int) -> bytes:
    """Raises EOFError if the other end was closed before."""
    data = b""
    while len(data) < size:
        received = connected.recv(size - len(data))
        if not received:
            raise EOFError
        data += received
    return data
