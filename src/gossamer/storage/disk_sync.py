"""When is a file on its disk, so that it outlives a power failure?

fsync(2) of Linux waits until the disk has written its cache. That of macOS only hands the data to
the disk, and F_FULLFSYNC waits. Some file systems there do not know it, such as those of networks.

Source: fsync(2) of macOS.
"""

from __future__ import annotations

import fcntl
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def sync_descriptor(descriptor: int) -> None:
    """Wait until the disk has the contents of an open file or folder. Raises OSError."""
    if sys.platform == "darwin":
        try:
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
        except OSError:
            os.fsync(descriptor)
    else:
        os.fsync(descriptor)


def sync_path(path: Path) -> None:
    """Wait until the disk has the contents of a file or folder. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        sync_descriptor(descriptor)
    finally:
        os.close(descriptor)
