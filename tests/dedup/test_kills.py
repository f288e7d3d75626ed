"""Workers that are killed during `dedup` and `index` leave neither a missing nor a doubled page.

On a cluster, each executor has a process of `pyspark.daemon`, which forks the workers. If it is
killed, its workers live on as orphans and go on serving the executor. This process adopts them, so
that they can be killed as well.
"""

from __future__ import annotations

import ctypes
import os
import random
import select
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
import tantivy

from gossamer.config import Config
from gossamer.errors import EngineError
from gossamer.index.format.layout import part_key
from gossamer.index.format.stored_document import read_stored_document
from gossamer.state.workspace import Workspace
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.store import Store
from tests.support.harvest_steps import run_index
from tests.support.planted_duplicates import History, expected, forget, standing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.engine.engine import Engine

LONGEST_S = 2.0
"""Between two kills."""
EACH = 5
"""Kills in a harvest."""
_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


class Killer(threading.Thread):
    """Kills so many workers of the engine, chosen by chance, one after the other."""

    def __init__(self, seed: int, most: int) -> None:
        super().__init__(daemon=True)
        self._most = most
        self._draw = random.Random(seed)  # noqa: S311  # reproducible
        self._stopped = threading.Event()
        self.kills = 0

    def run(self) -> None:
        while self.kills < self._most:
            if self._stopped.wait(self._draw.random() * LONGEST_S):
                break
            if found := workers():
                self.kills += kill(self._draw.choice(found))

    def stop(self) -> None:
        self._stopped.set()
        self.join()


def workers() -> list[psutil.Process]:
    """The Python processes that this one, or a cluster that it started, has for tasks."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if "python" in process.name() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent dies (prctl(2))."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def kill(process: psutil.Process) -> bool:
    """Return when the process has ended: the engine sees that an idle worker has gone."""
    try:
        descriptor = os.pidfd_open(process.pid)
        process.kill()
    except (ProcessLookupError, psutil.NoSuchProcess):
        return False
    select.select([descriptor], [], [])
    os.close(descriptor)
    return True


@contextmanager
def killing(seed: int, most: int) -> Iterator[Killer]:
    killer = Killer(seed, most)
    killer.start()
    try:
        yield killer
    finally:
        killer.stop()


def in_index(work: Workspace) -> list[str]:
    """The URL of each document that the parts of the index hold."""
    urls = []
    folders = {Path(file.path).parent for file in work.store.listed("index") if part_key(file.path)}
    for folder in folders:
        index = tantivy.Index.open(str(Path(work.root, folder)))
        searcher = index.searcher()
        found = searcher.search(tantivy.Query.all_query(), max(searcher.num_docs, 1)).hits
        urls += [read_stored_document(searcher.doc(address)).url for _, address in found]
    return urls


def check(work: Workspace, kills: int) -> None:
    """After each round, dedup and index run until they succeed, while workers are killed."""
    adopt_orphans()
    history = History(11)
    killed = 0
    while killed < kills:
        history.happen(work)
        forget(work)
        with killing(killed, min(kills - killed, EACH)) as killer:
            before = -1
            while killer.kills > before:  # else the error has another reason
                before = killer.kills
                with suppress(EngineError):
                    run_index(work)
                    break
        killed += killer.kills
        run_index(work)
        equal, near = expected(history.pages.values(), work.config.dedup.similarity, "crawl")
        survivors = {
            page.url
            for page in history.pages.values()
            if not (page.gone or page.noindex or page.url in equal or page.url in near)
        }
        rows = standing(work)
        assert {url for url in rows if rows[url]["disposition"] == "indexed"} == survivors
        assert sorted(in_index(work)) == sorted(survivors)


@pytest.mark.long
@pytest.mark.parametrize("kills", [8, 50])
def test_the_index_has_exactly_the_survivors_after_kills(work: Workspace, kills: int) -> None:
    check(work, kills)


@pytest.mark.spark
@pytest.mark.long
def test_it_has_them_on_a_cluster_too(spark_engine: Engine, tmp_path: Path) -> None:
    store = Store.create(LocalBackend(tmp_path))
    check(Workspace(store, Config(), clock_ms=1_800_000_000_000, _engine=spark_engine), 50)
