"""Rows of all types, and what this process and the server make of a query."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from gossamer.engine.small import relations

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from pyspark.sql import DataFrame
    from pyspark.sql.connect.proto import Plan

SCHEMA = pa.schema(
    [
        ("k", pa.int32()),
        ("n", pa.int64()),
        ("x", pa.float64()),
        ("is", pa.bool_()),
        ("s", pa.string()),
        ("b", pa.binary()),
        ("many", pa.list_(pa.string())),
        ("pairs", pa.list_(pa.struct([("name", pa.string()), ("size", pa.int32())]))),
    ]
)
TEXTS = ["", "a", "b", "ab", "A b", " c ", "http://a.test/x?q=1", "ÄÖ ü", "日本語", "a.b.c", "12"]
NUMBERS = [0, 1, -1, 2, 3, 7, -8, 1 << 20]
DOUBLES = [0.0, 1.0, -1.5, 2.25, 1e9, -3.0, 0.1]


def some_rows(draw: random.Random, count: int) -> pa.Table:
    def maybe(made: Callable[[], Any]) -> Any:
        return None if draw.random() < 0.2 else made()

    def row() -> dict[str, Any]:
        return {
            "k": maybe(lambda: draw.randrange(4)),
            "n": maybe(lambda: draw.choice(NUMBERS)),
            "x": maybe(lambda: draw.choice(DOUBLES)),
            "is": maybe(lambda: draw.random() < 0.5),
            "s": maybe(lambda: draw.choice(TEXTS)),
            "b": maybe(lambda: draw.choice(TEXTS).encode()),
            "many": maybe(lambda: draw.choices(TEXTS, k=draw.randrange(4))),
            "pairs": maybe(
                lambda: [
                    {"name": draw.choice(TEXTS), "size": draw.randrange(3)}
                    for _ in range(draw.randrange(3))
                ]
            ),
        }

    return pa.Table.from_pylist([row() for _ in range(count)], SCHEMA)


def plan_of(rows: Any) -> Plan:
    found: Plan = rows._plan.to_proto(rows.sparkSession.client)
    return found


def both(rows: DataFrame) -> tuple[pa.Table, pa.Table]:
    """What this process and the server make of a query."""
    plan = plan_of(rows)
    ours = relations.run(plan.root).table()
    client: Any = rows.sparkSession.client
    theirs, _, _ = client._client_for(plan).to_table(plan, {})
    return ours, theirs.select(ours.column_names).cast(ours.schema)


def comparable(value: Any) -> Any:
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else float(f"{value:.9g}") + 0.0
    if isinstance(value, dict):
        return tuple((name, comparable(each)) for name, each in value.items())
    return tuple(map(comparable, value)) if isinstance(value, list) else value


def columns(table: pa.Table) -> dict[str, list[Any]]:
    return {name: [*map(comparable, table[name].to_pylist())] for name in table.column_names}


def rows_of(table: pa.Table) -> Counter[tuple[Any, ...]]:
    return Counter(zip(*columns(table).values(), strict=True))
