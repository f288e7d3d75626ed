"""A Spark session that runs small queries itself, and has a server run the others.

`pyspark`'s DataFrames make plans of Spark Connect and hand them to the session's client. Sail takes
5 to 20 ms for each, and 180 for a large one, however few rows it reads: planning takes it 60 µs for
each function in an expression. A cluster takes a job or several, and up to a second. A round of a
small crawl has a hundred queries. The client here runs them over Arrow's tables, which takes less,
and without the embedded server, which need not start.

Whatever is not small, or uses what gossamer.engine.small does not have, goes to the server: it
decides what Spark's functions mean, and raises the errors of those that fail, such as a division by
zero. tests/engine/test_small_queries.py compares the results of both.
"""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import pyarrow as pa

from gossamer.engine.small import relations, types
from gossamer.engine.small.files import write_files
from gossamer.engine.small.held import HeldTable, write_named
from gossamer.engine.small.limits import Unsupported, limited
from gossamer.engine.spark_client import import_client

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pyspark.sql import SparkSession
    from pyspark.sql.connect.client import SparkConnectClient
    from pyspark.sql.connect.proto import Command, Plan, Relation
    from pyspark.sql.types import StructType

    from gossamer.engine.small.limits import Limits

    class Server(Protocol):
        def client(self) -> SparkConnectClient:
            """The client of a server, which is started if it is not running."""

    Result = TypeVar("Result")
    Answer = TypeVar("Answer")

SETTINGS_OF_SAIL: Mapping[str, str | None] = {
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.sql.execution.arrow.useLargeVarTypes": "false",
    "spark.sql.execution.pandas.convertToArrowArraySafely": "false",
    "spark.sql.execution.pandas.inferPandasDictAsMap": "false",
    "spark.sql.execution.pyspark.binaryAsBytes": "true",
    "spark.sql.pyspark.inferNestedDictAsStruct.enabled": "false",
    "spark.sql.pyspark.legacy.inferArrayTypeFromFirstElement.enabled": "false",
    "spark.sql.pyspark.legacy.inferMapTypeFromFirstPair.enabled": "false",
    "spark.sql.session.localRelationBatchOfChunksSizeBytes": str(1 << 40),
    "spark.sql.session.localRelationCacheThreshold": str(1 << 40),
    "spark.sql.session.localRelationChunkSizeBytes": str(1 << 40),
    "spark.sql.session.localRelationChunkSizeRows": "1000000",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
}
"""What the client asks before it makes a plan of rows, and what the embedded server answers."""
LARGE = "gossamer.large"
"""An option of a write whose query is known not to be small, so that nobody tries to run it."""


def open_session(
    server: Server, settings: Mapping[str, str | None], limits: Limits
) -> SparkSession:
    """A session of pyspark, which is the active one if there is no other.

    `settings`: those of the server for which it need not be asked. `limits`: of small queries.
    """
    import_client()
    from pyspark.sql.connect.session import SparkSession as Remote

    client = SmallQueries(server, settings, limits)
    known = {"_client": client, "_session_id": client._session_id}  # noqa: SLF001  # as pyspark's
    session: Any = object.__new__(Remote)  # its constructor would connect to a server
    vars(session).update(known, release_session_on_close=False)
    sessions: Any = Remote
    if sessions._get_default_session() is None:  # noqa: SLF001  # or it was stopped
        sessions._default_session = session  # noqa: SLF001
    if Remote.getActiveSession() is None:
        sessions._active_session.session = session  # noqa: SLF001
    return cast("SparkSession", session)


class SmallQueries:
    """Stands for the client of a session. What it does not have is that of the server's client."""

    def __init__(self, server: Server, settings: Mapping[str, str | None], limits: Limits) -> None:
        self._server = server
        self._settings = settings
        self._limits = limits
        self._session_id = str(uuid.uuid4())
        self._user_id = None
        self.is_closed = False

    def close(self) -> None:
        self.is_closed = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client_for(), name)

    def _client_for(self, plan: Plan | Command | None = None) -> SparkConnectClient:
        """The server's client, which can read the held tables of a plan, or all of them."""
        write_named(None if plan is None else plan.SerializeToString())
        return self._server.client()

    def hold(self, plan: Plan, path: str) -> HeldTable | None:
        """The rows of a small query as a table that stands for a file; None if it is not small."""
        return self._run(lambda root: HeldTable(relations.run(root), path), plan.root)

    def to_table(self, plan: Plan, observations: Any) -> tuple[pa.Table, Any, Any]:
        table = self._run(_rows, plan.root)
        if table is None:
            return self._client_for(plan).to_table(plan, observations)
        return table, _spark_schema(table.schema), None

    def to_table_as_iterator(self, plan: Plan, observations: Any) -> Iterator[Any]:
        table = self._run(_rows, plan.root)
        if table is None:
            yield from self._client_for(plan).to_table_as_iterator(plan, observations)
        else:
            yield _spark_schema(table.schema)
            yield table

    def execute_command(self, command: Command, observations: Any = None) -> Any:
        is_write = command.WhichOneof("command_type") == "write_operation"
        is_large = is_write and bool(command.write_operation.options.pop(LARGE, ""))
        if is_write and not is_large and self._run(_write, command.write_operation):
            return None, {}, None
        return self._client_for(command).execute_command(command, observations)

    def schema(self, plan: Plan) -> StructType:
        declared = plan.root.local_relation.schema
        if declared.startswith("{"):  # as JSON, which also says what is never NULL
            from pyspark.sql.types import StructType

            return StructType.fromJson(json.loads(declared))
        frame = self._run(relations.run, plan.root)
        if frame is None:
            return self._client_for(plan).schema(plan)
        return _spark_schema(frame.schema)

    def get_config_dict(self, *keys: str) -> dict[str, str | None]:
        if all(key in self._settings for key in keys):
            return {key: self._settings[key] for key in keys}
        return dict(self._server.client().get_config_dict(*keys))

    def config(self, operation: Any) -> Any:
        from pyspark.sql.connect.client.core import ConfigResult

        if operation.WhichOneof("op_type") == "get_with_default":
            asked = operation.get_with_default.pairs
            if all(each.key in self._settings for each in asked):
                return ConfigResult([(each.key, self._settings[each.key]) for each in asked], [])
        return self._server.client().config(operation)

    def _run(self, run: Callable[[Result], Answer], given: Result) -> Answer | None:
        """The result of a function; None if only the server can say."""
        try:
            with limited(self._limits):
                return run(given)
        except (Unsupported, pa.ArrowException):
            return None

    @staticmethod
    def _set_relation_in_plan(plan: Plan, relation: Relation) -> None:
        plan.root.CopyFrom(relation)

    def _analyze(self, method: str, **given: Any) -> Any:
        if method == "ddl_parse":
            columns = self._run(types.parse_columns, given["ddl_string"])
            if columns is not None:
                return _Parsed(_spark_schema(columns))
        return self._client_for()._analyze(method, **given)  # noqa: SLF001  # as a DataFrame does


class _Parsed:
    """An answer to a question for the columns of a DDL."""

    def __init__(self, parsed: StructType) -> None:
        self.parsed = parsed


def _rows(relation: Relation) -> pa.Table:
    return relations.run(relation).table()


def _write(operation: Any) -> bool:
    """Write the rows of a query. Raises OSError if they cannot be written."""
    if operation.source != "parquet" or "://" in operation.path or operation.mode:
        raise Unsupported("a write of something else than new Parquet files")
    frame = relations.run(operation.input)
    by, options = list(operation.partitioning_columns), dict(operation.options)
    write_files(frame, operation.path, by, options)
    return True


def _spark_schema(schema: pa.Schema) -> StructType:
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)
