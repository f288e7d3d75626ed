"""What is asked of the nodes, and how many pages are said to match."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import msgspec
import pytest

from gossamer.config import RankingConfig
from gossamer.search.diversity import PlacedPage
from gossamer.search.matching import (
    MAX_AHEAD,
    MIN_WHOLE,
    SHORT_LIST,
    Matches,
    MatchSearch,
    _by_value,
    _first_tier_is_short,
    _place_by_words,
    _without,
)
from gossamer.search.messages import (
    ENOUGH_MATCHES,
    MAX_LIMIT,
    REORDERED,
    Candidate,
    Find,
    FoundPages,
    Question,
)
from gossamer.search.query import parse

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from gossamer.search.conversation import Conversation


def page(key: int, value: float = 1.0, node: int = 0, place: int = 0) -> PlacedPage:
    return PlacedPage(node, Candidate(value, 0.0, key, None, (0, 0, place)), False, value, value)


def reply(
    *candidates: tuple[int, float],
    pages: int = 100,
    searched: int = 100,
    total: int = 7,
    words: int = 2,
    loose: bool = False,
    exact: bool = True,
) -> FoundPages:
    listed = [
        Candidate(value, 0.0, key, None, (0, 0, place))
        for place, (key, value) in enumerate(candidates)
    ]
    return FoundPages("state", pages, searched, total, words, False, loose, listed, exact=exact)


class Nodes:
    """Nodes that give these replies in turn, and keep what they were asked."""

    def __init__(self, *replies: FoundPages) -> None:
        self.replies, self.asked = [*replies], list[Find]()

    def find(self, find: Find) -> Generator[Any, Any, dict[int, FoundPages]]:
        self.asked.append(find)
        yield
        return {0: self.replies.pop(0)}

    find_afresh = find

    meanings = False

    def ask_about(
        self, placed: Sequence[PlacedPage], *_: object
    ) -> Generator[Any, Any, dict[Any, float]]:
        """Half a point for each page but the last."""
        self.judged = [each.page.key for each in placed]
        yield
        return {each.place: 0.5 for each in placed[:-1]}


def search(query: str = "red kelp", *replies: FoundPages, **options: Any) -> MatchSearch:
    nodes = cast("Conversation", Nodes(*replies))
    find = Find(parse(query), REORDERED, first=True, facets=True)
    return MatchSearch(nodes, RankingConfig(), Question(query, **options), find, None)


def asked(of: MatchSearch) -> list[Find]:
    return cast("Nodes", of.nodes).asked


def result(generator: Generator[Any, Any, Any]) -> Any:
    """What a generator returns to which nothing is sent."""
    try:
        while True:
            next(generator)
    except StopIteration as ended:
        return ended.value


def matches(
    placed: Sequence[PlacedPage] = (), total: int = 7, searched: int = 100, **more: Any
) -> Matches:
    return Matches({0: reply(total=total, **more)}, [*placed], 100, searched, total)


@pytest.mark.parametrize(
    ("whole", "partial", "ranked", "near", "counted"),
    [
        (matches(total=5), matches(total=9), 9, 0, (9, True)),
        (matches(total=5), matches(total=90), 10, 0, (90, True)),
        (matches(total=50), matches(total=9), 10, 0, (50, True)),
        (matches(total=5), matches(total=9), 10, 0, (10, True)),
        (matches(total=5), matches(total=90), 10, 1, (90, False)),
        (matches(total=50), Matches({}, [], 0, 0, 0), 10, 0, (50, True)),
        (matches(total=50, searched=9), Matches({}, [], 0, 0, 0), 10, 0, (50, False)),
        (matches(total=50, loose=True), Matches({}, [], 0, 0, 0), 10, 0, (50, False)),
        (matches(total=50, searched=9), matches(total=90), 10, 0, (90, False)),
        (matches(total=50), matches(total=90, searched=9), 10, 0, (90, False)),
        (matches(total=50), matches(total=90, exact=False), 10, 0, (90, False)),
    ],
)
def test_the_number_of_matches(
    whole: Matches, partial: Matches, ranked: int, near: int, counted: tuple[int, bool]
) -> None:
    pages = [page(key) for key in range(ranked)]
    assert search().count(whole, partial, pages, pages[:near]) == counted


@pytest.mark.parametrize(
    ("query", "whole", "few"),
    [
        ("red kelp", matches(total=MIN_WHOLE - 1), True),
        ("red kelp", matches(total=MIN_WHOLE), False),
        ("kelp", matches(total=0, words=1), True),
        ("kelp", matches(total=1, words=1), False),
        ("the", matches(total=0, words=0), False),
        ('"red kelp"', matches(total=0), False),
        ("red AND kelp", matches(total=0), False),
    ],
)
def test_few_pages_have_all_words(query: str, whole: Matches, few: bool) -> None:
    found = search(query)
    assert found.has_few(whole) is few
    any_term = found.any_term(whole)
    assert (any_term.limit, any_term.facets) == ((REORDERED if few else MAX_AHEAD), few)
    assert any_term.any_term
    assert not any_term.first
    assert search(query).any_term(whole._replace(searched=9)).first


def test_results_end() -> None:
    assert search(offset=20, limit=10).last == 30
    assert search(offset=MAX_LIMIT - 5, limit=10).last == MAX_LIMIT


@pytest.mark.parametrize(
    ("replies", "is_short"),
    [
        ([reply(searched=9, total=ENOUGH_MATCHES - 1)], True),
        ([reply(searched=9, total=ENOUGH_MATCHES)], False),
        ([reply(searched=9, total=25), reply(searched=9, total=25)], False),
        ([reply(searched=9, total=25), reply(total=25)], True),
        ([reply(total=0)], False),
        ([], False),
    ],
)
def test_the_first_tier_may_have_too_few_matches(replies: list[FoundPages], is_short: bool) -> None:
    assert _first_tier_is_short(replies) is is_short


def test_all_tiers_are_asked_if_the_first_has_too_few_matches() -> None:
    few = search("red kelp", reply(searched=9, total=3), reply((1, 2.0), total=4))
    found = result(few.find_all_terms())
    assert [find.first for find in asked(few)] == [True, False]
    assert (found.total, found.pages, found.searched, found.is_sample) == (4, 100, 100, False)
    enough = search("red kelp", reply((1, 2.0), searched=10, total=ENOUGH_MATCHES))
    found = result(enough.find_all_terms())
    assert [find.first for find in asked(enough)] == [True]
    assert (found.total, found.is_sample) == (10 * ENOUGH_MATCHES, True)


def test_pages_of_several_nodes_are_placed_by_their_words() -> None:
    found = {1: reply((1, 3.0), (2, 1.0)), 0: reply((3, 2.0), (4, 1.0))}
    find = Find(parse("red"), 3, any_term=True)
    placed = _place_by_words(found, find)
    assert [(each.page.key, each.node, each.words) for each in placed] == [
        (1, 1, 3.0),
        (3, 0, 2.0),
        (4, 0, 1.0),
    ]
    assert all(each.partial and each.score == each.words for each in placed)
    by_date = Find(parse("red"), 3, by_date=True)
    assert [each.words for each in _place_by_words(found, by_date)] == [0.0] * 3
    stop_words = {0: reply((3, 2.0), words=0)}
    assert [each.words for each in _place_by_words(stop_words, find)] == [0.0]


def test_pages_with_some_words_are_sought_if_few_have_all() -> None:
    front = [page(1, 10.0), page(2, 8.0)]
    few = search("red kelp", reply((1, 9.0), (3, 2.0), total=5))
    found = result(few.find_any_term(matches(front, total=2)))
    assert [each.page.key for each in found.placed] == [3]
    assert found.left == []
    many = search("red kelp", reply((3, 4.8), (4, 4.7), total=5))
    found = result(many.find_any_term(matches(front, total=50, loose=True)))
    assert [each.page.key for each in found.placed] == [3]  # 0.6 of 8
    assert [each.page.key for each in found.left] == [4]
    strict = search("red kelp")
    assert result(strict.find_any_term(matches(front, total=50))).replies == {}
    assert asked(strict) == []


def test_the_other_pages_with_some_words_come_at_the_end() -> None:
    ranked = [page(1, 10.0), page(2, 8.0)]
    enough = search()
    partial = matches(total=9)
    assert result(enough.add_other_partial(matches(total=50), partial, ranked)) == (partial, ranked)
    known = search()
    left = partial._replace(left=[page(4, 1.0)], placed=[page(2), page(3, 3.0)])
    _, pages = result(known.add_other_partial(matches(total=2), left, ranked))
    assert [each.page.key for each in pages] == [1, 2, 3, 4]
    assert asked(known) == []
    for total, limit, keys in ((SHORT_LIST, SHORT_LIST, [5, 6]), (SHORT_LIST + 1, 300, [6, 5])):
        more = search("red kelp", reply((6, 1.0), (2, 9.0), (5, 2.0)), offset=290)
        whole = matches(total=2)
        found, pages = result(more.add_other_partial(whole, matches(total=total), ranked))
        (find,) = asked(more)
        assert (find.limit, find.any_term, find.first, find.facets) == (limit, True, False, False)
        assert [each.page.key for each in pages] == [1, 2, *keys]
        assert found.total == 7


@pytest.mark.parametrize("rescore", [True, False])
def test_the_best_of_all_tiers_are_scored_again_and_follow(rescore: bool) -> None:
    found = reply((6, 1.25), (2, 1.2), (5, 1.1), (4, 1.0), total=9)
    more = search("red kelp", msgspec.structs.replace(found, rescore=rescore))
    whole, pages = result(more.add_other_tiers(matches(searched=9), [page(2)]))
    (find,) = asked(more)
    assert (find.first, find.any_term) == (False, False)
    assert [each.page.key for each in pages] == [2, 6, 5, 4]
    added = 0.5 * rescore
    assert [each.words for each in whole.placed] == [1.25 + added, 1.2 + added, 1.1 + added, 1.0]
    assert (whole.total, whole.pages, whole.searched) == (9, 100, 100)
    assert getattr(more.nodes, "judged", []) == ([6, 2, 5, 4] if rescore else [])


def test_nobody_is_asked_what_is_near_without_a_model() -> None:
    for options in (dict[str, Any](), {"by_date": True}):
        assert result(search(**options).find_near(matches(total=0), matches())) == []


def test_ties_are_ordered_by_keys() -> None:
    pages = [page(2, 1.0), page(1, 1.0), page(3, 2.0)]
    assert [each.page.key for each in sorted(pages, key=_by_value)] == [3, 1, 2]
    assert [each.page.key for each in _without(pages, [page(1)])] == [2, 3]


def test_as_many_words_count_as_in_the_index_that_has_most() -> None:
    replies = {number: reply(words=words) for number, words in enumerate((2, 5, 3))}
    assert Matches(replies, [], 0, 0, 0).content_words == 5
    assert Matches({}, [], 0, 0, 0).content_words == 0
