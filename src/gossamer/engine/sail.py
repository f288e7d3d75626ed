"""The embedded server of Spark Connect: Sail, started when the first query needs it.

Small queries run without it (gossamer.engine.small), so many crawls never start it.

Facts (Sail 0.7.2): it keeps memory for good: 3 KB of each request, as it looks SESSION_S later
whether the session is idle; some 12 KB of each query, as it is never told that the answer has
arrived; and 18 KB in its parser of each piece of SQL in a plan, whenever that is sent. So
conditions that are sent dozens of times a round are columns, not SQL. That takes as long.

It shuts down on SIGINT, also in a process that ignores the signal, so it must not keep the handler
that it sets.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from gossamer.engine.address_space import ENGINE_BYTES, GB, require_address_space
from gossamer.engine.gate import make_gate, require_guard
from gossamer.engine.priorities import call_at_low_priority
from gossamer.engine.spark_client import connect_spark

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql.connect.client import SparkConnectClient

    from gossamer.config import EngineConfig
    from gossamer.engine.gate import Gate, Latch

SESSION_S = 10 * 365 * 86_400
"""How long the embedded server keeps a session without requests. Its default is a quarter of an
hour, and a fetch that takes longer is a single request."""
FOOTER_BYTES = 16_000_000
FILES_WITH_STATISTICS = 500
"""What the embedded server keeps of the Parquet files that were read last."""
SLOW_START_S = 3.0
"""Seconds after which a message says that the engine is starting; usually it takes one or two."""
_HANDLER_BYTES = 256
"""More than struct sigaction has on any system."""

_libc = ctypes.CDLL(None, use_errno=True)


class Sail:
    """The server of one engine. Whether it may start is known before: see the errors.

    One that `is_frugal` returns memory as soon as it is free. Fact (Sail 0.7.2, whose mimalloc does
    so a second later at the earliest, and only if a query then uses the same memory): for the
    kernel's manual, with 330,000 links, this process takes 280 MB at most instead of 640, and no
    more CPU time. But each query has to get its memory again: `update` and `generate` take 1.05 ×
    the CPU time at 20,000 known pages, and 1.3 × at 300,000, where this process has 210 MB after
    six rounds instead of 750.

    Raises EngineError if it could not be guarded, or would have too little address space.
    """

    def __init__(self, config: EngineConfig, workers: int, *, is_frugal: bool) -> None:
        require_address_space(ENGINE_BYTES + int(config.memory_gb * GB))
        require_guard(trusting=config.trust_users)
        self._config = config
        self._workers = workers
        self._is_frugal = is_frugal
        self._client: SparkConnectClient | None = None
        self._lock = threading.Lock()
        self._started = ExitStack()

    def client(self) -> SparkConnectClient:
        """The client of the server, which is started if it is not running. From any thread."""
        with self._lock:
            if self._client is None:
                with _message_when_slow(SLOW_START_S), _keeping_handler(signal.SIGINT):
                    self._client = self._start()
            return self._client

    def stop(self) -> None:
        self._started.close()

    def _start(self) -> SparkConnectClient:
        with ExitStack() as started:
            gate = make_gate(trusting=self._config.trust_users)
            started.callback(gate.end)
            more = {"MIMALLOC_PURGE_DELAY": "0"} if self._is_frugal else {}
            start = partial(_start_sail, self._config, self._workers, gate, more)
            server = call_at_low_priority(start)
            started.pop_all()
            started.callback(server.stop)
            started.callback(gate.end)
            host, port = server.listening_address
            session = connect_spark(f"sc://{host}:{port}", embedded=True)
            started.callback(session.stop)
            gate.shut(port)
            self._started = started.pop_all()
        return session.client


@contextmanager
def _keeping_handler(number: int) -> Iterator[None]:
    """Let a signal do after the block what it did before, whatever the block makes of it.

    `signal.signal` works in the main thread only.
    """
    before = ctypes.create_string_buffer(_HANDLER_BYTES)
    _libc.sigaction(number, None, before)
    try:
        yield
    finally:
        _libc.sigaction(number, before, None)


@contextmanager
def _message_when_slow(after_s: float) -> Iterator[None]:
    timer = threading.Timer(after_s, print, ["starting the engine…"], {"file": sys.stderr})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _start_sail(
    config: EngineConfig, workers: int, gate: Gate | Latch, more: Mapping[str, str]
) -> Any:
    """Start the embedded server behind a gate, on a port of loopback that our client closes.

    Facts (Sail 0.7.2, 300 MB for 6 M rows of 75 bytes): only the memory pool `fair` lets sorts
    and windows spill; with `greedy` they fail. A hash join never spills. A sort-merge join does,
    but with it a round at 10 M known pages takes twice the CPU (bench/page_state.py). Steps
    therefore build hash tables only of what a round found, never of all known pages.

    Sail's allocator, mimalloc, reserves memory by the gigabyte. With transparent huge pages, each
    thread that a query starts would take 2 MB of it for good, until all of it is used.

    It keeps the footers and statistics of Parquet files for half an hour, which is 30 KB for a
    small file with 20 columns, and never looks whether a file is still there. A crawl of brief
    rounds writes a hundred files a minute, and reads each a few times. The limits bound that, and
    cost no CPU time.

    It reads all variables of the environment, and panics at one that is not UTF-8.
    """
    settings = {
        "MIMALLOC_ARENA_EAGER_COMMIT": "0",
        "RUST_LOG": "error",
        "SAIL_EXECUTION__DEFAULT_PARALLELISM": str(workers),
        "SAIL_PARQUET__FILE_METADATA_CACHE__SIZE_LIMIT": str(FOOTER_BYTES),
        "SAIL_PARQUET__FILE_STATISTICS_CACHE__MAX_ENTRIES": str(FILES_WITH_STATISTICS),
        "SAIL_RUNTIME__MEMORY_POOL__TYPE": "fair",
        "SAIL_RUNTIME__MEMORY_POOL__FAIR__MAX_SIZE": str(int(config.memory_gb * 1e9)),
        "SAIL_SPARK__SESSION_TIMEOUT_SECS": str(SESSION_S),
        **more,
    }
    users = dict(os.environ)  # which take precedence
    for name in filter(_is_no_utf8, users):
        del os.environ[name]
    for name, setting in settings.items():
        os.environ.setdefault(name, setting)
    try:
        from pysail.spark import SparkConnectServer

        server = SparkConnectServer("127.0.0.1", 0)  # starts the threads that run queries
        gate.guard_thread()
        server.start(background=True)  # starts the thread that accepts connections
    finally:
        for name in settings.keys() - users.keys():
            del os.environ[name]
        os.environ.update(users)
    return server


def _is_no_utf8(variable: str) -> bool:
    try:
        f"{variable}={os.environ[variable]}".encode()
    except UnicodeEncodeError:
        return True
    return False
