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
import select
import socket
import struct
import threading
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from gossamer.engine import seccomp

_ACCEPT4 = {"x86_64": 288, "aarch64": 242}
_RECEIVE, _SEND = 0xC0502100, 0xC0182101
_NOTIFICATION = struct.Struct("=QIIiIQ6Q")
"""struct seccomp_notif: id, thread, flags; then number, architecture, instruction, arguments."""
_RESPONSE = struct.Struct("=QqiI")
_MAPPED = "::ffff:"

_libc = ctypes.CDLL(None, use_errno=True)


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

        Raises OSError if the kernel cannot.
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
            raise

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


def _close_port(listener: int) -> None:
    borrowed = socket.socket(fileno=listener)
    try:
        borrowed.shutdown(socket.SHUT_RDWR)
    finally:
        borrowed.detach()


def _is_ours(connection: socket.socket) -> bool:
    """Whether the other end of a connection over TCP is a socket of this process."""
    here, there = _ends(connection)
    for descriptor in os.listdir("/proc/self/fd"):  # noqa: PTH208  # their numbers
        with suppress(OSError):  # it is not a connected socket, or was closed meanwhile
            borrowed = socket.socket(fileno=int(descriptor))
            try:
                if _ends(borrowed) == (there, here):
                    return True
            finally:
                borrowed.detach()
    return False


def _ends(connection: socket.socket) -> tuple[Any, Any]:
    """The addresses of both ends. Raises OSError.

    A socket of IPv6 writes that of IPv4 otherwise.
    """
    if connection.family not in {socket.AF_INET, socket.AF_INET6}:
        return None, None
    ours, theirs = connection.getsockname(), connection.getpeername()
    return (ours[0].removeprefix(_MAPPED), ours[1]), (theirs[0].removeprefix(_MAPPED), theirs[1])
