"""The index of a branching bandit is that of Klimov's algorithm. See bandit.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.schedule.order.sections.bandit import LEAST, Yields, indices

if TYPE_CHECKING:
    from gossamer.schedule.order.sections.bandit import Floats

WITHIN = 0.05
"""The grid of prices has steps of a tenth; the index is interpolated."""
SUBCRITICAL = 0.7
"""The spectral radius: pages that lead to ever more pages have no index by Klimov's algorithm."""


def by_klimov(wanted: Floats, yields: Floats) -> Floats:
    """From the highest index downwards: those found so far are the only ones that are followed."""
    index, found = np.zeros(len(wanted)), list[int]()
    left = set(range(len(wanted)))
    while left:
        within = np.eye(len(found)) - yields[np.ix_(found, found)]
        reward, cost = (
            np.linalg.solve(within, one[found]) for one in (wanted, np.ones_like(wanted))
        )
        best, kind = max(
            ((wanted[k] + yields[k, found] @ reward) / (1 + yields[k, found] @ cost), k)
            for k in left
        )
        index[kind] = best
        found.append(kind)
        left.remove(kind)
    return index


def of_matrix(matrix: Floats) -> Yields:
    source, target = np.nonzero(matrix)
    return Yields(source, target, matrix[source, target])


@given(st.integers(0, 2**32), st.integers(1, 12))
def test_the_index_is_that_of_klimov(seed: int, kinds: int) -> None:
    draw = np.random.default_rng(seed)
    wanted = draw.random(kinds) * (draw.random(kinds) < 0.5)
    matrix = draw.exponential(1, (kinds, kinds)) * (draw.random((kinds, kinds)) < 0.3)
    radius = abs(np.linalg.eigvals(matrix)).max()
    if radius > SUBCRITICAL:
        matrix *= SUBCRITICAL / radius
    found = indices(wanted, of_matrix(matrix))
    assert found == pytest.approx(by_klimov(wanted, matrix), abs=WITHIN)


def test_an_archive_is_worth_what_lies_behind_its_lists() -> None:
    """Years lead to 12 months, these to 30 days each, these to 10 articles each."""
    matrix = np.zeros((4, 4))
    matrix[0, 1], matrix[1, 2], matrix[2, 3] = 12, 30, 10
    found = indices(np.array([0.0, 0.0, 0.0, 1.0]), of_matrix(matrix))
    assert found[3] == 1
    assert found[:3] == pytest.approx([0.906, 0.906, 0.909], abs=0.01)


def test_tags_that_lead_to_tags_are_worth_what_they_bring_themselves() -> None:
    matrix = np.array([[20.0, 0.1], [0.0, 0.0]])
    assert indices(np.array([0.0, 1.0]), of_matrix(matrix))[0] == pytest.approx(0.1 / 1.1, abs=0.01)


def test_pages_that_lead_to_ever_more_wanted_ones_have_a_finite_index() -> None:
    matrix = np.array([[2.0]])
    assert indices(np.array([0.5]), of_matrix(matrix)) == pytest.approx([0.5], abs=0.06)


def test_what_is_worth_next_to_nothing_has_no_index() -> None:
    assert indices(np.array([LEAST / 2]), of_matrix(np.zeros((1, 1)))) == [0]


def test_no_kinds_have_no_index() -> None:
    assert len(indices(np.zeros(0), of_matrix(np.zeros((0, 0))))) == 0
