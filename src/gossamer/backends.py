"""Store backends: a folder of this machine, and its twin in memory for tests."""

from __future__ import annotations

import errno
import fcntl
import os
import threading
import uuid
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gossamer.errors import Locked, StoreError, StoreFull, UsageError
from gossamer.store import Backend, Holder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def open_backend(url: str) -> Backend:
    """The backend of a path or `file://` URL."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        return LocalBackend(url)
    if scheme == "file":
        return LocalBackend(rest)
    raise UsageError(url, f"no store for {scheme}://", "give a path or a file:// URL")


class LocalBackend:
    """A folder. Locks with flock(2), which the kernel releases however the holder dies."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(root).expanduser().resolve()
        self.url = str(self.root)

    def read(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def create(self, path: str, data: bytes) -> None:
        target = self.root / path
        draft = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}")
        with disk_errors(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                with draft.open("xb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                os.link(draft, target)  # unlike rename(2), fails where the name is taken
                _fsync(target.parent)
            finally:
                draft.unlink(missing_ok=True)

    def sync(self, paths: Iterable[str]) -> None:
        folders: set[Path] = set()
        for path in paths:
            with disk_errors(self.root / path):
                _fsync(self.root / path)
            folders.update((self.root / path).relative_to(self.root).parents)
        for folder in folders:
            _fsync(self.root / folder)

    def sizes(self, folder: str) -> Iterator[tuple[str, int]]:
        for parent, _, names in os.walk(self.root / folder, onerror=_unless_absent):
            for name in names:
                path = Path(parent, name)
                try:
                    yield path.relative_to(self.root).as_posix(), path.stat().st_size
                except FileNotFoundError:
                    continue  # deleted since it was listed

    def size(self, path: str) -> int:
        return (self.root / path).stat().st_size

    def delete(self, paths: Iterable[str]) -> None:
        for path in paths:
            target = self.root / path
            target.unlink(missing_ok=True)
            for folder in target.relative_to(self.root).parents[:-1]:
                try:
                    (self.root / folder).rmdir()
                except OSError:
                    break  # not empty

    @contextmanager
    def lock(self, holder: Holder) -> Iterator[None]:
        path = self.root / ".lock"
        with disk_errors(path):
            self.root.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise _locked(path, os.pread(descriptor, 4096, 0)) from None
            os.truncate(descriptor, 0)
            with disk_errors(path):
                os.pwrite(descriptor, msgspec.json.encode(holder), 0)
            yield
        finally:
            os.close(descriptor)


class MemoryBackend:
    """What LocalBackend does, without a disk."""

    def __init__(self, url: str = "memory://crawl") -> None:
        self.url = url
        self.contents: dict[str, bytes] = {}
        self._holder: Holder | None = None
        self._guard = threading.Lock()

    def read(self, path: str) -> bytes:
        try:
            return self.contents[path]
        except KeyError:
            raise FileNotFoundError(errno.ENOENT, "no such file", path) from None

    def create(self, path: str, data: bytes) -> None:
        with self._guard:
            if path in self.contents:
                raise FileExistsError(errno.EEXIST, "file exists", path)
            self.contents[path] = data

    def sync(self, paths: Iterable[str]) -> None:
        for path in paths:
            self.size(path)

    def sizes(self, folder: str) -> Iterator[tuple[str, int]]:
        for path, data in sorted(self.contents.items()):
            if path.startswith(f"{folder}/"):
                yield path, len(data)

    def size(self, path: str) -> int:
        return len(self.read(path))

    def delete(self, paths: Iterable[str]) -> None:
        for path in paths:
            self.contents.pop(path, None)

    @contextmanager
    def lock(self, holder: Holder) -> Iterator[None]:
        with self._guard:
            if self._holder is not None:
                raise _locked(self.url, msgspec.json.encode(self._holder))
            self._holder = holder
        try:
            yield
        finally:
            self._holder = None


@contextmanager
def disk_errors(path: object) -> Iterator[None]:
    """A full disk or quota is a StoreFull, a disk that cannot be written a StoreError."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise full(path) from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            reason = os.strerror(error.errno).lower()
            raise StoreError(
                path, f"cannot be written: {reason}", "see its owner and mode"
            ) from error
        raise


def full(path: object) -> StoreFull:
    return StoreFull(
        path,
        "no space left on the device",
        "free some space and run the same command again: the last committed state is whole",
    )


def _locked(path: object, holder: bytes) -> Locked:
    try:
        by = msgspec.json.decode(holder, type=Holder)
    except msgspec.DecodeError:  # it has the lock, and has not yet said who it is
        return Locked(path, "another process holds this crawl", "wait for it to end")
    since = datetime.fromtimestamp(by.since_ms / 1000, UTC).isoformat(timespec="seconds")
    return Locked(
        path,
        f"process {by.pid} on {by.machine} holds this crawl since {since} ({by.command})",
        f"wait for it, or end it: kill {by.pid}",
    )


def _unless_absent(error: OSError) -> None:
    """A folder that is not there has no files; one that cannot be read is an error."""
    if not isinstance(error, FileNotFoundError):
        raise error


def _fsync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
