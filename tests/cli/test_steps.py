"""The steps as commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from typer.testing import CliRunner

from gossamer import Crawl
from gossamer.cli import app
from gossamer.storage.store import StepReport

if TYPE_CHECKING:
    from pathlib import Path


def test_a_step_commits_prints_its_report_and_collects_garbage(tmp_path: Path) -> None:
    Crawl.create(str(tmp_path))
    garbage = tmp_path / "pages" / "00000002-deadbeef" / f"0000-{'0' * 32}.parquet"
    garbage.parent.mkdir(parents=True)
    garbage.write_bytes(b"from an interrupted attempt")
    ended = CliRunner().invoke(app, ["generate", str(tmp_path), "--json"])
    assert ended.exit_code == 0, ended.output
    done = msgspec.json.decode(ended.stdout, type=StepReport)
    assert (done.step, done.round, done.counts) == ("generate", 1, {"pages": 0})
    assert not garbage.exists()
    with Crawl.open(str(tmp_path)) as crawl:
        assert crawl.work.round == 1


@pytest.mark.parametrize("command", ["index", "harvest", "reparse"])
def test_commands_return_freed_memory_before_they_begin(
    tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """glibc's arenas are limited only before there are threads."""

    class Asked(Exception):
        pass

    def ask() -> None:
        raise Asked

    monkeypatch.setattr("gossamer.engine.allocators.return_freed_memory", ask)
    ended = CliRunner().invoke(app, [command, str(tmp_path)])  # there is no crawl
    assert isinstance(ended.exception, Asked)
