"""Python functions over the rows of a frame, a partition at a time."""

from __future__ import annotations

import threading
from collections import deque
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from gossamer.engine.small.frames import Frame, no_rows, of_table
from gossamer.engine.small.limits import Unsupported
from gossamer.engine.small.types import parse_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql.connect.proto import CommonInlineUserDefinedFunction

    Row = dict[str, Any]


def map_frame(frame: Frame, function: CommonInlineUserDefinedFunction) -> Frame:
    """What a function makes of the batches of a frame, which is one partition.

    Raises Unsupported for several partitions, which the engine runs side by side.
    """
    from pyspark import cloudpickle

    if frame.parts[1] > 1:
        raise Unsupported("several partitions")
    fn, schema = cloudpickle.loads(function.python_udf.command)
    columns = pa.schema([(each.name, parse_type(each.dataType.simpleString())) for each in schema])
    made = list(fn(iter(frame.table().to_batches() if frame.rows else [])))
    if not made:
        return no_rows(columns)
    table: Any = pa.Table.from_batches(made)
    return of_table(table.rename_columns(columns.names).cast(columns))


def run_beside_each_other(run: Callable[[int], list[Row]], count: int, most: int) -> list[Row]:
    """The rows of `run(0)` to `run(count - 1)`, which start in this order, `most` at once.

    The first error is raised when those that run then have ended; no others start. Threads do not
    keep the process alive, so an interrupt need not wait for them.
    """
    numbers = iter(range(count))
    results: SimpleQueue[list[Row] | BaseException | None] = SimpleQueue()

    def work() -> None:
        try:
            for number in numbers:  # each number goes to one thread, as the iterator is C's
                results.put(run(number))
        except BaseException as error:  # noqa: BLE001  # raised by who waits
            deque(numbers, maxlen=0)
            results.put(error)
        finally:
            results.put(None)

    working = min(count, most)
    for _ in range(working):
        threading.Thread(target=work, name="task", daemon=True).start()
    found: list[Row] = []
    failed: BaseException | None = None
    while working:
        result = results.get()
        if result is None:
            working -= 1
        elif isinstance(result, BaseException):
            failed = failed or result
        else:
            found.extend(result)
    if failed is not None:
        raise failed
    return found
