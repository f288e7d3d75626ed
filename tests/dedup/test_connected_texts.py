"""What a harvest finds among all texts and pairs: wanted hashes, bands, and connected texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gossamer.dedup import connected_texts, similar_texts
from gossamer.dedup.hash_filter import FILTER_BITS, HashFilter
from gossamer.dedup.lsh_bands import BandTask as Bands
from gossamer.dedup.lsh_bands import band_hashes, share_out_bands
from gossamer.storage.task_output import ParquetWriter
from gossamer.tables import SHINGLED
from gossamer.web.sketches import BANDS, VALUES

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.state.workspace import Workspace

LEAST, MOST = -(1 << 63), (1 << 63) - 1


def test_wanted_hashes_are_found_by_definition() -> None:
    draw = np.random.default_rng(1)
    hashes = draw.integers(LEAST, MOST, 20_000, np.int64)
    alike = hashes[:50] ^ np.int64(1 << 62)  # marked in both tables, but not wanted
    wanted = np.concatenate((hashes[::40], [LEAST, MOST, -1, 0]))
    every = np.concatenate((hashes, alike, [LEAST, MOST, -1, 0, 1 << FILTER_BITS]))
    held = set(wanted.tolist())
    expected = [place for place, each in enumerate(every.tolist()) if each in held]
    assert HashFilter(wanted).places(every).tolist() == expected
    assert not HashFilter(wanted[:0]).places(every).size


def files(folder: Path, name: str, *tables: pa.Table) -> tuple[str, ...]:
    for number, table in enumerate(tables):
        pq.write_table(table, folder / f"{name}{number}.parquet")
    return tuple(f"{name}{number}.parquet" for number in range(len(tables)))


@pytest.mark.parametrize("is_few", [True, False])
@pytest.mark.parametrize(
    ("begins", "found"),
    [
        ([1], {1, 2, 3, 4}),
        ([4], {1, 2, 3, 4}),
        ([9], {9}),
        ([5, 9], {5, 6, 9}),
        ([], set()),
    ],
)
def test_texts_that_similar_pairs_connect(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    begins: list[int],
    found: set[int],
    *,
    is_few: bool,
) -> None:
    monkeypatch.setattr(connected_texts, "READ_PAIRS", 2)
    pairs = [(1, 2, 0.9), (3, 4, 0.85), (4, 5, 0.79), (2, 3, 0.8), (5, 6, 1.0), (2, 3, 0.8)]
    columns = [list(column) for column in zip(*pairs, strict=True)]
    table = pa.table(columns, names=["one", "other", "similarity"])
    halves = files(tmp_path, "pairs", table.slice(0, 3), table.slice(3))
    texts = files(tmp_path, "texts", pa.table({"text": pa.array(begins, pa.int64())}))
    task = connected_texts.SearchTask(str(tmp_path), halves, is_few, 0.8, texts, "found")
    (row,) = connected_texts.search_texts(task)
    held = pq.read_table(tmp_path / str(row["path"])).column("text").to_pylist()
    assert set(held) == found
    assert len(held) == len(found)


def test_bands_stay_with_their_texts_beside_texts_without(tmp_path: Path) -> None:
    """Texts without a sketch have empty bands, and struck ones have none."""
    draw = np.random.default_rng(2)
    made = [draw.integers(0, 1 << 32, VALUES, np.uint32).tobytes() for _ in range(40)]
    sketches = [None if at % 3 == 0 else held for at, held in enumerate(made)]
    (hashed,) = band_hashes(
        iter([pa.RecordBatch.from_pydict({"text": list(range(40)), "sketch": sketches})])
    )
    bands = hashed.column("bands").to_pylist()
    struck = [None if at % 5 == 0 else held for at, held in enumerate(bands)]
    empty = pa.table({"text": [77], "bands": pa.array([None], pa.binary())})
    texts = pa.table({"text": range(40), "bands": struck})
    known = files(tmp_path, "known", texts, empty)
    wanted = files(tmp_path, "wanted", pa.table({"text": [7], "bands": [bands[7]]}))
    for counting, expected in ((wanted, {7}), ((), {at for at in range(40) if at % 3 and at % 5})):
        rows = share_out_bands(Bands(str(tmp_path), known, counting, 1, "shared", is_new=False))
        (path,) = (str(row["path"]) for row in rows)
        shared = pq.read_table(tmp_path / path).to_pydict()
        assert set(shared["text"]) == expected
        for text in expected:
            of_text = [
                band for band, at in zip(shared["band"], shared["text"], strict=True) if at == text
            ]
            assert of_text == np.frombuffer(bands[text], "<i8").tolist()
            assert len(of_text) == BANDS


def test_the_hash_table_of_a_look_at_shingles_is_that_of_the_wanted_texts(
    work: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = {"text": pa.array(range(1_000)), "sketch": pa.array(1_000 * [b"sketch"])}
    writer = ParquetWriter(work.root, "shingled", work.store.attempt("shingled"))
    more = {"bits": pa.nulls(1_000, pa.int32()), "shingles": pa.nulls(1_000, pa.binary())}
    writer.write(pa.table(rows | more))
    paths = [f"{work.root}/{row['path']}" for row in writer.close()]
    stored = work.engine.read_some(paths, SHINGLED.ddl)
    pairs, _ = work.scratch(work.engine.rows(pa.table({"one": [1, 2], "other": [3, 4]})))
    capsys.readouterr()
    stored.join(similar_texts.texts_of_pairs(pairs), on="text", how="left_semi").explain()
    assert "join_type=RightSemi" in capsys.readouterr().out
