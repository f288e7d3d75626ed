from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from gossamer import Crawl
from gossamer.errors import Locked
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.flow import rounds
from gossamer.storage.store import File, Layer, Manifest, Stack, StepReport
from gossamer.tables import DATASETS
from tests.support.bare_stores import unlisted
from tests.support.crawl_settings import loopback_settings
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.engine.engine import Engine

ALL = list(rounds.ROUND)


def manifest(*done: str, due: int = 1, round_: int = 3) -> Manifest:
    """The manifest of a crawl that has run these steps of a round with `due` pages."""
    listed = Layer(round_, (File("fetchlist/x", due, 1),) if due else ())
    older = [StepReport(step, round_ - 1, 0, 0.0) for step in ALL]
    newer = [StepReport(step, round_, 0, 0.0) for step in done]
    fetchlist, reports = Stack(newest=(listed,)), Stack(newest=(*older, *newer))
    return Manifest(1, "crawl", round_, {"fetchlist": fetchlist}, reports, reader=unlisted)


@pytest.mark.parametrize("steps", range(1, len(ALL)))
def test_an_interrupted_round_resumes_with_the_next_step(steps: int) -> None:
    assert rounds.pending(manifest(*ALL[:steps])) == ALL[steps:]


def test_after_a_whole_round_the_next_one_begins() -> None:
    assert rounds.pending(manifest(*ALL)) == ALL


def test_a_new_crawl_lacks_every_step() -> None:
    assert rounds.pending(Manifest(1, "crawl", reader=unlisted)) == ALL
    assert rounds.pending(manifest("inject", due=0, round_=0)) == ALL


def test_where_nothing_was_due_a_new_round_begins() -> None:
    assert rounds.pending(manifest("generate", due=0)) == ALL


@pytest.fixture(scope="module")
def fake() -> Iterator[FakeWeb]:
    with FakeWeb(Web(hosts=2, pages_per_host=8, mix=Mix.plain())) as running:
        yield running


@pytest.fixture
def crawl(fake: FakeWeb, engine: Engine, tmp_path: Path) -> Crawl:
    made = Crawl.create(str(tmp_path / "crawl"), loopback_settings(fake.address), engine)
    made.inject(fake.web.seeds())
    return made


class Ran(NamedTuple):
    """A crawl, and the reports of its runs: two of a round each, and one without a limit."""

    crawl: Crawl
    told: list[tuple[str, str]]
    first: list[StepReport]
    second: list[StepReport]
    last: list[StepReport]
    opened: list[Path]
    """Files that its owner has opened for others after the first run."""
    when_room_was_made: list[tuple[str, str]]
    """What was told last when memory was returned in the first run."""


@pytest.fixture(scope="module")
def ran(fake: FakeWeb, engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("ran") / "crawl"
    crawl = Crawl.create(str(folder), loopback_settings(fake.address), engine)
    crawl.inject(fake.web.seeds())
    told: list[tuple[str, str]] = []
    made: list[tuple[str, str]] = []
    make = crawl.work.make_room

    def make_room() -> None:
        made.append(told[-1])
        make()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crawl.work, "make_room", make_room)
        first = run_first(crawl, told)
    opened = [path for path in folder.rglob("*") if path.suffix in {".parquet", ".gz", ".toml"}]
    for path in opened:
        path.chmod(0o644)
    return Ran(crawl, told, first, crawl.run(rounds=1), crawl.run(), opened, made)


def run_first(crawl: Crawl, told: list[tuple[str, str]]) -> list[StepReport]:
    return crawl.run(
        rounds=1,
        announce=lambda step, _round: told.append(("begins", step)),
        report=lambda done: told.append(("ends", done.step)),
    )


def test_memory_of_the_rounds_is_returned_before_the_harvest(ran: Ran) -> None:
    assert ran.when_room_was_made == [("ends", ALL[-1])]


def test_rounds_are_bounded_announced_reported_and_go_on(ran: Ran) -> None:
    steps = [*ALL, *rounds.HARVEST]
    assert [report.step for report in ran.first] == steps
    assert ran.told == [pair for step in steps for pair in (("begins", step), ("ends", step))]
    assert {report.round for report in ran.first} == {1}
    assert {report.round for report in ran.second} == {2}


def test_a_crawl_ends_when_nothing_is_due_and_can_be_searched(ran: Ran, fake: FakeWeb) -> None:
    everything = {url for host in fake.web.hosts() for url in fake.web.urls(host)}
    fetched = {row["url"] for row in ran.crawl.pages().where("status = 'fetched'").collect()}
    assert fetched == everything
    steps = [report.step for report in ran.last]
    assert steps == [*ALL, "generate", *rounds.HARVEST]
    title = ran.crawl.dataset("documents").collect()[5]["title"]
    assert ran.crawl.search(title).hits[0].title == title
    assert {row["src"] for row in ran.crawl.links().collect()} <= everything


def test_its_files_are_closed_to_other_users(ran: Ran) -> None:
    root = Path(ran.crawl.path)
    shut = {root, *root.rglob("*")}.difference(ran.opened)
    assert [path for path in shut if path.stat().st_mode & 0o077] == []


def test_files_that_exist_keep_their_modes(ran: Ran) -> None:
    left = [path for path in ran.opened if path.exists()]
    assert {path.suffix for path in left} == {".parquet", ".gz", ".toml"}
    assert {path.stat().st_mode & 0o777 for path in left} == {0o644}


def test_datasets_that_their_steps_replace_have_one_layer(ran: Ran) -> None:
    text = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"(?:`\w+`[\s,and]*)+ have at most one layer", text)
    replaced = re.findall(r"`(\w+)`", listed)
    layers = {name: len(ran.crawl.work.store.manifest.layers(name)) for name in DATASETS}
    assert [name for name in replaced if layers[name] > 1] == []
    assert sum(layers[name] for name in replaced) > 5


def test_no_round_starts_after_the_time_limit(crawl: Crawl) -> None:
    assert [report.step for report in crawl.run(minutes=0)] == list(rounds.HARVEST)


def test_one_process_at_a_time(crawl: Crawl) -> None:
    with crawl.work.store.lock(), pytest.raises(Locked):
        Crawl.open(crawl.path).run(1)
