"""The manifest's format, and that of older versions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import CorruptManifest
from gossamer.storage import checksums
from gossamer.storage.manifest import (
    Listing,
    Manifest,
    Stack,
    UnreadableManifest,
    decode_manifest,
    encode_manifest,
)
from gossamer.storage.store import File, Layer, StepReport, Store
from gossamer.tables import DATASETS
from tests.support.bare_stores import contents, files_below, put, report, unlisted
from tests.support.memory_backend import MemoryBackend

NUMBERS = st.integers(0, 2**63 - 1)
FILES = st.builds(File, st.text(), NUMBERS, NUMBERS, st.text(max_size=16))
LAYERS = st.builds(Layer, round=NUMBERS, files=st.lists(FILES, max_size=3).map(tuple))
COUNTS = st.dictionaries(st.text(), NUMBERS, max_size=3)
REPORTS = st.builds(StepReport, st.text(), NUMBERS, NUMBERS, st.floats(0, 1e9), COUNTS, NUMBERS)
LISTINGS = st.builds(
    Listing, st.text(), NUMBERS, st.text(), st.tuples(NUMBERS, NUMBERS), *[NUMBERS] * 4
)
LISTED = st.lists(LISTINGS, max_size=3).map(tuple)
MANIFESTS = st.builds(
    Manifest,
    NUMBERS,
    st.text(),
    NUMBERS,
    st.dictionaries(
        st.sampled_from(sorted(DATASETS)),
        st.builds(Stack[Layer], LISTED, st.lists(LAYERS, max_size=3).map(tuple)),
        max_size=3,
    ),
    st.builds(Stack[StepReport], LISTED, st.lists(REPORTS, max_size=3).map(tuple)),
    reader=st.just(unlisted),
)


@given(MANIFESTS)
def test_what_is_encoded_is_decoded(manifest: Manifest) -> None:
    assert decode_manifest(encode_manifest(manifest), manifest.version, unlisted) == manifest


def test_a_manifest_is_of_the_version_that_its_name_says() -> None:
    data = encode_manifest(Manifest(version=7, crawl="c", reader=unlisted))
    assert decode_manifest(data, 7, unlisted).version == 7
    with pytest.raises(UnreadableManifest, match="is damaged: it contains version 7"):
        decode_manifest(data, 8, unlisted)


# Format 2, which named all files and reports


def of_format_2(store: Store, version: int, layers: list[Layer], rounds: int) -> bytes:
    """A manifest as Gossamer wrote it in format 2."""
    body = {
        "version": version,
        "crawl": store.manifest.crawl,
        "round": rounds,
        "datasets": {
            "warc": [
                {
                    "round": layer.round,
                    "files": [
                        {
                            "path": file.path,
                            "rows": file.rows,
                            "bytes": file.bytes,
                            "xxh3": file.xxh3,
                        }
                        for file in layer.files
                    ],
                }
                for layer in layers
            ],
            "unparsed": [],
        },
        "history": [
            {
                "step": "fetch",
                "round": number,
                "started_ms": 1795233398811,
                "seconds": 1.5,
                "counts": {"ok": number},
                "bytes": 4 * number,
            }
            for number in range(1, rounds + 1)
        ],
        "format": 2,
    }
    text = json.dumps(body, separators=(",", ":")).encode()[:-1]
    return b'%s,"xxh3":"%s"}' % (text, checksums.checksum_bytes(text).encode())


@pytest.mark.parametrize("rounds", [1, 300])
def test_a_crawl_of_format_2_is_read_and_the_next_commit_writes_format_3(rounds: int) -> None:
    backend = MemoryBackend()
    store = Store.create(backend)
    layers = [put(store, "warc", round_=number) for number in range(1, rounds + 1)]
    backend.create("manifest/00000002.json", of_format_2(store, 2, layers, rounds))
    store = Store.open(backend)
    history = store.manifest.history
    assert contents(store.manifest.layers("warc")) == contents(layers)
    assert store.manifest.layers("unparsed") == ()
    assert [done.counts["ok"] for done in history] == list(range(1, rounds + 1))
    layers.append(put(store, "warc", round_=rounds + 1))
    store.commit(report(round_=rounds + 1), append={"warc": layers[-1]})
    written: dict[str, Any] = json.loads(backend.read("manifest/00000003.json"))
    assert written["format"] == 3
    assert len(backend.read("manifest/00000003.json")) < 15_000
    opened = Store.open(backend)
    assert contents(opened.manifest.layers("warc")) == contents(layers)
    assert opened.manifest.history[:-1] == history
    store.collect_garbage(keep_versions=1)  # one of each format is kept
    assert files_below(backend, "warc") == {file.path for each in layers for file in each.files}
    backend.delete(["manifest/00000003.json"])
    assert contents(Store.open(backend).manifest.layers("warc")) == contents(layers[:-1])


@pytest.mark.parametrize("change", [b'"rows":3', b'"rows": 2', b""])
def test_a_damaged_manifest_of_format_2_is_refused(change: bytes) -> None:
    backend = MemoryBackend()
    store = Store.create(backend)
    data = of_format_2(store, 2, [put(store, "warc")], 1)
    backend.create("manifest/00000002.json", data.replace(b'"rows":2', change))
    with pytest.raises(CorruptManifest, match=r"00000002\.json: is damaged"):
        Store.open(backend)
