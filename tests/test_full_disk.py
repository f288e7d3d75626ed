"""A disk that is full at any step: a clear error, nothing lost, and with more space it goes on."""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from crawl_settings import loopback_settings
from gossamer import compaction, prune, rounds
from gossamer.api import Crawl
from gossamer.errors import StoreFull
from gossamer.fakeweb import FakeWeb, Mix, Web
from tables import answers, tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from gossamer.engine import Engine
    from gossamer.store import StepReport
    from gossamer.workspace import Workspace

RUN = {**rounds.ROUND, **rounds.HARVEST, "compact": compaction.run, "prune": prune.run}
STEPS = [*rounds.ROUND, *rounds.ROUND, "compact", "prune", *rounds.HARVEST]
AMPLE = "256m"
TRIES = 1_000
SPARE_PAGES = [2 * 3**n for n in range(8)]
"""So that it fails early, in the middle, late, and at last not at all."""


@pytest.fixture(scope="module")
def web() -> Iterator[FakeWeb]:
    mix = Mix(calendars=0, crawl_delay=0, slow=0)
    with FakeWeb(Web(hosts=4, pages_per_host=30, page_bytes=8_000, mix=mix)) as fake:
        yield fake


class Disk:
    """A file system in memory, whose size can be changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def mount(self, options: str) -> bool:
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(self.folder)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def shrink(self, pages: int) -> bool:
        """False if a task of a step that failed wrote on between the two calls, and filled it."""
        state = os.statvfs(self.folder)
        used = (state.f_blocks - state.f_bfree + pages) * state.f_frsize
        return self.mount(f"remount,size={used}")

    @contextmanager
    def with_space(self, pages: int) -> Iterator[None]:
        """So many pages of memory are free."""
        assert any(self.shrink(pages) for _ in range(TRIES))
        try:
            yield
        finally:
            assert self.mount(f"remount,size={AMPLE}")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    made = Disk(tmp_path / "disk")
    made.folder.mkdir()
    if not made.mount(f"size={AMPLE}"):
        pytest.skip("mounting a file system is not permitted")
    yield made
    # Lazily: an index that was searched stays mapped for as long as Python keeps it.
    subprocess.run(["umount", "--lazy", str(made.folder)], check=True)


def attempt(run: Callable[[Workspace], StepReport], crawl: Crawl) -> StoreFull | None:
    try:
        run(crawl.work)
    except StoreFull as full:
        return full
    return None


@pytest.mark.slow
def test_every_step_survives_a_full_disk(
    web: FakeWeb,
    disk: Disk,
    engine: Engine,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compaction, "FEW", 2)
    # Without a limit, or it would pause.
    settings = loopback_settings(web.address, "store.min_free_gb = 0\nstore.warc_versions = 1")
    whole = Crawl.create(str(tmp_path / "whole"), settings, engine)
    starved = Crawl.create(str(disk.folder / "crawl"), settings, engine)
    for crawl in (whole, starved):
        crawl.inject(web.web.seeds())
    for name in STEPS:
        run = RUN[name]
        run(whole.work)
        before = starved.work.store.manifest
        failures = 0
        for pages in SPARE_PAGES:
            with disk.with_space(pages):
                full = attempt(run, starved)
            if full is None:
                break
            failures += 1
            assert full.subject.startswith(str(disk.folder)), (name, full.subject)
            assert "free some space" in full.remedy
            assert starved.work.store.refresh() == before
        else:
            run(starved.work)
        assert failures, name
    assert tables(starved) == tables(whole)
    assert capfd.readouterr().err == ""
    titles = [row.title for row in whole.dataset("documents").limit(10).collect()]
    assert answers(starved, titles) == answers(whole, titles)
