"""The batch engine: Spark's DataFrame API over Spark Connect, on one of two engines.

`local` runs them inside this process, with Sail; `sc://host:port` reaches Apache Spark (or Sail) on
a cluster. Steps use a Spark session, `map_partitions` and `map_tasks`, which are the same on both.

Facts (Sail 0.7): Python functions run in threads of the engine's own process, under one GIL, so
CPU-bound Python gains nothing from more partitions. Therefore `map_partitions` passes Arrow
batches to a pool of processes there. On Spark, whose executors are processes already, it is plain
`mapInArrow`. `spark.range(0, n, 1, n)` has one row per partition on both.

Both run small queries over Arrow's tables in this process (small/client.py). A cluster runs the
others, and all tasks; the embedded engine starts Sail for the first other one (sail.py).
"""

from __future__ import annotations

import atexit
import os
import re
import time
import traceback
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pyarrow as pa

from gossamer import errors
from gossamer.engine.allocators import trim_heap
from gossamer.engine.pool import Pool
from gossamer.engine.priorities import call_at_low_priority
from gossamer.engine.sail import Sail
from gossamer.engine.small import limits
from gossamer.engine.small.client import SETTINGS_OF_SAIL, SmallQueries, open_session
from gossamer.engine.small.mapping import run_beside_each_other
from gossamer.engine.spark_client import ClusterClient, connect_spark
from gossamer.engine.tasks import run_tasks, run_with_umask
from gossamer.engine.worker_start import end_unused
from gossamer.errors import EngineError, GossamerError, StoreError
from gossamer.storage.errors import disk_full, system_error
from gossamer.storage.file_modes import current_umask
from gossamer.storage.local_copies import near_all
from gossamer.storage.objects.errors import translate_error
from gossamer.storage.opening import exists
from gossamer.storage.places import local_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Self

    from pyspark.sql import DataFrame
    from pyspark.sql.connect.client import SparkConnectClient
    from pyspark.sql.connect.proto import Relation
    from pyspark.sql.types import StructType

    from gossamer.config import EngineConfig
    from gossamer.engine.pool import PartitionFunction
    from gossamer.engine.small.held import HeldTable

Task = TypeVar("Task")

KNOWN_S = 86_400.0
"""Older reads of copies are forgotten, as no step takes so long."""


class Engine:
    """One Spark Connect session, and a pool of worker processes if the engine is local.

    The first workers start beside the engine if they have something to `prepare` (see `Pool`). One
    that `is_frugal` is for few rows (see `Sail`). An
    engine lives until it is stopped, at the latest when Python exits: DataFrames need it, even if
    nothing else refers to it.
    """

    def __init__(
        self,
        config: EngineConfig,
        prepare: Callable[[], None] | None = None,
        *,
        is_frugal: bool = False,
    ) -> None:
        self.workers = config.workers or os.cpu_count() or 1
        self._pool: Pool | None = None
        with ExitStack() as started:
            if config.url == "local":
                self._pool = started.enter_context(closing(Pool(self.workers, prepare)))
                sail = Sail(config, self.workers, is_frugal=is_frugal)
                started.callback(sail.stop)
                self.spark = open_session(sail, SETTINGS_OF_SAIL, limits.BESIDE_SAIL)
                started.callback(self.spark.stop)
            else:
                end_unused(prepare)
                self._cluster = connect_spark(config.url, embedded=False)
                started.callback(self._cluster.stop)
                self.spark = open_session(ClusterClient(self._cluster), {}, limits.BESIDE_SPARK)
                started.callback(self.spark.stop)
            self._started = started.pop_all()
        atexit.register(self.stop)
        self._types: dict[str, StructType] = {}
        self._copies: dict[str, float] = {}
        """When a copy of an object was last read."""

    @property
    def is_local(self) -> bool:
        """Whether the engine is the embedded one."""
        return self._pool is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        atexit.unregister(self.stop)
        self._started.close()

    def make_room(self) -> None:
        """Return memory that is free, and end workers that are idle: others start in 50 ms."""
        if self._pool is not None:
            self._pool.end_idle()
            trim_heap()

    def rest(self) -> None:
        """Do with less memory until there is work again, of which its beginning takes longer."""
        if self._pool is not None:
            self._pool.rest()
        trim_heap()

    def read(self, paths: list[str], ddl: str) -> DataFrame:
        """Read Parquet files as one DataFrame with exactly these columns; no files give no rows."""
        if not paths:
            return self.spark.createDataFrame([], self._parse_ddl(ddl))
        return self.spark.read.schema(ddl).parquet(*self.file_names(paths))

    def file_names(self, paths: Sequence[str]) -> list[str]:
        """Files to be read, as the engine knows them.

        The embedded engine reads copies of small objects, and Spark `s3://` by Hadoop's `s3a://`.
        """
        if self._pool is None:
            return list(map(_hadoop_url, paths))
        names, now_s = near_all(paths), time.monotonic()
        for name, path in zip(names, paths, strict=True):
            if name != local_path(path):
                self._copies[name] = now_s
        return names

    def check_copies(self, since_s: float) -> None:
        """Raise StoreError if a copy that was read since (time.monotonic) has been deleted.

        Fact (Sail 0.7.2): it takes a missing file for one without rows.
        """
        for path, at_s in list(self._copies.items()):
            if at_s < since_s - KNOWN_S:
                del self._copies[path]
        used = [path for path, at_s in list(self._copies.items()) if at_s >= since_s]
        if gone := [path for path in used if not exists(path)]:
            raise StoreError(
                gone[0],
                "this copy of an object was deleted while it was used",
                "run the same command again, with a larger cache if it was full: GOSSAMER_CACHE_GB",
            )

    def target(self, folder: str) -> str:
        """A folder to be written, as the engine knows it."""
        return local_path(folder) if self._pool is not None else _hadoop_url(folder)

    def no_rows(self, like: DataFrame) -> DataFrame:
        """No rows with the columns of others.

        They are asked for once the result is used, because the server plans the query for them,
        which takes it 2 to 15 ms.
        """
        from pyspark.sql.connect.dataframe import DataFrame as Remote
        from pyspark.sql.connect.plan import LocalRelation

        class NoRows(LocalRelation):
            def plan(self, session: SparkConnectClient) -> Relation:
                self._schema = like.schema.json()
                return super().plan(session)

        return cast("DataFrame", Remote(NoRows(None, schema=""), cast("Any", self.spark)))

    def rows(self, table: pa.Table) -> DataFrame:
        """A few rows as a DataFrame, without `createDataFrame`'s question for 13 settings."""
        from pyspark.sql.connect.dataframe import DataFrame as Remote
        from pyspark.sql.connect.plan import LocalRelation

        return cast("DataFrame", Remote(LocalRelation(table), cast("Any", self.spark)))

    def hold(self, rows: DataFrame, path: str) -> HeldTable | None:
        """The rows of a small query as a table that stands for a file; None if it is not small."""
        client: Any = self.spark.client
        if not isinstance(client, SmallQueries):
            return None
        return client.hold(cast("Any", rows)._plan.to_proto(client), path)  # noqa: SLF001

    def held_rows(self, table: HeldTable) -> DataFrame:
        """A DataFrame that reads a table."""
        from pyspark.sql.connect.dataframe import DataFrame as Remote
        from pyspark.sql.connect.plan import DataSource

        plan: Any = DataSource("parquet", table.ddl, paths=[table.path])
        plan.held = table  # which lives as long as plans that read it
        return cast("DataFrame", Remote(plan, cast("Any", self.spark)))

    def _parse_ddl(self, ddl: str) -> StructType:
        """The columns of a DDL. A server is asked once for each."""
        if ddl not in self._types:
            session: Any = self.spark  # `StructType.fromDDL` asks the active one
            self._types[ddl] = session._parse_ddl(ddl)  # noqa: SLF001
        return self._types[ddl]

    def read_some(self, paths: list[str], ddl: str) -> DataFrame:
        """As `read`, for rows of which a filter or the smaller side of a join keeps few.

        The embedded engine then decodes the other columns only where these rows are.

        It keeps nothing of what filters looked at: with that cache, its Parquet reader (parquet
        59.2) fails if rows of some pages are wanted and none of the pages between them, with
        "Invalid offset in sparse column chunk data" (apache/arrow-rs#10733).
        """
        if not paths:
            return self.read(paths, ddl)
        read = self.spark.read.schema(ddl).option("pushdown_filters", "true")
        return read.option("max_predicate_cache_size", "0").parquet(*self.file_names(paths))

    def map_partitions(self, df: DataFrame, fn: PartitionFunction, ddl: str) -> DataFrame:
        """Run `fn` over the Arrow batches of each partition, in a separate process.

        `fn` must be picklable. It may run twice for a partition, so it must write files under the
        name of its own attempt; only the rows that it yields count. The local engine runs it in as
        many processes as there are workers.
        """
        fn = self._keeping_umask(fn)
        wrapped = fn if self._pool is None else self._pool.wrap(fn)
        return df.mapInArrow(wrapped, self._parse_ddl(ddl))

    def map_tasks(
        self,
        tasks: Sequence[Task],
        fn: Callable[[Task], Iterable[dict[str, Any]]],
        schema: pa.Schema,
        ddl: str,
        more: int = 0,
        *,
        at_home: bool = False,
    ) -> list[dict[str, Any]]:
        """Run `fn` once per task, concurrently; for work whose input is files, not rows.

        The local engine starts tasks in their order, and runs as many at once as there are workers,
        plus `more`. With small tasks at the end, or a few `more`, all cores are busy until the last
        task ends. With `at_home` it runs a single task in this process, which has loaded what a
        worker would have to load first.

        Returns the rows of all tasks; `schema` and `ddl` both describe them. Their number must
        not grow with the web: files written, counts.
        """
        if not tasks:
            return []
        if at_home and self._pool is not None and len(tasks) == 1:
            return call_at_low_priority(lambda: list(fn(tasks[0])))
        run = self._keeping_umask(partial(run_tasks, tuple(tasks), fn, schema))
        if self._pool is not None:
            here = partial(_run_task, self._pool.wrap(run, more))
            return run_beside_each_other(here, len(tasks), self.workers + more)
        one_each = self._cluster.range(0, len(tasks), 1, len(tasks))
        with engine_errors():
            rows = one_each.mapInArrow(run, self._parse_ddl(ddl))
            return [row.asDict() for row in rows.collect()]

    def run_beside(
        self, task: Task, fn: Callable[[Task], Iterable[dict[str, Any]]], schema: pa.Schema
    ) -> list[dict[str, Any]]:
        """Run `fn` for a task in a worker process, beside those of a `map_tasks` that is running.

        Only the local engine has such processes. Returns the rows of the task.
        """
        assert self._pool is not None  # noqa: S101  # `is_local`
        run = self._pool.wrap(self._keeping_umask(partial(run_tasks, (task,), fn, schema)))
        return _run_task(run, 0)

    def _keeping_umask(self, fn: PartitionFunction) -> PartitionFunction:
        return partial(run_with_umask, current_umask(), fn)


def _hadoop_url(path: str) -> str:
    return path.replace("s3://", "s3a://", 1) if path.startswith("s3://") else path


def _run_task(run: PartitionFunction, number: int) -> list[dict[str, Any]]:
    """The rows of the task with a number."""
    batch = pa.RecordBatch.from_pydict({"id": [number]})
    return [row for made in run(iter([batch])) for row in made.to_pylist()]


_RAISED = re.compile(
    r"^gossamer\.errors\.(\w+): (.*?): (.*?)(?:\n  → ([^\n]*)|\Z)", re.MULTILINE | re.DOTALL
)

_STORE_FAILED = re.compile(
    r"non-2xx status code|Generic \w+ error|operation timed out|error sending request"
    r"|(?:Connection re\w+|Broken pipe).*\(os error \d+\)"  # as Rust prints them
)
"""In the texts of Sail when it cannot read an object."""


@contextmanager
def engine_errors(disk: str = "the disk of the batch engine") -> Iterator[None]:
    """Turn the engine's exceptions into GossamerErrors; `disk` is where it writes.

    An exception crosses Spark Connect as the text of a traceback, from which GossamerErrors are
    restored.
    """
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        raise _translate_error(str(error), disk) from error
    except AssertionError as error:
        if not _is_of_the_client(error):
            raise
        what, remedy = "ended a query without an answer", "run the same command again"
        raise EngineError("the batch engine", what, remedy) from error
    except OSError as error:  # of a small query
        raise system_error(error, disk) from error


def _is_of_the_client(error: AssertionError) -> bool:
    """Whether pyspark's client missed something in what the server sent."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return str(frame.f_globals["__name__"]).startswith("pyspark.")


def _translate_error(text: str, disk: str) -> GossamerError:
    if raised := _RAISED.search(text):
        kind = getattr(errors, raised[1], None)
        if isinstance(kind, type) and issubclass(kind, GossamerError):
            return kind(raised[2], raised[3], raised[4] or "")
    if "No space left on device" in text or "Disk quota exceeded" in text:
        return disk_full(disk)
    if _STORE_FAILED.search(text):
        return translate_error("the batch engine", text)
    remedy = "see the message above"
    if "Failed to allocate" in text:
        remedy = "raise engine.memory_gb, or make the step's sizes smaller"
    return EngineError("the batch engine", text.strip(), remedy)
