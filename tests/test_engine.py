from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from engine_tasks import DDL, SCHEMA, double, fail, fill, tell
from gossamer.config import EngineConfig
from gossamer.engine import Engine, engine_errors
from gossamer.errors import EngineError, StoreFull

if TYPE_CHECKING:
    from pathlib import Path


def test_reading_no_files_gives_no_rows_of_the_right_columns(engine: Engine) -> None:
    empty = engine.read([], "url string, inlinks long")
    assert empty.columns == ["url", "inlinks"]
    assert empty.count() == 0


def test_columns_are_read_by_name_and_may_be_missing(engine: Engine, tmp_path: Path) -> None:
    pq.write_table(pa.table({"n": [1], "url": ["a"]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"url": ["b"]}), tmp_path / "2.parquet")
    rows = engine.read(
        [str(tmp_path / "1.parquet"), str(tmp_path / "2.parquet")], "url string, n long"
    )
    assert sorted(rows.collect(), key=lambda row: row.url) == [("a", 1), ("b", None)]


def test_map_partitions_runs_python_over_arrow(engine: Engine) -> None:
    rows = engine.map_partitions(engine.spark.range(0, 1000, 1, 4), double, "n long").collect()
    assert sorted(row.n for row in rows) == list(range(0, 2000, 2))


def test_partitions_in_python_may_be_nested_and_joined(engine: Engine) -> None:
    numbers = engine.spark.range(0, 100, 1, 4)
    fours = engine.map_partitions(
        engine.map_partitions(numbers, double, "n long"), double, "n long"
    )
    twos = engine.map_partitions(numbers, double, "n long")
    assert fours.join(twos, "n", how="inner").count() == 50


def test_every_task_runs_once_and_none_in_this_process(engine: Engine) -> None:
    tasks = [f"task-{number}" for number in range(7)]
    rows = engine.map_tasks(tasks, tell, SCHEMA, DDL)
    assert sorted(row["task"] for row in rows) == tasks
    assert os.getpid() not in {row["pid"] for row in rows}


def test_no_tasks_no_rows(engine: Engine) -> None:
    assert engine.map_tasks([], tell, SCHEMA, DDL) == []


def test_an_error_in_a_task_names_its_cause(engine: Engine) -> None:
    with pytest.raises(EngineError, match="ValueError: no good: 7") as error:
        engine.map_tasks(["7"], fail, SCHEMA, DDL)
    assert "in fail" in error.value.what


def test_an_error_of_ours_in_a_task_comes_back_as_it_was(engine: Engine) -> None:
    with pytest.raises(StoreFull) as error:
        engine.map_tasks(["7"], fill, SCHEMA, DDL)
    assert error.value.subject == "/crawl/7"
    assert error.value.what == "no space left: on the device"
    assert error.value.remedy == "free some"


def test_what_the_engine_refuses_is_an_engine_error(engine: Engine) -> None:
    with pytest.raises(EngineError, match="nowhere"), engine_errors():
        engine.spark.sql("select * from nowhere").collect()


def test_other_errors_pass_as_they_are() -> None:
    with pytest.raises(KeyError), engine_errors():
        raise KeyError


def test_a_full_disk_under_the_engine_is_named(engine: Engine, small_disk: Path) -> None:
    table = str(small_disk / "table")
    with pytest.raises(StoreFull, match=f"{table}: no space left"), engine_errors(table):
        engine.spark.range(1_000_000).selectExpr("uuid() as u").write.parquet(table)


def test_times_are_utc(engine: Engine) -> None:
    (row,) = engine.spark.sql("select hour(timestamp_seconds(0)) as hour").collect()
    assert row.hour == 0


def test_a_server_that_is_not_there_is_an_error_that_names_it() -> None:
    url = "sc://127.0.0.1:1"
    with pytest.raises(
        EngineError, match=r"sc://127\.0\.0\.1:1: cannot be reached: .*refused"
    ) as error:
        Engine(EngineConfig(url=url))
    assert "engine.url" in error.value.remedy


_ALONE = """
import os
from gossamer.config import EngineConfig
from gossamer.engine import Engine

with Engine(EngineConfig(workers=2, memory_gb=0.05)) as engine:
    assert not [name for name in os.environ if name.startswith("SAIL_")]
    text = engine.spark.range(0, 600_000, 1, 4).selectExpr("id", "sha2(string(id), 256) as u")
    print(text.orderBy("u").agg({"id": "max"}).collect()[0][0])
"""


def test_sorts_spill_and_the_engine_is_quiet() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "RUST_LOG"}
    done = subprocess.run(
        [sys.executable, "-c", _ALONE],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=120,
    )
    assert done.stderr == ""
    assert done.stdout == "599999\n"
