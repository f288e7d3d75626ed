"""Which pages come first if the index has several languages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gossamer.search import explaining
from gossamer.search.messages import Find, Question
from gossamer.search.query import parse
from gossamer.search.searcher import Searcher
from tests.support.broker_nodes import asked
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gossamer.state.workspace import Workspace

TOPICS = ("kernel", "printer", "network", "mail", "backup")


def pages() -> Iterator[dict[str, Any]]:
    for topic in TOPICS:
        for number in range(30):
            yield {
                "url": f"http://en.example/{topic}/{number}",
                "title": f"The {topic}",
                "text": f"How to install a {topic} package with this tool, part {number}",
                "language": "en",
            }
            yield {
                "url": f"http://de.example/{topic}/{number}",
                "title": f"Kapitel {topic}",
                "text": f"Wie ein Werkzeug die Sicherung für {topic} anlegt, Teil {number}",
                "language": "de",
            }
    yield {
        "url": "http://de.example/quoted",
        "title": "Kapitel",
        "text": "Das Werkzeug meldet: install a printer package with",
        "language": "de",
    }
    yield {
        "url": "http://en.example/quoted",
        "title": "Names",
        "text": "It is called Werkzeug für die Sicherung in German",
        "language": "en",
    }
    yield {
        "url": "http://la.example/",
        "title": "Liber",
        "text": "install printer",
        "language": "la",
    }


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    work = crawl(tmp_path_factory.mktemp("crawl"))
    put_index(work, pages())
    return work


@pytest.mark.parametrize(
    ("query", "host"),
    [
        ("install a printer package with", "en.example"),
        ("install printer", "en.example"),
        ("Werkzeug für die Sicherung", "de.example"),
        ("die Sicherung", "de.example"),
    ],
)
def test_pages_in_the_language_of_the_query_come_first(
    work: Workspace, query: str, host: str
) -> None:
    """`quoted` has all the words, which are rare in its language."""
    hits = Searcher.open(work).search(query).hits
    assert [hit.host for hit in hits[:2]] == [host] * 2
    assert not any("quoted" in hit.url for hit in hits[:2])


def test_several_nodes_determine_the_language_together(work: Workspace) -> None:
    nodes = [Searcher.open(work, shards=[shard]).node for shard in (1, 2)]
    assert asked(work, nodes, Question("die Sicherung")).hits[0].host == "de.example"


def test_pages_in_another_language_are_found_by_its_words(work: Workspace) -> None:
    assert Searcher.open(work).search("Liber").hits[0].host == "la.example"


@pytest.mark.parametrize("language", ["en", "de"])
def test_names_are_sought_in_the_language_of_the_user(work: Workspace, language: str) -> None:
    hits = Searcher.open(work).search("printer", language=language).hits
    assert hits[0].host == f"{language}.example"


def test_the_language_of_the_query_counts_more_than_that_of_the_user(work: Workspace) -> None:
    hits = Searcher.open(work).search("Werkzeug für die Sicherung", language="en").hits
    assert hits[0].host == "de.example"


EASTERN = ("ja", "ko", "th", "zh")
"""Their pages are in one index, and a query of names is in none of them."""


@pytest.fixture(scope="module")
def eastern(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    work = crawl(tmp_path_factory.mktemp("eastern"))
    texts = {"ja": "設定", "ko": "설정", "th": "ตั้งค่า", "zh": "設定", "en": "settings"}
    rows = [
        {
            "url": f"http://{number}.{language}.example/",
            "title": f"RAID {texts[language]}",
            "text": f"RAID LVM {texts[language]} {number}",
            "language": language,
        }
        for language in texts
        for number in range(3)
    ]
    put_index(work, rows)
    return work


@pytest.mark.parametrize("query", ["LVM", "RAID LVM", "RAID", "RAID xterm"])
@pytest.mark.parametrize("language", EASTERN)
def test_users_find_their_language_among_several_of_an_index(
    eastern: Workspace, query: str, language: str
) -> None:
    hits = Searcher.open(eastern).search(query, language=language, limit=20).hits
    assert [hit.language for hit in hits[:3]] == [language] * 3
    assert len(hits) == 5 * 3


def test_several_nodes_prefer_a_language_together(eastern: Workspace) -> None:
    nodes = [Searcher.open(eastern, shards=[shard]).node for shard in (1, 2)]
    hits = asked(eastern, nodes, Question("RAID LVM", language="th")).hits
    assert [hit.language for hit in hits[:3]] == ["th"] * 3


@pytest.mark.parametrize(
    ("language", "word", "title"),
    [("ja", "設定", "The tool LVM"), ("de", "Einstellungen", "RAID with LVM, RAID on LVM")],
)
def test_pages_with_all_words_in_the_language_of_the_user_come_before_better_ones_in_others(
    language: str, word: str, title: str, tmp_path: Path
) -> None:
    """Those which have one of the words come after both."""
    about = [f"{'RAID LVM ' * 5} settings {number}" for number in range(12)]
    in_passing = f"{word} " * 8
    own = {
        "both": (word, f"{in_passing} LVM {in_passing} RAID"),
        "one": (f"RAID {word}", f"RAID {word} RAID"),
        **{f"none{number}": (word, f"{word} {number}") for number in range(30)},
    }
    pages: list[dict[str, Any]] = [
        *({"title": title, "text": text, "language": "en"} for text in about),
        *({"title": "Other", "text": f"nothing {n}", "language": "en"} for n in range(30)),
        *({"title": head, "text": text, "language": language} for head, text in own.values()),
    ]
    urls = [f"http://{number}.en.example/" for number in range(42)]
    urls += [f"http://own.example/{name}" for name in own]
    work = crawl(tmp_path)
    put_index(work, [page | {"url": url} for page, url in zip(pages, urls, strict=True)])
    hits = Searcher.open(work).search("RAID LVM", language=language, limit=20).hits
    assert hits[0].url == "http://own.example/both"
    assert [hit.url for hit in hits].index("http://own.example/one") == 1 + len(about)


@pytest.mark.parametrize("language", ["fr", "ka"])
def test_a_language_without_pages_is_not_preferred(eastern: Workspace, language: str) -> None:
    searcher = Searcher.open(eastern)
    hits = searcher.search("RAID LVM", language=language).hits
    assert hits == searcher.search("RAID LVM").hits


def test_the_explanation_has_the_preferred_language(
    eastern: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explaining, "MAX_S", 60)  # on a busy machine, the last hits have none
    for hit in Searcher.open(eastern).search("RAID LVM", language="ja", explain=True).hits:
        told = hit.explanation or {}
        popularity = told["popularity"]["weight"] * told["popularity"]["value"]
        assert hit.score == pytest.approx(told["words"]["value"] + popularity)


def test_pages_of_results_are_one_list_where_some_pages_are_preferred(eastern: Workspace) -> None:
    searcher = Searcher.open(eastern)
    whole = searcher.search("RAID LVM", language="zh", limit=15).hits
    parts = [searcher.search("RAID LVM", n, 4, language="zh").hits for n in range(0, 15, 4)]
    assert [hit.url for part in parts for hit in part] == [hit.url for hit in whole]


def test_scores_of_a_single_language_do_not_depend_on_that_of_the_user(tmp_path: Path) -> None:
    work = crawl(tmp_path)
    put_index(work, [page for page in pages() if page["language"] == "en"])
    searcher = Searcher.open(work)
    assert searcher.search("install printer", language="en").hits == (
        searcher.search("install printer").hits
    )


def test_a_query_between_the_steps_of_another_does_not_change_its_scores(work: Workspace) -> None:
    plans = Searcher.open(work).node._plans
    first, other = (Find(parse(text), 10) for text in ("install printer", "mail"))
    plans.plan_for(0, first)
    more = plans.score_bonus(0, first)
    plans.plan_for(0, other)
    assert plans.score_bonus(0, first) == more > 0


def test_a_rare_form_counts_though_its_stem_is_frequent_in_another_language(tmp_path: Path) -> None:
    """In French, `telas` has the stem of `telle`, so most pages have it in some form."""
    work = crawl(tmp_path)
    french = [
        {
            "url": f"http://fr.example/{number}",
            "title": f"Chapitre {number}",
            "text": f"une telle directive, de telle manière que telles pages {number}",
            "language": "fr",
        }
        for number in range(60)
    ]
    turkish = [
        {
            "url": f"http://tr.example/{number}",
            "title": f"Bölüm {number}",
            "text": "bir takım geçici telaş sorunlarına" if number == 7 else f"başka {number}",
            "language": "tr",
        }
        for number in range(20)
    ]
    put_index(work, [*french, *turkish])
    assert Searcher.open(work).search("telaş").hits[0].url == "http://tr.example/7"


def test_the_snippet_of_the_only_page_of_a_language_shows_the_rarest_word(tmp_path: Path) -> None:
    """Of a site's pages, all have `scala`, but few `product`. This one is taken for French."""
    work = crawl(tmp_path)
    english = [
        {
            "url": f"http://scala.example/{number}",
            "title": "Scala",
            "text": "The scala library, in English",
            "language": "en",
        }
        for number in range(60)
    ]
    names = " ".join(f"scala library name{number}" for number in range(60))
    index = {
        "url": "http://scala.example/index",
        "title": "index",
        "text": f"{names} {'. ' * 100} product22 {'. ' * 100} {names}",
        "language": "fr",
    }
    put_index(work, [*english, index])
    hits = Searcher.open(work).search("scala library product22", limit=100).hits
    (snippet,) = [hit.snippet for hit in hits if hit.url == index["url"]]
    assert "<b>product22</b>" in snippet


def test_a_single_page_of_a_language_does_not_make_words_common(tmp_path: Path) -> None:
    """It has all words of the query, so the query may be in its language."""
    topics = ("tabulation", "conversion", "caractere", "programme")
    pages = [
        {
            "url": f"http://fr.example/{number}",
            "title": f"Page {number}",
            "text": f"Comment faire une {topics[number % 4]} avec cette commande, partie {number}",
            "language": "fr",
        }
        for number in range(80)
    ]
    scores = {}
    for name, language in (("alone", "fr"), ("beside", "en")):
        work = crawl(tmp_path / name)
        page = {"url": "http://one.example/", "title": "All", "text": " ".join(topics)}
        put_index(work, [*pages, page | {"language": language}])
        hits = Searcher.open(work).search("tabulation conversion").hits
        scores[name] = max(hit.score for hit in hits if hit.host == "fr.example")
    assert scores["beside"] > 0.6 * scores["alone"]


def test_a_word_is_found_on_pages_of_another_language_by_its_own_stem(tmp_path: Path) -> None:
    """Words are not stemmed in Chinese, but the page quotes one without its English ending."""
    work = crawl(tmp_path)
    english = [
        {
            "url": f"http://en.example/{number}",
            "title": f"Chapter {number}",
            "text": f"The previews of the fonts are shown in lists, part {number}",
            "language": "en",
        }
        for number in range(6)
    ]
    chinese = [
        {
            "url": f"http://zh.example/{word}",
            "title": "檢視",
            "text": f"在此指定檢視選項 {word} previews",
            "language": "zh",
        }
        for word in ("font", "icon")
    ]
    put_index(work, [*english, *chinese])
    query = "previews of the fonts"
    scores = {hit.url: hit.score for hit in Searcher.open(work).search(query).hits}
    assert scores["http://zh.example/font"] > scores["http://zh.example/icon"]
    nodes = [Searcher.open(work, shards=[shard]).node for shard in (1, 2)]
    together = {hit.url: hit.score for hit in asked(work, nodes, Question(query)).hits}
    assert together["http://zh.example/font"] > together["http://zh.example/icon"]
