"""The folder that a dataset's link leads to belongs to one crawl and one dataset."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from gossamer.errors import Occupied, StoreError
from gossamer.storage import ownership
from gossamer.storage.names import OWNER_MARK
from gossamer.storage.ownership import claim_folder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """A folder on another disk, and a crawl whose dataset `warc` is a link to it."""
    (tmp_path / "disk").mkdir()
    link_to(tmp_path / "disk", tmp_path / "crawl")
    return tmp_path / "disk"


def link_to(folder: Path, crawl: Path) -> None:
    crawl.mkdir(exist_ok=True)
    (crawl / "warc").symlink_to(folder)


def claim(disk: Path, folder: str = "crawl", crawl: str = "random") -> Path:
    """Claim it for a crawl in a folder beside it, without any file."""
    return claim_folder(disk.parent / folder, "warc", crawl, set)


def test_a_crawl_that_was_moved_owns_it_still(disk: Path) -> None:
    """Even if another one is now where it was."""
    claim(disk)
    shutil.move(disk.parent / "crawl", disk.parent / "moved")
    (disk.parent / "disk2").mkdir()
    link_to(disk.parent / "disk2", disk.parent / "crawl")
    assert claim(disk, "moved") == disk
    link_to(disk, disk.parent / "copy")
    with pytest.raises(Occupied, match="moved"):
        claim(disk, "copy")


def test_a_crawl_whose_folder_has_two_names_owns_it_under_both(disk: Path) -> None:
    """As on file systems that ignore case; here, by a name that no mark has."""
    claim(disk)
    mark = disk / OWNER_MARK
    mark.write_text(mark.read_text().replace("/crawl", "/disk/../crawl"))
    assert claim(disk) == disk


def test_a_mark_that_names_no_crawl_is_an_error(disk: Path) -> None:
    (disk / OWNER_MARK).write_text("{}")
    with pytest.raises(StoreError, match="does not name a crawl"):
        claim(disk)


def test_the_first_mark_of_a_folder_counts(tmp_path: Path) -> None:
    first, second = (ownership.Owner(name, f"/{name}", "pages") for name in ("one", "two"))
    assert ownership._write_first(tmp_path / "mark", first) == first
    assert ownership._write_first(tmp_path / "mark", second) == first
    assert ownership._read_owner(tmp_path / "mark") == first


def test_a_folder_that_is_gone_is_not_that_of_a_crawl(tmp_path: Path) -> None:
    assert ownership._is_folder(tmp_path, tmp_path)
    assert not ownership._is_folder(tmp_path / "gone", tmp_path)
    assert ownership._resolve_owner(tmp_path / "gone") is None
