from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
import xxhash
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gossamer.errors import MissingFile
from gossamer.state import lsm
from gossamer.storage.store import File, Layer
from gossamer.storage.task_output import ParquetWriter, layers_of
from gossamer.tables import PAGES, SHINGLED
from tests.support.rows import PLAIN, by_url, frame, put

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace


def layer(rows: int) -> Layer:
    return Layer(1, (File("x", rows, 1),))


def test_no_layers_no_rows(work: Workspace) -> None:
    assert lsm.current(work, PAGES).collect() == []


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 9), max_size=6), max_size=4)
)
def test_the_newest_row_of_a_url_wins(work: Workspace, written: list[dict[str, int]]) -> None:
    stack = [
        frame(work, "pages", [{"url": url, "fetches": n} for url, n in layer.items()])
        for layer in [*written, {}]
    ]
    expected = {url: n for layer in written for url, n in layer.items()}
    found = by_url(lsm.newest_rows(stack, "url"))
    assert {url: row["fetches"] for url, row in found.items()} == expected


def test_some_rows_of_all_layers(work: Workspace) -> None:
    put(work, "pages", [{"url": url, "fetches": 1} for url in "abc"])
    put(work, "pages", [{"url": url, "fetches": 2} for url in "bd"])
    some = frame(work, "pages", [{"url": url} for url in "abx"]).select("url")
    found = by_url(lsm.rows_for(work, PAGES, some))
    assert {url: row["fetches"] for url, row in found.items()} == {"a": 1, "b": 2}


def hash_of(url: str) -> int:
    """The `xxhash64` of Spark, in Python."""
    return int.from_bytes(xxhash.xxh64_digest(url.encode(), 42), signed=True)


def committed(work: Workspace, rows: list[dict[str, Any]]) -> None:
    with work.step("test", 1) as draft:
        draft.replace["pages"] = lsm.append_layer(
            work, PAGES, frame(work, "pages", rows), len(rows), 1
        )


def fetches(work: Workspace, urls: str) -> dict[str, int]:
    keys = frame(work, "pages", [{"url": url} for url in urls]).select("url")
    found = by_url(lsm.rows_for_some(work, PAGES, keys))
    return {url: row["fetches"] for url, row in found.items()}


def test_pages_get_a_hash_by_which_few_of_them_are_found(work: Workspace) -> None:
    committed(work, [{"url": url, "fetches": 1} for url in "abcdefgh"])
    assert fetches(work, "abx") == {"a": 1, "b": 1}
    committed(work, [{"url": "b", "fetches": 2}])
    assert len(work.store.manifest.layers("pages")) == 2
    assert fetches(work, "abx") == {"a": 1, "b": 2}
    for row in work.read("pages").collect():
        assert row["url_hash"] == hash_of(row["url"])


def test_pages_of_older_versions_are_found_without_hashes(work: Workspace) -> None:
    put(work, "pages", [{"url": url, "fetches": 1} for url in "abcdefgh"])
    assert fetches(work, "abx") == {"a": 1, "b": 1}
    committed(work, [{"url": "b", "fetches": 2}])
    assert fetches(work, "abx") == {"a": 1, "b": 2}


def test_a_base_of_which_only_some_files_have_hashes(work: Workspace) -> None:
    """A crawl of an older version that was merged in parts has such files."""
    committed(work, [{"url": url, "fetches": 1} for url in "abcd"])
    (hashed,) = work.store.manifest.layers("pages")
    schema = pa.schema([each for each in PAGES.schema if each.name != PAGES.hashed])
    writer = ParquetWriter(work.root, "pages", work.store.attempt("pages"), schema=schema)
    writer.write(pa.Table.from_pylist([PLAIN | {"url": "e", "fetches": 2}], schema))
    layers = layers_of(writer.close(), 1)
    with work.step("test", 1) as draft:
        draft.replace["pages"] = (Layer(1, (*hashed.files, *layers["pages"].files)),)
    assert fetches(work, "aex") == {"a": 1, "e": 2}


def test_pages_with_the_same_hash_are_told_apart(work: Workspace) -> None:
    rows = [{"url": url, "fetches": 1, "url_hash": hash_of("a")} for url in "abc"]
    put(work, "pages", [*rows, {"url": "d", "fetches": 1, "url_hash": hash_of("d")}])
    assert fetches(work, "ad") == {"a": 1, "d": 1}


def test_put_folds_what_is_not_much_larger_and_keeps_every_row(work: Workspace) -> None:
    put(work, "pages", [{"url": f"u{i}"} for i in range(60)])
    shapes = []
    for step in range(12):
        rows = frame(work, "pages", [{"url": f"u{step}", "fetches": step}, {"url": f"n{step}"}])
        with work.step("test", 1) as draft:
            draft.replace["pages"] = lsm.append_layer(work, PAGES, rows, 2, 1)
        shapes.append([layer.rows for layer in work.store.manifest.layers("pages")])
    assert shapes[0] == [60, 2]
    assert shapes[1] == [60, 4]
    assert any(len(shape) == 1 for shape in shapes), "never merged into the base"
    found = by_url(lsm.current(work, PAGES))
    assert len(found) == 72
    assert all(found[f"u{step}"]["fetches"] == step for step in range(12))


def test_where_no_row_is_replaced_the_base_and_a_few_layers_stay_as_they_are(
    work: Workspace,
) -> None:
    put(work, "shingled", [{"text": number} for number in range(4)])
    (base,) = work.store.manifest.layers("shingled")
    layers = []
    for number in range(4, 12):
        rows = frame(work, "shingled", [{"text": number}])
        with work.step("test", 1) as draft:
            draft.replace["shingled"] = lsm.append_layer(work, SHINGLED, rows, 1, 1)
        layers.append(work.store.manifest.layers("shingled"))
        assert layers[-1][0] == base
    assert [len(each) for each in layers] == [2, 3, 4, 5, 6, 7, 8, 2]
    assert layers[0] == layers[-2][:2]
    assert sorted(row["text"] for row in work.read("shingled").collect()) == list(range(12))


def test_folding_takes_ever_larger_layers_or_all() -> None:
    assert lsm.mergeable_layers([], 5, 0.25) == 0
    assert lsm.mergeable_layers([layer(1000)], 10, 0.25) == 0
    assert lsm.mergeable_layers([layer(1000), layer(100), layer(10)], 10, 0.25) == 1
    assert lsm.mergeable_layers([layer(1000), layer(30), layer(10)], 10, 0.25) == 2
    assert lsm.mergeable_layers([layer(1000), layer(20)], 10, 0.25) == 1, "twice its rows, just"
    assert lsm.mergeable_layers([layer(1000), layer(150)], 100, 0.25) == 1, (
        "a quarter of the base, just"
    )
    assert lsm.mergeable_layers([layer(1000), layer(100), layer(100)], 100, 0.25) == 3


def test_layers_stay_few() -> None:
    stack = [layer(1_000_000)]
    for _ in range(1000):
        folded = lsm.mergeable_layers(stack, 100, 1.0)
        taken = stack[len(stack) - folded :]
        stack = [*stack[: len(stack) - folded], layer(100 + sum(part.rows for part in taken))]
        assert len(stack) <= 12


@pytest.mark.folder
def test_a_missing_file_is_named(work: Workspace) -> None:
    put(work, "pages", [{"url": "u"}])
    (path,) = work.paths("pages")
    Path(path).unlink()
    with pytest.raises(MissingFile, match=re.escape(path)):
        lsm.current(work, PAGES)
