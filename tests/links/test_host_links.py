"""Changes of the links between hosts, from those of the links between pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gossamer.links.graph.host_links import BuiltHosts, changes_between_hosts, first_pages_of
from gossamer.links.graph.names import ENCODING, Names
from tests.support import bvgraph_files

if TYPE_CHECKING:
    from pathlib import Path

A, B, C, NEW, NEWER = range(5)
ADDED = [(0, 2), (1, 2), (2, 0), (3, 4), (5, 6), (6, 6), (7, 6)]
REMOVED = [(0, 3), (4, 0), (1, 0), (2, 3)]


def test_changes_of_links_between_pages_count_for_their_hosts(tmp_path: Path) -> None:
    """Pages 0 and 1 are of A, 2 and 5 of B, 3 and 4 of C; 6 and 7 are of hosts that are new."""
    listed = str(tmp_path / "hosts.parquet")
    hosts = pa.table({"name": ["org,a ", "org,b ", "org,c "], "pages": [2, 1, 2]})
    pq.write_table(hosts, listed, **ENCODING, compression="zstd")
    graph = bvgraph_files.write(tmp_path / "hosts", [[], [], []])
    built = BuiltHosts(graph, Names([listed]), first_pages_of([listed]), np.empty(0, np.int64))
    new = ["org,b  https /new", "org,d  https /", "org,e  https /"]
    added = pa.array(new, pa.large_string())
    ends = np.array([*ADDED, *((source, ~target) for source, target in REMOVED)])
    found = changes_between_hosts(built, added, ends.T)
    assert found.added.to_pylist() == ["org,d ", "org,e "]
    changes = {
        (source, target): links
        for source, target, links in zip(*(each.tolist() for each in found[:3]), strict=True)
        if links
    }
    removed = {(A, C): -1, (C, A): -1, (B, C): -1}
    assert changes == removed | {(A, B): 2, (B, A): 1, (B, NEW): 1, (NEWER, NEW): 1}
