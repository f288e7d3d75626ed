from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gossamer import Crawl, rounds
from gossamer.errors import Locked
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.store import File, Layer, Manifest, StepReport

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gossamer.engine import Engine

ALL = list(rounds.ROUND)
SETTINGS = """
filter.scope = "any"
fetch.delay_s = 0
fetch.delay_factor = 0
fetch.address_delay_s = 0
fetch.allow_networks = ["127.0.0.0/8"]
fetch.resolve = {{ "*.test" = "{address}" }}
"""


def manifest(*done: str, due: int = 1, round_: int = 3) -> Manifest:
    """A crawl whose round has these steps behind it, of `due` pages."""
    listed = Layer(round_, (File("fetchlist/x", due, 1),) if due else ())
    older = [StepReport(step, round_ - 1, 0, 0.0) for step in ALL]
    newer = [StepReport(step, round_, 0, 0.0) for step in done]
    return Manifest(1, round_, {"fetchlist": (listed,)}, (*older, *newer))


@pytest.mark.parametrize("steps", range(len(ALL) + 1))
def test_a_round_goes_on_where_it_was_cut_off(steps: int) -> None:
    done = ALL[:steps]
    expected = ALL[steps:] if 0 < steps < len(ALL) else ALL
    if steps:
        assert rounds.pending(manifest(*done)) == expected


def test_a_new_crawl_lacks_every_step() -> None:
    assert rounds.pending(Manifest(1)) == ALL
    assert rounds.pending(manifest("inject", due=0, round_=0)) == ALL


def test_where_nothing_was_due_a_new_round_begins() -> None:
    assert rounds.pending(manifest("generate", due=0)) == ALL


@pytest.fixture(scope="module")
def fake() -> Iterator[FakeWeb]:
    with FakeWeb(Web(hosts=3, pages_per_host=8, mix=Mix.plain())) as running:
        yield running


@pytest.fixture
def crawl(fake: FakeWeb, engine: Engine, tmp_path: Path) -> Crawl:
    made = Crawl.create(str(tmp_path / "crawl"), SETTINGS.format(address=fake.address), engine)
    made.inject(fake.web.seeds())
    return made


def test_a_crawl_ends_when_nothing_is_due_and_can_be_searched(crawl: Crawl, fake: FakeWeb) -> None:
    done = crawl.run()
    everything = {
        f"http://{host}{url}" if url.startswith("/") else url
        for host in fake.web.hosts()
        for url in fake.web.urls(host)
    }
    fetched = {row["url"] for row in crawl.pages().where("status = 'fetched'").collect()}
    assert fetched == everything
    assert [report.step for report in done][-3:] == list(rounds.HARVEST)
    title = crawl.dataset("documents").collect()[5]["title"]
    assert crawl.search(title).hits[0].title == title
    assert {row["src"] for row in crawl.links().collect()} <= everything


def test_rounds_are_bounded_and_go_on(crawl: Crawl) -> None:
    first = crawl.run(rounds=1)
    assert [report.step for report in first] == [*ALL, *rounds.HARVEST]
    second = crawl.run(rounds=1)
    assert {report.round for report in first} == {1}
    assert {report.round for report in second} == {2}


def test_no_time_no_round(crawl: Crawl) -> None:
    assert [report.step for report in crawl.run(minutes=0)] == list(rounds.HARVEST)


def test_steps_are_announced_before_and_reported_after(crawl: Crawl) -> None:
    told: list[tuple[str, str]] = []
    crawl.run(
        1,
        announce=lambda step, _round: told.append(("begins", step)),
        report=lambda done: told.append(("ends", done.step)),
    )
    steps = [*ALL, *rounds.HARVEST]
    assert told == [pair for step in steps for pair in (("begins", step), ("ends", step))]


def test_one_process_at_a_time(crawl: Crawl) -> None:
    with crawl.work.store.lock(), pytest.raises(Locked):
        Crawl.open(crawl.path).run(1)
