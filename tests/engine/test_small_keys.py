"""Rows that are grouped, sorted and chosen by numbers, against definitions in Python."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from gossamer.engine.small.aggregates import AGGREGATES
from gossamer.engine.small.keys import Order, group_rows, ranks_of, sort_rows
from gossamer.engine.small.lists import concat_lists

LONGS = st.one_of(st.integers(-3, 3), st.integers(-(1 << 63), (1 << 63) - 1))
"""Equal ones, close ones that are counted, and others that are sorted."""
ROWS = st.lists(st.tuples(st.none() | LONGS, st.none() | st.text("abä", max_size=2)), max_size=40)


def columns(rows: list[tuple[int | None, str | None]]) -> list[pa.Array]:
    return [pa.array([row[0] for row in rows], pa.int64()), pa.array([row[1] for row in rows])]


def rank(value: int | str | None) -> tuple[bool, int | bytes]:
    """NULLs first; texts by their bytes."""
    if value is None:
        return False, 0
    return True, value.encode() if isinstance(value, str) else value


@given(ROWS)
def test_rows_of_a_group_have_equal_keys_and_groups_are_in_order(
    rows: list[tuple[int | None, str | None]],
) -> None:
    numbers, texts = columns(rows)
    groups = group_rows([numbers, texts.cast(pa.string())], len(rows))
    different = sorted(set(rows), key=lambda row: (rank(row[0]), rank(row[1])))
    assert [different[n] for n in groups.of_rows] == rows
    assert groups.firsts.tolist() == [rows.index(each) for each in different]


@given(ROWS, st.booleans(), st.booleans(), st.booleans())
def test_rows_are_sorted_and_stay_where_they_are_if_equal(
    rows: list[tuple[int | None, str | None]], falls: bool, nulls_last: bool, texts_fall: bool
) -> None:
    numbers, texts = columns(rows)
    order = sort_rows(
        [Order(numbers, falls, nulls_last), Order(texts.cast(pa.string()), texts_fall, texts_fall)]
    )

    def place(value: int | str | None, falls: bool, nulls_last: bool) -> tuple[int, int]:
        known = sorted({rank(each) for row in rows for each in row if type(each) is type(value)})
        if value is None:
            return (1 if nulls_last else -1), 0
        at = known.index(rank(value))
        return 0, -at if falls else at

    def key(n: int) -> tuple[tuple[int, int], tuple[int, int]]:
        number, text = rows[n]
        return place(number, falls, nulls_last), place(text, texts_fall, texts_fall)

    assert order.tolist() == sorted(range(len(rows)), key=key)


@given(st.lists(st.integers(-128, 127), min_size=1, max_size=60))
def test_small_numbers_are_counted_without_overflow(numbers: list[int]) -> None:
    ranks = ranks_of(pa.array(numbers, pa.int8()))
    for (one, first), (other, second) in pairwise(
        sorted(zip(numbers, ranks.tolist(), strict=True))
    ):
        assert second - first == (one != other)
    assert min(ranks) == 1


@given(st.lists(st.tuples(st.integers(0, 3), st.none() | LONGS), min_size=1, max_size=40))
def test_the_first_of_equal_extremes_counts(rows: list[tuple[int, int | None]]) -> None:
    keys = pa.array([key for key, _ in rows])
    by = pa.array([value for _, value in rows], pa.int64())
    groups, places = group_rows([keys], len(rows)), pa.array(np.arange(len(rows)))
    for name, choose in (("min_by", min), ("max_by", max)):
        found = AGGREGATES[name]([places, by], groups, len(rows)).to_pylist()
        for key, place in zip(sorted({key for key, _ in rows}), found, strict=True):
            known = [(n, v) for n, (k, v) in enumerate(rows) if k == key and v is not None]
            best = choose((v for _, v in known), default=None)
            assert place == next((n for n, v in known if v == best), None)


LISTS = st.none() | st.lists(st.none() | st.text("ab", max_size=2), max_size=3)


@given(st.integers(1, 3).flatmap(lambda n: st.lists(st.tuples(*[LISTS] * n), min_size=1)))
def test_the_lists_of_a_row_follow_each_other(rows: list[tuple[list[str | None] | None]]) -> None:
    columns = [pa.array(each, pa.list_(pa.string())) for each in zip(*rows, strict=True)]
    cut = [pa.concat_arrays([each, each]).slice(len(rows)) for each in columns]  # has an offset
    wanted = [None if None in row else [one for part in row for one in part or ()] for row in rows]
    for given_columns in (columns, cut):
        assert concat_lists(given_columns).to_pylist() == wanted
