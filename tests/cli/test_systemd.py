"""What systemd learns of a service."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from gossamer.cli.systemd_notification import SHARE, SystemdNotifier, Watchdog
from tests.support.systemd_socket import Systemd

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[Systemd]:
    with Systemd(tmp_path) as listening:
        yield listening


def test_systemd_is_told_only_where_it_listens(systemd: Systemd) -> None:
    SystemdNotifier({}).tell(READY="1")
    assert systemd.is_silent()
    SystemdNotifier({"NOTIFY_SOCKET": systemd.path}).tell(READY="1", STATUS="round 1: fetch")
    assert systemd.received() == {"READY": "1", "STATUS": "round 1: fetch"}


def test_the_limit_of_another_process_is_not_ours() -> None:
    ours = {"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(os.getpid())}
    assert SystemdNotifier(ours).limit_s == 30
    assert SystemdNotifier(ours | {"WATCHDOG_PID": "1"}).limit_s == 0
    assert SystemdNotifier({}).limit_s == 0


def test_a_process_is_alive_if_it_works_or_waits_on_purpose(systemd: Systemd) -> None:
    now_s, cpu_s, is_resting = 0.0, 0.0, False
    dog = Watchdog(
        SystemdNotifier({"NOTIFY_SOCKET": systemd.path}),
        lambda: is_resting,
        lambda: now_s,
        lambda: cpu_s,
    )
    now_s, cpu_s = 100.0, 200 * SHARE
    dog.notify_watchdog()
    assert systemd.received() == {"WATCHDOG": "1"}
    now_s, cpu_s = 200.0, cpu_s + 50 * SHARE
    dog.notify_watchdog()
    assert systemd.is_silent()
    now_s, is_resting = 300.0, True
    dog.notify_watchdog()
    assert systemd.received() == {"WATCHDOG": "1"}


def test_a_listener_that_is_busy_is_not_waited_for(systemd: Systemd) -> None:
    supervisor = SystemdNotifier({"NOTIFY_SOCKET": systemd.path})
    for _ in range(10_000):  # more than fit into its queue
        supervisor.tell(STATUS="busy")
    assert systemd.received() == {"STATUS": "busy"}


SHARING = """
import os, signal
from gossamer.cli.systemd_notification import tree_bytes

filled = b"x" * 200_000_000
before = tree_bytes()
child = os.fork()
if not child:
    signal.pause()
both = tree_bytes()
os.kill(child, signal.SIGKILL)
print(before > len(filled), both < 1.5 * before)
"""


@pytest.mark.server
def test_memory_that_a_process_shares_with_its_child_counts_once() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SHARING], capture_output=True, text=True, check=True
    )
    assert done.stdout == "True True\n"
