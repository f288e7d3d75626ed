"""A query may be a paragraph, of which the most telling words are searched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gossamer.search.interpretation import MAX_UNITS
from gossamer.search.query import MAX_PASSAGE, MAX_WORDS, is_passage, parse, wanted_words
from gossamer.search.query_text import MAX_QUERY_CHARS
from gossamer.search.searcher import Searcher
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from pathlib import Path

PAGES = 40
NUMBERS = range(MAX_UNITS + 10)
COMMON = " ".join(f"common{number}" for number in NUMBERS)
"""Words that every other page has."""
UNKNOWN = " ".join(f"unknown{number}" for number in NUMBERS)


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    work = crawl(tmp_path_factory.mktemp("crawl"))
    pages: list[dict[str, Any]] = [
        {"url": f"http://{number}.example/", "text": COMMON if number % 2 else "filler"}
        for number in range(PAGES)
    ]
    pages[4] |= {"title": "Lighthouse", "text": "the lighthouse keeper"}
    pages[6]["text"] = "a keeper of bees"
    pages[8]["text"] = "written as -> in code"
    put_index(work, pages, shards=1)
    return Searcher.open(work)


def urls(searcher: Searcher, query: str) -> list[str]:
    return [hit.url for hit in searcher.search(query).hits]


@pytest.mark.parametrize("before", [COMMON, UNKNOWN])
def test_telling_words_at_its_end_are_searched(searcher: Searcher, before: str) -> None:
    hits = searcher.search(f"{before} keeper lighthouse", limit=PAGES).hits
    found = [hit.url for hit in hits if hit.url in ("http://4.example/", "http://6.example/")]
    assert found == ["http://4.example/", "http://6.example/"]


def test_a_word_that_it_repeats_weighs_more(searcher: Searcher) -> None:
    assert (
        urls(searcher, f"{UNKNOWN} bees lighthouse keeper" + " bees" * 5)[0] == "http://6.example/"
    )
    assert urls(searcher, f"{UNKNOWN} bees lighthouse keeper")[0] == "http://4.example/"


def test_pages_need_not_have_all_of_it_nor_its_symbols(searcher: Searcher) -> None:
    found = searcher.search(f"{UNKNOWN} -> keeper lighthouse")
    assert [hit.url for hit in found.hits[:2]] == ["http://4.example/", "http://6.example/"]
    assert all(hit.partial for hit in found.hits)
    assert found.whole == 0


def test_it_is_not_corrected(searcher: Searcher) -> None:
    assert searcher.search("lighthoude").corrected == "lighthouse"
    found = searcher.search(f"lighthoude {UNKNOWN}")
    assert (found.corrected, found.suggestion) == (None, None)


@pytest.mark.parametrize("before", [COMMON, UNKNOWN])
def test_snippets_show_its_telling_words(searcher: Searcher, before: str) -> None:
    hits = searcher.search(f"{before} keeper lighthouse", limit=PAGES).hits
    (snippet,) = (hit.snippet for hit in hits if hit.url == "http://4.example/")
    assert snippet == "the <b>lighthouse</b> <b>keeper</b>"


@pytest.mark.parametrize("word", ["lighthouse ", '"lighthouse" ', '"lighthouse" "keeper" '])
def test_one_word_many_times_finds_it(searcher: Searcher, word: str) -> None:
    """In quotes, all are required."""
    assert urls(searcher, word * (MAX_UNITS + 1)) == ["http://4.example/"]


def test_its_filters_hold(searcher: Searcher) -> None:
    assert urls(searcher, f"site:6.example {UNKNOWN} keeper") == ["http://6.example/"]


def test_characters_without_spaces_are_a_passage_only_by_their_number(tmp_path: Path) -> None:
    run = "".join(chr(0x4E00 + 7 * number) for number in range(MAX_UNITS + 20))
    work = crawl(tmp_path)
    texts = [run, run[:20], run[-4:]]
    put_index(
        work,
        [{"url": f"http://{n}.example/", "text": text} for n, text in enumerate(texts)],
        shards=1,
    )
    found = Searcher.open(work).search(run)
    assert not is_passage(parse(run))
    assert found.hits[0].url == "http://0.example/"
    assert not found.hits[0].partial


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ("", MAX_PASSAGE),
        ("site:a.example ", MAX_PASSAGE - 1),
        ("-type:pdf ", MAX_WORDS - 1),
        ('"a phrase" ', MAX_PASSAGE),
        ("x OR y ", MAX_WORDS),
    ],
)
def test_how_many_words_are_read(before: str, words: int) -> None:
    text = before + " ".join(map(str, range(2 * MAX_PASSAGE)))
    tree = parse(text)
    assert len(wanted_words(tree)) == words
    assert is_passage(tree) is (words > MAX_WORDS)
    assert len(text) < MAX_QUERY_CHARS + MAX_PASSAGE


def test_many_filters_do_not_make_a_passage() -> None:
    assert len(wanted_words(parse("site:a.example " * (MAX_WORDS + 1) + "word " * 500))) == 0
