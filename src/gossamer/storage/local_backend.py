"""A crawl in a folder of this machine."""

from __future__ import annotations

import fcntl
import os
import stat
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gossamer.errors import StoreError, UsageError
from gossamer.storage import checksums, ownership
from gossamer.storage.disk_sync import sync_descriptor, sync_path
from gossamer.storage.errors import OWNER_REMEDY, disk_errors
from gossamer.storage.lock_holder import Holder, locked_error

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

SYNCING = 16
"""Threads that wait until the disk has files."""
LOST_AND_FOUND = "lost+found"
"""A folder of root's on ext file systems. It is in a dataset's folder if that is a mount point."""


class LocalBackend:
    """A folder. Its lock is flock(2)'s, which the kernel releases however the holder dies."""

    lock_may_be_lost = False

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(root).expanduser().resolve()
        self.url = str(self.root)
        try:
            self.url.encode()
        except UnicodeEncodeError:
            remedy = "use a folder whose path is UTF-8: Spark can use no other"
            raise UsageError(self.url, "is not UTF-8", remedy) from None
        self._claimed: dict[str, Path] = {}
        """Dataset folders that are links which this crawl has claimed, with their targets."""

    @property
    def is_writable(self) -> bool:
        """False on a read-only file system, and in a folder of another account."""
        return os.access(self.root, os.W_OK)

    def read(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def create(self, path: str, data: bytes, *, private: bool = False) -> None:
        target = self.root / path
        draft = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}")
        with disk_errors(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                with open(draft, "xb", opener=_private if private else None) as file:
                    file.write(data)
                    file.flush()
                    sync_descriptor(file.fileno())
                os.link(draft, target)  # unlike rename(2), fails if the name exists
                sync_path(target.parent)
            finally:
                draft.unlink(missing_ok=True)

    def checksum(self, path: str) -> str:
        return checksums.checksum_file(self.root / path)

    def sync(self, paths: Iterable[str]) -> None:
        """Sync files and their folders at once: a journal writes them together then."""
        files = [Path(path) for path in paths]
        folders = {folder for file in files for folder in file.parents}
        if files:
            with ThreadPoolExecutor(min(SYNCING, len(files) + len(folders))) as threads:
                list(threads.map(self._sync, (*files, *folders)))

    def _sync(self, path: Path) -> None:
        with disk_errors(self.root / path):
            sync_path(self.root / path)

    def sizes(self, folder: str) -> Iterator[tuple[str, int]]:
        for parent, folders, names in os.walk(self.root / folder, onerror=_unless_absent):
            folders[:] = sorted(name for name in folders if name != LOST_AND_FOUND)
            for name in sorted(names):
                path = Path(parent, name)
                try:
                    state = path.lstat()
                except FileNotFoundError:
                    continue  # deleted since it was listed
                if stat.S_ISREG(state.st_mode):
                    yield path.relative_to(self.root).as_posix(), state.st_size

    def sizes_in(self, folders: Iterable[str]) -> Iterator[tuple[str, int]]:
        return chain.from_iterable(map(self.sizes, folders))

    def size(self, path: str) -> int:
        return (self.root / path).stat().st_size

    def sizes_of(self, paths: Collection[str]) -> dict[str, int]:
        found = {}
        for path in paths:
            with suppress(FileNotFoundError):
                found[path] = self.size(path)
        return found

    sizes_of_new = sizes_of

    def prove(self) -> None:
        """Do nothing: link(2) is atomic."""

    def delete(self, paths: Iterable[str]) -> None:
        inside: dict[Path, bool] = {}
        for path in paths:
            target = self.root / path
            parent = target.parent
            if parent not in inside:
                inside[parent] = self._is_inside(parent)
            if not inside[parent]:
                continue
            target.unlink(missing_ok=True)
            # The outermost folder stays: another step may be creating one in it.
            for folder in target.relative_to(self.root).parents[:-2]:
                try:
                    (self.root / folder).rmdir()
                except OSError:
                    break  # not empty, or a link

    def _is_inside(self, folder: Path) -> bool:
        """Whether no symbolic link leads out of the crawl here, except a claimed folder's."""
        top, *below = folder.relative_to(self.root).parts or ("",)
        return folder.resolve() == self._claimed.get(top, self.root / top).joinpath(*below)

    def claim(self, folder: str, crawl: str, named: Callable[[], Collection[str]]) -> None:
        link = self.root / folder
        self._claimed.pop(folder, None)
        if link.is_symlink():
            with disk_errors(link):
                self._claimed[folder] = ownership.claim_folder(self.root, folder, crawl, named)

    @contextmanager
    def lock(self, holder: Holder) -> Iterator[bool]:
        path = self.root / ".lock"
        with disk_errors(path):
            self.root.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            with suppress(PermissionError):  # the crawl is another user's
                os.fchmod(descriptor, 0o600)  # whoever can open the file can hold the lock
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise locked_error(path, _decode_holder(os.pread(descriptor, 4096, 0))) from None
            os.truncate(descriptor, 0)
            with disk_errors(path):
                os.pwrite(descriptor, msgspec.json.encode(holder), 0)
            try:
                yield False  # the kernel has ended the lock of a former holder
            finally:
                os.truncate(descriptor, 0)
        finally:
            os.close(descriptor)

    def holder(self) -> Holder | None:
        try:
            holder = _decode_holder((self.root / ".lock").read_bytes())
        except OSError:
            return None
        return holder if holder is not None and holder.lives() else None


def rewrite_file(path: str, data: bytes, *, private: bool) -> None:
    """Replace a file's contents and keep its mode; a crash leaves the old or the new contents.

    `private`: other users may not use it any more.
    """
    target = Path(path).resolve()
    draft = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}")
    with disk_errors(path):
        try:
            with draft.open("xb") as file:
                os.fchmod(file.fileno(), target.stat().st_mode & (0o700 if private else 0o777))
                file.write(data)
                file.flush()
                sync_descriptor(file.fileno())
            draft.replace(target)
            sync_path(target.parent)
        finally:
            draft.unlink(missing_ok=True)


def _decode_holder(record: bytes) -> Holder | None:
    """The record in a lock's file; None if its holder has not written it yet."""
    try:
        return msgspec.json.decode(record, type=Holder)
    except msgspec.DecodeError:
        return None


def _unless_absent(error: OSError) -> None:
    """Raise StoreError if a folder cannot be listed; one that does not exist counts as empty."""
    if not isinstance(error, FileNotFoundError):
        what = f"cannot be listed: {os.strerror(error.errno or 0).lower()}"
        raise StoreError(error.filename, what, OWNER_REMEDY) from error


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
