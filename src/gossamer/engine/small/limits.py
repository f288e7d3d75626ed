"""What a small query is, and how the others are told."""

from __future__ import annotations

MOST_ROWS = 30_000
"""Of a table at any place of the query. With many more, the engine is faster
(bench/small_queries.py)."""
MOST_BYTES = 16 << 20
"""Of the Parquet files that it reads together."""
MOST_HELD_BYTES = 4 << 20
"""Of a table that stays in memory for the queries that follow."""


class Unsupported(Exception):
    """This query is not small, or uses what only the engine has."""


def check_rows(count: int) -> int:
    if count > MOST_ROWS:
        raise Unsupported(f"{count} rows")
    return count


def check_bytes(count: int) -> None:
    if count > MOST_BYTES:
        raise Unsupported(f"{count} bytes")
