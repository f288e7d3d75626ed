"""Harvests that follow changes make the same searchable as one of everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.changing_web import run_history

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(1, marks=pytest.mark.slow),
        *(pytest.param(n, marks=pytest.mark.long) for n in (2, 3, 4, 5)),
    ],
)
def test_any_history_is_searchable_as_if_all_were_harvested_again(
    work: Workspace, seed: int
) -> None:
    met = run_history(work, seed, rounds=3 if seed == 1 else 8)
    assert met["of few"]
    assert met["replaced"]
