"""On macOS, a file is on its disk after F_FULLFSYNC, or after fsync if its file system has none."""

from __future__ import annotations

import errno
import fcntl
import os
import sys
from typing import TYPE_CHECKING

import pytest

from gossamer.storage import disk_sync

if TYPE_CHECKING:
    from pathlib import Path

FULL_SYNC = 51
"""The number of F_FULLFSYNC, which Linux does not have."""


@pytest.mark.parametrize(
    ("platform", "is_known", "calls"),
    [
        ("linux", False, ["fsync"]),
        ("darwin", True, [FULL_SYNC]),
        ("darwin", False, [FULL_SYNC, "fsync"]),
    ],
)
def test_the_disk_is_waited_for(
    platform: str,
    is_known: bool,
    calls: list[object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    called: list[object] = []

    def control(_: int, number: int) -> None:
        called.append(number)
        if not is_known:
            raise OSError(errno.ENOTSUP, "Operation not supported")

    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(fcntl, "F_FULLFSYNC", FULL_SYNC, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", control)
    monkeypatch.setattr(os, "fsync", lambda _: called.append("fsync"))
    disk_sync.sync_path(tmp_path)
    assert called == calls
