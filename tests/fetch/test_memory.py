"""A fetch task's memory stays flat, however much it fetches."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.repository import ROOT

pytestmark = pytest.mark.server


@pytest.mark.slow
@pytest.mark.parametrize(
    "sizes",
    [
        pytest.param(["--pages", "100000", "--hosts", "500"], id="within-a-task"),
        pytest.param(
            ["--pages", "40000", "--hosts", "200", "--tasks", "20"], id="from-task-to-task"
        ),
    ],
)
def test_memory_stays_flat(sizes: list[str]) -> None:
    run("fetch_memory", *sizes)


@pytest.mark.long
def test_memory_does_not_grow_with_an_archive_on_object_storage() -> None:
    run("archive_memory")


def run(program: str, *options: str) -> None:
    command = [sys.executable, "-m", f"tests.support.{program}", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
