"""What is found, by which language, in which order: over an index of several languages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gossamer.serve import ranking
from gossamer.serve.filters import host, time_ms
from gossamer.serve.placing import HOST_RESULTS
from gossamer.serve.search import Searcher
from shards import crawl, put_index

if TYPE_CHECKING:
    from pathlib import Path

YEAR_2024_MS = 1_704_067_200_000
DAY_MS = 86_400_000

SHELF: list[dict[str, Any]] = [
    {
        "url": "http://www.example.org/docs/guide.html",
        "title": "Guide to searching",
        "text": "How pages are searched. The universities of old wrote books.",
        "around": "Menu\nImprint",
        "language": "en",
        "published_ms": YEAR_2024_MS,
    },
    {
        "url": "http://other.example.org/books.pdf",
        "title": "Old books",
        "text": "A university of books, and the search for them.",
        "language": "en",
        "content_type": "application/pdf",
        "published_ms": YEAR_2024_MS - DAY_MS,
    },
    {
        "url": "http://haus.example/",
        "title": "Häuser",
        "text": "Das Haus der Bücher und die Straße der Universitäten.",
        "language": "de",
        "modified_ms": YEAR_2024_MS + 400 * DAY_MS,
    },
    {
        "url": "http://kniga.example/",
        "title": "Книги",
        "text": "Новости о книгах и университетах.",
        "language": "ru",
    },
]


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    work = crawl(tmp_path_factory.mktemp("crawl"))
    put_index(work, SHELF)
    return Searcher.open(work)


def found(searcher: Searcher, query: str) -> set[str]:
    return {hit.host.partition(".")[0] for hit in searcher.search(query).hits if not hit.partial}


@pytest.mark.parametrize(
    ("query", "hosts"),
    [
        ("university", {"www", "other"}),
        ("Universitäten", {"haus"}),
        ("universitat", {"haus"}),
        ("buch", {"haus"}),
        ("STRASSE", {"haus"}),
        ("книга", {"kniga"}),
        ("университет новость", {"kniga"}),
        ("the book", {"www", "other"}),
        ("the of", {"www", "other"}),
        ('"the search"', {"other"}),
        ("books site:example.org", {"www", "other"}),
        ("books site:www.example.org", {"www"}),
        ("books site:https://www.example.org/docs/", {"www"}),
        ("books -host:www.example.org", {"other"}),
        ("site:example.org", {"www", "other"}),
        ("site:org type:pdf", {"other"}),
        ("site:ample.org", set()),
        ("lang:de", {"haus"}),
        ("lang:de lang:ru", set()),
        ("lang:de OR lang:ru", {"haus", "kniga"}),
        ("intitle:search", {"www"}),
        ("intitle:häuser", {"haus"}),
        ('intitle:"old books"', {"other"}),
        ("inurl:docs", {"www"}),
        ("books inurl:guide", {"www"}),
        ("after:2024", {"www", "haus"}),
        ("before:2024-01-01", {"other"}),
        ("after:2024-01 before:2025", {"www"}),
        ("after:soon", set()),
        ("before:2024-13", set()),
        ("imprint", {"www"}),
    ],
)
def test_what_is_found(searcher: Searcher, query: str, hosts: set[str]) -> None:
    if query == "imprint":  # only around the main text of a page
        assert searcher.search(query).relaxed
        assert [hit.host for hit in searcher.search(query).hits] == ["www.example.org"]
    else:
        assert found(searcher, query) == hosts


def test_facets_count_all_pages_that_match(searcher: Searcher) -> None:
    facets = searcher.search("site:org OR site:example", limit=1, facets=True).facets
    counts = {name: {each.value: each.pages for each in values} for name, values in facets.items()}
    assert counts["language"] == {"en": 2, "de": 1, "ru": 1}
    assert counts["kind"] == {"html": 3, "pdf": 1}
    assert counts["year"] == {"2024": 1, "2023": 1, "2025": 1}
    assert counts["host"]["haus.example"] == 1


def test_by_date_the_newest_come_first(searcher: Searcher) -> None:
    hits = searcher.search("site:org OR site:example", by_date=True).hits
    dates = [hit.date_ms for hit in hits]
    assert dates == [YEAR_2024_MS + 400 * DAY_MS, YEAR_2024_MS, YEAR_2024_MS - DAY_MS, None]


def test_a_misspelt_word_is_put_right(searcher: Searcher) -> None:
    assert searcher.search("old boks").suggestion == "old books"
    assert searcher.search("Geuide").suggestion == "guide"
    assert searcher.search("old books").suggestion is None
    assert searcher.search("zzzzzz").suggestion is None


def test_a_query_is_completed(searcher: Searcher) -> None:
    assert searcher.complete("old bo") == ["old books"]
    assert searcher.complete("Gui") == ["guide"]
    assert searcher.complete("searching bo") == []
    assert searcher.complete("old ") == []
    assert searcher.complete("") == []


def test_two_of_a_host_then_others(tmp_path: Path) -> None:
    work = crawl(tmp_path)
    many = [{"url": f"http://a.example/{n}", "title": "rose rose", "text": "x"} for n in range(4)]
    put_index(work, [*many, {"url": "http://b.example/", "title": "a rose among other flowers"}])
    searcher = Searcher.open(work)
    hits = searcher.search("rose").hits
    assert [hit.host[0] for hit in hits] == ["a"] * HOST_RESULTS + ["b", "a", "a"]
    assert [hit.more for hit in hits] == [False, True, False, False, False]
    assert {hit.host for hit in searcher.search("rose site:a.example").hits[:4]} == {"a.example"}


def test_what_is_much_worse_is_not_put_before_for_its_host(tmp_path: Path) -> None:
    work = crawl(tmp_path)
    many = [{"url": f"http://a.example/{n}", "title": "rose", "text": "rose"} for n in range(4)]
    put_index(work, [*many, {"url": "http://b.example/", "text": "rose" + " filler" * 2_000}])
    hits = Searcher.open(work).search("rose").hits
    assert [hit.host[0] for hit in hits] == ["a", "a", "a", "a", "b"]
    assert hits[1].more


def test_words_that_are_close_count_more(tmp_path: Path) -> None:
    work = crawl(tmp_path)
    far, close = "storm x y z a b c d warning", "x y z a b c d storm warning"
    put_index(
        work,
        [{"url": "http://a.example/", "text": far}, {"url": "http://b.example/", "text": close}],
        shards=1,
    )
    assert [hit.host for hit in Searcher.open(work).search("storm warning").hits] == [
        "b.example",
        "a.example",
    ]


@pytest.mark.parametrize(
    "query", ["storm warning", "storm warning coast", "storm warning type:pdf"]
)
def test_pairs_count_alike_in_either_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    texts = ("storm warning", "warning of a storm", "storm and warning", "storm" + " x" * 9)
    pages = [
        {
            "url": f"http://{number}.example/{coast}",
            "text": f"{text}{' coast' * coast} warning",
            "content_type": "application/pdf" if coast else "text/html",
        }
        for number, text in enumerate(texts)
        for coast in range(3)
    ]
    work = crawl(tmp_path)
    put_index(work, pages)
    searcher = Searcher.open(work)

    def scores(few: int) -> dict[str, float]:
        monkeypatch.setattr(ranking, "FEW", few)
        return {hit.url: hit.score for hit in searcher.search(query).hits if not hit.partial}

    in_first, in_second = scores(few=len(pages)), scores(few=0)
    assert in_first
    assert in_second == pytest.approx(in_first)
    monkeypatch.setattr(ranking.Sought, "_pairs", ())
    assert scores(few=0) != pytest.approx(in_first)


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("Example.ORG", "example.org"),
        ("https://example.org/a/b", "example.org"),
        (".example.org.", "example.org"),
        ("*.example.org", "example.org"),
        ("localhost:8080", "localhost:8080"),
    ],
)
def test_a_host_as_people_write_it(typed: str, name: str) -> None:
    assert host(typed) == name


@pytest.mark.parametrize(
    ("typed", "moment"),
    [
        ("2024", YEAR_2024_MS),
        ("2024-1", YEAR_2024_MS),
        ("2024-01-02", YEAR_2024_MS + DAY_MS),
        ("0000", None),
        ("2024-02-31", None),
        ("24", None),
        ("x", None),
    ],
)
def test_dates(typed: str, moment: int | None) -> None:
    assert time_ms(typed) == moment
