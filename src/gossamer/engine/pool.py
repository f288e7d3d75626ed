"""Worker processes for the embedded engine: Python functions over Arrow batches.

The function of a partition runs in a separate process and *pulls* its input: the worker requests
a batch when the function needs one, and sends each batch that the function yields. So one socket
carries both directions, nothing is buffered and nothing can deadlock. Batches are sent as Arrow
IPC, functions as cloudpickle.

Facts
  * Forking a process that has the engine's threads is undefined (POSIX fork(2)), and
    multiprocessing's "spawn" runs the caller's main module again. So workers are forked from a
    process without them, or are new interpreters (worker_start.py).
  * A query may contain several functions of this pool, nested or on the two sides of a join, and
    the outer one waits for the inner one. So the limit of `size` processes applies to each
    function separately. With a common limit, outer functions could hold every process and leave
    none for the inner ones. A function may get more processes (`more`).
  * The partitions of a join wait for each other before the first row (Sail 0.7.2, as each adds to
    the filter that is pushed down to the probe side). A join with a union has more of them than
    there are processes. So each requests its first batch before it waits for a process.
  * Users wait for searches but not for tasks. So workers run at a low priority (priorities.py), and
    a server on the same machine stays fast (bench/search_while_indexing.py). They lose nothing if
    no other process needs the cores.
  * A worker is killed when its parent ends (processes.py), even in a regular expression that never
    ends. An orphan that kept fetching would visit the same hosts as its successor.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections import Counter
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from pyspark import cloudpickle

from gossamer.engine import worker_start
from gossamer.engine.allocators import own_bytes
from gossamer.engine.batches import Messages, decode_batch, encode_batch
from gossamer.errors import EngineError, GossamerError, WorkerDied

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from gossamer.engine.worker_start import Started

    PartitionFunction = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

_dumps: Callable[[object], bytes] = cloudpickle.dumps  # pyspark's copy has no types

IDLE_S = 2.0
"""A worker and its parser take 30 ms of CPU time to start again, and hold 100 to 200 MB."""
GROWN_BYTES = 24_000_000
"""A worker that has grown by more than that since its start has worked for seconds."""

_POOLS: dict[str, Pool] = {}
"""Open pools by token. The engine pickles functions even within one process, and a pool cannot be
pickled, so `_run_in_pool` looks it up here."""


class _Call(NamedTuple):
    """A wrapped function, and the number of processes that it may use at once."""

    name: str
    limit: int


class Pool:
    """Worker processes, started on demand: `size` per wrapped function, or more if it says so.

    `prepare` imports what their functions need. If it is given, that begins at once, unless it was
    started ahead (`worker_start`). Workers that are forked after it start quickly, so they end when
    they have been idle for IDLE_S, or have grown, and the memory is free for other steps.

    Invariants: a worker is either in `_idle` or held by exactly one `run`; there are at most `size`
    idle workers, and each of them waits for a function.
    """

    def __init__(self, size: int, prepare: Callable[[], None] | None = None) -> None:
        self._size = size
        self._starter = worker_start.open_starter(prepare, _dumps)
        self._token = uuid.uuid4().hex
        self._idle: list[_Worker] = []
        self._running: Counter[_Call] = Counter()
        self._ends_idle = prepare is not None and self._starter.is_quick
        self._is_watched = False
        self._changed = threading.Condition()
        self._closed = False
        _POOLS[self._token] = self

    def wrap(self, fn: PartitionFunction, more: int = 0) -> PartitionFunction:
        """Return a picklable function that runs `fn` here, in up to `size + more` processes."""
        call = _Call(uuid.uuid4().hex, self._size + more)
        return partial(_run_in_pool, self._token, call, _dumps(fn))

    def run(
        self, call: _Call, fn: bytes, batches: Iterator[pa.RecordBatch]
    ) -> Iterator[pa.RecordBatch]:
        """Run a pickled function over one partition; `call` identifies the wrapped function."""
        batches = _start_batches(batches)
        worker = self._take(call)
        reusable = False  # it died, or the engine abandoned the partition
        try:
            yield from worker.run(fn, batches)
            reusable = True
        except _TaskError as error:
            reusable = True
            raise error.error from None
        finally:
            self._give_back(call, worker, reusable)

    def close(self) -> None:
        """End the idle workers; the others end with their `run`."""
        del _POOLS[self._token]
        with self._changed:
            self._closed = True
            idle, self._idle = self._idle, []
            runs = bool(self._running)
        for worker in idle:
            worker.kill()
        for worker in idle:
            worker.end()
        if not runs:
            self._starter.end()

    def end_idle(self) -> None:
        """End the workers that wait for work, if others start quickly, and what they hold."""
        if self._ends_idle:
            with self._changed:
                idle, self._idle = self._idle, []
            for worker in idle:
                worker.end()

    def rest(self) -> None:
        """End all that waits for work, if none is running. The next worker takes a second to start.

        What it prepares has to be imported again.
        """
        with self._changed:
            if self._running or self._closed:
                return
            while self._idle:
                self._idle.pop().end()
            self._starter.end()

    def _take(self, call: _Call) -> _Worker:
        with self._changed:
            self._changed.wait_for(lambda: self._running[call] < call.limit)
            self._running[call] += 1
            while self._idle:
                worker = self._idle.pop()
                if worker.waits():
                    return worker
                worker.end()
        try:
            return _Worker(self._starter.start())
        except BaseException as error:
            with self._changed:
                self._leave(call)
            if not isinstance(error, OSError):
                raise
            raise EngineError(
                "a worker process",
                f"cannot be started: {(error.strerror or str(error)).lower()}",
                "end other processes, or lower engine.workers",
            ) from error

    def _watch_idle(self) -> None:
        """Look later for workers that were idle for long."""
        if self._ends_idle and self._idle and not self._is_watched:
            self._is_watched = True
            look = threading.Timer(IDLE_S, self._end_idle)
            look.daemon = True
            look.start()

    def _end_idle(self) -> None:
        with self._changed:
            since_s = time.monotonic() - IDLE_S
            idle = [worker for worker in self._idle if worker.idle_since_s <= since_s]
            self._idle = [worker for worker in self._idle if worker.idle_since_s > since_s]
            self._is_watched = False
            self._watch_idle()
        for worker in idle:
            worker.end()

    def _leave(self, call: _Call) -> None:
        self._running[call] -= 1
        if not self._running[call]:
            del self._running[call]
        self._changed.notify_all()

    def _give_back(self, call: _Call, worker: _Worker, reusable: bool) -> None:
        reusable = reusable and not (self._ends_idle and worker.has_grown())
        with self._changed:
            self._leave(call)
            if reusable and not self._closed and len(self._idle) < self._size:
                worker.idle_since_s = time.monotonic()
                self._idle.append(worker)
                self._watch_idle()
                return
            was_last = self._closed and not self._running
        worker.end()
        if was_last:
            self._starter.end()


def _run_in_pool(
    token: str, call: _Call, fn: bytes, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    return _POOLS[token].run(call, fn, batches)


def _start_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same batches, of which the first one is there."""
    return chain(list(islice(batches, 1)), batches)


class _TaskError(Exception):
    """The function raised `error`; its worker can be reused."""

    def __init__(self, error: GossamerError) -> None:
        self.error = error


class _Worker:
    """The parent's side of one process."""

    def __init__(self, started: Started) -> None:
        self._process = started.process
        self._messages = Messages(started.socket)
        self.idle_since_s = 0.0
        self._first_bytes = own_bytes(started.process.pid)

    def has_grown(self) -> bool:
        """Whether it holds much more memory than at its start: malloc rarely returns fragments."""
        return own_bytes(self._process.pid) - self._first_bytes > GROWN_BYTES

    def waits(self) -> bool:
        """Whether an idle worker lives: the kernel kills idle ones too if it is short of memory."""
        return self._process.poll() is None

    def run(self, fn: bytes, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            self._messages.send(fn)
            while True:
                kind = self._messages.receive()
                if kind == b"next":
                    batch = next(batches, None)
                    self._messages.send(b"" if batch is None else encode_batch(batch))
                elif kind == b"batch":
                    yield decode_batch(self._messages.receive())
                elif kind == b"error":
                    raise _TaskError(cloudpickle.loads(self._messages.receive()))
                else:
                    return
        except (EOFError, ConnectionError):
            raise WorkerDied(
                f"worker process {self._process.pid}",
                f"died with exit code {self._process.wait()}",
                "a negative code is a signal; -9 is often the kernel short of memory: "
                "lower engine.workers or the step's sizes",
            ) from None

    def kill(self) -> None:
        """Begin to end it, which takes the kernel a while: it frees the memory."""
        self._process.kill()

    def end(self) -> None:
        self.kill()
        self._process.wait()
        self._messages.close()
