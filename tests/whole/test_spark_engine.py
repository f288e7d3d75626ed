"""What steps ask of an engine, on a cluster: Python in executors, files, errors."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark import cloudpickle

from gossamer.config import Config
from gossamer.engine.engine import engine_errors
from gossamer.errors import EngineError, StoreFull
from gossamer.state import table_io
from gossamer.state.workspace import Workspace
from gossamer.storage.checksums import checksum_file
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.store import Store
from gossamer.tables import RANKS
from tests.support import engine_tasks
from tests.support.engine_tasks import DDL, SCHEMA, double, fail, fill, tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import ModuleType

    from gossamer.engine.engine import Engine

pytestmark = pytest.mark.spark

AUTO_BROADCAST_BYTES = 10 << 20
"""Spark's default for `spark.sql.autoBroadcastJoinThreshold`."""


@pytest.fixture(scope="module", autouse=True)
def _functions_travel_whole() -> Iterator[None]:
    """Executors have gossamer installed, but not its tests."""
    register: Callable[[ModuleType], None] = cloudpickle.register_pickle_by_value
    forget: Callable[[ModuleType], None] = cloudpickle.unregister_pickle_by_value
    register(engine_tasks)
    yield
    forget(engine_tasks)


def test_the_cluster_has_two_executors(spark_engine: Engine) -> None:
    rows = spark_engine.map_tasks([f"task-{n}" for n in range(16)], tell, SCHEMA, DDL)
    assert sorted(row["task"] for row in rows) == sorted(f"task-{n}" for n in range(16))
    assert len({row["pid"] for row in rows}) >= 2
    assert os.getpid() not in {row["pid"] for row in rows}


def test_map_partitions_runs_python_over_arrow(spark_engine: Engine) -> None:
    numbers = spark_engine.spark.range(0, 1000, 1, 4)
    rows = spark_engine.map_partitions(numbers, double, "n long").collect()
    assert sorted(row.n for row in rows) == list(range(0, 2000, 2))


def test_a_layer_is_written_and_read(spark_engine: Engine, tmp_path: Path) -> None:
    work = Workspace(Store.create(LocalBackend(tmp_path)), Config(), _engine=spark_engine)
    rows = spark_engine.spark.range(1, 4).selectExpr("1 / id as rank", "string(id) as url")
    with work.step("rank", 1) as draft:
        draft.replace["ranks"] = (work.write(rows, "ranks", 1),)
    read = work.read("ranks")
    assert read.columns == RANKS.column_names
    assert sorted(read.collect()) == [("1", 1.0), ("2", 0.5), ("3", 1 / 3)]
    assert sum(file.rows for file in work.store.files("ranks")) == 3


def test_tasks_compute_the_checksums_of_much(
    spark_engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = Workspace(Store.create(LocalBackend(tmp_path)), Config(), _engine=spark_engine)
    rows = spark_engine.spark.range(1, 4).selectExpr("1 / id as rank", "string(id) as url")
    monkeypatch.setattr(table_io, "CHECKED_HERE_BYTES", 0)
    monkeypatch.setattr(LocalBackend, "checksum", None)  # in this process
    files = work.write(rows.repartition(3), "ranks", 1).files
    assert [file.xxh3 for file in files] == [checksum_file(tmp_path / file.path) for file in files]
    assert len(files) > 1


def test_the_server_does_not_collect_a_table_that_is_only_small_in_its_files(
    spark_engine: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "urls.parquet"
    urls = [f"http://www.example.org/articles/{number}" for number in range(1_000_000)]
    pq.write_table(pa.table({"url": urls}), path, compression="zstd")
    assert path.stat().st_size < AUTO_BROADCAST_BYTES < sum(map(len, urls))
    known, some = (spark_engine.read([str(path)], "url string") for _ in range(2))
    known.join(some, on="url", how="left_anti").explain()
    plan = capsys.readouterr().out
    assert "SortMergeJoin" in plan
    assert "Broadcast" not in plan


def test_an_error_in_a_task_names_its_cause(spark_engine: Engine) -> None:
    with pytest.raises(EngineError, match="ValueError: no good: 7"):
        spark_engine.map_tasks(["7"], fail, SCHEMA, DDL)


def test_an_error_of_ours_in_a_task_comes_back_as_it_was(spark_engine: Engine) -> None:
    with pytest.raises(StoreFull) as error:
        spark_engine.map_tasks(["7"], fill, SCHEMA, DDL)
    assert (error.value.subject, error.value.what, error.value.remedy) == (
        "/crawl/7",
        "no space left: on the device",
        "free some",
    )


def test_what_the_cluster_refuses_is_an_engine_error(spark_engine: Engine) -> None:
    with pytest.raises(EngineError, match="nowhere"), engine_errors():
        spark_engine.spark.sql("select * from nowhere").collect()


def test_times_are_utc(spark_engine: Engine) -> None:
    (row,) = spark_engine.spark.sql("select hour(timestamp_seconds(0)) as hour").collect()
    assert row.hour == 0
