"""System calls of a thread that the kernel denies, or lets another thread of ours answer.

A filter is a program of classic BPF over struct seccomp_data, which holds the number of the call,
the architecture and the arguments. It is permanent, and applies to the calling thread and to the
threads and processes that this thread starts. No maintained package with wheels binds the
interface, so the system call is made here.

Sources: seccomp(2), include/uapi/linux/{seccomp,filter}.h.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

LOAD, JUMP_EQUAL, JUMP_SET, JUMP_ABOVE, RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16
"""Offsets in struct seccomp_data, for LOAD."""
ALLOW, ERRNO, KILL, NOTIFY = 0x7FFF0000, 0x00050000, 0x80000000, 0x7FC00000

_PR_SET_NO_NEW_PRIVS = 38
_SET_MODE_FILTER, _GET_ACTION_AVAIL, _NEW_LISTENER = 1, 2, 8
_SECCOMP = {"x86_64": 317, "aarch64": 277}

_libc = ctypes.CDLL(None, use_errno=True)


def is_known(machine: str = platform.machine()) -> bool:
    """Whether this is Linux, on an architecture whose system calls this module knows."""
    return sys.platform == "linux" and machine in _SECCOMP


def can_notify() -> bool:
    """Whether filters may return NOTIFY: not before Linux 5.0, nor under gVisor or qemu-user."""
    if not is_known():
        return False
    number, action = _SECCOMP[platform.machine()], ctypes.c_uint32(NOTIFY)
    return not _libc.syscall(number, _GET_ACTION_AVAIL, 0, ctypes.byref(action))


def install(program: Iterable[tuple[int, int, int, int]], *, notify: bool = False) -> int:
    """Install a filter for this thread: steps of code, jumps if true and if false, and a constant.

    With `notify`, returns a descriptor that reports the calls for which the filter returns NOTIFY.
    Raises OSError if the kernel cannot.
    """
    if not is_known():
        raise OSError(0, f"system calls of {sys.platform} on {platform.machine()} are not known")
    code = b"".join(struct.pack("=HBBI", *step) for step in program)
    kept = ctypes.create_string_buffer(code)
    filter_ = ctypes.create_string_buffer(
        struct.pack("@HP", len(code) // 8, ctypes.addressof(kept))
    )
    number, flags = _SECCOMP[platform.machine()], _NEW_LISTENER if notify else 0
    if _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_NO_NEW_PRIVS)")
    installed = int(_libc.syscall(number, _SET_MODE_FILTER, flags, filter_))
    if installed < 0:
        raise OSError(ctypes.get_errno(), f"seccomp: {os.strerror(ctypes.get_errno())}")
    return installed
