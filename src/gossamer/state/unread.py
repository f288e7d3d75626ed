"""Which inputs of a step are new since its last run? Layers with rows that were committed since.

Steps that follow changes keep a dataset that records the version of the crawl that they have read,
and the settings that they used (`judged`, `counted`). Rounds alone would not tell: some pages are
parsed in a later round than the one that fetched them. Files would not tell either: layers that all
steps have read are merged (`compaction/`), and their rows are not new for that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from gossamer.storage import parquet
from gossamer.storage.task_output import ParquetWriter, layers_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Layer
    from gossamer.tables import Dataset

SETTINGS, VERSION = "settings", "version"


class Inputs(NamedTuple):
    """What a step has not read yet."""

    anew: bool
    """Whether nothing is known: the first time, with other settings, and after `reparse`."""
    layers: Mapping[str, tuple[Layer, ...]]
    """By dataset, the layers with new rows."""

    def paths(self, work: Workspace, dataset: Dataset) -> list[str]:
        """Absolute paths of the new files of a dataset."""
        return [
            f"{work.root}/{file.path}"
            for layer in self.layers[dataset.name]
            for file in layer.files
        ]


def unread_inputs(
    work: Workspace,
    record: Dataset,
    tables: Sequence[Dataset],
    settings: str = "",
    *,
    anew: bool,
) -> Inputs:
    """What was written since the step recorded its inputs, or everything.

    A layer of a dataset whose newest rows win is new as a whole. Other datasets only grow, unless
    all of their rows were made again. Raises MissingFile if a file of `tables` is damaged.
    """
    stacks = {table.name: work.store.manifest.layers(table.name) for table in tables}
    for name in stacks:
        work.store.files(name)  # checks them
    if not (anew or work.store.damaged(record.name)):
        known = _read_record(work, record)
        if _expected_record(work, tables, settings) <= known.items():
            read = int(known[VERSION])
            return Inputs(anew=False, layers={name: newer(of, read) for name, of in stacks.items()})
    return Inputs(anew=True, layers=stacks)


def newer(layers: Iterable[Layer], version: int) -> tuple[Layer, ...]:
    """The layers with rows that were committed after a version."""
    return tuple(layer for layer in layers if layer.version > version)


def oldest_unread(layers: Iterable[Layer]) -> int:
    """The version that committed the oldest rows of a dataset that only grows; 0 if it has none.

    It changes only if all rows were made again.
    """
    return min((layer.since for layer in layers), default=0)


def read_until(work: Workspace, record: Dataset) -> int | None:
    """The version that a step has read; None if it has read nothing, or if nothing says so."""
    if work.store.damaged(record.name):
        return None
    version = _read_record(work, record).get(VERSION)
    return None if version is None else int(version)


def write_record(
    work: Workspace, record: Dataset, tables: Sequence[Dataset], settings: str = ""
) -> tuple[Layer, ...]:
    """Write the rows of the record: everything that there is now has been read."""
    rows = [
        (VERSION, str(work.store.manifest.version)),
        *sorted(_expected_record(work, tables, settings)),
    ]
    writer = ParquetWriter(work.root, record.name, work.store.attempt(record.name))
    columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
    writer.write(pa.table(columns, schema=record.schema))
    return (layers_of(writer.close(), work.round)[record.name],)


def _read_record(work: Workspace, record: Dataset) -> dict[str, str]:
    tables = [parquet.read_table(path) for path in work.paths(record.name)]
    return {row["kind"]: row["name"] for table in tables for row in table.to_pylist()}


def _expected_record(
    work: Workspace, tables: Sequence[Dataset], settings: str
) -> set[tuple[str, str]]:
    """What must not have changed: the settings, and the oldest rows of datasets that only grow."""
    stacks = work.store.manifest.layers
    growing = (table.name for table in tables if not table.newest_wins)
    return {(SETTINGS, settings), *((name, str(oldest_unread(stacks(name)))) for name in growing)}
