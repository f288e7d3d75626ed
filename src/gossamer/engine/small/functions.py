"""Spark's scalar functions of Arrow's columns.

Where Arrow's functions differ from Spark's, such as in NULLs, in remainders and in logarithms of
nothing, the results here are Spark's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gossamer.engine.small.hashes import hash_column
from gossamer.engine.small.limits import Unsupported
from gossamer.engine.small.lists import LISTS, concat_lists
from gossamer.engine.small.texts import TEXTS
from gossamer.engine.small.values import cast, column, is_number, map_values, unify

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gossamer.engine.small.values import Function, Value

_FALSE = pa.scalar(False)


def call(name: str, given: Sequence[Value], rows: int) -> Value:
    """Raises Unsupported for functions that only the engine has."""
    function = FUNCTIONS.get(name)
    if function is None:
        raise Unsupported(f"the function {name}")
    return function(given, rows)


def _kernel(function: Callable[..., Value]) -> Function:
    """An Arrow function that does what Spark's does."""

    def run(given: Sequence[Value], _rows: int) -> Value:
        return function(*given)

    return run


def _logical(function: Callable[..., Value]) -> Function:
    def run(given: Sequence[Value], _rows: int) -> Value:
        return function(*(cast(each, pa.bool_()) for each in given))

    return run


def _compare(function: Callable[..., Value]) -> Function:
    def run(given: Sequence[Value], rows: int) -> Value:
        left, right = unify(given)
        if pa.types.is_nested(left.type):
            return _compare_lists(function, left, right, rows)
        if pa.types.is_null(left.type):
            return pa.scalar(None, pa.bool_())
        _refuse_nan(left, right)
        return function(left, right)

    return run


def _refuse_nan(*values: Value) -> None:
    """NaN equals itself in Spark, and is larger than all others, but not in Arrow."""
    for each in values:
        if pa.types.is_floating(each.type):
            found = pc.is_nan(each)
            if found.as_py() if isinstance(each, pa.Scalar) else pc.any(found).as_py():
                raise Unsupported("NaN beside other numbers")


def _compare_lists(function: Any, left: Value, right: Value, rows: int) -> Value:
    if function not in {pc.equal, pc.not_equal}:
        raise Unsupported("the order of lists")
    wanted = function is pc.equal
    pairs = zip(column(left, rows).to_pylist(), column(right, rows).to_pylist(), strict=True)
    found = [None if None in (one, other) else (one == other) is wanted for one, other in pairs]
    return pa.array(found, pa.bool_())


def _equal_or_null(given: Sequence[Value], rows: int) -> Value:
    left, right = given
    for one, other in ((left, right), (right, left)):
        if isinstance(one, pa.Scalar) and not one.is_valid:
            return pc.is_null(other)
    equal = pc.fill_null(_compare(pc.equal)(given, rows), _FALSE)
    return pc.or_(equal, pc.and_(pc.is_null(left), pc.is_null(right)))


def _when(given: Sequence[Value], _rows: int) -> Value:
    tests = given[: len(given) // 2 * 2 : 2]
    values = unify([*given[1::2], *(given[-1:] if len(given) % 2 else [pa.scalar(None)])])
    kind = values[-1].type
    if pa.types.is_null(kind):
        return pa.scalar(None)
    found = values[-1]
    for test, value in zip(tests[::-1], values[-2::-1], strict=True):
        if isinstance(test, pa.Scalar):
            found = value if test.as_py() else found
        else:
            found = pc.if_else(pc.fill_null(test, _FALSE), value, found)
    return found


def _coalesce(given: Sequence[Value], rows: int) -> Value:
    values = unify(given)
    if pa.types.is_nested(values[0].type) and any(isinstance(each, pa.Scalar) for each in values):
        values = [column(each, rows) for each in values]
    return pc.coalesce(*values)


def _in(given: Sequence[Value], rows: int) -> Value:
    found: Value = _FALSE
    for each in given[1:]:
        found = pc.or_kleene(found, _compare(pc.equal)((given[0], each), rows))
    return found


def _arithmetic(function: Callable[..., Value]) -> Function:
    def run(given: Sequence[Value], _rows: int) -> Value:
        left, right = unify(given)
        if not is_number(left.type):
            raise Unsupported(f"arithmetic with {left.type}")
        return function(left, right)

    return run


def _divide(given: Sequence[Value], _rows: int) -> Value:
    left, right = (cast(each, pa.float64()) for each in given)
    by_none = pc.equal(right, pa.scalar(0.0))
    return pc.divide(left, pc.if_else(by_none, pa.scalar(None, pa.float64()), right))


def _whole_quotient(given: Sequence[Value], _rows: int) -> Value:
    left, right = (cast(each, pa.int64()) for each in given)
    by_none = pc.equal(right, pa.scalar(0, pa.int64()))
    return pc.divide(left, pc.if_else(by_none, pa.scalar(None, pa.int64()), right))


def _remainder(given: Sequence[Value], _rows: int) -> Value:
    left, right = unify(given)
    by_none = pc.equal(right, pa.scalar(0, right.type))
    right = pc.if_else(by_none, pa.scalar(None, right.type), right)
    whole = pc.divide(left, right)
    if pa.types.is_floating(left.type):
        whole = pc.trunc(whole)
    return pc.subtract(left, pc.multiply(whole, right))


def _positive_remainder(given: Sequence[Value], rows: int) -> Value:
    by = given[1]
    rest = _remainder(given, rows)
    return _remainder((pc.add(*unify((rest, by))), by), rows)


def _logarithm(function: Callable[[Value], Value]) -> Function:
    def run(given: Sequence[Value], _rows: int) -> Value:
        value = cast(given[0], pa.float64())
        has_none = pc.less_equal(value, 0.0)
        return function(pc.if_else(has_none, pa.scalar(None, pa.float64()), value))

    return run


def _of_double(function: Callable[..., Value]) -> Function:
    def run(given: Sequence[Value], _rows: int) -> Value:
        return function(*(cast(each, pa.float64()) for each in given))

    return run


def _rounded(function: Callable[[Value], Value]) -> Function:
    def run(given: Sequence[Value], _rows: int) -> Value:
        value = given[0]
        return cast(function(value) if pa.types.is_floating(value.type) else value, pa.int64())

    return run


def _concat(given: Sequence[Value], rows: int) -> Value:
    if any(pa.types.is_list(each.type) for each in given):
        return concat_lists([column(each, rows) for each in unify(given)])
    if all(pa.types.is_binary(each.type) for each in given):
        empty = pa.scalar(b"")
        return pc.binary_join_element_wise(*given, empty, null_handling="emit_null")
    texts = [cast(each, pa.string()) for each in given]
    return pc.binary_join_element_wise(*texts, pa.scalar(""), null_handling="emit_null")


def _hash(given: Sequence[Value], rows: int) -> Value:
    seeds = np.full(rows, 42, np.int64)
    for each in given:
        if pa.types.is_null(each.type):
            continue
        if pa.types.is_floating(each.type) or pa.types.is_nested(each.type):
            raise Unsupported(f"the hash of {each.type}")
        seeds = hash_column(column(each, rows), seeds)
    return pa.array(seeds)


def _reverse(given: Sequence[Value], rows: int) -> Value:
    if pa.types.is_list(given[0].type):
        return map_values(given[0], rows, lambda items: items[::-1], given[0].type)
    return pc.utf8_reverse(given[0])


def _extremes(function: Callable[..., Value]) -> Function:
    def run(given: Sequence[Value], _rows: int) -> Value:
        values = unify(given)
        if pa.types.is_nested(values[0].type):
            raise Unsupported("the largest of lists")
        if pa.types.is_null(values[0].type):
            return values[0]
        _refuse_nan(*values)
        return function(*values, skip_nulls=True)

    return run


FUNCTIONS: Mapping[str, Function] = {
    **TEXTS,
    **LISTS,
    "==": _compare(pc.equal),
    "!=": _compare(pc.not_equal),
    "<": _compare(pc.less),
    "<=": _compare(pc.less_equal),
    ">": _compare(pc.greater),
    ">=": _compare(pc.greater_equal),
    "<=>": _equal_or_null,
    "and": _logical(pc.and_kleene),
    "or": _logical(pc.or_kleene),
    "not": _logical(pc.invert),
    "isNull": _kernel(pc.is_null),
    "isNotNull": _kernel(pc.is_valid),
    "in": _in,
    "when": _when,
    "coalesce": _coalesce,
    "+": _arithmetic(pc.add),
    "-": _arithmetic(pc.subtract),
    "*": _arithmetic(pc.multiply),
    "/": _divide,
    "%": _remainder,
    "div": _whole_quotient,
    "pmod": _positive_remainder,
    "negative": _kernel(pc.negate),
    "abs": _kernel(pc.abs),
    "greatest": _extremes(pc.max_element_wise),
    "least": _extremes(pc.min_element_wise),
    "floor": _rounded(pc.floor),
    "ceil": _rounded(pc.ceil),
    "sqrt": _of_double(pc.sqrt),
    "power": _of_double(pc.power),
    "exp": _of_double(pc.exp),
    "ln": _logarithm(pc.ln),
    "log2": _logarithm(pc.log2),
    "log10": _logarithm(pc.log10),
    "concat": _concat,
    "xxhash64": _hash,
    "reverse": _reverse,
}
