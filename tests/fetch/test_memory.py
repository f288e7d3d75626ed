"""A fetch task's memory stays flat, however much it fetches."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.repository import ROOT

pytestmark = pytest.mark.server


@pytest.mark.parametrize(
    ("pages", "hosts", "tasks"),
    [
        pytest.param(40_000, 50, 4, marks=pytest.mark.slow, id="briefly"),
        pytest.param(100_000, 500, 1, marks=pytest.mark.long, id="within-a-task"),
        pytest.param(40_000, 200, 20, marks=pytest.mark.long, id="from-task-to-task"),
    ],
)
def test_memory_stays_flat(pages: int, hosts: int, tasks: int) -> None:
    run("fetch_memory", f"--pages={pages}", f"--hosts={hosts}", f"--tasks={tasks}")


@pytest.mark.long
def test_memory_does_not_grow_with_an_archive_on_object_storage() -> None:
    run("archive_memory")


def run(program: str, *options: str) -> None:
    command = [sys.executable, "-m", f"tests.support.{program}", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
