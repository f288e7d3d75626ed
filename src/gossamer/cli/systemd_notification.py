"""What systemd learns of a service: that it is ready, what it does, and that it is alive.

Messages are datagrams to the socket that $NOTIFY_SOCKET names (sd_notify(3)). If the unit sets
WatchdogSec=, the service must say within $WATCHDOG_USEC microseconds that it is alive, or it is
killed and started again.

A process whose main thread waits for something that never comes would say so, too, if it only said
it in time. So a service is alive if it waits on purpose, or if it and its children take at least
SHARE of a core.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

import psutil

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

SHARE = 0.002
"""A fetch that waits for a slow host takes a multiple of this, and idle threads less."""
LOOKS = 3
"""Looks at a service in the time that it is given."""


class Told(Protocol):
    """Whoever is told how a service does."""

    limit_s: float
    """Seconds within which the service must say that it is alive; 0: it need not."""

    def tell(self, **fields: str) -> None:
        """Send fields of sd_notify(3), such as READY="1"."""


class SystemdNotifier:
    """Sends messages to systemd, and none if it did not start this process."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        address = environment.get("NOTIFY_SOCKET", "")
        self._address = address.replace("@", "\0", 1) if address.startswith("@") else address
        self.limit_s = int(environment.get("WATCHDOG_USEC", "0")) / 1e6
        if environment.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
            self.limit_s = 0.0  # meant for another process

    def tell(self, **fields: str) -> None:
        if not self._address:
            return
        message = "\n".join(f"{name}={value}" for name, value in fields.items())
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender, suppress(OSError):
            sender.setblocking(False)  # a crawl must not wait for a listener that is busy
            sender.sendto(message.encode(), self._address)


def tree_bytes() -> int:
    """Memory of this process and its descendants. Linux counts what they share once.

    Workers share much, as they are forked from a server.
    """
    total = 0
    for each in _process_tree():
        with suppress(psutil.NoSuchProcess):
            if sys.platform == "linux":
                total += each.memory_full_info().pss
            else:
                total += each.memory_info().rss
    return total


def tree_cpu_s() -> float:
    """CPU seconds of this process and its descendants, with those that have ended."""
    total = 0.0
    for each in _process_tree():
        with suppress(psutil.NoSuchProcess):
            times = each.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


def _process_tree() -> list[psutil.Process]:
    process = psutil.Process()
    return [process, *process.children(recursive=True)]


class Watchdog:
    """Says that this process is alive while it is, in a thread; a context manager."""

    def __init__(
        self,
        supervisor: Told,
        is_resting: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
        cpu: Callable[[], float] = tree_cpu_s,
    ) -> None:
        """`is_resting`: whether the process waits on purpose."""
        self._systemd, self._is_resting = supervisor, is_resting
        self._clock, self._cpu = clock, cpu
        self._last = cpu(), clock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run_watchdog, name="watchdog", daemon=True)

    def __enter__(self) -> Self:
        if self._systemd.limit_s:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def notify_watchdog(self) -> None:
        """Say that the process is alive, if it is."""
        (cpu_s, at_s), self._last = self._last, (self._cpu(), self._clock())
        took_s, passed_s = self._last[0] - cpu_s, self._last[1] - at_s
        if abs(took_s) >= SHARE * passed_s or self._is_resting():  # less if a child was killed
            self._systemd.tell(WATCHDOG="1")

    def _run_watchdog(self) -> None:
        while not self._over.wait(self._systemd.limit_s / LOOKS):
            self.notify_watchdog()
