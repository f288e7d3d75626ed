"""The state of a crawl in figures, for `gossamer status`, the status page and the API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from gossamer import pausing
from gossamer.duplicates import REASONS
from gossamer.monitor import heartbeats

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gossamer.store import StepReport
    from gossamer.workspace import Workspace

LAST_STEPS = 20
REPARSE = "reparse"
"""The name of `rounds.reparse` in the history; its counts replace those of `parse`."""
REFUSALS = ("bad_redirect", "forbidden_address", "robots")
"""Outcomes (see outcomes.py) that Gossamer decided, not the server; postponed ones count, too."""


def overview(work: Workspace) -> dict[str, Any]:
    """Plain data, cheap to get: from the manifest and the heartbeats, no engine needed."""
    manifest = work.store.refresh()
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
        "paused": pausing.reason(work.root, work.config.store.min_free_gb),
        "datasets": {
            name: {
                "rows": sum(layer.rows for layer in layers),
                "bytes": sum(layer.bytes for layer in layers),
                "layers": len(layers),
                "files": sum(len(layer.files) for layer in layers),
            }
            for name, layers in manifest.datasets.items()
        },
        "counts": counts,
        "refused": refused(counts),
        "duplicates": duplicates(manifest.history),
        "truncated": counts.get("parse", {}).get("truncated", 0),
        "steps": [msgspec.to_builtins(report) for report in manifest.history[-LAST_STEPS:]],
        "tasks": [msgspec.to_builtins(beat) for beat in heartbeats(work.root)],
    }


def refused(counts: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
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

    from gossamer import lsm
    from gossamer.tables import PAGES

    known = lsm.current(work, PAGES)
    by_status = known.groupBy("status").agg(F.count("*").alias("pages")).collect()
    hosts = known.agg(F.count_distinct("host")).collect()[0][0]
    return {row["status"]: row["pages"] for row in by_status} | {"hosts": hosts}
