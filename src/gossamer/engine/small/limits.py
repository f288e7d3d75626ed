"""What a small query is, and how the others are told."""

from __future__ import annotations

MOST_ROWS = 30_000
"""Of a table at any place of the query. With many more, the engine is faster
(bench/small_queries.py)."""
MOST_ITEMS = 300_000
"""Of the lists that a lambda is applied to. Conditions of Arrow's take 10 ns per item."""
MOST_BYTES = 16 << 20
"""Of the Parquet files that it reads together."""
MOST_HELD_BYTES = 4 << 20
"""Of a table that stays in memory for the queries that follow."""


class Unsupported(Exception):
    """This query is not small, or uses what only the engine has."""


def check_rows(count: int, most: int | None = None) -> int:
    """The number itself. Raises Unsupported if it is larger than `most`, by default MOST_ROWS."""
    if count > (MOST_ROWS if most is None else most):
        raise Unsupported(f"{count} rows")
    return count


def check_bytes(count: int) -> None:
    if count > MOST_BYTES:
        raise Unsupported(f"{count} bytes")
