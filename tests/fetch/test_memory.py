"""A fetch task's memory stays flat. bench/memory.py shows it with a million pages."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.repository import ROOT

BENCH = ROOT / "bench"


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
    run(str(BENCH / "memory.py"), *sizes)


@pytest.mark.long
def test_memory_does_not_grow_with_an_archive_on_object_storage() -> None:
    run("-m", "tests.support.archive_memory")


def run(*words: str) -> None:
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stdout + done.stderr
