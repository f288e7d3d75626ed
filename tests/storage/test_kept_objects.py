"""Objects of which the machine that writes them keeps a copy."""

from __future__ import annotations

from io import FileIO
from typing import TYPE_CHECKING

import pytest

from gossamer.errors import StoreError
from gossamer.storage import kept_objects, local_copies, opening, places
from gossamer.storage.checksums import checksum_bytes
from gossamer.storage.objects.bucket import Bucket

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def cache(s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:  # noqa: ARG001  # it sets another
    folder = tmp_path / "cache"
    monkeypatch.setenv(places.CACHE, str(folder))
    return folder


def copies(cache: Path) -> list[Path]:
    return [path for path in cache.glob("*/*") if path.is_file()]


def test_what_was_written_is_kept_when_the_store_has_it(s3: str, cache: Path) -> None:
    url = f"{s3}/pages/a"
    file = kept_objects.create_kept(url)
    file.write(b"some")
    file.write(b"thing")
    assert local_copies.size_of_copy(url) is None
    file.close()
    (copy,) = copies(cache)
    assert (local_copies.near_copy(url), local_copies.size_of_copy(url)) == (str(copy), 9)
    assert (file.size, file.xxh3) == (9, checksum_bytes(b"something"))
    assert opening.read(url) == b"something"
    opening.remove(url)
    with local_copies.open_near(url) as opened:
        assert opened.read() == b"something"


def test_a_copy_that_is_not_used_goes_first(
    s3: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_copies, "SWEEP_S", -1)
    monkeypatch.setenv(local_copies.CACHE_GB, "0.0000025")
    old, used = (f"{s3}/pages/{name}" for name in ("old", "used"))
    for url in (old, used):
        kept_objects.write_kept(url, b"x" * 1_000)
    local_copies.near_copy(used)
    with local_copies.open_near(old):
        kept_objects.write_kept(f"{s3}/pages/new", b"x" * 1_000)
    assert [local_copies.size_of_copy(url) for url in (old, used)] == [None, 1_000]
    assert len(copies(cache)) == 2


def test_an_object_that_was_not_completed_leaves_no_copy(
    s3: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise StoreError("s3://", "is gone", "wait")

    given_up = kept_objects.create_kept(f"{s3}/pages/a")
    given_up.write(b"data")
    assert len(copies(cache)) == 1, "a draft"
    del given_up
    assert copies(cache) == []
    monkeypatch.setattr(Bucket, "complete", fails)
    with pytest.raises(StoreError):
        kept_objects.write_kept(f"{s3}/pages/b", b"data")
    assert copies(cache) == []


def test_of_a_large_object_there_is_no_copy(
    s3: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_objects, "NEAR_BYTES", 8)
    for data, kept in ((b"12345678", 1), (b"123456789", 1)):
        kept_objects.write_kept(f"{s3}/pages/{len(data)}", data)
        assert len(copies(cache)) == kept
        assert opening.read(f"{s3}/pages/{len(data)}") == data


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_objects_are_written_without_a_cache(
    s3: str, cache: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    if when == "before":
        cache.write_text("in the way")
    else:
        monkeypatch.setattr(kept_objects, "FileIO", lambda *_: FileIO("/dev/full", "wb"))
    assert kept_objects.write_kept(f"{s3}/pages/a", b"data").size == 4
    assert opening.read(f"{s3}/pages/a") == b"data"
    assert copies(cache) == []


def test_a_file_of_a_folder_has_no_copy(tmp_path: Path, cache: Path) -> None:
    path = str(tmp_path / "crawl" / "a")
    kept_objects.write_kept(path, b"data")
    with local_copies.open_near(path) as opened:
        assert opened.read() == b"data"
    assert not cache.exists()
