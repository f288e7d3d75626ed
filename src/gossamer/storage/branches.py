"""Steps beside each other: what a store and its branches share, and what each of them reads.

Steps may run beside each other in one process, each with a branch of the store (`Store.branch`).

Invariants
  * A branch reads the newest state of its beginning, and what was committed through it. So what
    others commit never changes under a running step.
  * Commits are serialised: each follows the newest version, and changes only the datasets of its
    step. Two branches never change the same dataset, but for layers that one of them appends while
    the other merges older ones.
  * New layers get the version of their commit; those of a branch get the version that it has read.
    So a step that has read a version finds what others have committed since, and only that, in
    layers with a greater one.
  * Files that a branch reads are no garbage, nor are those that its steps are writing.
"""

from __future__ import annotations

import dataclasses
import threading
from typing import TYPE_CHECKING, Protocol

from gossamer.storage.garbage import Garbage
from gossamer.storage.manifest import Layer, Stack, entries
from gossamer.storage.verification import Intact

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from gossamer.storage.backends import Backend
    from gossamer.storage.garbage import Attempts
    from gossamer.storage.listings import Listings
    from gossamer.storage.manifest import Manifest


class Reader(Protocol):
    """A store or a branch."""

    manifest: Manifest
    """What it reads."""


class Shared:
    """What a store and its branches have in common."""

    def __init__(self, backend: Backend, listings: Listings, newest: Manifest) -> None:
        self.guard = threading.RLock()
        """Held by whoever commits or collects garbage."""
        self.newest = newest
        """The newest version that this process has read or written."""
        self.manifests: dict[int, Manifest] = {}
        """The versions that were read or written while this process has held the lock."""
        self.listings = listings
        self.garbage = Garbage(backend)
        self.intact = Intact(backend)
        self.open: dict[Reader, Attempts] = {}
        """The store and its branches, with their attempts."""

    def oldest(self) -> int:
        """The oldest version that is read now."""
        return min(reader.manifest.version for reader in self.open)

    def others(self, reader: Reader) -> list[Attempts]:
        """The attempts of steps that may run now, but for those of this reader."""
        return [attempts for each, attempts in self.open.items() if each is not reader]


def rebase_layers(
    layers: Sequence[Layer], read: Sequence[Layer], newest: Sequence[Layer], version: int
) -> Sequence[Layer] | None:
    """The layers that replace those that were `read`, and what others have appended since.

    None if others have not only appended layers since this `version`.
    """
    before, later = tuple(newest[: len(read)]), newest[len(read) :]
    if before != tuple(read) or any(layer.version <= version for layer in later):
        return None
    return (*layers, *later)


def without_datasets(manifest: Manifest, datasets: Collection[str]) -> Manifest:
    """A state without some datasets."""
    kept = {name: stack for name, stack in manifest.datasets.items() if name not in datasets}
    return dataclasses.replace(manifest, datasets=kept)


def own(
    read: Manifest,
    committed: Mapping[str, Stack[Layer]],
    replace: Mapping[str, Sequence[Layer]],
    append: Mapping[str, Layer],
) -> Manifest:
    """What a branch reads after a commit: not what others have appended to the same datasets."""
    datasets = dict(read.datasets)
    for name, stack in committed.items():
        layers = entries(stack, Layer, read.reader)
        first = len(replace[name]) if name in replace else len(read.layers(name))
        datasets[name] = Stack(newest=layers[:first] + (layers[-1:] if name in append else ()))
    return dataclasses.replace(read, datasets=datasets)
