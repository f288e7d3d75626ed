"""`gossamer check` and damaged listings, which say what files hold the older part of a dataset."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gossamer.api.crawl import Crawl
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.flow.check import checks
from gossamer.storage import listings
from gossamer.storage.names import HISTORY
from gossamer.storage.store import Layer, StepReport
from tests.support.crawl_settings import loopback_settings
from tests.support.crawl_tables import garbage, tables
from tests.support.file_damages import cut, flip, gone, indexed, longer, reopened, wrong

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gossamer.engine.engine import Engine
    from gossamer.storage.manifest import Listing

pytestmark = pytest.mark.slow

LISTED = ("warc", "responses", "documents", "links", "pages", "index", HISTORY)
"""Stacks that have listings in this crawl."""


@pytest.fixture(scope="module")
def web() -> Iterator[FakeWeb]:
    with FakeWeb(Web(hosts=2, pages_per_host=9, mix=Mix.plain())) as fake:
        yield fake


@pytest.fixture(scope="module")
def whole(web: FakeWeb, engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl of three rounds, whose manifest names hardly any file itself."""
    folder = tmp_path_factory.mktemp("listed") / "crawl"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(listings, "NEWEST", {Layer: 1, StepReport: 4})
        settings = loopback_settings(web.address, "generate.pages = 7\nupdate.merge_share = 1")
        crawl = Crawl.create(str(folder), settings, engine)
        crawl.inject(url for host in web.web.hosts() for url in web.web.urls(host))
        crawl.run()
    return folder


@pytest.fixture
def crawl(whole: Path, engine: Engine, tmp_path: Path) -> Crawl:
    """A copy of it."""
    return Crawl.open(str(shutil.copytree(whole, tmp_path / "crawl")), engine)


def listings_of(crawl: Crawl, name: str) -> tuple[Listing, ...]:
    manifest = crawl.work.store.manifest
    return (manifest.reports if name == HISTORY else manifest.datasets[name]).listings


def damaged(crawl: Crawl) -> set[str]:
    return {file.path for file, error in checks.check_files(crawl.work) if error is not None}


def swap(one: Path, other: Path) -> None:
    data = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(data)


@pytest.mark.parametrize(
    "damages",
    [
        (flip, swap),
        *(pytest.param((damage,), marks=pytest.mark.long) for damage in (gone, cut, longer)),
    ],
    ids=lambda damages: " and ".join(damage.__name__ for damage in damages),
)
def test_listings_are_written_again_and_nothing_is_lost(
    damages: Sequence[Callable[..., None]], crawl: Crawl
) -> None:
    """One file of each listing is damaged, or swapped with that of another one."""
    rows = tables(crawl)
    chance = random.Random(3)  # noqa: S311 - damages, not secrets
    chosen = [chance.choice(listing.paths) for listing in crawl.work.store.manifest.listings()]
    assert len(chosen) > 10
    bytes_of = {path: Path(crawl.path, path).read_bytes() for path in chosen}
    left = [Path(crawl.path, path) for path in chosen]
    if swap in damages:
        for one, other in (left[:2], left[2:4], left[4:6]):
            swap(one, other)
        left = left[6:]
    for each in left:
        damages[0](each)
    crawl = reopened(crawl)
    assert tables(crawl) == rows  # from the other files
    assert damaged(crawl) == set(chosen)
    for file, error in checks.check_files(crawl.work):
        if error is not None:
            assert error.subject == f"{crawl.path}/{file.path}"
            assert error.remedy == f"write it again: gossamer check {crawl.path} --repair"
    reports = reopened(crawl).repair()
    assert reports[0].counts == {"listings_restored": len(chosen)}
    crawl = reopened(crawl)
    assert wrong(crawl.work) == []
    named = {path for each in crawl.work.store.manifest.listings() for path in each.paths}
    for path in named.intersection(chosen):
        assert Path(crawl.path, path).read_bytes() == bytes_of[path]
    assert tables(crawl) == rows


@pytest.mark.parametrize(
    "names",
    [("warc", HISTORY), *(pytest.param((name,), marks=pytest.mark.long) for name in LISTED)],
    ids=" and ".join,
)
def test_a_listing_without_a_whole_file_is_lost_as_damaged_files_are(
    names: Sequence[str], crawl: Crawl
) -> None:
    before = indexed(crawl)
    archive = {path.name for path in Path(crawl.path).glob("warc/*/*.warc.gz")}
    lost = {name: listings_of(crawl, name)[0] for name in names}
    for listing in lost.values():
        for path, damage in zip(listing.paths, (flip, gone), strict=True):
            damage(Path(crawl.path, path))
    crawl = reopened(crawl)
    assert damaged(crawl) == {path for listing in lost.values() for path in listing.paths}
    first, second, *_ = crawl.repair()
    assert first.counts["listings_lost"] == len(lost)
    for name, listing in lost.items():
        if name == HISTORY:
            assert first.counts["reports_lost"] == listing.entries
        else:
            assert first.counts[f"damaged_{name}"] == listing.files
    assert second.counts["bodies_lost"] == 0
    crawl = reopened(crawl)
    assert wrong(crawl.work) == []
    crawl.run()
    assert wrong(crawl.work) == []
    assert indexed(crawl) == before
    assert {path.name for path in Path(crawl.path).glob("warc/*/*.warc.gz")} >= archive
    assert all(path.endswith(".tantivy-meta.lock") for path in garbage(crawl))  # of readers
