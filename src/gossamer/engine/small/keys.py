"""Rows that are equal, in order, or joined, by the values of some columns.

A column becomes numbers first: the places of its values in their order, of which numpy finds equal
ones, sorts them, and searches in them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gossamer.engine.small.limits import Unsupported, check_rows
from gossamer.engine.small.types import common_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    Places = np.ndarray
    """Numbers of rows, of 64 bits; -1 stands for a row of NULLs."""

_SPREAD = 8
"""Numbers that span up to so many times the number of rows are counted, not sorted. It takes 1 ms
in place of 20 for 300,000 rows."""


class Order(NamedTuple):
    """A column to sort by."""

    values: pa.Array
    falls: bool
    nulls_last: bool


class Groups(NamedTuple):
    """Rows with equal keys."""

    of_rows: np.ndarray
    """The number of the group of each row."""
    firsts: np.ndarray
    """The first row of each group."""

    @property
    def size(self) -> int:
        return len(self.firsts)


def ranks_of(values: pa.Array) -> np.ndarray:
    """The place of each value among the different values, from 1; NULL is 0. NaN is the largest."""
    kind = values.type
    found: np.ndarray
    if pa.types.is_null(kind):
        return np.zeros(len(values), np.int64)
    if pa.types.is_struct(kind):
        ranks = [ranks_of(pc.struct_field(values, [n])) for n in range(kind.num_fields)]
        found = pairs_of(ranks, len(values)) + 1
    elif pa.types.is_string(kind) or pa.types.is_binary(kind):
        encoded = pc.dictionary_encode(values)
        order = pc.array_sort_indices(encoded.dictionary).to_numpy()
        places = np.empty(len(order) + 1, np.int64)
        places[order] = np.arange(1, len(order) + 1)
        places[len(order)] = 0
        indices = pc.fill_null(encoded.indices, len(order)).to_numpy(zero_copy_only=False)
        found = places[indices]
        return found
    elif pa.types.is_primitive(kind):
        if pa.types.is_boolean(kind):
            values = values.cast(pa.int8())
        known = pc.fill_null(values, 0).to_numpy(zero_copy_only=False)
        found = _places_of(known)[0] + 1
    else:
        raise Unsupported(f"a key of the type {kind}")
    if values.null_count:
        found[values.is_null().to_numpy(zero_copy_only=False)] = 0
    return found


def group_rows(columns: Sequence[pa.Array], rows: int) -> Groups:
    """Groups in the order of their keys; NULL equals NULL. Without columns, all rows are one."""
    if not columns:
        return Groups(np.zeros(rows, np.int64), np.zeros(1 if rows else 0, np.int64))
    return Groups(*_places_of(pairs_of([ranks_of(each) for each in columns], rows)))


def sort_rows(orders: Sequence[Order]) -> Places:
    """The places of rows in their order; rows with equal keys stay as they are."""
    return np.argsort(order_keys(orders), kind="stable")


def order_keys(orders: Sequence[Order]) -> np.ndarray:
    """Numbers from 0 that have the order of rows, and are equal where it is."""
    keys = []
    for values, falls, nulls_last in orders:
        ranks = ranks_of(values)
        missing = ranks == 0
        last = int(ranks.max(initial=0)) + 1
        ranks = last - ranks if falls else ranks
        ranks[missing] = last if nulls_last else 0
        keys.append(ranks)
    return pairs_of(keys, len(keys[0]))


def join_rows(
    left: Sequence[pa.Array], right: Sequence[pa.Array], rows: tuple[int, int]
) -> tuple[Places, Places, np.ndarray]:
    """The pairs of rows with equal keys, in the order of the left ones, of which NULL equals none.

    Returns the places of both sides, and how many pairs each left row has.
    """
    size = rows[0]
    ranks, known = [], np.ones(sum(rows), bool)
    for one, other in zip(left, right, strict=True):
        kind = common_type([one.type, other.type])
        both = pa.concat_arrays([one.cast(kind), other.cast(kind)])
        rank = ranks_of(both)
        known &= rank > 0
        ranks.append(rank)
    keys = pairs_of(ranks, sum(rows)) + 1
    keys[~known] = 0
    ours, theirs = keys[:size], keys[size:]
    order = np.argsort(theirs, kind="stable")
    ordered = theirs[order]
    begins = np.searchsorted(ordered, ours, "left")
    ends = np.searchsorted(ordered, ours, "right")
    counts = np.where(ours > 0, ends - begins, 0)
    total = check_rows(int(counts.sum()))
    lefts = np.repeat(np.arange(size), counts)
    within = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    return lefts, order[np.repeat(begins, counts) + within], counts


def take(values: pa.Array, places: Places) -> pa.Array:
    """The values at these places."""
    return values.take(indices_at(places))


def indices_at(places: Places) -> pa.Array:
    """Places as Arrow's indices. Several columns may be taken with the same ones."""
    if len(places) and places.min() < 0:
        return pa.array(places, mask=places < 0)
    return pa.array(places)


def pairs_of(ranks: Sequence[np.ndarray], rows: int) -> np.ndarray:
    """One number for the numbers of several columns, in the same order."""
    found = np.zeros(rows, np.int64)
    for each in ranks:
        if not rows:
            break
        size = int(each.max()) + 1
        if int(found.max()) * size > 1 << 60:
            found = _places_of(found)[0]
        found = found * size + each
    return found


def _places_of(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The place of each number among the different ones, from 0, and the first row of each."""
    rows = len(numbers)
    if numbers.dtype.kind == "i" and rows:
        least, most = int(numbers.min()), int(numbers.max())
        if most - least < _SPREAD * rows:
            firsts = np.full(most - least + 1, -1)
            counted = numbers.astype(np.int64, copy=False) - least
            firsts[counted[::-1]] = np.arange(rows - 1, -1, -1)
            is_met = firsts >= 0
            return (np.cumsum(is_met) - 1)[counted], firsts[is_met]
    _, firsts, places = np.unique(numbers, return_index=True, return_inverse=True)
    return places.astype(np.int64, copy=False), firsts
