from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from msgspec import structs

from gossamer.config import Config
from gossamer.errors import MissingFile
from gossamer.state.table_io import FEW
from gossamer.state.workspace import FEW_PAGES, Workspace
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.names import CONFIG_NAME
from gossamer.storage.store import Store
from tests.support.bare_stores import put, report

if TYPE_CHECKING:
    from pathlib import Path

PATIENCE_S = 10


def test_no_rows_have_the_columns_of_their_query_which_is_planned_again_only_for_these(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = work.engine.spark.range(3).selectExpr("id", "array(named_struct('a', 'x')) AS list")
    asked: list[str] = []
    client = frame.sparkSession.client
    analyze = client._analyze

    def noted(method: str, **more: Any) -> Any:
        asked.append(method)
        return analyze(method, **more)

    monkeypatch.setattr(client, "_analyze", noted)
    none, count = work.scratch(frame.where("id > 5"))
    assert (count, asked) == (0, [])
    assert none.schema == frame.schema
    times = len(asked)
    assert none.unionByName(frame).count() == 3
    assert frame.join(none, on="id", how="left_anti").count() == 3
    assert len(asked) == times


@pytest.mark.parametrize("known", [0, FEW_PAGES - 1, FEW_PAGES])
def test_the_engine_of_a_small_crawl_is_frugal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: int
) -> None:
    asked: list[bool] = []

    def engine(*_: object, is_frugal: bool) -> None:
        asked.append(is_frugal)

    monkeypatch.setattr("gossamer.engine.engine.Engine", engine)
    monkeypatch.delattr("gossamer.state.workspace._check_engine")  # of crawls in buckets
    store = Store.create(LocalBackend(tmp_path / "crawl"))
    if known:
        layer = put(store, "pages")
        (file,) = layer.files
        layer = structs.replace(layer, files=(structs.replace(file, rows=known),))
        store.commit(report("inject"), append={"pages": layer})
    assert Workspace(store, Config()).engine is None
    assert asked == [known < FEW_PAGES]


def test_settings_have_changed_when_their_file_was_written(tmp_path: Path) -> None:
    """Unless that is to come."""
    now_ms = 1_800_000_000_000
    work = Workspace(Store.create(LocalBackend(tmp_path)), Config(), clock_ms=now_ms)
    assert work.settings_changed_ms == 0
    settings = tmp_path / CONFIG_NAME
    settings.write_text("")
    for written_ms, changed_ms in ((7_000, 7_000), (now_ms, now_ms), (now_ms + 1_000, 0)):
        os.utime(settings, ns=(0, written_ms * 1_000_000))
        assert work.settings_changed_ms == changed_ms


def test_two_calls_on_few_rows_run_at_once(work: Workspace) -> None:
    met = threading.Barrier(2, timeout=PATIENCE_S)
    one, other = work.both(FEW, met.wait, met.wait)
    assert {one, other} == {0, 1}


def test_two_calls_on_many_rows_run_one_after_the_other(work: Workspace) -> None:
    done: list[str] = []
    work.both(FEW + 1, lambda: done.append("one"), lambda: done.append("other"))
    assert done == ["one", "other"]


def test_an_error_of_either_call_is_raised(work: Workspace) -> None:
    def fail() -> None:
        raise KeyError

    for calls in ((fail, int), (int, fail)):
        with pytest.raises(KeyError):
            work.both(0, *calls)


def test_an_error_of_arrow_names_the_damaged_table(tmp_path: Path) -> None:
    store = Store.create(LocalBackend(tmp_path))
    layer = put(store, "pages", b"no rows")
    store.commit(report(), append={"pages": layer})
    with (
        pytest.raises(MissingFile, match=f"{tmp_path}/{layer.files[0].path}: is damaged"),
        Workspace(store, Config()).errors(),
    ):
        raise pa.ArrowInvalid


def test_scratch_files_are_deleted_at_the_end(tmp_path: Path) -> None:
    work = Workspace(Store.create(LocalBackend(tmp_path)), Config())
    before = list(work.store.backend.sizes(""))
    work.store.backend.create(f"{work.scratch_attempt()}/part/a.parquet", b"rows")
    work.sweep()
    assert list(work.store.backend.sizes("")) == before
