"""Rows that name bodies in copied files get their new places; their order stays as it is."""

from __future__ import annotations

from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import structs

from gossamer.storage import parquet
from gossamer.storage.task_output import YIELD, YIELD_DDL, ParquetWriter, Row, layers_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Layer
    from gossamer.tables import Dataset

    Task = tuple[int, str]

OFFSET_BITS = 40
"""An offset in a file has fewer: a terabyte."""


def update_places(
    work: Workspace, dataset: Dataset, moves: Sequence[str], since: int = 0
) -> dict[str, tuple[Layer, ...]]:
    """The layers of a dataset with warc_file and warc_offset, if any of its rows changes.

    `moves`: files of `archive_copying.MOVED`. `since`: the version that committed the oldest of the
    moved exchanges; layers without newer rows cannot name them.
    """
    if not moves:
        return {}
    layers = work.store.manifest.layers(dataset.name)
    files = [file for layer in layers if layer.version >= since for file in layer.files]
    work.store.check(files)
    attempt = work.store.attempt(dataset.name)
    run = partial(rewrite, work.root, dataset, attempt, moves)
    tasks = [(number, file.path) for number, file in enumerate(files)]
    rows = work.engine.map_tasks(tasks, run, YIELD, YIELD_DDL)
    made = layers_of(rows, 0).get(dataset.name)
    if made is None:
        return {}
    new = {files[_number(file.path)]: file for file in made.files}
    return {
        dataset.name: tuple(
            structs.replace(layer, files=tuple(new.get(file, file) for file in layer.files))
            for layer in layers
        )
    }


def _number(path: str) -> int:
    """The number of the file that was rewritten to this one."""
    return int(PurePosixPath(path).name.partition("-")[0])


def rewrite(
    root: str, dataset: Dataset, attempt: str, moves: Sequence[str], task: Task
) -> list[Row]:
    """Write a file again, group by group, if some of its rows change."""
    number, path = task
    with parquet.open_parquet(f"{root}/{path}") as file:
        groups = range(file.num_row_groups)
        columns = (file.read_row_group(group, ["warc_file"])["warc_file"] for group in groups)
        named = {name for each in columns for name in each.unique().to_pylist()} - {None}
        if not named:
            return []
        only = [("file", "in", list(named))]
        places = NewPlaces(parquet.read_table([f"{root}/{each}" for each in moves], filters=only))
        if not places:
            return []
        order = file.metadata.row_group(0).sorting_columns
        writer = ParquetWriter(
            root, dataset.name, attempt, name=f"{number:04}-", encoding={"sorting_columns": order}
        )
        for group in groups:
            writer.write(places.update_rows(file.read_row_group(group, dataset.schema.names)))
    return writer.close()


class NewPlaces:
    """Where records are now, by where they were: 24 bytes for each run of records."""

    def __init__(self, moves: pa.Table) -> None:
        self._files = moves["file"].unique()
        self._new_files = moves["new_file"].unique()
        old = self._keys(moves["file"], moves["offset"])
        codes = pc.index_in(moves["new_file"], self._new_files).to_numpy()
        order = np.argsort(old)
        self._old = old[order]
        self._ends = self._old + moves["length"].to_numpy()[order]
        self._new = (codes.astype(np.int64) << OFFSET_BITS | moves["new_offset"].to_numpy())[order]

    def __bool__(self) -> bool:
        return self._old.size > 0

    def _keys(self, files: pa.ChunkedArray, offsets: pa.ChunkedArray) -> NDArray[np.int64]:
        """A file and an offset as one number; negative for files that were not copied."""
        codes = pc.fill_null(pc.index_in(files, self._files), -1).to_numpy().astype(np.int64)
        found: NDArray[np.int64] = codes << OFFSET_BITS | pc.fill_null(offsets, 0).to_numpy()
        return found

    def update_rows(self, rows: pa.Table) -> pa.Table:
        """The rows with the places of their bodies as they are now."""
        keys = self._keys(rows["warc_file"], rows["warc_offset"])
        at = (np.searchsorted(self._old, keys, side="right") - 1).clip(min=0)
        within = keys - self._old[at]
        is_moved = pa.array((within >= 0) & (keys < self._ends[at]))
        files = self._new_files.take(pa.array(self._new[at] >> OFFSET_BITS))
        offsets = pa.array((self._new[at] & (1 << OFFSET_BITS) - 1) + within)
        for name, new in (("warc_file", files), ("warc_offset", offsets)):
            number = rows.schema.get_field_index(name)
            changed = pc.if_else(is_moved, new, rows[name])
            rows = rows.set_column(number, rows.schema.field(number), changed)
        return rows
