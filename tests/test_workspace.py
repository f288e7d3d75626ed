from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from gossamer.workspace import FEW

if TYPE_CHECKING:
    from gossamer.workspace import Workspace

PATIENCE_S = 10


def test_two_calls_on_few_rows_run_at_once(work: Workspace) -> None:
    met = threading.Barrier(2, timeout=PATIENCE_S)
    one, other = work.both(FEW, met.wait, met.wait)
    assert {one, other} == {0, 1}


def test_two_calls_on_many_rows_run_one_after_the_other(work: Workspace) -> None:
    done: list[str] = []
    work.both(FEW + 1, lambda: done.append("one"), lambda: done.append("other"))
    assert done == ["one", "other"]


def test_an_error_of_either_call_is_raised(work: Workspace) -> None:
    def fail() -> None:
        raise KeyError

    for calls in ((fail, int), (int, fail)):
        with pytest.raises(KeyError):
            work.both(0, *calls)
