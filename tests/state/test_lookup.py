from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gossamer.errors import MissingFile
from gossamer.state import lookup
from gossamer.state.lookup import Lookup
from tests.support.small_index import crawl
from tests.support.stored_web import put_rows

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

LAYERS = st.lists(
    st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 9)), min_size=1, max_size=12),
    max_size=3,
)


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    return crawl(tmp_path / "crawl")


@settings(max_examples=30, suppress_health_check=list(HealthCheck))
@given(
    layers=LAYERS,
    files=st.integers(1, 3),
    group=st.integers(1, 5),
    batch=st.integers(1, 5),
    run=st.integers(1, 3),
    once=st.booleans(),
)
def test_it_finds_what_a_scan_finds_the_newest_layer_first(
    tmp_path_factory: pytest.TempPathFactory,
    layers: list[list[tuple[str, int]]],
    files: int,
    group: int,
    batch: int,
    run: int,
    once: bool,
) -> None:
    work = crawl(tmp_path_factory.mktemp("crawl"))
    for number, layer in enumerate(layers):
        put = [{"src": src, "round": number, "depth": depth} for src, depth in layer]
        put_rows(work, "links", put, files=min(files, len(put)), group_rows=group)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(lookup, "BATCH_ROWS", batch)
        patched.setattr(lookup, "RUN_ROWS", run)
        looked = Lookup(work, once=once)
        for key in "abcde":
            found = looked.rows("links", "src", key, ["round", "depth"])
            rows = [(row["round"], row["depth"]) for row in found]
            of_layers = [number for number, _ in rows]
            assert of_layers == sorted(of_layers, reverse=True)
            assert sorted(rows) == sorted(
                (number, depth)
                for number, layer in enumerate(layers)
                for src, depth in layer
                if src == key
            )


def test_of_keys_with_the_same_hash_one_is_found(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_rows(work, "ranks", [{"url": url, "rank": rank} for url, rank in (("a", 0.1), ("c", 0.2))])
    monkeypatch.setattr(lookup, "hash", lambda _: 7, raising=False)
    found = Lookup(work).rows("ranks", "url", "a", ["rank"])
    assert list(found) == [{"rank": 0.1}]
    assert list(Lookup(work).rows("ranks", "url", "b", ["rank"])) == []


def test_what_is_remembered_is_bounded_and_answers_stay_right(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for layer in range(4):
        put_rows(work, "ranks", [{"url": f"{layer}{n}", "rank": n} for n in range(5)])
    monkeypatch.setattr(lookup, "MAX_RUNS", 12)
    looked = Lookup(work)
    for layer in (0, 3, 1, 2, 0):
        assert list(looked.rows("ranks", "url", f"{layer}4", ["rank"])) == [{"rank": 4.0}]
        assert sum(runs.hashes.size for runs in looked._known.values()) <= 12
    monkeypatch.setattr(lookup, "MAX_RUNS", 3)
    assert list(looked.rows("ranks", "url", "00", ["rank"])) == [{"rank": 0.0}]
    assert not looked._known


def test_a_layer_is_read_once(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    put_rows(work, "ranks", [{"url": "a", "rank": 1.0}])
    looked = Lookup(work)
    assert list(looked.rows("ranks", "url", "a", ["rank"])) == [{"rank": 1.0}]
    monkeypatch.setattr(Lookup, "_learn", None)
    assert list(looked.rows("ranks", "url", "a", ["rank"])) == [{"rank": 1.0}]


def test_metadata_of_a_file_are_read_once_within_a_bound(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for layer in range(4):
        put_rows(work, "ranks", [{"url": str(layer), "rank": layer}])
    bytes_each = pq.read_metadata(work.paths("ranks")[0]).serialized_size
    for most, kept in ((3 * bytes_each, 2), (1, 0)):  # they differ by a few bytes
        monkeypatch.setattr(lookup, "MAX_METADATA_BYTES", most - 1)
        looked = Lookup(work)
        for layer in (0, 3, 1, 2, 0):
            assert list(looked.rows("ranks", "url", str(layer), ["rank"])) == [{"rank": layer}]
        assert len(looked._groups) == kept
    monkeypatch.setattr(lookup, "MAX_METADATA_BYTES", 4 * bytes_each)
    looked = Lookup(work)
    list(looked.rows("ranks", "url", "0", ["rank"]))
    monkeypatch.setattr(pq, "read_metadata", None)
    assert list(looked.rows("ranks", "url", "0", ["rank"])) == [{"rank": 0.0}]


def test_rows_of_a_dataset_that_was_written_again_are_found(work: Workspace) -> None:
    looked = Lookup(work)
    for rank in (1.0, 2.0):
        put_rows(work, "ranks", [{"url": "a", "rank": rank}])
        with work.step("test", work.round) as draft:
            draft.replace["ranks"] = work.store.manifest.layers("ranks")[-1:]
        assert list(looked.rows("ranks", "url", "a", ["rank"])) == [{"rank": rank}]


def test_a_file_that_is_damaged_later_is_reported(work: Workspace) -> None:
    put_rows(work, "ranks", [{"url": "a", "rank": 1.0}])
    looked = Lookup(work)
    list(looked.rows("ranks", "url", "a", ["rank"]))
    path = Path(work.paths("ranks")[0])
    path.write_bytes(path.read_bytes()[:8])
    with pytest.raises(MissingFile, match=path.name):
        list(looked.rows("ranks", "url", "a", ["rank"]))


def test_a_file_of_which_the_size_differs_is_not_looked_through(work: Workspace) -> None:
    put_rows(work, "ranks", [{"url": "a", "rank": 1.0}])
    path = Path(work.paths("ranks")[0])
    path.write_bytes(path.read_bytes() + b"more")
    for once in (False, True):
        with pytest.raises(MissingFile, match=path.name):
            list(Lookup(work, once=once).rows("ranks", "url", "a", ["rank"]))


def test_a_file_that_is_gone_is_told(work: Workspace) -> None:
    put_rows(work, "ranks", [{"url": "a", "rank": 1.0}])
    looked = Lookup(work)
    list(looked.rows("ranks", "url", "a", ["rank"]))
    path = Path(work.paths("ranks")[0])
    path.unlink()
    with pytest.raises(MissingFile, match=path.name):
        list(looked.rows("ranks", "url", "a", ["rank"]))
    with pytest.raises(MissingFile, match=path.name):
        list(Lookup(work).rows("ranks", "url", "a", ["rank"]))


def test_a_key_that_rows_beside_it_lack(work: Workspace) -> None:
    targets = [None, "a", None, "b", "a", "a", None]
    rows = [{"url": str(n), "redirect_url": target} for n, target in enumerate(targets)]
    put_rows(work, "responses", rows, group_rows=2)
    looked = Lookup(work)
    for key, expected in {"a": ["1", "4", "5"], "b": ["3"], "c": []}.items():
        found = looked.rows("responses", "redirect_url", key, ["url"])
        assert [row["url"] for row in found] == expected


def test_who_looks_up_a_few_keys_learns_none(work: Workspace) -> None:
    put_rows(work, "ranks", [{"url": "a", "rank": 1.0}])
    for once in (False, True):
        looked = Lookup(work, once=once)
        assert list(looked.rows("ranks", "url", "a", ["rank"])) == [{"rank": 1.0}]
        assert bool(looked._known) is not once
