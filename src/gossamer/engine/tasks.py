"""What runs a step's function in a worker process, here or on a cluster.

It is sent by its name, so each worker imports this module. The engine's would cost it 6 MB and
20 ms of CPU time, and a crawl of some thousand pages has a dozen workers.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from gossamer.engine.pool import PartitionFunction

Task = TypeVar("Task")


def run_with_umask(
    umask: int, fn: PartitionFunction, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Run a function in a worker that was started with another umask, or by Spark."""
    os.umask(umask)
    yield from fn(batches)


def run_tasks(
    tasks: Sequence[Task],
    fn: Callable[[Task], Iterable[dict[str, Any]]],
    schema: pa.Schema,
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Run a function once for each task whose number comes; yield the rows of each."""
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield pa.RecordBatch.from_pylist(list(fn(tasks[number])), schema=schema)
