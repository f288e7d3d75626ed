"""What is left on the disk and open after files were written, or could not be."""

from __future__ import annotations

import os
import stat
import time
from typing import TYPE_CHECKING

import psutil
import pyarrow as pa
import pytest

from gossamer.errors import StoreError
from gossamer.storage import local_copies, opening
from gossamer.storage.checksums import ChecksummedFile
from gossamer.storage.local_backend import LocalBackend, rewrite_file
from gossamer.storage.lock_holder import Holder
from gossamer.storage.task_output import ParquetWriter
from tests.support.descriptors import none_left_open

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def closed(tmp_path: Path) -> Iterator[None]:
    with none_left_open(tmp_path):
        yield


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("private", [False, True])
def test_a_file_is_created_once(tmp_path: Path, private: bool) -> None:
    backend = LocalBackend(tmp_path)
    backend.create("a/x", b"one", private=private)
    assert names(tmp_path / "a") == ["x"]
    others = stat.S_IMODE((tmp_path / "a/x").stat().st_mode) & 0o077
    assert (not others) or not private
    with pytest.raises(FileExistsError):
        backend.create("a/x", b"two")
    assert backend.read("a/x") == b"one"
    assert names(tmp_path / "a") == ["x"]
    backend.sync(["a/x"])
    assert backend.sizes_of(["a/x", "a/y"]) == {"a/x": 3}


@pytest.mark.parametrize(("private", "mode"), [(False, 0o750), (True, 0o700)])
def test_a_file_is_rewritten(tmp_path: Path, private: bool, mode: int) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"one")
    path.chmod(0o750)
    rewrite_file(str(path), b"two", private=private)
    assert path.read_bytes() == b"two"
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert names(tmp_path) == ["x"]


def test_what_is_not_there_is_not_rewritten(tmp_path: Path) -> None:
    with pytest.raises((StoreError, OSError)):
        rewrite_file(str(tmp_path / "x"), b"two", private=False)
    assert names(tmp_path) == []


def test_a_lock_is_held_by_one_and_then_empty(tmp_path: Path) -> None:
    backend, holder = LocalBackend(tmp_path), Holder.me()
    for _ in range(2):
        with backend.lock(holder) as was_held:
            assert not was_held
            assert backend.holder() == holder
            with pytest.raises(StoreError), LocalBackend(tmp_path).lock(holder):
                pass
            assert backend.holder() == holder
        assert backend.holder() is None
        assert (tmp_path / ".lock").read_bytes() == b""
    assert stat.S_IMODE((tmp_path / ".lock").stat().st_mode) == 0o600


def test_a_checksummed_file(tmp_path: Path) -> None:
    file = ChecksummedFile(tmp_path / "x")
    assert (file.closed, file.tell()) == (False, 0)
    assert file.write(b"12") + file.write(b"345") == file.size == file.tell() == 5
    file.close()
    assert file.closed
    file.close()
    assert file.xxh3 == opening.write(str(tmp_path / "y"), b"12345").xxh3


def test_a_file_that_was_not_created_closes_nothing(tmp_path: Path) -> None:
    """Descriptor 0 is the standard input."""
    (tmp_path / "x").touch()
    before = os.fstat(0)
    with pytest.raises(FileExistsError):
        ChecksummedFile(tmp_path / "x")
    assert os.path.samestat(os.fstat(0), before)


def test_a_file_that_a_task_forgot_is_closed(tmp_path: Path) -> None:
    ChecksummedFile(tmp_path / "x").write(b"1")


def test_a_shelf_of_the_cache_is_locked(tmp_path: Path) -> None:
    for _ in range(2):
        with local_copies._lock_shelf(tmp_path), none_left_open(tmp_path):
            pass


def test_a_table_that_a_task_has_written_is_closed(tmp_path: Path) -> None:
    output = ParquetWriter(str(tmp_path), "own", "own/1", schema=pa.schema([("n", pa.int64())]))
    assert output.close() == []
    for number in range(2):
        output.write(pa.table({"n": [number]}))
    (row,) = output.close()
    assert (row["name"], row["rows"]) == ("own", 2)
    assert row["bytes"] == (tmp_path / str(row["path"])).stat().st_size


def test_a_holder_lives_as_long_as_its_process() -> None:
    me = Holder.me()
    assert me.lives()
    began_ms = int(psutil.Process().create_time() * 1000)
    assert Holder(me.pid, me.machine, "x", began_ms + 1).lives()
    assert not Holder(me.pid, me.machine, "x", began_ms - 1).lives(), "another process has its pid"
    assert not Holder(999_999_999, me.machine, "x", me.since_ms).lives()
    assert Holder(999_999_999, "another", "x", 0).lives()
    assert Holder.me(7).pid == 7
    assert me.since_ms <= time.time() * 1000
