"""`gossamer harvest --all` gives what following changes has given, from nothing."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from gossamer import Crawl
from gossamer.errors import WorkerDied
from gossamer.flow import rounds
from gossamer.flow.check import checks
from gossamer.state import lsm
from gossamer.tables import BOILERPLATE, DATASETS, DISPOSITIONS
from tests.support.command_line import gossamer, lent
from tests.support.crawl_settings import loopback_settings
from tests.support.crawl_tables import answers, garbage, tables
from tests.support.loopback import loopback, page
from tests.support.rows import put

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.engine.engine import Engine
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport

pytestmark = pytest.mark.slow

KEPT = {"changes", "forgotten_changes"}
"""What programs follow, however often an index is built again."""
MADE = [
    name for name, each in DATASETS.items() if each.writer in rounds.HARVEST and name not in KEPT
]
EXACT = "rank.tolerance = 1e-12"
WORDS = ["alpha", "beta", "gamma"]


@pytest.fixture(scope="module")
def harvested(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl of which a page has changed and another one has gone, after harvests of both."""
    folder = tmp_path_factory.mktemp("harvested") / "crawl"
    links = b'<a href="/1">one</a> <a href="/2">two</a> <a href="/3">three</a>'
    with loopback() as server:
        server.answers = {
            "/": page(links),
            "/1": [page(b"<p>alpha"), page(b'<p>beta <a href="/3">gamma</a>')],
            "/2": [page(b"<p>beta"), page(status="410 Gone")],
            "/3": page(b"<p>gamma"),
        }
        made = Crawl.create(str(folder), loopback_settings(server.address, EXACT), engine)
        made.inject(f"http://a.test{path}" for path in server.answers)
        made.run()
        made.refresh()
        made.run()
    return folder


@pytest.fixture
def crawl(harvested: Path, engine: Engine, tmp_path: Path) -> Crawl:
    return Crawl.open(str(shutil.copytree(harvested, tmp_path / "crawl")), engine)


def made_of(crawl: Crawl) -> dict[str, object]:
    """What the steps of the harvest have made of the crawl."""
    current = {
        table.name: sorted(map(str, lsm.current(crawl.work, table).drop("judged_ms").collect()))
        for table in (BOILERPLATE, DISPOSITIONS)
    }
    return {**tables(crawl), **current}


def paths(crawl: Crawl) -> set[str]:
    return {file.path for name in MADE for file in crawl.work.store.listed(name)}


def test_the_results_are_the_same_in_new_files(crawl: Crawl, engine: Engine) -> None:
    before, old, found = made_of(crawl), paths(crawl), answers(crawl, WORDS)
    stale = {"host": "b.test", "documents": 1, "source": 1, "pages": 1, "lines": [1]}
    put(crawl.work, "boilerplate", [stale], crawl.work.round)
    with lent(engine):
        said = gossamer("harvest", crawl.path, "--all", "--json").stdout
    crawl.work.store.refresh()
    assert [json.loads(line)["step"] for line in said.splitlines()] == list(rounds.HARVEST)
    assert old & paths(crawl) == set()
    assert made_of(crawl) == before
    assert answers(crawl, WORDS) == found
    crawl.work.sweep()  # what these comparisons have written
    assert garbage(crawl) == set()
    assert not any(wrong for _, wrong in checks.check_files(crawl.work))
    assert list(checks.check_contents(crawl.work)) == []


def test_the_old_index_answers_until_the_new_one_is_there(crawl: Crawl) -> None:
    found = answers(crawl, WORDS)
    seen = []

    def announce(step: str, _round: int) -> None:
        other = Crawl.open(crawl.path, crawl.work.engine)
        seen.append(step)
        assert answers(other, WORDS) == found

    crawl.harvest(announce, everything=True)
    assert seen == list(rounds.HARVEST)


def test_one_that_dies_leaves_a_crawl_that_goes_on(
    crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(_: Workspace) -> StepReport:
        raise WorkerDied("worker process 1", "died", "start it again")

    before, found = made_of(crawl), answers(crawl, WORDS)
    with monkeypatch.context() as patch:
        patch.setattr(rounds, "HARVEST", {**rounds.HARVEST, "index": dies})
        with pytest.raises(WorkerDied):
            crawl.harvest(everything=True)
    crawl.work.store.refresh()
    assert answers(crawl, WORDS) == found
    done = crawl.harvest()
    assert [report.step for report in done] == list(rounds.HARVEST)
    assert made_of(crawl) == before
    assert list(checks.check_contents(crawl.work)) == []
