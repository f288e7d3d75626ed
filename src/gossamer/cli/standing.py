"""`gossamer crawl --forever`: a crawl that is a service, and may serve its search page, too."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from gossamer import pausing
from gossamer.errors import UsageError
from gossamer.forever import Listener
from gossamer.processes import start_python
from gossamer.supervision import Supervisor, Watchdog
from gossamer.unfetched import when, why_nothing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gossamer.api import Crawl
    from gossamer.cli.progress import StepLines, StepProgress
    from gossamer.config import Config
    from gossamer.errors import ConfigError
    from gossamer.store import StepReport
    from gossamer.workspace import Workspace

END_S = 10.0
"""Seconds in which the search page finishes its open requests."""
_SERVE = "from gossamer.cli import main; main()"


class Standing(Listener):
    """Shows a crawl without end to its user, and to systemd."""

    def __init__(
        self,
        work: Workspace,
        progress: StepProgress | StepLines,
        settings: Callable[[Config], Config],
        supervisor: Supervisor,
        page: subprocess.Popen[bytes] | None,
    ) -> None:
        """`settings`: applies what the command line says to settings that were read anew."""
        self._work, self._progress, self._settings = work, progress, settings
        self._supervisor, self._page = supervisor, page
        self.is_waiting = False
        self._reports: list[StepReport] = []
        """Of the steps since it waited."""

    def look(self) -> None:
        if self._page is not None and (status := self._page.poll()) is not None:
            raise UsageError(
                "the search page", f"ended with status {status}", "its own message says why"
            )

    def announce(self, step: str, round_: int) -> None:
        self.is_waiting = False
        self._supervisor.tell(STATUS=f"round {round_}: {step}")
        self._progress.announce(step, round_)

    def report(self, done: StepReport) -> None:
        self._reports.append(done)
        self._progress.report(done)

    def waits(self, due_ms: int | None) -> None:
        self.is_waiting = True
        if (error := why_nothing(self._work, self._reports, seeds_given=False)) is not None:
            self._progress.tell("nothing", str(error))
        self._reports.clear()
        text = f"no page is due before {when(due_ms)}" if due_ms else "no page will be due"
        self._supervisor.tell(STATUS=text)
        self._progress.tell("wait", text)

    def settings(self, read: Config) -> Config:
        self._progress.tell("settings", "the settings were read anew")
        return self._settings(read)

    def refused(self, error: ConfigError) -> None:
        self._progress.tell("refused", f"{error}\n  → until then, the last valid settings count")


def crawl_forever(
    crawl: Crawl,
    progress: StepProgress | StepLines,
    settings: Callable[[Config], Config],
    *,
    serve: bool,
) -> None:
    """Crawl until a signal or an error ends it. `settings`: as in `Standing`."""
    supervisor, work = Supervisor(), crawl.work
    with _search_page(crawl.path) if serve else nullcontext() as page:
        standing = Standing(work, progress, settings, supervisor, page)

        def is_resting() -> bool:
            is_paused = pausing.reason(work.root, work.config.store.min_free_gb) is not None
            return standing.is_waiting or is_paused

        with Watchdog(supervisor, is_resting), progress:
            supervisor.tell(READY="1")
            crawl.run_forever(standing)


@contextmanager
def _search_page(path: str) -> Iterator[subprocess.Popen[bytes]]:
    """`gossamer serve` in a process of its own, which Ctrl-C does not reach: it ends after us."""
    # What the crawl prints may be for programs, so the page says its address elsewhere.
    page = start_python(_SERVE, ["serve", path], signal.SIGTERM, process_group=0, stdout=sys.stderr)
    try:
        yield page
    finally:
        page.terminate()
        try:
            page.wait(END_S)
        except subprocess.TimeoutExpired:
            page.kill()
