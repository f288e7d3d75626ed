"""Files of a crawl on a disk of this machine, for what maps them into memory or reads folders.

Files of a crawl in a folder are used where they are. Objects are fetched into a cache, which all
crawls and processes of a machine share (places.py): named by their checksum if it is known, so that
equal objects are fetched once, or else by the URL. Tasks also make files there before they are
uploaded. Small tables are fetched as a whole, too: the embedded engine, which asks for a file again
with each query, then needs no request for them. What later steps read again is kept while it is
uploaded (kept_objects.py), so that the machine that wrote it never fetches it.

Environment variables say where the cache is and how large it gets, as machines differ. If it is
larger, the copies that were not used for the longest time are deleted, known by their names: that
folder may hold files of the user's, too. On Linux nobody notices who
has mapped them or has links to them; others find a file for IN_USE_S after its last use.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import repeat
from math import inf
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import xxhash

from gossamer.errors import ConfigError, StoreError
from gossamer.storage import checksums, opening
from gossamer.storage.errors import FULL, disk_errors, system_error
from gossamer.storage.objects.bucket import is_object_url, locate_object
from gossamer.storage.places import CACHE, cache_folder, is_left_work, local_path, new_work

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import BinaryIO

    from gossamer.storage.manifest import File

CACHE_GB = "GOSSAMER_CACHE_GB"
"""The environment variable that says how large the cache gets."""
DEFAULT_GB = 20.0
GB = 1e9
NEAR_BYTES = 64 << 20
"""Larger tables are read where they are: who needs some of their columns reads only these."""
FETCHED_AT_ONCE = 8
"""Of several objects, so many are fetched at a time."""
COPIED_BYTES = 5 << 30
"""S3 copies no larger object by one request."""
IN_USE_S = 21_600.0
"""A file that was used so recently is not deleted, even if the cache is too large."""
SWEEP_S = 10.0
"""Whoever fetches a file looks through the cache if nobody did for so long."""
STALE_S = 86_400.0
"""Work of a process that is gone is deleted after a day."""
_SWEPT = "swept"


def local_copy(path: str, xxh3: str = "") -> Path:
    """The path of a file on this machine: that of an object is a copy. Never write to it.

    `xxh3`: the checksum of the file, if it is known. Raises FileNotFoundError, StoreFull, and
    StoreError if a fetched object has another checksum.
    """
    path = local_path(path)
    copy = copy_place(path, xxh3)
    if not is_object_url(path):
        return copy
    if not _is_there(copy):
        _fetch_copy(path, copy, xxh3)
    return copy


def near_copy(path: str) -> str:
    """A file as it is read with fewest requests: the path of a copy, or the URL of a large object.

    Its copy is known by its URL. Raises FileNotFoundError.
    """
    path = local_path(path)
    if not is_object_url(path) or path in _large:
        return path
    copy = copy_place(path, "")
    if not _is_there(copy) and not _fetch_copy(path, copy, most=NEAR_BYTES):
        _large.add(path)
        return path
    return str(copy)


def open_near(path: str) -> BinaryIO:
    """Open a file for reading at any place: the copy of an object, if there is one.

    This is no use that would keep the copy in a full cache: an open file stays readable.
    """
    path = local_path(path)
    if is_object_url(path):
        with suppress(OSError):
            return copy_place(path, "").open("rb", opening.BUFFER_BYTES)
    return opening.open_file(path)


def size_of_copy(url: str) -> int | None:
    """The size of an object of which there is a copy, so that it was there; None if there is none.

    Other copies with the same contents do not count.
    """
    with suppress(OSError):
        return copy_place(url, "").stat().st_size
    return None


def near_all(paths: Sequence[str]) -> list[str]:
    """As `near_copy`, for several files, whose copies are fetched at once."""
    if not any(map(is_object_url, paths)):
        return list(map(near_copy, paths))
    with ThreadPoolExecutor(FETCHED_AT_ONCE) as threads:
        return list(threads.map(near_copy, paths))


_large: set[str] = set()
"""Objects that are not worth a copy."""


@contextmanager
def local_folder(root: str, listed: Iterable[File]) -> Iterator[Path]:
    """A folder with the names of some files, all of one folder of the crawl `root`.

    The folder of objects consists of links to copies, and is deleted at the end.
    """
    listed = list(listed)
    place = PurePosixPath(listed[0].path).parent
    if not is_object_url(root):
        yield Path(root, place)
        return
    with _work() as work:
        linked = work / place
        linked.mkdir(parents=True)
        with ThreadPoolExecutor(FETCHED_AT_ONCE) as threads:
            names = [linked / PurePosixPath(file.path).name for file in listed]
            list(threads.map(hard_link, repeat(root), listed, names))
        yield linked


def hard_link(root: str, file: File, name: Path) -> None:
    """Give a file of a crawl another name on this machine: a hard link, or else a copy."""
    source = local_copy(f"{root}/{file.path}", file.xxh3)
    with suppress(OSError):
        os.link(source, name)
        return
    shutil.copyfile(source, name)


@contextmanager
def workshop(root: str, place: str) -> Iterator[Path]:
    """A new folder for files that a task writes by path: `place` in the crawl, if that is one.

    On object storage it has the same name, and files are lost that were not passed to `keep_copy`.
    """
    path = local_path(f"{root}/{place}")
    if is_object_url(path):
        with _work() as work:
            here = work / place
            here.mkdir(parents=True)
            yield here
        return
    here = Path(path)
    with disk_errors(here):
        here.mkdir(parents=True)
    yield here


def keep_copy(
    file: Path, root: str, place: str, linked: File | None = None, *, by_content: bool = False
) -> tuple[int, str]:
    """Put a file of a `workshop` into the crawl's folder `place`; return its size and checksum.

    `linked`: the older file of the crawl to which a hard link was made under this name. If it is
    still there, it is copied within the store, unless it is too large for that. An uploaded file is
    also a copy, known by its URL, or `by_content`: by its checksum.
    """
    path, are_objects = f"{root}/{place}/{file.name}", is_object_url(root)
    if linked is not None and _is_link(f"{root}/{linked.path}", linked.xxh3, file):
        if not are_objects:
            return linked.bytes, linked.xxh3
        if linked.bytes <= COPIED_BYTES:
            bucket, key = locate_object(f"{root}/{linked.path}")
            bucket.copy(key, locate_object(path)[1])
            return linked.bytes, linked.xxh3
    if not are_objects:
        return file.stat().st_size, checksums.checksum_file(file)
    made = opening.create(path)
    with file.open("rb") as source:
        shutil.copyfileobj(source, made, opening.PART_BYTES)
    made.close()
    copy = copy_place(path, made.xxh3 if by_content else "")
    with _cache_errors(copy):
        copy.parent.mkdir(parents=True, exist_ok=True)
        with suppress(OSError):  # it is there, or this file system has no hard links
            os.link(file, copy)
    return made.size, made.xxh3


def copy_place(path: str, xxh3: str) -> Path:
    """Where a file is on this machine, or would be."""
    if not is_object_url(path):
        return Path(path)
    name = xxh3 or f"{checksums.checksum_bytes(path.encode())}-url"
    return cache_folder() / name[:2] / name


def draft_of(copy: Path) -> Path:
    return copy.with_name(f".{copy.name}.{uuid.uuid4().hex}")


def _is_there(copy: Path) -> bool:
    """Whether the cache has a file, which then counts as used at this moment."""
    with _cache_errors(copy):
        try:
            os.utime(copy)
        except (FileNotFoundError, NotADirectoryError):
            return False
    return True


def _is_link(path: str, xxh3: str, file: Path) -> bool:
    try:
        return copy_place(path, xxh3).samefile(file)
    except FileNotFoundError:
        return False


def _fetch_copy(url: str, copy: Path, xxh3: str = "", most: float = inf) -> bool:
    """Fetch an object, unless another process has done so meanwhile. False: it is too large."""
    bucket, key = locate_object(url)
    draft = draft_of(copy)
    hasher = xxhash.xxh3_64()
    with _cache_errors(copy):
        copy.parent.mkdir(parents=True, exist_ok=True)
    with _cache_errors(copy), _lock_shelf(copy.parent):
        if copy.exists():
            return True
        size, pieces = bucket.stream(key)
        if size > most:
            return False
        try:
            with draft.open("xb") as file:
                for piece in pieces:
                    hasher.update(piece)
                    file.write(piece)
            if xxh3 and hasher.hexdigest() != xxh3:
                raise StoreError(url, "is damaged: its checksum differs", "gossamer check --repair")
            draft.replace(copy)
        finally:
            draft.unlink(missing_ok=True)
    with _cache_errors(copy.parent.parent):
        make_room()
    return True


_CANNOT_BE_WRITTEN = (*FULL, errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR)


@contextmanager
def _cache_errors(path: Path) -> Iterator[None]:
    """Raise StoreError or StoreFull if a file of the cache cannot be written."""
    try:
        yield
    except OSError as error:
        if error.errno not in _CANNOT_BE_WRITTEN:
            raise
        known = system_error(error, path)
        remedy = f"{known.remedy}; or set {CACHE} to another folder"
        raise type(known)(known.subject, known.what, remedy) from error


@contextmanager
def _lock_shelf(shelf: Path) -> Iterator[None]:
    """Let nobody else fetch files of a folder of the cache meanwhile: they might be the same."""
    descriptor = os.open(shelf, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _work() -> Iterator[Path]:
    folder = cache_folder()
    with _cache_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        work = folder / new_work()
        work.mkdir(mode=0o700)
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _most_bytes() -> float:
    value = os.environ.get(CACHE_GB, str(DEFAULT_GB))
    try:
        return float(value) * GB
    except ValueError:
        what = f"{value!r} is not a number of gigabytes"
        raise ConfigError(f"${CACHE_GB}", what, f"for example {CACHE_GB}=20") from None


def make_room() -> None:
    """Delete the oldest files if the cache has become too large."""
    most, now_s = _most_bytes(), time.time()
    swept = cache_folder() / _SWEPT
    if now_s - _used_s(swept) < SWEEP_S:
        return
    swept.touch()
    held: list[tuple[float, int, Path]] = []
    for shelf in filter(Path.is_dir, swept.parent.iterdir()):
        if now_s - _used_s(shelf) > STALE_S and is_left_work(shelf.name):
            shutil.rmtree(shelf, ignore_errors=True)
        for file in filter(_is_copy, shelf.iterdir() if _SHELF.fullmatch(shelf.name) else ()):
            with suppress(FileNotFoundError):
                state = file.stat()
                held.append((state.st_mtime, state.st_size, file))
    surplus = sum(size for _, size, _ in held) - most
    for used_s, size, file in sorted(held):
        if surplus <= 0 or now_s - used_s < IN_USE_S:
            break
        file.unlink(missing_ok=True)
        surplus -= size


_SHELF = re.compile(r"[0-9a-f]{2}")
_COPY = re.compile(r"\.?([0-9a-f]{2})[0-9a-f]{14}(?:-url)?(?:\.[0-9a-f]{32})?")


def _is_copy(file: Path) -> bool:
    """Whether the name of a file is one that `_fetch_copy` makes: others are not ours to delete."""
    named = _COPY.fullmatch(file.name)
    return named is not None and named[1] == file.parent.name


def _used_s(path: Path) -> float:
    """When a file or folder was last changed; 0 if it is not there."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
