"""Segments as files, and as one after a merge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import StoreError
from gossamer.semantic.merging import (
    MAX_TEXTS,
    dead_share,
    group_owners,
    merge_segments,
    taken_up,
)
from gossamer.semantic.quantizing import quantize
from gossamer.semantic.segments import (
    MAX_OWNERS,
    Segment,
    open_segment,
    order_by_page,
    write_segment,
)
from gossamer.storage import opening

if TYPE_CHECKING:
    from pathlib import Path

DIMENSION = 70
PAGES = st.dictionaries(st.integers(1, 9), st.sets(st.integers(0, 12), max_size=4), max_size=6)
"""The texts of pages; without any, a page is gone."""


def vector(text: int) -> np.ndarray:
    return np.random.default_rng(text).normal(size=DIMENSION).astype(np.float32)


def segment(pages: dict[int, set[int]]) -> Segment:
    pairs = [(text, page) for page, texts in pages.items() for text in texts]
    hashes = np.array([text for text, _ in pairs], np.uint64)
    texts, starts, owners = group_owners(hashes, np.array([page for _, page in pairs], np.int64))
    rows = np.array([vector(int(text)) for text in texts]).reshape(-1, DIMENSION)
    covered = np.array(sorted(pages), np.int64)
    return Segment(texts, quantize(rows), starts, owners, order_by_page(owners), covered)


def texts_by_page(stack: list[Segment]) -> dict[int, set[int]]:
    """What a stack says: its newest segments win."""
    found: dict[int, set[int]] = {}
    for each in stack:
        for page in each.covered.tolist():
            found.pop(page, None)
        for place, text in enumerate(each.hashes.tolist()):
            for page in each.owners_of(place).tolist():
                found.setdefault(page, set()).add(text)
    return found


@given(st.lists(PAGES, min_size=1, max_size=5), st.data())
def test_a_merge_says_what_its_segments_say(
    states: list[dict[int, set[int]]], data: st.DataObject
) -> None:
    stack = [segment(pages) for pages in states]
    count = data.draw(st.integers(1, len(stack)))
    is_oldest = count == len(stack)
    merged = merge_segments(stack[-count:], (), is_oldest=is_oldest)
    assert texts_by_page([*stack[:-count], merged]) == texts_by_page(stack)
    for place, text in enumerate(merged.hashes.tolist()):
        expected = quantize(vector(text)[None])
        assert (merged.vectors.numbers[place] == expected.numbers[0]).all()
        assert merged.vectors.scales[place] == expected.scales[0]
        assert (merged.vectors.signs[place] == expected.signs[0]).all()
    assert [*merged.hashes] == sorted({*merged.hashes})
    assert len(merged.covered) == 0 or not is_oldest


@given(st.lists(PAGES, min_size=2, max_size=4))
def test_an_older_segment_is_cleaned(states: list[dict[int, set[int]]]) -> None:
    stack = [segment(pages) for pages in states]
    before = texts_by_page(stack)
    stack[0] = merge_segments(stack[:1], stack[1:], is_oldest=True)
    assert dead_share(stack[0], stack[1:]) == 0
    assert texts_by_page(stack) == before


@given(PAGES)
def test_files_hold_segments(
    tmp_path_factory: pytest.TempPathFactory, pages: dict[int, set[int]]
) -> None:
    made, path = segment(pages), tmp_path_factory.mktemp("vectors") / "1.vec"
    write(made, path)
    found = open_segment(path, "name")
    for one, other in zip(made, found, strict=True):
        if isinstance(one, np.ndarray):
            np.testing.assert_array_equal(one, other)
    for mine, theirs in zip(made.vectors, found.vectors, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    for page, texts in pages.items():
        assert {int(found.hashes[place]) for place in found.places_of(page)} == texts
    wanted = np.arange(14, dtype=np.uint64)
    assert [int(found.hashes[at]) if at >= 0 else -1 for at in found.find(wanted)] == [
        text if any(text in texts for texts in pages.values()) else -1 for text in range(14)
    ]


def write(made: Segment, path: Path) -> None:
    file = opening.create(str(path))
    write_segment(file, made)
    file.close()


@pytest.mark.parametrize("change", ["cut", "longer", "magic", "texts", "empty"])
def test_damaged_files_are_refused(tmp_path: Path, change: str) -> None:
    path = tmp_path / "1.vec"
    write(segment({1: {2, 3}, 4: set()}), path)
    data = bytearray(path.read_bytes())
    match change:
        case "cut":
            del data[-64:]
        case "longer":
            data += bytes(64)
        case "magic":
            data[0] ^= 1
        case "texts":
            data[12:20] = (2**62).to_bytes(8, "little")
        case "empty":
            data.clear()
    path.write_bytes(data)
    with pytest.raises(StoreError, match=r"the\.name: is damaged"):
        open_segment(path, "the.name")


def test_a_text_has_so_many_owners() -> None:
    pages = {page: {7} for page in range(2 * MAX_OWNERS)}
    assert segment(pages).owners_of(0).tolist() == list(range(MAX_OWNERS))


def of_size(texts: int) -> Segment:
    like = segment({})
    return like._replace(hashes=np.empty(texts, np.uint64))


@pytest.mark.parametrize(
    ("sizes", "count"),
    [
        ([10], 1),
        ([30, 10], 1),
        ([20, 10], 2),
        ([100, 20, 10], 2),
        ([60, 20, 10], 3),
        ([MAX_TEXTS, MAX_TEXTS], 1),
    ],
)
def test_segments_that_are_not_much_larger_are_taken_up(sizes: list[int], count: int) -> None:
    assert taken_up([of_size(size) for size in sizes]) == count
