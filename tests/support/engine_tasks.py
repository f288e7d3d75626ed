"""Functions that tests run on an engine, importable by its worker processes."""

from __future__ import annotations

import os
from threading import Event
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from gossamer.errors import StoreFull

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMA = pa.schema([("task", pa.string()), ("pid", pa.int64())])
DDL = "task string, pid long"


def tell(task: str) -> Iterator[dict[str, Any]]:
    yield {"task": task, "pid": os.getpid()}


def fail(task: str) -> Iterator[dict[str, Any]]:
    raise ValueError(f"no good: {task}")
    yield


def fill(task: str) -> Iterator[dict[str, Any]]:
    raise StoreFull(f"/crawl/{task}", "no space left: on the device", "free some")
    yield


def double(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield pa.record_batch({"n": [2 * n for n in batch.column(0).to_pylist()]})


def linger(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Takes two seconds."""
    Event().wait(2)
    yield from double(batches)
