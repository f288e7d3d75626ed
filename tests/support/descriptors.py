"""Which files this process has open."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def none_left_open(folder: Path) -> Iterator[None]:
    """Check that no file below a folder is open afterwards that was not open before."""
    before = _open_below(folder)
    yield
    assert not _open_below(folder) - before


def _open_below(folder: Path) -> Counter[Path]:
    found = Counter[Path]()
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            target = descriptor.readlink()
            if target.is_relative_to(folder):
                found[target] += 1
    return found
