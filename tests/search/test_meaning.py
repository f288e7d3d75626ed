"""Pages that are found by their meaning, among those that are found by their words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.config import RankingConfig
from gossamer.index.format.analysis import index_language_of
from gossamer.search.diversity import PlacedPage
from gossamer.search.meaning import (
    FOREIGN,
    MAX_PLACED,
    MUCH,
    OWN,
    SOME,
    add_near,
    fuse,
    judge,
    place_near,
    spoken_language,
    word_weight,
)
from gossamer.search.messages import Candidate, Neighbours, Question
from gossamer.search.page_info import PageInfo
from gossamer.search.searcher import IndexParts, Searcher
from gossamer.semantic.embedding import SegmentDraft
from gossamer.semantic.models import Model
from gossamer.semantic.nearest import Meanings
from gossamer.state.lookup import Lookup
from gossamer.web.urls import host_of
from tests.support.broker_nodes import asked
from tests.support.concept_encoder import ConceptEncoder
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from gossamer.state.workspace import Workspace


def placed(key: int, score: float = 0.0, near: float = 0.0, language: str = "") -> PlacedPage:
    page = Candidate(score, 0.0, key, None, (0, 0, key))
    return PlacedPage(0, page, True, score, score, near=near, language=language)


def keys(pages: Iterable[PlacedPage]) -> list[int]:
    return [each.page.key for each in pages]


def neighbours(
    *near: tuple[float, int, str], judged: Iterable[tuple[float, str]] = ()
) -> Neighbours:
    pages = [Candidate(value, 0.0, key, None, (0, 0, key)) for value, key, _ in near]
    return Neighbours("state", pages, [language for *_, language in near], [*judged])


def test_pages_of_all_nodes_are_placed_by_how_near_they_are() -> None:
    found = {
        0: neighbours((0.9, 5, "en"), (0.5, 1, "de")),
        1: neighbours((0.7, 2, "fr"), (0.5, 0, "en"), (0.9, 6, "")),
    }
    pages = place_near(found, partial=True)
    assert keys(pages) == [5, 6, 2, 0, 1]
    assert [each.node for each in pages] == [0, 1, 1, 1, 0]
    assert [each.language for each in pages] == ["en", "", "fr", "en", "de"]
    assert [(each.near, each.score, each.words) for each in pages[:1]] == [(0.9, 0.9, 0.0)]
    assert all(each.partial for each in pages)
    assert not any(each.partial for each in place_near(found, partial=False))
    many = {0: neighbours(*((0.5, key, "en") for key in range(MAX_PLACED + 1)))}
    assert keys(place_near(many, partial=True)) == list(range(MAX_PLACED))


def test_a_page_is_as_near_as_the_node_says_that_has_it() -> None:
    pages = [placed(1), placed(2), placed(3)]
    judge(
        pages,
        {
            0: neighbours(judged=[(0.4, "en"), (0.0, ""), (0.0, "")]),
            1: neighbours(judged=[(0.0, ""), (0.7, "de"), (-1.0, "fr")]),
        },
    )
    assert [(each.near, each.language) for each in pages] == [(0.4, "en"), (0.7, "de"), (0.0, "")]


def test_words_count_where_their_pages_mean_what_is_asked() -> None:
    near = [placed(1, near=0.8), placed(2, near=0.7)]
    alike = [placed(3, 9.0, 0.7), placed(4, 5.0, 0.7)]
    foreign = [placed(3, 9.0, 0.1), placed(4, 5.0, 0.1)]
    assert keys(fuse(alike, near, "")[0]) == [3, 4, 1, 2]
    assert keys(fuse(foreign, near, "")[0]) == [1, 2, 3, 4]


@pytest.mark.parametrize("is_one_host", [False, True])
def test_pages_with_all_words_stay_in_front(is_one_host: bool) -> None:
    whole = [msgspec.structs.replace(placed(n, 9.0), partial=False) for n in (1, 2)]
    some = [placed(3, 5.0, 0.7)]
    near = [placed(4, near=0.8)]
    found = add_near([whole[0], *some, whole[1]], near, "", "", is_one_host=is_one_host)
    assert keys(found)[:2] == [1, 2]
    assert {*keys(found)[2:]} == {3, 4}
    assert len(found) == 4


def test_words_count_less_on_pages_in_another_language_than_the_query() -> None:
    near = [placed(1, near=0.8, language="de"), placed(2, near=0.7, language="de")]
    words = [placed(3, 9.0, 0.6, "de"), placed(4, 5.0, 0.5, "de")]
    assert keys(fuse(words, near, "", "de")[0])[0] == 3
    assert keys(fuse(words, near, "")[0])[0] == 3
    assert keys(fuse(words, near, "", "en")[0]) == [3, 1, 2, 4]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How are the mirrors of an archive kept up to date?", "en"),
        ("Wie werden die Spiegel eines Archivs aktuell gehalten?", "de"),
        ("如何使档案的镜像保持最新？", "xx"),
        ("mirror", ""),
        ("", ""),
    ],
)
def test_the_language_of_a_query_may_be_unknown(text: str, language: str) -> None:
    assert spoken_language(text) == language


def test_a_page_that_both_find_comes_first() -> None:
    near = [placed(1, near=0.8), placed(2, near=0.7)]
    words = [placed(3, 9.0, 0.1), placed(2, 8.0, 0.7)]
    found, worth = fuse(words, near, "")
    assert keys(found)[0] == 2
    assert found[0].score == 8.0
    assert sorted(worth, reverse=True) == worth


def test_pages_in_the_language_of_the_user_are_preferred() -> None:
    near = [placed(1, near=0.80, language="en"), placed(2, near=0.78, language="de")]
    assert keys(fuse([], near, "de")[0]) == [2, 1]
    assert keys(fuse([], near, "fr")[0]) == [1, 2]


@given(st.lists(st.floats(0, 1), max_size=20))
def test_the_weight_of_words_is_bounded(similarities: list[float]) -> None:
    assert FOREIGN <= word_weight(similarities) <= OWN


def test_the_weight_of_words_grows_with_their_agreement() -> None:
    assert word_weight([SOME]) == FOREIGN
    assert word_weight([MUCH]) == OWN
    assert FOREIGN < word_weight([(SOME + MUCH) / 2]) < OWN


SHELF = {
    "http://a.example/1": ("de", "die katze schläft im haus"),
    "http://a.example/2": ("de", "der hund bewacht die brücke"),
    "http://b.example/3": ("fr", "le chat dort la maison"),
    "http://b.example/4": ("en", "the cat sleeps in a house"),
    "http://b.example/5": ("en", "one tree beside a bridge"),
}


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    made = crawl(tmp_path)
    put_shelf(made, SHELF)
    return made


def put_shelf(work: Workspace, shelf: Mapping[str, tuple[str, str]]) -> None:
    rows = [
        {"url": url, "title": "", "text": text, "language": language}
        for url, (language, text) in shelf.items()
    ]
    put_index(work, rows)


def opened(work: Workspace, shelf: Mapping[str, tuple[str, str]]) -> Searcher:
    """The searcher of an index of these pages, with their meanings."""
    searcher = Searcher.open(work)
    searcher.node.meanings = meanings(shelf)
    return Searcher(searcher.node, RankingConfig(), PageInfo(work, Lookup(work)))


def meanings(shelf: Mapping[str, tuple[str, str]]) -> Meanings:
    """The vectors of some pages."""
    model = Model(ConceptEncoder(), 4)
    drafts: dict[str, SegmentDraft] = {}
    for url, (language, text) in shelf.items():
        row = {"url": url, "host": host_of(url), "adds": True, "title": None, "main_text": text}
        drafts.setdefault(index_language_of(language), SegmentDraft(model, ())).add(row, 4)
    return Meanings(model, {key: [[draft.segment()]] for key, draft in drafts.items()})


Search = Callable[..., list[str]]


@pytest.fixture
def search(work: Workspace) -> Search:
    searcher = opened(work, SHELF)

    def found(query: str, **options: Any) -> list[str]:
        return [hit.url[-1] for hit in searcher.search(query, **options).hits]

    return found


def test_pages_in_other_languages_follow_those_with_all_words(search: Search) -> None:
    found = search("cat house")
    assert found[0] == "4"
    assert {*found[1:3]} == {"1", "3"}
    assert search("cat house", language="de")[:2] == ["4", "1"]
    assert search("cat house", language="fr")[:2] == ["4", "3"]


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_language_of_the_user_comes_first(tmp_path: Path, language: str) -> None:
    work = crawl(tmp_path)
    shelf = {
        "http://a.example/": ("en", "the cat is in a tree"),
        "http://b.example/": ("ja", "猫 が 木 の 上 に いる"),
    }
    put_shelf(work, shelf)
    hits = opened(work, shelf).search("katze baum", language=language).hits
    assert hits[0].language == language
    assert len(hits) == len(shelf)


def test_filters_apply(search: Search) -> None:
    assert search("cat house lang:de")[0] == "1"
    assert "3" not in search("cat house site:a.example")
    assert "1" not in search("cat house -site:a.example")
    assert search("cat house lang:it") == []


def test_whoever_asks_for_words_gets_words(search: Search) -> None:
    assert search('"cat sleeps"') == ["4"]
    assert search("cat AND house") == ["4"]
    assert search("cat house", by_date=True) == ["4"]


def test_results_are_the_same_page_by_page(search: Search) -> None:
    whole = search("katze brücke")
    assert len(whole) > 2
    assert [search("katze brücke", offset=at, limit=1)[0] for at in range(len(whole))] == whole
    assert search("katze brücke", offset=len(whole)) == []


def test_similar_pages_are_found_in_all_languages(search: Search) -> None:
    assert {*search("related:http://b.example/4")[:2]} == {"1", "3"}
    assert "4" not in search("related:http://b.example/4")


def test_the_explanation_says_how_similar_a_page_is(work: Workspace) -> None:
    searcher = Searcher.open(work)
    searcher.node.meanings = meanings(SHELF)
    searcher = Searcher(searcher.node, RankingConfig())
    first, second, *_ = searcher.search("cat house", explain=True).hits
    assert first.near is None
    assert first.explanation is not None
    assert first.explanation["words"]["value"] > 0
    assert second.near is not None
    assert second.explanation is not None
    assert second.explanation["meaning"]["similarity"] == pytest.approx(second.near, abs=0.001)


def test_several_nodes_answer_as_one(work: Workspace, search: Search) -> None:
    parts = IndexParts.from_manifest(work)
    nodes = []
    for shard in parts.shards:
        searcher = Searcher.open(work, shards=[shard])
        urls = list(SHELF)[0 if shard == 1 else 1 :: 2]  # as put_index deals them
        searcher.node.meanings = meanings({url: SHELF[url] for url in urls})
        nodes.append(searcher.node)
    assert len(nodes) == 2
    for query in ("cat house", "katze brücke", "related:http://b.example/4"):
        results = asked(work, nodes, Question(query), meanings=True)
        assert [hit.url[-1] for hit in results.hits] == search(query)


def test_a_node_without_vectors_answers_by_words(work: Workspace) -> None:
    node = Searcher.open(work).node
    results = asked(work, [node], Question("cat house"), meanings=True)
    assert [hit.url[-1] for hit in results.hits] == ["4"]


def test_vectors_of_a_page_that_is_not_indexed_find_nothing(work: Workspace) -> None:
    put_index(work, [{"url": "http://c.example/6", "text": "nothing", "language": "en"}])
    searcher = Searcher.open(work)
    searcher.node.meanings = meanings(SHELF)
    searcher = Searcher(searcher.node, RankingConfig())
    results = searcher.search("cat house")
    assert (results.total, results.hits) == (0, [])
