"""The batch engine: Spark's DataFrame API over Spark Connect, on one of two engines.

`local` starts Sail inside this process; `sc://host:port` reaches Apache Spark (or Sail) on a
cluster. Steps use a Spark session, `map_partitions` and `map_tasks`, which are the same on both.

Facts (Sail 0.7): Python functions run in threads of the engine's own process, under one GIL, so
CPU-bound Python gains nothing from more partitions. Therefore `map_partitions` passes Arrow
batches to a pool of processes there. On Spark, whose executors are processes already, it is plain
`mapInArrow`. `spark.range(0, n, 1, n)` has one row per partition on both.

Sail 0.7.2 keeps memory for good: 3 KB of each request, as it looks SESSION_S later whether the
session is idle; some 12 KB of each query, as it is never told that the answer has arrived; and 18
KB in its parser of each piece of SQL in a plan, whenever that is sent. So conditions that are sent
dozens of times a round are columns, not SQL. That takes as long.
"""

from __future__ import annotations

import atexit
import os
import re
import signal
import sys
import threading
import time
import traceback
from contextlib import ExitStack, closing, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pyarrow as pa

from gossamer import errors
from gossamer.engine.address_space import ENGINE_BYTES, GB, require_address_space
from gossamer.engine.gate import make_gate
from gossamer.engine.pool import Pool
from gossamer.engine.priorities import call_at_low_priority
from gossamer.engine.spark_client import connect_spark
from gossamer.engine.worker_start import end_unused
from gossamer.errors import EngineError, GossamerError, StoreError
from gossamer.storage.errors import disk_full
from gossamer.storage.file_modes import current_umask
from gossamer.storage.local_copies import near_all
from gossamer.storage.objects.errors import translate_error
from gossamer.storage.opening import exists
from gossamer.storage.places import local_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import Self

    from pyspark.sql import DataFrame
    from pyspark.sql.connect.client import SparkConnectClient
    from pyspark.sql.connect.proto import Relation
    from pyspark.sql.types import StructType

    from gossamer.config import EngineConfig
    from gossamer.engine.gate import Gate, Latch
    from gossamer.engine.pool import PartitionFunction

Task = TypeVar("Task")

SESSION_S = 10 * 365 * 86_400
"""How long the embedded server keeps a session without requests. Its default is a quarter of an
hour, and a fetch that takes longer is a single request."""
KNOWN_S = 86_400.0
"""Older reads of copies are forgotten, as no step takes so long."""
FOOTER_BYTES = 16_000_000
FILES_WITH_STATISTICS = 500
"""What the embedded server keeps of the Parquet files that were read last."""
SLOW_START_S = 3.0
"""Seconds after which a message says that the engine is starting; usually it takes one or two."""


class Engine:
    """One Spark Connect session, and a pool of worker processes if the engine is local.

    The first workers start beside the engine if they have something to `prepare` (see `Pool`). An
    engine lives until it is stopped, at the latest when Python exits: DataFrames need it, even if
    nothing else refers to it.
    """

    def __init__(self, config: EngineConfig, prepare: Callable[[], None] | None = None) -> None:
        self.workers = config.workers or os.cpu_count() or 1
        self._pool: Pool | None = None
        with ExitStack() as started, _message_when_slow(SLOW_START_S):
            if config.url == "local":
                require_address_space(ENGINE_BYTES + int(config.memory_gb * GB))
                self._pool = started.enter_context(closing(Pool(self.workers, prepare)))
                gate = make_gate(trusting=config.trust_users)
                server = call_at_low_priority(partial(_start_sail, config, self.workers, gate))
                started.callback(server.stop)
                started.callback(gate.end)
                host, port = server.listening_address
                self.spark = connect_spark(f"sc://{host}:{port}", embedded=True)
                started.callback(self.spark.stop)
                gate.shut(port)
            else:
                end_unused(prepare)
                self.spark = connect_spark(config.url, embedded=False)
                started.callback(self.spark.stop)
            _handle_ctrl_c_again()
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

    def _parse_ddl(self, ddl: str) -> StructType:
        """The columns of a DDL, which only the server can parse: it is asked once for each."""
        from pyspark.sql.types import StructType

        if ddl not in self._types:
            self._types[ddl] = cast("StructType", StructType.fromDDL(ddl))
        return self._types[ddl]

    def read_some(self, paths: list[str], ddl: str) -> DataFrame:
        """As `read`, for rows of which a filter or the smaller side of a join keeps few.

        The embedded engine then decodes the other columns only where these rows are.
        """
        if not paths:
            return self.read(paths, ddl)
        read = self.spark.read.schema(ddl).option("pushdown_filters", "true")
        return read.parquet(*self.file_names(paths))

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
        one_each = self.spark.range(0, len(tasks), 1, len(tasks))
        run = self._keeping_umask(partial(_run_tasks, tuple(tasks), fn, schema))
        with engine_errors(), self._in_order(run, more) as ordered:
            rows = one_each.mapInArrow(ordered, self._parse_ddl(ddl))
            return [row.asDict() for row in rows.collect()]

    def run_beside(
        self, task: Task, fn: Callable[[Task], Iterable[dict[str, Any]]], schema: pa.Schema
    ) -> list[dict[str, Any]]:
        """Run `fn` for a task in a worker process, beside those of a `map_tasks` that is running.

        Only the local engine has such processes. Returns the rows of the task.
        """
        assert self._pool is not None  # noqa: S101  # `is_local`
        run = self._pool.wrap(self._keeping_umask(partial(_run_tasks, (task,), fn, schema)))
        number = pa.RecordBatch.from_pydict({"id": [0]})
        return [row for batch in run(iter([number])) for row in batch.to_pylist()]

    def _keeping_umask(self, fn: PartitionFunction) -> PartitionFunction:
        return partial(_with_umask, current_umask(), fn)

    def _in_order(
        self, run: PartitionFunction, more: int
    ) -> AbstractContextManager[PartitionFunction]:
        return nullcontext(run) if self._pool is None else self._pool.wrap_in_order(run, more)


def _hadoop_url(path: str) -> str:
    return path.replace("s3://", "s3a://", 1) if path.startswith("s3://") else path


def _with_umask(
    umask: int, fn: PartitionFunction, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Run a function in a worker that was started with another umask, or by Spark."""
    os.umask(umask)
    yield from fn(batches)


def _run_tasks(
    tasks: Sequence[Task],
    fn: Callable[[Task], Iterable[dict[str, Any]]],
    schema: pa.Schema,
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield pa.RecordBatch.from_pylist(list(fn(tasks[number])), schema=schema)


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


@contextmanager
def _message_when_slow(after_s: float) -> Iterator[None]:
    timer = threading.Timer(after_s, print, ["starting the engine…"], {"file": sys.stderr})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _handle_ctrl_c_again() -> None:
    """Let Ctrl-C do what it did before the engine started.

    Fact (Sail 0.7.2): its server shuts down on SIGINT, also in a process that ignores the signal.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.getsignal(signal.SIGINT))


def _start_sail(config: EngineConfig, workers: int, gate: Gate | Latch) -> Any:
    """Start the embedded server behind a gate, on a port of loopback that our client closes.

    Facts (Sail 0.7.2, 300 MB for 6 M rows of 75 bytes): only the memory pool `fair` lets sorts
    and windows spill; with `greedy` they fail. A hash join never spills. A sort-merge join does,
    but with it a round at 10 M known pages takes twice the CPU (bench/page_state.py). Steps
    therefore build hash tables only of what a round found, never of all known pages.

    Sail's allocator, mimalloc, reserves memory by the gigabyte. With transparent huge pages, each
    thread that a query starts would take 2 MB of it for good, until all of it is used.

    It keeps the footers and statistics of Parquet files for half an hour, which is 30 KB for a
    small file with 20 columns, and never looks whether a file is still there. A crawl of brief
    rounds writes a hundred files a minute, and reads each a few times. The limits bound that, and
    cost no CPU time.

    It reads all variables of the environment, and panics at one that is not UTF-8.
    """
    settings = {
        "MIMALLOC_ARENA_EAGER_COMMIT": "0",
        "RUST_LOG": "error",
        "SAIL_EXECUTION__DEFAULT_PARALLELISM": str(workers),
        "SAIL_PARQUET__FILE_METADATA_CACHE__SIZE_LIMIT": str(FOOTER_BYTES),
        "SAIL_PARQUET__FILE_STATISTICS_CACHE__MAX_ENTRIES": str(FILES_WITH_STATISTICS),
        "SAIL_RUNTIME__MEMORY_POOL__TYPE": "fair",
        "SAIL_RUNTIME__MEMORY_POOL__FAIR__MAX_SIZE": str(int(config.memory_gb * 1e9)),
        "SAIL_SPARK__SESSION_TIMEOUT_SECS": str(SESSION_S),
    }
    users = dict(os.environ)  # which take precedence
    for name in filter(_is_no_utf8, users):
        del os.environ[name]
    for name, setting in settings.items():
        os.environ.setdefault(name, setting)
    try:
        from pysail.spark import SparkConnectServer

        server = SparkConnectServer("127.0.0.1", 0)  # starts the threads that run queries
        gate.guard_thread()
        server.start(background=True)  # starts the thread that accepts connections
    finally:
        for name in settings.keys() - users.keys():
            del os.environ[name]
        os.environ.update(users)
    return server


def _is_no_utf8(variable: str) -> bool:
    try:
        f"{variable}={os.environ[variable]}".encode()
    except UnicodeEncodeError:
        return True
    return False
