"""Small queries of a crawl on a cluster run in this process; others, and all tasks, do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

from gossamer.config import EngineConfig
from gossamer.engine.engine import Engine
from gossamer.engine.small.limits import BESIDE_SPARK

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession
    from pyspark.sql.connect.client import SparkConnectClient

pytestmark = pytest.mark.engine

QUERIES = {"to_table", "to_table_as_iterator", "execute_command", "schema"}
COLUMN = pa.schema([("n", pa.int64())])


class Client:
    """The client of a server that runs all queries. Notes which of its methods are called."""

    def __init__(self, client: SparkConnectClient, called: list[str]) -> None:
        self._client = client
        self._called = called

    def __getattr__(self, name: str) -> Any:
        self._called.append(name)
        return getattr(self._client, name)


class Session:
    """Stands for the session with a cluster: that of the embedded engine."""

    def __init__(self, session: SparkSession) -> None:
        self._session: Any = session
        self._called: list[str] = []
        small: Any = session.client
        self.client = Client(small._server.client(), self._called)
        self.ranges: list[tuple[int, ...]] = []

    @property
    def queries(self) -> int:
        """How many queries it was asked to run. Questions for its settings do not count."""
        return sum(name in QUERIES for name in self._called)

    def range(self, *numbers: int) -> Any:
        self.ranges.append(numbers)
        return self._session.range(*numbers)

    def stop(self) -> None:
        """Leave it to the fixture."""


@pytest.fixture
def session(engine: Engine) -> Session:
    if not engine.is_local:
        pytest.skip("stands for a cluster, with the embedded engine")
    return Session(engine.spark)


@pytest.fixture
def on_cluster(session: Session, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    monkeypatch.setattr("gossamer.engine.engine.connect_spark", lambda *_, **__: session)
    with Engine(EngineConfig(url="sc://cluster.test", workers=2)) as started:
        yield started


def test_small_queries_do_not_reach_the_cluster(
    on_cluster: Engine, session: Session, tmp_path: Path
) -> None:
    rows = on_cluster.rows(pa.table({"n": [1, 2, 3]})).withColumn("twice", 2 * F.col("n"))
    rows.write.parquet(str(tmp_path / "rows"))
    files = [str(path) for path in (tmp_path / "rows").glob("*.parquet")]
    read = on_cluster.read(files, "n long, twice long")
    assert read.agg(F.sum("twice")).collect()[0][0] == 12
    assert session.queries == 0


def test_large_queries_do(on_cluster: Engine, session: Session) -> None:
    assert on_cluster.spark.range(BESIDE_SPARK.rows + 1).count() == BESIDE_SPARK.rows + 1
    assert session.queries == 1


def test_tasks_run_on_the_cluster_even_if_there_is_one(
    on_cluster: Engine, session: Session
) -> None:
    def more(task: int) -> list[dict[str, Any]]:
        return [{"n": task + 1}]

    assert on_cluster.map_tasks([4], more, COLUMN, "n long", at_home=True) == [{"n": 5}]
    assert session.ranges == [(0, 1, 1, 1)]
