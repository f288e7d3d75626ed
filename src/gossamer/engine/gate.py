"""Lets a server of this process have one client, which is this process, and then no port.

The batch engine listens on loopback, does not ask who connects, and runs the code it is sent. All
users of a machine share its loopback, and Sail can neither check a token nor listen on a socket
that has permissions. So its accept(2) goes through a gate:

  * The thread that starts the server gets a filter of system calls (seccomp.py), as do the threads
    that it starts. Their accept4(2) waits, and a thread of the gate makes the call for them.
  * A connection whose other end is not a socket of this process is closed before the server sees
    it. Nobody can pretend: the two addresses of a connection are unique on a machine.
  * Once our connection has come in, the port is closed. Others are refused by the kernel, and do
    not find it among the listening ones. The server waits in accept4(2) until it is stopped.

On systems other than Linux, a latch takes the place of the gate. It cannot refuse connections
before the server gets them. So the server does not start if other people have accounts on the
machine, unless the settings trust them, and the port is closed once we have connected. With that
setting, a latch also takes the place of a gate that the kernel does not support.

Facts (Linux 5.0 or later; x86_64 and aarch64; also in containers with the usual profiles of Docker
and Podman): the filter needs no privileges; both threads have the same descriptors and memory, so
what the gate accepts is the server's as well. A closed port is reported to the server again and
again, so an answer to each of its calls would keep a core busy.

Sources: seccomp_unotify(2), tokio's and mio's `TcpListener::accept`.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import platform
import pwd
import select
import socket
import struct
import sys
import threading
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gossamer.engine import seccomp
from gossamer.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ACCEPT4 = {"x86_64": 288, "aarch64": 242}
_RECEIVE, _SEND = 0xC0502100, 0xC0182101
_NOTIFICATION = struct.Struct("=QIIiIQ6Q")
"""struct seccomp_notif: id, thread, flags; then number, architecture, instruction, arguments."""
_RESPONSE = struct.Struct("=QqiI")
_MAPPED = "::ffff:"

FIRST_PERSON = 500
"""The lowest number of a person's account on macOS; those of Debian begin at 1,000."""
NO_LOGIN = {"false", "nologin"}
"""Shells of accounts that nobody can log in to."""

_libc = ctypes.CDLL(None, use_errno=True)


def make_gate(*, trusting: bool) -> Gate | Latch:
    """What guards the port of a server. `trusting`: other people of this machine are trusted."""
    return Gate() if _is_gated(trusting=trusting) else Latch(trusting=trusting)


def _is_gated(*, trusting: bool) -> bool:
    return sys.platform == "linux" and (seccomp.can_notify() or not trusting)


def require_guard(*, trusting: bool) -> None:
    """Raise EngineError if a server that starts later could not be guarded."""
    if not _is_gated(trusting=trusting):
        Latch(trusting=trusting).guard_thread()
    elif not seccomp.can_notify():
        raise _open_port("its kernel does not tell us who connects")


class Gate:
    """A gate for one server. `end` it before the server is stopped."""

    def __init__(self) -> None:
        self.is_passed = False
        """Whether our connection has come in, and the port is closed."""
        self._calls: Future[int] = Future()
        self._ended = threading.Event()
        threading.Thread(target=self._answer_calls, name="gate", daemon=True).start()

    def guard_thread(self) -> None:
        """Let this thread, and those that it will start, accept through the gate only.

        Raises EngineError if the kernel cannot.
        """
        number = _ACCEPT4.get(platform.machine(), 0)
        program = (
            (seccomp.LOAD, 0, 0, seccomp.NUMBER),
            (seccomp.JUMP_EQUAL, 0, 1, number),
            (seccomp.RETURN, 0, 0, seccomp.NOTIFY),
            (seccomp.RETURN, 0, 0, seccomp.ALLOW),
        )
        try:
            self._calls.set_result(seccomp.install(program, notify=True))
        except OSError as error:
            self._calls.set_exception(error)
            raise _open_port(error.strerror or str(error)) from error

    def shut(self, port: int) -> None:  # noqa: ARG002  # as a latch's
        """Make sure that nobody else can connect any more. Raises EngineError."""
        if not self.is_passed:
            raise _open_port("it does not use accept4(2)")

    def end(self) -> None:
        """Let the server return from accept4(2), so that it notices when it is stopped."""
        self._ended.set()

    def _answer_calls(self) -> None:
        try:
            calls = self._calls.result()
        except OSError:
            return
        waiting = select.poll()
        waiting.register(calls, select.POLLIN)
        while waiting.poll()[0][1] & select.POLLIN:  # else no thread is guarded any more
            with suppress(FileNotFoundError):  # the thread that called has ended, or got a signal
                call = bytearray(_NOTIFICATION.size)
                fcntl.ioctl(calls, _RECEIVE, call)
                number, *_, listener, address, size, flags, _, _ = _NOTIFICATION.unpack(call)
                accepted = self._accept(listener, address, size, flags)
                answer = (accepted, 0) if accepted >= 0 else (0, accepted)
                fcntl.ioctl(calls, _SEND, _RESPONSE.pack(number, *answer, 0))
        os.close(calls)

    def _accept(self, listener: int, address: int, size: int, flags: int) -> int:
        """Make a call of the server's: a descriptor, or a negative number of an error."""
        while not self.is_passed:
            pointers = ctypes.c_void_p(address), ctypes.c_void_p(size)
            accepted = int(_libc.accept4(listener, *pointers, flags))
            if accepted < 0:
                return -ctypes.get_errno()
            with socket.socket(fileno=accepted) as connection, suppress(OSError):
                if _is_ours(connection):
                    _close_port(listener)
                    self.is_passed = True
                    return connection.detach()
        self._ended.wait()
        return -errno.EAGAIN


class Latch:
    """Guards a server where there are no gates. It has the methods of a gate."""

    def __init__(self, *, trusting: bool) -> None:
        self._trusting = trusting

    def guard_thread(self) -> None:
        """Raise EngineError if somebody else could connect to the server while it starts."""
        others = [] if self._trusting else other_people(pwd.getpwall(), os.getuid())
        if others:
            more = "" if len(others) == 1 else f" and {len(others) - 1:,} more"
            raise _open_port(
                f"{others[0]} has an account here{more}",
                "set engine.trust_users if you trust them, or use Linux, where the port is guarded",
            )

    def shut(self, port: int) -> None:
        """Close the port of the server. Raises EngineError if others have connected to it.

        shutdown(2) would report the end of the port to the server again and again, and not on all
        systems. So an unused socket replaces the listening one, which the kernel then closes and
        forgets, also in the server's queue of events (kqueue(2), epoll(7)).
        """
        is_open = True
        for number in _descriptors():
            with suppress(OSError), _borrowed(number) as found:
                if found.getsockname()[1:2] != (port,):
                    continue
                if found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                    with socket.socket() as unused:
                        os.dup2(unused.fileno(), number, inheritable=False)
                    is_open = False
                elif not _is_ours(found):
                    found.shutdown(socket.SHUT_RDWR)
                    raise _open_port("somebody has done so", "run the command again")
        if is_open:
            raise _open_port("it cannot be closed")

    def end(self) -> None:
        """Do nothing: the server does not wait for us."""


def other_people(accounts: Iterable[pwd.struct_passwd], me: int) -> list[str]:
    """The names of accounts with which somebody else than the user `me` can log in."""
    return sorted(
        each.pw_name
        for each in accounts
        if each.pw_uid >= FIRST_PERSON
        and each.pw_uid != me
        and Path(each.pw_shell).name not in NO_LOGIN
    )


def _open_port(
    why: str,
    remedy: str = (
        "use Linux 5.0 or later with seccomp, or the server of engine.url; or set"
        " engine.trust_users if you trust all users of this machine"
    ),
) -> EngineError:
    what = f"other users of this machine could reach its port and run code as you: {why}"
    return EngineError("the batch engine", what, remedy)


def _close_port(listener: int) -> None:
    with _borrowed(listener) as borrowed:
        borrowed.shutdown(socket.SHUT_RDWR)


def _is_ours(connection: socket.socket) -> bool:
    """Whether the other end of a connection over TCP is a socket of this process."""
    here, there = _ends(connection)
    for number in _descriptors():
        with suppress(OSError), _borrowed(number) as found:
            if _ends(found) == (there, here):
                return True
    return False


def _descriptors() -> list[int]:
    """The numbers of this process's open files and sockets."""
    folder = "/proc/self/fd" if sys.platform == "linux" else "/dev/fd"
    return [int(name) for name in os.listdir(folder)]  # noqa: PTH208  # their numbers


@contextmanager
def _borrowed(descriptor: int) -> Iterator[socket.socket]:
    """A socket that somebody else closes. Raises OSError if it is none, or was closed meanwhile."""
    borrowed = socket.socket(fileno=descriptor)
    try:
        yield borrowed
    finally:
        borrowed.detach()


def _ends(connection: socket.socket) -> tuple[Any, Any]:
    """The addresses of both ends. Raises OSError.

    A socket of IPv6 writes that of IPv4 otherwise.
    """
    if connection.family not in {socket.AF_INET, socket.AF_INET6}:
        return None, None
    ours, theirs = connection.getsockname(), connection.getpeername()
    return (ours[0].removeprefix(_MAPPED), ours[1]), (theirs[0].removeprefix(_MAPPED), theirs[1])
