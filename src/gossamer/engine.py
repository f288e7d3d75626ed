"""The batch engine: Spark's DataFrame API over Spark Connect, on one of two engines.

`local` starts Sail inside this process; `sc://host:port` reaches Apache Spark (or Sail) on a
cluster. Steps use a Spark session, `map_partitions` and `map_tasks`, which are the same on both.

Facts (Sail 0.7): Python functions run in threads of the engine's own process, under one GIL, so
CPU-bound Python gains nothing from more partitions. Therefore `map_partitions` passes Arrow
batches to a pool of processes there. On Spark, whose executors are processes already, it is plain
`mapInArrow`. `spark.range(0, n, 1, n)` has one row per partition on both.
"""

from __future__ import annotations

import ipaddress
import logging
import os
import re
import socket
import sys
import threading
import warnings
from contextlib import ExitStack, closing, contextmanager, nullcontext
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import urlsplit

import pyarrow as pa

from gossamer import errors
from gossamer.backends import full
from gossamer.errors import EngineError, GossamerError
from gossamer.pool import Pool, at_low_priority
from gossamer.worker_start import end_unused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import Self

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.connect.client import DefaultChannelBuilder

    from gossamer.config import EngineConfig
    from gossamer.pool import PartitionFunction

Task = TypeVar("Task")

SPARK_CONNECT_PORT = 15002
CONNECT_TIMEOUT_S = 10
SLOW_START_S = 3.0
"""Seconds after which a message says that the engine is starting; usually it takes one or two."""


class Engine:
    """One Spark Connect session, and a pool of worker processes if the engine is local.

    The first workers start beside the engine if they have something to `prepare` (see `Pool`).
    """

    def __init__(self, config: EngineConfig, prepare: Callable[[], None] | None = None) -> None:
        self.workers = config.workers or os.cpu_count() or 1
        self._pool: Pool | None = None
        with ExitStack() as started, _message_when_slow(SLOW_START_S):
            url = config.url
            if url == "local":
                self._pool = started.enter_context(closing(Pool(self.workers, prepare)))
                server = at_low_priority(partial(_start_sail, config, self.workers))
                started.callback(server.stop)
                url = "sc://{}:{}".format(*server.listening_address)
            else:
                end_unused(prepare)
            self.spark = _connect(url, embedded=self._pool is not None)
            started.callback(self.spark.stop)
            self._started = started.pop_all()
        self._nothing: dict[str, DataFrame] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        self._started.close()

    def read(self, paths: list[str], ddl: str) -> DataFrame:
        """Read Parquet files as one DataFrame with exactly these columns; no files give no rows."""
        if not paths:
            return self._no_rows(ddl)
        return self.spark.read.schema(ddl).parquet(*paths)

    def _no_rows(self, ddl: str) -> DataFrame:
        """No rows with these columns. The engine is asked once what they are: it parses the DDL."""
        if ddl not in self._nothing:
            self._nothing[ddl] = self.spark.createDataFrame([], ddl)
        return self._nothing[ddl]

    def read_some(self, paths: list[str], ddl: str) -> DataFrame:
        """As `read`, for rows of which a filter or the smaller side of a join keeps few.

        The embedded engine then decodes the other columns only where these rows are.
        """
        if not paths:
            return self.read(paths, ddl)
        return self.spark.read.schema(ddl).option("pushdown_filters", "true").parquet(*paths)

    def map_partitions(self, df: DataFrame, fn: PartitionFunction, ddl: str) -> DataFrame:
        """Run `fn` over the Arrow batches of each partition, in a separate process.

        `fn` must be picklable. It may run twice for a partition, so it must write files under the
        name of its own attempt; only the rows that it yields count. The local engine runs it in as
        many processes as there are workers.
        """
        return df.mapInArrow(fn if self._pool is None else self._pool.wrap(fn), ddl)

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
            return at_low_priority(lambda: list(fn(tasks[0])))
        one_each = self.spark.range(0, len(tasks), 1, len(tasks))
        run = partial(_run_tasks, tuple(tasks), fn, schema)
        with engine_errors(), self._in_order(run, more) as ordered:
            return [row.asDict() for row in one_each.mapInArrow(ordered, ddl).collect()]

    def _in_order(
        self, run: PartitionFunction, more: int
    ) -> AbstractContextManager[PartitionFunction]:
        return nullcontext(run) if self._pool is None else self._pool.wrap_in_order(run, more)


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
        raise _translate(str(error), disk) from error


def _translate(text: str, disk: str) -> GossamerError:
    if raised := _RAISED.search(text):
        kind = getattr(errors, raised[1], None)
        if isinstance(kind, type) and issubclass(kind, GossamerError):
            return kind(raised[2], raised[3], raised[4] or "")
    if "No space left on device" in text or "Disk quota exceeded" in text:
        return full(disk)
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


def _start_sail(config: EngineConfig, workers: int) -> Any:
    """Start the embedded server on a port of loopback.

    Sail does not authenticate: while it runs, other users of this machine can reach the port
    and run code as this user (docs/operating.md).

    Facts (Sail 0.7.2, 300 MB for 6 M rows of 75 bytes): only the memory pool `fair` lets sorts
    and windows spill; with `greedy` they fail. A hash join never spills. A sort-merge join does,
    but with it a round at 10 M known pages takes twice the CPU (bench/page_state.py). Steps
    therefore build hash tables only of what a round found, never of all known pages.
    """
    settings = {
        "RUST_LOG": "error",
        "SAIL_EXECUTION__DEFAULT_PARALLELISM": str(workers),
        "SAIL_RUNTIME__MEMORY_POOL__TYPE": "fair",
        "SAIL_RUNTIME__MEMORY_POOL__FAIR__MAX_SIZE": str(int(config.memory_gb * 1e9)),
    }
    added = settings.keys() - os.environ.keys()  # the user's own variables take precedence
    os.environ.update({name: settings[name] for name in added})
    try:
        from pysail.spark import SparkConnectServer

        server = SparkConnectServer("127.0.0.1", 0)
        server.start(background=True)
    finally:
        for name in added:
            del os.environ[name]
    return server


def _connect(url: str, *, embedded: bool) -> SparkSession:
    where = urlsplit(url)
    try:  # the client itself would keep trying for ten minutes
        port = where.port or SPARK_CONNECT_PORT
        socket.create_connection((where.hostname or "", port), CONNECT_TIMEOUT_S).close()
    except (OSError, ValueError) as error:
        raise _unreachable(url, error) from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings from within the libraries
        logging.getLogger("pyspark").setLevel(logging.ERROR)
        try:
            import_client()
            from pyspark.sql.connect.session import SparkSession as Remote

            os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"  # pyspark's builder sets it for URLs
            builder = _channel_builder(url, where.hostname or "")
            if not embedded:
                _await_greeting(builder)
            spark = Remote.builder.channelBuilder(builder).create()
            spark.conf.set("spark.sql.session.timeZone", "UTC")
            if embedded:
                spark.conf.set("spark.python.sql.dataFrameDebugging.enabled", "false")
        except Exception as error:
            raise _unreachable(url, error) from error
    return cast("SparkSession", spark)


def _channel_builder(url: str, host: str) -> DefaultChannelBuilder:
    """The channel builder of pyspark, but without a proxy to this machine.

    Fact (gRPC 1.85): `http_proxy` in the environment applies to loopback too, unless `no_proxy`
    names it.
    """
    from pyspark.sql.connect.client import DefaultChannelBuilder

    return DefaultChannelBuilder(
        url, [("grpc.enable_http_proxy", 0)] if is_loopback(host) else None
    )


def _await_greeting(builder: DefaultChannelBuilder) -> None:
    """Raises TimeoutError if the server accepts connections but does not answer in gRPC.

    gRPC looks for an answer five times a second, so this takes 0.2 s.
    """
    import grpc

    with builder.toChannel() as channel:
        try:
            grpc.channel_ready_future(channel).result(CONNECT_TIMEOUT_S)
        except grpc.FutureTimeoutError:
            raise TimeoutError(f"no answer within {CONNECT_TIMEOUT_S} s") from None


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def import_client() -> None:
    """Import the Spark Connect client, whatever the main program is.

    Fact (pyspark 4.2): under `python -c` and `python -`, whose main module has no file, it assumes
    a run of its own doctests, looks for a Spark installation, and exits.
    """
    main = sys.modules["__main__"]
    without_file = not hasattr(main, "__file__")
    if without_file:
        main.__file__ = "<stdin>"
    try:
        import_module("pyspark.sql.connect.session")
    finally:
        if without_file:
            del main.__file__


def _unreachable(url: str, error: Exception) -> EngineError:
    return EngineError(
        url, f"cannot be reached: {error}", "start this server, or change engine.url"
    )
