"""An hour of `gossamer crawl --forever --serve` takes no more memory and files at its end."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.repository import ROOT

pytestmark = [pytest.mark.server, pytest.mark.long]


def test_memory_and_files_stay_flat() -> None:
    command = [sys.executable, "-m", "tests.support.endless_memory"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
