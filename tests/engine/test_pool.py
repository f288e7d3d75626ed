from __future__ import annotations

import errno
import os
import select
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

import psutil
import pyarrow as pa
import pytest

from gossamer.engine.pool import GROWN_BYTES, Pool
from gossamer.engine.priorities import NICE
from gossamer.errors import EngineError, StoreFull

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gossamer.engine.pool import PartitionFunction

    Batches = Iterator[pa.RecordBatch]

pytestmark = pytest.mark.server

MEGABYTE = 1 << 20
PATIENCE_S = 60
"""An event that has not happened by then fails the test."""


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    """A pool shared by tests that do not break it: a worker takes half a second to start."""
    pool = Pool(2)
    yield pool
    pool.close()


@pytest.fixture(scope="module")
def lone() -> Iterator[Pool]:
    """A shared pool for one process."""
    pool = Pool(1)
    yield pool
    pool.close()


def numbers(*values: int) -> pa.RecordBatch:
    return pa.record_batch({"n": pa.array(values, pa.int64())})


def run(pool: Pool, fn: PartitionFunction, *batches: pa.RecordBatch) -> list[int]:
    return [n for batch in pool.wrap(fn)(iter(batches)) for n in batch.column(0).to_pylist()]


def double(batches: Batches) -> Batches:
    for batch in batches:
        yield numbers(*(2 * n for n in batch.column(0).to_pylist()))


def pid(batches: Batches) -> Batches:
    for _ in batches:
        yield numbers(os.getpid())


def grow(batches: Batches) -> Batches:
    """Keep memory for good, as many bytes as the rows say."""
    for batch in batches:
        for size in batch.column(0).to_pylist():
            setattr(sys, f"held_{id(batch)}", b"x" * size)
        yield numbers(os.getpid())


def modules(batches: Batches) -> Batches:
    for _ in batches:
        yield numbers(*(int(name in sys.modules) for name in ("pyarrow", "pandas")))


def kill_itself(batches: Batches) -> Batches:
    next(batches)
    os.kill(os.getpid(), signal.SIGKILL)
    yield numbers()


def test_partitions_may_wait_for_each_others_first_batch(pool: Pool) -> None:
    """More partitions than processes, as those of a join with a union: see the facts of pool."""
    all_begun = threading.Barrier(3, timeout=PATIENCE_S)
    doubled = pool.wrap(double)

    def partition(n: int) -> Batches:
        all_begun.wait()
        yield numbers(n)

    with ThreadPoolExecutor(3) as threads:
        found = threads.map(lambda n: list(doubled(partition(n))), (1, 2, 3))
        assert [batch.column(0).to_pylist() for (batch,) in found] == [[2], [4], [6]]


def test_workers_do_without_pandas(pool: Pool) -> None:
    assert run(pool, modules, numbers(1)) == [1, 0]


def test_a_function_runs_in_another_process(pool: Pool) -> None:
    assert run(pool, double, numbers(1, 2), numbers(), numbers(3)) == [2, 4, 6]
    assert run(pool, pid, numbers(0)) != [os.getpid()]


def test_a_worker_is_used_again(pool: Pool) -> None:
    assert run(pool, pid, numbers(0)) == run(pool, pid, numbers(0))


def test_workers_run_at_a_low_priority(pool: Pool) -> None:
    def nice(batches: Batches) -> Batches:
        for _ in batches:
            yield numbers(os.getpriority(os.PRIO_PROCESS, 0))

    ours = os.getpriority(os.PRIO_PROCESS, 0)
    assert run(pool, nice, numbers(0)) == [max(ours, NICE)]


def test_lambdas_can_be_sent_to_workers(pool: Pool) -> None:
    factor = 5
    assert run(pool, lambda batches: (numbers(factor * b.num_rows) for b in batches), numbers(1, 1))


def test_a_partition_without_batches_or_without_rows(pool: Pool) -> None:
    assert run(pool, double) == []
    assert run(pool, lambda _: iter(()), numbers(1), numbers(2)) == []


def test_types_and_nulls_travel_unchanged(pool: Pool) -> None:
    batch = pa.record_batch(
        {
            "text": pa.array(["é", None, ""]),
            "words": pa.array([["a"], None, []], pa.list_(pa.string())),
            "bytes": pa.array([b"\0", b"", None], pa.binary()),
        }
    )
    (back,) = pool.wrap(lambda batches: batches)(iter([batch]))
    assert back.equals(batch)
    assert back.schema.equals(batch.schema)


def test_foreign_errors_arrive_with_their_traceback(pool: Pool) -> None:
    def divide(batches: Batches) -> Batches:
        for batch in batches:
            yield numbers(1 // batch.column(0)[0].as_py())

    with pytest.raises(EngineError) as error:
        run(pool, divide, numbers(1), numbers(0))
    assert "ZeroDivisionError" in error.value.what
    assert "yield numbers(1 // batch" in error.value.what
    assert run(pool, divide, numbers(1)) == [1]


def test_gossamer_errors_arrive_unchanged(pool: Pool) -> None:
    def fill(batches: Batches) -> Batches:
        raise StoreFull(f"/crawl/{next(batches).num_rows}", "no space left", "free some")

    with pytest.raises(StoreFull, match="/crawl/3: no space left") as error:
        run(pool, fill, numbers(1, 2, 3))
    assert error.value.remedy == "free some"


def test_yielding_something_else_than_a_batch_is_an_error_and_the_worker_is_reused(
    pool: Pool,
) -> None:
    before = run(pool, pid, numbers(0))
    with pytest.raises(EngineError, match="AttributeError"):
        run(pool, lambda batches: ("text" for _ in batches), numbers(1))
    assert run(pool, pid, numbers(0)) == before


def test_a_killed_worker_is_an_error_and_the_pool_goes_on(pool: Pool) -> None:
    with pytest.raises(EngineError, match=r"worker process \d+: died with exit code -9"):
        run(pool, kill_itself, numbers(1))
    assert run(pool, double, numbers(4)) == [8]


def test_an_idle_worker_that_was_killed_is_replaced(pool: Pool) -> None:
    (idle,) = run(pool, pid, numbers(0))
    descriptor = os.pidfd_open(idle)
    os.kill(idle, signal.SIGKILL)
    assert select.select([descriptor], [], [], PATIENCE_S)[0]
    os.close(descriptor)
    assert run(pool, pid, numbers(0)) != [idle]


def test_a_worker_that_cannot_be_started_is_an_error_and_the_pool_goes_on_until_it_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    with closing(Pool(1)) as pool:
        function = pool.wrap(pid)
        with monkeypatch.context() as patch:
            patch.setattr("gossamer.engine.fork_server.start_python", fail)
            with pytest.raises(EngineError, match="a worker process: cannot be started: resource"):
                list(function(iter(())))
        assert not pool._running
        (worker,) = run(pool, pid, numbers(0))
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


def test_an_error_of_the_input_is_not_hidden(pool: Pool) -> None:
    def broken() -> Batches:
        yield numbers(1)
        raise KeyError("upstream")

    with pytest.raises(KeyError, match="upstream"):
        list(pool.wrap(double)(broken()))
    assert run(pool, double, numbers(4)) == [8]


def test_batches_are_pulled_one_at_a_time(pool: Pool) -> None:
    pulled: list[int] = []

    def endless() -> Batches:
        while True:
            pulled.append(len(pulled))
            yield numbers(len(pulled))

    results = pool.wrap(double)(endless())
    assert next(results).column(0).to_pylist() == [2]
    assert next(results).column(0).to_pylist() == [4]
    assert len(pulled) == 2
    results.close()  # type: ignore[attr-defined]  # it is a generator
    assert run(pool, double, numbers(4)) == [8]


def test_large_batches_both_ways_do_not_block(pool: Pool) -> None:
    large = pa.record_batch({"body": pa.array([bytes(MEGABYTE)] * 4, pa.binary())})

    def thrice(batches: Batches) -> Batches:
        for batch in batches:
            yield from [batch] * 3

    assert sum(back.num_rows for back in pool.wrap(thrice)(iter([large] * 4))) == 48


def test_nested_functions_do_not_wait_for_each_others_processes_and_few_stay(lone: Pool) -> None:
    nested = lone.wrap(double)(lone.wrap(double)(iter([numbers(1)])))
    assert [batch.column(0).to_pylist() for batch in nested] == [[4]]
    assert len(lone._idle) == 1


def test_a_function_may_have_more_processes_than_the_pool(lone: Pool) -> None:
    both = lone.wrap(pid, more=1)
    one, other = both(iter([numbers(1)])), both(iter([numbers(1)]))
    pids = {next(each).column(0)[0].as_py() for each in (one, other)}  # the first goes on
    assert len(pids) == 2
    assert [*one, *other] == []


def test_workers_are_prepared_before_there_is_work_for_them(tmp_path: Path) -> None:
    fifo = tmp_path / "prepared"
    os.mkfifo(fifo)

    def tell() -> None:
        fifo.write_text("ready")

    with closing(Pool(1, tell)) as pool:
        assert fifo.read_text() == "ready"
        assert run(pool, double, numbers(1)) == [2]


def test_prepared_workers_end_when_they_have_been_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.engine.pool.IDLE_S", 0.2)
    with closing(Pool(2, lambda: None)) as pool:
        both = pool.wrap(pid)
        one, other = both(iter([numbers(1)])), both(iter([numbers(1)]))
        ended = [os.pidfd_open(next(each).column(0)[0].as_py()) for each in (one, other)]
        assert [*one, *other] == []
        for descriptor in ended:
            assert select.select([descriptor], [], [], PATIENCE_S)[0]
            os.close(descriptor)
        assert run(pool, double, numbers(1)) == [2]


def test_idle_workers_end_when_others_need_their_memory(pool: Pool) -> None:
    with closing(Pool(2, lambda: None)) as quick:
        running = quick.wrap(double)(iter([numbers(1), numbers(2)]))
        first = next(running)
        (before,) = run(quick, pid, numbers(0))
        quick.end_idle()
        assert not psutil.pid_exists(before)
        assert [batch.column(0)[0].as_py() for batch in (first, *running)] == [2, 4]
    slow = run(pool, pid, numbers(0))
    pool.end_idle()  # they would take half a second to start again
    assert run(pool, pid, numbers(0)) == slow


def test_a_pool_that_rests_has_no_processes_and_works_again(tmp_path: Path) -> None:
    def tell() -> None:
        with (tmp_path / "prepared").open("a") as told:
            told.write("x")

    with closing(Pool(1, tell)) as pool:
        before = run(pool, pid, numbers(0))
        pool.rest()
        assert not psutil.pid_exists(before[0])
        assert run(pool, pid, numbers(0)) != before
    pool.rest()  # a closed one has nothing to end
    assert (tmp_path / "prepared").read_text() == "xx"


def test_a_pool_does_not_rest_while_a_function_runs() -> None:
    with closing(Pool(1, lambda: None)) as pool:
        rows = pool.wrap(double)(iter([numbers(1), numbers(2)]))
        first = next(rows)
        pool.rest()
        assert [batch.column(0)[0].as_py() for batch in (first, *rows)] == [2, 4]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says how large a process is")
def test_a_prepared_worker_that_has_grown_ends_after_its_task() -> None:
    with closing(Pool(1, lambda: None)) as pool:
        first, same = run(pool, grow, numbers(MEGABYTE)), run(pool, pid, numbers(0))
        assert same == first
        assert run(pool, grow, numbers(2 * GROWN_BYTES)) == first
        assert run(pool, pid, numbers(0)) != first


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says how large a process is")
def test_a_worker_that_would_have_to_prepare_again_may_grow(lone: Pool) -> None:
    first = run(lone, grow, numbers(2 * GROWN_BYTES))
    assert run(lone, pid, numbers(0)) == first


def test_workers_that_would_have_to_prepare_again_stay(pool: Pool) -> None:
    run(pool, pid, numbers(0))
    assert pool._idle
    assert not pool._is_watched


def test_a_worker_that_cannot_be_prepared_works_all_the_same() -> None:
    def fail() -> None:
        raise ValueError

    with closing(Pool(1, fail)) as pool:
        assert run(pool, double, numbers(1)) == [2]


@pytest.mark.slow
def test_a_script_needs_no_guard_for_its_main_module_and_its_workers_end_if_it_is_killed(
    tmp_path: Path,
) -> None:
    """The worker never ends by itself. It holds the writing end of a pipe, which is closed then."""
    fifo, script = tmp_path / "alive", tmp_path / "script.py"
    os.mkfifo(fifo)
    script.write_text(f"""
import os
import pyarrow as pa
from gossamer.engine.pool import GROWN_BYTES, Pool

print("started", flush=True)

def tell(batches):
    os.open({str(fifo)!r}, os.O_WRONLY)
    yield pa.record_batch({{"pid": [os.getpid()]}})
    while True:
        pass

for batch in Pool(1).wrap(tell)(iter([])):
    print(batch.column(0)[0].as_py(), flush=True)
    input()
""")
    with (
        subprocess.Popen(
            [sys.executable, str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as parent,
        fifo.open("rb") as alive,
    ):
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"started\n"
        assert int(parent.stdout.readline()) != parent.pid
        parent.kill()
        readable, _, _ = select.select([alive], [], [], PATIENCE_S)
        assert readable
        assert alive.read() == b""
        assert parent.communicate() == (b"", b"")
