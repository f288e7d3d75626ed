"""A file system in memory, whose size a test changes."""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

AMPLE = "256m"
TRIES = 1_000


class Disk:
    """A file system in memory, whose size can be changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def mount(self, options: str) -> bool:
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(self.folder)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def shrink(self, pages: int) -> bool:
        """False if a task of a step that failed wrote on between the two calls, and filled it."""
        state = os.statvfs(self.folder)
        used = (state.f_blocks - state.f_bfree + pages) * state.f_frsize
        return self.mount(f"remount,size={used}")

    def leave(self, pages: int) -> None:
        """Let so many pages of memory be free."""
        assert any(self.shrink(pages) for _ in range(TRIES))

    def grow(self) -> None:
        assert self.mount(f"remount,size={AMPLE}")

    @contextmanager
    def with_space(self, pages: int) -> Iterator[None]:
        """So many pages of memory are free."""
        self.leave(pages)
        try:
            yield
        finally:
            self.grow()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    made = Disk(tmp_path / "disk")
    made.folder.mkdir()
    if not made.mount(f"size={AMPLE}"):
        pytest.skip("mounting a file system is not permitted")
    yield made
    # Lazily: an index that was searched stays mapped for as long as Python keeps it.
    subprocess.run(["umount", "--lazy", str(made.folder)], check=True)
