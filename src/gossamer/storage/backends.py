"""What keeps the files of a crawl: a folder of this machine, or an object store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from gossamer.errors import UsageError
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.objects.bucket import Bucket, is_object_url

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from gossamer.storage.lock_holder import Holder


class Backend(Protocol):
    """The storage of a crawl. Paths are relative, with `/`."""

    url: str
    lock_may_be_lost: bool
    """Whether another process can take over the lock while its holder is paused."""

    @property
    def is_writable(self) -> bool:
        """Whether this process may try to write to the crawl."""

    def read(self, path: str) -> bytes:
        """Raises FileNotFoundError."""

    def create(self, path: str, data: bytes, *, private: bool = False) -> None:
        """Create a file atomically and durably. Raises FileExistsError.

        Other users can neither read nor write a private file.
        """

    def checksum(self, path: str) -> str:
        """The xxh3 of a file's bytes, as in the manifest. Raises OSError."""

    def sync(self, paths: Iterable[str]) -> None:
        """Make files durable, whichever process wrote them."""

    def sizes(self, folder: str) -> Iterator[tuple[str, int]]:
        """Yield each regular file below a folder ("" is the whole crawl) with its size in bytes.

        Symbolic links below the folder are not followed.
        """

    def sizes_in(self, folders: Iterable[str]) -> Iterator[tuple[str, int]]:
        """As `sizes`, of several folders of the crawl."""

    def size(self, path: str) -> int:
        """Raises FileNotFoundError."""

    def sizes_of(self, paths: Collection[str]) -> Mapping[str, int]:
        """The sizes of those of the files that exist."""

    def sizes_of_new(self, paths: Collection[str]) -> Mapping[str, int]:
        """As `sizes_of`, of files that no commit has named yet."""

    def prove(self) -> None:
        """Raise StoreError if this storage cannot keep a crawl."""

    def delete(self, paths: Iterable[str]) -> None:
        """Delete files; those that are already gone are ignored.

        Never deletes outside of the crawl's folder, except in linked folders that were claimed.
        """

    def claim(self, folder: str, crawl: str, named: Callable[[], Collection[str]]) -> None:
        """If a dataset's folder is a symbolic link, make sure that its target belongs to the crawl.

        The target is marked as the crawl's if it is empty, or holds exactly the files that the
        manifest names (`named` returns all paths of the crawl). Raises Occupied if it belongs to
        another crawl or dataset, or holds other files.
        """

    def lock(self, holder: Holder) -> AbstractContextManager[bool]:
        """Hold the crawl's lock as `holder`. Raises Locked.

        The value is whether a former holder may still be there, unaware that it lost the lock.
        """

    def holder(self) -> Holder | None:
        """The process that holds the lock; None if there is none, or it did not say who it is."""


def open_backend(url: str, *, is_known: bool = False) -> Backend:
    """The backend for a path, or a URL with file, s3, gs or az. Raises UsageError for others.

    `is_known`: its object store has been reached, so that its URL and endpoint are right.
    """
    scheme, separator, rest = url.partition("://")
    if not separator:
        return LocalBackend(url)
    if scheme == "file":
        return LocalBackend(rest)
    if is_object_url(url):
        from gossamer.storage.objects.backend import ObjectBackend

        return ObjectBackend(Bucket(url, is_patient=is_known))
    raise UsageError(url, f"{scheme}:// is not supported", "use a path, or s3://, gs:// or az://")
