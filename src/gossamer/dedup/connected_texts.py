"""Which texts are connected to some by similar pairs? A breadth-first search in one task.

In each step, the task reads all pairs, or goes through them again if they are FEW. It holds the
texts that it has reached. A query of the engine for each step would take longer than the reading: a
harvest reaches few texts, in few steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gossamer.dedup.hash_filter import HashFilter
from gossamer.storage import parquet, task_output
from gossamer.storage.names import SCRATCH
from gossamer.storage.task_output import ParquetWriter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt
    from pyspark.sql import DataFrame

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import File
    from gossamer.storage.task_output import Row

    Integers = npt.NDArray[np.int64]

TEXTS = pa.schema([("text", pa.int64())])
READ_PAIRS = 1 << 17
"""Pairs that are read at once."""
FEW = 4_000_000
"""Pairs that are held, in 64 MB, and not read in each step."""


def connected_texts(
    work: Workspace, pairs: Sequence[File], similarity: float, texts: Sequence[File]
) -> DataFrame:
    """The `text` of files, and of all that are connected to them; each once, materialised.

    `pairs` are files with rows of `similar`, which may repeat; those of this `similarity` count.
    """
    ends, begins = (tuple(file.path for file in files) for files in (pairs, texts))
    is_few = sum(file.rows for file in pairs) <= FEW
    task = SearchTask(work.root, ends, is_few, similarity, begins, work.scratch_attempt())
    written = work.engine.map_tasks(
        [task], search_texts, task_output.YIELD, task_output.YIELD_DDL, at_home=True
    )
    return work.engine.read([f"{work.root}/{row['path']}" for row in written], "text long")


class SearchTask(NamedTuple):
    """The input of a task: files of similar pairs, and of the texts from which it begins."""

    root: str
    pairs: tuple[str, ...]
    is_few: bool
    similarity: float
    texts: tuple[str, ...]
    attempt: str


def search_texts(task: SearchTask) -> list[Row]:
    """Write the texts that are reached."""
    begins = [parquet.read_table(f"{task.root}/{path}", columns=["text"]) for path in task.texts]
    found = np.unique(pa.concat_tables(begins).column("text").to_numpy() if begins else [])
    frontier = found
    held = list(_read_pairs(task)) if task.is_few else None
    while frontier.size:
        wanted = HashFilter(frontier)
        next_to = [
            there[wanted.places(here)]
            for one, other in (_read_pairs(task) if held is None else held)
            for here, there in ((one, other), (other, one))
        ]
        frontier = np.setdiff1d(np.concatenate(next_to) if next_to else frontier[:0], found)
        found = np.union1d(found, frontier)
    writer = ParquetWriter(task.root, SCRATCH, task.attempt, schema=TEXTS)
    writer.write(pa.table([found], schema=TEXTS))
    return writer.close()


def _read_pairs(task: SearchTask) -> Iterator[tuple[Integers, Integers]]:
    columns = ["one", "other", "similarity"]
    for path in task.pairs:
        with parquet.open_parquet(f"{task.root}/{path}") as file:
            for batch in file.iter_batches(READ_PAIRS, columns=columns, use_threads=False):
                similar = batch.filter(pc.greater_equal(batch.column(2), task.similarity))
                yield similar.column(0).to_numpy(), similar.column(1).to_numpy()
