"""How often the progress of a running crawl is read."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, cast

import pytest
from rich.console import Console

from gossamer.cli import step_progress
from gossamer.cli.step_progress import LOOK_S, StepProgress
from gossamer.state import pausing
from gossamer.state.heartbeats import OBJECT_BEAT_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.state.workspace import Workspace


class End:
    """Comes after two looks."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        return len(self.waits) > 2


@pytest.mark.folder
@pytest.mark.parametrize("is_terminal", [True, False])
@pytest.mark.parametrize(("url", "every_s"), [("", LOOK_S), ("s3://crawls/a", OBJECT_BEAT_S)])
def test_records_are_read_as_often_as_they_change_where_a_bar_is_drawn(
    work: Workspace, monkeypatch: pytest.MonkeyPatch, url: str, every_s: float, is_terminal: bool
) -> None:
    read: list[str] = []

    def records(root: str) -> Iterator[Any]:
        read.append(root)
        return iter(())

    monkeypatch.setattr(step_progress, "heartbeats", records)
    monkeypatch.setattr(pausing, "pause_reason", lambda *_: None)
    work.root = url or work.root
    console = Console(file=io.StringIO(), force_terminal=is_terminal)
    progress, end = StepProgress(work, console), End()
    progress._over = cast("Any", end)
    progress._watch()
    assert end.waits == [every_s] * 3
    assert read == [work.root] * 2 * is_terminal
