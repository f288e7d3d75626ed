"""Errors of the operating system, as StoreErrors with the path and a remedy."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gossamer.errors import StoreError, StoreFull

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FULL = (errno.ENOSPC, errno.EDQUOT)
OWNER_REMEDY = "check its owner and mode"
OF_THE_READER = (errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
"""Errors that tell of who reads a file, and nothing of the file: it may be whole."""
REMEDIES: Mapping[int, str] = {
    errno.EACCES: OWNER_REMEDY,
    errno.EPERM: OWNER_REMEDY,
    errno.EROFS: "its file system is read-only: mount it for writing, or use another folder",
    errno.ENOENT: "use a path that exists",
    errno.EISDIR: "use a file, not a folder",
    errno.ENOTDIR: "a part of the path is a file: use another path",
    errno.ENAMETOOLONG: "use a shorter path",
    errno.ELOOP: "its symbolic links form a circle: fix them",
    errno.EMFILE: "raise the limit of open files: ulimit -n",
    errno.ENFILE: "the machine has too many open files: end some processes",
    errno.ENOMEM: "end some processes, or lift a limit of memory (ulimit -v)",
    errno.EIO: "the disk is failing: copy what you can to another one",
}


@contextmanager
def disk_errors(path: object) -> Iterator[None]:
    """Raise StoreFull for a full disk or quota, and StoreError if `path` cannot be written."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise disk_full(path) from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            reason = os.strerror(error.errno).lower()
            raise StoreError(path, f"cannot be written: {reason}", OWNER_REMEDY) from error
        raise


def system_error(error: OSError, where: object = "the system") -> StoreError:
    """Convert an operating system's error, with its path (else `where`) and a remedy."""
    path = where if error.filename is None else os.fsdecode(error.filename)
    if error.errno in FULL:
        return disk_full(path)
    reason = (error.strerror or str(error)).lower()
    return StoreError(path, reason, REMEDIES.get(error.errno or 0, "check the path and its disk"))


def out_of_memory(where: object) -> StoreError:
    return system_error(OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)), where)


def disk_full(path: object) -> StoreFull:
    return StoreFull(
        path,
        "no space left on the device",
        "free some space and run the same command again: the last committed state is intact",
    )
