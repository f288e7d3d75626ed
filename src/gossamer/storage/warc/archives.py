"""The files of an archive, with their indexes."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from gossamer.storage.warc.writer import ARCHIVE, index_path

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from gossamer.storage.manifest import File


class Archive(NamedTuple):
    """A file of the archive. Its index has the same name, but a repair may write it elsewhere."""

    path: str
    index_file: str
    bytes: int


def indexed_archives(files: Collection[File]) -> Iterator[Archive]:
    """The archive files that have an index, of all files of the dataset `warc`."""
    paths = {PurePosixPath(file.path).name: file.path for file in files}
    for file in files:
        index = paths.get(PurePosixPath(index_path(file.path)).name)
        if file.path.endswith(ARCHIVE) and index is not None:
            yield Archive(file.path, index, file.bytes)


def divide(archives: Iterable[tuple[Archive, int]], limit: int) -> Iterator[tuple[Archive, ...]]:
    """Neighbours, of which together about `limit` bytes are copied. Each share becomes a file.

    `archives`: files, with the bytes of each that are copied.
    """
    share: list[Archive] = []
    size = 0
    for archive, more in archives:
        if share and size + more > limit:
            yield tuple(share)
            share, size = [], 0
        if more:
            share.append(archive)
            size += more
    if share:
        yield tuple(share)
