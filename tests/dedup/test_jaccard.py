"""What is compared of texts: all their shingles, and the least of each range, which estimate J."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from gossamer.dedup import shingle_comparison
from gossamer.dedup.shingle_comparison import (
    ESTIMATED,
    distinct_shingles,
    least_per_range,
    shingle_batches,
    shingle_similarities,
    shingle_similarities_above_estimate,
    similar_by_sketch,
    verify_few_pairs,
    verify_pairs,
)
from gossamer.dedup.sketch_estimates import NO_VALUE, estimate_batches
from gossamer.storage import parquet
from gossamer.tables import SHINGLED
from gossamer.web.sketches import VALUES, shingles, similarity, words
from tests.support.planted_duplicates import edited, prose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import File

PAIRS = 200


@pytest.mark.parametrize(
    "text", ["", "one word", "a rose is a rose is a rose is a rose", 99 * "x "]
)
def test_shingles_are_sorted_and_each_is_there_once(text: str) -> None:
    assert distinct_shingles(text).tolist() == sorted(set(shingles(words(text)).tolist()))


def test_the_least_of_each_range_by_definition() -> None:
    hashes = np.unique(np.random.default_rng(1).integers(0, 1 << 32, 150, np.uint32))
    found = dict.fromkeys(range(VALUES), int(NO_VALUE))
    for each in hashes.tolist():
        at = next(n for n in reversed(range(VALUES)) if each >= n * (1 << 32) // VALUES)
        found[at] = min(found[at], each)
    assert least_per_range(hashes).tolist() == list(found.values())
    assert int(NO_VALUE) in found.values(), "some ranges are empty"
    assert set(least_per_range(hashes[:0]).tolist()) == {int(NO_VALUE)}


@pytest.mark.parametrize("most", [10, 3])
def test_of_a_long_text_a_sample_is_kept(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """At most so many shingles: all whose lowest bits are 0, for the fewest bits."""
    monkeypatch.setattr(shingle_comparison, "MAX_SHINGLES", most)
    text = " ".join(prose(1, 300))
    row = {"text": 1, "host": "a.test", "main_text": text, "lines": None}
    schema = pa.schema([("text", pa.int64()), *((name, pa.string()) for name in list(row)[1:3])])
    held = pa.Table.from_pylist([row], schema.append(pa.field("lines", pa.list_(pa.int64()))))
    ((bits,), (kept,)) = (
        column.to_pylist() for column in next(shingle_batches(iter(held.to_batches()))).columns[2:]
    )
    every = distinct_shingles(text).tolist()
    by_bits = [[each for each in every if each % 2**n == 0] for n in (bits - 1, bits)]
    assert len(by_bits[0]) > most >= len(by_bits[1])
    assert np.frombuffer(kept, "<u4").tolist() == by_bits[1]


@pytest.mark.parametrize("size", [96, 600, 5_000])
def test_they_estimate_similarity_without_bias(size: int) -> None:
    draw = np.random.default_rng(size)
    pairs = []
    for _ in range(PAIRS):
        hashes = draw.integers(0, 1 << 32, 10 * size // 9, np.uint32)
        pairs.append((np.unique(hashes[:size]), np.unique(hashes[-size:])))
    rows = pa.RecordBatch.from_arrays(
        [
            *(pa.array(np.arange(PAIRS)) for _ in range(2)),
            *(
                pa.array([least_per_range(pair[end]).tobytes() for pair in pairs])
                for end in range(2)
            ),
        ],
        names=["one", "other", "sketch_of_one", "sketch_of_other"],
    )
    (batch,) = estimate_batches(iter([rows]))
    estimates = batch.column("estimate").to_numpy()
    exact = np.array([similarity(*pair) for pair in pairs])
    assert exact.mean() == pytest.approx(0.8, abs=0.02)
    assert (estimates - exact).mean() == pytest.approx(0, abs=0.01)
    assert (estimates - exact).std() < (0.8 - ESTIMATED) / 3


def test_pairs_that_are_hardly_similar_are_not_compared() -> None:
    text = prose(1, 300)
    texts = [" ".join(words) for words in (text, edited(text, 5, 1), edited(text, 60, 2), prose(2))]
    held = pa.table({"text": range(4), "host": 4 * ["a.test"], "main_text": texts})
    held = held.append_column("lines", pa.nulls(4, pa.list_(pa.int64())))
    (described,) = shingle_batches(iter(held.to_batches()))
    ends = ([0, 0, 0, 1], [1, 2, 3, 2])
    pairs = pa.RecordBatch.from_arrays(
        [
            *map(pa.array, ends),
            *(
                described.column(name).take(pa.array(end))
                for name in ("bits", "shingles", "sketch")
                for end in ends
            ),
        ],
        names=["one", "other"]
        + [
            f"{name}_of_{end}"
            for name in ("bits", "shingles", "sketch")
            for end in ("one", "other")
        ],
    )
    (estimates,) = estimate_batches(iter([pairs]))
    enough = [value >= ESTIMATED for value in estimates.column("estimate").to_pylist()]
    assert len(set(enough)) == 2, "some are similar, and others are not"
    (every,), (found,) = (
        shingle_similarities(iter([pairs])),
        shingle_similarities_above_estimate(iter([pairs])),
    )
    assert found.equals(every.filter(pa.array(enough)))


def test_few_pairs_are_compared_here_as_the_engine_compares_many(work: Workspace) -> None:
    """Those whose texts are not there are left out."""
    text = prose(1, 300)
    texts = [" ".join(words) for words in (text, edited(text, 5, 1), edited(text, 60, 2), prose(2))]
    held = pa.table({"text": range(4), "host": 4 * ["a.test"], "main_text": texts})
    held = held.append_column("lines", pa.nulls(4, pa.list_(pa.int64())))
    rows = pa.Table.from_batches(shingle_batches(iter(held.to_batches())))
    files = [file for half in (rows[:2], rows[2:]) for file in scratched(work, half)]
    pairs = scratched(work, pa.table({"one": [0, 0, 0, 1, 3], "other": [1, 2, 3, 2, 9]}))
    described, left = (
        work.engine.read([f"{work.root}/{file.path}" for file in of], ddl)
        for of, ddl in ((files, SHINGLED.ddl), (pairs, "one long, other long"))
    )
    for only_close in (False, True):
        compared = similar_by_sketch(work, left, 5, described) if only_close else left
        expected = found(work, verify_pairs(work, compared, 5, described))
        assert len(expected) == (1 if only_close else 4)
        here = verify_few_pairs(work, pairs, files, only_close=only_close)
        assert found(work, here) == expected
    none = scratched(work, pa.table({"one": [7], "other": [9]}))
    assert verify_few_pairs(work, none, files, only_close=False) == []
    assert verify_few_pairs(work, pairs, (), only_close=False) == []


def scratched(work: Workspace, rows: pa.Table) -> tuple[File, ...]:
    return work.scratch_files(work.engine.rows(rows))


def found(work: Workspace, files: Sequence[File]) -> set[tuple[int, int, float]]:
    tables = [parquet.read_table(f"{work.root}/{file.path}") for file in files]
    return {tuple(row.values()) for row in pa.concat_tables(tables).to_pylist()}
