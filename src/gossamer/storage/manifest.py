"""The manifest: the whole state of a crawl at one version, and its JSON format.

It holds stacks: the layers of each dataset, and the reports of steps. Of each stack it names only
the newest entries itself. The older ones are in listings (listings.py), which are read when they
are needed.

The last member of the JSON object, `xxh3`, is the checksum of all bytes before the comma that
precedes it. docs/formats.md has an example.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Generic, Literal, Protocol, TypeVar

import msgspec

from gossamer.storage import checksums
from gossamer.storage.names import listing_double

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FORMAT: Literal[3] = 3
OLD_FORMAT: Literal[2] = 2
"""It named all files, and is still read: the next commit writes the new format."""
HISTORY_LENGTH = 500
"""The number of step reports that `Manifest.history` has."""


class File(msgspec.Struct, frozen=True):
    """A file of a dataset. `path` is relative to the crawl's folder.

    `rows` counts exchanges for WARC, and documents for the index.
    """

    path: str
    rows: int
    bytes: int
    xxh3: str = ""
    """Checksum of its bytes (checksums.py); empty for scratch files, which no manifest names."""


class Layer(msgspec.Struct, frozen=True):
    """The files that one step added to one dataset, or several layers that were merged."""

    round: int
    """The newest round that wrote any of it."""
    files: tuple[File, ...]
    version: int = 0
    """The version that committed its newest rows. 0: it is not committed."""
    since: int = 0
    """The version that committed its oldest rows."""

    @property
    def is_merged(self) -> bool:
        """Whether several steps committed its rows."""
        return self.since < self.version

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files)


class StepReport(msgspec.Struct, frozen=True):
    """The report of a completed step. `counts` holds what it did, and what it dropped by reason."""

    step: str
    round: int
    started_ms: int
    seconds: float
    counts: dict[str, int] = {}
    bytes: int = 0
    """Size of all datasets after the step; 0: an older version wrote the report."""

    @property
    def ended_ms(self) -> int:
        return self.started_ms + round(self.seconds * 1000)


Entry = TypeVar("Entry", bound=Layer | StepReport)


class Listing(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file that holds consecutive entries of a stack, and their totals."""

    path: str
    bytes: int
    xxh3: str
    rounds: tuple[int, int]
    """The smallest and the largest round of its entries."""
    entries: int
    files: int = 0
    rows: int = 0
    size: int = 0
    """Bytes of the files that it names."""
    is_doubled: bool = False
    """Whether a second file has the same bytes. Older versions did not write it."""

    @property
    def paths(self) -> tuple[str, ...]:
        """The file, and its double."""
        return (self.path, listing_double(self.path)) if self.is_doubled else (self.path,)


class Stack(msgspec.Struct, Generic[Entry], frozen=True, omit_defaults=True):
    """Layers of a dataset or reports of steps: those in `listings`, oldest first, then `newest`."""

    listings: tuple[Listing, ...] = ()
    newest: tuple[Entry, ...] = ()

    def followed_by(self, entry: Entry) -> Stack[Entry]:
        return Stack(self.listings, (*self.newest, entry))

    def __len__(self) -> int:
        return sum(listing.entries for listing in self.listings) + len(self.newest)


class Reader(Protocol):
    """Returns the entries of a listing. Raises CorruptManifest."""

    def __call__(self, listing: Listing, kind: type[Entry]) -> tuple[Entry, ...]: ...


def entries(
    stack: Stack[Entry], kind: type[Entry], reader: Reader, round_: int | None = None
) -> tuple[Entry, ...]:
    """The entries of a stack, oldest first; only those of `round_`, if it is given."""
    listed = [
        reader(listing, kind)
        for listing in stack.listings
        if round_ is None or listing.rounds[0] <= round_ <= listing.rounds[1]
    ]
    found = chain(*listed, stack.newest)
    return tuple(entry for entry in found if round_ is None or entry.round == round_)


class Totals(msgspec.Struct, frozen=True):
    """The size of a dataset."""

    rows: int
    bytes: int
    layers: int
    files: int


@dataclass(frozen=True)
class Manifest:
    """The whole state of a crawl."""

    version: int
    crawl: str
    """A random name of the crawl, the same in all versions."""
    round: int = 0
    datasets: Mapping[str, Stack[Layer]] = field(default_factory=dict)
    reports: Stack[StepReport] = field(default_factory=Stack[StepReport])
    reader: Reader = field(repr=False, compare=False, kw_only=True)

    def layers(self, dataset: str, round_: int | None = None) -> tuple[Layer, ...]:
        """The layers of a dataset, oldest first; only those of `round_`, if it is given."""
        stack = self.datasets.get(dataset)
        return () if stack is None else entries(stack, Layer, self.reader, round_)

    @property
    def history(self) -> tuple[StepReport, ...]:
        """The reports of the last HISTORY_LENGTH steps, oldest first."""
        return entries(self.reports, StepReport, self.reader)[-HISTORY_LENGTH:]

    def steps_of(self, round_: int) -> frozenset[str]:
        """The steps of a round that were completed, as far back as the history goes."""
        reports = entries(self.reports, StepReport, self.reader, round_)
        return frozenset(report.step for report in reports)

    def totals(self, dataset: str) -> Totals:
        """The size of a dataset. Reads no listings."""
        stack = self.datasets[dataset]
        listed, newest = stack.listings, stack.newest
        return Totals(
            sum(part.rows for part in listed) + sum(layer.rows for layer in newest),
            _bytes(stack),
            len(stack),
            sum(part.files for part in listed) + sum(len(layer.files) for layer in newest),
        )

    @property
    def bytes(self) -> int:
        """The size of all datasets. Reads no listings."""
        return sum(map(_bytes, self.datasets.values()))

    def listings(self) -> Iterator[Listing]:
        for stack in self.datasets.values():
            yield from stack.listings
        yield from self.reports.listings

    def paths(self) -> frozenset[str]:
        """The paths of all files of all datasets. Reads every listing."""
        return frozenset(
            file.path
            for name in self.datasets
            for layer in self.layers(name)
            for file in layer.files
        )

    def names(self, path: str, round_: int | None = None) -> bool:
        """Whether a file belongs to this state: one of a dataset, or a listing.

        `round_`: that of its layer, probably, whose files are looked through first.
        """
        if any(path in listing.paths for listing in self.listings()):
            return True
        dataset = path.partition("/")[0]
        rounds = (None,) if round_ is None else (round_, None)
        return any(
            file.path == path
            for each in rounds
            for layer in self.layers(dataset, each)
            for file in layer.files
        )


def _bytes(stack: Stack[Layer]) -> int:
    listed = sum(listing.size for listing in stack.listings)
    return listed + sum(layer.bytes for layer in stack.newest)


class UnreadableManifest(Exception):
    """A manifest is damaged, or has another format: then `format` holds it, else None."""

    def __init__(self, what: str, format_: int | None = None) -> None:
        super().__init__(what)
        self.format = format_


def encode_manifest(manifest: Manifest) -> bytes:
    written = _Written(
        manifest.version,
        manifest.crawl,
        manifest.round,
        dict(manifest.datasets),
        manifest.reports,
        FORMAT,
    )
    body = msgspec.json.encode(written)[:-1]
    return b'%s,"xxh3":"%s"}' % (body, checksums.checksum_bytes(body).encode())


def decode_manifest(data: bytes, version: int, reader: Reader) -> Manifest:
    """Decode the manifest of this version. Raises UnreadableManifest."""
    end = _END.search(data)
    if end is not None and checksums.checksum_bytes(data[: end.start()]) != end[1].decode():
        raise UnreadableManifest("is damaged: its checksum does not match")
    try:
        found = msgspec.json.decode(data, type=_Format).format
        if found not in (FORMAT, OLD_FORMAT):
            readable = f"{OLD_FORMAT} and {FORMAT}"
            raise UnreadableManifest(
                f"has format {found}, but this Gossamer reads {readable}", found
            )
        if end is None:
            raise UnreadableManifest("is damaged: the checksum at its end is missing")
        manifest = _decode_manifest(data, reader, old=found == OLD_FORMAT)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UnreadableManifest(f"is damaged: {error}") from None
    if manifest.version != version:
        raise UnreadableManifest(f"is damaged: it contains version {manifest.version}")
    return manifest


def _decode_manifest(data: bytes, reader: Reader, *, old: bool) -> Manifest:
    if old:
        before = msgspec.json.decode(data, type=_Old)
        datasets = {
            name: Stack(newest=tuple(map(_with_version, layers)))
            for name, layers in before.datasets.items()
        }
        reports = Stack(newest=before.history)
        return Manifest(
            before.version, before.crawl, before.round, datasets, reports, reader=reader
        )
    read = msgspec.json.decode(data, type=_Written)
    stacks = read.datasets, read.history
    return Manifest(read.version, read.crawl, read.round, *stacks, reader=reader)


def _with_version(layer: Layer) -> Layer:
    """A layer of an older Gossamer with versions: its round, which is not above the right one."""
    if layer.version:
        return layer
    return msgspec.structs.replace(layer, version=layer.round, since=layer.round)


class _Format(msgspec.Struct):
    format: int


class _Written(msgspec.Struct):
    version: int
    crawl: str
    round: int
    datasets: dict[str, Stack[Layer]]
    history: Stack[StepReport]
    format: Literal[3]


class _Old(msgspec.Struct):
    """A manifest of OLD_FORMAT."""

    version: int
    crawl: str
    round: int
    datasets: dict[str, tuple[Layer, ...]]
    history: tuple[StepReport, ...]


_END = re.compile(rb',"xxh3":"([0-9a-f]{16})"\}\Z')
