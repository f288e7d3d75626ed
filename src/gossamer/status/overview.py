"""The state of a crawl in figures, from one cheap look or from many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from gossamer.dedup.dispositions import REASONS
from gossamer.errors import StoreError
from gossamer.state import pausing
from gossamer.state.heartbeats import heartbeats, read_noted_wait
from gossamer.state.lookup import Lookup
from gossamer.status.busy_hosts import HostWatch
from gossamer.status.disk_space import usage
from gossamer.status.due_queue import QueueWatch
from gossamer.status.fetch_progress import History, errors, lanes, rounds
from gossamer.status.human_units import idle_until

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Manifest, StepReport

LAST_STEPS = 20
REPARSE = "reparse"
"""The name of `rounds.reparse` in the history; its counts replace those of `parse`."""
REFUSALS = ("bad_redirect", "forbidden_address", "robots")
"""Outcomes (see outcomes.py) that Gossamer decided, not the server; postponed ones count, too."""


class CrawlWatch:
    """What looks at a crawl remember for the next one. Used from several threads."""

    def __init__(self, work: Workspace, lookup: Lookup | None = None) -> None:
        self.work = work
        self.history = History()
        self._hosts = HostWatch(work, lookup or Lookup(work))
        self._queue = QueueWatch(work)

    def look(self) -> dict[str, Any]:
        """The result of `overview`; adds a sample of the progress to the history."""
        work, now_ms = self.work, self.work.now_ms()
        manifest = work.store.refresh()
        tasks = list(heartbeats(work.root))
        self.history.note(tasks, now_ms)
        problems = []
        hosts = None
        try:
            hosts = self._hosts.look()
        except StoreError as error:
            problems.append(str(error))
        queue, freshness = self._queue.look(now_ms) or (None, None)
        holder = work.store.backend.holder()
        return _manifest_totals(work, manifest) | {
            "at_ms": now_ms,
            "running": None if holder is None else holder.command,
            "waiting": _waits(work) if holder is None else None,
            "problems": problems,
            "lanes": lanes(tasks, now_ms),
            "rounds": rounds(manifest.history),
            "errors": errors(manifest.history, tasks),
            "hosts": hosts,
            "queue": queue,
            "freshness": freshness,
            "last_commit_ms": max((done.ended_ms for done in manifest.history), default=None),
            "disk": usage(work.root, manifest, work.config.store.min_free_gb, now_ms),
            "tasks": tasks,
        }


def overview(work: Workspace) -> dict[str, Any]:
    """The state of a crawl, for a single look: see `CrawlWatch`."""
    return CrawlWatch(work).look()


def _waits(work: Workspace) -> str | None:
    """Until when a crawl without end waits; None if there is none, or it works."""
    wait = read_noted_wait(work.root)
    return None if wait is None else idle_until(wait.until_ms)


def _manifest_totals(work: Workspace, manifest: Manifest) -> dict[str, Any]:
    counts: dict[str, dict[str, int]] = {}
    for report in manifest.history:
        if report.step == REPARSE:
            counts["parse"] = {}
        total = counts.setdefault("parse" if report.step == REPARSE else report.step, {})
        for name, count in report.counts.items():
            total[name] = total.get(name, 0) + count
    return {
        "path": work.root,
        "version": manifest.version,
        "round": manifest.round,
        "paused": pausing.pause_reason(work.root, work.config.store.min_free_gb),
        "datasets": {
            name: msgspec.to_builtins(manifest.totals(name)) for name in manifest.datasets
        },
        "counts": counts,
        "refused": refused_urls(counts),
        "duplicates": duplicates(manifest.history),
        "truncated": counts.get("parse", {}).get("truncated", 0),
        "steps": [msgspec.to_builtins(report) for report in manifest.history[-LAST_STEPS:]],
    }


def refused_urls(counts: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """URLs that were not followed or not requested, by reason, the most frequent first.

    `counts` are those of all steps. A URL is counted each time it is found. Pages that `index`
    leaves out do not count: they were not refused, and each run counts them again.
    """
    reasons: dict[str, int] = {}
    for step, names in counts.items():
        for name, count in names.items():
            dropped = name.startswith("dropped_") and step != "index"
            if count and (dropped or name in REFUSALS or name.startswith("postponed")):
                reason = name.removeprefix("dropped_")
                reasons[reason] = reasons.get(reason, 0) + count
    return dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0])))


def duplicates(history: Sequence[StepReport]) -> dict[str, int]:
    """Pages for which another one stands, by reason, the most frequent first.

    They are those of the last `dedup`, since each run counts all of them.
    """
    last = next((report for report in reversed(history) if report.step == "dedup"), None)
    counts = {} if last is None else last.counts
    known = {reason: count for reason in REASONS if (count := counts.get(f"duplicate_{reason}"))}
    return dict(sorted(known.items(), key=lambda item: (-item[1], item[0])))


def page_counts(work: Workspace) -> dict[str, int]:
    """Count the known pages by status, and their hosts. Reads the page database."""
    from pyspark.sql import functions as F

    from gossamer.state import lsm
    from gossamer.tables import PAGES

    known = lsm.current(work, PAGES)
    by_status = known.groupBy("status").agg(F.count("*").alias("pages")).collect()
    hosts = known.agg(F.count_distinct("host")).collect()[0][0]
    return {row["status"]: row["pages"] for row in by_status} | {"hosts": hosts}
