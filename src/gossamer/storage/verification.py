"""Which files are as the manifest describes them? Those of the right size and checksum."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

from gossamer.errors import StoreError
from gossamer.storage.errors import OF_THE_READER, system_error
from gossamer.storage.manifest import File  # noqa: TC001  # tests ask for the types of a tuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gossamer.storage.backends import Backend

THREADS = 4
"""Threads that compute checksums. Two of them read cached files at the speed of memory."""


class Damage(NamedTuple):
    """A file that the manifest names, and what is wrong with it."""

    file: File
    what: str


class Intact:
    """Compares files with what the manifest says of them.

    The size is compared each time, the checksum only the first time that this process reads the
    file.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._whole: set[File] = set()
        """Files that this process wrote, or verified by their checksums."""

    def trust(self, files: Iterable[File]) -> None:
        """Skip the checksums of files that were just written or verified on this machine."""
        self._whole.update(file for file in files if not _has_own_checksums(file))

    def forget(self, files: Iterable[File]) -> None:
        """Files that will not be read again."""
        self._whole.difference_update(files)

    def damaged(self, files: Iterable[File]) -> Iterator[Damage]:
        files = list(files)
        wrong = dict(self.wrong_sizes(files))
        yield from (Damage(*each) for each in wrong.items())
        unknown = [
            file
            for file in files
            if file not in wrong and file not in self._whole and not _has_own_checksums(file)
        ]
        for file, what in self.verify(unknown) if unknown else ():
            if what is not None:
                yield Damage(file, what)
            else:
                self._whole.add(file)

    def verify(self, files: Sequence[File]) -> Iterator[tuple[File, str | None]]:
        """Read all bytes of files, and yield each with what is wrong with it; None if intact.

        Raises StoreError for a file that this process cannot read, though it may be whole.
        """
        for file, what in self.examine(files):
            if isinstance(what, StoreError):
                raise what
            yield file, what

    def examine(self, files: Sequence[File]) -> Iterator[tuple[File, str | StoreError | None]]:
        """As `verify`, but yield the errors that it raises."""
        with ThreadPoolExecutor(THREADS) as threads:
            yield from zip(files, threads.map(self._wrong_bytes, files), strict=True)

    def wrong_sizes(self, files: Iterable[File]) -> Iterator[Damage]:
        """Yield the files that are gone or have another size."""
        files = list(files)
        yield from _compare_sizes(files, self._backend.sizes_of([file.path for file in files]))

    def wrong_new_sizes(self, files: Iterable[File]) -> Iterator[Damage]:
        """As `wrong_sizes`, of files that no commit has named yet."""
        files = list(files)
        yield from _compare_sizes(files, self._backend.sizes_of_new([file.path for file in files]))

    def _wrong_bytes(self, file: File) -> str | StoreError | None:
        try:
            for damage in self.wrong_sizes([file]):
                return damage.what
            if self._backend.checksum(file.path) != file.xxh3:
                return "is damaged: its checksum is not the one in the manifest"
        except OSError as error:
            if error.errno in OF_THE_READER:
                return system_error(error, f"{self._backend.url}/{file.path}")
            return f"cannot be read: {error.strerror}"
        return None


def _compare_sizes(files: Iterable[File], sizes: Mapping[str, int]) -> Iterator[Damage]:
    for file in files:
        size = sizes.get(file.path)
        if size is None:
            yield Damage(file, "the manifest names this file, but it is gone")
        elif size != file.bytes:
            yield Damage(file, f"has {size} bytes, but {file.bytes} in the manifest")


def _has_own_checksums(file: File) -> bool:
    """Whether readers of this file verify each record: those of WARC are gzip members."""
    return file.path.startswith("warc/")
