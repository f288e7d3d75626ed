"""What is found, by which language, in which order: over an index of several languages."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from gossamer.index.format.analysis import first_words
from gossamer.index.format.document_builder import FIRST_WORDS, lines_without
from gossamer.search import query_units, ranking
from gossamer.search.addresses import typed_address
from gossamer.search.diversity import HOST_RESULTS
from gossamer.search.filters import date_begin_ms
from gossamer.search.messages import Find
from gossamer.search.query import parse
from gossamer.search.searcher import Searcher
from gossamer.search.spelling import MAX_BEFORE
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from pathlib import Path

YEAR_2024_MS = 1_704_067_200_000
DAY_MS = 86_400_000

SHELF: list[dict[str, Any]] = [
    {
        "url": "http://www.example.org/docs/guide.html",
        "title": "Guide to searching",
        "text": "How pages are searched. The universities of old wrote books.",
        "boilerplate": "Menu\nImprint",
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
        ("of wrote books", {"www"}),
        ("and books", {"www", "other"}),
        ('"and" books', {"other"}),
        ("books site:example.org", {"www", "other"}),
        ("books site:www.example.org", {"www"}),
        ("books site:https://www.example.org/docs/", {"www"}),
        ("books -host:www.example.org", {"other"}),
        ("site:example.org", {"www", "other"}),
        ("site:org type:pdf", {"other"}),
        ("site:ample.org", set()),
        ("-type:pdf", set()),
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


@pytest.mark.parametrize(
    "filters", ["site:example.org", "type:pdf", "lang:en -host:www.example.org"]
)
def test_filters_add_nothing_to_scores(searcher: Searcher, filters: str) -> None:
    scores = {hit.url: hit.score for hit in searcher.search("books").hits}
    hits = searcher.search(f"books {filters}").hits
    assert hits
    assert {hit.url: hit.score for hit in hits} == pytest.approx(
        {hit.url: scores[hit.url] for hit in hits}
    )


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
    assert searcher.search("old boks").corrected == "old books"
    assert searcher.search("Geuide").corrected == "guide"
    assert searcher.search("old books").suggestion is None
    assert searcher.search("zzzzzz").suggestion is None


def test_a_query_is_completed(searcher: Searcher) -> None:
    assert searcher.complete("old bo") == ["old books"]
    assert searcher.complete("Gui") == ["guide"]
    assert searcher.complete("searching bo") == []
    assert searcher.complete("old ") == []
    before = f"searching {'old ' * MAX_BEFORE}"
    assert searcher.complete(f"{before}bo") == [f"{before}books"]
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


def test_a_query_for_news_is_about_now(tmp_path: Path) -> None:
    work = crawl(tmp_path)
    dates = {"a": YEAR_2024_MS, "b": time.time_ns() // 1_000_000}
    put_index(
        work,
        [
            {"url": f"http://{name}.example/", "text": "apple news", "published_ms": date_ms}
            for name, date_ms in dates.items()
        ],
        shards=1,
    )
    hits = Searcher.open(work).search("apple news").hits
    assert [hit.host[0] for hit in hits] == ["b", "a"]
    assert hits[0].score > hits[1].score


def scores_of(
    folder: Path, query: str, pages: list[dict[str, Any]], **weights: float
) -> list[float]:
    """The score of each page, with these weights only."""
    work = crawl(folder)
    zero = dict.fromkeys(
        (
            "title",
            "anchors",
            "first_words",
            "pairs",
            "boilerplate",
            "title_phrase",
            "whole_title",
            "popularity",
        ),
        0.0,
    )
    ranking_config = msgspec.structs.replace(work.config.ranking, **{**zero, **weights})
    work.config = msgspec.structs.replace(work.config, ranking=ranking_config)
    urls = [f"http://{number}.example/" for number in range(len(pages))]
    put_index(work, [{"url": url, **page} for url, page in zip(urls, pages, strict=True)], shards=1)
    scores = {hit.url: hit.score for hit in Searcher.open(work).search(query).hits}
    return [scores[url] for url in urls]


def test_what_a_page_says_again_counts_once(tmp_path: Path) -> None:
    text = "A warning for the coast"
    again: dict[str, Any] = {
        "headings": ["Storm"],
        "anchors": ["storm", "Storm"],
        "description": text,
    }
    pages = [
        {"title": "Storm", "text": text},
        {"title": "Storm", "text": f"Storm\n{text}", **again},
    ]
    once, repeated = scores_of(tmp_path, "storm", pages, first_words=1.0)
    assert once == pytest.approx(repeated)


def test_boilerplate_counts_only_where_the_text_lacks_a_word(tmp_path: Path) -> None:
    """The query has a word that no page has, so that pages with some of the words are found."""
    again = {"title": "Oak", "text": "An old tree", "boilerplate": "Menu: old"}
    beside = {"title": "Oak", "text": "An ash tree", "boilerplate": "Menu: old"}
    pages = [again, again | {"boilerplate": "Menu"}, beside, beside | {"boilerplate": "Menu"}]
    work = crawl(tmp_path)
    urls = [f"http://{number}.example/" for number in range(len(pages))]
    put_index(work, [{"url": url, **page} for url, page in zip(urls, pages, strict=True)], 1)
    hits = Searcher.open(work).search("oak old unheard", verbatim=True).hits
    scores = {hit.url: hit.score for hit in hits}
    said, unsaid, beside_it, nowhere = (scores[url] for url in urls)
    assert said == pytest.approx(unsaid)
    assert beside_it > nowhere


@pytest.mark.parametrize(
    ("query", "title"), [("old oak", "The old oak"), ("印刷設定", "印刷設定の変更")]
)
def test_a_phrase_in_the_title_counts(tmp_path: Path, query: str, title: str) -> None:
    pages = [{"title": title}]
    phrase = scores_of(tmp_path / "with", query, pages, title_phrase=1.0)
    assert phrase > scores_of(tmp_path / "without", query, pages)


def test_words_with_up_to_two_others_between_them_are_close(tmp_path: Path) -> None:
    texts = ["storm" + " x" * gap + " warning" + " x" * (9 - gap) for gap in (0, 1, 2, 3, 9)]
    pages = [{"text": text} for text in texts]
    *close, almost, far = scores_of(tmp_path, "storm warning", pages, pairs=1.0)
    assert min(close) > almost
    assert almost == pytest.approx(far)


def test_a_pair_counts_less_in_a_longer_query(tmp_path: Path) -> None:
    pages = [{"text": "storm warning" + " x" * 9}, {"text": "storm" + " x" * 9 + " warning"}]
    words = "storm warning"
    gains = []
    for query in (words, f"{words} one", f"{words} one two three four"):
        near, far = scores_of(tmp_path / str(len(query)), query, pages, pairs=1.0)
        gains.append(near - far)
    two, three, six = gains
    assert two == pytest.approx(three)
    assert two == pytest.approx(2 * six)


def test_a_run_of_characters_weighs_less_than_as_many_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = [{"text": "router 印刷機"}, {"text": "印刷機設定"}]
    word, run = scores_of(tmp_path / "damped", "router 印刷機設定", pages)
    monkeypatch.setattr(query_units, "RUN_DAMPING", 0.0)
    undamped_word, undamped_run = scores_of(tmp_path / "undamped", "router 印刷機設定", pages)
    assert word - run > undamped_word - undamped_run


def test_pairs_of_characters_in_a_row_are_close(tmp_path: Path) -> None:
    texts = ["印刷設定と刷設です", "設定と刷設と印刷です"]
    pages = [{"text": text} for text in texts]
    in_a_row, scattered = scores_of(tmp_path / "with", "印刷設定", pages, pairs=1.0)
    difference = in_a_row - scattered
    in_a_row, scattered = scores_of(tmp_path / "without", "印刷設定", pages)
    assert difference > in_a_row - scattered


def test_a_repeated_word_is_not_a_pair(tmp_path: Path) -> None:
    """To tantivy a phrase with slop is there where the word stands once."""
    pages = [{"text": "a rose is a rose"}, {"text": "a rose and a thorn"}]
    with_pairs = scores_of(tmp_path / "with", "rose rose", pages, pairs=1.0)
    assert with_pairs == pytest.approx(scores_of(tmp_path / "without", "rose rose", pages))


@pytest.mark.parametrize(
    ("unit", "title", "anchors", "text"),
    [
        (("oak",), [2.0], [6.0], []),
        (("oak", "elm", "ash"), [2.0], [2.0] * 3, []),
        (("印刷",), [1.0], [3.0], [0.75] * 2),
    ],
)
def test_a_unit_weighs_the_same_in_names_however_many_terms_it_has(
    searcher: Searcher,
    unit: tuple[str, ...],
    title: list[float],
    anchors: list[float],
    text: list[float],
) -> None:
    """A character of a run is in two units, each of which counts half."""
    plan = searcher.node._plans.plan_for(0, Find(parse("oak"), 10))
    plan._weights = msgspec.structs.replace(plan._weights, title=2.0, anchors=6.0)
    found: dict[str, list[float]] = {"title": [], "anchors": [], "text": []}
    for field, _, weight in plan._name_fields(unit):
        found[field].append(weight)
    assert found == {"title": title, "anchors": anchors, "text": text}


@pytest.mark.parametrize("title", ["oak", "oak elm ash"])
def test_a_query_that_is_the_whole_title_counts_per_word(tmp_path: Path, title: str) -> None:
    pages = [{"title": each, "text": title} for each in (title, "something else")]
    title_matches, other = scores_of(tmp_path, title, pages, whole_title=7.0)
    assert title_matches - other == pytest.approx(7 * len(title.split()), rel=0.05)


@pytest.mark.parametrize(("most", "names"), [(3, True), (2, False)])
def test_a_phrase_names_pages_where_few_titles_can_have_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, names: bool
) -> None:
    monkeypatch.setattr(ranking, "MAX_PHRASE_TITLES", most)
    work = crawl(tmp_path)
    titles = [f"unstable urgency {number}" for number in range(3)]
    put_index(work, [{"url": f"http://{t[-1]}.example/", "title": t, "text": t} for t in titles], 1)
    node = Searcher.open(work).node
    plan = node._plans.plan_for(0, Find(parse("unstable urgency"), 10))
    assert (plan.title_matches(any_term=False) is not None) is names


@pytest.mark.parametrize(
    ("query", "pages"), [("apple", 3), ("apple pear", 1), ("pear apple", 1), ("apple nothing", 0)]
)
def test_no_more_pages_have_all_words_than_have_the_rarest(
    tmp_path: Path, query: str, pages: int
) -> None:
    work = crawl(tmp_path)
    texts = ("apple", "apple", "apple pear")
    put_index(work, [{"url": f"http://{n}.example/", "text": t} for n, t in enumerate(texts)], 1)
    node = Searcher.open(work).node
    assert node._plans.plan_for(0, Find(parse(query), 10)).max_matches == pages


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
        monkeypatch.setattr(ranking, "FEW_MATCHES", few)
        return {hit.url: hit.score for hit in searcher.search(query).hits if not hit.partial}

    in_first, in_second = scores(few=len(pages)), scores(few=0)
    assert in_first
    assert in_second == pytest.approx(in_first)
    monkeypatch.setattr(ranking.QueryPlan, "_second_step", ())
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
    assert typed_address(typed).host == name


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
    assert date_begin_ms(typed) == moment


def test_a_quoted_phrase_of_stop_words_is_required(tmp_path: Path) -> None:
    work = crawl(tmp_path)
    texts = {"with": "an apple is to be eaten", "without": "be an apple, to me"}
    put_index(
        work,
        [
            {"url": f"http://a.example/{name}", "title": name, "text": text, "language": "en"}
            for name, text in texts.items()
        ],
    )
    found = Searcher.open(work)
    assert found.search('"to be" apple').whole == 1
    assert found.search("to be apple").whole == 2


def test_a_page_about_a_name_comes_before_pages_about_its_members(tmp_path: Path) -> None:
    """Their titles have the name twice, and their texts are shorter."""
    work = crawl(tmp_path)
    names = {"class": "Acme::box_stack", "new": "Acme::box_stack::box_stack"}
    names |= {"free": "Acme::box_stack::~box_stack", "top": "Acme::box_stack::top"}
    pages = [
        {
            "url": f"http://a.example/{page}",
            "title": f"{name} - Acme",
            "text": f"{name} of Acme" + f"\n{name} is good for" * 5 * (page == "class"),
        }
        for page, name in names.items()
    ]
    others = [
        {"url": f"http://a.example/{n}", "title": f"Acme::{n}", "text": "long " * 60}
        for n in range(60)
    ]
    put_index(work, [{"language": "en"} | page for page in (*pages, *others)])
    searcher = Searcher.open(work)
    for query in ("box_stack", "Acme::box_stack"):
        assert searcher.search(query).hits[0].url == "http://a.example/class"


LATER = " ".join(f"word{number}" for number in range(FIRST_WORDS))


@pytest.mark.parametrize(
    ("query", "words"),
    [("storm warning", "a storm warning"), ("暴風警報", "暴風警報"), ("gale", "use GaleWarning")],
)
@pytest.mark.parametrize("few", [2, 0])
def test_pages_that_begin_with_the_words_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, query: str, words: str, few: int
) -> None:
    monkeypatch.setattr(ranking, "FEW_MATCHES", few)
    pages = [{"title": "A", "text": f"{LATER} {words}"}, {"title": "B", "text": f"{words} {LATER}"}]
    last, first = scores_of(tmp_path / "lead", query, pages, first_words=1.0)
    assert first > last
    assert scores_of(tmp_path / "none", query, pages) == pytest.approx([last, last])


def test_the_first_words_of_a_page_follow_its_names() -> None:
    lines = ["Part 1", "Storms", f"{LATER} warning"]
    assert [*lines_without(lines, ["storms", "PART 1"])] == lines[2:]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("one, two three", "one, two"),
        ("one,\n...\ntwo\nthree", "one,\ntwo"),
        ("機械学習", "機械"),
        ("PDF機械", "PDF機"),
        ("one", "one"),
        ("?!", ""),
    ],
)
def test_first_words(text: str, first: str) -> None:
    assert first_words(text.splitlines(), 2) == first
