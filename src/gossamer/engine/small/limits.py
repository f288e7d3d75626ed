"""What a small query is, and how the others are told."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class Limits(NamedTuple):
    """How large a small query may be."""

    rows: int
    """Of a table at any place of the query."""
    items: int
    """Of the lists that a lambda is applied to."""
    bytes: int
    """Of the Parquet files that it reads together."""
    held_bytes: int
    """Of a table that stays in memory for the queries that follow."""


BESIDE_SAIL = Limits(30_000, 300_000, 16 << 20, 4 << 20)
"""With many more rows, Sail is faster (bench/small_queries.py). Conditions of Arrow's take 10 ns
per item."""
BESIDE_SPARK = Limits(400_000, 4_000_000, 64 << 20, 16 << 20)
"""Spark takes one to three seconds for a query with a shuffle, however small it is. The largest
queries that are small by these limits take the driver up to 0.9 GB (bench/driver_memory.py)."""

_limits: ContextVar[Limits] = ContextVar("limits", default=BESIDE_SAIL)


class Unsupported(Exception):
    """This query is not small, or uses what only the engine has."""


@contextmanager
def limited(to: Limits) -> Iterator[None]:
    """Queries that this thread runs in the block are small within these limits."""
    token = _limits.set(to)
    try:
        yield
    finally:
        _limits.reset(token)


def current() -> Limits:
    return _limits.get()


def check_rows(count: int, most: int | None = None) -> int:
    """The number itself. Raises Unsupported if it is larger than `most`: the limit of rows."""
    if count > (current().rows if most is None else most):
        raise Unsupported(f"{count} rows")
    return count


def check_bytes(count: int) -> None:
    if count > current().bytes:
        raise Unsupported(f"{count} bytes")
