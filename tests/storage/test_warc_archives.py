"""Which files of an archive have an index, how they are divided, and how records are packed."""

from __future__ import annotations

import gzip

import pytest
from isal import isal_zlib

from gossamer.storage.store import File
from gossamer.storage.warc import archives, records
from gossamer.storage.warc.archives import Archive
from gossamer.storage.warc.writer import ARCHIVE, index_path


def file(path: str, size: int = 7) -> File:
    return File(path, 0, size, "")


def test_an_archive_has_the_index_of_its_name_wherever_that_is() -> None:
    one, other, bare = (f"warc/{name}{ARCHIVE}" for name in ("a/1", "a/2", "b/3"))
    elsewhere = f"warc/repaired/{index_path(other).rpartition('/')[2]}"
    listed = [file(one), file(index_path(one)), file(other, 9), file(elsewhere), file(bare)]
    assert list(archives.indexed_archives(listed)) == [
        Archive(one, index_path(one), 7),
        Archive(other, elsewhere, 9),
    ]


@pytest.mark.parametrize(
    ("sizes", "shares"),
    [
        ([], []),
        ([0, 0], []),
        ([3, 4], ["ab"]),
        ([3, 5], ["a", "b"]),
        ([9, 1], ["a", "b"]),
        ([1, 0, 6, 1], ["ac", "d"]),
        ([4, 4, 3, 1], ["a", "bc", "d"]),
        ([9, 9], ["a", "b"]),
    ],
)
def test_neighbours_share_a_file_up_to_a_limit(sizes: list[int], shares: list[str]) -> None:
    """Those of which nothing is copied are left out."""
    parts = [(Archive(name, "", 0), size) for name, size in zip("abcd", sizes, strict=False)]
    found = archives.divide(parts, 7)
    assert ["".join(each.path for each in share) for share in found] == shares


def test_small_records_are_packed_at_another_level_than_large_ones() -> None:
    words = " ".join(str(n * n) for n in range(records.SMALL_BYTES)).encode()
    bare = len(gzip.decompress(records.warc_record("resource", "x", "", words[:1000]))) - 1000
    sizes = set()
    for size in range(records.SMALL_BYTES - bare - 3, records.SMALL_BYTES - bare + 4):
        packed = records.warc_record("resource", "x", "", words[:size])
        data = gzip.decompress(packed)
        sizes.add(len(data))
        level = records.LEVEL if len(data) > records.SMALL_BYTES else records.SMALL_LEVEL
        assert packed == isal_zlib.compress(data, level, records.GZIP)
    assert {records.SMALL_BYTES, records.SMALL_BYTES + 1} <= sizes
