"""A crawl without end: a round whenever a page is due, and then what makes its pages searchable.

While nothing is due, the crawl is not locked: other commands may add seeds, make pages due or
change rules. It then goes on at once, as it does when its settings are read anew (SIGHUP).

Rounds do not wait for harvests, which run beside them, unless too many documents are not searchable
yet (harvests.py). Only the steps that prune and join the archive, which move pages that a harvest
may read, wait for a moment between two rounds without one.

The process may be replaced at such a moment (`Listener.may_end`), and end while nothing is due
(`may_end_until`). The one that follows waits for its turn, as other commands may use the crawl
meanwhile, and gets what it must know from the one before (`Handover`).
"""

from __future__ import annotations

import signal
import threading
import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from gossamer.errors import ConfigError, Locked
from gossamer.flow import rounds, waiting
from gossamer.flow.harvests import Harvests
from gossamer.flow.settings_check import check_settings
from gossamer.schedule.due import round_length
from gossamer.state.heartbeats import Wait, note_waiting
from gossamer.state.last_valid import LastValid
from gossamer.state.settings_file import read_settings

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    from gossamer.config import Config
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport

Result = TypeVar("Result")

UNCHANGED = "unchanged"
"""The outcome of a request for a page that is as it was."""
REST_MS = 60_000
"""A wait for which it is worth ending what workers are forked from: that takes 85 MB, and a second
of CPU time to start again."""


class Handover(NamedTuple):
    """What the process of a crawl without end leaves to the one that follows."""

    searchable: int = 0
    """The version of the crawl in which all that was crawled was searchable; 0: not known."""
    valid: Mapping[str, Any] = {}
    """What files held when they could last be used (last_valid.py)."""


class Listener:
    """What a crawl without end tells its caller. By default, nobody listens.

    A second thread announces and reports the steps of harvests, but never while another call runs.
    """

    def look(self) -> None:
        """Called before each step of a round, and twice a second while the crawl waits."""

    def begins(self) -> None:
        """No other crawl runs here, and from now on the settings are read anew on SIGHUP."""

    def announce(self, step: str, round_: int) -> None:
        """A step begins."""

    def report(self, done: StepReport) -> None:
        """A step is committed."""

    def may_end(self) -> None:
        """A round is over, and no harvest runs.

        Nothing is lost or done again if an exception ends the crawl here.
        """

    def waits(self, due_ms: int | None) -> None:
        """No page is due before this time; None: none ever is."""

    def may_end_until(self, due_ms: int | None, left: Handover) -> None:
        """The crawl is about to wait for this time, as `waits` was told.

        Nothing is lost or done again if an exception ends it here, and another process goes on then
        with what this one has `left`.
        """

    def settings(self, read: Config) -> Config:
        """The settings that count, of those that were read anew."""
        return read

    def refused(self, error: ConfigError) -> None:
        """The new settings, or a file of rules, are invalid, so the old ones count."""


class Reload:
    """Reads the settings anew after SIGHUP, between two steps."""

    def __init__(self, work: Workspace, listener: Listener) -> None:
        self._work, self._listener = work, listener
        self._asked = threading.Event()

    @contextmanager
    def handle_hangup(self) -> Iterator[None]:
        """Handle the signal while open. Only the main thread can; elsewhere, nothing happens."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGHUP, lambda *_: self._asked.set())
        try:
            yield
        finally:
            signal.signal(signal.SIGHUP, before)

    def if_requested(self) -> bool:
        """Read the settings if the signal came, and return whether it did."""
        if not self._asked.is_set():
            return False
        self._asked.clear()
        try:
            read = read_settings(self._work.root)
            check_settings(replace(self._work, config=read))
        except ConfigError as error:
            self._listener.refused(error)
        else:
            self._work.config = self._listener.settings(read)
        return True


def run(work: Workspace, listener: Listener, *, follows: Handover | None = None) -> None:
    """Run rounds without end, until an exception ends them.

    Raises Locked if another process crawls when this one begins, unless it `follows` one that
    ended: then it waits for its turn.
    """
    work.is_endless = True
    work.last_valid = LastValid(listener.refused, follows.valid if follows else {})
    crawl = _Crawl(work, listener)
    if follows is None:
        check_settings(work)
        with work.store.lock():
            pass  # nobody else crawls; later, this process waits for its turn
    with crawl.reload.handle_hangup():
        listener.begins()
        searchable = follows.searchable if follows else 0
        while True:
            with _turn(work, listener), crawl.harvests:
                crawl.harvests.is_stale = work.store.refresh().version != searchable
                due_ms = crawl.while_due()
            searchable = work.store.manifest.version
            listener.waits(due_ms)
            if crawl.reload.if_requested():
                continue
            listener.may_end_until(due_ms, Handover(searchable, work.last_valid.contents))
            if due_ms is None or due_ms - work.now_ms() >= REST_MS:
                work.rest()
            with note_waiting(work.root, Wait(work.store.holder(), due_ms)):
                waiting.wait_until_due(work.store, searchable, due_ms, crawl.is_woken, work.now_ms)


class _Crawl:
    """The rounds and harvests of one crawl, and who listens to them."""

    def __init__(self, work: Workspace, listener: Listener) -> None:
        self._work, self._listener = work, listener
        self._telling = threading.Lock()
        self._round: list[StepReport] = []
        """The steps of the newest round that are done."""
        self.reload = Reload(work, listener)
        self.harvests = Harvests(self._announce, self._report)

    def while_due(self) -> int | None:
        """Run rounds until nothing is due, and return when the next page will be."""
        work = self._work
        while True:
            began_ms = work.now_ms()
            self._round.clear()
            found = self._report_steps(rounds.round_(work, self._announce_round))
            is_new = _brings_something(self._round)
            self.harvests.behind += _count_documents(self._round)
            self._wait_while_full()
            if not self.harvests.is_running():
                self._report_steps(rounds.tend_archive(work, self._announce_round))
                if found:
                    self._listener.may_end()
            hurries = round_length.limit_s(work) is not None
            if self.harvests.are_due(found=found, is_new=is_new, hurries=hurries):
                self.harvests.begin(work)
            if not found:
                # What was due already was not chosen: only a change of the crawl can alter that.
                due_ms = round_length.next_due_ms(work, min(began_ms, work.now_ms()))
                if self._harvest_until_due(due_ms):
                    work.store.refresh()  # with what the harvest has committed
                    work.store.collect_garbage(work.config.store.keep_versions)
                    return due_ms

    def _wait_while_full(self) -> None:
        while self.harvests.is_full and self.harvests.is_running():
            self._listener.look()
            self.harvests.wait(waiting.LOOK_S)

    def is_woken(self) -> bool:
        """Whether settings were read anew while the crawl waits."""
        self._listener.look()
        return self.reload.if_requested()

    def _harvest_until_due(self, due_ms: int | None) -> bool:
        """Wait until all that was crawled is searchable; False if a page is due earlier."""
        while self.harvests.is_running() or self.harvests.is_behind:
            if self.harvests.are_due(found=False):
                self.harvests.begin(self._work)
            if due_ms is not None and self._work.now_ms() >= due_ms:
                return False
            self._listener.look()
            self.harvests.wait(waiting.look_s(due_ms, self._work.now_ms()))
        return True

    def _report_steps(self, steps: Generator[StepReport, None, Result]) -> Result:
        while True:
            try:
                self._report_round(next(steps))
            except StopIteration as end:
                return cast("Result", end.value)

    def _announce_round(self, step: str, round_: int) -> None:
        self._listener.look()
        self.harvests.is_running()  # raises its error
        self.reload.if_requested()
        self._announce(step, round_)

    def _announce(self, step: str, round_: int) -> None:
        with self._telling:
            self._listener.announce(step, round_)

    def _report_round(self, done: StepReport) -> None:
        self._round.append(done)
        self._report(done)

    def _report(self, done: StepReport) -> None:
        with self._telling:
            self._listener.report(done)


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
                time.sleep(waiting.LOOK_S)
        yield


def _brings_something(steps: Sequence[StepReport]) -> bool:
    """Whether a harvest after these steps of a round may change what is searchable.

    A feed that lists nothing new is asked every few seconds.
    """
    outcomes = {name for done in steps if done.step == "fetch" for name in done.counts}
    return outcomes != {UNCHANGED} or any(done.counts for done in steps if done.step == "parse")


def _count_documents(steps: Sequence[StepReport]) -> int:
    return sum(done.counts.get("documents", 0) for done in steps if done.step == "parse")
