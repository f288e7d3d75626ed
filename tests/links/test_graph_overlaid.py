"""A graph with changes reads as the graph that has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import StoreError
from gossamer.links.graph import overlay
from gossamer.links.graph.names import ENCODING, Names
from gossamer.links.graph.overlay import Overlaid
from tests.support.bvgraph_files import csr, write

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

NODES, MORE = 9, 12
ARCS = st.sets(st.tuples(st.integers(0, MORE - 1), st.integers(0, MORE - 1)), max_size=40)


def rows_of(arcs: set[tuple[int, int]], nodes: int) -> list[list[int]]:
    return [sorted(dst for src, dst in arcs if src == node) for node in range(nodes)]


@given(ARCS, ARCS, st.integers(1, 5))
def test_an_overlaid_graph_reads_as_one_that_was_written(
    tmp_path_factory: pytest.TempPathFactory,
    before: set[tuple[int, int]],
    after: set[tuple[int, int]],
    count: int,
) -> None:
    folder = tmp_path_factory.mktemp("overlaid")
    before = {arc for arc in before if max(arc) < NODES}
    base = write(folder / "base", rows_of(before, NODES))
    ends = [(src, dst) for src, dst in after - before]
    ends += [(src, ~dst) for src, dst in before - after]
    changes = overlay.sort_changes(*np.array(ends, np.int64).reshape(-1, 2).T)
    overlay.save_changes(str(folder / "changes.npy"), changes)
    graph = Overlaid(base, overlay.load_changes(str(folder / "changes.npy")), MORE)
    expected = rows_of(after, MORE)
    assert (graph.nodes, graph.arcs) == (MORE, len(after))
    assert [graph.successors(node).tolist() for node in range(MORE)] == expected
    assert graph.outdegrees(2, MORE - 3).tolist() == [*map(len, expected[2:-1])]
    for first, rows in zip(range(0, MORE, count), graph.rows(count), strict=True):
        wanted = csr(expected[first : first + count])
        assert (rows.starts.tolist(), rows.targets.tolist()) == (
            wanted.starts.tolist(),
            wanted.targets.tolist(),
        )
    backwards = overlay.transpose_changes(changes)
    assert overlay.transpose_changes(backwards).tolist() == changes.tolist()
    assert {(src, dst) for src, dst in backwards.T.tolist() if dst >= 0} == {
        (dst, src) for src, dst in after - before
    }


def test_damaged_changes_are_found_and_do_not_crash(tmp_path: Path) -> None:
    base = write(tmp_path / "base", [[1], []])
    for ends in ([[0, 0], [9, ~1]], [[1, 0], [0, 0]], [[0, 7], [-1 << 63, 1 << 62]]):
        graph = Overlaid(base, np.array(ends, np.int64), 2)
        try:
            rows = [graph.successors(node) for node in range(2)]
            rows += [rows.targets for rows in graph.rows()]
        except StoreError as error:
            assert "damaged" in error.what  # noqa: PT017  # not every example is found
        else:
            assert all(row.max(initial=0) < 2 for row in rows)
    path = tmp_path / "changes.npy"
    overlay.save_changes(str(path), np.zeros((2, 3), np.int64))
    whole = path.read_bytes()
    for damaged in (b"", whole[:90], whole[:-1], whole.replace(b"<i8", b"<f8"), b"x" + whole[1:]):
        path.write_bytes(damaged)
        with pytest.raises(StoreError, match=r"changes\.npy"):
            overlay.load_changes(str(path))
    with pytest.raises(StoreError, match="no such file"):
        overlay.load_changes(str(tmp_path / "none.npy"))


@given(
    st.sets(st.text("abé", max_size=4), min_size=1),
    st.lists(st.text("abéz", max_size=4)),
    st.integers(1, 5),
    st.randoms(use_true_random=False),
)
def test_many_names_are_found_together(
    tmp_path_factory: pytest.TempPathFactory,
    known: set[str],
    asked: list[str],
    group: int,
    random: Random,
) -> None:
    folder = tmp_path_factory.mktemp("names")
    listed = sorted(known)
    parts = listed[::2], listed[1::2]
    paths = [str(folder / "built"), str(folder / "added")]
    for path, part in zip(paths, parts, strict=True):
        pq.write_table(
            pa.table({"name": pa.array(part, pa.string())}),
            path,
            compression="zstd",
            row_group_size=group,
            **ENCODING,
        )
    names = Names(paths[:1], paths[1:] if parts[1] else ())
    numbered = [*parts[0], *parts[1]]
    asked += random.sample(listed, len(listed) // 2)
    expected = [numbered.index(name) if name in known else -1 for name in asked]
    assert names.numbers(pa.array(asked, pa.string())).tolist() == expected
    assert [-1 if (at := names.number(name)) is None else at for name in asked] == expected
    some = np.array([random.randrange(len(numbered)) for _ in range(10)], np.int64)
    assert names.take(some).to_pylist() == [numbered[n] for n in some] == [names[n] for n in some]
