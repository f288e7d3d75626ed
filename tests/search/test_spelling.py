"""When a query is corrected, and when it is right as it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from gossamer.search.searcher import Searcher
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from collections.abc import Iterator


def pages() -> Iterator[dict[str, Any]]:
    for number in range(60):
        yield {"title": "Using locks", "text": f"using {'threads' * (number < 30)}"}
        yield {"title": "Запретить доступ", "text": "запретить", "language": "ru"}
    for number in range(4):
        yield {"title": f"Ring {number}", "text": "the io_uring of uring rings"}
        yield {"title": f"Панель {number}", "text": "закрепить панель", "language": "ru"}
    yield {"title": "Completion", "text": "orElseThrow and a wheather report of uzing"}
    yield {"title": "Weather", "text": "The weather"}
    yield {"title": "Zellen verbinden", "text": "Zellen verbinden", "language": "de"}
    yield {"title": "Tabellenzeilen", "text": "Zeilen einer Tabelle", "language": "de"}
    yield {"title": "Menus", "text": "Menus", "boilerplate": "lockz"}
    yield {"title": "Cellar", "text": "zeller verbunden"}


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    work = crawl(tmp_path_factory.mktemp("crawl"))
    every = ({"language": "en"} | page for page in pages())
    put_index(work, [page | {"url": f"http://a.example/{n}"} for n, page in enumerate(every)])
    return Searcher.open(work)


@pytest.mark.parametrize(
    ("query", "suggestion"),
    [
        ("lokcs", "locks"),
        ("using lokcs", "using locks"),
        ('"using lokcs"', '"using locks"'),
        ("uzing", "using"),
        ("Zellen verbinten", "Zellen verbinden"),
        ("запритить", "запретить"),
    ],
)
def test_a_misspelt_word_is_corrected(
    searcher: Searcher, query: str, suggestion: str | None
) -> None:
    assert searcher.search(query, verbatim=True).suggestion == suggestion


def test_words_that_no_page_has_are_searched_corrected(searcher: Searcher) -> None:
    results = searcher.search("using lokcs")
    assert results.corrected == "using locks"
    assert results.whole == 60
    assert results.hits == searcher.search("using locks").hits


@pytest.mark.parametrize(
    "query",
    ["lokcs OR using", '"lokcs"', '"using lokcs"', "lokcs site:b.example", "uzing", "using"],
)
def test_other_words_are_searched_as_typed(searcher: Searcher, query: str) -> None:
    """`uzing` is on one page. The pages without hits have none for the corrected words either."""
    typed, verbatim = searcher.search(query), searcher.search(query, verbatim=True)
    assert typed.corrected is verbatim.corrected is None
    assert typed.hits == verbatim.hits


@pytest.mark.parametrize("query", ["»locks using« using", 'using "locks using"'])
def test_a_phrase_that_no_page_has_is_searched_as_words(searcher: Searcher, query: str) -> None:
    results = searcher.search(query)
    assert results.corrected == " ".join(re.findall(r"\w+", query))
    assert results.hits == searcher.search(results.corrected).hits
    assert results.whole == 60
    assert not searcher.search(query, verbatim=True).hits


def test_verbatim_searches_for_words_as_typed(searcher: Searcher) -> None:
    results = searcher.search("using lokcs", verbatim=True)
    assert results.relaxed
    assert results.corrected is None


def test_a_correction_keeps_filters_quotes_and_capitals(searcher: Searcher) -> None:
    assert searcher.search('"using" lokcs site:a.example').corrected == (
        '"using" locks site:a.example'
    )
    assert searcher.search("LOKCS AND USING").corrected == "LOCKS AND USING"


def test_further_pages_of_corrected_results_follow_the_first(searcher: Searcher) -> None:
    first, then = (searcher.search("lokcs", offset=offset) for offset in (0, 10))
    assert first.corrected == then.corrected == "locks"
    assert not {hit.url for hit in first.hits} & {hit.url for hit in then.hits}


def test_a_word_that_boilerplate_has_is_not_replaced(searcher: Searcher) -> None:
    assert searcher.search("lockz").corrected is None


@pytest.mark.parametrize(
    "query",
    ["uring", "io_uring", "io_uring lock", "закрепить", "orElseThrow", "wheather", "ring"],
)
def test_no_suggestion_leads_away_from_a_word_that_the_crawl_has(
    searcher: Searcher, query: str
) -> None:
    assert searcher.search(query).suggestion is None


@pytest.mark.parametrize("query", ["lo_kcs", "lokcs.h", "std::lokcs", "--lokcs", "useLokcs"])
def test_code_is_not_corrected(searcher: Searcher, query: str) -> None:
    results = searcher.search(query)
    assert results.suggestion is results.corrected is None


def test_no_suggestion_leads_into_another_language(searcher: Searcher) -> None:
    """`Cellar` is an English word, and the nearest to `Celler`; the other word is German."""
    assert searcher.search("celler").corrected == "cellar"
    assert searcher.search("celler verbinden").corrected is None
