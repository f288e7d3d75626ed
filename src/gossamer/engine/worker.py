"""What a worker process does: it runs the functions that its pool sends (`pool.py`)."""

from __future__ import annotations

import socket
import traceback
from typing import TYPE_CHECKING

from pyspark import cloudpickle

from gossamer.engine.batches import Messages, decode_batch, encode_batch
from gossamer.errors import EngineError, GossamerError
from gossamer.storage.errors import out_of_memory, system_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

_dumps: Callable[[object], bytes] = cloudpickle.dumps  # pyspark's copy has no types


def work(descriptor: int) -> None:
    """Run as a worker: receive a function, run it over the batches it pulls, and repeat."""
    messages = Messages(socket.socket(fileno=descriptor))
    try:
        while True:
            fn = messages.receive()
            try:
                for batch in cloudpickle.loads(fn)(_pull_batches(messages)):
                    data = encode_batch(batch)
                    messages.send(b"batch")
                    messages.send(data)
            except Exception as error:  # noqa: BLE001  # the parent raises it
                messages.send(b"error")
                messages.send(_portable_error(error))
            else:
                messages.send(b"done")
    except (EOFError, ConnectionError):
        return  # the parent has closed the connection


def _pull_batches(messages: Messages) -> Iterator[pa.RecordBatch]:
    while True:
        messages.send(b"next")
        data = messages.receive()
        if not data:
            return
        yield decode_batch(data)


def _portable_error(error: Exception) -> bytes:
    """Pickle an error for the parent: GossamerErrors unchanged, others as text with a traceback."""
    if isinstance(error, OSError) and error.errno is not None:
        error = system_error(error, "a task")
    elif isinstance(error, MemoryError):
        error = out_of_memory("a task")
    if not isinstance(error, GossamerError):
        text = "".join(traceback.format_exception(error)).rstrip()
        error = EngineError("a task failed", text, "this is a bug in Gossamer: please report it")
    return _dumps(error)
