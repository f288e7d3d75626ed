"""The crawl folder: immutable layers of files, and one manifest that names them.

Invariants
  * A file is written once, under a name of its own attempt, and never changed.
  * A commit creates `manifest/<version>.json`, which names every file of every dataset. The
    highest version is the crawl's state. Creation is exclusive and atomic (a hard link here,
    a put-if-absent on object storage), so of two writers one gets Conflict, and a crash at any
    moment leaves the previous state whole.
  * Files that no kept manifest names are garbage, whoever wrote them: an attempt that died, a
    task that ran twice, a version that was replaced.

Lineage: the immutable segments and `segments_N` of Lucene, and the log of Delta Lake
(Armbrust et al., VLDB 2020, §3), without the log: a crawl has few enough files to name all.
"""

from __future__ import annotations

import os
import socket
import sys
import time
import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, Protocol

import msgspec

from gossamer.errors import Conflict, CorruptManifest, MissingFile, NotACrawl
from gossamer.tables import DATASETS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

FORMAT: Literal[1] = 1
HISTORY_LENGTH = 500
"""Step reports a manifest carries."""


class File(msgspec.Struct, frozen=True):
    """`path` is relative to the crawl; `rows` are records for WARC, documents for the index."""

    path: str
    rows: int
    bytes: int


class Layer(msgspec.Struct, frozen=True):
    """What one step added to one dataset."""

    round: int
    files: tuple[File, ...]

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files)


class StepReport(msgspec.Struct, frozen=True):
    """That a step was done; `counts` hold what it did and what it dropped, by reason."""

    step: str
    round: int
    started_ms: int
    seconds: float
    counts: dict[str, int] = {}


class Manifest(msgspec.Struct, frozen=True):
    """The whole state of a crawl."""

    version: int
    round: int = 0
    datasets: dict[str, tuple[Layer, ...]] = {}
    history: tuple[StepReport, ...] = ()
    format: Literal[1] = FORMAT

    def layers(self, dataset: str, round_: int | None = None) -> tuple[Layer, ...]:
        """The layers of a dataset, oldest first; of one round where it is given."""
        return tuple(
            layer
            for layer in self.datasets.get(dataset, ())
            if round_ is None or layer.round == round_
        )

    def steps_of(self, round_: int) -> frozenset[str]:
        """The steps that were done of a round, as far back as the history goes."""
        return frozenset(report.step for report in self.history if report.round == round_)

    def paths(self) -> frozenset[str]:
        return frozenset(
            file.path
            for layers in self.datasets.values()
            for layer in layers
            for file in layer.files
        )


class _Format(msgspec.Struct):
    format: int


class Holder(msgspec.Struct, frozen=True):
    """Who holds the lock of a crawl."""

    pid: int
    machine: str
    command: str
    since_ms: int

    @classmethod
    def me(cls) -> Holder:
        return cls(os.getpid(), socket.gethostname(), " ".join(sys.argv), int(time.time() * 1000))


class Backend(Protocol):
    """Where a crawl's bytes lie. Paths are relative, with `/`."""

    url: str

    def read(self, path: str) -> bytes:
        """Raises FileNotFoundError."""

    def create(self, path: str, data: bytes) -> None:
        """All or nothing, and durable. Raises FileExistsError."""

    def sync(self, paths: Iterable[str]) -> None:
        """Make files that others wrote durable."""

    def sizes(self, folder: str) -> Iterator[tuple[str, int]]:
        """Every file below the folder with its bytes."""

    def size(self, path: str) -> int:
        """Raises FileNotFoundError."""

    def delete(self, paths: Iterable[str]) -> None:
        """Files that are already gone are no error."""

    def lock(self, holder: Holder) -> AbstractContextManager[None]:
        """Raises Locked."""


class Store:
    """The datasets of one crawl.

    `manifest` is what this process last read or wrote; `refresh()` looks for a newer one.
    """

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.manifest = Manifest(version=0)

    @property
    def url(self) -> str:
        return self.backend.url

    @classmethod
    def create(cls, backend: Backend) -> Store:
        store = cls(backend)
        versions = store._versions()
        if versions:
            raise Conflict(backend.url, "there is a crawl already", "choose another folder")
        store._put(Manifest(version=1))
        return store

    @classmethod
    def open(cls, backend: Backend) -> Store:
        store = cls(backend)
        store.refresh()
        return store

    def refresh(self) -> Manifest:
        versions = self._versions()
        if not versions:
            raise NotACrawl(self.url, "no crawl here", f"make one: gossamer init {self.url}")
        if versions[-1] != self.manifest.version:
            self.manifest = self._read(versions[-1])
        return self.manifest

    def attempt(self, dataset: str) -> str:
        """A folder that nobody else writes to, for the files of a layer to be."""
        return f"{dataset}/{self.manifest.version + 1:08d}-{uuid.uuid4().hex[:8]}"

    def commit(
        self,
        report: StepReport,
        append: Mapping[str, Layer] | None = None,
        replace: Mapping[str, Sequence[Layer]] | None = None,
    ) -> Manifest:
        """Put layers in place of all that a dataset has, then add layers, and report the step.

        Raises MissingFile where a file is not there with the bytes it should have, and Conflict
        where another process committed since this one read the manifest.
        """
        had = {layer for layers in self.manifest.datasets.values() for layer in layers}
        put = [layer for layers in (replace or {}).values() for layer in layers]
        added = [layer for layer in (*(append or {}).values(), *put) if layer not in had]
        self._check(added)
        self.backend.sync(file.path for layer in added for file in layer.files)
        datasets = dict(self.manifest.datasets)
        for name, layers in (replace or {}).items():
            datasets[name] = tuple(layers)
        for name, layer in (append or {}).items():
            datasets[name] = (*datasets.get(name, ()), layer)
        self._put(
            Manifest(
                version=self.manifest.version + 1,
                round=report.round,
                datasets=datasets,
                history=(*self.manifest.history, report)[-HISTORY_LENGTH:],
            )
        )
        return self.manifest

    def files(self, dataset: str, round_: int | None = None) -> list[File]:
        """The files of a dataset, each checked to be there whole. Raises MissingFile."""
        layers = self.manifest.layers(dataset, round_)
        self._check(layers)
        return [file for layer in layers for file in layer.files]

    def collect_garbage(self, keep_versions: int) -> int:
        """Delete what only manifests older than the last `keep_versions + 1` name; bytes freed.

        Only the holder of the lock may call this, and only between two steps: whatever no
        manifest names is taken for the remains of a dead attempt.
        """
        kept = self._versions()[-keep_versions - 1 :]
        named = {_manifest_path(version) for version in kept}
        for version in kept:
            try:
                named |= self._read(version).paths()
            except CorruptManifest:
                if version == kept[-1]:
                    raise  # an older one that is damaged protects nothing
        garbage = {
            path: size
            for folder in ("manifest", *DATASETS, "scratch")  # in this order: no manifest that
            for path, size in self.backend.sizes(folder)  # is there names a file that is not
            if path not in named
        }
        self.backend.delete(garbage)
        return sum(garbage.values())

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the crawl for writing, and see its newest state. Raises Locked."""
        with self.backend.lock(Holder.me()):
            self.refresh()
            yield

    def _check(self, layers: Iterable[Layer]) -> None:
        for file in (file for layer in layers for file in layer.files):
            try:
                size = self.backend.size(file.path)
            except FileNotFoundError:
                problem = "the manifest names this file, but it is gone"
            else:
                if size == file.bytes:
                    continue
                problem = f"has {size} bytes, the manifest says {file.bytes}"
            remedy = "put it back from a copy"
            if later := self._states_since(file.path):
                remedy += f", or go back to the state before: delete {' and '.join(later)}"
            raise MissingFile(f"{self.url}/{file.path}", problem, remedy)

    def _states_since(self, path: str) -> list[str]:
        """The manifests that name a file, newest first; none where an older state needs it too."""
        later: list[str] = []
        for version in reversed(self._versions()):
            try:
                if path not in self._read(version).paths():
                    return later
            except CorruptManifest:
                return []
            later.append(f"{self.url}/{_manifest_path(version)}")
        return []

    def _versions(self) -> list[int]:
        return sorted(
            int(name.removesuffix(".json"))
            for path, _ in self.backend.sizes("manifest")
            if (name := path.rpartition("/")[2]).endswith(".json") and name[:-5].isdigit()
        )

    def _read(self, version: int) -> Manifest:
        path = _manifest_path(version)
        data = self.backend.read(path)
        try:
            manifest = msgspec.json.decode(data, type=Manifest)
            if manifest.version != version:
                raise msgspec.ValidationError(f"it says that its version is {manifest.version}")
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            newer = _format(data) > FORMAT
            raise CorruptManifest(
                f"{self.url}/{path}",
                f"not a manifest of format {FORMAT}: {error}",
                "a newer Gossamer wrote it: use that one"
                if newer
                else "delete this file: the state before it is whole",
            ) from None
        return manifest

    def _put(self, manifest: Manifest) -> None:
        path = _manifest_path(manifest.version)
        try:
            self.backend.create(path, msgspec.json.encode(manifest))
        except FileExistsError:
            raise Conflict(
                f"{self.url}/{path}", "another process committed first", "run the step again"
            ) from None
        self.manifest = manifest


def _format(data: bytes) -> int:
    """The format a manifest says that it has; 0 where it says none."""
    try:
        return msgspec.json.decode(data, type=_Format).format
    except (msgspec.DecodeError, UnicodeDecodeError):
        return 0


def _manifest_path(version: int) -> str:
    return f"manifest/{version:08d}.json"
