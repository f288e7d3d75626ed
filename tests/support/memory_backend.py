"""The storage of a crawl in memory, for tests of what does not depend on the storage."""

from __future__ import annotations

import errno
import threading
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING

from gossamer.storage import checksums
from gossamer.storage.lock_holder import locked_error

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from gossamer.storage.lock_holder import Holder


class MemoryBackend:
    """A storage as a folder is, without a disk."""

    lock_may_be_lost = False
    is_writable = True

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

    def create(self, path: str, data: bytes, *, private: bool = False) -> None:  # noqa: ARG002  # no other user sees it
        with self._guard:
            if path in self.contents:
                raise FileExistsError(errno.EEXIST, "file exists", path)
            self.contents[path] = data

    def checksum(self, path: str) -> str:
        return checksums.checksum_bytes(self.read(path))

    def sync(self, paths: Iterable[str]) -> None:
        for path in paths:
            self.size(path)

    def sizes(self, folder: str) -> Iterator[tuple[str, int]]:
        for path, data in sorted(self.contents.items()):
            if not folder or path.startswith(f"{folder}/"):
                yield path, len(data)

    def sizes_in(self, folders: Iterable[str]) -> Iterator[tuple[str, int]]:
        return chain.from_iterable(map(self.sizes, folders))

    def size(self, path: str) -> int:
        return len(self.read(path))

    def sizes_of(self, paths: Collection[str]) -> dict[str, int]:
        return {path: len(self.contents[path]) for path in paths if path in self.contents}

    sizes_of_new = sizes_of

    def prove(self) -> None:
        """Do nothing: `create` holds a lock."""

    def delete(self, paths: Iterable[str]) -> None:
        for path in paths:
            self.contents.pop(path, None)

    def claim(self, folder: str, crawl: str, named: Callable[[], Collection[str]]) -> None:
        """Do nothing: there are no links in memory."""

    @contextmanager
    def lock(self, holder: Holder) -> Iterator[bool]:
        with self._guard:
            if self._holder is not None:
                raise locked_error(self.url, self._holder)
            self._holder = holder
        try:
            yield False
        finally:
            self._holder = None

    def holder(self) -> Holder | None:
        return self._holder
