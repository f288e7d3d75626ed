"""Which files of a crawl does no kept manifest name any more?

* What a version replaced is garbage once no older version is kept. Each commit says what it
  replaced.
* What an attempt wrote and no commit named: from a task that failed or ran twice, or a step that
  raised an error. Each process knows its own attempts, and which of them belong to steps that may
  still run.
* What other processes left, which died: for that, all files on disk are compared with all files
  that the kept manifests name. This sweep happens at the first collection of a process, and
  after another process committed. Later collections cost as much as what was written since.

On object storage, files of later versions than those that a process knows of are spared. So one
that has lost its lock unawares (lease.py) deletes nothing of the next holder, which began with a
commit: what that one writes has later numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.errors import CorruptManifest
from gossamer.storage.manifest import Layer
from gossamer.storage.names import (
    FOLDERS,
    MANIFESTS,
    is_collected,
    manifest_path,
    version_in,
    version_of,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from gossamer.storage.backends import Backend
    from gossamer.storage.manifest import File, Manifest


class Attempts:
    """The attempts of a store since its last collection."""

    def __init__(self) -> None:
        self.folders: list[str] = []
        self.named: set[str] = set()
        """The paths that commits named."""

    def adopt(self, others: Attempts) -> None:
        """Take over the attempts of a store that ends."""
        self.folders += others.folders
        self.named |= others.named

    def clear(self) -> None:
        self.folders.clear()
        self.named.clear()


class Garbage:
    """What a process remembers of its commits, to find garbage without a sweep.

    Invariant: if `_state` is the newest version, then all files that a collection may delete, but
    for those of processes that died since, are in `_replaced` or below an attempt of a store; and
    the newest version names no path in `_replaced`.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._state: Manifest | None = None
        """The newest version that this object knows of. None: the next collection sweeps."""
        self._replaced: dict[str, tuple[int, int]] = {}
        """The first version that no longer names a file, and the file's size."""

    def committed(
        self, before: Manifest, after: Manifest, added: Collection[File], replaced: Collection[File]
    ) -> None:
        """Learn of a commit of this process. `replaced` are the files that it no longer names."""
        if self._state != before:
            self._state = None
            return
        self._state = after
        for file in added:
            self._replaced.pop(file.path, None)
        for file in replaced:
            self._replaced[file.path] = after.version, file.bytes

    def list_files(self, attempts: Attempts) -> list[tuple[str, int]]:
        """The files beside the manifests, and those of attempts unless a sweep will find them."""
        if self._state is None:
            return list(self._backend.sizes(MANIFESTS))
        return list(self._backend.sizes_in((MANIFESTS, *attempts.folders)))

    def collect(
        self,
        kept: Sequence[int],
        manifests: Sequence[Manifest],
        listed: Sequence[tuple[str, int]],
        attempts: Attempts,
        others: Sequence[Attempts],
        version: int | None = None,
    ) -> int:
        """Delete what no kept manifest names, and return the number of bytes freed.

        `kept` are the versions to keep, oldest first, and `manifests` those that can be read; the
        last one must be. `listed`: the result of `list_files`. What `attempts` wrote and nothing
        names is deleted, and they are cleared; what `others` wrote is not. `version`: the newest
        one that this process has read or written, if it may have lost the lock unawares. Raises
        CorruptManifest.
        """
        known, self._state = self._state, None  # so an error here leads to a sweep
        newest = manifests[-1]
        if known == newest:
            files = self._own(kept[0], attempts, listed)
        else:
            swept = list(self._swept(manifests))
            # After the sweep: it may have met files of attempts that began meanwhile.
            running = tuple(f"{folder}/" for each in others for folder in each.folders)
            files = (file for file in swept if not file[0].startswith(running))
        # Manifests first, so that none that exists ever names a deleted file.
        garbage = {
            path: size
            for path, size in (*_manifests(kept, manifests, listed), *files)
            if is_collected(path) and (version is None or _is_before(path, version))
        }
        self._backend.delete(garbage)
        self._replaced = {
            path: (version, size)
            for path, (version, size) in self._replaced.items()
            if version > kept[0]
        }
        attempts.clear()
        self._state = newest
        return sum(garbage.values())

    def _own(
        self, oldest: int, attempts: Attempts, listed: Sequence[tuple[str, int]]
    ) -> Iterator[tuple[str, int]]:
        """Yield garbage that this process made, if all versions from `oldest` on are kept."""
        for path, (version, size) in self._replaced.items():
            if version <= oldest:
                yield path, size
        for path, size in listed:
            if not path.startswith(f"{MANIFESTS}/") and path not in attempts.named:
                yield path, size

    def _swept(self, manifests: Sequence[Manifest]) -> Iterator[tuple[str, int]]:
        """Yield all garbage on disk, after learning what the kept versions replaced."""
        named: dict[str, tuple[int, int]] = {}
        """The newest version that names a file, and the file's size."""
        listed: set[str] = set()
        for manifest in reversed(manifests):
            try:
                for file in _dataset_files(manifest, listed):
                    named.setdefault(file.path, (manifest.version, file.bytes))
            except CorruptManifest:
                if manifest is manifests[-1]:
                    raise  # an older one protects nothing if it is damaged
        newest = manifests[-1].version
        self._replaced = {
            path: (version + 1, size) for path, (version, size) in named.items() if version < newest
        }
        for path, size in self._backend.sizes_in(FOLDERS):
            if path not in named:
                yield path, size


def _manifests(
    kept: Sequence[int], manifests: Sequence[Manifest], listed: Sequence[tuple[str, int]]
) -> list[tuple[str, int]]:
    """Manifests that are not kept; then listings that no manifest names, and drafts."""
    listings = (listing for manifest in manifests for listing in manifest.listings())
    named = {path for listing in listings for path in listing.paths}
    named.update(map(manifest_path, kept))
    found = [
        each for each in listed if each[0].startswith(f"{MANIFESTS}/") and each[0] not in named
    ]
    return sorted(found, key=lambda each: version_of(each[0]) is None)


def _is_before(path: str, version: int) -> bool:
    """Whether a file was written by a process that knew of no later version than this one."""
    return version_in(path) <= (version if version_of(path) is not None else version + 1)


def _dataset_files(manifest: Manifest, listed: set[str]) -> Iterator[File]:
    """Yield the files of all datasets, except those in listings that were `listed` before."""
    for stack in manifest.datasets.values():
        for listing in stack.listings:
            if listing.path not in listed:
                listed.add(listing.path)
                for layer in manifest.reader(listing, Layer):
                    yield from layer.files
        for layer in stack.newest:
            yield from layer.files
