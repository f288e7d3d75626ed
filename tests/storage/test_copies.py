"""Copies of objects on a disk of this machine."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from threading import Barrier, Semaphore
from typing import Any
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gossamer.errors import ConfigError, StoreError, StoreFull
from gossamer.storage import local_copies, opening, parquet, places
from gossamer.storage.checksums import checksum_bytes
from gossamer.storage.local_copies import FETCHED_AT_ONCE
from gossamer.storage.objects.bucket import Bucket
from gossamer.storage.store import File

LONG_AGO_S = 1_000_000_000


@pytest.fixture(autouse=True)
def cache(s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:  # noqa: ARG001  # it sets another
    folder = tmp_path / "cache"
    monkeypatch.setenv(places.CACHE, str(folder))
    monkeypatch.setattr(local_copies, "SWEEP_S", -1)
    return folder


def copies(cache: Path) -> list[Path]:
    return [path for path in cache.glob("*/*") if path.is_file()]


def put(root: str, path: str, data: bytes) -> File:
    made = opening.write(f"{root}/{path}", data)
    return File(path, 0, made.size, made.xxh3)


def test_a_file_of_a_folder_is_used_where_and_as_it_is(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "crawl" / "index" / "a" / "0.1-x" / "en" / "meta.json"
    file = put(str(tmp_path / "crawl"), "index/a/0.1-x/en/meta.json", b"data")
    os.utime(path, (LONG_AGO_S, LONG_AGO_S))
    assert local_copies.local_copy(str(path)) == path
    assert path.stat().st_mtime == LONG_AGO_S
    with local_copies.local_folder(str(tmp_path / "crawl"), [file]) as folder:
        assert folder == path.parent
    assert not cache.exists()


def test_a_file_whose_older_name_is_gone_is_kept_as_a_new_one(tmp_path: Path) -> None:
    gone = File("index/a/0.0-x/en/old.store", 0, 9, checksum_bytes(b"old"))
    with local_copies.workshop(str(tmp_path), "index/b/0.1-y/en") as here:
        (here / "new.store").write_bytes(b"data")
        kept = local_copies.keep_copy(here / "new.store", str(tmp_path), "index/b/0.1-y/en", gone)
    assert kept == (4, checksum_bytes(b"data"))


def test_a_task_writes_files_of_a_folder_where_they_stay(tmp_path: Path, cache: Path) -> None:
    with local_copies.workshop(str(tmp_path), "index/b/0.1-y/en") as here:
        (here / "meta.json").write_bytes(b"data")
        kept = local_copies.keep_copy(here / "meta.json", str(tmp_path), "index/b/0.1-y/en")
    assert kept == (4, checksum_bytes(b"data"))
    assert (tmp_path / "index/b/0.1-y/en/meta.json").read_bytes() == b"data"
    assert not cache.exists()


def test_several_files_of_a_folder_take_no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(local_copies, "ThreadPoolExecutor")
    paths = ["/crawl/pages/a", "/crawl/pages/b"]
    assert local_copies.near_all(paths) == paths


def test_an_object_is_fetched_once(s3: str, cache: Path) -> None:
    file = put(s3, "graph/a/pages.graph", b"bits")
    copy = local_copies.local_copy(f"{s3}/{file.path}")
    assert copy.read_bytes() == b"bits"
    opening.remove(f"{s3}/{file.path}")
    assert local_copies.local_copy(f"{s3}/{file.path}") == copy
    with pytest.raises(FileNotFoundError):
        local_copies.local_copy(f"{s3}/graph/a/none")
    assert copies(cache) == [copy]


def test_equal_objects_are_fetched_once(s3: str, cache: Path) -> None:
    one, other = (put(s3, f"index/{name}/0.1-x/en/a.store", b"same") for name in "ab")
    copy = local_copies.local_copy(f"{s3}/{one.path}", one.xxh3)
    opening.remove(f"{s3}/{other.path}")
    assert local_copies.local_copy(f"{s3}/{other.path}", other.xxh3) == copy
    assert copies(cache) == [copy]


def test_a_damaged_object_is_not_kept(s3: str, cache: Path) -> None:
    file = put(s3, "index/a/0.1-x/en/a.store", b"whole")
    opening.replace(f"{s3}/{file.path}", b"other")
    with pytest.raises(StoreError, match=f"{file.path}: is damaged: its checksum differs"):
        local_copies.local_copy(f"{s3}/{file.path}", file.xxh3)
    assert copies(cache) == []


def test_files_of_a_folder_have_their_names_and_outlive_it(s3: str, cache: Path) -> None:
    place = "index/a/0007.1-x/en"
    listed = [put(s3, f"{place}/{name}", name.encode()) for name in ("meta.json", "a.store")]
    with local_copies.local_folder(s3, listed) as folder:
        assert folder.parts[-4:] == tuple(place.split("/"))
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
            "meta.json": b"meta.json",
            "a.store": b"a.store",
        }
        opened = (folder / "a.store").open("rb")
    assert not folder.exists()
    assert len(copies(cache)) == len(listed)
    with opened:
        assert opened.read() == b"a.store"


def test_a_task_keeps_what_it_has_written(s3: str, cache: Path) -> None:
    old = put(s3, "index/a/0.1-x/en/old.store", b"old")
    replaced = put(s3, "index/a/0.1-x/en/meta.json", b"before")
    place = "index/b/0.1-y/en"
    with local_copies.workshop(s3, place) as here:
        assert here.is_relative_to(cache)
        for file in (old, replaced):
            local_copies.hard_link(s3, file, here / file.path.rpartition("/")[2])
        (here / "draft").write_bytes(b"after")
        (here / "draft").replace(here / "meta.json")  # as tantivy does
        (here / "lock").write_bytes(b"")
        kept = {
            file.path: local_copies.keep_copy(
                here / file.path.rpartition("/")[2], s3, place, file, by_content=True
            )
            for file in (old, replaced)
        }
    assert kept == {old.path: (3, old.xxh3), replaced.path: (5, checksum_bytes(b"after"))}
    assert opening.list_files(f"{s3}/{place}") == [
        f"{s3}/{place}/meta.json",
        f"{s3}/{place}/old.store",
    ]
    assert opening.read(f"{s3}/{place}/old.store") == b"old"
    assert opening.read(f"{s3}/{place}/meta.json") == b"after"
    assert opening.read(f"{s3}/{replaced.path}") == b"before"
    opening.remove(f"{s3}/{place}/meta.json")
    copy = local_copies.local_copy(f"{s3}/{place}/meta.json", checksum_bytes(b"after"))
    assert copy.read_bytes() == b"after", "what a task has written is in the cache, too"
    assert not list(cache.glob("work-*"))


@pytest.mark.parametrize("are_tables", [False, True])
def test_several_files_are_fetched_at_once_and_not_all(
    are_tables: bool, s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = [put(s3, f"index/a/0.1-x/en/{n}", b"%d" % n) for n in range(2 * FETCHED_AT_ONCE)]
    all_at_once, running, most = Barrier(FETCHED_AT_ONCE), Semaphore(FETCHED_AT_ONCE), []
    fetch = local_copies._fetch_copy

    def fetched(*given: Any, **options: Any) -> bool:
        most.append(running.acquire(blocking=False))
        all_at_once.wait(60)
        running.release()
        return fetch(*given, **options)

    monkeypatch.setattr(local_copies, "_fetch_copy", fetched)
    if are_tables:
        here, *held = local_copies.near_all(["/table", *(f"{s3}/{file.path}" for file in listed)])
        assert here == "/table"
        assert [int(Path(path).read_bytes()) for path in held] == list(range(2 * FETCHED_AT_ONCE))
    else:
        with local_copies.local_folder(s3, listed) as folder:
            assert {int(path.name) for path in folder.iterdir()} == set(range(2 * FETCHED_AT_ONCE))
    assert most == [True] * len(listed)


def test_the_files_that_were_not_used_for_the_longest_time_go(
    s3: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(local_copies.CACHE_GB, "0.0000025")
    old = [put(s3, f"index/a/{name}", name.encode() * 1_000) for name in "abc"]
    held = [local_copies.local_copy(f"{s3}/{file.path}", file.xxh3) for file in old]
    assert all(path.exists() for path in held), "they are in use"
    for age, path in zip((2, 3, 1), held, strict=True):
        os.utime(path, (LONG_AGO_S - age, LONG_AGO_S - age))
    dead, me = 999_999_999, os.getpid()
    gone, lives, new = (f"work-{dead}-{0:032}", f"work-{me}-{0:032}", f"work-{dead}-{1:032}")
    for name in (gone, lives, new):
        (cache / name / "index").mkdir(parents=True)
    for name in (gone, lives):
        os.utime(cache / name, (LONG_AGO_S, LONG_AGO_S))
    local_copies.local_copy(f"{s3}/{put(s3, 'index/a/d', b'd').path}")
    assert [path.exists() for path in held] == [True, False, True]
    assert {path.name for path in cache.glob("work-*")} == {lives, new}


def test_files_of_the_user_in_the_folder_of_the_cache_stay(
    s3: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GOSSAMER_CACHE may name a folder that is used for other things."""
    monkeypatch.setenv(local_copies.CACHE_GB, "0")
    monkeypatch.setattr(local_copies, "IN_USE_S", -1)
    paths = ["work-2024/a", "work-999999999-holiday/a", "photos/a.jpg", "photos/2024/a.jpg", "ab/a"]
    paths += [f"ab/cd{'0' * 14}", f"photos/ab{'0' * 14}", f"ab{'0' * 14}"]
    theirs = [cache / path for path in paths]
    for path in theirs:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    for path in (*theirs, *cache.iterdir()):
        os.utime(path, (LONG_AGO_S, LONG_AGO_S))
    copy = local_copies.local_copy(f"{s3}/{put(s3, 'index/a/x', b'x').path}")
    assert not copy.exists()
    assert [path for path in theirs if not path.exists()] == []


def test_the_cache_is_looked_through_at_times(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(local_copies.CACHE_GB, "0")
    monkeypatch.setattr(local_copies, "SWEEP_S", 3600)
    monkeypatch.setattr(local_copies, "IN_USE_S", -1)
    first, second = (
        local_copies.local_copy(f"{s3}/{put(s3, f'graph/a/{name}', b'x').path}") for name in "ab"
    )
    assert not first.exists()
    assert second.exists()


def test_a_size_that_is_no_number_is_named(
    s3: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(local_copies.CACHE_GB, "20 GB")
    file = put(s3, "graph/a/x", b"x")
    with pytest.raises(ConfigError, match=r"\$GOSSAMER_CACHE_GB: '20 GB' is not a number"):
        local_copies.local_copy(f"{s3}/{file.path}")
    assert len(copies(cache)) == 1


def test_a_cache_that_cannot_be_written_is_named(
    s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv(places.CACHE, str(tmp_path / "file"))
    file = put(s3, "graph/a/x", b"x")
    with pytest.raises(StoreError, match="file/") as error:
        local_copies.local_copy(f"{s3}/{file.path}")
    assert "set GOSSAMER_CACHE to another folder" in error.value.remedy


def test_a_full_cache_is_named_and_smaller_files_fit(
    s3: str, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(places.CACHE, str(small_disk / "cache"))
    file = put(s3, "graph/a/x", bytes(2 << 20))
    with pytest.raises(StoreFull, match=f"{small_disk}/cache/.*: no space left") as error:
        local_copies.local_copy(f"{s3}/{file.path}")
    assert "set GOSSAMER_CACHE to another folder" in error.value.remedy
    small = put(s3, "graph/a/y", b"y")
    assert local_copies.local_copy(f"{s3}/{small.path}").read_bytes() == b"y"


def test_a_copy_of_somebody_else_is_named(
    s3: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = put(s3, "graph/a/x", b"x")
    local_copies.local_copy(f"{s3}/{file.path}")
    monkeypatch.setattr(os, "utime", Mock(side_effect=PermissionError(errno.EACCES, "denied")))
    with pytest.raises(StoreError, match=str(cache)) as error:
        local_copies.local_copy(f"{s3}/{file.path}")
    assert "set GOSSAMER_CACHE to another folder" in error.value.remedy


def test_small_tables_are_fetched_once_and_large_ones_not_at_all(
    s3: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_copies, "NEAR_BYTES", 5)
    small, large = (put(s3, f"pages/a/{name}", name.encode()) for name in ("small", "larger"))
    copy = local_copies.near_copy(f"{s3}/{small.path}")
    assert copies(cache) == [Path(copy)]
    opening.remove(f"{s3}/{small.path}")
    assert local_copies.near_copy(f"{s3}/{small.path}") == copy
    for _ in range(2):
        assert local_copies.near_copy(f"{s3}/{large.path}") == f"{s3}/{large.path}"
    assert copies(cache) == [Path(copy)]
    assert local_copies.near_copy("/crawl/pages/a") == "/crawl/pages/a"


def test_the_end_of_a_table_is_read_without_a_copy(s3: str, tmp_path: Path, cache: Path) -> None:
    rows = pa.table({"n": np.arange(100_000)})
    pq.write_table(rows, tmp_path / "table", compression="none", use_dictionary=False)
    url = f"{s3}/scratch/a/table.parquet"
    opening.write(url, (tmp_path / "table").read_bytes())
    assert [each.num_rows for each in parquet.read_footers([url, url])] == 2 * [rows.num_rows]
    assert not cache.exists()
    (here,) = parquet.read_footers([str(tmp_path / "table")])
    assert here.num_rows == rows.num_rows


def test_what_was_written_here_is_not_fetched(s3: str, tmp_path: Path) -> None:
    (tmp_path / "part.parquet").write_bytes(b"rows")
    assert local_copies.keep_copy(tmp_path / "part.parquet", s3, "pages/a") == (
        4,
        checksum_bytes(b"rows"),
    )
    url = f"{s3}/pages/a/part.parquet"
    assert opening.read(url) == b"rows"
    opening.remove(url)
    assert Path(local_copies.near_copy(url)).read_bytes() == b"rows"


def test_what_is_too_large_to_be_copied_within_the_store_is_uploaded(
    s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_copies, "COPIED_BYTES", 2)
    monkeypatch.delattr(Bucket, "copy")
    old = put(s3, "index/a/0.1-x/en/old.store", b"old")
    place = "index/b/0.1-y/en"
    with local_copies.workshop(s3, place) as here:
        local_copies.hard_link(s3, old, here / "old.store")
        kept = local_copies.keep_copy(here / "old.store", s3, place, old, by_content=True)
    assert kept == (3, old.xxh3)
    assert opening.read(f"{s3}/{place}/old.store") == b"old"
