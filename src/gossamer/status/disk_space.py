"""How much space is left, and when will it be used up? From the sizes after each step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from gossamer.state import pausing
from gossamer.storage.objects.bucket import is_object_url

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.storage.store import Manifest

LEAST_MS = 600_000
"""The shortest history from which a growth is computed."""
DAY_MS = 86_400_000


class Disk(msgspec.Struct, frozen=True):
    """The disk with the least free space of those that hold the crawl, and how the crawl grows."""

    folder: str
    free_bytes: int | None
    """None on object storage, which is never full."""
    used_bytes: int
    """Size of all datasets of the crawl, on whatever disk."""
    bytes_per_day: float | None
    """Growth, by the last 500 steps; None if they took less than ten minutes."""
    full_in_s: float | None
    """When the crawl will pause for `store.min_free_gb` if it all grows on this disk; None: never,
    or not known."""


def usage(root: str, manifest: Manifest, min_free_gb: float, now_ms: int) -> Disk:
    used = manifest.bytes
    sizes = [(report.ended_ms, report.bytes) for report in manifest.history if report.bytes]
    per_day = growth([*sizes, (now_ms, used)])
    if is_object_url(root):
        return Disk(root, None, used, per_day, None)
    fullest = pausing.fullest_disk(root)
    left = max(fullest.free_bytes - min_free_gb * pausing.GB, 0)
    full_in_s = left / per_day * DAY_MS / 1000 if per_day is not None and per_day > 0 else None
    return Disk(fullest.folder, fullest.free_bytes, used, per_day, full_in_s)


def growth(sizes: Sequence[tuple[int, int]]) -> float | None:
    """The slope of the straight line nearest to points (ms, bytes), in bytes per day.

    A line through many points, since merges and the harvest make sizes go up and down. None if the
    points, which are in order, span less than LEAST_MS.
    """
    if not sizes or sizes[-1][0] - sizes[0][0] < LEAST_MS:
        return None
    mean_ms = sum(at_ms for at_ms, _ in sizes) / len(sizes)
    mean = sum(size for _, size in sizes) / len(sizes)
    covariance = sum((at_ms - mean_ms) * (size - mean) for at_ms, size in sizes)
    return covariance / sum((at_ms - mean_ms) ** 2 for at_ms, _ in sizes) * DAY_MS
