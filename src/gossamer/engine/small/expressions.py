"""Expressions of Spark Connect, evaluated over a frame."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gossamer.engine.small import functions, limits, types
from gossamer.engine.small.aggregates import aggregate
from gossamer.engine.small.frames import Column, Frame
from gossamer.engine.small.keys import Groups, Order, take
from gossamer.engine.small.limits import Unsupported
from gossamer.engine.small.sql import parse_sql
from gossamer.engine.small.values import cast, column, list_array, literal
from gossamer.engine.small.windows import SortedParts, window_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pyspark.sql.connect.proto import Expression

    from gossamer.engine.small.values import Value

_DESCENDING = 2
_NULLS_LAST = 2
_DIVISIONS = frozenset({"/", "%", "div", "pmod"})
_LAMBDAS = frozenset({"transform", "filter", "exists"})


class Evaluator:
    """Evaluates expressions over the rows of a frame.

    With `groups`, aggregate functions have a value for each group, and so do the columns `keys`,
    which are equal in all rows of a group.
    """

    def __init__(
        self, frame: Frame, groups: Groups | None = None, keys: Iterable[str] = ()
    ) -> None:
        self._frame = frame
        self._groups = groups
        self._keys = frozenset(keys)
        self._variables: dict[str, Value] = {}
        self._made: dict[tuple[bytes, bool], Value] = {}
        self.sorted_parts: dict[tuple[bytes, ...], SortedParts] = {}
        self._guards = 0
        """How many conditions decide whether a value is used."""
        self.rows = frame.rows if groups is None else groups.size

    def columns(self, expressions: Sequence[Expression]) -> list[Column]:
        """The columns of a projection; `*` makes several."""
        found: list[Column] = []
        for each in expressions:
            if each.WhichOneof("expr_type") == "unresolved_star":
                found.extend(self._star(each.unresolved_star.unparsed_target))
            else:
                found.append(self.named(each))
        return found

    def named(self, expression: Expression) -> Column:
        which = expression.WhichOneof("expr_type")
        if which == "alias":
            (name,) = expression.alias.name
            return Column(name, self.column(expression.alias.expr))
        if which == "unresolved_attribute" and self._groups is None:
            return self._attribute_column(expression.unresolved_attribute)
        return Column(name_of(expression), self.column(expression))

    def column(self, expression: Expression) -> pa.Array:
        values = column(self.value(expression), self.rows)
        if len(values) != self.rows:
            raise Unsupported("a function that returns other rows")
        return values

    def value(self, expression: Expression) -> Value:
        which = str(expression.WhichOneof("expr_type"))
        evaluate = self._EVALUATE.get(which)
        if evaluate is None:
            raise Unsupported(f"an expression of the kind {which}")
        return evaluate(self, getattr(expression, which))

    def mask(self, expression: Expression) -> pa.Array:
        return self.column(expression).cast(pa.bool_())

    def orders(self, orders: Sequence[Expression.SortOrder]) -> list[Order]:
        return [
            Order(
                self.column(each.child),
                each.direction == _DESCENDING,
                each.null_ordering == _NULLS_LAST,
            )
            for each in orders
        ]

    def _star(self, target: str) -> list[Column]:
        if not target:
            return list(self._frame.columns)
        alias = target.removesuffix(".*")
        return [each for each in self._frame.columns if each.qualifier == alias]

    def _attribute_column(self, attribute: Expression.UnresolvedAttribute) -> Column:
        if attribute.HasField("plan_id"):
            raise Unsupported("a column of a certain frame, whichever frames have its name")
        name = _unquoted(attribute.unparsed_identifier)
        try:
            return self._frame.find(name)
        except Unsupported:
            first, _, rest = name.partition(".")
            return Column(
                rest.rpartition(".")[2], _field_path(self._frame.find(first).values, rest)
            )

    def _attribute(self, attribute: Expression.UnresolvedAttribute) -> Value:
        found = self._attribute_column(attribute)
        if self._groups is None:
            return found.values
        if found.name not in self._keys:
            raise Unsupported("a value of a group that may have several, which is an error")
        return take(found.values, self._groups.firsts)

    def _variable(self, variable: Expression.UnresolvedNamedLambdaVariable) -> Value:
        first, *rest = variable.name_parts
        value = self._variables[first]
        for name in rest:
            value = _field(value, name)
        return value

    def _function(self, function: Expression.UnresolvedFunction) -> Value:
        """The values of a function. The same one is often a part of several expressions."""
        key = function.SerializeToString(), self._guards > 0
        if key not in self._made:
            self._made[key] = self._call(function)
        return self._made[key]

    def _call(self, function: Expression.UnresolvedFunction) -> Value:
        name, arguments = function.function_name, function.arguments
        if name in _LAMBDAS:
            return self._of_items(name, arguments)
        if name == "struct":
            return self._struct(arguments)
        if self._groups is not None:
            found = self._aggregate(function)
            if found is not None:
                return found
        self._guards += name == "when"
        given = [self.value(each) for each in arguments]
        self._guards -= name == "when"
        if name in _DIVISIONS and not self._guards and _has_zero(given[1]):
            raise Unsupported("a division by zero, which is an error")
        return functions.call(name, given, self.rows)

    def _aggregate(self, function: Expression.UnresolvedFunction) -> pa.Array | None:
        inner = Evaluator(self._frame)
        stars = [each.WhichOneof("expr_type") == "unresolved_star" for each in function.arguments]

        def given() -> list[Value]:
            return [
                pa.scalar(1) if star else inner.value(each)
                for star, each in zip(stars, function.arguments, strict=True)
            ]

        assert self._groups is not None  # noqa: S101  # who calls knows
        return aggregate(
            function.function_name, given, self._groups, self._frame.rows, function.is_distinct
        )

    def _struct(self, arguments: Sequence[Expression]) -> pa.Array:
        members = self.columns(arguments)
        fields = [pa.field(each.name, each.values.type) for each in members]
        return pa.StructArray.from_arrays([each.values for each in members], fields=fields)

    def _of_items(self, name: str, arguments: Sequence[Expression]) -> pa.Array:
        items = self.column(arguments[0])
        if not pa.types.is_list(items.type):
            raise Unsupported("no list")
        function = arguments[1].lambda_function
        flat = items.flatten()
        parents = pc.list_parent_indices(items).to_numpy()
        inner = Evaluator(self._frame.take(self._row_places(parents), limits.current().items))
        inner._variables = {
            variable: take(column(value, self.rows), parents)
            for variable, value in self._variables.items()
        }
        sizes = pc.fill_null(pc.list_value_length(items), 0).to_numpy()
        for variable, values in zip(function.arguments, (flat, _numbers(sizes)), strict=False):
            inner._variables[variable.name_parts[0]] = values
        made = inner.column(function.function)
        missing = items.is_null() if items.null_count else None
        if name == "transform":
            offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
            return list_array(pa.array(offsets), made, missing)
        kept = pc.fill_null(made, pa.scalar(False)).to_numpy(zero_copy_only=False)
        counts = np.bincount(parents[kept], minlength=self.rows)
        if name == "exists":
            found = pa.array(counts > 0)
            return (
                found
                if missing is None
                else pc.if_else(missing, pa.scalar(None, pa.bool_()), found)
            )
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        return list_array(pa.array(offsets), flat.filter(pa.array(kept)), missing)

    def _row_places(self, parents: np.ndarray) -> np.ndarray:
        return parents if self._groups is None else self._groups.firsts[parents]

    def _extract(self, extract: Expression.UnresolvedExtractValue) -> Value:
        value, key = self.value(extract.child), self.value(extract.extraction)
        name = literal(key)
        if isinstance(name, str):
            return _field(value, name)
        items = column(value, self.rows)
        if items.null_count:
            raise Unsupported("an item of NULL")
        sizes = pc.fill_null(pc.list_value_length(items), 0).to_numpy()
        if name < 0 or (len(sizes) and sizes.min() <= name):
            raise Unsupported("an item that is not there, which is an error")
        return take(items.values, items.offsets.to_numpy()[:-1] + name)

    def _cast(self, asked: Expression.Cast) -> Value:
        if asked.eval_mode:
            raise Unsupported("a cast of a mode")
        kind = types.parse_type(asked.type_str) if asked.type_str else types.from_proto(asked.type)
        return cast(self.value(asked.expr), kind)

    def _alias(self, alias: Expression.Alias) -> Value:
        return self.value(alias.expr)

    def _window(self, window: Expression.Window) -> pa.Array:
        if self._groups is not None:
            raise Unsupported("a window over groups")
        return window_values(self, window)

    def _string(self, string: Expression.ExpressionString) -> Value:
        return self.value(parse_sql(string.expression))

    def _literal(self, literal: Expression.Literal) -> Value:
        return literal_value(literal)

    _EVALUATE: ClassVar[Mapping[str, Callable[[Evaluator, Any], Value]]] = {
        "literal": _literal,
        "unresolved_attribute": _attribute,
        "unresolved_function": _function,
        "unresolved_named_lambda_variable": _variable,
        "unresolved_extract_value": _extract,
        "expression_string": _string,
        "alias": _alias,
        "cast": _cast,
        "window": _window,
    }


def literal_value(literal: Expression.Literal) -> Value:
    which = str(literal.WhichOneof("literal_type"))
    if which == "null":
        return pa.scalar(None, types.from_proto(literal.null))
    kind = _LITERALS.get(which)
    if kind is None:
        raise Unsupported(f"a literal of the type {which}")
    value = getattr(literal, which)
    # As keys of a cache, 0.0 and -0.0 would be the same.
    return pa.scalar(value, kind) if isinstance(value, float) else _scalar(value, kind)


@lru_cache(1024, typed=True)
def _scalar(value: object, kind: pa.DataType) -> pa.Scalar:
    """A scalar, which takes longer to make than to find: expressions have many."""
    return pa.scalar(value, kind)


def name_of(expression: Expression) -> str:
    """The name of a column without an alias, which only the server makes of most expressions."""
    which = expression.WhichOneof("expr_type")
    if which == "alias":
        return str(expression.alias.name[0])
    if which == "unresolved_attribute":
        return _unquoted(expression.unresolved_attribute.unparsed_identifier).rpartition(".")[2]
    if which == "cast":
        return name_of(expression.cast.expr)
    if which == "unresolved_function":
        function = expression.unresolved_function
        shown = ", ".join(map(_shown, function.arguments))
        distinct = "DISTINCT " if function.is_distinct else ""
        if function.function_name.isidentifier():
            return f"{function.function_name}({distinct}{shown})"
    raise Unsupported(f"the name of an expression of the kind {which}")


def _shown(argument: Expression) -> str:
    match argument.WhichOneof("expr_type"):
        case "unresolved_star":
            return "1"
        case "unresolved_attribute":
            return name_of(argument)
        case "literal" if argument.literal.WhichOneof("literal_type") == "integer":
            return str(argument.literal.integer)
    raise Unsupported("the name of an expression of expressions")


def _numbers(sizes: np.ndarray) -> pa.Array:
    """The places of items in their lists, from 0."""
    total = int(sizes.sum())
    begins = np.repeat(np.cumsum(sizes) - sizes, sizes)
    return pa.array((np.arange(total) - begins).astype(np.int32))


def _has_zero(values: Value) -> bool:
    if isinstance(values, pa.Scalar):
        return bool(values.as_py() == 0)
    return bool(pc.any(pc.equal(values, pa.scalar(0, values.type))).as_py())


def _unquoted(identifier: str) -> str:
    return identifier.replace("`", "")


def _field_path(values: pa.Array, path: str) -> pa.Array:
    """The field of a struct in a struct. A field of a list of structs is a list."""
    for name in path.split("."):
        if pa.types.is_list(values.type):
            made = _field(values.flatten(), name)
            sizes = pc.fill_null(pc.list_value_length(values), 0).to_numpy()
            offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
            missing = values.is_null() if values.null_count else None
            values = list_array(pa.array(offsets), made, missing)
        else:
            values = _field(values, name)
    return values


def _field(value: Any, name: str) -> Any:
    if not pa.types.is_struct(value.type):
        raise Unsupported(f"a field of {value.type}")
    return pc.struct_field(value, [name])


_LITERALS = {
    "string": pa.string(),
    "boolean": pa.bool_(),
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "binary": pa.binary(),
}
