"""When does the next round begin, how long may it last, and which pages does it look at?

Briefly, while a page with a rhythm of its own is due soon. What such a page lists can be fetched
only by the next round (listing_polls.py), and is searchable only after that. So a crawl without end
keeps its rounds short then: FETCHING times as long as the other steps of a round take, so that most
of the time is left for fetching, but BRISK_S at least. A host that has to be left alone for longer
is asked in a later round, and no round waits for the second page of a slow one.

A visit writes the row of its page, and those of the pages that it finds, into a new layer of
`pages`. So what is visited often, and news, are in the newer layers, while other pages stay in the
base, the oldest and by far the largest one. Brief rounds choose from the newer layers, and cost
what these hold, however many pages are known. A round looks at all pages if layers were merged into
the base since the last look, and otherwise if such looks take at most one part in PARTS of the
time. Until then, the pages in the base wait.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from msgspec import structs
from pyspark.sql import functions as F

from gossamer.schedule.due import due_counts
from gossamer.schedule.due.due_pages import due_ms, is_credible, is_never_due
from gossamer.state import credible_times, lsm
from gossamer.storage.store import Layer
from gossamer.tables import HOSTS, PAGES
from gossamer.tables.fetching import RHYTHM_S

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from gossamer.config import FetchConfig, GenerateConfig
    from gossamer.state.workspace import Workspace

PARTS = 50
LEAST_ROWS = 1_000_000
"""Rows of a base that is left alone: a look at fewer takes hardly longer."""
BRISK_S = 2.0
FETCHING = 3
LEFT_ALONE = "left_alone"
"""The count of rows that a round has not looked at, in the report of `generate`."""
BESIDES = ("generate", "parse", "update")
"""The steps of a round besides its fetch."""


def limit_s(work: Workspace) -> float | None:
    """The seconds that the fetch of a round may take; None: any number of them."""
    if not work.is_endless:
        return None
    soon_ms = work.now_ms() + due_counts.SLOT_MS
    slots = due_counts.read_due_counts(work) or ()
    if not any(slot.interval_s == RHYTHM_S and slot.from_ms <= soon_ms for slot in slots):
        return None
    took_s = {done.step: done.seconds for done in work.store.manifest.history}
    return max(BRISK_S, FETCHING * sum(took_s.get(step, 0.0) for step in BESIDES))


def patience_ms(work: Workspace) -> int:
    """How long a round waits for a host that must not be contacted yet."""
    limit, longest_s = limit_s(work), work.config.fetch.max_delay_s
    return int(1000 * (longest_s if limit is None else min(limit, longest_s)))


class PagesInView(NamedTuple):
    """The pages that a round looks at."""

    layers: list[DataFrame]
    """Of `pages`, oldest first."""
    left_alone: int
    """Rows of the base, if it is not among them."""


def pages_in_view(work: Workspace) -> PagesInView:
    """The pages among which the next round, or the next due page, is looked for."""
    if work.now_ms() >= whole_look_ms(work):
        return PagesInView(lsm.layer_frames(work, PAGES), 0)
    return PagesInView(
        lsm.layer_frames(work, PAGES)[1:], work.store.manifest.layers(PAGES.name)[0].rows
    )


def whole_look_ms(work: Workspace) -> int:
    """When a round may look at all pages again; 0: in any case."""
    base, *newer = work.store.manifest.layers(PAGES.name) or (Layer(0, ()),)
    if not newer or base.rows < LEAST_ROWS or limit_s(work) is None:
        return 0
    looks = (done for done in work.store.manifest.history if done.step == "generate")
    whole = [done for done in looks if LEFT_ALONE not in done.counts]
    if not whole or whole[-1].round <= base.round:
        return 0
    if not credible_times.is_past(whole[-1].ended_ms, work.now_ms()):
        return 0
    return whole[-1].ended_ms + int(1000 * (PARTS - 1) * whole[-1].seconds)


def next_due_ms(work: Workspace, after_ms: int = 0) -> int | None:
    """When the first page is due after some moment; None if none ever is.

    A page of a host that must not be contacted is due when a round would wait for that host. So
    `due_times` cannot tell; to read only the pages of its next slot took 1.5 times the CPU of this
    pass, which takes 0.25 s per million pages. If it leaves the base alone, it is repeated when
    that may have a due page.
    """
    layers, left_alone = pages_in_view(work)
    waiting = lsm.newest_rows(layers, "url").where(~is_never_due())
    now_ms, config = work.now_ms(), work.config.update
    when_ms = due_ms(config, is_endless=work.is_endless)
    when_ms = F.when(~is_credible(now_ms, config), 0).otherwise(when_ms)
    if work.store.manifest.layers(HOSTS.name):
        contacted_ms = F.coalesce("contacted_ms", F.lit(0))
        waits = credible_times.host_waits(F.col("ready_ms"), contacted_ms, now_ms)
        hosts = lsm.current(work, HOSTS).where(waits).select("host", "ready_ms")
        waiting = waiting.join(hosts, on="host", how="left")
        when_ms = F.greatest(when_ms, F.col("ready_ms") - patience_ms(work))
    found: int | None = (
        waiting.select(when_ms.alias("due_ms"))
        .where(F.col("due_ms") > after_ms)
        .agg(F.min("due_ms"))
        .collect()[0][0]
    )
    if not left_alone:
        return found
    look_ms = whole_look_ms(work)
    return look_ms if found is None else min(found, look_ms)


def brief_generate_settings(work: Workspace) -> GenerateConfig:
    """The settings of a round's size: of a brief one, no more pages per host than it can fetch."""
    config, limit, delay_s = work.config.generate, limit_s(work), work.config.fetch.delay_s
    if limit is None or not delay_s:
        return config
    pages_per_host = min(config.pages_per_host, ceil(limit / delay_s))
    return structs.replace(config, pages_per_host=pages_per_host)


def brief_fetch_settings(work: Workspace, config: FetchConfig) -> FetchConfig:
    """The settings of a round's fetch, with the end of a brief one."""
    limit = limit_s(work)
    if limit is None:
        return config
    longest_s = 60 * config.round_minutes or limit
    return structs.replace(config, round_minutes=min(limit, longest_s) / 60)
