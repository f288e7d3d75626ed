"""Listings: immutable files that hold the older entries of the manifest's stacks.

Facts
  * Most stacks change at their newer end only: each round adds WARC files, and those of earlier
    rounds stay, unless the archive is pruned. Where the newest rows win, small new layers come and
    go.
  * A manifest that named all files would grow by some 150 bytes per file, and each commit, of which
    a round has several, would write it all.

So the manifest names at most NEWEST files of a stack itself. If there are more, the older half
moves into a new listing, which absorbs older listings as a layer of lsm.py absorbs layers: as long
as the next one has at most GROWTH times as many files. So there are O(log n) listings until they
have LARGEST files, and a file is listed O(log n) times in its life. A layer of many files gets a
listing of its own, which stays as it is while smaller, newer layers change.

A listing lies beside the manifests, and is durable before a manifest names it. It is the only place
that says which files hold the older part of a dataset, so it is stored twice, as ZFS stores its
metadata ("ditto blocks"): where one file is damaged, the other is read, and a repair copies it.
"""

from __future__ import annotations

import dataclasses
import threading
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec
from cachetools import LRUCache
from msgspec import structs

from gossamer.storage import checksums
from gossamer.storage.manifest import (
    HISTORY_LENGTH,
    Entry,
    Layer,
    Listing,
    Stack,
    StepReport,
    entries,
)
from gossamer.storage.names import HISTORY, new_listing_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from gossamer.errors import CorruptManifest
    from gossamer.storage.backends import Backend
    from gossamer.storage.manifest import File, Manifest

NEWEST: dict[type, int] = {Layer: 32, StepReport: 16}
"""Files or reports of a stack that a manifest names itself. Of more, about half stay."""
GROWTH = 2
LARGEST: dict[type, int] = {Layer: 1 << 15, StepReport: 1 << 7}
"""Listings are not merged beyond this many files or reports. One of files has some 5 MB then. Old
reports are forgotten by whole listings."""
MAX_HELD = 1 << 17
"""Files and reports of listings that a process holds in memory."""


class Change(NamedTuple):
    """A changed stack, and the files that only it or only the stack before names."""

    stack: Stack[Layer]
    added: tuple[File, ...]
    replaced: tuple[File, ...]


class Mended(NamedTuple):
    """A state whose listings are whole."""

    manifest: Manifest
    restored: int
    """Files of listings that were written again."""
    lost: dict[str, tuple[Listing, ...]]
    """By stack, the listings that it no longer has."""


class Listings:
    """Reads and writes the listings of a crawl. It holds those in memory that were last used."""

    def __init__(self, backend: Backend, error: Callable[[Listing, str], CorruptManifest]) -> None:
        self._backend, self._error = backend, error
        self._held: LRUCache[str, tuple[Layer | StepReport, ...]] = LRUCache(
            MAX_HELD, getsizeof=lambda entries: sum(map(listing_weight, entries))
        )
        self._guard = threading.Lock()

    def read(self, listing: Listing, kind: type[Entry]) -> tuple[Entry, ...]:
        """The entries of a listing, from either of its files. Raises CorruptManifest."""
        with self._guard:
            held = self._held.get(listing.path)
        if held is not None:
            return cast("tuple[Entry, ...]", held)
        data = self._read(listing, listing.path)
        if isinstance(data, str) and listing.is_doubled:
            data = self._read(listing, listing.paths[-1])
        if isinstance(data, str):
            raise self._error(listing, data)
        entries = msgspec.json.decode(data, type=tuple[kind, ...])  # type: ignore[valid-type]
        self._hold(listing, entries)
        return entries

    def _read(self, listing: Listing, path: str) -> bytes | str:
        """The bytes of a listing in one of its files, or what is wrong with that."""
        try:
            data = self._backend.read(path)
        except FileNotFoundError:
            return "the manifest names this listing, but it is gone"
        except OSError as error:
            return f"cannot be read: {error.strerror}"
        if checksums.checksum_bytes(data) != listing.xxh3:
            return "is damaged: its checksum is not the one in the manifest"
        return data

    def mended(self, manifest: Manifest) -> Mended:
        """Write damaged files of listings again, and leave out listings whose files all are."""
        restored: list[str] = []
        lost: dict[str, tuple[Listing, ...]] = {}
        stacks: dict[str, Stack[Any]] = {**manifest.datasets, HISTORY: manifest.reports}
        for name, stack in stacks.items():
            read = {
                listing: {path: self._read(listing, path) for path in listing.paths}
                for listing in stack.listings
            }
            for found in read.values():
                restored += self._restore_files(found)
            whole = {
                listing
                for listing, found in read.items()
                if any(isinstance(each, bytes) for each in found.values())
            }
            if gone := tuple(listing for listing in stack.listings if listing not in whole):
                lost[name] = gone
                kept = tuple(listing for listing in stack.listings if listing in whole)
                stacks[name] = Stack(kept, stack.newest)
        reports = stacks.pop(HISTORY)
        state = dataclasses.replace(manifest, datasets=stacks, reports=reports)
        return Mended(state, len(restored), lost)

    def _restore_files(self, found: Mapping[str, bytes | str]) -> Iterator[str]:
        """Write damaged files of a listing again, if one of them is whole, and yield their paths.

        `found`: by path, its bytes or what is wrong with them.
        """
        whole = [data for data in found.values() if isinstance(data, bytes)]
        damaged = [path for path, data in found.items() if isinstance(data, str)]
        if whole:
            self._backend.delete(damaged)
            for path in damaged:
                self._backend.create(path, whole[0])
                yield path

    def changed(
        self,
        before: Stack[Layer],
        version: int,
        layers: Sequence[Layer] | None,
        appended: Layer | None,
    ) -> Change:
        """The stack of all these `layers` (None: of those before) and the one that is `appended`.

        It keeps the listings that still hold. New layers without a version get this one.
        """
        kept = before.listings if layers is None else self._keep_listings(before.listings, layers)
        newest = before.newest if layers is None else layers[sum(each.entries for each in kept) :]
        gone = Stack(before.listings[len(kept) :], before.newest)
        old = set(entries(gone, Layer, self.read))
        new = tuple(
            layer
            if layer in old or layer.version
            else structs.replace(layer, version=version, since=version)
            for layer in (*newest, *(() if appended is None else (appended,)))
        )
        stack = Stack(kept, new)
        known = {file for layer in old for file in layer.files}
        added = [file for layer in new for file in layer.files if file not in known]
        replaced = {file for layer in old.difference(new) for file in layer.files}
        if replaced:
            named = {f.path for each in entries(stack, Layer, self.read) for f in each.files}
            replaced = {file for file in replaced if file.path not in named}
        return Change(stack, tuple(added), tuple(replaced))

    def _keep_listings(
        self, listings: tuple[Listing, ...], layers: Sequence[Layer]
    ) -> tuple[Listing, ...]:
        """The listings, from the oldest on, whose layers are the first of `layers`."""
        at = 0
        for number, listing in enumerate(listings):
            part = tuple(layers[at : at + listing.entries])
            if _listing_totals(part) != _totals_of(listing) or part != self.read(listing, Layer):
                return listings[:number]
            at += listing.entries
        return listings

    def packed(
        self, name: str, version: int, stack: Stack[Entry], kind: type[Entry]
    ) -> Stack[Entry]:
        """The same stack, after its older entries moved into a listing if there were too many.

        `version` is that of the manifest that will name the listing.
        """
        left = sum(map(listing_weight, stack.newest))
        if left <= NEWEST[kind]:
            return stack
        moved = 0
        while left > NEWEST[kind] // 2:
            left -= listing_weight(stack.newest[moved])
            moved += 1
        older: list[Listing | Entry] = [*stack.listings, *stack.newest[:moved]]
        made: list[Listing] = []
        while older and not (made and isinstance(older[-1], Listing)):
            entries = self._pop_listing(older, kind)
            made.append(self._write(new_listing_path(name, version), entries))
        kept = [listing for listing in older if isinstance(listing, Listing)]
        return Stack((*kept, *reversed(made)), stack.newest[moved:])

    def _pop_listing(self, older: list[Listing | Entry], kind: type[Entry]) -> tuple[Entry, ...]:
        """Remove from the end what belongs into one listing, and return its entries."""
        parts: list[tuple[Entry, ...]] = []
        size = 0
        while older:
            more = listing_weight(older[-1])
            absorbed = more <= GROWTH * max(size, NEWEST[kind] // 2)
            if parts and not (absorbed and size + more <= LARGEST[kind]):
                break
            part = older.pop()
            parts.append(self.read(part, kind) if isinstance(part, Listing) else (part,))
            size += more
        return tuple(entry for part in reversed(parts) for entry in part)

    def _write(self, path: str, entries: tuple[Entry, ...]) -> Listing:
        data = msgspec.json.encode(entries)
        rounds = min(entry.round for entry in entries), max(entry.round for entry in entries)
        totals = _listing_totals(entries)
        listing = Listing(
            path, len(data), checksums.checksum_bytes(data), rounds, *totals, is_doubled=True
        )
        for each in listing.paths:
            self._backend.create(each, data)
        self._hold(listing, entries)
        return listing

    def _hold(self, listing: Listing, entries: tuple[Entry, ...]) -> None:
        with self._guard:
            if sum(map(listing_weight, entries)) <= MAX_HELD:
                self._held[listing.path] = entries


def recent_listing(reports: Stack[StepReport]) -> Stack[StepReport]:
    """Reports of steps without the oldest listings, which `Manifest.history` does not need."""
    listings = reports.listings
    left = len(reports)
    while listings and left - listings[0].entries >= HISTORY_LENGTH:
        left -= listings[0].entries
        listings = listings[1:]
    return Stack(listings, reports.newest)


def listing_weight(part: Listing | Layer | StepReport) -> int:
    """How many files or reports a part of a stack has; a layer without files counts, too."""
    match part:
        case Listing():
            return max(part.files, part.entries)
        case Layer():
            return max(len(part.files), 1)
        case _:
            return 1


def _listing_totals(entries: Sequence[Layer | StepReport]) -> tuple[int, int, int, int]:
    """What a listing says of its entries: their number, their files, and the rows and bytes."""
    layers = [entry for entry in entries if isinstance(entry, Layer)]
    files = sum(len(layer.files) for layer in layers)
    rows = sum(layer.rows for layer in layers)
    return len(entries), files, rows, sum(layer.bytes for layer in layers)


def _totals_of(listing: Listing) -> tuple[int, int, int, int]:
    return listing.entries, listing.files, listing.rows, listing.size
