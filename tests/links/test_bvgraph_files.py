"""Files of graphs: what is written is described, and files that do not fit are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from gossamer.errors import StoreError
from gossamer.links.bvgraph import files
from gossamer.links.bvgraph.files import BvGraph, GraphWriter
from gossamer.storage.checksums import checksum_bytes
from tests.support.bvgraph_files import csr, write
from tests.support.random_graphs import rows_of

if TYPE_CHECKING:
    from pathlib import Path

ALIKE = [[1, 3, 5, 7, 9, n] for n in range(10, 40)]
"""Rows that are written as differences from others."""
NODES = 50
ROWS = [*ALIKE, *[[]] * (NODES - len(ALIKE))]


def test_written_files_are_named_with_their_sizes_and_checksums(tmp_path: Path) -> None:
    writer = GraphWriter(tmp_path / "web")
    writer.append(csr(ROWS))
    written = writer.close()
    assert [file.name for file in written] == ["web.graph", "web.offsets", "web.properties"]
    for name, size, xxh3 in written:
        data = (tmp_path / name).read_bytes()
        assert (len(data), checksum_bytes(data)) == (size, xxh3)


def test_rows_are_read_from_any_node_on(tmp_path: Path) -> None:
    graph = write(tmp_path / "web", ROWS)
    for first in range(NODES):
        found = [
            row.tolist()
            for each in graph.rows(7, first)
            for row in np.split(each.targets, each.starts[1:-1])
        ]
        assert found == ROWS[first:]


def test_the_degrees_of_equal_rows(tmp_path: Path) -> None:
    graph = write(tmp_path / "web", ROWS)
    assert graph.outdegrees(0, 5).tolist() == [6] * 5
    assert graph.outdegrees(29, 3).tolist() == [6, 0, 0]
    assert graph.outdegrees(3, 1).tolist() == [6]
    assert graph.outdegrees(0, 0).tolist() == []


def test_rows_that_a_file_lacks_are_damage(tmp_path: Path) -> None:
    write(tmp_path / "web", ROWS)
    path = tmp_path / "web.graph"
    path.write_bytes(path.read_bytes()[:8])
    with pytest.raises(StoreError, match="do not belong together"):
        _ = BvGraph(tmp_path / "web").bits


def test_bits_that_are_no_row_are_damage(tmp_path: Path) -> None:
    write(tmp_path / "web", ROWS)
    path = tmp_path / "web.graph"
    path.write_bytes(bytes(len(path.read_bytes())))
    with pytest.raises(StoreError, match="do not belong together"):
        BvGraph(tmp_path / "web").successors(3)


def test_a_file_is_filled_up_to_a_whole_word_in_memory(tmp_path: Path) -> None:
    for size, words in ((0, 0), (1, 1), (8, 1), (9, 2), (16, 2)):
        path = tmp_path / f"{size}.graph"
        path.write_bytes(b"\xff" * size)
        found = files.map_words(str(path))
        assert found.size == words
        assert found.tobytes() == (b"\xff" * size).ljust(8 * words, b"\0")


def test_parts_are_joined(tmp_path: Path) -> None:
    """A part begins with the node behind those before it, and refers to none of them."""
    parts = []
    for first, last in ((0, 20), (20, NODES)):
        writer = GraphWriter(tmp_path / f"{first}", first=first)
        writer.append(csr(ROWS[first:last]))
        writer.close()
        parts.append(BvGraph(tmp_path / f"{first}"))
    whole = GraphWriter(tmp_path / "whole")
    for part in parts:
        whole.join(part)
    whole.close()
    graph = BvGraph(tmp_path / "whole")
    assert rows_of(graph) == ROWS
    assert (graph.nodes, graph.arcs) == (NODES, 6 * len(ALIKE))
