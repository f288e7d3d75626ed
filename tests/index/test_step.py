from __future__ import annotations

import re
import sys
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import StoreError
from gossamer.index import parts
from gossamer.index.format import layout, schema
from gossamer.index.format.analysis import plain_analyzer
from gossamer.index.format.document_builder import build_document
from gossamer.index.format.layout import FIRST
from gossamer.index.format.page_keys import hash_prefix, host_bits, page_key
from gossamer.index.parts import ShardTask, WriterFeed, build_shard, group_by_part, part_size
from gossamer.search.searcher import Searcher
from gossamer.storage import checksums
from gossamer.storage.store import File, Layer
from gossamer.storage.task_output import counts_of, layers_of
from gossamer.web.urls import host_of
from tests.support.harvest_steps import run_index
from tests.support.rows import frame, put
from tests.support.small_index import PLAIN

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace


def document(url: str, title: str, text: str = "words", **more: Any) -> dict[str, Any]:
    plain = {"outcome": "parsed", "noindex": False, "digest": url, "fetched_ms": 0, "headings": []}
    return plain | {"url": url, "title": title, "main_text": text} | more


def page(url: str, status: str = "fetched") -> dict[str, Any]:
    return {"url": url, "status": status}


def indexed(work: Workspace, query: str) -> list[str]:
    return [hit.url for hit in Searcher.open(work).search(query).hits]


def test_a_page_is_found_as_its_newest_document_says(work: Workspace) -> None:
    put(work, "pages", [page("http://a.example/")])
    put(work, "documents", [document("http://a.example/", "old apples")])
    put(work, "documents", [document("http://a.example/", "new pears", round=2)], round_=2)

    assert run_index(work).counts == {"indexed": 1, "added": 1}
    assert indexed(work, "pears") == ["http://a.example/"]
    assert indexed(work, "apples") == []


def test_every_page_left_out_is_counted_by_reason(work: Workspace) -> None:
    left_out = {
        "gone": page("http://a.example/gone", "gone"),
        "moved": page("http://a.example/moved", "redirected"),
        "hidden": page("http://a.example/hidden"),
        "image": page("http://a.example/image"),
        "late": page("http://a.example/late"),
        "kept": page("http://a.example/kept"),
    }
    put(work, "pages", left_out.values())
    put(
        work,
        "documents",
        [
            document("http://a.example/gone", "words"),
            document("http://a.example/moved", "words"),
            document("http://a.example/unknown", "words"),
            document("http://a.example/hidden", "words", noindex=True),
            document("http://a.example/image", "words", outcome="unsupported"),
            document("http://a.example/late", "words", unavailable_after_ms=work.now_ms()),
            document("http://a.example/kept", "words", unavailable_after_ms=work.now_ms() + 1),
        ],
    )

    assert run_index(work).counts == {
        "indexed": 1,
        "added": 1,
        "dropped_status": 3,
        "dropped_unavailable": 1,
        "dropped_noindex": 1,
        "dropped_outcome": 1,
    }
    assert indexed(work, "words") == ["http://a.example/kept"]


def test_of_equal_bodies_the_best_ranked_then_the_shortest_url_stays(work: Workspace) -> None:
    urls = ["http://a.example/long", "http://a.example/b", "http://a.example/a"]
    put(work, "pages", map(page, urls))
    put(work, "documents", [document(url, "same", digest="D") for url in urls])
    assert run_index(work).counts == {"indexed": 1, "added": 1, "dropped_duplicate": 2}
    assert indexed(work, "same") == ["http://a.example/a"]

    ranks = {"http://a.example/long": 0.5, "http://a.example/b": 0.25}
    put(work, "ranks", [{"url": url, "rank": rank} for url, rank in ranks.items()])
    run_index(work)
    assert indexed(work, "same") == ["http://a.example/long"]


def test_bodies_without_a_digest_are_not_equal(work: Workspace) -> None:
    urls = ["http://a.example/1", "http://a.example/2"]
    put(work, "pages", map(page, urls))
    put(work, "documents", [document(url, "same", digest=None) for url in urls])
    assert run_index(work).counts == {"indexed": 2, "added": 2}


def test_a_page_is_found_by_the_words_of_those_who_link_to_it(work: Workspace) -> None:
    work.config = msgspec.structs.replace(
        work.config, index=msgspec.structs.replace(work.config.index, anchors=2)
    )
    put(work, "pages", [page("http://a.example/")])
    put(work, "documents", [document("http://a.example/", "title")])
    anchors = ["", "first orchard", "second grove", "third meadow"]
    sources = [{"src": f"http://b.example/{n}", "anchor": text} for n, text in enumerate(anchors)]
    put(work, "inlinks", [{"dst": "http://a.example/", "count": 4, "sources": sources}])

    run_index(work)
    assert indexed(work, "grove") == ["http://a.example/"]
    assert indexed(work, "meadow") == []  # beyond index.anchors


def test_a_page_is_found_by_links_to_others_with_its_text(work: Workspace) -> None:
    work.config = msgspec.structs.replace(
        work.config, index=msgspec.structs.replace(work.config.index, anchors=3)
    )
    urls = [f"http://a.example/{name}" for name in ("", "b", "cc", "gone", "other")]
    put(work, "pages", map(page, urls))
    same = [document(url, "title", text_hash=1) for url in urls]
    same[3] |= {"noindex": True}
    same[4] |= {"text_hash": 2}
    put(work, "documents", same)
    texts = {
        "": ["", "own"],
        "b": ["", "second"],
        "cc": ["", "third", "fourth"],
        "gone": ["noindex"],
    }
    put(
        work,
        "inlinks",
        [
            {
                "dst": f"http://a.example/{name}",
                "count": len(anchors),
                "sources": [
                    {"src": f"http://b.example/{n}", "anchor": text}
                    for n, text in enumerate(anchors)
                ],
            }
            for name, anchors in texts.items()
        ],
    )

    assert run_index(work).counts["dropped_duplicate"] == 2
    for word in ("own", "second", "third"):
        assert indexed(work, word) == ["http://a.example/"]
    assert indexed(work, "fourth") == []  # beyond index.anchors
    assert indexed(work, "noindex") == []


def test_when_a_page_is_gone_the_next_with_its_text_takes_its_place(work: Workspace) -> None:
    urls = ["http://a.example/", "http://a.example/b"]
    put(work, "pages", map(page, urls))
    put(work, "documents", [document(url, "same", text_hash=1) for url in urls])
    assert run_index(work).counts == {"indexed": 1, "added": 1, "dropped_duplicate": 1}
    assert indexed(work, "same") == urls[:1]

    put(work, "pages", [page(urls[0], "gone")])
    counts = {"indexed": 1, "added": 1, "removed": 1, "dropped_status": 1}
    assert run_index(work).counts == counts
    assert indexed(work, "same") == urls[1:]


@pytest.mark.folder
def test_main_text_and_the_lines_around_it_are_told_apart(work: Workspace) -> None:
    shown: dict[str, dict[str, Any]] = {
        "http://main.example/": {"main_text": "main", "boilerplate": "menu\nend"},
        "http://whole.example/": {"main_text": "whole\nwhole", "boilerplate": None},
        "http://blank.example/": {"main_text": "", "boilerplate": "blank"},
        "http://none.example/": {"main_text": None, "boilerplate": None},
    }
    put(work, "pages", map(page, shown))
    put(
        work,
        "documents",
        [document(url, "", host=host_of(url), **texts) for url, texts in shown.items()],
    )
    run_index(work)

    folders = {Path(work.root, path).parent for path in files_of(work)}
    searchers = [schema.open_index(folder).searcher() for folder in folders]
    found = {
        (field, word)
        for field in ("text", "boilerplate")
        for word in ("menu", "main", "end", "whole", "blank")
        if any(searcher.doc_freq(field, word) for searcher in searchers)
    }
    assert found == {
        ("text", "main"),
        ("text", "whole"),
        ("text", "blank"),
        ("boilerplate", "menu"),
        ("boilerplate", "end"),
    }


@pytest.mark.folder
def test_documents_of_an_older_version_are_refused(work: Workspace) -> None:
    put(work, "pages", [page("http://a.example/")])
    put(work, "documents", [document("http://a.example/", "title")])
    path = work.store.attempt("documents") + "/old.parquet"
    Path(work.root, path).parent.mkdir(parents=True)
    pq.write_table(
        pq.read_table(work.paths("documents")[0]).drop_columns("boilerplate"), Path(work.root, path)
    )
    size, xxh3 = Path(work.root, path).stat().st_size, work.store.backend.checksum(path)
    with work.step("test", 1) as draft:
        draft.replace["documents"] = (Layer(1, (File(path, 1, size, xxh3),)),)

    with pytest.raises(StoreError, match=r"(?s)old\.parquet.*older version.*gossamer reparse"):
        run_index(work)


def test_shards_hold_all_pages_once_and_scratch_is_gone(work: Workspace, tmp_path: Path) -> None:
    urls = [f"http://a.example/{number}" for number in range(40)]
    put(work, "pages", map(page, urls))
    put(work, "documents", [document(url, f"number{n} both") for n, url in enumerate(urls)])
    run_index(work)

    (layer,) = work.store.manifest.layers("index")
    metas = [file for file in layer.files if file.path.endswith("meta.json")]
    assert len(metas) == work.config.index.shards
    assert all(file.rows for file in metas)
    assert layer.rows == 40
    assert Searcher.open(work).search("both").total == 40
    assert indexed(work, "number17") == ["http://a.example/17"]
    assert not list((tmp_path / "crawl").glob("scratch/**/*.parquet"))


def test_a_new_index_replaces_the_old(work: Workspace) -> None:
    put(work, "pages", [page("http://a.example/")])
    put(work, "documents", [document("http://a.example/", "words")])
    run_index(work)
    put(work, "pages", [page("http://a.example/", "gone")])
    assert run_index(work).counts == {"dropped_status": 1, "removed": 1}
    assert work.store.manifest.layers("index") == ()


def test_the_same_rows_give_the_same_shard(work: Workspace) -> None:
    urls = [f"http://a.example/{number}" for number in range(20)]
    put(work, "pages", map(page, urls))
    put(work, "documents", [document(url, "same words") for url in urls])
    run_index(work)
    first = indexed(work, "words")
    run_index(work)
    assert indexed(work, "words") == first


def files_of(work: Workspace) -> set[str]:
    return {file.path for layer in work.store.manifest.layers("index") for file in layer.files}


def test_what_did_not_change_is_not_written_again(work: Workspace) -> None:
    urls = [f"http://a.example/{number}" for number in range(40)]
    put(work, "pages", map(page, urls))
    put(work, "documents", [document(url, f"number{n} both") for n, url in enumerate(urls)])
    assert run_index(work).counts == {"indexed": 40, "added": 40}
    before = files_of(work)
    assert run_index(work).counts == {"indexed": 40}
    assert files_of(work) == before

    put(work, "documents", [document(urls[7], "changed both", round=2)], round_=2)
    assert run_index(work).counts == {"indexed": 40, "replaced": 1}
    assert files_of(work) & before, "the other shard is as it was"
    assert indexed(work, "changed") == [urls[7]]
    assert indexed(work, "number7") == []
    assert Searcher.open(work).search("both").total == 40


@pytest.mark.folder
def test_the_index_before_is_left_as_it_was(work: Workspace) -> None:
    """Files of both states are links to the same bytes."""
    urls = [f"http://a.example/{number}" for number in range(20)]
    put(work, "pages", map(page, urls))
    put(work, "documents", [document(url, "words") for url in urls])
    run_index(work)
    before = {path: Path(work.root, path).read_bytes() for path in files_of(work)}
    searcher = Searcher.open(work)
    put(work, "documents", [document(urls[0], "changed", round=2)], round_=2)
    run_index(work)
    assert before == {path: Path(work.root, path).read_bytes() for path in before}
    assert searcher.search("words", limit=100).total == 20


def test_an_updated_index_equals_a_rebuilt_one(work: Workspace) -> None:
    urls = [f"http://a.example/{number}" for number in range(60)]
    put(work, "pages", map(page, urls[:50]))
    languages = ["en", "de", None]
    put(
        work,
        "documents",
        [document(url, f"n{n} all", language=languages[n % 3]) for n, url in enumerate(urls[:50])],
    )
    run_index(work)
    put(work, "pages", [*map(page, urls[5:]), *(page(url, "gone") for url in urls[:5])])
    changed = [document(url, f"m{n} all", round=2) for n, url in enumerate(urls) if n % 10 == 9]
    new = [document(urls[n], f"n{n} all", round=2) for n in range(50, 59)]
    put(work, "documents", [*changed, *new], round_=2)
    counts = run_index(work).counts
    assert {name: counts[name] for name in ("indexed", "added", "replaced", "removed")} == {
        "indexed": 55,
        "added": 10,
        "replaced": 5,
        "removed": 5,
    }
    searcher = Searcher.open(work)
    assert searcher.search("all").total == searcher.pages == 55
    for number, url in enumerate(urls):
        word = "m" if number % 10 == 9 else "n"
        assert indexed(work, f"{word}{number}") == ([url] if number >= 5 else [])
        assert indexed(work, "m0") == []


def test_a_part_with_many_deleted_documents_is_rewritten(work: Workspace) -> None:
    urls = [f"http://a.example/{number}" for number in range(40)]
    put(work, "pages", map(page, urls))
    put(work, "documents", [document(url, "old words") for url in urls])
    run_index(work)
    put(work, "documents", [document(url, "new words", round=2) for url in urls[:20]], round_=2)
    assert run_index(work).counts == {"indexed": 40, "replaced": 20, "renewed": 20}
    for part in group_by_part(work.store.files("index")).values():
        assert part_size(work.root, part).dead == 0
    assert Searcher.open(work).search("old", limit=100).total == 20
    assert Searcher.open(work).search("new", limit=100).total == 20


def test_static_ranks_are_those_of_indexed_pages_over_their_mean(work: Workspace) -> None:
    """Pages that were not fetched have ranks, too."""
    urls = [f"http://a.example/{number}" for number in range(4)]
    put(work, "pages", map(page, urls[:2]))
    put(work, "documents", [document(url, "words") for url in urls[:2]])
    ranks = zip(urls, (0.1, 0.3, 0.4, 0.2), strict=True)
    put(work, "ranks", [{"url": url, "rank": rank} for url, rank in ranks])
    run_index(work)
    found = {row["url"]: row["static_rank"] for row in work.read("indexed").collect()}
    assert found == pytest.approx({urls[0]: 0.5, urls[1]: 1.5})


def test_a_page_whose_merit_moves_much_is_written_again(work: Workspace) -> None:
    urls = [f"http://a.example/{number}" for number in range(4)]
    put(work, "pages", map(page, urls))
    put(work, "documents", [document(url, "words") for url in urls])
    put(work, "ranks", [{"url": url, "rank": 0.25} for url in urls])
    run_index(work)
    moved = zip(urls, (0.15, 0.15, 0.55, 0.15), strict=True)
    ranks = frame(work, "ranks", [{"url": url, "rank": rank} for url, rank in moved])
    with work.step("test", 1) as draft:
        draft.replace["ranks"] = (work.write(ranks, "ranks", 1),)
    # Its part has two pages and is rewritten.
    assert run_index(work).counts == {"indexed": 4, "replaced": 1, "renewed": 1}
    assert indexed(work, "words")[0] == urls[2]


def test_what_was_parsed_again_is_written_again(work: Workspace) -> None:
    put(work, "pages", [page("http://a.example/")])
    put(work, "documents", [document("http://a.example/", "old title")])
    run_index(work)
    again = frame(work, "documents", [document("http://a.example/", "new title")])
    with work.step("test", 1) as draft:
        draft.replace["documents"] = (work.write(again, "documents", 1),)
    assert run_index(work).counts == {"indexed": 1, "replaced": 1}
    assert indexed(work, "new") == ["http://a.example/"]


def test_an_index_of_another_format_is_rebuilt(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(work, "pages", [page("http://a.example/")])
    put(work, "documents", [document("http://a.example/", "words")])
    run_index(work)
    before = files_of(work)
    monkeypatch.setattr(layout, "_SHARD", re.compile("of another format"))
    assert run_index(work).counts == {"indexed": 1, "added": 1}
    assert not files_of(work) & before


@pytest.mark.folder
def test_a_task_that_runs_twice_writes_two_folders(work: Workspace) -> None:
    rows = {
        **PLAIN,
        "url": "http://a.example/",
        "host": "a.example",
        "index_language": "en",
        "adds": True,
    }
    path = Path(work.root, "rows.parquet")
    pq.write_table(pa.Table.from_pylist([rows]), path)
    shard = ShardTask(work.root, 1, 0, ("rows.parquet",), 1, {}, "index/1", 16_000_000)
    first, again = list(build_shard(shard)), list(build_shard(shard))
    assert not {row["path"] for row in first if row["path"]} & {row["path"] for row in again}
    assert sum(int(row["rows"] or 0) for row in first) == 1


@pytest.mark.folder
def test_documents_that_are_written_again_are_counted(work: Workspace) -> None:
    """tantivy joins eight segments that are small."""
    row = {**PLAIN, "host": "a.example", "index_language": "en", "adds": True}
    base: dict[str, tuple[File, ...]] = {}
    merged = []
    for number in range(8):
        rows = [row | {"url": f"http://a.example/{number}{letter}"} for letter in "ab"]
        pq.write_table(pa.Table.from_pylist(rows), Path(work.root, "rows.parquet"))
        shard = ShardTask(work.root, 1, 0, ("rows.parquet",), 2, base, "index/1", 16_000_000)
        written = list(build_shard(shard))
        base = {"en": layers_of(written, 1)["index"].files}
        assert all(
            file.xxh3 == checksums.checksum_file(Path(work.root, file.path)) for file in base["en"]
        )
        merged.append(counts_of(written)["merged"])
    assert merged == [0] * 7 + [14]
    assert part_size(work.root, base["en"]) == (16, 0)


@pytest.mark.parametrize(("tick_s", "rests"), [(1.0, 3), (0.0, 0)])
def test_who_feeds_a_writer_rests_where_its_queue_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tick_s: float, rests: int
) -> None:
    monkeypatch.setattr(parts, "QUEUE", 2)
    folder = tmp_path / "en"
    folder.mkdir()
    made = schema.create(folder)
    writer = made.writer(16_000_000, 1)
    ticks, rested = count(step=tick_s), list[float]()
    feed = WriterFeed(writer, lambda: next(ticks), rested.append)
    for number in range(5):
        url = f"http://a.example/{number}"
        feed.add(build_document(PLAIN | {"url": url, "host": "a.example"}))
    writer.commit()
    made.reload()
    assert (feed.added, made.searcher().num_docs, rested) == (5, 5, [parts.REST_S] * rests)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("itertools.chain_from", ["itertools", "chain", "from"]),
        ("Ärger, Straße İstanbul", ["arger", "strasse", "istanbul"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("Debian 計畫", ["debian", "計", "畫"]),
        ("パッケージ", list("パッケージ")),
        ("데비안 관리자", ["데비안", "관리자"]),
        ("ＡＢＣ 3.11", ["abc", "3", "11"]),
        ("x" * 200 + " short", ["short"]),
        ("\0 -- ()", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert plain_analyzer().analyze(text) == words


@given(st.lists(st.text(min_size=1), min_size=2, max_size=2, unique=True), st.text())
def test_a_key_tells_pages_and_hosts_apart(urls: list[str], host: str) -> None:
    one, other = (page_key(url, host) for url in urls)
    assert one != other
    assert host_bits(one) == host_bits(other)
    assert max(one, other) < 1 << 63
    assert hash_prefix(one) == hash_prefix(page_key(urls[0], f"www.{host}"))
    assert len(hash_prefix(one)) == 6


def test_decomposed_letters_are_found_by_composed_ones(work: Workspace) -> None:
    put(work, "pages", [page("http://a.example/")])
    put(work, "documents", [document("http://a.example/", "caf\u0065\u0301")])
    run_index(work)
    assert indexed(work, "caf\u00e9") == ["http://a.example/"]
    assert indexed(work, "caf\u0065\u0301") == ["http://a.example/"]


def test_the_most_popular_pages_are_a_shard_of_their_own(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The package has a function of the module's name.
    monkeypatch.setattr(sys.modules["gossamer.index.indexed_rows"], "MIN_TIERED", 20)
    urls = [f"http://a.example/{number:02}" for number in range(20)]
    put(work, "pages", [page(url) for url in urls])
    put(work, "documents", [document(url, url) for url in urls])
    put(work, "ranks", [{"url": url, "rank": (n + 1) / 210} for n, url in enumerate(urls)])
    run_index(work)
    assert popular(work) == set(urls[-2:])

    ranks = {urls[-1]: 0.01, urls[-2]: 0.08, urls[0]: 0.2}  # falls, falls a little, rises
    moved = [{"url": url, "rank": ranks.get(url, (n + 1) / 210)} for n, url in enumerate(urls)]
    with work.step("test", 1) as draft:
        draft.replace["ranks"] = (work.write(frame(work, "ranks", moved), "ranks", 1),)
    run_index(work)
    assert popular(work) == {urls[0], urls[-3], urls[-2]}
    assert len(indexed(work, "example")) == 10


def popular(work: Workspace) -> set[str]:
    """The pages of the first tier."""
    rows = work.read("indexed").where(f"shard = {FIRST}").select("url").collect()
    return {row["url"] for row in rows}
