from __future__ import annotations

import re
import sys
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import functions as F

from gossamer import index
from gossamer.errors import StoreError
from gossamer.index import parts
from gossamer.index.format import layout, schema
from gossamer.index.format.analysis import OTHER, plain_analyzer
from gossamer.index.format.document_builder import build_document
from gossamer.index.format.layout import FIRST, part_key
from gossamer.index.format.page_keys import hash_prefix, host_bits, page_key
from gossamer.index.parts import ShardTask, WriterFeed, build_shard, group_by_index_part, part_size
from gossamer.search.searcher import Searcher
from gossamer.state.workspace import Workspace
from gossamer.storage import checksums
from gossamer.storage.store import File, Layer
from gossamer.storage.task_output import counts_of, layers_of
from gossamer.web.urls import host_of
from tests.support.earlier_states import returning
from tests.support.harvest_steps import run_index
from tests.support.rows import frame, put
from tests.support.small_index import PLAIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyspark.sql import DataFrame


def document(url: str, title: str, text: str = "words", **more: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "outcome": "parsed",
        "noindex": False,
        "digest": url,
        "fetched_ms": 0,
        "headings": [],
    }
    plain |= {"url": url, "host": host_of(url), "title": title, "main_text": text}
    return plain | more


def page(url: str, status: str = "fetched") -> dict[str, Any]:
    return {"url": url, "status": status}


def found(searcher: Searcher, query: str) -> list[str]:
    return [hit.url for hit in searcher.search(query, limit=100).hits]


def links(dst: str, *anchors: str) -> dict[str, Any]:
    sources = [{"src": f"http://z.example/{n}", "anchor": text} for n, text in enumerate(anchors)]
    return {"dst": dst, "count": len(anchors), "sources": sources}


ANCHORS = 3
LEFT_OUT = {
    "gone": page("http://left.example/gone", "gone"),
    "moved": page("http://left.example/moved", "redirected"),
    "hidden": page("http://left.example/hidden"),
    "image": page("http://left.example/image"),
    "late": page("http://left.example/late"),
    "kept": page("http://left.example/kept"),
}
EQUAL = [f"http://equal.example/{name}" for name in ("long", "b", "a")]
NO_DIGEST = [f"http://nodigest.example/{n}" for n in (1, 2)]
COPIED = [f"http://copied.example/{name}" for name in ("", "b", "cc", "gone", "other")]
TWO = ["http://two.example/", "http://two.example/b"]
LINES: dict[str, dict[str, Any]] = {
    "http://main.example/": {"main_text": "main", "boilerplate": "menu\nend"},
    "http://whole.example/": {"main_text": "whole\nwhole", "boilerplate": None},
    "http://blank.example/": {"main_text": "", "boilerplate": "blank"},
    "http://none.example/": {"main_text": None, "boilerplate": None},
}
FORTY = [f"http://forty.example/{n}" for n in range(40)]
SIXTY = [f"http://sixty.example/{n}" for n in range(60)]
"""50 pages of three languages, of which five go, five change and ten come."""
RANK = 0.005
COUNTS = {
    "indexed": 104,
    "dropped_status": 3,
    "dropped_unavailable": 1,
    "dropped_noindex": 2,
    "dropped_outcome": 1,
    "dropped_duplicate": 2 + 2 + 1,
}
SORTED = "sorted"


@pytest.fixture(scope="module")
def rooms() -> Iterator[list[str]]:
    """Crawls that made room, as those do that have more than 50 changes here, and what they sorted.

    Each file of documents has a pass of its own.
    """
    made: list[str] = []
    sort = Workspace.scratch_files

    def sorting(work: Workspace, rows: DataFrame, by: Sequence[str] = (), *given: Any) -> Any:
        made.extend([SORTED] * ("shard" in by))
        return sort(work, rows, by, *given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gossamer.index.task_rows.PASS_BYTES", 1)
        patch.setattr("gossamer.index.step.MANY_CHANGES", 50)
        patch.setattr(Workspace, "make_room", lambda work: made.append(work.root))
        patch.setattr(Workspace, "scratch_files", sorting)
        yield made


@pytest.fixture(scope="module")
def returned(new_work: Callable[[], Workspace], rooms: list[str]) -> Callable[[], Workspace]:
    """A crawl with an index, of hosts that each serve a test or two."""
    work = new_work()
    work.config = msgspec.structs.replace(
        work.config, index=msgspec.structs.replace(work.config.index, anchors=ANCHORS)
    )
    newest, linked, letters = (f"http://{name}.example/" for name in ("newest", "linked", "cafe"))
    copied = [document(url, "copied", text_hash=1) for url in COPIED]
    copied[3] |= {"noindex": True}
    copied[4] |= {"text_hash": 2}
    languages = ["en", "de", None]
    documents = [
        document(newest, "old apples"),
        document("http://left.example/gone", "left"),
        document("http://left.example/moved", "left"),
        document("http://left.example/unknown", "left"),
        document("http://left.example/hidden", "left", noindex=True),
        document("http://left.example/image", "left", outcome="unsupported"),
        document("http://left.example/late", "left", unavailable_after_ms=work.now_ms()),
        document("http://left.example/kept", "left", unavailable_after_ms=work.now_ms() + 1),
        *(document(url, "equal", digest="D") for url in EQUAL),
        *(document(url, "undigested", digest=None) for url in NO_DIGEST),
        document(linked, "title"),
        *copied,
        *(document(url, "twice", text_hash=3) for url in TWO),
        *(document(url, "", **texts) for url, texts in LINES.items()),
        *(document(url, f"number{n} both", language="fr") for n, url in enumerate(FORTY)),
        *(
            document(url, f"n{n} all", language=languages[n % 3])
            for n, url in enumerate(SIXTY[:50])
        ),
        document(letters, "caf\u0065\u0301"),
    ]
    few = [newest, linked, letters, *EQUAL, *NO_DIGEST, *COPIED, *TWO, *LINES]
    put(work, "pages", [*LEFT_OUT.values(), *map(page, [*few, *FORTY, *SIXTY[:50]])])
    put(work, "ranks", [{"url": url, "rank": RANK} for url in (*few, *FORTY, *SIXTY)])
    put(work, "documents", documents)
    put(work, "documents", [document(newest, "new pears", round=2)], round_=2)
    put(
        work,
        "inlinks",
        [
            links(linked, "", "wild orchard", "wide grove", "green meadow", "mown lawn"),
            links(COPIED[0], "", "own"),
            links(COPIED[1], "", "second"),
            links(COPIED[2], "", "third", "fourth"),
            links(COPIED[3], "noindex"),
        ],
    )
    run_index(work)
    assert rooms[0] == rooms[-1] == work.root, "before and after"
    assert set(rooms[1:-1]) == {SORTED}
    return returning(work)


@pytest.fixture
def first(returned: Callable[[], Workspace]) -> Workspace:
    """That crawl, which the test may change."""
    return returned()


@pytest.fixture(scope="module")
def searcher(returned: Callable[[], Workspace]) -> Searcher:
    return Searcher.open(returned())


class Later(NamedTuple):
    """That crawl after changes of several hosts."""

    counts: dict[str, int]
    searcher: Searcher
    rooms: int


@pytest.fixture(scope="module")
def later(returned: Callable[[], Workspace], rooms: list[str]) -> Later:
    work = returned()
    put(
        work,
        "pages",
        [*map(page, SIXTY[5:]), *(page(url, "gone") for url in (*SIXTY[:5], TWO[0]))],
        3,
    )
    changed = [document(url, f"m{n} all", round=3) for n, url in enumerate(SIXTY) if n % 10 == 9]
    new = [document(SIXTY[n], f"n{n} all", round=3) for n in range(50, 59)]
    put(work, "documents", [*changed, *new], 3)
    ranks = {row["url"]: row["rank"] for row in work.read("ranks").collect()}
    ranks |= {EQUAL[0]: 4 * RANK, EQUAL[1]: 2 * RANK}
    with work.step("test", 3) as draft:
        draft.replace["ranks"] = ()
    put(work, "ranks", [{"url": url, "rank": rank} for url, rank in ranks.items()])
    before = len(rooms)
    counts = run_index(work).counts
    return Later(counts, Searcher.open(work), rooms[before:].count(work.root))


def test_room_is_not_made_for_few_changes(later: Later) -> None:
    assert later.rooms == 0


def test_a_page_is_found_as_its_newest_document_says(searcher: Searcher) -> None:
    assert found(searcher, "pears") == ["http://newest.example/"]
    assert found(searcher, "apples") == []


def test_every_page_left_out_is_counted_by_reason(first: Workspace, searcher: Searcher) -> None:
    counts = first.store.manifest.history[-1].counts
    assert counts == COUNTS | {"added": COUNTS["indexed"]}
    assert found(searcher, "left") == ["http://left.example/kept"]


def test_of_equal_bodies_the_best_ranked_then_the_shortest_url_stays(
    searcher: Searcher, later: Later
) -> None:
    assert found(searcher, "equal") == [EQUAL[2]]
    assert found(later.searcher, "equal") == [EQUAL[0]]


def test_bodies_without_a_digest_are_not_equal(searcher: Searcher) -> None:
    assert sorted(found(searcher, "undigested")) == NO_DIGEST


def test_a_page_is_found_by_the_words_of_those_who_link_to_it(searcher: Searcher) -> None:
    assert found(searcher, "meadow") == ["http://linked.example/"]
    assert found(searcher, "lawn") == []  # beyond index.anchors


def test_a_page_is_found_by_links_to_others_with_its_text(searcher: Searcher) -> None:
    for word in ("own", "second", "third"):
        assert found(searcher, word) == [COPIED[0]]
    assert found(searcher, "fourth") == []  # beyond index.anchors
    assert found(searcher, "noindex") == []


def test_when_a_page_is_gone_the_next_with_its_text_takes_its_place(
    searcher: Searcher, later: Later
) -> None:
    assert found(searcher, "twice") == TWO[:1]
    assert found(later.searcher, "twice") == TWO[1:]


@pytest.mark.folder
def test_main_text_and_the_lines_around_it_are_told_apart(first: Workspace) -> None:
    folders = {Path(first.root, path).parent for path in files_of(first)}
    searchers = [schema.open_index(folder).searcher() for folder in folders]
    present = {
        (field, word)
        for field in ("text", "boilerplate")
        for word in ("menu", "main", "end", "whole", "blank")
        if any(searcher.doc_freq(field, word) for searcher in searchers)
    }
    assert present == {
        ("text", "main"),
        ("text", "whole"),
        ("text", "blank"),
        ("boilerplate", "menu"),
        ("boilerplate", "end"),
    }


def test_decomposed_letters_are_found_by_composed_ones(searcher: Searcher) -> None:
    assert found(searcher, "caf\u00e9") == ["http://cafe.example/"]
    assert found(searcher, "caf\u0065\u0301") == ["http://cafe.example/"]


def test_shards_hold_all_pages_once_and_scratch_is_gone(
    first: Workspace, searcher: Searcher
) -> None:
    (layer,) = first.store.manifest.layers("index")
    metas = [file for file in layer.files if file.path.endswith("meta.json")]
    parts = group_by_index_part(metas)
    languages = ("de", "en", "fr", OTHER)
    shards = range(1, first.config.index.shards + 1)
    assert {*parts} == {(shard, language) for shard in shards for language in languages}
    assert len(metas) == len(parts)
    assert all(file.rows for file in metas)
    assert layer.rows == COUNTS["indexed"] == searcher.pages
    assert searcher.search("both").total == 40
    assert found(searcher, "number17") == [FORTY[17]]
    assert not [path for path, _ in first.store.backend.sizes("scratch")]


def test_a_new_index_replaces_the_old(first: Workspace) -> None:
    urls = {row["url"] for row in first.read("documents").collect()}
    put(first, "pages", [page(url, "gone") for url in urls])
    assert run_index(first).counts == {"dropped_status": len(urls), "removed": COUNTS["indexed"]}
    assert first.store.manifest.layers("index") == ()


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
        index.run(work)


def files_of(work: Workspace) -> set[str]:
    return {file.path for layer in work.store.manifest.layers("index") for file in layer.files}


def test_what_did_not_change_is_not_written_again(first: Workspace) -> None:
    before = files_of(first)
    assert run_index(first).counts == COUNTS
    assert files_of(first) == before

    contents = {path: first.store.backend.read(path) for path in before}
    searcher = Searcher.open(first)
    put(first, "documents", [document(FORTY[7], "changed both", language="fr", round=3)], 3)
    assert run_index(first).counts == COUNTS | {"replaced": 1}
    (part,) = {part_key(path) for path in before - files_of(first)}
    assert part in {(1, "fr"), (2, "fr")}, "the other parts are as they were"
    now = Searcher.open(first)
    assert found(now, "changed") == [FORTY[7]]
    assert found(now, "number7") == []
    assert now.search("both").total == 40

    # The index before is as it was, too: files of both states are links to the same bytes.
    assert contents == {path: first.store.backend.read(path) for path in before}
    assert found(searcher, "number7") == [FORTY[7]]


def test_an_updated_index_equals_a_rebuilt_one(later: Later) -> None:
    totals = {name: later.counts[name] for name in ("indexed", "added", "replaced", "removed")}
    assert totals == {
        "indexed": COUNTS["indexed"] + 5,
        "added": 10 + 2,  # EQUAL[0] and TWO[1] take the place of others
        "replaced": 5,
        "removed": 5 + 2,
    }
    searcher = later.searcher
    assert searcher.search("all").total == 55
    assert searcher.pages == COUNTS["indexed"] + 5
    for number, url in enumerate(SIXTY):
        word = "m" if number % 10 == 9 else "n"
        assert found(searcher, f"{word}{number}") == ([url] if number >= 5 else [])
    assert found(searcher, "m0") == []


def test_a_part_with_many_deleted_documents_is_rewritten(first: Workspace) -> None:
    """Both parts in French, which hold the pages of forty.example and no others."""
    changed = [document(url, "renewed", language="fr", round=3) for url in FORTY[:30]]
    put(first, "documents", changed, 3)
    assert run_index(first).counts == COUNTS | {"replaced": 30, "renewed": 10}
    for (_, language), part in group_by_index_part(first.store.files("index")).items():
        assert part_size(first.root, part).dead == 0, language
    searcher = Searcher.open(first)
    assert searcher.search("both", limit=100).total == 10
    assert searcher.search("renewed", limit=100).total == 30


def test_what_was_parsed_again_is_written_again(first: Workspace) -> None:
    again = first.read("documents").withColumn("title", F.lit("parsed anew"))
    with first.step("test", 2) as draft:
        draft.replace["documents"] = (first.write(again, "documents", 2),)
    counts = run_index(first).counts
    assert counts["replaced"] == counts["indexed"] == COUNTS["indexed"]
    assert Searcher.open(first).search("anew").total == COUNTS["indexed"]


def test_an_index_of_another_format_is_rebuilt(
    first: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files_of(first)
    monkeypatch.setattr(layout, "_SHARD", re.compile("of another format"))
    assert index.run(first).counts == COUNTS | {"added": COUNTS["indexed"]}
    assert not files_of(first) & before


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
    assert len(base["en"]) == 7, "the files of one segment, and META"


@pytest.mark.folder
def test_what_tantivy_manages_is_its_own_list(work: Workspace) -> None:
    """Older versions have kept it, so parts may have it."""
    row = {**PLAIN, "host": "a.example", "index_language": "en", "adds": True}
    path = Path(work.root, "rows.parquet")
    pq.write_table(pa.Table.from_pylist([row | {"url": "http://a.example/"}]), path)
    shard = ShardTask(work.root, 1, 0, (path.name,), 1, {}, "index/1", 16_000_000)
    files = layers_of(build_shard(shard), 1)["index"].files
    kept = Path(work.root, files[0].path).with_name(schema.MANAGED)
    kept.write_text('["older"]')
    old = File(kept.relative_to(work.root).as_posix(), 0, 9, checksums.checksum_file(kept))
    again = replace(shard, base={"en": (*files, old)})
    made = layers_of(build_shard(again), 1)["index"].files
    assert schema.MANAGED not in {Path(file.path).name for file in made}
    assert kept.read_text() == '["older"]'


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
        ("Debian 計畫", ["debian", "计", "划"]),
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


def test_static_ranks_decide_about_the_first_tier(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The most popular pages are a shard of their own."""
    # The package has a function of the module's name.
    monkeypatch.setattr(sys.modules["gossamer.index.indexed_rows"], "MIN_TIERED", 20)
    urls = [f"http://a.example/{number:02}" for number in range(20)]
    put(work, "pages", [page(url) for url in urls])
    put(work, "documents", [document(url, url) for url in urls])
    known = {url: (n + 1) / 210 for n, url in enumerate(urls)}
    rows = [{"url": url, "rank": rank} for url, rank in known.items()]
    put(work, "ranks", [*rows, {"url": "http://a.example/unfetched", "rank": 0.5}])
    run_index(work)
    assert popular(work) == set(urls[-2:])
    # Those of indexed pages, over their mean.
    held = {row["url"]: row["static_rank"] for row in work.read("indexed").collect()}
    assert held == pytest.approx({url: rank * 20 for url, rank in known.items()})

    ranks = {urls[-1]: 0.01, urls[-2]: 0.08, urls[0]: 0.2}  # falls, falls a little, rises
    moved = [{"url": url, "rank": rank} for url, rank in (known | ranks).items()]
    with work.step("test", 1) as draft:
        draft.replace["ranks"] = (work.write(frame(work, "ranks", moved), "ranks", 1),)
    run_index(work)
    assert popular(work) == {urls[0], urls[-3], urls[-2]}
    assert len(found(Searcher.open(work), "example")) == 20


def popular(work: Workspace) -> set[str]:
    """The pages of the first tier."""
    rows = work.read("indexed").where(f"shard = {FIRST}").select("url").collect()
    return {row["url"] for row in rows}
