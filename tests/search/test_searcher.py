from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import tantivy
from hypothesis import given
from hypothesis import strategies as st

from gossamer.config import RankingConfig
from gossamer.errors import MissingFile, StoreError
from gossamer.index.format import schema
from gossamer.search.broker import MAX_RESULTS
from gossamer.search.messages import REORDERED
from gossamer.search.node import Node
from gossamer.search.searcher import Searcher
from gossamer.serve.dispatch.reloader import LOOK_S, OpenIndex
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

SHELF: list[dict[str, Any]] = [
    {"url": "http://a.example/apples", "title": "Apples", "text": "red green fruit"},
    {"url": "http://a.example/pears", "title": "Pears and apples", "text": "green fruit"},
    {"url": "http://b.example/tomato", "title": "Tomatoes", "text": "red fruit, a vegetable"},
    {"url": "http://b.example/carrot", "title": "Carrots", "text": "an orange vegetable"},
    {"url": "http://c.example/ja", "title": "第2章 Debian パッケージ管理", "text": "日本語の文書"},
    {"url": "http://c.example/zh", "title": "软件包的管理", "text": "中文文档"},
    {"url": "http://c.example/th", "title": "คู่มือผู้ดูแลระบบ", "text": "ภาษาไทย"},
    {"url": "http://c.example/not", "title": "To be OR NOT to be", "text": "a -question"},
]


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    work = crawl(tmp_path_factory.mktemp("crawl"))
    put_index(work, SHELF)
    return Searcher.open(work)


def found(searcher: Searcher, query: str) -> set[str]:
    hits = searcher.search(query).hits
    return {hit.url.rpartition("/")[2] for hit in hits if not hit.partial}


@pytest.mark.parametrize(
    ("query", "pages"),
    [
        ("red fruit", {"apples", "tomato"}),
        ("RED Fruit", {"apples", "tomato"}),
        ("red AND fruit", {"apples", "tomato"}),
        ("red OR orange", {"apples", "tomato", "carrot"}),
        ("fruit -red", {"pears"}),
        ("fruit NOT red", {"pears"}),
        ("vegetable (red OR orange)", {"tomato", "carrot"}),
        ('"green fruit"', {"apples", "pears"}),
        ('"red fruit"', {"tomato"}),
        ('fruit -"red fruit"', {"apples", "pears"}),
        ("b.example", {"tomato", "carrot"}),
        ("パッケージ", {"ja"}),
        ("管理", {"ja", "zh"}),
        ("ภาษา", {"th"}),
        ("pears and -apples", set()),
        ("-red", {"apples", "tomato"}),
        ("NOT red", set()),
        ('-"red"', set()),
        ("", set()),
        ("?!", set()),
    ],
)
def test_query_language(searcher: Searcher, query: str, pages: set[str]) -> None:
    assert found(searcher, query) == pages


@pytest.mark.parametrize("document", SHELF, ids=lambda document: document["url"])
def test_a_page_is_found_first_by_its_title(searcher: Searcher, document: dict[str, Any]) -> None:
    for title in (document["title"], document["title"].lower(), f'"{document["title"]}"'):
        assert searcher.search(title).hits[0].url == document["url"]


def test_where_few_pages_have_all_words_those_with_some_follow(searcher: Searcher) -> None:
    results = searcher.search("orange vegetable spaceship")
    assert results.relaxed
    assert results.whole == 0
    assert results.hits[0].title == "Carrots"
    for query in ("an orange vegetable", "orange vegetable"):
        few = searcher.search(query)
        assert (few.whole, few.total, few.relaxed) == (1, 2, False)
        assert [(hit.title, hit.partial) for hit in few.hits] == [
            ("Carrots", False),
            ("Tomatoes", True),
        ]
    without = searcher.search("fruit vegetable spaceship -orange")
    assert without.hits[0].title == "Tomatoes"
    assert "Carrots" not in {hit.title for hit in without.hits}
    nothing = searcher.search("spaceship")
    assert (nothing.total, nothing.relaxed) == (0, False)


@pytest.mark.parametrize("query", ["red AND orange", '"fruit red"', "red AND (fruit orange)"])
def test_who_says_what_a_page_must_have_gets_no_other(searcher: Searcher, query: str) -> None:
    assert searcher.search(query).total == 0


def test_popularity_decides_between_equals(tmp_path: Path) -> None:
    work = crawl(tmp_path)
    ranks = {"a": 0.01, "b": 0.9, "c": None}
    put_index(
        work,
        [{"url": f"http://{n}.example/", "title": "same", "rank": r} for n, r in ranks.items()],
        shards=1,
    )
    hits = Searcher.open(work).search("same").hits
    assert [hit.host for hit in hits] == ["b.example", "a.example", "c.example"]
    assert [hit.rank for hit in hits] == [0.9, 0.01, None]
    assert hits[0].score > hits[1].score > hits[2].score


def test_pages_of_results_are_disjoint_and_end_at_the_limit(tmp_path: Path) -> None:
    work = crawl(tmp_path)
    count = MAX_RESULTS + 50
    put_index(work, [{"url": f"http://a.example/{n}", "title": "same"} for n in range(count)])
    searcher = Searcher.open(work)
    first, second = searcher.search("same", 0, 10), searcher.search("same", 10, 10)
    assert first.total == count
    assert not {hit.url for hit in first.hits} & {hit.url for hit in second.hits}
    assert len(searcher.search("same", MAX_RESULTS - 5, 10).hits) == 5
    assert searcher.search("same", MAX_RESULTS, 10).hits == []


def test_a_query_of_many_words_is_fast(searcher: Searcher) -> None:
    started = time.process_time()
    searcher.search("管理" * 10_000 + " word" * 10_000)
    searcher.search("(" * 10_000)
    searcher.search("a OR " * 10_000)
    assert time.process_time() - started < 2


@given(st.text(max_size=60))
def test_any_query_is_answered(searcher: Searcher, query: str) -> None:
    searcher.search(query)


@given(st.lists(st.sampled_from(['"', "(", ")", "-", "OR", "red", "管理", "NOT", " ", "\0"])))
def test_any_query_of_signs_is_answered(searcher: Searcher, parts: list[str]) -> None:
    searcher.search("".join(parts))


def test_a_lone_surrogate_is_no_error(searcher: Searcher) -> None:
    assert searcher.search("red \ud800 fruit").whole == 2


def test_an_opened_index_survives_its_files(tmp_path: Path) -> None:
    work = crawl(tmp_path)
    put_index(work, SHELF)
    searcher = Searcher.open(work)
    shutil.rmtree(tmp_path / "index")
    assert found(searcher, "red fruit") == {"apples", "tomato"}


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_a_new_index_is_seen_within_a_second(tmp_path: Path) -> None:
    work, clock = crawl(tmp_path), Clock()
    live = OpenIndex(work, clock)
    assert live.searcher() is None

    put_index(other(work), SHELF)
    assert live.searcher() is None
    clock.now_s += LOOK_S
    first = live.searcher()
    assert first is not None
    assert first.pages == len(SHELF)

    put_index(other(work), SHELF[:1])
    assert live.searcher() is first
    clock.now_s += LOOK_S
    second = live.searcher()
    assert second is not None
    assert second.pages == 1
    clock.now_s += LOOK_S
    assert live.searcher() is second


def test_a_broken_index_does_not_replace_a_whole_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    work, clock = crawl(tmp_path), Clock()
    put_index(work, SHELF)
    live = OpenIndex(work, clock)
    whole = live.searcher()
    assert whole is not None

    put_index(other(work), SHELF[:1])
    for file in work.store.refresh().layers("index")[0].files:
        Path(work.root, file.path).unlink()
    clock.now_s += LOOK_S
    assert live.searcher() is whole
    assert "this file, but it is gone" in caplog.text
    with pytest.raises(MissingFile):
        OpenIndex(work, clock).searcher()


def other(work: Workspace) -> Workspace:
    """The same crawl, as another process has it open."""
    return type(work).open(work.root)


def test_an_index_of_another_version_is_told(tmp_path: Path) -> None:
    tantivy.Index(tantivy.SchemaBuilder().add_text_field("title").build(), str(tmp_path))
    with pytest.raises(StoreError, match="another version") as told:
        Node([tmp_path], RankingConfig())
    assert told.value.subject == str(tmp_path)
    assert told.value.remedy == "build it again: gossamer index"


def test_nothing_is_written_beside_an_index_that_is_read(tmp_path: Path) -> None:
    """So it can be read where nothing can be written."""
    work = crawl(tmp_path)
    put_index(work, SHELF)
    before = {*Path(work.root).rglob("*")}
    assert found(Searcher.open(work), "vegetable") == {"tomato", "carrot"}
    assert {*Path(work.root).rglob("*")} == before


@pytest.mark.parametrize("shards", [(), (1,)], ids=["all", "one"])
def test_an_index_of_another_format_is_refused_with_its_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shards: tuple[int, ...]
) -> None:
    work = crawl(tmp_path)
    monkeypatch.setattr(schema, "FORMAT", schema.FORMAT - 1)
    put_index(work, SHELF, shards=2, first=1)
    with pytest.raises(StoreError, match="format of another version") as refused:
        Searcher.open(work, shards=shards)
    assert refused.value.remedy == f"build it again: gossamer index {work.root}"
    assert refused.value.subject.startswith(f"{work.root}/index/")


def test_the_order_is_the_same_whichever_part_is_asked_for(tmp_path: Path) -> None:
    work = crawl(tmp_path)
    count = REORDERED + 30
    put_index(
        work,
        [{"url": f"http://a.example/{n}", "title": "same", "rank": n / 1e4} for n in range(count)],
    )
    searcher = Searcher.open(work)
    whole = [hit.url for hit in searcher.search("same", 0, count).hits]
    parts = [hit.url for at in range(0, count, 10) for hit in searcher.search("same", at, 10).hits]
    assert parts == whole
    assert len(set(whole)) == count


def test_one_shard_and_eight_rank_alike(tmp_path: Path) -> None:
    words = ("red", "green", "apple", "pear", "fruit", "tree")
    pages = [
        {
            "url": f"http://{n % 9}.example/{n}",
            "title": f"{words[n % 6]} {words[n // 6 % 6]}",
            "text": " ".join(words[n * step % 6] for step in range(1 + n % 11)),
            "rank": (n * 7 % 80) / 4_000,
        }
        for n in range(80)
    ]
    told = []
    for shards in (1, 8):
        work = crawl(tmp_path / str(shards))
        put_index(work, pages, shards)
        searcher = Searcher.open(work)
        for query in (
            "red apple",
            "fruit",
            '"green pear"',
            "apple tree spaceship",
            "host:3.example",
        ):
            hits = searcher.search(query, limit=80).hits
            told.append([(hit.url, hit.score) for hit in hits])
    assert len(told[0]) > 1
    assert told[:5] == told[5:]
