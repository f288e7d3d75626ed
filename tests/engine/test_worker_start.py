from __future__ import annotations

import errno
import os
import signal
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from gossamer.config import EngineConfig
from gossamer.engine import fork_server, worker_start
from gossamer.engine.engine import Engine
from gossamer.engine.pool import Pool
from gossamer.engine.worker_start import started_ahead
from gossamer.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.server


def prepare() -> None:
    pass


def pids(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _ in batches:
        yield pa.RecordBatch.from_pydict({"pid": [os.getpid()]})


NUMBER = pa.RecordBatch.from_pydict({"n": [0]})


def mark_process() -> None:
    prepared.append(os.getpid())


prepared: list[int] = []


def marks(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _ in batches:
        yield pa.RecordBatch.from_pydict({"pid": [os.getpid()], "prepared": prepared})


def surroundings(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _ in batches:
        found = {
            "set": [os.environ.get("GOSSAMER_TRIAL")],
            "home": [os.environ.get("HOME")],
            "folder": [str(Path.cwd())],
        }
        yield pa.RecordBatch.from_pydict(found)


def worker_of(pool: Pool) -> int:
    ((row,),) = [batch.to_pylist() for batch in pool.wrap(pids)(iter([NUMBER]))]
    return int(row["pid"])


@pytest.fixture(params=["Linux", "another system"])
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param != "Linux":
        monkeypatch.setattr(fork_server, "is_possible", lambda: False)
    return str(request.param)


@pytest.mark.slow
@pytest.mark.usefixtures("system")
def test_the_first_pool_whose_workers_prepare_the_same_uses_what_was_started_ahead() -> None:
    with started_ahead(prepare):
        ahead = worker_start._ahead[prepare]
        with closing(Pool(1)) as other, closing(Pool(1, prepare)) as first:
            assert worker_of(other) != worker_of(first)
            assert other._starter is not ahead
            assert first._starter is ahead
            with closing(Pool(1, prepare)) as second:
                assert second._starter is not ahead


def test_on_other_systems_the_first_worker_itself_starts_ahead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fork_server, "is_possible", lambda: False)
    with started_ahead(prepare):
        ahead = worker_start._ahead[prepare]
        assert isinstance(ahead, worker_start.Interpreters)
        (first,) = ahead._ahead
        with closing(Pool(1, prepare)) as pool:
            assert worker_of(pool) == first.process.pid


def processes_of(starter: worker_start.Starter) -> list[int]:
    if isinstance(starter, worker_start.Forks):
        assert starter._server is not None
        return [starter._server.pid]
    assert isinstance(starter, worker_start.Interpreters)
    return [each.process.pid for each in starter._ahead]


@pytest.mark.usefixtures("system")
def test_what_no_pool_used_is_ended() -> None:
    with started_ahead(prepare):
        (pid,) = processes_of(worker_start._ahead[prepare])
    assert_ended(pid)
    assert not worker_start._ahead


@pytest.mark.usefixtures("system")
def test_an_engine_elsewhere_ends_it() -> None:
    with started_ahead(prepare):
        (pid,) = processes_of(worker_start._ahead[prepare])
        with pytest.raises(EngineError):
            Engine(EngineConfig(url="sc://127.0.0.1:1"), prepare)
        assert_ended(pid)


def assert_ended(pid: int) -> None:
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_workers_share_what_their_server_has_imported_and_prepared() -> None:
    with closing(Pool(2, mark_process)) as pool:
        both = pool.wrap(marks)
        one, other = both(iter([NUMBER])), both(iter([NUMBER]))
        found = [next(each).to_pylist()[0] for each in (one, other)]
        assert [*one, *other] == []
    assert found[0]["pid"] != found[1]["pid"]
    assert found[0]["prepared"] == found[1]["prepared"] not in {found[0]["pid"], found[1]["pid"]}


@pytest.mark.slow
def test_a_pool_goes_on_when_its_server_was_killed() -> None:
    with closing(Pool(1, prepare)) as pool:
        first = worker_of(pool)
        (server,) = processes_of(pool._starter)
        os.kill(server, signal.SIGKILL)
        (worker,) = pool._idle
        assert worker._process.wait() == -signal.SIGKILL
        assert worker_of(pool) != first


def test_a_worker_has_the_environment_and_the_folder_of_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(Pool(1, prepare)) as pool:
        monkeypatch.setenv("GOSSAMER_TRIAL", "later")
        monkeypatch.delenv("HOME")
        monkeypatch.chdir(tmp_path)
        ((row,),) = [batch.to_pylist() for batch in pool.wrap(surroundings)(iter([NUMBER]))]
    assert row == {"set": "later", "home": None, "folder": str(tmp_path)}


def test_a_crawl_goes_on_if_no_worker_can_be_started_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr("gossamer.engine.fork_server.start_python", fail)
    with started_ahead(prepare), closing(Pool(1, prepare)) as pool:
        monkeypatch.undo()
        assert worker_of(pool) > 0
