"""Values of expressions: columns, and scalars that stand for columns of equal values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from gossamer.engine.small.limits import Unsupported
from gossamer.engine.small.types import common_type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    Value: TypeAlias = Any
    """An Array or a Scalar of pyarrow, which has no types."""
    Function = Callable[[Sequence[Value], int], Value]
    """Of values, and of the rows that a column has."""


def column(value: Value, rows: int) -> pa.Array:
    """A value as a column."""
    if isinstance(value, pa.Array):
        return value
    if pa.types.is_null(value.type):
        return pa.nulls(rows)
    return pa.repeat(value, rows)


def cast(value: Value, kind: pa.DataType) -> Value:
    """A value as one of another type, as Spark converts it."""
    given = value.type
    if given == kind:
        return value
    if pa.types.is_null(given):
        return pa.scalar(None, kind) if isinstance(value, pa.Scalar) else pa.nulls(len(value), kind)
    to_text = pa.types.is_string(kind)
    if to_text and (pa.types.is_floating(given) or pa.types.is_nested(given)):
        raise Unsupported(f"{given} as text")
    if pa.types.is_string(given) and not (to_text or pa.types.is_binary(kind)):
        raise Unsupported(f"a text as {kind}")
    if pa.types.is_floating(given) and pa.types.is_integer(kind):
        value = pc.trunc(value)  # and then a number that is too large, or NaN, is an error of Arrow
    return pc.cast(value, kind, safe=pa.types.is_integer(kind))


def is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def unify(values: Sequence[Value]) -> list[Value]:
    """Values as their common type."""
    kind = common_type([each.type for each in values])
    return [cast(each, kind) for each in values]


def literal(value: Value) -> Any:
    """The Python value of a scalar, where a column is not supported."""
    if not isinstance(value, pa.Scalar):
        raise Unsupported("a column where a constant is expected")
    return value.as_py()


def map_values(
    value: Value, rows: int, function: Callable[[Any], Any], kind: pa.DataType
) -> pa.Array:
    """A function of each value, which Arrow does not have."""
    values = column(value, rows).to_pylist()
    return pa.array([None if each is None else function(each) for each in values], kind)


def list_array(offsets: pa.Array, items: pa.Array, mask: pa.Array | None) -> pa.Array:
    kind = pa.list_(pa.field("element", items.type))
    return pa.ListArray.from_arrays(offsets, items, type=kind, mask=mask)
