"""A crawl without end: a round whenever a page is due, and then what makes its pages searchable.

While nothing is due, the crawl is not locked: other commands may add seeds, make pages due or
change rules. It then goes on at once, as it does when its settings are read anew (SIGHUP).

The process may be replaced between two rounds (`Listener.may_end`). The one that follows waits for
its turn, as other commands may use the crawl meanwhile.

A harvest costs about as much as what changed, but never nothing. So while pages are due, harvests
take at most one part in PARTS of the time: a harvest of one second follows rounds of three.
"""

from __future__ import annotations

import signal
import threading
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer import config as configs
from gossamer import rounds
from gossamer.due import next_due_ms
from gossamer.errors import ConfigError, Locked
from gossamer.filenames import CONFIG_NAME
from gossamer.monitor import Wait, waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from gossamer.config import Config
    from gossamer.store import StepReport
    from gossamer.workspace import Workspace

PARTS = 4
LOOK_S = 0.5
"""Seconds between two looks at whether a page has become due, or somebody changed the crawl."""


class Listener:
    """What a crawl without end tells its caller. By default, nobody listens."""

    def look(self) -> None:
        """Called before each step, and every LOOK_S seconds while the crawl waits."""

    def begins(self) -> None:
        """No other crawl runs here, and from now on the settings are read anew on SIGHUP."""

    def announce(self, step: str, round_: int) -> None:
        """A step begins."""

    def report(self, done: StepReport) -> None:
        """A step is committed."""

    def may_end(self) -> None:
        """A round is over. Nothing is lost or done again if an exception ends the crawl here."""

    def waits(self, due_ms: int | None) -> None:
        """No page is due before this time; None: none ever is."""

    def settings(self, read: Config) -> Config:
        """The settings that count, of those that were read anew."""
        return read

    def refused(self, error: ConfigError) -> None:
        """The new settings are invalid, so the old ones count."""


class Harvests:
    """When to harvest, by what was crawled since and by how long the last harvest took."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._took_s, self._ended_s = 0.0, clock()
        self.is_stale = True
        """Whether anything may have changed since."""

    def are_due(self, *, found: bool) -> bool:
        """Whether it is time, after a round that `found` something to do, or nothing."""
        self.is_stale |= found
        rested_s = self._clock() - self._ended_s
        return self.is_stale and (not found or rested_s >= (PARTS - 1) * self._took_s)

    def harvest(
        self, work: Workspace, announce: Callable[[str, int], None]
    ) -> Iterator[StepReport]:
        began_s = self._clock()
        yield from rounds.harvest(work, announce)
        self._ended_s = self._clock()
        self._took_s = self._ended_s - began_s
        self.is_stale = False


class Reload:
    """Reads the settings anew after SIGHUP, between two steps."""

    def __init__(self, work: Workspace, listener: Listener) -> None:
        self._work, self._listener = work, listener
        self._asked = threading.Event()

    @contextmanager
    def on_hangup(self) -> Iterator[None]:
        """Handle the signal while open. Only the main thread can; elsewhere, nothing happens."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGHUP, lambda *_: self._asked.set())
        try:
            yield
        finally:
            signal.signal(signal.SIGHUP, before)

    def if_asked(self) -> bool:
        """Read the settings if the signal came, and return whether it did."""
        if not self._asked.is_set():
            return False
        self._asked.clear()
        try:
            read = configs.load(Path(self._work.root, CONFIG_NAME))
        except ConfigError as error:
            self._listener.refused(error)
        else:
            self._work.config = self._listener.settings(read)
        return True


def run(work: Workspace, listener: Listener, *, follows: bool = False) -> Iterator[StepReport]:
    """Run rounds without end, and yield the report of each step when it is committed.

    Raises Locked if another process crawls when this one begins, unless it `follows` one that
    ended: then it waits for its turn.
    """
    reload, harvests = Reload(work, listener), Harvests()

    def announce(step: str, round_: int) -> None:
        listener.look()
        reload.if_asked()
        listener.announce(step, round_)

    if not follows:
        with work.store.lock():
            pass  # nobody else crawls; later, this process waits for its turn
    with reload.on_hangup():
        listener.begins()
        while True:
            with _turn(work, listener):
                due_ms = yield from _while_due(work, harvests, announce, listener.may_end)
            listener.waits(due_ms)
            with waiting(work.root, Wait(work.store.holder(), due_ms)):
                harvests.is_stale = _wait(work, due_ms, listener, reload)


def _while_due(
    work: Workspace,
    harvests: Harvests,
    announce: Callable[[str, int], None],
    round_ends: Callable[[], None],
) -> Generator[StepReport, None, int | None]:
    """Run rounds until nothing is due, and return when the next page will be."""
    while True:
        began_ms = work.now_ms()
        found = yield from rounds.round_(work, announce)
        if harvests.are_due(found=found):
            yield from harvests.harvest(work, announce)
        if not found:
            # What was due already was not chosen: only a change of the crawl can alter that.
            return next_due_ms(work, began_ms)
        round_ends()


@contextmanager
def _turn(work: Workspace, listener: Listener) -> Iterator[None]:
    """Lock the crawl, after other commands are done with it."""
    with ExitStack() as stack:
        while True:
            try:
                stack.enter_context(work.store.lock())
                break
            except Locked:
                listener.look()
                time.sleep(LOOK_S)
        yield


def _wait(work: Workspace, due_ms: int | None, listener: Listener, reload: Reload) -> bool:
    """Wait until a page is due, settings were read anew, or another command changed the crawl.

    Returns whether it was the last of these.
    """
    version = work.store.manifest.version
    while due_ms is None or work.now_ms() < due_ms:
        listener.look()
        if work.store.refresh().version != version:
            return True
        if reload.if_asked():
            break
        time.sleep(LOOK_S)
    return False
