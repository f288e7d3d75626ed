"""The crawl folder: immutable layers of files, and one manifest that names them.

Invariants
  * A file is written once, in the folder of its attempt, and never changed.
  * A commit creates `manifest/<version>.json`, which names every file of every dataset, the older
    ones through listings (listings.py). The highest version is the crawl's state. Creation is
    exclusive and atomic (a hard link here, a put-if-absent on object storage), so of two writers
    one gets Conflict, and a crash at any time leaves the previous state intact.
  * Files that no kept manifest names are garbage (garbage.py) if Gossamer writes such names
    (storage/names.py): they come from an attempt that died, a task that ran twice, or a version
    that was replaced. Other files are not ours and are never touched.
  * All files of a dataset are in the folder of its name.
  * Steps that run beside each other have branches of the store (branches.py).

Lineage: the immutable segments and `segments_N` of Lucene; the manifest lists of Apache Iceberg;
Delta Lake (Armbrust et al., VLDB 2020, §3), without its log.
"""

from __future__ import annotations

import dataclasses
import uuid
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING

from msgspec import structs

from gossamer.errors import (
    RESTORE,
    Conflict,
    CorruptManifest,
    MissingFile,
    NotACrawl,
    StoreError,
)
from gossamer.storage.backends import Backend
from gossamer.storage.branches import Shared, own, rebase_layers, without_datasets
from gossamer.storage.errors import OF_THE_READER, OWNER_REMEDY, system_error
from gossamer.storage.garbage import Attempts
from gossamer.storage.listings import Listings, Mended, recent_listing
from gossamer.storage.lock_holder import Holder
from gossamer.storage.manifest import (
    FORMAT,
    File,
    Layer,
    Listing,
    Manifest,
    Stack,
    StepReport,
    UnreadableManifest,
    decode_manifest,
    encode_manifest,
)
from gossamer.storage.names import FOLDERS, HISTORY, manifest_path, rewriter_of, version_of
from gossamer.storage.vacancy import check_vacant
from gossamer.storage.verification import Damage

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

__all__ = [
    "Backend",
    "Damage",
    "File",
    "Holder",
    "Layer",
    "Manifest",
    "Stack",
    "StepReport",
    "Store",
]


class Store:
    """The datasets of one crawl.

    `manifest` is the state that steps read: the version that this store last read or wrote.
    `refresh()` reads the newest.
    """

    def __init__(self, backend: Backend, beside: Shared | None = None) -> None:
        self.backend = backend
        self._listings = Listings(backend, self.unreadable) if beside is None else beside.listings
        self.manifest = Manifest(version=0, crawl="", reader=self._listings.read)
        self._is_branch = beside is not None
        self._shared = beside or Shared(backend, self._listings, self.manifest)
        self._attempts = self._shared.open[self] = Attempts()
        self.unknown: set[str] = set()
        """Datasets that a branch knows nothing of, until it commits them."""
        self.holder: Callable[[], Holder] = Holder.me
        """Returns who locks the crawl."""

    @property
    def url(self) -> str:
        return self.backend.url

    @classmethod
    def create(cls, backend: Backend, beside: Collection[str] = ()) -> Store:
        """Create a crawl. Raises what `check_vacant` does, with the same `beside`."""
        check_vacant(backend, beside)
        store = cls(backend)
        crawl = uuid.uuid4().hex
        store.manifest = Manifest(version=1, crawl=crawl, reader=store._listings.read)
        store._put(store.manifest)
        return store

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
            self.manifest = self._shared.newest = self._read(versions[-1])
        return self.manifest

    @contextmanager
    def branch(self, without: Collection[str] = ()) -> Iterator[Store]:
        """A store for steps that run beside those of this one, in another thread (branches.py).

        It knows nothing of the datasets `without`, and what it commits replaces them. When the
        block ends, the branch can commit no more: whoever uses it then gets Conflict.
        """
        with self._shared.guard:
            branch = Store(self.backend, self._shared)
            branch.manifest = without_datasets(self._shared.newest, without)
            branch.unknown = set(without)
        try:
            yield branch
        finally:
            with self._shared.guard:
                self._attempts.adopt(self._shared.open.pop(branch))

    def attempt(self, dataset: str) -> str:
        """A new folder name for the files of a future layer, which no other process uses.

        Raises Conflict if this branch has ended.
        """
        self._check_open()
        folder = f"{dataset}/{self.manifest.version + 1:08d}-{uuid.uuid4().hex[:8]}"
        self._attempts.folders.append(folder)
        return folder

    def commit(
        self,
        report: StepReport,
        append: Mapping[str, Layer] | None = None,
        replace: Mapping[str, Sequence[Layer]] | None = None,
    ) -> StepReport:
        """Replace all layers of some datasets, append a layer to others, and add the step's report.

        New layers get the version of this commit, unless they are made of others. Those of a branch
        get the version that it has read: what others have committed since is newer. Returns the
        report with the size of the datasets.

        Raises MissingFile if a file is missing or has another size, and Conflict if another
        process committed since this one read the manifest, or if this branch has ended.
        """
        replace, append = replace or {}, append or {}
        with self._shared.guard:
            self._check_open()
            before = self._shared.newest
            version = before.version + 1
            date = self.manifest.version if self._is_branch else version
            changes = {
                name: self._listings.changed(
                    before.datasets.get(name, Stack()),
                    date,
                    self._rebase_layers(name, replace[name]) if name in replace else None,
                    append.get(name),
                )
                for name in dict.fromkeys((*replace, *append))
            }
            self._check_new({name: change.added for name, change in changes.items()})
            added = [file for change in changes.values() for file in change.added]
            replaced = [file for change in changes.values() for file in change.replaced]
            self.backend.sync(file.path for file in added)
            stacks = {name: change.stack for name, change in changes.items()}
            manifest = Manifest(
                version,
                before.crawl,
                max(report.round, before.round),
                {
                    name: self._listings.packed(name, version, stack, Layer)
                    for name, stack in {**before.datasets, **stacks}.items()
                },
                reader=self._listings.read,
            )
            done = structs.replace(report, bytes=manifest.bytes)
            reports = recent_listing(before.reports.followed_by(done))
            reports = self._listings.packed(HISTORY, version, reports, StepReport)
            after = dataclasses.replace(manifest, reports=reports)
            self._put(after)
            self._shared.garbage.committed(before, after, added, replaced)
            self._attempts.named.update(file.path for file in added)
            self._shared.intact.forget(replaced)
            self._shared.intact.trust(added)
            self.manifest = (
                own(self.manifest, stacks, replace, append) if self._is_branch else after
            )
        return done

    def _check_open(self) -> None:
        if self not in self._shared.open:
            raise Conflict(self.url, "this step was given up meanwhile", "run it again")

    def _rebase_layers(self, name: str, layers: Sequence[Layer]) -> Sequence[Layer]:
        if name in self.unknown:
            return layers
        read, newest = self.manifest.layers(name), self._shared.newest.layers(name)
        if (found := rebase_layers(layers, read, newest, self.manifest.version)) is None:
            raise Conflict(self.url, f"{name}: another step replaced it", "run the step again")
        return found

    def _check_new(self, added: Mapping[str, Sequence[File]]) -> None:
        for dataset, files in added.items():
            for file in files:
                if not file.path.startswith(f"{dataset}/"):
                    raise ValueError(f"{file.path}: not in the folder of {dataset}")
                if not file.xxh3:
                    raise ValueError(f"{file.path}: its checksum was not computed")
        for damage in self._shared.intact.wrong_new_sizes(chain(*added.values())):
            raise self.error(damage)

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
        for damage in self._shared.intact.damaged(files):
            raise self.error(damage)

    def damaged(self, dataset: str) -> list[Damage]:
        """The damaged or missing files of a dataset, by the same checks as in `files`."""
        return list(self._shared.intact.damaged(self.listed(dataset)))

    def whole(self, dataset: str) -> list[File]:
        """The intact files of a dataset, by the same checks as in `files`."""
        damaged = {damage.file for damage in self.damaged(dataset)}
        return [file for file in self.listed(dataset) if file not in damaged]

    def trust(self, files: Iterable[File]) -> None:
        """Skip the checksums of files that another process on this machine just verified."""
        self._shared.intact.trust(files)

    def verify(self, files: Sequence[File]) -> Iterator[tuple[File, str | None]]:
        """Read all bytes of files, and yield each with what is wrong with it; None if intact.

        Raises StoreError for a file that this process cannot read, though it may be whole.
        """
        return self._shared.intact.verify(files)

    def examine(self, files: Sequence[File]) -> Iterator[tuple[File, str | StoreError | None]]:
        """As `verify`, but yield the errors that it raises."""
        return self._shared.intact.examine(files)

    def error(self, damage: Damage) -> MissingFile:
        file, what = damage
        return MissingFile(f"{self.url}/{file.path}", what, self._file_remedy(file.path))

    def unreadable(self, listing: Listing, what: str) -> CorruptManifest:
        """The error for a listing of this state that cannot be read, and what is wrong with it."""
        remedy = RESTORE + self._return_remedy(listing.path)
        if self._versions()[-1] > self.manifest.version:  # its state may be no longer kept
            remedy = "another process has committed since: run the command again"
        return CorruptManifest(f"{self.url}/{listing.path}", what, remedy)

    def mend_listings(self) -> Mended:
        """Write damaged listings again, and forget those that are lost; the next commit says so."""
        with self._shared.guard:
            mended = self._listings.mended(self.manifest)
            self.manifest = self._shared.newest = mended.manifest
        return mended

    def collect_garbage(self, keep_versions: int) -> int:
        """Delete the files that none of the last `keep_versions + 1` manifests names.

        Those that branches read are kept, too. Returns the number of bytes freed. Only the holder
        of the lock may call this, and only between two steps of this store, since its attempts that
        no manifest names count as dead; those of other branches do not. It spares files
        that Gossamer does not write, and files behind symbolic links, except in claimed folders.
        Raises what `claim` does, and CorruptManifest.
        """
        with self._shared.guard:
            self.claim()
            listed = self._shared.garbage.list_files(self._attempts)
            versions = _versions_among(listed)
            oldest = min(self._shared.oldest(), versions[-keep_versions - 1 :][0])
            kept = [version for version in versions if version >= oldest]
            manifests: list[Manifest] = []
            for version in kept:
                try:
                    manifests.append(self._known(version))
                except CorruptManifest:
                    if version == kept[-1]:
                        raise  # an older one protects nothing if it is damaged
            self._shared.manifests = {each.version: each for each in manifests}
            others = self._shared.others(self)
            known = self._shared.newest.version if self.backend.lock_may_be_lost else None
            return self._shared.garbage.collect(
                kept, manifests, listed, self._attempts, others, known
            )

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the crawl for writing, and read its newest state. Raises Locked and Occupied."""
        with self.backend.lock(self.holder()) as was_lost:
            self._shared.manifests = {}
            self.refresh()
            while was_lost and not self._fence():
                self.refresh()
            self.claim()
            yield

    def _fence(self) -> bool:
        """Commit the same state once more, so that a former holder of the lock gets Conflict.

        False if that one has just committed, which is all that it can.
        """
        try:
            self._put(dataclasses.replace(self.manifest, version=self.manifest.version + 1))
        except Conflict:
            return False
        self.manifest = self._shared.newest
        return True

    def claim(self) -> None:
        """Raise Occupied if a dataset's folder is a link to another crawl's files."""
        for folder in FOLDERS:
            self.backend.claim(folder, self.manifest.crawl, self.manifest.paths)

    def _file_remedy(self, path: str) -> str:
        remedy = RESTORE
        if command := rewriter_of(path):
            remedy += f", or write it again: {command} {self.url}"
        return remedy + self._return_remedy(path)

    def _return_remedy(self, path: str) -> str:
        """How to return to a state without this file; empty if that is impossible."""
        later = " and ".join(self._states_since(path))
        return f", or return to the previous state: delete {later}" if later else ""

    def _states_since(self, path: str) -> list[str]:
        """The manifests to delete for a state without this file, newest first; [] if impossible."""
        later: list[str] = []
        for version in reversed(self._versions()):
            try:
                if not self._read(version).names(path):
                    return later
            except CorruptManifest:
                return []
            later.append(f"{self.url}/{manifest_path(version)}")
        return []

    def _versions(self) -> list[int]:
        return _versions_among(self.backend.sizes("manifest"))

    def _known(self, version: int) -> Manifest:
        """A version, which is read once while this process holds the lock."""
        found = self._shared.manifests.get(version)
        return self._read(version) if found is None else found

    def _read(self, version: int) -> Manifest:
        path = manifest_path(version)
        try:
            return decode_manifest(self.backend.read(path), version, self._listings.read)
        except OSError as error:
            if error.errno in OF_THE_READER:
                raise system_error(error) from None
            what, remedy = f"cannot be read: {error.strerror}", OWNER_REMEDY
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
            self.backend.create(path, encode_manifest(manifest))
        except FileExistsError:
            raise Conflict(
                f"{self.url}/{path}", "another process committed first", "run the step again"
            ) from None
        self._shared.newest = self._shared.manifests[manifest.version] = manifest


def _versions_among(files: Iterable[tuple[str, int]]) -> list[int]:
    """The versions whose manifests are among some files, oldest first."""
    versions = (version_of(path) for path, _ in files)
    return sorted(version for version in versions if version is not None)
