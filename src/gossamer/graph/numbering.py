"""Pages get numbers, and links between names become arcs between numbers.

All of it is done by the engine and by tasks that hold one part at a time: names are shared among
parts by ranges of names, and arcs by ranges of numbers, so that the parts are in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import functions as F

from gossamer import sorted_parts, task_output
from gossamer.graph import names
from gossamer.task_output import ParquetWriter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import Column, DataFrame

    from gossamer.store import File
    from gossamer.workspace import Workspace

MEGABYTE = 1_000_000
NAME_BYTES = 1_000
"""Memory that a task takes per name: 613 bytes in bench/graph_memory.py, whose URLs have 71; longer
ones take more."""
SAMPLES_PER_PART = 100
NUMBERED = pa.schema([("url", pa.string()), ("id", pa.int64())])
NUMBERED_DDL = "url string, id long"


@dataclass(frozen=True)
class Share:
    """A task: number the names of a part. `first`: the number of its first name."""

    root: str
    part: int
    files: tuple[str, ...]
    first: int
    attempt: str
    scratch: str


@dataclass(frozen=True)
class Nodes:
    """The pages of a graph: their number, the files of their names, and rows `url` and `id`."""

    count: int
    files: tuple[File, ...]
    rows: DataFrame


def numbered(work: Workspace, found: DataFrame, attempt: str) -> Nodes:
    """Number pages (a column `url`, each once) in the order of their names."""
    rows, count = work.scratch(found.withColumn("name", names.name_column(F.col("url"))))
    parts = -(-count * NAME_BYTES // (work.config.graph.memory_mb * MEGABYTE))
    dealt = rows.withColumn("part", part_of(F.col("name"), _bounds(rows, count, parts)))
    shares = sorted_parts.parts(
        work.scratch_files(dealt.repartition(max(parts, 1), "part"), by=["part"])
    )
    sizes = [sum(file.rows for file in files) for files in shares.values()]
    scratch = work.scratch_attempt()
    tasks = [
        Share(work.root, part, tuple(file.path for file in files), first, attempt, scratch)
        for (part, files), first in zip(shares.items(), accumulate(sizes, initial=0), strict=False)
    ]
    made = work.engine.map_tasks(tasks, number, task_output.YIELD, task_output.YIELD_DDL)
    layers = task_output.layers_of(made, work.round)
    ids = [f"{work.root}/{file.path}" for file in layers["scratch"].files] if tasks else []
    return Nodes(
        count,
        layers["graph"].files if tasks else (),
        work.engine.read(ids, NUMBERED_DDL),
    )


def number(task: Share) -> Iterator[task_output.Row]:
    """Sort the names of a part, and write them for readers, and with their numbers for joins."""
    tables = [pq.read_table(f"{task.root}/{path}", columns=["name", "url"]) for path in task.files]
    table = pa.concat_tables(tables).sort_by("name")
    listed = names.Writer(task.root, task.attempt, "page", task.part)
    listed.write(table.select(["name"]))
    yield from listed.close()
    ids = ParquetWriter(task.root, "scratch", task.scratch, schema=NUMBERED)
    numbers = pa.array(np.arange(task.first, task.first + table.num_rows))
    ids.write(table.append_column("id", numbers))
    yield from ids.close()


def part_of(value: Column, bounds: Sequence[Any]) -> Column:
    """The number of the part of a value: how many bounds it reaches."""
    return reduce(add, ((value >= F.lit(bound)).cast("int") for bound in bounds), F.lit(0))


def _bounds(rows: DataFrame, count: int, parts: int) -> list[str]:
    """The names that divide the parts, by a sample of the names."""
    if parts < 2:  # noqa: PLR2004
        return []
    rate = max(count // (parts * SAMPLES_PER_PART), 1)
    some = rows.where(F.pmod(F.xxhash64("name"), F.lit(rate)) == 0).select("name").collect()
    sample = sorted(row["name"].encode() for row in some)
    return [sample[len(sample) * part // parts].decode() for part in range(1, parts)]
