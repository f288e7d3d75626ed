"""What the last run of `rank` has left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.links.rank import previous_run
from gossamer.links.rank.previous_run import RankedRows
from tests.support.rows import put

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace


def test_the_last_rows_are_pages_behind_the_graph(work: Workspace) -> None:
    urls = [f"http://{number}.example/" for number in range(6)]
    put(work, "ranks", [{"url": url, "rank": float(number)} for number, url in enumerate(urls)])
    (file,) = work.store.listed("ranks")
    last = RankedRows("graph", file.path, (), len(urls), b"")
    for built in range(len(urls) + 1):
        ranks, behind = previous_run._read_ranks(work, last, built)
        assert ranks.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
        assert behind.to_pylist() == urls[built:]
