"""What is compared of texts: all their shingles, and the least of each range, which estimate J."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from gossamer.dedup.estimates import NONE, estimated
from gossamer.dedup.verified import ESTIMATED, distinct, least
from gossamer.sketches import VALUES, shingles, similarity, words

PAIRS = 200


@pytest.mark.parametrize(
    "text", ["", "one word", "a rose is a rose is a rose is a rose", 99 * "x "]
)
def test_shingles_are_sorted_and_each_is_there_once(text: str) -> None:
    assert distinct(text).tolist() == sorted(set(shingles(words(text)).tolist()))


def test_the_least_of_each_range_by_definition() -> None:
    hashes = np.unique(np.random.default_rng(1).integers(0, 1 << 32, 150, np.uint32))
    found = dict.fromkeys(range(VALUES), int(NONE))
    for each in hashes.tolist():
        at = next(n for n in reversed(range(VALUES)) if each >= n * (1 << 32) // VALUES)
        found[at] = min(found[at], each)
    assert least(hashes).tolist() == list(found.values())
    assert int(NONE) in found.values(), "some ranges are empty"
    assert set(least(hashes[:0]).tolist()) == {int(NONE)}


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
            *(pa.array([least(pair[end]).tobytes() for pair in pairs]) for end in range(2)),
        ],
        names=["one", "other", "sketch_of_one", "sketch_of_other"],
    )
    (batch,) = estimated(iter([rows]))
    estimates = batch.column("estimate").to_numpy()
    exact = np.array([similarity(*pair) for pair in pairs])
    assert exact.mean() == pytest.approx(0.8, abs=0.02)
    assert (estimates - exact).mean() == pytest.approx(0, abs=0.01)
    assert (estimates - exact).std() < (0.8 - ESTIMATED) / 3
