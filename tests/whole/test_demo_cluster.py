"""`make demo-cluster`: what it shows, and that it leaves no process behind, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import psutil
import pytest

from tests.support.repository import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.spark, pytest.mark.long]

DEMO = ROOT / "examples" / "cluster" / "demo.py"
END_S = 60


@contextmanager
def demo(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Run the demo. All of its processes inherit TMPDIR."""
    command = [sys.executable, str(DEMO), "--spark", os.environ["SPARK_HOME"]]
    with subprocess.Popen(
        command,
        env=os.environ | {"TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as started:
        try:
            yield started
        finally:
            started.kill()


def processes(folder: Path) -> list[str]:
    """The commands of the demo's processes."""
    found = []
    for each in psutil.process_iter():
        with suppress(psutil.Error):
            if each.environ().get("TMPDIR") == str(folder):
                found.append(" ".join(each.cmdline()))
    return found


def await_end(folder: Path) -> None:
    ends_s = time.monotonic() + END_S
    while left := processes(folder):
        assert time.monotonic() < ends_s, left
        threading.Event().wait(0.2)


def test_a_cluster_loses_a_worker_crawls_all_and_answers(tmp_path: Path) -> None:
    with demo(tmp_path) as running:
        said, _ = running.communicate()
    assert running.returncode == 0, said
    assert "WRONG" not in said
    for line in ("killed a worker of Spark", "tasks repeated", "nodes that answered"):
        assert line in said
    await_end(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_all_of_its_processes_end_with_it(tmp_path: Path, how: signal.Signals) -> None:
    with demo(tmp_path) as running:
        assert running.stdout is not None
        for line in running.stdout:
            if "generate" in line:
                break
        assert len(processes(tmp_path)) > 5
        running.send_signal(how)
        rest = running.stdout.read()
        running.wait()
    assert running.returncode == (-how if how == signal.SIGKILL else 130), rest
    assert "Traceback" not in rest
    await_end(tmp_path)
