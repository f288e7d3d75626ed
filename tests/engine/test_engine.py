from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gossamer.config import EngineConfig
from gossamer.engine import sail, spark_client
from gossamer.engine.engine import Engine, engine_errors
from gossamer.engine.priorities import NICE
from gossamer.engine.small.limits import BESIDE_SAIL
from gossamer.engine.small.mapping import run_beside_each_other
from gossamer.errors import EngineError, StoreFull
from tests.support.engine_tasks import DDL, SCHEMA, double, fail, fill, linger, tell
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.server

LARGE = BESIDE_SAIL.rows + 1
"""Rows that only Sail counts, which starts for them."""


def test_reading_no_files_gives_no_rows_of_the_right_columns(engine: Engine) -> None:
    empty = engine.read([], "url string, inlinks long")
    assert empty.columns == ["url", "inlinks"]
    assert empty.count() == 0


def test_columns_are_read_by_name_and_may_be_missing(engine: Engine, tmp_path: Path) -> None:
    pq.write_table(pa.table({"n": [1], "url": ["a"]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"url": ["b"]}), tmp_path / "2.parquet")
    rows = engine.read(
        [str(tmp_path / "1.parquet"), str(tmp_path / "2.parquet")], "url string, n long"
    )
    assert sorted(rows.collect(), key=lambda row: row.url) == [("a", 1), ("b", None)]


def test_rows_that_are_far_apart_are_found_by_two_columns(engine: Engine, tmp_path: Path) -> None:
    """Among those of a page of each column that has none of them: see `Engine.read_some`."""
    page_rows = 20_000
    assert 3 * page_rows > BESIDE_SAIL.rows
    numbers = range(3 * page_rows)
    table = pa.table(dict.fromkeys("abc", numbers))
    path = str(tmp_path / "all.parquet")
    pages: dict[str, Any] = {"write_page_index": True, "max_rows_per_page": page_rows}
    pq.write_table(table, path, use_dictionary=False, **pages)
    wanted = [i for i in numbers[::8] if not page_rows // 2 <= i < 5 * page_rows // 2]
    rows = engine.read_some([path], "a long, b long, c long")
    for name in "ab":
        rows = rows.join(engine.rows(pa.table({name: wanted})), on=name, how="left_semi")
    assert sorted(rows.toArrow()["c"].to_pylist()) == wanted


def test_map_partitions_runs_python_over_arrow(engine: Engine) -> None:
    rows = engine.map_partitions(engine.spark.range(0, 1000, 1, 4), double, "n long").collect()
    assert sorted(row.n for row in rows) == list(range(0, 2000, 2))


def test_partitions_in_python_may_be_nested_and_joined(engine: Engine) -> None:
    numbers = engine.spark.range(0, 100, 1, 4)
    fours = engine.map_partitions(
        engine.map_partitions(numbers, double, "n long"), double, "n long"
    )
    twos = engine.map_partitions(numbers, double, "n long")
    assert fours.join(twos, "n", how="inner").count() == 50


def test_every_task_runs_once_and_none_in_this_process(engine: Engine) -> None:
    tasks = [f"task-{number}" for number in range(7)]
    rows = engine.map_tasks(tasks, tell, SCHEMA, DDL)
    assert sorted(row["task"] for row in rows) == tasks
    assert os.getpid() not in {row["pid"] for row in rows}


def test_workers_run_tasks_without_loading_the_engine() -> None:
    """A crawl has a dozen workers, one after the other, each with memory of its own."""

    def tell_loaded(task: str) -> Iterator[dict[str, Any]]:  # sent by value, without this module
        import sys

        yield {"task": task, "pid": int("gossamer.engine.engine" in sys.modules)}

    with Engine(EngineConfig(workers=1)) as started:
        rows = started.map_tasks(["task"], tell_loaded, SCHEMA, DDL)
    assert rows == [{"task": "task", "pid": 0}]


def test_only_a_single_task_may_run_in_this_process(engine: Engine) -> None:
    (single,) = engine.map_tasks(["task"], tell, SCHEMA, DDL, at_home=True)
    assert single == {"task": "task", "pid": os.getpid()}
    rows = engine.map_tasks(["one", "two"], tell, SCHEMA, DDL, at_home=True)
    assert os.getpid() not in {row["pid"] for row in rows}


def test_nobody_else_can_connect_to_the_engine() -> None:
    """Its port would let all users of the machine run code as this one."""
    before = listening_ports()
    with Engine(EngineConfig(workers=1)) as started:
        assert started.spark.range(LARGE).count() == LARGE
        assert listening_ports() == before
        assert started.spark.range(LARGE).count() == LARGE


def test_the_only_connection_to_the_engine_is_kept_without_requests() -> None:
    """gRPC would close it after half an hour, and could not open another one."""
    spark_client.import_client()
    builder = spark_client._channel_builder("sc://127.0.0.1:1", "127.0.0.1", embedded=True)
    assert dict(builder._channel_options)["grpc.client_idle_timeout_ms"] == 2**31 - 1


def listening_ports() -> set[int]:
    connections = psutil.Process().net_connections("inet")
    return {each.laddr.port for each in connections if each.status == psutil.CONN_LISTEN}


def test_threads_of_the_engine_run_at_a_low_priority(engine: Engine) -> None:
    assert engine.spark.range(LARGE).count() == LARGE
    found = set()
    for thread in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            if (thread / "comm").read_text().startswith("tokio"):
                found.add(os.getpriority(os.PRIO_PROCESS, int(thread.name)))
    assert found == {max(NICE, os.getpriority(os.PRIO_PROCESS, 0))}


def test_no_tasks_no_rows(engine: Engine) -> None:
    assert engine.map_tasks([], tell, SCHEMA, DDL) == []


def test_an_error_in_a_task_names_its_cause(engine: Engine) -> None:
    with pytest.raises(EngineError, match="ValueError: no good: 7") as error:
        engine.map_tasks(["7"], fail, SCHEMA, DDL)
    assert "in fail" in error.value.what


def test_a_gossamer_error_in_a_task_arrives_unchanged(engine: Engine) -> None:
    with pytest.raises(StoreFull) as error:
        engine.map_tasks(["7"], fill, SCHEMA, DDL)
    assert error.value.subject == "/crawl/7"
    assert error.value.what == "no space left: on the device"
    assert error.value.remedy == "free some"


def test_an_error_of_the_engine_becomes_an_engine_error(engine: Engine) -> None:
    with pytest.raises(EngineError, match="nowhere"), engine_errors():
        engine.spark.sql("select * from nowhere").collect()


@pytest.mark.parametrize("kind", [KeyError, AssertionError])
def test_other_errors_pass_as_they_are(kind: type[Exception]) -> None:
    with pytest.raises(kind), engine_errors():
        raise kind


def test_a_full_disk_under_the_engine_is_named(engine: Engine, small_disk: Path) -> None:
    table = str(small_disk / "table")
    with pytest.raises(StoreFull, match=f"{table}: no space left"), engine_errors(table):
        engine.spark.range(1_000_000).selectExpr("uuid() as u").write.parquet(table)


def test_times_are_utc(engine: Engine) -> None:
    (row,) = engine.spark.sql("select hour(timestamp_seconds(0)) as hour").collect()
    assert row.hour == 0


def test_a_server_that_is_not_there_is_an_error_that_names_it() -> None:
    url = "sc://127.0.0.1:1"
    with pytest.raises(
        EngineError, match=r"sc://127\.0\.0\.1:1: cannot be reached: .*refused"
    ) as error:
        Engine(EngineConfig(url=url))
    assert "engine.url" in error.value.remedy


_ALONE = r"""
import os
from gossamer.config import EngineConfig
from gossamer.engine import sail
from gossamer.engine.engine import Engine

sail.SLOW_START_S = 600  # on a busy machine it takes long
with Engine(EngineConfig(workers=2, memory_gb=0.05)) as engine:
    assert not [name for name in os.environ if name.startswith("SAIL_")]
    assert os.environb[b"CAFE"] == b"caf\xe9"
    text = engine.spark.range(0, 600_000, 1, 4).selectExpr("id", "sha2(string(id), 256) as u")
    print(text.orderBy("u").agg({"id": "max"}).collect()[0][0])
"""


def test_sorts_spill_and_the_engine_is_quiet_in_any_environment() -> None:
    environment = {name: value for name, value in os.environb.items() if name != b"RUST_LOG"}
    done = subprocess.run(
        [sys.executable, "-c", _ALONE],
        capture_output=True,
        text=True,
        check=False,
        env={**environment, b"CAFE": b"caf\xe9"},
        timeout=120,
    )
    assert done.stderr == ""
    assert done.stdout == "599999\n"


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """A hanging proxy: it listens on loopback, accepts connections, and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield listening


def run_python(script: str, *arguments: str) -> str:
    run = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(run, capture_output=True, text=True, check=True, timeout=300, cwd=ROOT)
    return done.stdout


UNSTOPPED = """
from gossamer.config import EngineConfig
from gossamer.engine.engine import Engine
rows = Engine(EngineConfig(workers=1)).spark.range(1_000_000)
print(rows.count())
"""


def test_an_engine_that_nobody_stops_serves_its_rows_and_ends_with_python() -> None:
    """It once went with its last reference, and Python then waited ten minutes for it."""
    assert run_python(UNSTOPPED) == "1000000\n"


TASKS = """
import psutil
from tests.support.engine_tasks import double
from gossamer.config import EngineConfig
from gossamer.engine.engine import Engine
with Engine(EngineConfig(workers=2)) as engine:
    held = []
    for times in (20, 60):
        for _ in range(times):
            engine.map_partitions(engine.spark.range(0, 4, 1, 4), double, "n long").collect()
        held.append(psutil.Process().memory_info().rss)
print((held[1] - held[0]) >> 20)
"""


KEPT = """
import os, sys
from gossamer.config import EngineConfig
from gossamer.engine.allocators import own_bytes
from gossamer.engine.engine import Engine
with Engine(EngineConfig(workers=2), is_frugal=sys.argv[1] == "frugal") as engine:
    assert engine.spark.range(20_000).count() == 20_000
    before = own_bytes(os.getpid())
    rows = engine.spark.range(0, 500_000, 1, 4).selectExpr("sha2(string(id), 256) as u")
    rows.groupBy("u").count().agg({"count": "max"}).collect()
    print(own_bytes(os.getpid()) - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says how large a process is")
def test_a_frugal_engine_keeps_less_memory_after_a_query() -> None:
    usual, frugal = (int(run_python(KEPT, each)) for each in ("usual", "frugal"))
    assert frugal < usual / 2


@pytest.mark.slow
def test_queries_leave_no_memory_behind() -> None:
    """Each thread of a query once took a huge page for good: 400 MB here."""
    assert int(run_python(TASKS)) < 100


FILES = """
import sys
from pathlib import Path
import psutil, pyarrow as pa, pyarrow.parquet as pq
from gossamer.config import EngineConfig
from gossamer.engine.engine import Engine
from gossamer.engine.small import limits
limits.BESIDE_SAIL = limits.BESIDE_SAIL._replace(rows=-1)  # Sail runs every query
names = [f"c{n}" for n in range(500)]
rows, ddl = pa.table({name: [1] for name in names}), ", ".join(f"{name} BIGINT" for name in names)
with Engine(EngineConfig(workers=1)) as engine:
    held = []
    for times in (20, 150):
        for n in range(times):
            path = Path(sys.argv[1], f"{times}-{n}.parquet")
            pq.write_table(rows, path)
            engine.read([str(path)], ddl).where("c0 > 1").select("c0").collect()
            path.unlink()
        held.append(psutil.Process().memory_info().rss)
print((held[1] - held[0]) >> 20)
"""


@pytest.mark.slow
def test_files_that_were_read_leave_little_memory_behind(tmp_path: Path) -> None:
    """The footer and the statistics of each were once kept for half an hour: 100 MB here."""
    assert int(run_python(FILES, str(tmp_path))) < 75


def test_the_local_engine_is_reached_without_the_proxy_of_the_environment(
    silent: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = "http://{}:{}".format(*silent.getsockname())
    for name in ("http_proxy", "https_proxy", "all_proxy", "grpc_proxy"):
        monkeypatch.setenv(name, proxy)
        monkeypatch.setenv(name.upper(), proxy)
    for name in ("no_proxy", "no_grpc_proxy", "NO_PROXY", "NO_GRPC_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with Engine(EngineConfig(workers=1)) as started:
        assert started.spark.range(LARGE).count() == LARGE
    with pytest.raises(BlockingIOError):
        silent.accept()


def test_an_engine_that_does_not_answer_is_given_up_with_a_message(
    silent: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert spark_client.CONNECT_TIMEOUT_S <= 10
    monkeypatch.setattr(spark_client, "CONNECT_TIMEOUT_S", 0.3)
    url = "sc://{}:{}".format(*silent.getsockname())
    with pytest.raises(EngineError, match=r"cannot be reached: no answer within 0\.3 s") as raised:
        Engine(EngineConfig(url=url))
    assert raised.value.subject == url
    assert raised.value.remedy


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        ("10.0.0.1", False),
        ("spark.example.org", False),
    ],
)
def test_only_loopback_is_reached_without_the_proxy(host: str, own: bool) -> None:
    assert spark_client.is_loopback(host) is own


def test_the_embedded_server_keeps_a_session_as_long_as_it_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A query of many hours is a single request. With a second, a longer one comes to nothing."""
    assert sail.SESSION_S > 365 * 86_400
    monkeypatch.setattr(sail, "SESSION_S", 1)
    engine = Engine(EngineConfig(workers=1))
    try:
        numbers = engine.spark.range(0, 2, 1, 2)
        rows = engine.map_partitions(numbers, linger, "n long")
        with pytest.raises(EngineError, match=r"is not running|without an answer"), engine_errors():
            rows.collect()
    finally:
        engine.stop()


class Terminal(StringIO):
    """Knows when a line is complete."""

    def __init__(self) -> None:
        super().__init__()
        self.has_line = threading.Event()

    def write(self, text: str) -> int:
        written = super().write(text)
        if text.endswith("\n"):
            self.has_line.set()
        return written


def test_a_slow_start_prints_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", slow := Terminal())
    with sail._message_when_slow(0):
        assert slow.has_line.wait(60)
    assert slow.getvalue() == "starting the engine…\n"
    monkeypatch.setattr("sys.stderr", quick := Terminal())
    with sail._message_when_slow(60):
        pass
    assert quick.getvalue() == ""


def test_a_query_starts_no_thread(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread per query took as long as a query of few rows."""
    started: list[str] = []
    start = threading.Thread.start

    def spy(thread: threading.Thread) -> None:
        started.append(thread.name)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", spy)
    assert engine.spark.range(3).count() == 3
    assert started == []


def test_columns_are_parsed_once(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    analyze = engine.spark.client._analyze

    def spy(method: str, **arguments: object) -> object:
        asked.append(method)
        return analyze(method, **arguments)

    monkeypatch.setattr(engine.spark.client, "_analyze", spy)
    for _ in range(2):
        assert engine.read([], "once long, each string").collect() == []
    assert asked == ["ddl_parse"]


def test_rows_in_memory(engine: Engine) -> None:
    table = pa.table({"n": pa.array([1, None], pa.int64()), "s": [["a"], []]})
    rows = engine.rows(table)
    assert dict(rows.dtypes) == {"n": "bigint", "s": "array<string>"}
    assert [tuple(row) for row in rows.collect()] == [(1, ["a"]), (None, [])]


def test_tasks_start_in_their_order_and_none_after_an_error() -> None:
    started: list[int] = []

    def run(number: int) -> list[dict[str, int]]:
        started.append(number)
        if number == 2:
            raise ValueError("no good")
        return [{"number": number}]

    assert run_beside_each_other(run, 2, 1) == [{"number": 0}, {"number": 1}]
    with pytest.raises(ValueError, match="no good"):
        run_beside_each_other(run, 9, 1)
    assert started == [0, 1, 0, 1, 2]


def test_ctrl_c_does_what_it_did_before_sail_started_in_some_thread(
    request: pytest.FixtureRequest,
) -> None:
    # Shells start programs in the background with SIGINT ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    with Engine(EngineConfig(workers=1)) as started, ThreadPoolExecutor(1) as thread:
        large = started.spark.range(LARGE)
        assert thread.submit(large.count).result() == LARGE
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert large.count() == LARGE  # it has not shut down
