"""Spark's window functions: a value for each row, of the rows of its partition."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from gossamer.engine.small import aggregates
from gossamer.engine.small.keys import Groups, Order, group_rows, order_keys, take
from gossamer.engine.small.limits import Unsupported
from gossamer.engine.small.values import is_number

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from pyspark.sql.connect.proto import Expression

    from gossamer.engine.small.values import Value

    class Rows(Protocol):
        """The rows of a frame, over which expressions are evaluated (expressions.py)."""

        rows: int
        sorted_parts: dict[tuple[bytes, ...], SortedParts]
        """Those that a window had, as several windows often have the same."""

        def column(self, expression: Expression) -> pa.Array: ...

        def value(self, expression: Expression) -> Value: ...

        def orders(self, orders: Sequence[Expression.SortOrder]) -> list[Order]: ...


class SortedParts(NamedTuple):
    """The rows of all partitions of a window, one partition after the other."""

    order: np.ndarray
    """The places of the rows."""
    first: np.ndarray
    """For each row in this order, where its partition begins in it."""
    peers: np.ndarray
    """For each row in this order, whether no row before it is its equal."""


_ROWS = 1
"""The type of a frame that ends at the row itself; others end at the last row of equal order."""


def window_values(evaluator: Rows, window: Expression.Window) -> pa.Array:
    rows = evaluator.rows
    function = window.window_function.unresolved_function
    name = function.function_name
    if not window.order_spec or _is_whole(window):
        return _of_partition(evaluator, function, _parts(evaluator, window), rows)
    if window.HasField("frame_spec") and not _ends_here(window):
        raise Unsupported("a frame of a window")
    order, first, peers = _sorted_parts(evaluator, window)
    numbers = np.arange(rows)
    made = np.empty(rows, np.int64)
    if name == "row_number":
        made[order] = numbers - first + 1
    elif name == "rank":
        made[order] = np.maximum.accumulate(np.where(peers, numbers, 0)) - first + 1
    elif name == "dense_rank":
        count = np.cumsum(peers)
        made[order] = count - count[first] + 1 if rows else count
    elif name == "first" and not _skips_nulls(function):
        made[order] = order[first]
        return take(evaluator.column(function.arguments[0]), made)
    else:
        return _running(evaluator, window, order, first, peers)
    return pa.array(made.astype(np.int32))


def _parts(evaluator: Rows, window: Expression.Window) -> Groups:
    return group_rows([evaluator.column(each) for each in window.partition_spec], evaluator.rows)


def _sorted_parts(evaluator: Rows, window: Expression.Window) -> SortedParts:
    by, orders = window.partition_spec, window.order_spec
    key = *(each.SerializeToString() for each in by), b"", *(o.SerializeToString() for o in orders)
    if key not in evaluator.sorted_parts:
        evaluator.sorted_parts[key] = _sort_parts(
            _parts(evaluator, window), evaluator.orders(orders)
        )
    return evaluator.sorted_parts[key]


def _sort_parts(parts: Groups, orders: Sequence[Order]) -> SortedParts:
    of_rows = Order(pa.array(parts.of_rows), falls=False, nulls_last=False)
    keys = order_keys([of_rows, *orders])
    order = np.argsort(keys, kind="stable")
    begins = np.diff(parts.of_rows[order], prepend=-1) != 0
    first = np.maximum.accumulate(np.where(begins, np.arange(len(order)), 0))
    return SortedParts(order, first, np.diff(keys[order], prepend=-1) != 0)


def _skips_nulls(function: Expression.UnresolvedFunction) -> bool:
    return any(each.literal.boolean for each in function.arguments[1:])


def _is_whole(window: Expression.Window) -> bool:
    frame = window.frame_spec
    return (
        window.HasField("frame_spec")
        and frame.lower.WhichOneof("boundary") == "unbounded"
        and frame.upper.WhichOneof("boundary") == "unbounded"
    )


def _ends_here(window: Expression.Window) -> bool:
    frame = window.frame_spec
    return (
        frame.lower.WhichOneof("boundary") == "unbounded"
        and frame.upper.WhichOneof("boundary") == "current_row"
    )


def _of_partition(
    evaluator: Rows, function: Expression.UnresolvedFunction, parts: Groups, rows: int
) -> pa.Array:
    """An aggregate of the whole partition."""

    def given() -> list[pa.Array]:
        return [
            pa.scalar(1)
            if each.WhichOneof("expr_type") == "unresolved_star"
            else evaluator.value(each)
            for each in function.arguments
        ]

    found = aggregates.aggregate(function.function_name, given, parts, rows, function.is_distinct)
    if found is None:
        raise Unsupported(f"{function.function_name} over a partition")
    return take(found, parts.of_rows)


def _running(
    evaluator: Rows,
    window: Expression.Window,
    order: np.ndarray,
    first: np.ndarray,
    peers: np.ndarray,
) -> pa.Array:
    """A sum or a count of the rows of the partition up to each row and its peers."""
    function = window.window_function.unresolved_function
    rows = len(order)
    if function.function_name == "count":
        star = function.arguments[0].WhichOneof("expr_type") == "unresolved_star"
        given = pa.repeat(pa.scalar(1), rows) if star else evaluator.column(function.arguments[0])
        numbers = given.is_valid().cast(pa.int64()).to_numpy()
    elif function.function_name == "sum":
        given = evaluator.column(function.arguments[0])
        kind = pa.int64() if pa.types.is_integer(given.type) else pa.float64()
        if given.null_count or not is_number(given.type):
            raise Unsupported("a running sum of NULLs")
        numbers = given.cast(kind).to_numpy()
    else:
        raise Unsupported(f"{function.function_name} up to a row")
    sums = np.cumsum(numbers[order])
    if rows:
        sums = sums - sums[first] + numbers[order][first]
    if not window.HasField("frame_spec") or window.frame_spec.frame_type != _ROWS:
        ends = np.append(np.flatnonzero(peers)[1:], rows) - 1
        sums = sums[np.repeat(ends, np.diff(np.append(np.flatnonzero(peers), rows)))]
    made = np.empty(rows, numbers.dtype)
    made[order] = sums
    return pa.array(made)
