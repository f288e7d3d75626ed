"""Pausing a crawl, on any engine: because its user wants it, or because the disk is nearly full.

Like `stopping`, a request to pause is a file in the crawl folder. While there is a reason to pause,
no step begins and fetch tasks send no requests; both go on by themselves when it has gone. Open
requests are completed, and steps that have begun run on: what they write is bounded, and if the
disk becomes full all the same, they fail with StoreFull and nothing is lost.
"""

from __future__ import annotations

import os
import shutil
import time
from typing import NamedTuple

from gossamer.storage import opening
from gossamer.storage.objects.bucket import is_object_url

LOOK_S = 0.5
"""Seconds between two looks."""
ASKED = "gossamer pause asked for it"
GB = 1e9


class Disk(NamedTuple):
    """The free space of the disk of a folder."""

    free_bytes: int
    folder: str


def pause(root: str) -> None:
    """Ask a crawl to pause, whether it is running or not."""
    opening.touch(_flag(root))


def resume(root: str) -> None:
    """Let a crawl go on that `pause` has paused."""
    opening.remove(_flag(root))


def pause_reason(root: str, min_free_gb: float) -> str | None:
    """Why a crawl must pause; None if it need not."""
    if opening.exists_lately(_flag(root)):
        return ASKED
    if is_object_url(root):  # a bucket is never full
        return None
    fullest = fullest_disk(root)
    free_gb = fullest.free_bytes / GB
    if free_gb < min_free_gb:
        return (
            f"the disk of {fullest.folder} has {free_gb:.2f} GB left, "
            f"less than store.min_free_gb = {min_free_gb:,}; it goes on when there is more"
        )
    return None


def fullest_disk(root: str) -> Disk:
    """Of the disks that hold a crawl, the one with the least free space.

    A dataset may be on another disk, behind a symbolic link in the crawl's folder.
    """
    with os.scandir(root) as entries:
        linked = [entry.path for entry in entries if entry.is_symlink() and entry.is_dir()]
    return min(Disk(shutil.disk_usage(folder).free, folder) for folder in (root, *linked))


def wait_while_paused(root: str, min_free_gb: float) -> None:
    """Wait while there is a reason to pause."""
    while pause_reason(root, min_free_gb) is not None:
        time.sleep(LOOK_S)


def _flag(root: str) -> str:
    return f"{root}/.pause"
