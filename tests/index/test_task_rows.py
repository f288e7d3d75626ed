"""In which passes the engine sorts the texts that the tasks of `index` read."""

from __future__ import annotations

from itertools import chain, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.index.task_rows import grouped
from gossamer.storage.store import File


def file(number: int, size: int) -> File:
    return File(f"documents/{number}.parquet", 1, size, "0")


@given(st.lists(st.integers(0, 9), max_size=20), st.integers(1, 20))
def test_files_stay_in_order_in_as_few_groups_as_they_fit(sizes: list[int], most: int) -> None:
    files = [(file(number, size), size) for number, size in enumerate(sizes)]
    groups = grouped(files, most)
    assert [*chain.from_iterable(groups)] == [each for each, _ in files]
    counted = [[each.bytes for each in group] for group in groups]
    assert all(sum(group) <= most or sum(map(bool, group)) == 1 for group in counted)
    assert all(sum(one) + other[0] > most for one, other in pairwise(counted))


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([], [[]]),
        ([0, 0, 0], [[0, 1, 2]]),
        ([9, 1], [[0], [1]]),
        ([0, 9, 0, 3], [[0, 1], [2, 3]]),
        ([2, 3, 1, 5], [[0, 1], [2], [3]]),
    ],
)
def test_a_file_that_is_too_large_has_a_group(sizes: list[int], expected: list[list[int]]) -> None:
    files = [(file(number, 1), size) for number, size in enumerate(sizes)]
    names = [[file(number, 1) for number in group] for group in expected]
    assert grouped(files, 5) == names
