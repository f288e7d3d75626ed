"""New files with running checksums, and the remedies of the operating system's errors."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest

from gossamer.errors import StoreError, StoreFull
from gossamer.storage.checksums import ChecksummedFile, checksum_bytes
from gossamer.storage.errors import REMEDIES, disk_errors, system_error

if TYPE_CHECKING:
    from pathlib import Path


def test_what_is_written_is_counted(tmp_path: Path) -> None:
    file = ChecksummedFile(tmp_path / "new")
    assert (file.write(b"some"), file.write(b""), file.write(b"thing")) == (4, 0, 5)
    assert (file.size, file.xxh3, file.closed) == (9, checksum_bytes(b"something"), False)
    file.close()
    assert file.closed
    file.close()
    assert (tmp_path / "new").read_bytes() == b"something"
    with pytest.raises(FileExistsError):
        ChecksummedFile(tmp_path / "new")


def test_a_write_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither what a first part of it has written, nor a gap before what follows."""
    file, real = ChecksummedFile(tmp_path / "new"), os.write
    file.write(b"kept")
    calls: list[int] = []

    def fill(descriptor: int, data: bytes) -> int:
        calls.append(len(data))
        if len(calls) > 1:
            raise OSError(errno.ENOSPC, "full")
        return real(descriptor, bytes(data)[:3])

    monkeypatch.setattr(os, "write", fill)
    with pytest.raises(OSError, match="full"):
        file.write(b"dropped")
    assert calls == [7, 4]
    monkeypatch.setattr(os, "write", real)
    file.write(b" and more")
    file.close()
    assert (tmp_path / "new").read_bytes() == b"kept and more"
    assert file.xxh3 == checksum_bytes(b"kept and more")


@pytest.mark.parametrize("number", [*REMEDIES])
def test_an_error_has_the_remedy_of_its_number(number: int) -> None:
    error = OSError(number, os.strerror(number), "/crawl/a")
    found = system_error(error)
    assert (found.subject, found.remedy) == ("/crawl/a", REMEDIES[number])
    assert found.what == os.strerror(number).lower()


def test_other_errors_name_the_path_and_its_disk() -> None:
    found = system_error(OSError("What happened"), "the place")
    assert (found.subject, found.what) == ("the place", "what happened")
    assert found.remedy == "check the path and its disk"
    assert isinstance(system_error(OSError(errno.EDQUOT, "over"), "/crawl"), StoreFull)


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOSPC, StoreFull),
        (errno.EACCES, StoreError),
        (errno.EROFS, StoreError),
        (errno.EIO, OSError),
    ],
)
def test_a_path_that_cannot_be_written_is_named(number: int, kind: type[Exception]) -> None:
    with pytest.raises(kind) as found, disk_errors("/crawl"):
        raise OSError(number, os.strerror(number))
    assert found.type is kind
