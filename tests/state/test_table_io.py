"""How steps materialise rows: few in memory, others in scratch files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import functions as F

from gossamer.engine.engine import Engine
from gossamer.engine.small import client
from gossamer.state import table_io
from gossamer.state.sorted_rows import merge_sorted
from gossamer.storage import parquet
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.store import Store
from gossamer.tables import HOSTS
from tests.support.bare_stores import files_below
from tests.support.rows import frame

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame

    from gossamer.state.workspace import Workspace

pytestmark = [pytest.mark.folder, pytest.mark.embedded]

SOME = pa.table({"id": [1, 2, 3], "name": ["a", None, "c"]})


@pytest.fixture(params=["few", "many"])
def step(
    work: Workspace, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Workspace:
    """A crawl whose engine holds rows in memory, or takes all for too many."""
    if request.param == "many":
        monkeypatch.setattr(Engine, "hold", lambda *_: None)
    return work


def doubled(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield pa.RecordBatch.from_pydict({"twice": pc.multiply(batch["id"], 2)})


def numbered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield batch.append_column("twice", pc.multiply(batch["id"], 2))


def rows_of(frame: DataFrame) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in frame.collect())


def test_rows_are_materialised_and_counted(step: Workspace) -> None:
    rows, count = step.scratch(step.engine.rows(SOME).where("id > 1"))
    assert (rows_of(rows), count) == ([(2, None), (3, "c")], 2)
    assert rows.columns == ["id", "name"]
    written = files_below(step.store.backend, "scratch")
    step.sweep()
    assert files_below(step.store.backend, "scratch") == set()
    assert bool(written) is (step.engine.hold(step.engine.rows(SOME), "") is None)


def test_no_rows_have_their_columns(step: Workspace) -> None:
    nothing = step.engine.rows(SOME).where("id > 9")
    for ddl in (None, "id long, name string"):
        rows, count = step.scratch(nothing, ddl)
        assert (rows_of(rows), count, rows.columns) == ([], 0, ["id", "name"])


@pytest.mark.parametrize("few", [3, 2])
def test_rows_are_mapped_here_or_by_workers(
    step: Workspace, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(table_io, "FEW", few)
    rows, count = step.map_rows(step.engine.rows(SOME), doubled, "twice long")
    assert (rows_of(rows), count) == ([(2,), (4,), (6,)], 3)


def test_what_is_added_follows_the_columns_that_were_there(step: Workspace) -> None:
    rows, count = step.map_rows(step.engine.rows(SOME), numbered, "twice long", adds=True)
    assert (rows_of(rows), count) == ([(1, "a", 2), (2, None, 4), (3, "c", 6)], 3)
    assert rows.columns == ["id", "name", "twice"]


@pytest.mark.parametrize("adds", [False, True])
def test_nothing_is_mapped_to_nothing(step: Workspace, adds: bool) -> None:
    def refuse(_: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        raise AssertionError

    none = step.engine.rows(SOME).where("id > 9")
    rows, count = step.map_rows(none, refuse, "twice long", adds=adds)
    assert (rows_of(rows), count) == ([], 0)
    assert rows.columns == (["id", "name", "twice"] if adds else ["twice"])


def test_what_a_function_drops_does_not_count(step: Workspace) -> None:
    def drop(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from (batch.slice(0, 0) for batch in batches)

    rows, count = step.map_rows(step.engine.rows(SOME), drop, "id long, name string")
    assert (rows_of(rows), count, rows.columns) == ([], 0, ["id", "name"])


def test_the_rows_of_a_step_that_are_held_have_one_folder(work: Workspace) -> None:
    """It ends with the step, for those that had to be written for a server."""
    work.sweep()
    for number in (1, 2):
        work.scratch(work.engine.rows(SOME).where(f"id > {number}"))
    (folder,) = work._scratch
    work.sweep()
    assert work._scratch == []
    work.scratch(work.engine.rows(SOME))
    assert len(work._scratch) == 1
    assert work._scratch != [folder]


@pytest.mark.parametrize("column", ["'x'", "soundex('x')"])
def test_of_long_texts_a_reader_holds_a_page(
    work: Workspace, monkeypatch: pytest.MonkeyPatch, column: str
) -> None:
    """Only a server knows soundex. Texts of 5 KB that do not repeat, in 16 pages of 64 rows."""
    texts = pa.table({"n": range(1024), "text": [f"{n:<5000}" for n in range(1024)]})
    rows = work.engine.rows(texts).withColumn("other", F.expr(column))
    (file,) = work.scratch_files(rows, page_rows=64)
    usual, pool = pa.default_memory_pool(), pa.proxy_memory_pool(pa.system_memory_pool())
    monkeypatch.setattr("gossamer.state.sorted_rows.BATCH_ROWS", 32)
    pa.set_memory_pool(pool)
    try:
        read = [row["text"] for row in merge_sorted([f"{work.root}/{file.path}"], ["n"])]
    finally:
        pa.set_memory_pool(usual)
    assert pool.max_memory() < 4 * 64 * 5_000
    assert sorted(read) == sorted(texts["text"].to_pylist())


def test_tables_without_an_engine_say_so(tmp_path: Path) -> None:
    tables = table_io.Tables(Store.create(LocalBackend(tmp_path)))
    with pytest.raises(RuntimeError, match="without an engine"):
        _ = tables.engine


def test_what_is_not_small_is_left_to_the_server_at_once(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Engine, "hold", lambda *_: None)
    monkeypatch.delattr(client, "_write")
    assert work.scratch(work.engine.rows(SOME))[1] == 3
    with pytest.raises(NameError):
        work.scratch_files(work.engine.rows(SOME))


@pytest.mark.parametrize("by_tasks", [False, True])
def test_files_of_a_layer_are_compressed_and_have_checksums(
    work: Workspace, monkeypatch: pytest.MonkeyPatch, by_tasks: bool
) -> None:
    """Tasks read them if it is much, as on a cluster, whose disks are elsewhere."""
    monkeypatch.setattr(table_io.Tables, "_is_embedded", not by_tasks)
    monkeypatch.setattr(table_io, "CHECKED_HERE_BYTES", 0)
    rows = frame(work, HOSTS.name, [{"host": "a"}, {"host": "b"}])
    layer = work.write(rows, HOSTS.name, 3)
    assert (layer.round, layer.rows) == (3, 2)
    (file,) = layer.files
    assert file.xxh3 == work.store.backend.checksum(file.path)
    metadata = parquet.metadata(f"{work.root}/{file.path}")
    assert metadata.row_group(0).column(0).compression == "ZSTD"
