"""Worker processes for the embedded engine: Python functions over Arrow batches.

A partition's function runs in a process of its own. It *pulls*: the worker asks for a batch
when the function wants one and sends each batch that the function yields, so one socket
carries both directions, nothing is buffered and nothing can deadlock. Batches travel as Arrow
IPC, functions as cloudpickle.

Facts
  * A fork of a process with the engine's threads is undefined (POSIX fork(2)), and
    multiprocessing's "spawn" runs the caller's main module again. So workers are plain new
    interpreters that are given `sys.path` and a socket.
  * A query may hold several functions of this pool at once, nested or on the two sides of a
    join, and the outer one waits for the inner. So the bound of `size` processes holds for
    each function, and not for all: with one bound for all, every process could be held by an
    outer function, and none left for the inner. A function may ask for more (`wrap`).
  * Somebody waits for a search, nobody for a task: workers run at a low priority (NICE), so that
    the server on the same machine keeps its pace (bench/search_while_indexing.py). They lose
    nothing where nobody else wants the cores.
  * A worker ends when its standard input does, that is when its parent is gone, however the
    parent died: an orphan that goes on fetching would visit hosts beside its successor.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import traceback
import uuid
from collections import Counter
from functools import partial
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
from pyspark import cloudpickle

from gossamer.errors import EngineError, GossamerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    PartitionFunction = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

NICE = 10
"""Beside a process of the usual priority (0) a worker gets a tenth of a core that both want."""

_dumps: Callable[[object], bytes] = cloudpickle.dumps  # pyspark's copy has no types

_POOLS: dict[str, Pool] = {}
"""Open pools by token. The engine pickles what it is given, even within one process, and a
pool cannot be pickled: `_run` finds it here."""


class _Call(NamedTuple):
    """A wrapped function, and the processes that it may have at a time."""

    name: str
    most: int


class Pool:
    """Processes that start when they are needed, for each wrapped function `size`, or what it asks.

    Invariants: a worker is either in `_idle` or held by exactly one `run`; the idle ones are at
    most `size`, and each of them waits for a function.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._token = uuid.uuid4().hex
        self._idle: list[_Worker] = []
        self._running: Counter[_Call] = Counter()
        self._changed = threading.Condition()
        self._closed = False
        _POOLS[self._token] = self

    def wrap(self, fn: PartitionFunction, more: int = 0) -> PartitionFunction:
        """The same function, run in this pool, in so many `more` processes; picklable."""
        return partial(_run, self._token, _Call(uuid.uuid4().hex, self._size + more), _dumps(fn))

    def run(
        self, call: _Call, fn: bytes, batches: Iterator[pa.RecordBatch]
    ) -> Iterator[pa.RecordBatch]:
        """Run a pickled function over one partition; `call` tells which wrapped one it is."""
        worker = self._take(call)
        whole = False
        try:
            yield from worker.run(fn, batches)
            whole = True
        except _TaskError as error:
            whole = True
            raise error.error from None
        finally:  # else it died, or the engine dropped us half-way
            self._give(call, worker, whole)

    def close(self) -> None:
        """End the idle workers; those that are held end when their `run` does."""
        del _POOLS[self._token]
        with self._changed:
            self._closed = True
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.end()

    def _take(self, call: _Call) -> _Worker:
        with self._changed:
            self._changed.wait_for(lambda: self._running[call] < call.most)
            self._running[call] += 1
            if self._idle:
                return self._idle.pop()
        return _Worker()

    def _give(self, call: _Call, worker: _Worker, whole: bool) -> None:
        with self._changed:
            self._running[call] -= 1
            if not self._running[call]:
                del self._running[call]
            self._changed.notify_all()
            if whole and not self._closed and len(self._idle) < self._size:
                self._idle.append(worker)
                return
        worker.end()


def _run(
    token: str, call: _Call, fn: bytes, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    return _POOLS[token].run(call, fn, batches)


class _TaskError(Exception):
    """The function raised `error`; its worker is well."""

    def __init__(self, error: GossamerError) -> None:
        self.error = error


class _Worker:
    """The parent's side of one process."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        self._connection = Connection(ours.detach())
        life = f"import sys; sys.path[:] = {sys.path!r}; from gossamer.pool import work; work({{}})"
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603  # this interpreter, our own words
                [sys.executable, "-c", life.format(theirs.fileno())],
                stdin=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
            )

    def run(self, fn: bytes, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            self._connection.send_bytes(fn)
            while True:
                kind = self._connection.recv_bytes()
                if kind == b"next":
                    batch = next(batches, None)
                    self._connection.send_bytes(b"" if batch is None else _encode(batch))
                elif kind == b"batch":
                    yield _decode(self._connection.recv_bytes())
                elif kind == b"error":
                    raise _TaskError(cloudpickle.loads(self._connection.recv_bytes()))
                else:
                    return
        except (EOFError, ConnectionError):
            raise EngineError(
                f"worker process {self._process.pid}",
                f"died with exit code {self._process.wait()}",
                "a negative code is a signal; -9 is often the kernel short of memory: "
                "lower engine.workers or the step's sizes",
            ) from None

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._connection.close()


def work(descriptor: int) -> None:
    """A worker's life: take a function, run it over the batches it pulls, begin again."""
    for number in (signal.SIGINT, signal.SIGTERM):  # Ctrl-C, and a service that is stopped, are
        signal.signal(number, signal.SIG_IGN)  # the parent's to handle
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.nice(NICE)
    connection = Connection(descriptor)
    try:
        while True:
            fn = connection.recv_bytes()
            try:
                for batch in cloudpickle.loads(fn)(_pull(connection)):
                    data = _encode(batch)
                    connection.send_bytes(b"batch")
                    connection.send_bytes(data)
            except Exception as error:  # noqa: BLE001  # whatever it is, the parent raises it
                connection.send_bytes(b"error")
                connection.send_bytes(_portable(error))
            else:
                connection.send_bytes(b"done")
    except (EOFError, ConnectionError):
        return  # the parent wants no more


def _pull(connection: Connection) -> Iterator[pa.RecordBatch]:
    while True:
        connection.send_bytes(b"next")
        data = connection.recv_bytes()
        if not data:
            return
        yield _decode(data)


def _end_with_parent() -> None:
    # Unbuffered: the interpreter cannot end while a thread reads a buffered standard input.
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)


def _portable(error: Exception) -> bytes:
    """The error as the parent raises it: ours as it is, others as text with their traceback."""
    if not isinstance(error, GossamerError):
        text = "".join(traceback.format_exception(error)).rstrip()
        error = EngineError("a task failed", text, "this is a defect of Gossamer: please report it")
    return _dumps(error)


def _encode(batch: pa.RecordBatch) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def _decode(data: bytes) -> pa.RecordBatch:
    with pa.ipc.open_stream(data) as reader:
        return reader.read_next_batch()
