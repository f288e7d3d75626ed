"""What is due, and how fresh are the fetched pages? From `due_times`, read once per commit.

Times are exact to ten minutes: see due_counts.py.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import msgspec

from gossamer.schedule.due import due_counts
from gossamer.tables.fetching import RHYTHM_S

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gossamer.schedule.due.due_counts import DueSlot
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Layer

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


class Queue(msgspec.Struct, frozen=True):
    """Pages that are due, and that will be within an hour and within a day. Each includes the last.

    A round fetches some of the pages that are due: hosts and domains have limits.
    """

    due: int
    within_hour: int
    within_day: int


class Freshness(msgspec.Struct, frozen=True):
    """How many pages are fetched, and how many of these should have been fetched again by now."""

    fetched: int
    overdue: int
    most_overdue_s: float
    """How long the page that waits longest has been due, unless it was refreshed."""

    @property
    def share(self) -> float:
        """The share of fetched pages that are not overdue; 1 if there are none."""
        return 1 - self.overdue / self.fetched if self.fetched else 1.0


class QueueWatch:
    """Reads the counts again when they have changed. Used from several threads."""

    def __init__(self, work: Workspace) -> None:
        self._work = work
        self._guard = threading.Lock()
        self._layers: tuple[Layer, ...] = ()
        self._counts: Mapping[DueSlot, int] | None = None

    def look(self, now_ms: int) -> tuple[Queue, Freshness] | None:
        """The queue at this time; None if no pages were counted."""
        with self._guard:
            layers = self._work.store.manifest.layers("due_times")
            if layers != self._layers:
                self._counts = due_counts.read_due_counts(self._work)
                self._layers = layers
            counts = self._counts
        if counts is None:
            return None
        config = self._work.config.update
        counts = due_counts.credible_counts(counts, now_ms, config)
        interval_s = int(config.interval_days * 86_400)
        return due_queue(counts, now_ms, interval_s), freshness(counts, now_ms, interval_s)


def due_queue(counts: Mapping[DueSlot, int], now_ms: int, interval_s: int) -> Queue:
    """Count the pages whose slot has begun at this time, an hour later and a day later."""
    begun = [(_due_ms(slot, interval_s), pages) for slot, pages in counts.items()]
    ends = (now_ms, now_ms + HOUR_MS, now_ms + DAY_MS)
    return Queue(*(sum(pages for from_ms, pages in begun if from_ms <= end) for end in ends))


def freshness(counts: Mapping[DueSlot, int], now_ms: int, interval_s: int) -> Freshness:
    """Count the fetched pages, and those whose slot has ended at this time as overdue."""
    fetched = [(_due_ms(slot, interval_s), n) for slot, n in counts.items() if slot.fetched]
    since = [
        (now_ms - due_counts.SLOT_MS - from_ms, from_ms, pages)
        for from_ms, pages in fetched
        if now_ms - due_counts.SLOT_MS >= from_ms
    ]
    longest_ms = max((age_ms for age_ms, from_ms, _ in since if from_ms), default=0)
    return Freshness(
        sum(pages for _, pages in fetched), sum(pages for *_, pages in since), longest_ms / 1000
    )


def _due_ms(slot: DueSlot, interval_s: int) -> int:
    """When the pages of a slot are due, if the interval is now this one: see `generate.due_pages`.

    0 if they are due at once.
    """
    # The interval does not count for pages that failed, and for those with a rhythm.
    if not slot.from_ms or slot.interval_s in (None, RHYTHM_S):
        return slot.from_ms
    return slot.from_ms + (interval_s - slot.interval_s) * 1000
