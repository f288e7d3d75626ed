"""Plans of Spark Connect, run over Arrow's tables in this process."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gossamer.engine.small import functions, keys, types
from gossamer.engine.small.expressions import Evaluator, literal_value
from gossamer.engine.small.files import read_files
from gossamer.engine.small.frames import Column, Frame, no_rows, of_table
from gossamer.engine.small.held import held_frame
from gossamer.engine.small.keys import Groups, group_rows, join_rows, sort_rows
from gossamer.engine.small.limits import Unsupported, check_rows
from gossamer.engine.small.mapping import map_frame
from gossamer.engine.small.values import cast, column, is_number, unify

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql.connect.proto import Expression, Relation

_INNER, _FULL, _LEFT, _RIGHT, _ANTI, _SEMI, _CROSS = range(1, 8)
_UNION, _EXCEPT = 2, 3
_GROUP_BY = 1
_GENERATORS = frozenset({"explode", "posexplode"})


class _Run(threading.local):
    """The query that a thread runs."""

    made: dict[tuple[int, str], Frame] | None = None
    """What its relations are, by the numbers of their plans."""


_query = _Run()


def run(relation: Relation) -> Frame:
    """The rows of a relation. Raises Unsupported if only the engine can find them.

    A query often has the same relation at several places, such as a layer that others are compared
    with. It is run once.
    """
    if _query.made is not None:
        return _run_once(relation, _query.made)
    _query.made = {}
    try:
        return _run_once(relation, _query.made)
    finally:
        _query.made = None


def _run_once(relation: Relation, made: dict[tuple[int, str], Frame]) -> Frame:
    which = str(relation.WhichOneof("rel_type"))
    key = relation.common.plan_id, which
    found = made.get(key) if relation.common.HasField("plan_id") else None
    if found is None:
        execute = _RELATIONS.get(which)
        if execute is None:
            raise Unsupported(f"a relation of the kind {which}")
        found = made[key] = execute(getattr(relation, which))
    return found


def _project(relation: Any) -> Frame:
    frame = run(relation.input)
    if any(_generator(each) for each in relation.expressions):
        return _explode(frame, relation.expressions)
    if any(_aggregates(each) for each in relation.expressions):
        groups = _all_rows(frame)
        columns = Evaluator(frame, groups).columns(relation.expressions)
        return Frame(tuple(columns), groups.size)
    return frame.with_columns(Evaluator(frame).columns(relation.expressions))


def _generator(expression: Expression) -> str | None:
    inner = expression.alias.expr if expression.WhichOneof("expr_type") == "alias" else expression
    if inner.WhichOneof("expr_type") != "unresolved_function":
        return None
    name = inner.unresolved_function.function_name
    return name if name in _GENERATORS else None


def _explode(frame: Frame, expressions: Any) -> Frame:
    """A row for each item of a list: one projection has one of them."""
    evaluator = Evaluator(frame)
    (exploded,) = [each for each in expressions if _generator(each)]
    is_named = exploded.WhichOneof("expr_type") == "alias"
    inner = exploded.alias.expr if is_named else exploded
    items = evaluator.column(inner.unresolved_function.arguments[0])
    if not pa.types.is_list(items.type):
        raise Unsupported("rows of what is no list")
    parents = pc.list_parent_indices(items).to_numpy()
    check_rows(len(parents))
    made = [Column("col", items.flatten())]
    if _generator(exploded) == "posexplode":
        sizes = pc.fill_null(pc.list_value_length(items), 0).to_numpy()
        begins = np.repeat(np.cumsum(sizes) - sizes, sizes)
        made.insert(0, Column("pos", pa.array((np.arange(len(parents)) - begins).astype(np.int32))))
    if is_named:
        made = [replace(each, name=n) for each, n in zip(made, exploded.alias.name, strict=True)]
    rows = Evaluator(frame.take(parents))
    columns: list[Column] = []
    for each in expressions:
        columns.extend(made if each is exploded or _generator(each) else rows.columns([each]))
    return Frame(tuple(columns), len(parents))


def _aggregates(expression: Expression) -> bool:
    """Whether a projection of one row is asked for, such as `count(*)`."""
    from gossamer.engine.small.aggregates import AGGREGATES

    match expression.WhichOneof("expr_type"):
        case "alias":
            return _aggregates(expression.alias.expr)
        case "unresolved_function":
            function = expression.unresolved_function
            return function.function_name in AGGREGATES or any(map(_aggregates, function.arguments))
    return False


def _all_rows(frame: Frame) -> Groups:
    firsts = np.zeros(1, np.int64) if frame.rows else np.full(1, -1)
    return Groups(np.zeros(frame.rows, np.int64), firsts)


def _filter(relation: Any) -> Frame:
    frame = run(relation.input)
    return frame.filter(Evaluator(frame).mask(relation.condition))


def _with_columns(relation: Any) -> Frame:
    frame = run(relation.input)
    if any(_generator(alias.expr) for alias in relation.aliases):
        return _with_exploded(frame, relation.aliases)
    evaluator = Evaluator(frame)
    added = {alias.name[0]: evaluator.column(alias.expr) for alias in relation.aliases}
    columns = [
        Column(each.name, added.pop(each.name)) if each.name in added else each
        for each in frame.columns
    ]
    return frame.with_columns([*columns, *(Column(name, each) for name, each in added.items())])


def _with_exploded(frame: Frame, aliases: Any) -> Frame:
    from pyspark.sql.connect.proto import Expression

    every = Expression()
    every.unresolved_star.SetInParent()
    if {each.name[0] for each in aliases} & {each.name for each in frame.columns}:
        raise Unsupported("a list that its items replace")
    return _explode(frame, [every, *(Expression(alias=alias) for alias in aliases)])


def _drop(relation: Any) -> Frame:
    frame = run(relation.input)
    names = set(relation.column_names)
    names |= {each.unresolved_attribute.unparsed_identifier for each in relation.columns}
    kept = [
        each
        for each in frame.columns
        if each.name not in names and f"{each.qualifier}.{each.name}" not in names
    ]
    return frame.with_columns(kept)


def _rename(relation: Any) -> Frame:
    frame = run(relation.input)
    new = {each.col_name: each.new_col_name for each in relation.renames}
    new |= dict(relation.rename_columns_map)
    return frame.with_columns(
        [replace(each, name=new.get(each.name, each.name)) for each in frame.columns]
    )


def _to_df(relation: Any) -> Frame:
    frame = run(relation.input)
    names = zip(frame.columns, relation.column_names, strict=True)
    return frame.with_columns([Column(name, each.source) for each, name in names])


def _alias(relation: Any) -> Frame:
    frame = run(relation.input)
    return frame.with_columns([replace(each, qualifier=relation.alias) for each in frame.columns])


def _input(relation: Any) -> Frame:
    return run(relation.input)


def _join(relation: Any) -> Frame:
    left, right = run(relation.left), run(relation.right)
    how = relation.join_type
    if how == _CROSS or not (relation.using_columns or relation.HasField("join_condition")):
        return _join_all(left, right)
    if relation.using_columns:
        names = list(relation.using_columns)
        ours, theirs = left.values(names), right.values(names)
    else:
        names = []
        ours, theirs = _equal_sides(relation.join_condition, left, right)
    lefts, rights, counts = join_rows(ours, theirs, (left.rows, right.rows))
    if how == _SEMI:
        return left.filter(pa.array(counts > 0))
    if how == _ANTI:
        return left.filter(pa.array(counts == 0))
    if how in {_LEFT, _FULL}:
        alone = np.flatnonzero(counts == 0)
        lefts = np.concatenate([lefts, alone])
        rights = np.concatenate([rights, np.full(len(alone), -1)])
    if how in {_RIGHT, _FULL}:
        met = np.zeros(right.rows, bool)
        met[rights[rights >= 0]] = True
        alone = np.flatnonzero(~met)
        lefts = np.concatenate([lefts, np.full(len(alone), -1)])
        rights = np.concatenate([rights, alone])
    one, other = left.take(lefts), right.take(rights)
    if not names:
        return Frame((*one.columns, *other.columns), one.rows)
    joined = []
    for name in names:
        both = one.find(name), other.find(name)
        if how == _FULL:
            values = functions.call("coalesce", [each.values for each in both], one.rows)
            joined.append(Column(name, column(values, one.rows)))
        else:
            joined.append(both[how == _RIGHT])
    rest = [each for each in (*one.columns, *other.columns) if each.name not in names]
    return Frame((*joined, *rest), one.rows)


def _join_all(left: Frame, right: Frame) -> Frame:
    check_rows(left.rows * right.rows)
    lefts = np.repeat(np.arange(left.rows), right.rows)
    rights = np.tile(np.arange(right.rows), left.rows)
    one, other = left.take(lefts), right.take(rights)
    return Frame((*one.columns, *other.columns), one.rows)


def _equal_sides(
    condition: Expression, left: Frame, right: Frame
) -> tuple[list[pa.Array], list[pa.Array]]:
    """The columns on both sides of a condition that says which ones are equal."""
    if condition.WhichOneof("expr_type") != "unresolved_function":
        raise Unsupported("a condition of a join")
    function = condition.unresolved_function
    if function.function_name == "and":
        pairs = [_equal_sides(each, left, right) for each in function.arguments]
        return [each for one, _ in pairs for each in one], [each for _, o in pairs for each in o]
    if function.function_name != "==":
        raise Unsupported("a condition of a join")
    one, other = function.arguments
    try:
        return [Evaluator(left).column(one)], [Evaluator(right).column(other)]
    except Unsupported:
        return [Evaluator(left).column(other)], [Evaluator(right).column(one)]


def _set(relation: Any) -> Frame:
    left, right = run(relation.left_input), run(relation.right_input)
    if relation.set_op_type == _EXCEPT and not relation.is_all and not relation.by_name:
        return _subtract(left, right)
    if relation.set_op_type != _UNION:
        raise Unsupported("an operation of sets")
    ours = [each.name for each in left.columns]
    theirs = ours if relation.by_name else [each.name for each in right.columns]
    if relation.by_name:
        extra = [each.name for each in right.columns if each.name not in ours]
        if extra and not relation.allow_missing_columns:
            raise Unsupported("columns that one side lacks")
        ours = theirs = [*ours, *extra]
    elif len(ours) != len(theirs):
        raise Unsupported("columns that one side lacks")
    columns = []
    for place, name in enumerate(ours):
        one = _values_at(left, place, name, relation)
        other = _values_at(right, place, theirs[place], relation)
        values = unify([one, other])
        columns.append(Column(name, pa.concat_arrays(values)))
    rows = check_rows(left.rows + right.rows)
    frame = Frame(tuple(columns), rows)
    return frame if relation.is_all else _distinct(frame)


def _values_at(frame: Frame, place: int, name: str, relation: Any) -> pa.Array:
    if not relation.by_name:
        return frame.columns[place].values
    if relation.allow_missing_columns and all(each.name != name for each in frame.columns):
        return pa.nulls(frame.rows)
    return frame.find(name).values


def _subtract(left: Frame, right: Frame) -> Frame:
    left = _distinct(left)
    ours = [each.values for each in left.columns]
    theirs = [each.values for each in right.columns]
    if any(each.null_count for each in (*ours, *theirs)):
        raise Unsupported("a difference with NULLs")
    _, _, counts = join_rows(ours, theirs, (left.rows, right.rows))
    return left.filter(pa.array(counts == 0))


def _distinct(frame: Frame) -> Frame:
    groups = group_rows([each.values for each in frame.columns], frame.rows)
    return frame.take(np.sort(groups.firsts))


def _aggregate(relation: Any) -> Frame:
    if relation.group_type != _GROUP_BY:
        raise Unsupported("groups of groups")
    frame = run(relation.input)
    grouping = relation.grouping_expressions
    if not grouping:
        groups = _all_rows(frame)
        columns = Evaluator(frame, groups).columns(relation.aggregate_expressions)
        return Frame(tuple(columns), 1)
    named = Evaluator(frame).columns(grouping)
    groups = group_rows([each.values for each in named], frame.rows)
    found = [each.choose(partial(keys.take, places=groups.firsts)) for each in named]
    names = [each.name for each in named]
    made = Evaluator(frame, groups, names).columns(relation.aggregate_expressions)
    return Frame((*found, *made), groups.size)


def _deduplicate(relation: Any) -> Frame:
    frame = run(relation.input)
    if relation.all_columns_as_keys:
        return _distinct(frame)
    groups = group_rows(frame.values(relation.column_names), frame.rows)
    return frame.take(np.sort(groups.firsts))


def _sort(relation: Any) -> Frame:
    frame = run(relation.input)
    return frame.take(sort_rows(Evaluator(frame).orders(relation.order)))


def _limit(relation: Any) -> Frame:
    return run(relation.input).slice(0, relation.limit)


def _fill(relation: Any) -> Frame:
    frame = run(relation.input)
    values = [literal_value(each) for each in relation.values]
    names = list(relation.cols) or [each.name for each in frame.columns]
    fillers = dict(zip(names, values * len(names) if len(values) == 1 else values, strict=False))
    columns = []
    for each in frame.columns:
        filler = fillers.get(each.name)
        kind = each.values.type
        if filler is None or not _fills(filler.type, kind):
            columns.append(each)
            continue
        columns.append(replace(each, source=pc.fill_null(each.values, cast(filler, kind))))
    return frame.with_columns(columns)


def _fills(filler: pa.DataType, kind: pa.DataType) -> bool:
    return filler == kind or (is_number(filler) and is_number(kind))


def _range(relation: Any) -> Frame:
    check_rows(max(relation.end - relation.start, 0))
    numbers = np.arange(relation.start, relation.end, relation.step, dtype=np.int64)
    column = Column("id", pa.array(numbers))
    return Frame((column,), len(numbers), ((), relation.num_partitions))


def _read(relation: Any) -> Frame:
    source = relation.data_source
    if source.format != "parquet" or not source.paths or relation.is_streaming:
        raise Unsupported("a read of something else than Parquet files")
    if len(source.paths) == 1 and (held := held_frame(source.paths[0])) is not None:
        return held
    return read_files(tuple(source.paths), types.parse_columns(source.schema))


def _local(relation: Any) -> Frame:
    schema = types.parse_columns(relation.schema) if relation.schema else None
    if not relation.HasField("data"):
        if schema is None:
            raise Unsupported("rows without columns")
        return no_rows(schema)
    with pa.ipc.open_stream(relation.data) as reader:
        table = reader.read_all()
    if schema is None:
        schema = pa.schema([(each.name, types.plain(each.type)) for each in table.schema])
    return of_table(table.rename_columns(schema.names).cast(schema))


def _repartition(relation: Any) -> Frame:
    frame = run(relation.input)
    return Frame(frame.columns, frame.rows, ((), relation.num_partitions or 1))


def _repartition_by(relation: Any) -> Frame:
    frame = run(relation.input)
    names = tuple(
        each.unresolved_attribute.unparsed_identifier for each in relation.partition_exprs
    )
    return Frame(frame.columns, frame.rows, (names, relation.num_partitions or 1))


def _map(relation: Any) -> Frame:
    return map_frame(run(relation.input), relation.func)


_RELATIONS: dict[str, Callable[[Any], Frame]] = {
    "project": _project,
    "filter": _filter,
    "with_columns": _with_columns,
    "drop": _drop,
    "with_columns_renamed": _rename,
    "to_df": _to_df,
    "subquery_alias": _alias,
    "hint": _input,
    "join": _join,
    "set_op": _set,
    "aggregate": _aggregate,
    "deduplicate": _deduplicate,
    "sort": _sort,
    "limit": _limit,
    "fill_na": _fill,
    "range": _range,
    "read": _read,
    "local_relation": _local,
    "repartition": _repartition,
    "repartition_by_expression": _repartition_by,
    "map_partitions": _map,
}
