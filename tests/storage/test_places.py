"""What belongs to a crawl on object storage, and lies on this machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gossamer.api.crawl import Crawl
from gossamer.errors import StoreError, UsageError
from gossamer.storage import parquet, places
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.objects import aws_profiles
from gossamer.storage.places import local_path

if TYPE_CHECKING:
    from gossamer.engine.engine import Engine


@pytest.fixture
def cache(s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:  # noqa: ARG001  # it sets another
    monkeypatch.setenv(places.CACHE, str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_the_cache_is_where_the_user_wants_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(places.CACHE, raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/somebody")
    assert places.cache_folder() == Path("/home/somebody/.cache/gossamer")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert places.cache_folder() == Path("/caches/gossamer")
    monkeypatch.setenv(places.CACHE, "/scratch/mine")
    assert places.cache_folder() == Path("/scratch/mine")


def test_a_user_without_a_home_is_told_where_to_name_a_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HOME", "XDG_CACHE_HOME", places.CACHE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_000)  # as in a container with any user
    with pytest.raises(UsageError, match=r"\$GOSSAMER_CACHE: this user has no home"):
        places.cache_folder()
    assert aws_profiles.variables({}) == {}


@pytest.mark.parametrize(
    "path",
    [
        "s3://bucket/crawl/pages/00000001-0123abcd/a.parquet",
        "s3://bucket/crawl/scratch/00000001-0123abcd/a.parquet",
        "/crawl/scratch/00000001-0123abcd/a.parquet",
        "crawl",
    ],
)
def test_all_but_scratch_files_of_a_machine_are_where_they_are(path: str) -> None:
    assert local_path(path) == path


def test_scratch_files_of_a_machine_are_in_its_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(places.CACHE, "/cache")
    attempt = "scratch/here-4711-0123abcd"
    crawls = ("s3://bucket/one", "s3://bucket/other", "/mnt/backup/one")
    found = {crawl: local_path(f"{crawl}/{attempt}") for crawl in crawls}
    for crawl, place in found.items():
        assert place.startswith("/cache/work-4711-")
        assert place.endswith("-0123abcd")
        assert local_path(f"{crawl}/{attempt}/part/a.parquet") == f"{place}/part/a.parquet"
    assert len(set(found.values())) == len(crawls)


def test_a_step_of_the_embedded_engine_needs_no_objects_for_scratch(
    s3: str, engine: Engine
) -> None:
    work = Crawl.create(s3, engine=engine).work
    before = dict(work.store.backend.sizes(""))
    (file,) = work.scratch_files(engine.spark.range(0, 7, 1, 1))
    path = f"{s3}/{file.path}"
    assert Path(local_path(path)).stat().st_size == file.bytes
    assert parquet.read_table(path).num_rows == file.rows == 7
    assert engine.read([path], "id long").count() == 7
    assert dict(work.store.backend.sizes("")) == before
    work.sweep()
    assert not Path(local_path(path)).parent.exists()


def test_where_nothing_can_be_written_scratch_files_are_elsewhere(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(places.CACHE, str(tmp_path / "cache"))
    work = Crawl.create(str(tmp_path / "crawl"), engine=engine).work
    before = {*Path(work.root).rglob("*")}
    monkeypatch.setattr(LocalBackend, "is_writable", False)
    few = engine.spark.range(0, 7, 1, 1)  # whose rows would stay in memory
    rows, count = work.scratch(few.selectExpr("id", "soundex(string(id)) AS of_a_server"))
    assert rows.count() == count == 7
    assert {*Path(work.root).rglob("*")} == before
    assert list((tmp_path / "cache").iterdir())
    work.sweep()
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_copy_that_was_deleted_meanwhile_is_an_error(
    s3: str, engine: Engine, cache: Path
) -> None:
    """Otherwise the engine would take it for a table without rows."""
    work = Crawl.create(s3, engine=engine).work
    rows = engine.spark.range(0, 7, 1, 1).selectExpr("string(id) AS url", "1 / (1 + id) AS rank")
    with work.step("rank", 1) as draft:
        draft.replace["ranks"] = (work.write(rows, "ranks", 1),)
    with work.step("rank", 1):
        assert work.read("ranks").count() == 7
    step = work.step("rank", 1)
    step.__enter__()
    ranks = work.read("ranks")
    for copy in cache.glob("*/*-url"):
        copy.unlink()
    assert ranks.count() == 0
    with pytest.raises(StoreError, match="this copy of an object was deleted"):
        step.__exit__(None, None, None)
    with work.step("rank", 1):
        assert work.read("ranks").count() == 7
