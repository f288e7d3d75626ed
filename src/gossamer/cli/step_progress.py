"""The progress of a running crawl: one bar per step, drawn from the heartbeats of its tasks.

`StepLines` is the same for programs: one line of JSON per event.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from gossamer.cli.terminal import echo_event, echo_json
from gossamer.state import pausing
from gossamer.state.heartbeats import OBJECT_BEAT_S, heartbeats
from gossamer.storage.objects.bucket import is_object_url

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from rich.progress import TaskID

    from gossamer.state.heartbeats import TaskProgress
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport

LOOK_S = 0.5
"""Seconds between two reads of the heartbeats, in a folder."""


class _Pauses:
    """Tells when a crawl pauses, and when it goes on."""

    def __init__(self, work: Workspace, tell: Callable[[str, str], None]) -> None:
        self._work, self._tell = work, tell
        self._paused = False

    def look(self) -> None:
        why = pausing.pause_reason(self._work.root, self._work.config.store.min_free_gb)
        if self._paused != (why is not None):
            self._paused = why is not None
            self._tell("pause", f"paused: {why}") if why else self._tell("resume", "goes on")


class StepProgress:
    """A context manager that shows progress; `Crawl.run` takes its `announce` and `report`.

    On a terminal it draws a live bar for each thread that runs steps: those of rounds and, in a
    crawl without end, of the harvest beside them. Elsewhere (a log, a pipe) it prints one line per
    finished step.
    """

    def __init__(self, work: Workspace, console: Console) -> None:
        self._work, self._console = work, console
        self._pauses = _Pauses(work, self._print)
        self._bar = Progress(
            TextColumn("round {task.fields[round]:>3}  {task.description:<11}"),
            BarColumn(bar_width=30),
            TaskProgressColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._steps: dict[int, tuple[str, int, TaskID]] = {}
        """The running step of each thread."""
        self._look_s = OBJECT_BEAT_S if is_object_url(work.root) else LOOK_S
        self._over = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._bar.start()
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._watcher.join()
        self._bar.stop()

    def announce(self, step: str, round_: int) -> None:
        self._clear()
        task = self._bar.add_task(step, total=None, round=round_, rate="")
        self._steps[threading.get_ident()] = (step, round_, task)

    def report(self, done: StepReport) -> None:
        self._clear()
        counts = ", ".join(f"{n:,} {name}" for name, n in sorted(done.counts.items()) if n)
        self._print(
            done.step, f"round {done.round:>3}  {done.step:<11} {done.seconds:>5.1f} s  {counts}"
        )

    def tell(self, event: str, text: str) -> None:
        """Print what happened between two steps."""
        self._clear()
        self._print(event, text)

    def _print(self, _event: str, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _clear(self) -> None:
        step = self._steps.pop(threading.get_ident(), None)
        if step is not None:
            self._bar.remove_task(step[2])

    def _watch(self) -> None:
        while not self._over.wait(self._look_s):
            self._pauses.look()
            beats = list(heartbeats(self._work.root)) if self._console.is_terminal else []
            for name, round_, task in list(self._steps.values()):
                self._draw(
                    task, [beat for beat in beats if (beat.step, beat.round) == (name, round_)]
                )

    def _draw(self, task: TaskID, beats: list[TaskProgress]) -> None:
        if not beats or task not in self._bar.task_ids:
            return
        done = sum(beat.done for beat in beats)
        seconds = max(beat.at_ms for beat in beats) - min(beat.started_ms for beat in beats)
        rate = f"{done / (seconds / 1000):,.0f}/s" if seconds else ""
        total = sum(beat.total for beat in beats)
        with suppress(KeyError):  # its step has just ended
            self._bar.update(task, completed=done, total=total, rate=rate)


class StepLines:
    """As `StepProgress`, in lines of JSON: the reports of steps, and other events with a text."""

    def __init__(self, work: Workspace) -> None:
        self._pauses = _Pauses(work, self.tell)
        self._over = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._watcher.join()

    def announce(self, step: str, round_: int) -> None:
        pass

    def report(self, done: StepReport) -> None:
        echo_json(msgspec.json.encode(done))

    def tell(self, event: str, text: str) -> None:
        echo_event(event, text)

    def _watch(self) -> None:
        while not self._over.wait(LOOK_S):
            self._pauses.look()
