"""A crawl whose layers are merged: it is damaged and repaired like any other."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gossamer.api.crawl import Crawl
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.tables import COUNTED, JUDGED
from gossamer.upkeep import compaction
from gossamer.upkeep.compaction import kept_rows
from tests.support.crawl_settings import loopback_settings
from tests.support.file_damages import cut, flip, gone, indexed, reopened, wrong

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gossamer.engine.engine import Engine
    from gossamer.tables import Dataset


@pytest.fixture(autouse=True)
def _merging(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction.step, "FEW", 2)


@pytest.fixture(scope="module")
def whole(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A crawl of two rounds that are merged, and a later one; the web goes on."""
    folder = tmp_path_factory.mktemp("merged") / "crawl"
    with (
        FakeWeb(Web(hosts=2, pages_per_host=15, mix=Mix.plain())) as web,
        pytest.MonkeyPatch.context() as patch,
    ):
        settings = loopback_settings(web.address, "generate.pages = 16")
        crawl = Crawl.create(str(folder), settings, engine)
        crawl.inject(url for host in web.web.hosts() for url in web.web.urls(host))
        crawl.run()
        patch.setattr(compaction.step, "FEW", 2)
        compaction.run(crawl.work)
        crawl.refresh("/$")
        crawl.run(rounds=1)
        yield folder


@pytest.fixture
def crawl(whole: Path, engine: Engine, tmp_path: Path) -> Crawl:
    return Crawl.open(str(shutil.copytree(whole, tmp_path / "crawl")), engine)


def links(crawl: Crawl) -> set[tuple[str, str]]:
    return {(row.src, row.dst) for row in crawl.links().select("src", "dst").collect()}


@pytest.mark.parametrize(
    ("dataset", "damage"),
    [
        pytest.param("documents", gone, marks=pytest.mark.slow),
        pytest.param("links", flip, marks=pytest.mark.long),
        pytest.param("responses", cut, marks=pytest.mark.long),
    ],
)
def test_lost_rows_of_merged_layers_are_made_again(
    dataset: str, damage: Callable[[Path], None], crawl: Crawl
) -> None:
    assert wrong(crawl.work) == []
    merged = next(layer for layer in crawl.work.store.manifest.layers(dataset) if layer.is_merged)
    before = indexed(crawl), links(crawl)
    damage(Path(crawl.path, merged.files[0].path))
    crawl = reopened(crawl)
    crawl.repair()
    crawl = reopened(crawl)
    assert wrong(crawl.work) == []
    crawl.run()
    assert wrong(crawl.work) == []
    assert (indexed(crawl), links(crawl)) == before


@pytest.mark.slow
@pytest.mark.parametrize("record", [COUNTED, JUDGED], ids=lambda record: record.name)
def test_layers_are_merged_if_the_record_of_a_harvest_is_damaged(
    record: Dataset, crawl: Crawl
) -> None:
    flip(Path(crawl.path, crawl.work.store.listed(record.name)[0].path))
    work = reopened(crawl).work
    rows = {name: work.read(name).count() for name in kept_rows.RULES}
    with work.step("test", work.round) as draft:
        draft.append["documents"] = work.write(work.read("documents").limit(1), "documents", 1)
    assert compaction.run(work).counts["responses_layers"] == 1
    assert {name: work.read(name).count() for name in kept_rows.RULES} == {
        **rows,
        "documents": rows["documents"] + 1,
    }
