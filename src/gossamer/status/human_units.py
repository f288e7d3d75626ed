"""Sizes, durations and shares as people read them, on pages and in terminals."""

from __future__ import annotations

from datetime import UTC, datetime
from math import floor

_UNITS = ("B", "kB", "MB", "GB", "TB")


def size(count: int) -> str:
    """A number of bytes with its unit, in powers of ten: `1.5 MB`."""
    thousands = min((len(str(abs(count))) - 1) // 3, len(_UNITS) - 1)
    return f"{count / 1000**thousands:.{min(thousands, 1)}f} {_UNITS[thousands]}"


def duration(seconds: float) -> str:
    """`0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`, `12 d`."""
    if seconds < 10:  # noqa: PLR2004  # tenths matter only below this
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days:,} d {hours} h" if days < 10 else f"{days:,} d"  # noqa: PLR2004  # as above
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def moment(at_ms: int) -> str:
    return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%d %H:%M} UTC"


def idle_until(due_ms: int | None) -> str:
    """Until when a crawl without end waits; None: no page will be due."""
    return "no page will be due" if due_ms is None else f"no page is due before {moment(due_ms)}"


def percent(share: float) -> str:
    """A share as `12.5 %`, rounded down, so that only the whole is 100 %."""
    return f"{floor(1000 * share) / 10:.1f} %"
