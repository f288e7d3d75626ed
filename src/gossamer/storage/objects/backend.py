"""A crawl on object storage: the store's backend for a folder of a bucket."""

from __future__ import annotations

import time
import uuid
from itertools import chain
from typing import TYPE_CHECKING

from gossamer.errors import StoreError
from gossamer.storage.local_copies import size_of_copy
from gossamer.storage.objects import lease

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from gossamer.storage.lock_holder import Holder
    from gossamer.storage.objects.bucket import Bucket

ASKED_SINGLY = 3
"""Of up to so many files of a dataset, each is asked for its size; of more, all are listed."""
SEEN_S = 30.0
"""So long, a file that was there is not looked for again."""
LISTED_AT_ONCE = 1_000
"""Objects that the answer to one request for a list names."""
PROBE = ".probe-"


class ObjectBackend:
    """A folder of a bucket. See `backends.Backend`."""

    lock_may_be_lost = True
    is_writable = True  # the store says so when it is asked to write

    def __init__(self, bucket: Bucket, clock: Callable[[], float] = time.monotonic) -> None:
        self.bucket = bucket
        self.url = bucket.url
        self._clock = clock
        self._seen: dict[str, tuple[int, float]] = {}
        """The sizes of files that were asked for or made, and when. Threads share it: it is never
        changed, only replaced."""
        self._objects: int | None = None
        """How many there were in the crawl, when all were last listed."""

    def read(self, path: str) -> bytes:
        return self.bucket.get(path)

    def create(self, path: str, data: bytes, *, private: bool = False) -> None:  # noqa: ARG002
        """See `Backend`. The rules of the bucket decide who may read an object."""
        self.bucket.create(path, data)
        self._see({path: len(data)})

    def checksum(self, path: str) -> str:
        return self.bucket.checksum(path)

    def sync(self, paths: Iterable[str]) -> None:
        """Do nothing: an object is durable when it can be seen."""

    def sizes(self, folder: str) -> Iterator[tuple[str, int]]:
        for found in self.bucket.list(folder):
            yield found.path, found.bytes

    def sizes_in(self, folders: Iterable[str]) -> Iterator[tuple[str, int]]:
        """See `Backend`. All objects are listed, if that takes fewer requests than the folders do.

        A folder takes one at least. How many objects there are, only lists of all of them tell.
        """
        folders = list(folders)
        if self._objects is None or self._objects <= LISTED_AT_ONCE * len(folders):
            return self._sizes_below(tuple(f"{folder}/" for folder in folders))
        return chain.from_iterable(map(self.sizes, folders))

    def _sizes_below(self, places: tuple[str, ...]) -> Iterator[tuple[str, int]]:
        count = 0
        for count, found in enumerate(self.sizes(""), 1):  # noqa: B007
            if found[0].startswith(places):
                yield found
        self._objects = count

    def size(self, path: str) -> int:
        return self.bucket.size(path)

    def sizes_of(self, paths: Collection[str]) -> dict[str, int]:
        """See `Backend`. What was asked for in the last SEEN_S is not asked for again.

        Files are never changed, and those that are named are not deleted.
        """
        now_s = self._clock()
        seen = {path: each for path, each in self._seen.items() if now_s - each[1] < SEEN_S}
        found = {path: seen[path][0] for path in paths if path in seen}
        new = self._look_up_sizes([path for path in paths if path not in found])
        self._seen = seen | {path: (size, now_s) for path, size in new.items()}
        return found | new

    def sizes_of_new(self, paths: Collection[str]) -> dict[str, int]:
        """See `Backend`. Files that this machine wrote are known by their copies.

        Those are made when the store has answered that it has the object (kept_objects.py).
        """
        copied = {path: size_of_copy(f"{self.url}/{path}") for path in paths}
        written = {path: size for path, size in copied.items() if size is not None}
        self._see(written)
        return written | self.sizes_of([path for path in paths if path not in written])

    def _see(self, sizes: Mapping[str, int]) -> None:
        now_s = self._clock()
        self._seen = self._seen | {path: (size, now_s) for path, size in sizes.items()}

    def _look_up_sizes(self, paths: Collection[str]) -> dict[str, int]:
        by_folder: dict[str, list[str]] = {}
        for path in paths:
            by_folder.setdefault(path.partition("/")[0], []).append(path)
        found: dict[str, int] = {}
        for folder, asked in by_folder.items():
            if len(asked) > ASKED_SINGLY:
                wanted = set(asked)
                found |= {path: size for path, size in self.sizes(folder) if path in wanted}
                continue
            for path in asked:
                try:
                    found[path] = self.size(path)
                except FileNotFoundError:
                    continue
        return found

    def prove(self) -> None:
        """Check that the store refuses to create an object that exists: commits depend on it."""
        path = f"{PROBE}{uuid.uuid4().hex}"
        try:
            self.bucket.create(path, b"first")
            try:
                self.bucket.create(path, b"second")
            except FileExistsError:
                if self.bucket.get(path) == b"first":
                    return
        finally:
            self.bucket.delete([path])
        raise StoreError(
            self.url,
            "this object store ignores If-None-Match, so two writers could overwrite each other",
            "use a store that supports conditional writes, or a folder on a disk",
        )

    def delete(self, paths: Iterable[str]) -> None:
        gone = set(paths)
        self._seen = {path: each for path, each in self._seen.items() if path not in gone}
        self.bucket.delete(gone)

    def claim(self, folder: str, crawl: str, named: Callable[[], Collection[str]]) -> None:
        """Do nothing: there are no links in a bucket."""

    def lock(self, holder: Holder) -> AbstractContextManager[bool]:
        return lease.hold_lease(self.bucket, holder)

    def holder(self) -> Holder | None:
        return lease.holder_of(self.bucket)
