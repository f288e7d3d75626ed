"""When a part of the index is rebuilt, and how changes are counted."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from gossamer.index import parts, step
from gossamer.index.indexed_rows import ADDED, KEPT, REMOVED, REPLACED
from gossamer.index.parts import PartSize
from gossamer.index.pending_pages import PageMoves
from gossamer.storage.store import File

if TYPE_CHECKING:
    from pathlib import Path

PLACE = "index/a/0001.1-x/en"
EN, DE = (1, "en"), (1, "de")


@pytest.fixture
def part(tmp_path: Path) -> list[File]:
    """The files of a part with three segments of ten documents in all, one of them deleted."""
    segments = [
        {"segment_id": "s1", "max_doc": 6, "deletes": {"num_deleted_docs": 1, "opstamp": 7}},
        {"segment_id": "s2", "max_doc": 3, "deletes": None},
        {"segment_id": "s3", "max_doc": 1, "deletes": {"opstamp": 7}},
    ]
    (tmp_path / PLACE).mkdir(parents=True)
    (tmp_path / PLACE / "meta.json").write_text(json.dumps({"segments": segments}))
    return [File(f"{PLACE}/{name}", 0, 0, "") for name in ("s1.store", "meta.json")]


def moves(change: str, pages: int, old: tuple[int, str] | None = EN) -> PageMoves:
    shard, language = old or (None, None)
    return PageMoves(change, 1, "en", shard, language, pages)


def test_the_size_of_a_part_is_that_of_its_segments(tmp_path: Path, part: list[File]) -> None:
    assert parts.part_size(str(tmp_path), part) == PartSize(held=10, dead=1)


@pytest.mark.parametrize(
    ("moved", "is_stale"),
    [
        ([], False),
        ([moves(REPLACED, 2)], False),  # three in ten
        ([moves(REPLACED, 3)], True),
        ([moves(REMOVED, 1), moves(REPLACED, 1)], False),
        ([moves(REMOVED, 1), moves(REPLACED, 2)], True),
        ([moves(ADDED, 9), moves(KEPT, 9)], False),
        ([moves(REPLACED, 9, DE), moves(REMOVED, 9, (2, "en"))], False),
    ],
)
def test_a_part_is_stale_if_too_many_of_its_documents_are_deleted(
    tmp_path: Path, part: list[File], moved: list[PageMoves], is_stale: bool
) -> None:
    assert parts.MAX_DEAD == 0.3
    assert step._is_stale(str(tmp_path), part, EN, moved) is is_stale


def test_pages_are_counted_by_what_happens_to_them() -> None:
    """Those that stay as they are count only where their part is rebuilt."""
    moved = [moves(ADDED, 2, None), moves(ADDED, 3, None), moves(REMOVED, 5), moves(KEPT, 7)]
    elsewhere = PageMoves(KEPT, 2, "en", 2, "en", 11)
    counted = {ADDED: 5, REMOVED: 5}
    assert step._change_totals([*moved, elsewhere], {DE}) == Counter(counted)
    assert step._change_totals([*moved, elsewhere], {EN}) == Counter(counted | {"renewed": 7})


def test_a_replaced_page_changes_two_parts() -> None:
    old = PageMoves(REPLACED, 1, "en", 2, "de", 1)
    assert list(old.changed_parts()) == [(1, "en"), (2, "de")]
    assert list(moves(ADDED, 1, None).changed_parts()) == [(1, "en")]
    assert list(PageMoves(REMOVED, None, None, 2, "de", 1).changed_parts()) == [(2, "de")]
    assert list(moves(KEPT, 1).changed_parts()) == []
