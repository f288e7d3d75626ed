"""In which order pages with all words, pages that lack some, and pages of one host come."""

from __future__ import annotations

import pytest

from gossamer.index.format.page_keys import HOST_BITS
from gossamer.search.diversity import (
    PlacedPage,
    demote_crowded_hosts,
    merge_partial_matches,
    sort_by_score,
)
from gossamer.search.messages import Candidate


def placed(number: int, score: float, host: int = 0, near: float = 0.0) -> PlacedPage:
    page = Candidate(score, 0.0, number << HOST_BITS | host, None, (0, 0, number))
    return PlacedPage(0, page, False, score, score, near=near)


def numbers(pages: list[PlacedPage]) -> list[int]:
    return [each.page.key >> HOST_BITS for each in pages]


def test_the_best_come_first_and_ties_in_the_order_of_their_keys() -> None:
    pages = [placed(3, 1.0), placed(2, 5.0), placed(1, 1.0), placed(4, 5.0)]
    assert numbers(sort_by_score(pages)) == [2, 4, 1, 3]


@pytest.mark.parametrize(
    ("better_than", "found"),
    [
        (0, [11, 1, 12, 2, 13, 3, 14]),
        (1, [11, 1, 2, 3]),
        (2, [11, 1, 12, 2, 3]),
        (3, [11, 1, 12, 2, 13, 3]),
        (9, [11, 1, 12, 2, 13, 3]),
    ],
)
def test_pages_that_lack_words_must_be_better_than_some_that_have_all(
    better_than: int, found: list[int]
) -> None:
    whole = [placed(3, 2.0), placed(1, 8.0), placed(2, 4.0)]
    partial = [placed(n, score) for n, score in ((13, 3.0), (11, 9.0), (14, 2.0), (12, 5.0))]
    assert numbers(merge_partial_matches(whole, partial, better_than)) == found
    assert numbers(merge_partial_matches([], partial, better_than)) == [11, 12, 13, 14]


def test_further_pages_of_a_host_come_after_those_that_are_half_as_good() -> None:
    """The last of the first two pages of a host says that there are more."""
    scores = [(10.0, 7), (9.0, 7), (8.0, 7), (7.9, 7), (4.0, 8), (3.98, 8), (3.9, 8), (1.0, 9)]
    pages = [placed(n, score, host) for n, (score, host) in enumerate(scores)]
    assert numbers(demote_crowded_hosts(pages)) == [0, 1, 2, 4, 5, 3, 6, 7]
    assert [each.more for each in pages] == [n in (1, 5) for n in range(8)]
    assert pages[2].score == 8.0


def test_what_a_page_is_worth_may_be_other_than_its_score() -> None:
    pages = [placed(n, 1.0, 7) for n in range(3)]
    worth = [3.0, 2.0, 8.0]
    assert numbers(demote_crowded_hosts(pages, worth)) == [2, 0, 1]
    assert worth == [3.0, 2.0, 8.0]


@pytest.mark.parametrize(
    ("score", "near", "is_only_near"),
    [(0.0, 0.5, True), (0.0, 0.0, False), (1.0, 0.5, False), (1.0, 0.0, False)],
)
def test_a_page_may_be_found_by_its_meaning_only(
    score: float, near: float, is_only_near: bool
) -> None:
    assert placed(1, score, near=near).is_only_near is is_only_near
