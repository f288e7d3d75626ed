from __future__ import annotations

import errno
import os
from contextlib import closing
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from gossamer.config import EngineConfig
from gossamer.engine import worker_start
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


def worker_of(pool: Pool) -> int:
    rows = iter([pa.RecordBatch.from_pydict({"n": [0]})])
    ((row,),) = [batch.to_pylist() for batch in pool.wrap(pids)(rows)]
    return int(row["pid"])


def test_the_first_pool_whose_workers_begin_so_uses_the_worker_that_was_started_ahead() -> None:
    with started_ahead(prepare):
        pid = worker_start._ahead[prepare].process.pid
        with closing(Pool(1)) as other:
            assert worker_of(other) != pid
        with closing(Pool(1, prepare)) as first, closing(Pool(1, prepare)) as second:
            assert worker_of(first) == pid
            assert worker_of(second) != pid


def test_a_worker_that_no_pool_used_is_ended() -> None:
    with started_ahead(prepare):
        process = worker_start._ahead[prepare].process
    assert process.returncode is not None
    assert not worker_start._ahead


def test_an_engine_elsewhere_ends_it() -> None:
    with started_ahead(prepare):
        process = worker_start._ahead[prepare].process
        with pytest.raises(EngineError):
            Engine(EngineConfig(url="sc://127.0.0.1:1"), prepare)
        assert process.returncode is not None


def test_a_crawl_goes_on_if_no_worker_can_be_started_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr("gossamer.engine.worker_start.start_python", fail)
    with started_ahead(prepare):
        assert not worker_start._ahead
