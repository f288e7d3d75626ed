"""The steps of the worth of sections, on one small tree, with results by hand."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from gossamer.schedule.order.sections import section_worth
from gossamer.schedule.order.sections.bandit import Yields
from gossamer.schedule.order.sections.section_worth import TRIED, PageCounts, WorthTree

NAMES = ["*/", "*/a/", "h/", "h/a/", "h/b/", "*/b/"]
"""Their rests are at the places 6 to 11."""


def tree() -> WorthTree:
    return WorthTree.from_sections(pa.table({"section": NAMES, "level": [1, 2, 1, 2, 2, 2]}))


def floats(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array(values, np.float64)


def at(**values: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Zero except at these places: `p6` is place 6."""
    found = np.zeros(12)
    for name, value in values.items():
        found[int(name[1:])] = value
    return found


def test_the_places_of_sections_and_rests() -> None:
    found = tree()
    assert found.around.tolist() == [0, 0, 2, 2, 2, 0, *range(6)]
    assert found.everywhere.tolist() == [0, 1, 0, 1, 5, 5, 6, 7, 6, 7, 11, 11]
    assert found.levels.tolist() == [1, 2, 1, 2, 2, 2, 2, 3, 2, 3, 3, 3]
    assert np.flatnonzero(found.are_rests).tolist() == [*range(6, 12)]
    assert np.flatnonzero(found.are_of_all).tolist() == [0, 1, 5, 6, 7, 11]
    assert found.depth == 3


def test_rests_are_what_lies_beside_folders() -> None:
    counts = floats(10, 4, 10, 4, 3, 3)
    assert tree().append_rests(counts).tolist() == [*counts, 3, 4, 3, 4, 3, 3]
    assert tree().append_rests(floats(5, 4, 9, 4, 3, 3))[6:].tolist() == [0, 4, 2, 4, 3, 3]


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ("h/a/b/", ["h/a/", "h/", "h/a/b/"]),
        ("h/a/v?id", ["h/a/", "h/", "h/a/v?id"]),
        ("h/v?id", ["h/", "h/v?id"]),
        ("h/", ["h/"]),
    ],
)
def test_sections_around_one(section: str, expected: list[str]) -> None:
    assert section_worth._sections_outwards(section) == expected


def test_a_mean_leans_on_those_it_is_part_of() -> None:
    sums = floats(5, 4, 5, 4, 0, 0, 1, 4, 1, 4, 0, 0)
    counts = floats(10, 4, 10, 4, 3, 3, 3, 4, 3, 4, 3, 3)
    every = 8 / 13
    a, b = (4 + 3 * every) / 7, 3 * every / 6
    rest, rest_a, rest_b = (1 + 3 * every) / 6, (4 + 3 * a) / 7, 3 * b / 6
    assert section_worth._smooth_worth(tree(), sums, counts).tolist() == pytest.approx(
        [
            *(every, a, (5 + 3 * every) / 13, (4 + 3 * a) / 7, 3 * b / 6, b),
            *(rest, rest_a, (1 + 3 * rest) / 6, (4 + 3 * rest_a) / 7, 3 * rest_b / 6, rest_b),
        ]
    )


def test_what_was_hardly_tried_leans_on_the_worst_beside_it() -> None:
    worth = np.arange(12) / 16
    index, asked = np.ones(12), at(p3=1, p8=2, p9=5)
    is_tried = np.isin(np.arange(12), [0, 2, 4, 7])
    found = section_worth._lower_untried(tree(), worth.copy(), index, asked, is_tried)
    of_a = (1 + 3 * worth[2]) / 4  # h/ was tried, with less than h/b/ beside it
    assert found[[0, 2, 4, 7]].tolist() == worth[[0, 2, 4, 7]].tolist()
    assert found[3] == pytest.approx(of_a)
    assert found[8] == pytest.approx((2 + 3 * worth[2]) / 5)
    assert found[9] == pytest.approx((5 + 3 * of_a) / 8)
    assert found[10] == pytest.approx(worth[4])
    assert found[[1, 5, 6, 11]].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(("asked", "is_believed"), [(TRIED - 1, False), (TRIED, True)])
def test_a_folder_is_worth_as_much_as_on_other_hosts_once_enough_was_tried_there(
    asked: int, is_believed: bool
) -> None:
    """Nothing of h/a/ was requested; all pages of */a/ elsewhere are wanted, and few others."""
    counts = PageCounts(
        at(), at(p0=200, p1=asked, p6=170, p7=asked), at(p0=asked, p1=asked, p7=asked)
    )
    nothing = Yields(np.zeros(0, np.int64), np.zeros(0, np.int64), floats())
    found = section_worth._worth_of_visits(tree(), counts, nothing)
    assert found[7] > 0.9
    assert found[9] == pytest.approx(found[7] if is_believed else 0.006, abs=0.001)


@pytest.mark.parametrize(
    ("share", "left", "worth", "expected"),
    [
        (0.1, 30, 0.5, 35),
        (0.1, 30, 0.49, 50),
        (0.1, 90, 0.5, 10),
        (0.1, 80, 0.5, 10),
        (0.3, 30, 0.5, 35),
        (0.4, 30, 0.5, 40),
        (0.0, 0, 0.5, 0),
    ],
)
def test_pages_for_trials(share: float, left: float, worth: float, expected: float) -> None:
    counts = PageCounts(at(p8=left + 7, p6=50, p3=50), at(p8=7), at())
    worths = at(p6=1, p8=worth, p3=1)
    found = section_worth._explored_pages(tree(), counts, worths, 100, share)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("wanted", "weights", "most", "expected"),
    [
        ([5, 5], [1, 1], 4, [2, 2]),
        ([5, 5], [3, 1], 4, [3, 1]),
        ([1, 10], [1, 1], 6, [1, 5]),
        ([1, 2, 30], [1, 1, 1], 6, [1, 2, 3]),
        ([1, 2], [1, 1], 9, [1, 2]),
        ([2, 2], [1, 1], 4, [2, 2]),
        ([5, 5], [1, 0], 4, [4, 0]),
        ([5, 5], [0, 0], 4, [0, 0]),
        ([], [], 4, []),
    ],
)
def test_trials_are_shared_out_by_weight(
    wanted: list[float], weights: list[float], most: float, expected: list[float]
) -> None:
    found = section_worth._share_out_trials(floats(*wanted), floats(*weights), most)
    assert found.tolist() == pytest.approx(expected)


def test_there_is_less_to_learn_beside_what_was_tried() -> None:
    is_new = np.isin(np.arange(12), [6, 7, 9])
    found = section_worth._novelty(tree(), is_new, at(p0=99, p1=15, p5=60, p7=6))
    # Beside */a/ and the rest of */ half a section and a whole one were tried, and both are new.
    assert found[1] == pytest.approx(1 / (1 + 1.5 - 0.5) / 2)
    assert found[6] == pytest.approx(1 / (1 + 1.5) / 2)
    assert found[7] == pytest.approx(found[1])
    assert found[[0, 2, 3, 4, 5, 8, 9, 10, 11]].tolist() == [1.0] * 9


@pytest.mark.parametrize(
    ("known", "asked", "share"),
    [
        (40, 0, 1.0),
        (60, 20, 1.0),
        (61, 0, 6 / 61),
        (61, 29, 1.0),
        (100, 20, 46 / 100),
        (61, 30, 0.0),
        (29, 29, 0.0),
        (0, 0, 0.0),
    ],
)
def test_the_share_of_a_section_that_is_on_trial(known: int, asked: int, share: float) -> None:
    counts = PageCounts(at(p7=known, p9=known), at(p7=asked, p9=asked), at())
    found = section_worth._trial_shares(tree(), counts, 1000.0)
    assert found[[7, 9]].tolist() == pytest.approx([share, share])
    assert found[:6].tolist() == [0.0] * 6
    assert not section_worth._trial_shares(tree(), counts, 0.0).any()


def test_few_trials_go_to_what_is_small() -> None:
    counts = PageCounts(at(p7=6, p11=54), at(), at())
    found = section_worth._trial_shares(tree(), counts, 5.0)
    assert found[7] * 6 == pytest.approx(4.5)
    assert found[11] * 54 == pytest.approx(0.5)


def test_finds_count_around_and_everywhere() -> None:
    finds = pa.table({"source": ["h/a/", None], "target": ["h/b/", "h/"], "pages": [8, 4]})
    placed = section_worth._place_finds_in_tree(finds, pa.chunked_array([NAMES]), 4)
    assert [each.tolist() for each in placed] == [[9, 6], [10, 8], [2.0, 1.0]]
    spread = section_worth._spread_worth(tree(), placed)
    rows = list(zip(*(each.tolist() for each in spread), strict=True))
    own = [(9, 10, 2.0), (6, 8, 1.0), (3, 10, 2.0), (0, 8, 1.0), (2, 10, 2.0)]
    assert rows == [*own, (7, 11, 2.0), (1, 11, 2.0), (0, 11, 2.0)]


def test_a_visit_yields_half_of_what_is_found() -> None:
    finds = pa.table(
        {"source": ["*/", "*/", "h/b/"], "target": [None, "*/b/", "h/a/"], "pages": [20, 60, 16]}
    )
    found = section_worth._yields(tree(), finds, pa.chunked_array([NAMES]), 4)
    rows = set(zip(*(each.tolist() for each in found), strict=True))
    assert (6, 11, 0.5 * 15 / (5 + 3)) in rows
    assert (10, 9, 0.5 * 4 / 3) in rows
    assert isinstance(found, Yields)
