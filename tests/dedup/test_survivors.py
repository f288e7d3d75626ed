"""Estimates of similarity, and which pages survive, from pairs by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gossamer.dedup.sketch_estimates import NO_VALUE, estimate_batches
from gossamer.dedup.survivors import SurvivorTask, drop_similar
from gossamer.storage import parquet
from gossamer.web.sketches import VALUES

if TYPE_CHECKING:
    from pathlib import Path


def sketch(*values: int) -> bytes:
    """These values, and none at the other places."""
    found = np.full(VALUES, NO_VALUE)
    found[: len(values)] = values
    return found.astype("<u4").tobytes()


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        (sketch(1, 2, 3, 4), sketch(1, 2, 3, 5), 3 / 4),
        (sketch(1, 2, 3, 4), sketch(1, 2), 2 / 4),
        (sketch(1, 2), sketch(2, 1), 0.0),
        (sketch(*range(VALUES)), sketch(*range(VALUES)), 1.0),
        (sketch(), sketch(), 0.0),
    ],
)
def test_the_share_of_values_that_agree(ours: bytes, theirs: bytes, expected: float) -> None:
    rows = [
        {"one": 1, "other": 2, "sketch_of_one": ours, "sketch_of_other": theirs},
        {"one": 3, "other": 4, "sketch_of_one": sketch(7), "sketch_of_other": sketch(7)},
    ]
    (found,) = estimate_batches(iter([pa.RecordBatch.from_pylist(rows)]))
    assert found.to_pylist() == [
        {"one": 1, "other": 2, "estimate": expected},
        {"one": 3, "other": 4, "estimate": 1.0},
    ]


@pytest.mark.parametrize(
    ("files", "dropped"),
    [
        ([[(1, 2, 0.9), (2, 3, 0.8)]], [(2, 1, 0.9)]),
        ([[(2, 3, 0.8), (1, 3, 0.7), (1, 2, 0.9)]], [(2, 1, 0.9), (3, 1, 0.7)]),
        ([[(1, 2, 0.9)], [(3, 4, 0.8), (2, 4, 0.7)]], [(2, 1, 0.9), (4, 3, 0.8)]),
        ([[(1, 4, 0.9)], [(2, 4, 0.8), (3, 4, 0.7)]], [(4, 1, 0.9)]),
    ],
)
def test_a_page_is_dropped_by_one_that_survives(
    tmp_path: Path, files: list[list[tuple[int, int, float]]], dropped: list[tuple[int, int, float]]
) -> None:
    for number, rows in enumerate(files):
        columns = dict(zip(("one", "other", "similarity"), zip(*rows, strict=True), strict=True))
        pq.write_table(pa.table(columns), str(tmp_path / f"{number}.parquet"))
    parts = tuple((f"{number}.parquet",) for number in range(len(files)))
    (row,) = drop_similar(SurvivorTask(str(tmp_path), parts, 4, "scratch/1"))
    found = parquet.read_table(f"{tmp_path}/{row['path']}", partitioning=None)
    assert list(zip(*found.to_pydict().values(), strict=True)) == dropped
