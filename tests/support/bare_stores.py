"""Stores without a crawl, for tests of what a commit and garbage collection do."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from msgspec import structs

from gossamer.storage import checksums
from gossamer.storage.store import File, Layer, StepReport
from tests.support.memory_backend import MemoryBackend

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gossamer.storage.manifest import Entry, Listing
    from gossamer.storage.store import Backend, Store


def report(step: str = "fetch", round_: int = 1) -> StepReport:
    return StepReport(step, round_, started_ms=0, seconds=0.5, counts={"ok": 3})


def put(store: Store, dataset: str, data: bytes = b"rows", round_: int = 1) -> Layer:
    ending = "warc.gz" if dataset == "warc" else "parquet"
    path = f"{store.attempt(dataset)}/{uuid.uuid4().hex}.{ending}"
    store.backend.create(path, data)
    return Layer(
        round_, (File(path, rows=2, bytes=len(data), xxh3=checksums.checksum_bytes(data)),)
    )


def unlisted(listing: Listing, kind: type[Entry]) -> tuple[Entry, ...]:
    """Reads the listings of manifests that have none."""
    raise AssertionError(f"{listing.path}, a listing of {kind.__name__}s")


def committed(layer: Layer, version: int) -> Layer:
    return structs.replace(layer, version=version, since=version)


def contents(layers: Iterable[Layer]) -> list[tuple[int, tuple[File, ...]]]:
    """Layers without the versions that a commit gives them."""
    return [(layer.round, layer.files) for layer in layers]


def files_below(backend: Backend, *folders: str) -> set[str]:
    return {path for folder in folders for path, _ in backend.sizes(folder)}


class Recorder:
    """A backend in memory that records what is asked of it, in order."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, object]] = []
        self._backend = MemoryBackend()

    def __getattr__(self, name: str) -> Any:
        asked = getattr(self._backend, name)
        if not callable(asked):
            return asked

        def recorded(*words: Any) -> Any:
            words = tuple(list(word) if isinstance(word, Iterator) else word for word in words)
            self.calls.append((name, words[0] if words else None))
            return asked(*words)

        return recorded

    def of(self, *names: str) -> list[tuple[str, object]]:
        return [call for call in self.calls if call[0] in names]
