"""The manifest: the whole state of a crawl at one version, and its JSON format.

The last member of the JSON object, `xxh3`, is the checksum of all bytes before the comma that
precedes it. docs/formats.md has an example.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from gossamer import checksums

FORMAT: Literal[2] = 2
HISTORY_LENGTH = 500
"""The number of step reports that a manifest keeps."""


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
    """The version that committed its newest rows. 0: it is not committed, or before format 3."""
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


class Manifest(msgspec.Struct, frozen=True):
    """The whole state of a crawl."""

    version: int
    crawl: str
    """A random name of the crawl, the same in all versions."""
    round: int = 0
    datasets: dict[str, tuple[Layer, ...]] = {}
    history: tuple[StepReport, ...] = ()
    format: Literal[2] = FORMAT

    def layers(self, dataset: str, round_: int | None = None) -> tuple[Layer, ...]:
        """The layers of a dataset, oldest first; only those of `round_`, if it is given."""
        return tuple(
            layer
            for layer in self.datasets.get(dataset, ())
            if round_ is None or layer.round == round_
        )

    def steps_of(self, round_: int) -> frozenset[str]:
        """The steps of a round that were completed, as far back as the history goes."""
        return frozenset(report.step for report in self.history if report.round == round_)

    @property
    def bytes(self) -> int:
        """The size of all datasets."""
        return sum(layer.bytes for layers in self.datasets.values() for layer in layers)

    def paths(self) -> frozenset[str]:
        return frozenset(
            file.path
            for layers in self.datasets.values()
            for layer in layers
            for file in layer.files
        )


class UnreadableManifest(Exception):
    """A manifest is damaged, or has another format: then `format` holds it, else None."""

    def __init__(self, what: str, format_: int | None = None) -> None:
        super().__init__(what)
        self.format = format_


def encode(manifest: Manifest) -> bytes:
    body = msgspec.json.encode(manifest)[:-1]
    return b'%s,"xxh3":"%s"}' % (body, checksums.of_bytes(body).encode())


def decode(data: bytes, version: int) -> Manifest:
    """Decode the manifest of this version. Raises UnreadableManifest."""
    end = _END.search(data)
    if end is not None and checksums.of_bytes(data[: end.start()]) != end[1].decode():
        raise UnreadableManifest("is damaged: its checksum does not match")
    try:
        found = msgspec.json.decode(data, type=_Format).format
        if found != FORMAT:
            raise UnreadableManifest(f"has format {found}, but this Gossamer reads {FORMAT}", found)
        if end is None:
            raise UnreadableManifest("is damaged: the checksum at its end is missing")
        manifest = _dated(msgspec.json.decode(data, type=Manifest))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UnreadableManifest(f"is damaged: {error}") from None
    if manifest.version != version:
        raise UnreadableManifest(f"is damaged: it contains version {manifest.version}")
    return manifest


def _dated(manifest: Manifest) -> Manifest:
    """A manifest whose layers all have versions.

    Those of an older Gossamer get their round, which is not above the version that committed them.
    """
    datasets = {
        name: tuple(
            layer
            if layer.version
            else msgspec.structs.replace(layer, version=layer.round, since=layer.round)
            for layer in layers
        )
        for name, layers in manifest.datasets.items()
    }
    return msgspec.structs.replace(manifest, datasets=datasets)


class _Format(msgspec.Struct):
    format: int


_END = re.compile(rb',"xxh3":"([0-9a-f]{16})"\}\Z')
