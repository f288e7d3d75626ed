"""Manuals of Debian, crawled whole: judged by a walk over their files that shares no code."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import pytest

from gossamer.search.messages import MAX_LIMIT, Question
from gossamer.search.searcher import Searcher
from tests.support import real_webs
from tests.support.machine_needs import lacking

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from gossamer.api.crawl import Crawl
    from gossamer.engine.engine import Engine
    from tests.support.link_walk import Walk

T = TypeVar("T")


class Size(NamedTuple):
    manuals: Mapping[str, str]
    pages: int
    links: int
    walks: int


SIZES = [
    pytest.param(Size(real_webs.FEW, 250, 1_000, 30), id="two languages", marks=pytest.mark.slow),
    pytest.param(Size(real_webs.MANUALS, 3_500, 30_000, 300), id="all", marks=pytest.mark.long),
]
"""Manuals, the least that they have, and queries whose results are walked through."""


@pytest.fixture(scope="module", params=SIZES)
def size(request: pytest.FixtureRequest) -> Size:
    found: Size = request.param
    return found


@pytest.fixture(scope="module")
def folders(size: Size) -> dict[str, Path]:
    found = real_webs.folders(size.manuals)
    if missing := [folder for folder in found.values() if not folder.is_dir()]:
        lacking(f"{missing[0]} is not there: apt-get install {real_webs.PACKAGES}")
    return found


@pytest.fixture(scope="module")
def walked(folders: dict[str, Path]) -> Walk:
    return real_webs.judge(folders)


@pytest.fixture(scope="module")
def crawled(
    folders: dict[str, Path],
    walked: Walk,
    engine: Engine,
    tmp_path_factory: pytest.TempPathFactory,
) -> Crawl:
    assert walked.deepest < 20, "max_depth would hide pages from both"
    return real_webs.crawl(tmp_path_factory.mktemp("real") / "crawl", folders, engine)


def test_every_page_that_links_lead_to_is_fetched_once_and_no_other(
    crawled: Crawl, walked: Walk, size: Size
) -> None:
    assert len(walked.pages) > size.pages
    assert difference(real_webs.fetched(crawled), walked.pages) == ([], [])


def test_every_link_is_recorded_once_and_no_other(crawled: Crawl, walked: Walk, size: Size) -> None:
    assert len(walked.links) > size.links
    assert difference(real_webs.links(crawled), walked.links) == ([], [])


def test_a_page_is_found_by_its_title(crawled: Crawl, walked: Walk, size: Size) -> None:
    found = real_webs.known_items(walked, Searcher.open(crawled.work))
    assert found.keys() == size.manuals.keys()
    for host, answers in found.items():
        assert answers.items >= 10
        assert answers.first >= 0.9 * answers.items, host
        assert answers.top3 >= 0.98 * answers.items, (host, answers.missed[:10])


def test_a_random_walk_over_pages_of_results_reaches_every_match_once(
    crawled: Crawl, walked: Walk, size: Size
) -> None:
    answer = Searcher.open(crawled.work).answer
    draw = random.Random(300)  # noqa: S311  # reproducible
    titles = sorted({title for title in walked.pages.values() if title})
    words = [word for title in titles for word in title.split()]
    for number in range(size.walks):
        query = draw.choice(titles) if number % 5 == 0 else " ".join(draw.sample(words, 3))
        by_date = number % 9 == 0
        urls: list[str] = []
        limit = found = 0
        while not limit or found == limit:
            limit = draw.choice((3, 10, 25, 100))
            page = answer(Question(query, len(urls), limit, by_date=by_date, verbatim=True))
            urls += [hit.url for hit in page.hits]
            found = len(page.hits)
        at_once = answer(Question(query, 0, MAX_LIMIT, by_date=by_date, verbatim=True))
        assert urls == [hit.url for hit in at_once.hits], query
        assert len({*urls}) == len(urls) == page.total == at_once.total, query
        assert not page.estimated, query


def difference(got: Iterable[T], wanted: Iterable[T]) -> tuple[list[T], list[T]]:
    """What is missing, and what is too much or stands twice; a few of each."""
    had, should = Counter(iter(got)), Counter(iter(wanted))
    return list(should - had)[:10], list(had - should)[:10]
