"""The crawl folder: immutable layers of files, and one manifest that names them.

Invariants
  * A file is written once, in the folder of its attempt, and never changed.
  * A commit creates `manifest/<version>.json`, which names every file of every dataset. The
    highest version is the crawl's state. Creation is exclusive and atomic (a hard link here,
    a put-if-absent on object storage), so of two writers one gets Conflict, and a crash at any
    time leaves the previous state intact.
  * Files that no kept manifest names are garbage if Gossamer writes such names (filenames.py):
    they come from an attempt that died, a task that ran twice, or a version that was replaced.
    Other files are not ours and are never touched.

Lineage: the immutable segments and `segments_N` of Lucene, and the log of Delta Lake
(Armbrust et al., VLDB 2020, §3), without the log: a crawl has few enough files to name them all.
"""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from msgspec import structs

from gossamer.backends import Backend, Holder
from gossamer.errors import RESTORE, Conflict, CorruptManifest, MissingFile, NotACrawl, Occupied
from gossamer.filenames import (
    FOLDERS,
    is_collected,
    is_of_init,
    manifest_path,
    rewriter_of,
    version_of,
)
from gossamer.manifest import (
    FORMAT,
    HISTORY_LENGTH,
    File,
    Layer,
    Manifest,
    StepReport,
    UnreadableManifest,
    decode,
    encode,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

__all__ = ["Backend", "File", "Holder", "Layer", "Manifest", "StepReport", "Store"]

NAMED = 3
"""How many foreign files an error names."""
THREADS = 4
"""Threads that compute checksums. Two of them read cached files at the speed of memory."""


class Damage(NamedTuple):
    """A file that the manifest names, and what is wrong with it."""

    file: File
    what: str


class Store:
    """The datasets of one crawl.

    `manifest` is the version that this process last read or wrote; `refresh()` reads the newest.
    """

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.manifest = Manifest(version=0, crawl="")
        self._whole: set[File] = set()
        """Files that this process wrote, or verified by their checksums."""

    @property
    def url(self) -> str:
        return self.backend.url

    @classmethod
    def create(cls, backend: Backend, beside: Collection[str] = ()) -> Store:
        """Create a crawl. Raises what `check_vacant` does."""
        store = cls(backend)
        store.check_vacant(beside)
        store._put(Manifest(version=1, crawl=uuid.uuid4().hex))
        return store

    def check_vacant(self, beside: Collection[str] = ()) -> None:
        """Check that a crawl may be created here: only settings and the files `beside` may exist.

        Raises Conflict if there is a crawl, and Occupied if there are other files.
        """
        if self._versions():
            raise Conflict(self.url, "already contains a crawl", "choose another folder")
        others = (
            path
            for path, _ in self.backend.sizes("")
            if not is_of_init(path) and path not in beside
        )
        if found := list(islice(others, NAMED + 1)):
            more = " and more" if len(found) > NAMED else ""
            raise Occupied(
                self.url,
                f"a crawl needs a folder of its own, and this one holds {', '.join(found[:NAMED])}"
                + more,
                "choose a folder that does not exist, is empty or holds only gossamer.toml",
            )

    @classmethod
    def open(cls, backend: Backend) -> Store:
        store = cls(backend)
        store.refresh()
        return store

    def refresh(self) -> Manifest:
        versions = self._versions()
        if not versions:
            raise NotACrawl(self.url, "is not a crawl", f"create one: gossamer init {self.url}")
        if versions[-1] != self.manifest.version:
            self.manifest = self._read(versions[-1])
        return self.manifest

    def attempt(self, dataset: str) -> str:
        """A new folder name for the files of a future layer, which no other process uses."""
        return f"{dataset}/{self.manifest.version + 1:08d}-{uuid.uuid4().hex[:8]}"

    def commit(
        self,
        report: StepReport,
        append: Mapping[str, Layer] | None = None,
        replace: Mapping[str, Sequence[Layer]] | None = None,
    ) -> Manifest:
        """Replace all layers of some datasets, append a layer to others, and add the step's report.

        New layers get this version, unless they are made of others. The size of the datasets is
        added to the report.

        Raises MissingFile if a file is missing or has another size, and Conflict if another
        process committed since this one read the manifest.
        """
        had = {layer for layers in self.manifest.datasets.values() for layer in layers}
        put = [layer for layers in (replace or {}).values() for layer in layers]
        added = [layer for layer in (*(append or {}).values(), *put) if layer not in had]
        files = [file for layer in added for file in layer.files]
        for file in files:
            if not file.xxh3:
                raise ValueError(f"{file.path}: its checksum was not computed")
            if (wrong := self._wrong_size(file)) is not None:
                raise self.error(Damage(file, wrong))
        self.backend.sync(file.path for file in files)
        version = self.manifest.version + 1

        def dated(layer: Layer) -> Layer:
            if layer in had or layer.version:
                return layer
            return structs.replace(layer, version=version, since=version)

        datasets = dict(self.manifest.datasets)
        for name, layers in (replace or {}).items():
            datasets[name] = tuple(map(dated, layers))
        for name, layer in (append or {}).items():
            datasets[name] = (*datasets.get(name, ()), dated(layer))
        manifest = Manifest(
            version=version,
            crawl=self.manifest.crawl,
            round=report.round,
            datasets=datasets,
        )
        done = structs.replace(report, bytes=manifest.bytes)
        history = (*self.manifest.history, done)[-HISTORY_LENGTH:]
        self._put(structs.replace(manifest, history=history))
        self._whole.update(files)
        return self.manifest

    def listed(self, dataset: str, round_: int | None = None) -> list[File]:
        """The files of a dataset in the manifest, without checking them."""
        layers = self.manifest.layers(dataset, round_)
        return [file for layer in layers for file in layer.files]

    def files(self, dataset: str, round_: int | None = None) -> list[File]:
        """The files of a dataset, after checking that all are intact. Raises MissingFile.

        The size is compared each time, the checksum only the first time that this object sees
        the file.
        """
        listed = self.listed(dataset, round_)
        self.check(listed)
        return listed

    def check(self, files: Iterable[File]) -> None:
        """Check some files as `files` does. Raises MissingFile."""
        for damage in self._damaged(files):
            raise self.error(damage)

    def damaged(self, dataset: str) -> list[Damage]:
        """The damaged or missing files of a dataset, by the same checks as in `files`."""
        return list(self._damaged(self.listed(dataset)))

    def whole(self, dataset: str) -> list[File]:
        """The intact files of a dataset, by the same checks as in `files`."""
        damaged = {damage.file for damage in self.damaged(dataset)}
        return [file for file in self.listed(dataset) if file not in damaged]

    def trust(self, files: Iterable[File]) -> None:
        """Skip the checksums of files that another process on this machine just verified."""
        self._whole.update(files)

    def verify(self, files: Sequence[File]) -> Iterator[tuple[File, str | None]]:
        """Read all bytes of files, and yield each with what is wrong with it; None if intact."""
        with ThreadPoolExecutor(THREADS) as threads:
            yield from zip(files, threads.map(self._wrong_bytes, files), strict=True)

    def error(self, damage: Damage) -> MissingFile:
        file, what = damage
        return MissingFile(f"{self.url}/{file.path}", what, self._file_remedy(file.path))

    def collect_garbage(self, keep_versions: int) -> int:
        """Delete the files that none of the last `keep_versions + 1` manifests names.

        Returns the number of bytes freed. Only the holder of the lock may call this, and only
        between two steps, since any attempt that no manifest names counts as dead. It spares files
        that Gossamer does not write, and files behind symbolic links, except in claimed folders.
        Raises what `claim` does, and CorruptManifest.
        """
        self.claim()
        kept = self._versions()[-keep_versions - 1 :]
        named = {manifest_path(version) for version in kept}
        for version in kept:
            try:
                named |= self._read(version).paths()
            except CorruptManifest:
                if version == kept[-1]:
                    raise  # an older one protects nothing if it is damaged
        garbage = {  # manifests first, so that none that exists ever names a deleted file
            path: size
            for folder in ("manifest", *FOLDERS)
            for path, size in self.backend.sizes(folder)
            if path not in named and is_collected(path)
        }
        self.backend.delete(garbage)
        return sum(garbage.values())

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the crawl for writing, and read its newest state. Raises Locked and Occupied."""
        with self.backend.lock(Holder.me()):
            self.refresh()
            self.claim()
            yield

    def claim(self) -> None:
        """Raise Occupied if a dataset's folder is a link to another crawl's files."""
        for folder in FOLDERS:
            self.backend.claim(folder, self.manifest.crawl, self.manifest.paths)

    def _damaged(self, files: Iterable[File]) -> Iterator[Damage]:
        unknown: list[File] = []
        for file in files:
            if (wrong := self._wrong_size(file)) is not None:
                yield Damage(file, wrong)
            elif file not in self._whole and not _has_own_checksums(file):
                unknown.append(file)
        for file, wrong in self.verify(unknown) if unknown else ():
            if wrong is not None:
                yield Damage(file, wrong)
            else:
                self._whole.add(file)

    def _wrong_size(self, file: File) -> str | None:
        try:
            size = self.backend.size(file.path)
        except FileNotFoundError:
            return "the manifest names this file, but it is gone"
        if size != file.bytes:
            return f"has {size} bytes, but {file.bytes} in the manifest"
        return None

    def _wrong_bytes(self, file: File) -> str | None:
        if (wrong := self._wrong_size(file)) is not None:
            return wrong
        try:
            if self.backend.checksum(file.path) != file.xxh3:
                return "is damaged: its checksum is not the one in the manifest"
        except OSError as error:
            return f"cannot be read: {error.strerror}"
        return None

    def _file_remedy(self, path: str) -> str:
        remedy = RESTORE
        if command := rewriter_of(path):
            remedy += f", or write it again: {command} {self.url}"
        if later := self._states_since(path):
            remedy += f", or return to the previous state: delete {' and '.join(later)}"
        return remedy

    def _states_since(self, path: str) -> list[str]:
        """The manifests to delete for a state without this file, newest first; [] if impossible."""
        later: list[str] = []
        for version in reversed(self._versions()):
            try:
                if path not in self._read(version).paths():
                    return later
            except CorruptManifest:
                return []
            later.append(f"{self.url}/{manifest_path(version)}")
        return []

    def _versions(self) -> list[int]:
        versions = (version_of(path) for path, _ in self.backend.sizes("manifest"))
        return sorted(version for version in versions if version is not None)

    def _read(self, version: int) -> Manifest:
        path = manifest_path(version)
        try:
            return decode(self.backend.read(path), version)
        except OSError as error:
            what, remedy = f"cannot be read: {error.strerror}", "check its owner and mode"
            raise CorruptManifest(f"{self.url}/{path}", what, remedy) from None
        except UnreadableManifest as error:
            raise CorruptManifest(
                f"{self.url}/{path}", str(error), self._remedy(version, error.format)
            ) from None

    def _remedy(self, version: int, format_: int | None) -> str:
        """What to do about a manifest that cannot be read."""
        if format_ is not None and format_ > FORMAT:
            return "a newer Gossamer wrote it: use that one"
        if format_ is not None:
            return "an older Gossamer wrote it: use that one, or crawl again in another folder"
        if self._versions()[0] < version:
            return "delete this file to return to the previous state"
        return RESTORE

    def _put(self, manifest: Manifest) -> None:
        path = manifest_path(manifest.version)
        try:
            self.backend.create(path, encode(manifest))
        except FileExistsError:
            raise Conflict(
                f"{self.url}/{path}", "another process committed first", "run the step again"
            ) from None
        self.manifest = manifest


def _has_own_checksums(file: File) -> bool:
    """Whether readers of this file verify each record: those of WARC are gzip members."""
    return file.path.startswith("warc/")
