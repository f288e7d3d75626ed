"""Takes away the rights of the process that parses untrusted pages: it may parse, nothing else.

A defect in a native parser may let a page run code. The limits of `guarded_parser.py` do not help
against that, so the kernel permanently takes away what parsing does not need:

    Landlock (Linux 5.13; TCP 6.7; sockets and signals of others 6.12)
        No file can be written, created or removed. Files can be read only where Python and its
        libraries are, because parsers import modules on first use; so pages, WARC files, settings
        and keys cannot be read. No TCP. No signals to processes outside.
    seccomp (Linux 3.17; x86_64 and aarch64)
        No sockets, new programs, new processes, tracing of others, or system calls that parsing
        does not need. They fail with EPERM. Threads are allowed.

Decision: seccomp gets a list of denied calls. A list of allowed ones would be stricter, but would
have to name everything that any version of the C library, Python and PDFium calls; a missing one
would make pages fail silently. No maintained package with wheels binds Landlock, so its few system
calls are made here.

Other systems than Linux have nothing of this: there, the process only loses the environment.

Sources: landlock(7), include/uapi/linux/landlock.h.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
import struct
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer.engine import seccomp
from gossamer.engine.seccomp import (
    ALLOW,
    ARCHITECTURE,
    ERRNO,
    FIRST_ARGUMENT,
    JUMP_ABOVE,
    JUMP_EQUAL,
    JUMP_SET,
    KILL,
    LOAD,
    NUMBER,
    RETURN,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_PR_SET_NO_NEW_PRIVS = 38
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_PATH_BENEATH = 1
_FILES = {1: 1 << 13, 2: 1 << 14, 3: 1 << 15, 5: 1 << 16}
"""By version of Landlock, one bit above the highest right to files that the version defines."""
_EXECUTE, _READ_FILE, _READ_FOLDER = 1, 1 << 2, 1 << 3
_READ = _EXECUTE | _READ_FILE | _READ_FOLDER
_PATH_ONLY: int = getattr(os, "O_PATH", 0)  # of Linux
_TCP, _SCOPES = 0b11, 0b11
_TCP_SINCE, _SCOPES_SINCE = 4, 6

_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CLONE = {"x86_64": 56, "aarch64": 220}
_DENIED = {
    # socket, socketpair, connect, bind, listen, accept, accept4, sendto, sendmsg, ptrace, execve,
    # execveat, mount, umount2, pivot_root, chroot, setns, unshare, init_module, finit_module,
    # delete_module, kexec_load, bpf, perf_event_open, process_vm_readv, process_vm_writev, keyctl,
    # add_key, request_key, userfaultfd, io_uring_setup, open_by_handle_at, pidfd_getfd, fork, vfork
    "x86_64": (
        *(41, 53, 42, 49, 50, 43, 288, 44, 46, 101, 59, 322, 165, 166, 155, 161, 308, 272, 175),
        *(313, 176, 246, 321, 298, 310, 311, 250, 248, 249, 323, 425, 304, 438, 57, 58),
    ),
    "aarch64": (
        *(198, 199, 203, 200, 201, 202, 242, 206, 211, 117, 221, 281, 40, 39, 41, 51, 268, 97),
        *(105, 273, 106, 104, 280, 241, 270, 271, 219, 217, 218, 282, 425, 265, 438),
    ),
}
_CLONE3, _CLONE_THREAD = 435, 0x10000
_EPERM, _ENOSYS = 1, 38
_X32 = 0x40000000

_ENVIRONMENT = re.compile(
    r"PATH|HOME|TMPDIR|TZ|LANG|LANGUAGE|(?:LC|LD|DYLD|MALLOC|PYTHON|ASAN|LSAN|UBSAN)_?[A-Z0-9_]*"
)

_libc = ctypes.CDLL(None)


def environment(ours: Mapping[str, str]) -> dict[str, str]:
    """The environment variables that the process gets: passwords may be in all others."""
    return {name: value for name, value in ours.items() if _ENVIRONMENT.fullmatch(name)}


def supported_mechanisms() -> tuple[str, ...]:
    """Return the mechanisms that the kernel has, such as `landlock 6` and `seccomp`."""
    found = []
    if version := _landlock_version():
        found.append(f"landlock {version}")
    if seccomp.is_known() and Path("/proc/sys/kernel/seccomp").exists():
        found.append("seccomp")
    return tuple(found)


def enter() -> tuple[str, ...]:
    """Give up all rights except to parse, as far as the kernel can; return the active mechanisms.

    Call it once, after everything that needs more rights, and before any thread is started.
    """
    held: list[str] = []
    if sys.platform != "linux" or _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        return ()
    if (version := _landlock_version()) and _landlock(version):
        held.append(f"landlock {version}")
    if seccomp.is_known() and _seccomp():
        held.append("seccomp")
    return tuple(held)


def _landlock_version() -> int:
    if sys.platform != "linux":  # the same numbers are other calls there
        return 0
    return max(0, int(_libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)))


def _landlock(version: int) -> bool:
    files = max(limit for since, limit in _FILES.items() if since <= version) - 1
    tcp, scopes = version >= _TCP_SINCE, version >= _SCOPES_SINCE
    attributes = struct.pack("=QQQ", files, tcp * _TCP, scopes * _SCOPES)
    size = 8 * (1 + tcp + scopes)
    rules = _libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(size), 0)
    if rules < 0:
        return False
    try:
        for folder in _readable():
            _allow(rules, folder)
        return not _libc.syscall(_RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)


def _readable() -> set[str]:
    """Return the folders of modules, shared libraries and time zones."""
    libraries = {path for name, path in sysconfig.get_paths().items() if "lib" in name}
    system = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share/zoneinfo")
    return {path for path in (*libraries, *sys.path, *system) if path and Path(path).exists()}


def _allow(rules: int, path: str) -> None:
    descriptor = os.open(path, _PATH_ONLY | os.O_CLOEXEC)
    try:
        rights = _READ if Path(path).is_dir() else _READ & ~_READ_FOLDER
        rule = struct.pack("=Qi", rights, descriptor)
        _libc.syscall(_ADD_RULE, rules, _PATH_BENEATH, rule, 0)
    finally:
        os.close(descriptor)


def _seccomp() -> bool:
    try:
        seccomp.install(_program(platform.machine()))
    except OSError:
        return False
    return True


def _program(machine: str) -> list[tuple[int, int, int, int]]:
    """Return the filter of system calls."""
    deny, unknown = ERRNO | _EPERM, ERRNO | _ENOSYS
    code = [
        (LOAD, 0, 0, ARCHITECTURE),
        (JUMP_EQUAL, 1, 0, _AUDIT[machine]),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
        (JUMP_ABOVE, 0, 1, _X32),  # the x32 table of x86_64
        (RETURN, 0, 0, deny),
        (JUMP_EQUAL, 0, 1, _CLONE3),  # BPF cannot read its flags; the C library then uses clone
        (RETURN, 0, 0, unknown),
        (JUMP_EQUAL, 0, 4, _CLONE[machine]),
        (LOAD, 0, 0, FIRST_ARGUMENT),
        (JUMP_SET, 0, 1, _CLONE_THREAD),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, deny),
    ]
    for number in _DENIED[machine]:
        code += [(JUMP_EQUAL, 0, 1, number), (RETURN, 0, 0, deny)]
    code.append((RETURN, 0, 0, ALLOW))
    return code
