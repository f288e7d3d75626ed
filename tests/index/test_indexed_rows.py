"""Rows of the index whose pages were not looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from gossamer.index.indexed_rows import KEPT, unchanged_pages
from tests.support.rows import frame

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

A, B, C = "http://a.example/", "http://b.example/", "http://c.example/"


def test_only_the_ranks_of_unchanged_pages_are_new(work: Workspace) -> None:
    rows = [{"url": url, "static_rank": 0.5, "boilerplate": 7, "source": 1} for url in (A, B)]
    standing = work.engine.rows(pa.table({"url": [A, C], "rank": [0.3, 0.4]}))
    (row,) = unchanged_pages(frame(work, "indexed", rows), standing, 0.1).collect()
    assert (row["url"], row["change"]) == (A, KEPT)
    assert abs(row["static_rank"] - 3.0) < 1e-9
    assert row["old_static_rank"] == 0.5
    assert row["old_boilerplate"] == 7
