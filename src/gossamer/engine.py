"""The batch engine: Spark's DataFrame API over Spark Connect, on one of two engines.

`local` starts Sail inside this process; `sc://host:port` reaches Apache Spark (or Sail) on a
cluster. Steps see a Spark session, `map_partitions` and `map_tasks`, and never learn which
engine it is.

Facts (Sail 0.7): Python functions run in threads of the engine's own process, under one GIL, so
CPU-bound Python gains nothing from more partitions. Therefore `map_partitions` hands Arrow
batches to a pool of processes there, and is plain `mapInArrow` on Spark, whose executors are
processes already. `spark.range(0, n, 1, n)` has one row per partition on both.
"""

from __future__ import annotations

import logging
import os
import re
import socket
import sys
import warnings
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import pyarrow as pa

from gossamer import errors
from gossamer.backends import full
from gossamer.errors import EngineError, GossamerError
from gossamer.pool import Pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Self

    from pyspark.sql import DataFrame, SparkSession

    from gossamer.config import EngineConfig
    from gossamer.pool import PartitionFunction

Task = TypeVar("Task")

SPARK_CONNECT_PORT = 15002
CONNECT_TIMEOUT_S = 10


class Engine:
    """One Spark Connect session, and the processes beside it where it is local."""

    def __init__(self, config: EngineConfig) -> None:
        self.workers = config.workers or os.cpu_count() or 1
        self._pool: Pool | None = None
        with ExitStack() as started:
            url = config.url
            if url == "local":
                server = _start_sail(config, self.workers)
                started.callback(server.stop)
                url = "sc://{}:{}".format(*server.listening_address)
                self._pool = started.enter_context(closing(Pool(self.workers)))
            self.spark = _connect(url)
            started.callback(self.spark.stop)
            self._started = started.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        self._started.close()

    def read(self, paths: list[str], ddl: str) -> DataFrame:
        """Parquet files as one DataFrame of exactly these columns; no files, no rows."""
        if not paths:
            return self.spark.createDataFrame([], ddl)
        return self.spark.read.schema(ddl).parquet(*paths)

    def map_partitions(
        self, df: DataFrame, fn: PartitionFunction, ddl: str, more: int = 0
    ) -> DataFrame:
        """Run `fn` over each partition's Arrow batches, in a process of its own.

        `fn` must be picklable, and may run twice for a partition: what it writes goes under the
        name of its own attempt, and what counts is what it yields. On a single machine it has as
        many processes as there are workers, and so many `more`.
        """
        return df.mapInArrow(fn if self._pool is None else self._pool.wrap(fn, more), ddl)

    def map_tasks(
        self,
        tasks: Sequence[Task],
        fn: Callable[[Task], Iterable[dict[str, Any]]],
        schema: pa.Schema,
        ddl: str,
        more: int = 0,
    ) -> list[dict[str, Any]]:
        """Run `fn` once per task, all at the same time as far as there are workers.

        `more`: than these on a single machine, for small tasks: the cores are shared by all then,
        and none is left with nothing to do while the last task ends.

        For work whose input is files, not rows. Returns the rows of all tasks (`schema` and
        `ddl` say the same), which must not grow with the web: files written, counts.
        """
        if not tasks:
            return []
        one_each = self.spark.range(0, len(tasks), 1, len(tasks))
        run = partial(_run_tasks, tuple(tasks), fn, schema)
        with engine_errors():
            return [row.asDict() for row in self.map_partitions(one_each, run, ddl, more).collect()]


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
    """What the engine raises, as errors of ours; `disk` is where it writes.

    An exception crosses Spark Connect as the text of a traceback: ours are read back from it.
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


def _start_sail(config: EngineConfig, workers: int) -> Any:
    """The embedded server, listening on a port of loopback.

    Sail does not authenticate: while it runs, other users of this machine can reach the port
    and run code as this user (docs/operating.md).

    Facts (Sail 0.7.2, 300 MB for 6 M rows of 75 bytes): of the memory pools only `fair` lets
    sorts and windows spill, `greedy` fails them. A hash join never spills, a sort-merge join
    does; but with those a round at 10 M known pages takes twice the CPU (bench/page_state.py).
    Steps therefore build hash tables of what a round found, never of all that is known.
    """
    settings = {
        "RUST_LOG": "error",
        "SAIL_EXECUTION__DEFAULT_PARALLELISM": str(workers),
        "SAIL_RUNTIME__MEMORY_POOL__TYPE": "fair",
        "SAIL_RUNTIME__MEMORY_POOL__FAIR__MAX_SIZE": str(int(config.memory_gb * 1e9)),
    }
    added = settings.keys() - os.environ.keys()  # what the user set stays as it is
    os.environ.update({name: settings[name] for name in added})
    try:
        from pysail.spark import SparkConnectServer

        server = SparkConnectServer("127.0.0.1", 0)
        server.start(background=True)
    finally:
        for name in added:
            del os.environ[name]
    return server


def _connect(url: str) -> SparkSession:
    where = urlsplit(url)
    try:  # the client itself goes on trying for ten minutes
        port = where.port or SPARK_CONNECT_PORT
        socket.create_connection((where.hostname or "", port), CONNECT_TIMEOUT_S).close()
    except (OSError, ValueError) as error:
        raise _unreachable(url, error) from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the libraries' own making
        from pyspark.sql import SparkSession

        logging.getLogger("pyspark").setLevel(logging.ERROR)
        try:
            _import_client()
            spark = SparkSession.builder.remote(url).create()
            spark.conf.set("spark.sql.session.timeZone", "UTC")
        except Exception as error:
            raise _unreachable(url, error) from error
    return spark


def _import_client() -> None:
    """Import the Spark Connect client, from whatever program.

    Fact (pyspark 4.2): it takes `python -c` and `python -`, whose main module has no file, for
    a run of its own doctests, looks for a Spark installation, and exits.
    """
    main = sys.modules["__main__"]
    nameless = not hasattr(main, "__file__")
    if nameless:
        main.__file__ = "<stdin>"
    try:
        import_module("pyspark.sql.connect")
    finally:
        if nameless:
            del main.__file__


def _unreachable(url: str, error: Exception) -> EngineError:
    return EngineError(url, f"cannot be reached: {error}", "start it, or change engine.url")
