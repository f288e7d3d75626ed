"""Pages that lack a word of the query, beside pages that have all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gossamer.search.matching import MIN_WHOLE
from gossamer.search.searcher import Searcher
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

IN_PASSING = 2 * MIN_WHOLE
OTHERS = 60
MERGE = {
    "url": "http://a.example/merge",
    "title": "Merge Cells",
    "text": "Merge Cells\nSelect the cells to merge, then merge them. Merged cells are one cell.",
}


def page(number: int) -> dict[str, Any]:
    """A page that has all three words in passing, or only the most frequent one."""
    words = "office " * (number < IN_PASSING or number % 3 == 0)
    words += "merge cells " * (number < IN_PASSING)
    filler = " ".join(f"word{number % 7}{at}" for at in range(80))
    return {
        "url": f"http://a.example/{number}",
        "title": f"Page {number}",
        "text": f"{filler} {words}",
    }


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    work = crawl(tmp_path_factory.mktemp("crawl"))
    pages = [MERGE, *(page(number) for number in range(IN_PASSING + OTHERS))]
    put_index(work, [each | {"language": "en"} for each in pages])
    return work


@pytest.fixture(scope="module")
def searcher(work: Workspace) -> Searcher:
    return Searcher.open(work)


@pytest.mark.parametrize(
    "query", ["office merge cells", "merge cells office", "to merge cells in the office"]
)
def test_a_word_too_many_does_not_hide_the_page(searcher: Searcher, query: str) -> None:
    found = searcher.search(query)
    assert found.hits[0].title == "Merge Cells"
    assert [hit.partial for hit in found.hits] == [True] + [False] * (len(found.hits) - 1)
    assert (found.whole, found.relaxed, found.estimated) == (IN_PASSING, False, False)
    assert found.total == IN_PASSING + 1 + OTHERS // 3


def test_a_word_too_many_for_a_title_that_is_the_rest(searcher: Searcher) -> None:
    """The word that the page lacks is as rare as those of its title."""
    found = searcher.search("page 79 word30")
    assert (found.hits[0].title, found.hits[0].partial) == ("Page 79", True)


@pytest.mark.parametrize("query", ["office AND merge AND cells", '"office merge" cells "office"'])
def test_words_that_are_required_are_not_dropped(searcher: Searcher, query: str) -> None:
    assert not any(hit.partial for hit in searcher.search(query).hits)


def test_filters_hold_for_pages_that_lack_a_word(searcher: Searcher) -> None:
    assert searcher.search("office merge cells type:html").hits[0].title == "Merge Cells"
    assert searcher.search("office merge cells -select").hits[0].title != "Merge Cells"


def test_pages_that_have_only_a_frequent_word_come_last(searcher: Searcher) -> None:
    found = searcher.search("office merge cells", limit=100)
    assert len(found.hits) == found.total
    assert [hit.partial for hit in found.hits[IN_PASSING + 1 :]] == [True] * (OTHERS // 3)
    assert not any(hit.partial for hit in found.hits[1 : IN_PASSING + 1])


def test_pages_of_results_with_partial_matches_are_disjoint(searcher: Searcher) -> None:
    pages = [searcher.search("office merge cells", at, 7).hits for at in range(0, 42, 7)]
    urls = [hit.url for hits in pages for hit in hits]
    assert len(set(urls)) == len(urls) == IN_PASSING + 1 + OTHERS // 3
