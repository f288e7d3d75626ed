"""What the history of a crawl says about its repairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.status.overview import REPARSE

if TYPE_CHECKING:
    from gossamer.storage.store import Manifest

STEP = "repair"
"""The name of the first two passes of a repair in the history."""
LAST = "index"
"""The last step of the harvest with which a repair ends."""
OF_ARCHIVE = frozenset(("pages", "documents", "links", "unparsed", "rewritten"))
"""Datasets whose lost rows are found again by parsing the archive."""


def lacks_parsing(manifest: Manifest) -> bool:
    """Whether a repair dropped, since the archive was parsed, rows that follow from it."""
    lacking = False
    for report in manifest.history:
        if report.step == REPARSE:
            lacking = False
        elif report.step == STEP:
            lost = {"documents_missing", *(f"damaged_{name}" for name in OF_ARCHIVE)}
            lacking = lacking or any(report.counts.get(name) for name in lost)
    return lacking


def is_unfinished(manifest: Manifest) -> bool:
    """Whether the last repair was interrupted, and no crawl has made up for it since."""
    ends = [report.step for report in manifest.history if report.step in {STEP, LAST}]
    return lacks_parsing(manifest) or ends[-1:] == [STEP]
