"""What the parse step takes over of the pages that were parsed beside the fetch."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
import pytest

from gossamer.config import Config, FilterConfig, ParseConfig
from gossamer.parse.parsed_page import Rules
from gossamer.parse.step.cpu_budget import SPENT
from gossamer.parse.step.job import Early, Job
from gossamer.parse.step.parse_ahead import NOTABLE_SHARE, Ahead, Done
from gossamer.rules.filter_rules.filter_recipe import FilterRecipe
from gossamer.storage.store import File

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.state.workspace import Workspace

EARLY = Early("over", "scratch/later", "scratch/spent", 2)
ATTEMPTS = ("documents/1", "links/1", "unparsed/1", "scratch/killed")
FILES = [File(f"responses/{name}", 10, 100) for name in "abc"]


def job() -> Job:
    recipe = FilterRecipe(FilterConfig(scope="any"), (), 2026, None)
    return Job("root", 3, Config(), Rules(), recipe, 5, ATTEMPTS)


def row(path: str, rows: int = 1) -> dict[str, Any]:
    return {"name": path.partition("/")[0], "path": path, "rows": rows, "bytes": 7}


class Parsed(Ahead):
    """Two tasks have ended: that of the first file, and that of the two others."""

    def __init__(self, root: Path, share: float = NOTABLE_SHARE) -> None:
        config = Config(parse=ParseConfig(domain_cpu_s=100))
        super().__init__(
            cast("Workspace", SimpleNamespace(root=str(root), config=config, sweep=self.sweep))
        )
        self.swept = 0
        (root / "heartbeats").mkdir()
        self.beat = root / "heartbeats/parse-0.json"
        self.beat.touch()
        early = job()
        self._job = replace(early, early=EARLY, url_rules=("x",), domain_cpu_s=50)
        first = [row("documents/1/a"), row("scratch/later/a", 4), row("scratch/spent/a")]
        second = [row("documents/1/b"), row("scratch/killed/b"), row("scratch/later1/b")]
        self._results = [((FILES[0],), first), ((FILES[1], FILES[2]), second)]
        seconds = [share * 100, share * 100 - 0.001]
        self._spent = pa.table([["a.test", "b.test"], seconds], schema=SPENT)

    def sweep(self) -> None:
        self.swept += 1


def test_results_of_committed_files_are_taken_over(tmp_path: Path) -> None:
    ahead = Parsed(tmp_path)
    done = ahead.done(job(), FILES[:2])  # not the third file, so not the second task
    assert done.files == {"responses/a"}
    assert done.rows == (row("documents/1/a"),)
    assert done.later == (File("scratch/later/a", 4, 7),)
    assert done.killed == ()
    assert done.spent == (("a.test", NOTABLE_SHARE * 100),)
    assert not ahead.beat.exists()


def test_pages_of_all_tasks_are_sorted_by_what_becomes_of_them(tmp_path: Path) -> None:
    done = Parsed(tmp_path).done(job(), FILES)
    assert done.files == {"responses/a", "responses/b", "responses/c"}
    assert [each["path"] for each in done.rows] == [
        *("documents/1/a", "documents/1/b", "scratch/later1/b")
    ]
    assert done.killed == (row("scratch/killed/b"),)


@pytest.mark.parametrize(
    ("changes", "counts"),
    [
        ({"attempts": ("a", "b", "c", "d"), "url_rules": ("y",), "rewritten": "z"}, True),
        ({"fetch_began_ms": 6, "domain_cpu_s": 7}, True),
        ({"round": 4}, False),
        ({"unreadable": "scratch/9"}, False),
        ({"config": Config(parse=ParseConfig(domain_cpu_s=1))}, False),
    ],
)
def test_results_count_if_the_step_would_have_the_same(
    tmp_path: Path, changes: dict[str, Any], counts: bool
) -> None:
    done = Parsed(tmp_path).done(replace(job(), **changes), FILES)
    assert bool(done.files) is counts
    assert counts or done == Done()


def test_without_a_task_nothing_is_taken_over(tmp_path: Path) -> None:
    ahead = Parsed(tmp_path)
    ahead._job = None
    assert ahead.done(job(), FILES) == Done()


def test_scratch_files_are_deleted_if_there_may_be_any(tmp_path: Path) -> None:
    ahead = Parsed(tmp_path)
    with ahead as same:
        assert same is ahead
    assert ahead.swept == 0
    ahead._began = True
    with ahead:
        assert ahead.swept == 0
    assert ahead.swept == 1
