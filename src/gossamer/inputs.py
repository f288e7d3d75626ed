"""Which inputs of a step are new since its last run? Files that it has not recorded as read.

Steps that follow changes keep a dataset of the files that they have read (`judged`, `counted`), and
of the settings that they used. Rounds alone would not tell: some pages are parsed in a later round
than the one that fetched them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from gossamer.store import Layer
from gossamer.task_output import ParquetWriter, layers_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gossamer.tables import Dataset
    from gossamer.workspace import Workspace

SETTINGS = "settings"


class Inputs(NamedTuple):
    """What a step has not read yet."""

    anew: bool
    """Whether nothing is known: the first time, with other settings, and after `reparse`."""
    layers: Mapping[str, tuple[Layer, ...]]
    """By dataset, the layers with new files, and only these files."""

    def paths(self, work: Workspace, dataset: Dataset) -> list[str]:
        """Absolute paths of the new files of a dataset."""
        return [
            f"{work.root}/{file.path}"
            for layer in self.layers[dataset.name]
            for file in layer.files
        ]


def since(
    work: Workspace,
    record: Dataset,
    tables: Sequence[Dataset],
    settings: str = "",
    *,
    anew: bool = False,
) -> Inputs:
    """What was written since the step recorded its inputs, or everything.

    A layer of a dataset whose newest rows win is new as a whole. Other datasets only grow, unless
    all of their rows were made again. Raises MissingFile if a file of `tables` is damaged.
    """
    present = {table.name: {file.path for file in work.store.files(table.name)} for table in tables}
    stacks = {name: work.store.manifest.layers(name) for name in present}
    if not (anew or work.store.damaged(record.name)):
        read = {tuple(row) for row in work.read(record.name).collect()}
        growing = [table.name for table in tables if not table.newest_wins]
        gone = any(kind in growing and path not in present[kind] for kind, path in read)
        if (SETTINGS, settings) in read and not gone:
            new = {name: _unread(name, stack, read) for name, stack in stacks.items()}
            return Inputs(anew=False, layers=new)
    return Inputs(anew=True, layers=stacks)


def _unread(dataset: str, stack: Sequence[Layer], read: set[tuple[str, str]]) -> tuple[Layer, ...]:
    files = (
        Layer(layer.round, tuple(file for file in layer.files if (dataset, file.path) not in read))
        for layer in stack
    )
    return tuple(layer for layer in files if layer.files)


def write(
    work: Workspace, record: Dataset, tables: Sequence[Dataset], settings: str = ""
) -> tuple[Layer, ...]:
    """Write the rows of the record: everything that there is now has been read."""
    rows = [(SETTINGS, settings)]
    for table in tables:
        rows += [(table.name, file.path) for file in work.store.listed(table.name)]
    writer = ParquetWriter(work.root, record.name, work.store.attempt(record.name))
    columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
    writer.write(pa.table(columns, schema=record.schema))
    return (layers_of(writer.close(), work.round)[record.name],)
