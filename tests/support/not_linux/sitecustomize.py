"""Lets Gossamer believe that it does not run on Linux, and takes away what Linux has for it.

Python imports this module at its start if its folder is in $PYTHONPATH, which child processes
inherit. Only modules of gossamer see another `sys.platform`; libraries go on as on Linux. If one of
these modules uses what Linux has all the same, it fails as on macOS: prctl and other system calls
by number, /proc, some names of `os` and `socket`, and limits that macOS refuses.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import pwd
import resource
import socket
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

PLATFORM = "darwin"
MOST_FILES = 10_240
ABSENT = {os: ("O_PATH", "pidfd_open"), socket: ("IP_BIND_ADDRESS_NO_PORT", "SO_PEERCRED")}
OF_LINUX = {"prctl", "syscall", "accept4"}


class _Sys:
    """`sys` as the modules of gossamer see it."""

    platform = PLATFORM

    def __getattr__(self, name: str) -> Any:
        return getattr(sys, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(sys, name, value)


class _Elsewhere(Loader):
    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        created: ModuleType | None = self._loader.create_module(spec)
        return created

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        if getattr(module, "sys", None) is sys:
            module.sys = _Sys()  # type: ignore[attr-defined]


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith("gossamer."):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Elsewhere(spec.loader)
        return spec


class _Library(ctypes.CDLL):
    def __getattr__(self, name: str) -> Any:
        if name in OF_LINUX:
            raise AttributeError(f"{PLATFORM} has no {name}")
        return super().__getattr__(name)


def _refuse_proc(event: str, given: tuple[Any, ...]) -> None:
    if event not in {"open", "os.listdir", "os.scandir"} or not str(given[0]).startswith("/proc"):
        return
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals["__name__"] == "pathlib":
        frame = frame.f_back
    if frame.f_globals["__name__"].partition(".")[0] == "gossamer":
        raise FileNotFoundError(2, "No such file or directory", given[0])


_set_limit = resource.setrlimit


def _set_limit_elsewhere(what: int, limits: tuple[int, int]) -> None:
    too_many = what == resource.RLIMIT_NOFILE and not 0 <= limits[0] <= MOST_FILES
    if too_many or what == resource.RLIMIT_AS:
        raise ValueError("current limit exceeds maximum limit")
    _set_limit(what, limits)


for module, names in ABSENT.items():
    for each in names:
        if hasattr(module, each):
            delattr(module, each)
fcntl.F_FULLFSYNC = 51  # type: ignore[attr-defined]  # which no file system of Linux knows
ctypes.CDLL = _Library  # type: ignore[misc]
resource.setrlimit = _set_limit_elsewhere
pwd.getpwall = list  # who else may use this machine is no matter of tests
sys.addaudithook(_refuse_proc)
sys.meta_path.insert(0, _Finder())
