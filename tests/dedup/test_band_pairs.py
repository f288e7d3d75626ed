"""Pairs of texts that share a band, by definition."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.dedup.lsh_bands import MAX_SHARING, NEIGHBOURS, pairs_sharing_bands

Rows = list[tuple[int, int, bool]]


def pairs(rows: Rows) -> list[tuple[int, int]]:
    bands, texts, is_new = (np.array(column) for column in zip(*rows, strict=True))
    found = pairs_sharing_bands(bands.astype(np.int64), texts.astype(np.int64), is_new)
    return [pair for low, high in found for pair in zip(low.tolist(), high.tolist(), strict=True)]


@given(
    st.lists(
        st.tuples(st.integers(-3, 3), st.integers(-6, 6), st.booleans()), min_size=1, max_size=30
    )
)
def test_all_pairs_with_a_new_text_are_found(rows: Rows) -> None:
    expected = [
        (min(one, other), max(one, other))
        for (band, one, new), (same, other, also_new) in combinations(rows, 2)
        if band == same and one != other and (new or also_new)
    ]
    assert sorted(pairs(rows)) == sorted(expected)


@pytest.mark.parametrize("crowd", [MAX_SHARING, MAX_SHARING + 1])
def test_a_crowded_band_pairs_some(crowd: int) -> None:
    found = pairs([(7, text, True) for text in range(crowd)] + [(8, 1, True), (8, 99, True)])
    assert found.count((1, 99)) == 1
    found.remove((1, 99))
    if crowd <= MAX_SHARING:
        assert sorted(found) == list(combinations(range(crowd), 2))
        return
    near = [pair for pair in found if found.count(pair) == 1 or pair[0] != 0]
    assert {pair for pair in found if pair[0] == 0} == {(0, text) for text in range(1, crowd)}
    neighbours = sum(crowd - distance for distance in range(1, NEIGHBOURS + 1))
    assert len(found) == neighbours + crowd - 1
    assert len(near) > neighbours - 2 * NEIGHBOURS


def test_neighbours_are_others_in_each_crowded_band() -> None:
    crowd = MAX_SHARING + 1
    one, other = (
        {pair for pair in pairs([(band, text, True) for text in range(crowd)]) if pair[0]}
        for band in (1, 2)
    )
    assert len(one & other) < len(one) / 2


def test_old_texts_of_a_crowded_band_are_paired_with_new_ones_only() -> None:
    crowd = MAX_SHARING + 1
    found = pairs([(7, text, text == 5) for text in range(crowd)])
    assert found
    assert all(5 in pair for pair in found)
    assert (0, 5) in found
