from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING

from gossamer.engine.priorities import NICE, call_at_low_priority

if TYPE_CHECKING:
    import pytest


def priority() -> int:
    """On Linux, that of the thread that asks."""
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


def test_a_thread_gets_a_low_priority_and_its_caller_keeps_its_own() -> None:
    before = priority()
    assert call_at_low_priority(priority) == max(before, NICE)
    assert priority() == before


def test_where_a_priority_is_that_of_a_whole_process_it_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    before = priority()
    assert call_at_low_priority(priority) == before
    assert call_at_low_priority(threading.get_ident) == threading.get_ident()
    assert priority() == before
