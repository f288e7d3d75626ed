"""Spark's aggregate functions of groups of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gossamer.engine.small import functions
from gossamer.engine.small.keys import group_rows, ranks_of, take
from gossamer.engine.small.limits import Unsupported
from gossamer.engine.small.values import cast, column, is_number, list_array, literal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gossamer.engine.small.keys import Groups
    from gossamer.engine.small.values import Value

    Aggregate = Callable[[Sequence[Value], Groups, int], pa.Array]

_LARGE = 1 << 62


def aggregate(
    name: str, given: Callable[[], Sequence[Value]], groups: Groups, rows: int, distinct: bool
) -> pa.Array | None:
    """A value for each group; None if this is no aggregate function."""
    if name == "count" and distinct:
        return _count_distinct(given(), groups, rows)
    function = AGGREGATES.get(name)
    if function is None:
        return None
    if distinct:
        raise Unsupported(f"{name} of distinct values")
    return function(given(), groups, rows)


def _count(given: Sequence[Value], groups: Groups, rows: int) -> pa.Array:
    known = np.ones(rows, bool)
    for each in given:
        known &= _is_known(each, rows)
    return pa.array(np.bincount(groups.of_rows[known], minlength=groups.size))


def _count_distinct(given: Sequence[Value], groups: Groups, rows: int) -> pa.Array:
    columns = [column(each, rows) for each in given]
    known = np.logical_and.reduce([_is_known(each, rows) for each in columns])
    kept = pa.array(known)
    of_rows = groups.of_rows[known]
    pairs = group_rows([pa.array(of_rows), *(each.filter(kept) for each in columns)], len(of_rows))
    return pa.array(np.bincount(of_rows[pairs.firsts], minlength=groups.size))


def _count_if(given: Sequence[Value], groups: Groups, rows: int) -> pa.Array:
    return pa.array(np.bincount(groups.of_rows[_is_true(given[0], rows)], minlength=groups.size))


def _sum(given: Sequence[Value], groups: Groups, rows: int) -> pa.Array:
    values = column(given[0], rows)
    if not is_number(values.type):
        raise Unsupported(f"a sum of {values.type}")
    whole = pa.types.is_integer(values.type)
    numbers = pc.fill_null(values.cast(pa.int64() if whole else pa.float64()), 0).to_numpy()
    sums = np.zeros(groups.size, numbers.dtype)
    np.add.at(sums, groups.of_rows, numbers)
    known = np.bincount(groups.of_rows[_is_known(values, rows)], minlength=groups.size)
    return pa.array(sums, mask=known == 0)


def _average(given: Sequence[Value], groups: Groups, rows: int) -> pa.Array:
    sums = cast(_sum(given, groups, rows), pa.float64())
    counts = cast(_count(given, groups, rows), pa.float64())
    return functions.call("/", (sums, counts), groups.size)


def _extreme(falls: bool) -> Aggregate:
    def find(given: Sequence[Value], groups: Groups, rows: int) -> pa.Array:
        values = column(given[0], rows)
        if pa.types.is_null(values.type):
            return pa.nulls(groups.size)
        return take(values, _best_rows(values, groups, falls))

    return find


def _extreme_by(falls: bool) -> Aggregate:
    def find(given: Sequence[Value], groups: Groups, rows: int) -> pa.Array:
        values, by = (column(each, rows) for each in given)
        return take(values, _best_rows(by, groups, falls))

    return find


def _best_rows(by: pa.Array, groups: Groups, falls: bool) -> np.ndarray:
    """The row of each group with the least or largest value; -1 if all are NULL."""
    rows = len(by)
    ranks = ranks_of(by)
    known = np.flatnonzero(ranks)
    places = ranks[known]
    # Ranks are not larger than the number of rows. Of equal values, the first one counts.
    numbers = (rows - places if falls else places) * (rows + 1) + known
    least = np.full(groups.size, _LARGE, np.int64)
    np.minimum.at(least, groups.of_rows[known], numbers)
    return np.where(least == _LARGE, -1, least % (rows + 1))


def _first(given: Sequence[Value], groups: Groups, rows: int) -> pa.Array:
    values = column(given[0], rows)
    skips = len(given) > 1 and literal(given[1])
    kept = np.flatnonzero(_is_known(values, rows)) if skips else np.arange(rows)
    found = np.full(groups.size, _LARGE, np.int64)
    np.minimum.at(found, groups.of_rows[kept], kept)
    return take(values, np.where(found == _LARGE, -1, found))


def _collect(given: Sequence[Value], groups: Groups, rows: int) -> pa.Array:
    values = column(given[0], rows)
    kept = np.flatnonzero(_is_known(values, rows))
    order = kept[np.argsort(groups.of_rows[kept], kind="stable")]
    return _lists(values, order, groups)


def _collect_set(given: Sequence[Value], groups: Groups, rows: int) -> pa.Array:
    values = column(given[0], rows)
    kept = np.flatnonzero(_is_known(values, rows))
    pairs = group_rows([pa.array(groups.of_rows[kept]), take(values, kept)], len(kept))
    return _lists(values, kept[pairs.firsts], groups)


def _lists(values: pa.Array, order: np.ndarray, groups: Groups) -> pa.Array:
    sizes = np.bincount(groups.of_rows[order], minlength=groups.size)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    return list_array(pa.array(offsets), take(values, order), None)


def _all(given: Sequence[Value], groups: Groups, rows: int) -> pa.Array:
    return _extreme(falls=False)(given, groups, rows)


def _any(given: Sequence[Value], groups: Groups, rows: int) -> pa.Array:
    return _extreme(falls=True)(given, groups, rows)


def _is_known(value: Value, rows: int) -> Any:
    return column(value, rows).is_valid().to_numpy(zero_copy_only=False)


def _is_true(value: Value, rows: int) -> Any:
    filled = pc.fill_null(column(value, rows).cast(pa.bool_()), pa.scalar(False))
    return filled.to_numpy(zero_copy_only=False)


AGGREGATES: dict[str, Aggregate] = {
    "count": _count,
    "count_if": _count_if,
    "sum": _sum,
    "avg": _average,
    "min": _extreme(falls=False),
    "max": _extreme(falls=True),
    "min_by": _extreme_by(falls=False),
    "max_by": _extreme_by(falls=True),
    "first": _first,
    "collect_list": _collect,
    "collect_set": _collect_set,
    "bool_and": _all,
    "every": _all,
    "bool_or": _any,
    "some": _any,
}
