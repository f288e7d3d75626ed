"""`gossamer crawl --forever`: the process that crawls; that of supervisor.py watches over it."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, NamedTuple

import typer

from gossamer.cli.gossamer_toml import with_contact
from gossamer.cli.supervisor import RENEW, Rest
from gossamer.cli.systemd_notification import Watchdog, tree_bytes
from gossamer.flow import rounds
from gossamer.flow.forever import Handover, Listener
from gossamer.state import pausing
from gossamer.state.heartbeats import Wait, note_wait
from gossamer.state.stopping import heed_nobody
from gossamer.status.human_units import idle_until, size
from gossamer.status.nothing_fetched import why_nothing
from gossamer.status.seed_redirects import refused_seed_redirects

if TYPE_CHECKING:
    from gossamer.api.crawl import Crawl
    from gossamer.cli.step_progress import StepLines, StepProgress
    from gossamer.cli.supervisor import Line
    from gossamer.config import Config
    from gossamer.errors import ConfigError
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport

LAST = list(rounds.HARVEST)[-1]
"""The last step of a harvest."""
GROWTH = 1 / 8
"""How much this process and its children may grow after their first harvest, as a part of
`engine.memory_gb`. A round adds 3 to 5 MB, and another process starts within two seconds."""
GROWTH_OF_FIRST = 1 / 4
"""The same as a part of what they had then: a small crawl stays small, and a large one, which reads
more before it is as fast again, is replaced as seldom as the setting allows."""

AWAY_MS = 300_000
"""A wait for which this process ends: it and its children take some 400 MB, and another one starts
within 3 s of CPU time."""


class Kept(NamedTuple):
    """What one process keeps for the next."""

    config: Config
    """The settings that count."""
    contact: str
    own: tuple[str, ...]
    """What the command line adds to settings that are read anew."""
    left: Handover = Handover()


class ForeverListener(Listener):
    """Shows a crawl without end to its user and to systemd, and ends a process that has grown."""

    def __init__(
        self, work: Workspace, progress: StepProgress | StepLines, kept: Kept, line: Line
    ) -> None:
        self._work, self._progress, self._kept, self._supervisor = (work, progress, kept, line)
        self.is_waiting = True
        """Whether it waits on purpose: until a page is due, or for its turn."""
        self._reports: list[StepReport] = []
        """Of the steps since it waited."""
        self._first_bytes = 0
        """The memory after a round that followed a harvest; 0: there was none yet."""
        self._was_harvested = False

    def begins(self) -> None:
        self._supervisor.keep(self._kept)
        self._supervisor.tell(READY="1")
        if self._supervisor.must_reload:
            signal.raise_signal(signal.SIGHUP)

    def announce(self, step: str, round_: int) -> None:
        self.is_waiting = False
        self._supervisor.tell(STATUS=f"round {round_}: {step}")
        self._progress.announce(step, round_)

    def report(self, done: StepReport) -> None:
        self._reports.append(done)
        self._was_harvested |= done.step == LAST
        self._progress.report(done)

    def may_end(self) -> None:
        if not self._was_harvested:
            return
        now_bytes = tree_bytes()
        self._first_bytes = self._first_bytes or now_bytes
        if has_grown(self._first_bytes, now_bytes, self._work.config.engine.memory_gb):
            grown = f"from {size(self._first_bytes)} to {size(now_bytes)}"
            self._progress.tell("renew", f"the process has grown {grown}; another one goes on")
            valid = self._work.last_valid.contents if self._work.last_valid else {}
            self._end(None, Handover(valid=valid))

    def waits(self, due_ms: int | None) -> None:
        self.is_waiting = True
        if (error := why_nothing(self._work, self._reports, seeds_given=False)) is not None:
            self._progress.tell("nothing", str(error))
        for line in refused_seed_redirects(self._work, self._reports):
            self._progress.tell("redirect", line)
        self._reports.clear()
        self._supervisor.tell(STATUS=idle_until(due_ms))
        self._progress.tell("wait", idle_until(due_ms))

    def may_end_until(self, due_ms: int | None, left: Handover) -> None:
        if due_ms is None or due_ms - self._work.now_ms() >= AWAY_MS:
            note_wait(self._work.root, Wait(self._work.store.holder(), due_ms))
            self._end(Rest(self._work.root, left.searchable, due_ms), left)

    def settings(self, read: Config) -> Config:
        self._progress.tell("settings", "the settings were read anew")
        config = with_contact(self._kept.contact, self._kept.own, read)
        self._hand_on(config)
        return config

    def refused(self, error: ConfigError) -> None:
        self._progress.tell("refused", f"{error}\n  → until then, the last valid settings count")
        self._hand_on(self._work.config)

    def _end(self, rest: Rest | None, left: Handover) -> None:
        """End this process; another one goes on, now or after a rest. Raises Exit."""
        heed_nobody()
        self._supervisor.leave(rest, self._kept._replace(left=left))
        raise typer.Exit(RENEW)

    def _hand_on(self, config: Config) -> None:
        self._kept = self._kept._replace(config=config)
        self._supervisor.keep(self._kept)


def has_grown(first_bytes: int, now_bytes: int, memory_gb: float) -> bool:
    """Whether a process has grown so much since its first harvest that it is replaced."""
    return now_bytes - first_bytes > min(GROWTH * memory_gb * 1e9, GROWTH_OF_FIRST * first_bytes)


def crawl_forever(crawl: Crawl, progress: StepProgress | StepLines, kept: Kept, line: Line) -> None:
    """Crawl until a signal or an error ends it. Raises Exit when another process must go on."""
    work = crawl.work
    standing = ForeverListener(work, progress, kept, line)

    def is_resting() -> bool:
        is_paused = pausing.pause_reason(work.root, work.config.store.min_free_gb) is not None
        return standing.is_waiting or is_paused

    with Watchdog(line, is_resting), progress:
        crawl.run_forever(standing, follows=line.kept and line.kept.left)
