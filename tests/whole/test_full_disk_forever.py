"""A crawl without end whose disk becomes full while a harvest runs beside a round: the command."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gossamer.api.crawl import Crawl
from gossamer.fakeweb import FakeWeb, Mix, Web
from tests.support.command_line import gossamer
from tests.support.crawl_service import Service
from tests.support.crawl_settings import loopback_settings
from tests.support.crawl_tables import answers, garbage, tables
from tests.support.resizable_disk import Disk, disk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gossamer.engine.engine import Engine

__all__ = ["disk"]
SEED = "http://a.test/"
"""That of `Service`, which is not found."""
NEARLY_FULL = 16
"""Pages of memory that are left."""


@pytest.fixture(scope="module")
def web() -> Iterator[FakeWeb]:
    with FakeWeb(Web(hosts=4, pages_per_host=8, mix=Mix.plain())) as fake:
        yield fake


def created(folder: Path, web: FakeWeb, engine: Engine, min_free_gb: float) -> Crawl:
    settings = f"store.min_free_gb = {min_free_gb}\ngenerate.pages = 10\nrank.tolerance = 1e-12"
    made = Crawl.create(str(folder), loopback_settings(web.address, settings), engine)
    made.inject([SEED, *web.web.seeds()])
    return made


@pytest.fixture(scope="module")
def whole(web: FakeWeb, engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """A crawl whose disk was never full."""
    made = created(tmp_path_factory.mktemp("whole") / "crawl", web, engine, 0)
    made.run()
    return made


def check_equal(starved: Crawl, whole: Crawl) -> None:
    assert garbage(starved) == set()
    assert tables(starved) == tables(whole)
    titles = [row.title for row in whole.dataset("documents").limit(10).collect()]
    words = {word for title in titles for word in title.split() if word.isalpha()}
    assert len(words) > 10
    assert answers(starved, words) == answers(whole, words)


@pytest.mark.long
def test_it_stops_with_a_remedy_that_works(
    web: FakeWeb, disk: Disk, engine: Engine, whole: Crawl
) -> None:
    starved = created(disk.folder / "crawl", web, engine, 0)
    with Service(disk.folder / "crawl") as service:
        service.until(step="invert")
        disk.leave(NEARLY_FULL)
        _, errors = service.process.communicate()
        disk.grow()
    assert service.process.returncode == 1
    assert errors.startswith(f"gossamer: {disk.folder}"), errors
    assert "no space left on the device" in errors
    assert "→ free some space and run the same command again" in errors
    assert "Traceback" not in errors
    gossamer("crawl", starved.path)
    check_equal(Crawl.open(starved.path, engine), whole)


@pytest.mark.long
def test_it_pauses_before_and_goes_on_by_itself(
    web: FakeWeb, disk: Disk, engine: Engine, whole: Crawl
) -> None:
    starved = created(disk.folder / "crawl", web, engine, min_free_gb=0.1)
    with Service(disk.folder / "crawl") as service:
        service.until(step="invert")
        disk.leave(NEARLY_FULL * 256)  # 16 MB: enough for what has begun
        (paused,) = service.until(event="pause")[-1:]
        assert paused["text"].startswith(f"paused: the disk of {starved.path} has 0.0")
        disk.grow()
        service.until(event="resume")
        service.until(event="wait")
        assert service.end().count("\n") == 1
    check_equal(Crawl.open(starved.path, engine), whole)
