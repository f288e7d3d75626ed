"""Spark's functions of lists, which Spark calls arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gossamer.engine.small.keys import pairs_of, ranks_of, take
from gossamer.engine.small.limits import Unsupported
from gossamer.engine.small.types import common_type
from gossamer.engine.small.values import cast, column, list_array, literal, map_values, unify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from gossamer.engine.small.values import Function, Value


def _list_size(given: Sequence[Value], _rows: int) -> Value:
    return cast(pc.list_value_length(given[0]), pa.int32())


def _slice(given: Sequence[Value], rows: int) -> Value:
    """Some items of each list: from a place, counted from 1, and as many as there are."""
    items = column(given[0], rows)
    (begins, no_begin), (counts, no_count) = (_whole_numbers(each, rows) for each in given[1:])
    if len(begins) and begins.min() < 1:
        raise Unsupported("a slice from the end")
    sizes = pc.fill_null(pc.list_value_length(items), 0).to_numpy()
    taken = np.clip(np.minimum(counts, sizes - begins + 1), 0, None)
    offsets = np.concatenate([[0], np.cumsum(taken)])
    first = items.offsets.to_numpy()[:-1] + begins - 1
    places = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - first, taken)
    missing = items.is_null().to_numpy(zero_copy_only=False) | no_begin | no_count
    offset_array = pa.array(offsets.astype(np.int32))
    return list_array(offset_array, items.values.take(pa.array(places)), pa.array(missing))


def _whole_numbers(value: Value, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers, and where they are NULL."""
    numbers = column(value, rows).cast(pa.int64())
    missing = numbers.is_null().to_numpy(zero_copy_only=False)
    return pc.fill_null(numbers, 1).to_numpy(), missing


def _array(given: Sequence[Value], rows: int) -> Value:
    if not given:
        return list_array(pa.array(np.zeros(rows + 1, np.int32)), pa.nulls(0), None)
    columns = [column(each, rows) for each in unify(given)]
    size = len(columns)
    flat = pa.concat_arrays(columns)
    places = np.arange(rows * size).reshape(size, rows).T.ravel()
    items = flat.take(pa.array(places))
    offsets = pa.array(np.arange(rows + 1, dtype=np.int32) * size)
    return list_array(offsets, items, None)


def _array_join(given: Sequence[Value], rows: int) -> Value:
    mark: str = literal(given[1])

    def join(items: list[str | None]) -> str:
        return mark.join(each for each in items if each is not None)

    return map_values(given[0], rows, join, pa.string())


def _list_function(function: Callable[[list[Any]], list[Any]]) -> Function:
    def run(given: Sequence[Value], rows: int) -> Value:
        if pa.types.is_null(given[0].type):
            return given[0]
        return map_values(given[0], rows, function, given[0].type)

    return run


def _sort_array(given: Sequence[Value], rows: int) -> Value:
    """Lists with their items in order; NULL is the least."""
    lists, falls = column(given[0], rows), len(given) > 1 and not literal(given[1])
    sizes = pc.fill_null(pc.list_value_length(lists), 0).to_numpy()
    keys = np.repeat(np.arange(rows), sizes)
    items = lists.flatten()
    for values in _parts_of_key(items):
        ranks = ranks_of(values)
        keys = pairs_of([keys, ranks.max(initial=0) - ranks if falls else ranks], len(items))
        order = np.argsort(keys, kind="stable")
        if np.diff(keys[order]).all():
            break  # nothing that follows decides
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    missing = lists.is_null() if lists.null_count else None
    return list_array(pa.array(offsets), take(items, order), missing)


def _parts_of_key(items: pa.Array) -> Iterator[pa.Array]:
    """What decides on the order of items: of structs, one field after the other."""
    if not pa.types.is_struct(items.type):
        yield items
        return
    yield items.is_valid()
    for number in range(items.type.num_fields):
        yield from _parts_of_key(pc.struct_field(items, [number]))


def _distinct(items: list[Any]) -> list[Any]:
    seen, found = set(), []
    for each in items:
        key = tuple(each.values()) if isinstance(each, dict) else each
        if key not in seen:
            seen.add(key)
            found.append(each)
    return found


def _array_union(given: Sequence[Value], rows: int) -> Value:
    left, right = (column(each, rows).to_pylist() for each in unify(given))
    both = zip(left, right, strict=True)
    kind = common_type([each.type for each in given])
    found = [None if a is None or b is None else _distinct(a + b) for a, b in both]
    return pa.array(found, kind)


def _array_contains(given: Sequence[Value], rows: int) -> Value:
    wanted = literal(given[1])
    return map_values(given[0], rows, lambda items: wanted in items, pa.bool_())


def concat_lists(lists: Sequence[pa.Array]) -> pa.Array:
    """The items of the lists of each row, one list after the other; NULL if one of them is."""
    missing = np.logical_or.reduce([_is_missing(each) for each in lists])
    sizes = [pc.fill_null(pc.list_value_length(each), 0).to_numpy() for each in lists]
    # As one row of sizes after the other, and where each list begins among all items.
    ends = np.cumsum(np.concatenate(sizes)).reshape(len(lists), -1)
    begins = (ends - np.stack(sizes)).T.ravel()
    taken = np.where(missing, 0, np.stack(sizes)).T.ravel()
    offsets = np.concatenate([[0], np.cumsum(taken)])
    places = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - begins, taken)
    items = pa.concat_arrays([each.flatten() for each in lists])
    of_rows = pa.array(offsets[:: len(lists)].astype(np.int32))
    return list_array(of_rows, take(items, places), pa.array(missing))


def _is_missing(values: pa.Array) -> np.ndarray:
    found: np.ndarray = values.is_null().to_numpy(zero_copy_only=False)
    return found


def _sequence(given: Sequence[Value], rows: int) -> Value:
    if given[2:]:
        raise Unsupported("a sequence of steps")
    begins, ends = (column(each, rows).to_pylist() for each in given)
    made = [
        None
        if begin is None or end is None
        else list(range(begin, end + 1) if begin <= end else range(begin, end - 1, -1))
        for begin, end in zip(begins, ends, strict=True)
    ]
    return pa.array(made, pa.list_(pa.field("element", common_type([each.type for each in given]))))


LISTS: Mapping[str, Function] = {
    "sequence": _sequence,
    "array": _array,
    "size": _list_size,
    "slice": _slice,
    "sort_array": _sort_array,
    "array_distinct": _list_function(_distinct),
    "array_union": _array_union,
    "array_join": _array_join,
    "array_contains": _array_contains,
}
