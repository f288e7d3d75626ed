"""Rows that a step uses more than once stay in memory, until a server has to read them."""

from __future__ import annotations

import random
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F

from gossamer.engine.small import held, types
from gossamer.engine.small.frames import of_table
from gossamer.engine.small.held import HeldTable, held_frame, write_named
from gossamer.engine.small.limits import BESIDE_SAIL
from gossamer.errors import StoreError
from tests.support.small_rows import SCHEMA, both, rows_of, some_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.state.workspace import Workspace

pytestmark = [pytest.mark.engine, pytest.mark.embedded, pytest.mark.folder]


def scratch_files(work: Workspace) -> list[Path]:
    return [*Path(work.root, "scratch").rglob("*.parquet")]


@pytest.mark.parametrize("count", [0, 1, 100])
def test_rows_are_the_same_for_both(work: Workspace, count: int) -> None:
    table = some_rows(random.Random(count), count)  # noqa: S311  # reproducible
    rows, found = work.scratch(work.engine.rows(table))
    assert found == count
    query = rows.join(rows.select("k", F.col("n").alias("m")), on="k", how="left")
    assert not scratch_files(work)
    ours, theirs = both(query)
    assert rows_of(ours) == rows_of(theirs)
    assert ours.num_rows == query.count()


def test_a_file_is_written_once_for_the_server_and_deleted_at_the_end(work: Workspace) -> None:
    rows, _ = work.scratch(work.engine.spark.range(3))
    other, _ = work.scratch(rows.where("id > 0"))
    assert sorted(row.id for row in rows.unionByName(other).collect()) == [0, 1, 1, 2, 2]
    assert not scratch_files(work)
    asked = rows.where("id > 1").selectExpr("id", "soundex('x') AS s")  # which only servers know
    assert asked.collect() == asked.collect() == [(2, "X000")]
    (file,) = scratch_files(work)
    assert pq.read_table(file).to_pydict() == {"id": [0, 1, 2]}
    work.sweep()
    assert not scratch_files(work)


def test_rows_that_a_server_makes_are_scratch_files(work: Workspace) -> None:
    rows, count = work.scratch(work.engine.spark.range(3).selectExpr("id", "soundex('x') AS s"))
    assert count == 3
    assert len(scratch_files(work)) >= 1
    assert rows.where("s = 'X000'").count() == 3


def test_large_rows_are_not_held(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    tight = BESIDE_SAIL._replace(held_bytes=10)
    monkeypatch.setattr(work.engine.spark.client, "_limits", tight)
    rows, count = work.scratch(work.engine.spark.range(3))
    assert count == 3
    (file,) = scratch_files(work)
    assert held_frame(str(file)) is None
    mapped, count = work.map_rows(rows.select("id"), double, "id long")
    assert (count, sorted(row.id for row in mapped.collect())) == (3, [0, 2, 4])


def double(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield pa.RecordBatch.from_pydict({"id": [2 * n for n in batch["id"].to_pylist()]})


def test_rows_are_held_as_long_as_something_reads_them(work: Workspace) -> None:
    before = set(held._held)
    rows, _ = work.scratch(work.engine.spark.range(3))
    (path,) = set(held._held) - before
    more = rows.where("id > 0")
    del rows
    assert held_frame(path) is not None
    assert more.count() == 2
    del more
    assert held_frame(path) is None


def test_a_table_is_written_by_one_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    write = pq.write_table

    def noted(table: pa.Table, path: str, **more: Any) -> None:
        written.append(path)
        write(table, path, **more)

    monkeypatch.setattr(pq, "write_table", noted)
    table = of_table(pa.table({"n": [1]}))
    kept = [HeldTable(table, str(tmp_path / f"{n}.parquet")) for n in range(12)]
    plan = f"…{kept[1].path}…".encode()
    threads = [threading.Thread(target=write_named, args=(plan,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert written == [kept[1].path]


def test_a_disk_that_refuses_the_file_is_named(work: Workspace) -> None:
    rows, _ = work.scratch(work.engine.spark.range(3))
    scratch = Path(work.root, "scratch")
    assert not scratch.exists()
    scratch.touch()
    with pytest.raises(StoreError, match="scratch"), work.errors():
        rows.selectExpr("soundex(id) AS s").collect()


def test_columns_in_sql_are_read_as_they_were() -> None:
    nested = pa.struct([("name", pa.string()), ("many", types.list_of(pa.int16()))])
    schema = pa.schema([*SCHEMA, ("deep", types.list_of(nested)), ("is", pa.bool_())])
    plain = pa.schema([(each.name, types.plain(each.type)) for each in schema])
    assert types.parse_columns(types.ddl_of(plain)) == plain
