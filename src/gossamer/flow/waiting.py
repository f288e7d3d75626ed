"""The waits of a crawl without end, in which nothing is due.

The process that crawls may end before a long one: `cli/supervisor.py` then waits in its place, and
imports only this, not what steps need.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.storage.store import Store

LOOK_S = 0.5
"""Seconds between two looks at whether a page has become due, or somebody changed the crawl."""


def wait_until_due(
    store: Store,
    version: int,
    due_ms: int | None,
    is_woken: Callable[[], bool],
    now_ms: Callable[[], int],
) -> None:
    """Wait until a page is due, `is_woken` is true, or another command has changed the crawl.

    The crawl then has another version. `is_woken` is called every LOOK_S seconds. `due_ms`: None if
    no page ever is. The wait ends when the clock is set back, too: `due_ms` may follow from what it
    was before.
    """
    began_ms = now_ms()
    while due_ms is None or began_ms <= now_ms() < due_ms:
        if is_woken() or store.refresh().version != version:
            return
        time.sleep(look_s(due_ms, now_ms()))


def look_s(due_ms: int | None, now_ms: int) -> float:
    """The seconds until the next look: no later than a page is due."""
    return LOOK_S if due_ms is None else min(LOOK_S, max(0.0, (due_ms - now_ms) / 1000))
