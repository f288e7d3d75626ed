"""The index that is partitioned by terms: the step, its files, its answers."""

from __future__ import annotations

import math
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import StoreError
from gossamer.index.format.analysis import plain_analyzer
from gossamer.index.postings import blocks, combiner
from gossamer.index.postings import step as postings
from gossamer.index.postings.blocks import Partition, PartitionWriter, partition_of
from gossamer.index.postings.combiner import Combiner, decode_pairs
from gossamer.index.postings.reader import PostingsReader
from gossamer.search.searcher import Searcher
from tests.support.earlier_states import returning
from tests.support.harvest_steps import run_index, run_postings
from tests.support.rows import put

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.state.workspace import Workspace

HOSTILE = ["'", '"', "%s", "\\", "a'b", "𝔘", "\uffff", "\U0010ffff", "é", "z" * 80, "計"]


def document(url: str, text: str, **more: Any) -> dict[str, Any]:
    plain = {"outcome": "parsed", "noindex": False, "digest": url, "fetched_ms": 0, "headings": []}
    return plain | {"url": url, "text": text, "main_text": text} | more


def store(work: Workspace, texts: dict[str, str]) -> None:
    put(work, "pages", [{"url": url, "status": "fetched"} for url in texts])
    put(work, "documents", [document(url, text) for url, text in texts.items()])


def table(work: Workspace, dataset: str) -> list[dict[str, Any]]:
    rows = [row for path in work.paths(dataset) for row in pq.read_table(path).to_pylist()]
    return sorted(
        rows, key=lambda row: [row[key] for key in row if key in ("term", "first", "number")]
    )


def of_work(work: Workspace) -> dict[str, list[tuple[str, int]]]:
    """By term the URLs that have it, and how often."""
    urls = {row["number"]: row["url"] for row in table(work, "numbered")}
    found: dict[str, list[tuple[str, int]]] = {}
    for row in table(work, "postings"):
        numbers = np.cumsum(row["gaps"]) + row["first"]
        its = zip((urls[number] for number in numbers), row["occurrences"], strict=True)
        found.setdefault(row["term"], []).extend(its)
    return found


TEXTS = {f"http://a.example/{n}": f"number{n % 7} both " + "word " * n for n in range(30)}


@pytest.fixture(scope="module")
def returned(new_work: Callable[[], Workspace]) -> Callable[[], Workspace]:
    work = new_work()
    store(work, TEXTS)
    run_postings(work)
    return returning(work)


@pytest.fixture
def made(returned: Callable[[], Workspace]) -> Workspace:
    """A crawl of these texts, with their postings."""
    return returned()


def test_postings_are_the_words_of_the_documents(made: Workspace) -> None:
    words = plain_analyzer()
    expected: dict[str, dict[str, int]] = {}
    for url, text in TEXTS.items():
        for term, tf in Counter(words.analyze(text)).items():
            expected.setdefault(term, {})[url] = tf
    assert {term: dict(found) for term, found in of_work(made).items()} == expected
    assert made.store.manifest.history[-1].counts == {
        "documents": 30,
        "terms": len(expected),
        "postings": sum(map(len, expected.values())),
    }
    for row in table(made, "postings"):
        assert row["df"] == len(expected[row["term"]])


def test_numbers_are_dense_and_partitions_hold_their_own_terms(made: Workspace) -> None:
    rows = table(made, "numbered")
    assert [row["number"] for row in rows] == list(range(30))
    of_parts = [partition_of(row["url"], 8) for row in rows]
    assert of_parts == sorted(of_parts)  # dealt by the same hash
    for part, its in groupby(rows, lambda row: partition_of(row["url"], 8)):
        urls = [row["url"] for row in its]
        assert urls == sorted(urls), part
    for path in made.paths("postings"):
        partition = Partition(path)
        terms = pq.read_table(path)["term"].to_pylist()
        assert terms == sorted(terms)
        assert {partition_of(term, partition.partitions) for term in terms} == {partition.number}


def test_lengths_and_norms_are_those_of_the_documents(work: Workspace) -> None:
    put(work, "pages", [{"url": "http://a.example/", "status": "fetched"}])
    row = document("http://a.example/", "b b a", title="a", description="c")
    put(work, "documents", [row])
    run_postings(work)
    (row,) = table(work, "numbered")
    assert row["words"] == 5
    assert row["norm"] == pytest.approx(math.sqrt(2 * (1 + math.log(2)) ** 2 + 1))


def test_the_same_documents_give_the_same_rows(made: Workspace, work: Workspace) -> None:
    store(work, dict(reversed(TEXTS.items())))
    run_postings(work)
    for dataset in ("postings", "numbered"):
        assert table(made, dataset) == table(work, dataset)


def test_runs_and_blocks_of_any_size_give_the_same(
    made: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tasks run in this process, where their sizes can be made small."""
    expected = of_work(made)
    monkeypatch.setattr(combiner, "MAX_POSTINGS", 5)
    monkeypatch.setattr(blocks, "BLOCK_POSTINGS", 4)
    monkeypatch.setattr(blocks, "GROUP_POSTINGS", 6)
    monkeypatch.setattr(postings, "NUMBERED_ROWS", 2)
    monkeypatch.setattr(
        type(made.engine),
        "map_tasks",
        lambda _self, tasks, fn, *_, **__: [row for task in tasks for row in fn(task)],
    )
    run_postings(made)
    assert of_work(made) == expected
    rows = [row for row in table(made, "postings") if row["term"] == "both"]
    assert [len(row["gaps"]) for row in rows] == [4] * 7 + [2]
    assert {row["df"] for row in rows} == {30}
    broker = PostingsReader.open(made)
    assert broker.find({"both": 1}).total == 30  # of several row groups
    assert {hit.url for hit in broker.search("both", limit=50)} == TEXTS.keys()


def test_an_empty_crawl(work: Workspace) -> None:
    assert run_postings(work).counts == {}
    assert work.store.manifest.layers("postings") == ()
    assert PostingsReader.open(work).search("word") == []


def test_documents_without_words(work: Workspace) -> None:
    store(work, {"http://a.example/": "()"})
    assert run_postings(work).counts == {"documents": 1}
    assert PostingsReader.open(work).search("word", every=False) == []


def test_new_postings_replace_the_old_and_scratch_is_gone(made: Workspace) -> None:
    url = "http://a.example/0"
    put(made, "pages", [{"url": known, "status": "gone"} for known in TEXTS if known != url])
    assert run_postings(made).counts["documents"] == 1
    assert [hit.url for hit in PostingsReader.open(made).search("both")] == [url]
    assert not [*made.store.backend.sizes("scratch")]


def test_every_word_finds_the_pages_that_the_index_finds(made: Workspace) -> None:
    run_index(made)
    broker, searcher = PostingsReader.open(made), Searcher.open(made)
    for query in ("both", "number3", "word number3"):
        found = {hit.url for hit in broker.search(query, limit=100)}
        hits = searcher.search(query, limit=100).hits
        assert found == {hit.url for hit in hits if not hit.partial}
    assert broker.search("both nothing") == []
    rarest = broker.search("number3 word", every=False, limit=1)
    assert rarest[0].url in {url for url, text in TEXTS.items() if "number3" in text}


def test_bytes_are_those_of_what_would_move(work: Workspace) -> None:
    work.config = msgspec.structs.replace(
        work.config, postings=msgspec.structs.replace(work.config.postings, partitions=1)
    )
    store(work, TEXTS)
    run_postings(work)
    answer = PostingsReader.open(work).find({"both": 1, "number3": 1}, limit=3)
    found = sum("number3" in text for text in TEXTS.values())
    assert answer.postings == {0: 30 + found}
    assert answer.broker_bytes == 2 * 4 + found * 12  # one partition has both: it sends their AND
    assert answer.pipeline_bytes == 2 * 4 + 3 * 12


def test_one_hash_here_and_in_the_engine(work: Workspace) -> None:
    terms = [*HOSTILE, "", "word"]
    df = work.engine.spark.createDataFrame([(term,) for term in terms], "term string")
    parts = df.selectExpr("term", "pmod(xxhash64(term), 7) as part").collect()
    assert {row.term: row.part for row in parts} == {t: partition_of(t, 7) for t in terms}


LISTS = st.dictionaries(
    st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(exclude_categories=["Cs"]))),
    st.dictionaries(st.integers(0, 2**31 - 1), st.integers(1, 2**31 - 1), min_size=1, max_size=9),
    max_size=9,
)


@given(lists=LISTS, absent=st.text(st.characters(exclude_categories=["Cs"])))
def test_a_partition_gives_back_what_was_written(
    lists: dict[str, dict[int, int]], absent: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("postings")
    writer = PartitionWriter(str(folder), "postings", 0, 1)
    for term in sorted(lists):
        pairs = np.array(sorted(lists[term].items()), np.int32)
        writer.write(term, len(pairs), np.array_split(pairs, 2))
    listed = writer.close()
    assert len(listed) == bool(lists)
    if not lists:
        return
    partition = Partition(f"{folder}/{listed[0]['path']}")
    for term in {*lists, absent}:
        found = partition.find(term)
        its = zip(found.documents.tolist(), found.occurrences.tolist(), strict=True)
        assert dict(its) == lists.get(term, {})
        assert found.df == len(lists.get(term, {}))


def test_a_combiner_holds_until_it_is_asked() -> None:
    held = Combiner()
    held.add(3, {"a": 2, "b": 1})
    held.add(7, {"a": 5})
    rows = {row["term"]: row for row in held.take().to_pylist()}
    assert decode_pairs(rows["a"]["pairs"]).tolist() == [[3, 2], [7, 5]]
    assert (rows["a"]["first"], rows["a"]["count"]) == (3, 2)
    assert held.take().num_rows == 0


def test_a_combiner_is_full_with_so_many_postings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(combiner, "MAX_POSTINGS", 3)
    held = Combiner()
    for _ in range(2):
        held.add(0, {"a": 9, "b": 9})
        assert not held.full
        held.add(1, {"a": 9})
        assert held.full
        assert held.take().num_rows == 2


@pytest.mark.folder
def test_a_damaged_partition_is_named(made: Workspace) -> None:
    for dataset in ("postings", "numbered"):
        path = Path(made.paths(dataset)[0])
        whole = path.read_bytes()
        path.write_bytes(bytes(len(whole)))
        with pytest.raises(StoreError, match="is damaged") as error:
            PostingsReader.open(made)
        assert error.value.subject == str(path)
        assert "gossamer postings" in error.value.remedy
        path.write_bytes(whole)
