"""An open crawl: its settings, store and engine, and how steps read and write datasets.

A step is a function `run(work: Workspace) -> StepReport`: it reads datasets, writes files, and
ends in one `commit`. Folder layout: docs/formats.md.
"""

from __future__ import annotations

import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa
from msgspec import structs

from gossamer.errors import UsageError
from gossamer.state.settings_file import read_settings
from gossamer.storage import copies, files
from gossamer.storage.backends import LocalBackend, open_backend
from gossamer.storage.names import CONFIG_NAME, SCRATCH
from gossamer.storage.objects.bucket import is_object_url, variables_of_engine
from gossamer.storage.places import new_scratch, placed
from gossamer.storage.store import File, Layer, StepReport, Store
from gossamer.tables import DATASETS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from typing import Self

    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from gossamer.config import Config
    from gossamer.engine.engine import Engine
    from gossamer.engine.pool import PartitionFunction
    from gossamer.rules.filter_rules.rule_files import RuleFiles
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


@dataclass
class Workspace:
    """An open crawl folder. The engine starts when `engine` is first used."""

    store: Store
    config: Config
    clock_ms: int | None = None
    """The time that steps use as the current one, set by tests and replays; None: the real time."""
    is_endless: bool = False
    """Whether rounds follow each other without end. In others, a feed would be due again and again,
    so pages with a rhythm are due after polling.UNHURRIED_S at the earliest."""
    rule_files: RuleFiles | None = None
    """In a crawl without end, what its files of filter rules had when they could last be used."""
    prepare: Callable[[], None] | None = None
    """What a worker of the engine does when it starts: see `pool.Pool`."""
    _engine: Engine | None = field(default=None, repr=False)
    _scratch: list[str] = field(default_factory=list, repr=False)

    @classmethod
    def open(cls, path: str, engine: Engine | None = None) -> Self:
        """Open an existing crawl. Raises NotACrawl, ConfigError, CorruptManifest."""
        store = Store.open(open_backend(path))
        return cls(store, read_settings(store.url), _engine=engine)

    @cached_property
    def root(self) -> str:
        return self.store.url

    @property
    def engine(self) -> Engine:
        if self._engine is None:
            from gossamer.engine.engine import Engine

            if is_object_url(self.root):
                _check_engine(self.root, self.config.engine.url)
                os.environ.update(variables_of_engine(os.environ))
            self._engine = Engine(self.config.engine, self.prepare)
        return self._engine

    @property
    def _is_embedded(self) -> bool:
        """Whether the engine is the embedded one. Does not start it."""
        engine = self._engine
        return self.config.engine.url == "local" if engine is None else engine.is_local

    @property
    def round(self) -> int:
        return self.store.manifest.round

    @property
    def settings_changed_ms(self) -> int:
        """When gossamer.toml was last written; 0 if it does not exist."""
        try:
            return files.modified_ms(f"{self.root}/{CONFIG_NAME}")
        except OSError:
            return 0

    def now_ms(self) -> int:
        return int(time.time() * 1000) if self.clock_ms is None else self.clock_ms

    def close(self) -> None:
        self.sweep()
        if self._engine is not None:
            self._engine.stop()
            self._engine = None

    def paths(self, dataset: str, round_: int | None = None) -> list[str]:
        """Absolute paths of a dataset's files. Raises MissingFile."""
        return [f"{self.root}/{file.path}" for file in self.store.files(dataset, round_)]

    def read(self, dataset: str, round_: int | None = None) -> DataFrame:
        """All rows of all layers of a dataset, or those of one round."""
        return self.engine.read(self.paths(dataset, round_), DATASETS[dataset].ddl)

    def write(self, df: DataFrame, dataset: str, round_: int) -> Layer:
        """Write rows as a layer to be committed. They need the dataset's columns, in any order."""
        rows = df.select(*DATASETS[dataset].column_names)
        return Layer(round_, self._write(rows, dataset))

    def scratch(self, df: DataFrame, ddl: str | None = None) -> tuple[DataFrame, int]:
        """Materialise rows that a step uses more than once; return them and their number.

        Not every engine can cache (Sail cannot), so the rows are written to scratch files. `ddl`:
        their columns. Without it, the engine has to plan the query again if no rows are used.
        """
        files = self.scratch_files(df)
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

        files = self.scratch_files(df)
        paths = [f"{self.root}/{file.path}" for file in files]
        if adds:
            ddl = f"{_ddl(paths[0]) if paths else _ddl_of(df.schema)}, {ddl}"
        if sum(file.rows for file in files) > FEW:
            rows = self.engine.read(paths, _ddl(paths[0]))
            return self.scratch(self.engine.map_partitions(rows, fn, ddl))
        batches = [
            each for path in paths for each in fn(iter(parquet.read_table(path).to_batches()))
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

    def scratch_files(self, df: DataFrame, by: Sequence[str] = ()) -> tuple[File, ...]:
        """Write rows to Parquet files that are deleted at the end of the step, or by `close`.

        Each column in `by` partitions the rows into folders named `<column>=<value>`.
        """
        return self._write(df, "scratch", by)

    def scratch_attempt(self) -> str:
        """Return a folder for files of tasks, which is deleted like those of `scratch_files`."""
        is_here = is_object_url(self.root) and self._is_embedded
        attempt = f"{SCRATCH}/{new_scratch()}" if is_here else self.store.attempt(SCRATCH)
        self._scratch.append(attempt)
        return attempt

    def _write(self, df: DataFrame, dataset: str, by: Sequence[str] = ()) -> tuple[File, ...]:
        from gossamer.engine.engine import engine_errors
        from gossamer.storage import parquet

        is_kept = dataset != SCRATCH
        uploads = is_kept and is_object_url(self.root) and self._is_embedded
        attempt = self.store.attempt(dataset) if is_kept and not uploads else self.scratch_attempt()
        with engine_errors(placed(f"{self.root}/{attempt}")):
            rows = df.write.partitionBy(*by).option("compression", "zstd")
            if (kind := DATASETS.get(dataset)) is not None:
                rows = rows.options(**_sizes(kind))
            rows.parquet(self.engine.target(f"{self.root}/{attempt}"))
        listed = [each for each in sorted(self._listed(attempt)) if each[0].endswith(".parquet")]
        footers = parquet.footers([f"{self.root}/{path}" for path, _ in listed])
        files = (
            File(path, footer.num_rows, size)
            for (path, size), footer in zip(listed, footers, strict=True)
        )
        found = tuple(file for file in files if file.rows)
        if not is_kept:
            return found
        if uploads:
            return self._uploaded(found, self.store.attempt(dataset))
        return self._checked(found)

    def _checked(self, files: Sequence[File]) -> tuple[File, ...]:
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

    def _uploaded(self, files: Sequence[File], attempt: str) -> tuple[File, ...]:
        """Files of scratch as those of an attempt on object storage."""
        made = []
        for file in files:
            here = Path(placed(f"{self.root}/{file.path}"))
            size, xxh3 = copies.keep(here, self.root, attempt)
            made.append(File(f"{attempt}/{here.name}", file.rows, size, xxh3))
        return tuple(made)

    @contextmanager
    def branch(self, without: Collection[str] = ()) -> Iterator[Workspace]:
        """A workspace for steps that run beside those of this one, in another thread.

        See `Store.branch`. They use the same engine, and the settings of now.
        """
        with self.store.branch(without) as store:
            beside = replace(self, store=store, _engine=self.engine, _scratch=[])
            try:
                yield beside
            finally:
                beside.sweep()

    def sweep(self) -> None:
        """Delete the scratch files, as the end of a step does."""
        while self._scratch:
            attempt = self._scratch.pop()
            url = f"{self.root}/{attempt}"
            if (here := placed(url)) != url:
                shutil.rmtree(here, ignore_errors=True)
            else:
                self.store.backend.delete([path for path, _ in self._listed(attempt)])

    def _listed(self, attempt: str) -> Iterator[tuple[str, int]]:
        """The files of an attempt, with their sizes."""
        url = f"{self.root}/{attempt}"
        if (here := placed(url)) == url:
            yield from self.store.backend.sizes(attempt)
            return
        for path, size in LocalBackend(here).sizes(""):
            yield f"{attempt}/{path}", size

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn errors of the engine, Arrow and the operating system into GossamerErrors."""
        from gossamer.engine.engine import engine_errors
        from gossamer.storage.damage import damage_errors

        with damage_errors(self.root, self._parquet_files), engine_errors(self.root):
            yield

    def _parquet_files(self) -> Iterator[str]:
        for path in sorted(self.store.manifest.paths()):
            if path.endswith(".parquet"):
                yield f"{self.root}/{path}"

    @contextmanager
    def step(self, name: str, round_: int) -> Iterator[Draft]:
        """Time a step, and commit its draft as one version when the block ends.

        Errors of the engine in the block are raised as GossamerErrors.
        """
        draft = Draft()
        started_ms, started = int(time.time() * 1000), time.monotonic()
        with self.errors():
            yield draft
        if self._engine is not None and is_object_url(self.root):
            self._engine.check_copies(started)
        for unknown in self.store.unknown:
            if DATASETS[unknown].writer == name:
                draft.replace.setdefault(unknown, ())
        done = StepReport(
            name, round_, started_ms, round(time.monotonic() - started, 3), dict(draft.counts)
        )
        draft.done = self.store.commit(done, append=draft.append, replace=draft.replace)
        self.sweep()


def _checksum(root: str, path: str) -> Iterator[dict[str, str]]:
    yield {"path": path, "xxh3": open_backend(root).checksum(path)}


def _check_engine(crawl: str, url: str) -> None:
    """Raise UsageError for a cluster whose tables would be at gs:// or az://."""
    if url != "local" and not crawl.startswith("s3://"):
        what = f"engine.url = {url!r} only works with s3:// among object stores"
        raise UsageError(crawl, what, 'use the embedded engine: engine.url = "local"')


def _sizes(dataset: Dataset) -> dict[str, str]:
    """Options for row groups and pages of a dataset: Spark's, and the embedded engine's."""
    options: dict[str, str] = {}
    if dataset.group_rows is not None:
        rows = str(dataset.group_rows)
        options |= {"parquet.block.row.count.limit": rows, "max_row_group_size": rows}
    if dataset.page_rows is not None:
        rows = str(dataset.page_rows)
        options |= {
            "compression": "uncompressed",
            "parquet.enable.dictionary": "false",
            "dictionary_enabled": "false",
            "parquet.page.row.count.limit": rows,
            "data_page_row_count_limit": rows,
            "write_batch_size": rows,  # after each, the embedded engine looks at the page's size
        }
    return options


def _ddl(path: str) -> str:
    """The columns of a Parquet file.

    The engine would plan the whole query again to tell them, which takes it 2 to 15 ms.
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    from gossamer.storage import parquet

    (footer,) = parquet.footers([path])
    return _ddl_of(from_arrow_schema(footer.schema.to_arrow_schema()))


def _ddl_of(schema: StructType) -> str:
    return ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in schema)


@dataclass
class Draft:
    """The layers and counts that a step is going to commit."""

    append: dict[str, Layer] = field(default_factory=dict)
    replace: dict[str, tuple[Layer, ...]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    done: StepReport = field(init=False)
    """The report, set when the step is committed."""
