"""Datasets as DataFrames: how steps read and write the tables of a crawl, and scratch rows.

`Workspace` adds settings, a clock, and the frame in which a step commits.
"""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import count as count_up
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa
from msgspec import structs

from gossamer.storage import local_copies
from gossamer.storage.backends import open_backend
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.names import SCRATCH
from gossamer.storage.objects.bucket import is_object_url
from gossamer.storage.places import local_path, new_scratch
from gossamer.storage.store import File, Layer, Store
from gossamer.storage.task_output import ParquetWriter, layers_of
from gossamer.tables import DATASETS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from gossamer.engine.engine import Engine
    from gossamer.engine.pool import PartitionFunction
    from gossamer.engine.small.held import HeldTable
    from gossamer.tables import Dataset

One = TypeVar("One")
Other = TypeVar("Other")

FEW = 5_000
"""Rows that `map_rows` maps in this process, which takes up to 60 ms. A query that passes them to
worker processes takes as long without any."""

CHECKED_HERE_BYTES = 64 << 20
"""Checksums of so many bytes take less time here than tasks take to begin."""
CHECKSUMS = pa.schema([("path", pa.string()), ("xxh3", pa.string())])
CHECKSUMS_DDL = "path string, xxh3 string"
_numbers = count_up()


@dataclass
class Tables:
    """The datasets of a store, read and written by an engine.

    Scratch files are deleted by `sweep`, which ends each step.
    """

    store: Store
    _engine: Engine | None = field(default=None, repr=False, kw_only=True)
    _scratch: list[str] = field(default_factory=list, repr=False, kw_only=True)
    _held_folder: str = field(default="", repr=False, init=False)
    """Where the tables that are held in memory are written, should a server have to read them."""

    @cached_property
    def root(self) -> str:
        return self.store.url

    @property
    def engine(self) -> Engine:
        if self._engine is None:
            raise RuntimeError("these tables were opened without an engine")
        return self._engine

    @property
    def _is_embedded(self) -> bool:
        """Whether the engine is the embedded one."""
        return self.engine.is_local

    @property
    def round(self) -> int:
        return self.store.manifest.round

    def paths(self, dataset: str, round_: int | None = None) -> list[str]:
        """Absolute paths of a dataset's files. Raises MissingFile."""
        return [f"{self.root}/{file.path}" for file in self.store.files(dataset, round_)]

    def read(self, dataset: str, round_: int | None = None) -> DataFrame:
        """All rows of all layers of a dataset, or those of one round."""
        return self.engine.read(self.paths(dataset, round_), DATASETS[dataset].ddl)

    def write_table(self, dataset: Dataset, rows: pa.Table) -> dict[str, tuple[Layer, ...]]:
        """Write rows, as many as fit into memory, as the only layer of a dataset; none if empty."""
        if not rows.num_rows:
            return {dataset.name: ()}
        writer = ParquetWriter(self.root, dataset.name, self.store.attempt(dataset.name))
        writer.write(rows)
        return {dataset.name: (layers_of(writer.close(), self.round)[dataset.name],)}

    def write(self, df: DataFrame, dataset: str, round_: int) -> Layer:
        """Write rows as a layer to be committed. They need the dataset's columns, in any order."""
        rows = df.select(*DATASETS[dataset].column_names)
        return Layer(round_, self._write(rows, dataset))

    def scratch(self, df: DataFrame, ddl: str | None = None) -> tuple[DataFrame, int]:
        """Materialise rows that a step uses more than once; return them and their number.

        A few rows stay in memory. Not every engine can cache (Sail cannot), so others are written
        to scratch files. `ddl`: their columns. Without it, the engine has to plan the query again
        if no rows are used.
        """
        if (held := self._hold(df)) is not None:
            return self.engine.held_rows(held), held.rows
        files = self._write(df, SCRATCH, is_large=True)
        if not files:
            return self.engine.no_rows(df) if ddl is None else self.engine.read([], ddl), 0
        paths = [f"{self.root}/{file.path}" for file in files]
        return self.engine.read(paths, _ddl(paths[0])), sum(file.rows for file in files)

    def map_rows(
        self, df: DataFrame, fn: PartitionFunction, ddl: str, *, adds: bool = False
    ) -> tuple[DataFrame, int]:
        """Materialise what `fn` makes of rows (see `Engine.map_partitions`), as `scratch` does.

        Few rows are mapped here: at first, a crawl has only one worker. `adds`: the columns of
        `ddl` follow those of `df`.
        """
        from gossamer.storage import parquet

        held = self._hold(df)
        files = () if held else self._write(df, SCRATCH, is_large=True)
        paths = [f"{self.root}/{file.path}" for file in files]
        if adds:
            had = held.ddl if held else _ddl(paths[0]) if paths else _ddl_of(df.schema)
            ddl = f"{had}, {ddl}"
        if (held.rows if held else sum(file.rows for file in files)) > FEW:
            rows = self.engine.held_rows(held) if held else self.engine.read(paths, _ddl(paths[0]))
            return self.scratch(self.engine.map_partitions(rows, fn, ddl))
        tables = [held.table()] if held else map(parquet.read_table, paths)
        batches = [
            each for table in tables if table.num_rows for each in fn(iter(table.to_batches()))
        ]
        count = sum(batch.num_rows for batch in batches)
        if not count:
            return self.engine.read([], ddl), 0
        return self.engine.rows(pa.Table.from_batches(batches)), count

    def both(
        self, rows: int, one: Callable[[], One], other: Callable[[], Other], few: int = FEW
    ) -> tuple[One, Other]:
        """The results of two calls that read about so many rows, and do not depend on each other.

        A `few` rows leave cores idle while the engine plans a query, so both calls run at once.
        With many, they would compete for memory.
        """
        if rows > few:
            return one(), other()
        with ThreadPoolExecutor(1) as thread:
            meanwhile = thread.submit(other)
            return one(), meanwhile.result()

    def scratch_files(
        self, df: DataFrame, by: Sequence[str] = (), page_rows: int | None = None
    ) -> tuple[File, ...]:
        """Write rows to Parquet files that are deleted at the end of the step, or by `close`.

        Each column in `by` partitions the rows into folders named `<column>=<value>`. Readers
        hold a page of each column, so long texts have pages of `page_rows`.
        """
        return self._write(df, SCRATCH, by, page_rows)

    def scratch_parts(self, df: DataFrame, key: str, parts: int) -> list[DataFrame]:
        """Materialise rows in parts by a hash of a column, so that a step can do one after another.

        Parts without rows are left out.
        """
        from pyspark.sql import functions as F

        if parts <= 1:
            return [df]
        part = F.pmod(F.xxhash64(key), F.lit(parts)).alias("part")
        found: dict[str, list[str]] = {}
        for file in self.scratch_files(df.select("*", part), ["part"]):
            path = f"{self.root}/{file.path}"
            found.setdefault(PurePath(path).parent.name, []).append(path)
        return [self.engine.read(paths, _ddl(paths[0])) for _, paths in sorted(found.items())]

    def _hold(self, df: DataFrame) -> HeldTable | None:
        """The rows of a small query, which stand for a scratch file; None if it is not small."""
        from gossamer.engine.engine import engine_errors

        if not self._held_folder:
            self._held_folder = self.engine.target(f"{self.root}/{self.scratch_attempt()}")
        with engine_errors(self._held_folder):
            return self.engine.hold(df, f"{self._held_folder}/{next(_numbers)}.parquet")

    def scratch_attempt(self) -> str:
        """Return a folder for files of tasks, which is deleted like those of `scratch_files`."""
        is_remote = is_object_url(self.root) or not self.store.backend.is_writable
        is_here = is_remote and self._is_embedded
        attempt = f"{SCRATCH}/{new_scratch()}" if is_here else self.store.attempt(SCRATCH)
        self._scratch.append(attempt)
        return attempt

    def _write(
        self,
        df: DataFrame,
        dataset: str,
        by: Sequence[str] = (),
        page_rows: int | None = None,
        *,
        is_large: bool = False,
    ) -> tuple[File, ...]:
        """Write rows. `is_large`: `_hold` has found out that the query is not small."""
        from gossamer.engine.engine import engine_errors
        from gossamer.engine.small.client import LARGE
        from gossamer.storage import parquet

        is_kept = dataset != SCRATCH
        uploads = is_kept and is_object_url(self.root) and self._is_embedded
        attempt = self.store.attempt(dataset) if is_kept and not uploads else self.scratch_attempt()
        with engine_errors(local_path(f"{self.root}/{attempt}")):
            rows = df.write.partitionBy(*by).option("compression", "zstd")
            if page_rows is not None:
                rows = rows.options(**_pages(page_rows))
            if (kind := DATASETS.get(dataset)) is not None:
                rows = rows.options(**_sizes(kind))
            if is_large:
                rows = rows.option(LARGE, "yes")
            rows.parquet(self.engine.target(f"{self.root}/{attempt}"))
        listed = [
            each for each in sorted(self._attempt_files(attempt)) if each[0].endswith(".parquet")
        ]
        footers = parquet.read_footers([f"{self.root}/{path}" for path, _ in listed])
        files = (
            File(path, footer.num_rows, size)
            for (path, size), footer in zip(listed, footers, strict=True)
        )
        found = tuple(file for file in files if file.rows)
        if not is_kept:
            return found
        if uploads:
            return self._upload(found, self.store.attempt(dataset))
        return self._add_checksums(found)

    def _add_checksums(self, files: Sequence[File]) -> tuple[File, ...]:
        """Files with their checksums, which the engine does not report: each file is read again.

        Those of a cluster are on other machines, or even objects. So tasks read them, if it is
        much.
        """
        paths = [file.path for file in files]
        if self._is_embedded or sum(file.bytes for file in files) < CHECKED_HERE_BYTES:
            found = {path: self.store.backend.checksum(path) for path in paths}
        else:
            check = partial(_checksum, self.root)
            rows = self.engine.map_tasks(paths, check, CHECKSUMS, CHECKSUMS_DDL)
            found = {row["path"]: row["xxh3"] for row in rows}
        return tuple(structs.replace(file, xxh3=found[file.path]) for file in files)

    def _upload(self, files: Sequence[File], attempt: str) -> tuple[File, ...]:
        """Files of scratch as those of an attempt on object storage."""
        made = []
        for file in files:
            here = Path(local_path(f"{self.root}/{file.path}"))
            size, xxh3 = local_copies.keep_copy(here, self.root, attempt)
            made.append(File(f"{attempt}/{here.name}", file.rows, size, xxh3))
        return tuple(made)

    def sweep(self) -> None:
        """Delete the scratch files, as the end of a step does."""
        self._held_folder = ""
        while self._scratch:
            attempt = self._scratch.pop()
            url = f"{self.root}/{attempt}"
            if (here := local_path(url)) != url:
                shutil.rmtree(here, ignore_errors=True)
            else:
                self.store.backend.delete([path for path, _ in self._attempt_files(attempt)])

    def _attempt_files(self, attempt: str) -> Iterator[tuple[str, int]]:
        """The files of an attempt, with their sizes."""
        url = f"{self.root}/{attempt}"
        if (here := local_path(url)) == url:
            yield from self.store.backend.sizes(attempt)
            return
        for path, size in LocalBackend(here).sizes(""):
            yield f"{attempt}/{path}", size


def _checksum(root: str, path: str) -> Iterator[dict[str, str]]:
    yield {"path": path, "xxh3": open_backend(root).checksum(path)}


def _sizes(dataset: Dataset) -> dict[str, str]:
    """Options for row groups and pages of a dataset: Spark's, and the embedded engine's."""
    options: dict[str, str] = {}
    if dataset.group_rows is not None:
        rows = str(dataset.group_rows)
        options |= {"parquet.block.row.count.limit": rows, "max_row_group_size": rows}
    if dataset.page_rows is not None:
        options |= {"compression": "uncompressed", **_pages(dataset.page_rows)}
    return options


def _pages(rows: int) -> dict[str, str]:
    """Options for pages of so many rows, and no dictionaries."""
    return {
        "parquet.enable.dictionary": "false",
        "dictionary_enabled": "false",
        "parquet.page.row.count.limit": str(rows),
        "data_page_row_count_limit": str(rows),
        "write_batch_size": str(rows),  # after each, the embedded engine looks at the page's size
    }


def _ddl(path: str) -> str:
    """The columns of a Parquet file.

    The engine would plan the whole query again to tell them, which takes it 2 to 15 ms.
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    from gossamer.storage import parquet

    (footer,) = parquet.read_footers([path])
    return _ddl_of(from_arrow_schema(footer.schema.to_arrow_schema()))


def _ddl_of(schema: StructType) -> str:
    return ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in schema)
