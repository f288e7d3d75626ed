"""What the last run of `rank` has left."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from gossamer.links.rank import previous_run
from gossamer.links.rank.previous_run import RankedRows
from gossamer.storage.manifest import File, Layer
from gossamer.tables import RANKED_NODES
from tests.support.rows import put

if TYPE_CHECKING:
    from gossamer.links.graph.stored_graph import StoredGraph
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


def layers_of(*names: str) -> list[Layer]:
    """Layers of `pages`, each with files of one letter."""
    return [Layer(1, tuple(File(name, 1, 1) for name in each)) for each in names]


@pytest.mark.parametrize(
    ("layers", "read", "unread"),
    [
        (["a", "b"], "ab", []),
        (["a", "b"], "a", ["b"]),
        (["ab", "c", "d"], "ab", ["c", "d"]),
        (["ab", "c", "d"], "abd", ["c", "d"]),
        (["ab", "c"], "ac", None),
        (["a", "b"], "", None),
        ([], "a", None),
    ],
)
def test_layers_are_new_from_the_first_one_that_was_not_read(
    layers: list[str], read: str, unread: list[str] | None
) -> None:
    stored = layers_of(*layers)
    manifest = SimpleNamespace(layers={"pages": stored}.__getitem__)
    work = cast("Workspace", SimpleNamespace(store=SimpleNamespace(manifest=manifest)))
    last = RankedRows("graph", "ranks", tuple(read), 1, b"")
    found = previous_run._unread_layers(work, last)
    assert found == (None if unread is None else layers_of(*unread))


def test_without_a_last_run_nothing_is_recalled(work: Workspace) -> None:
    graph = cast("StoredGraph", SimpleNamespace(base="graph"))
    assert previous_run._read_last(work, graph) is None
    assert previous_run.recall_nodes(work, graph) is None
    assert previous_run.remember_nodes(work, graph, [], np.zeros(0, bool)) == ()


def test_the_last_run_counts_for_its_graph_and_its_ranks(work: Workspace) -> None:
    graph, other = (cast("StoredGraph", SimpleNamespace(base=name)) for name in ("graph", "other"))
    put(work, "ranks", [{"url": "http://a.example/", "rank": 1.0}])
    ranks = work.store.manifest.layers("ranks")
    fetched = np.array([True])
    with work.step("test", 1) as draft:
        layers = previous_run.remember_nodes(work, graph, ranks, fetched)
        draft.replace[RANKED_NODES.name] = layers
    last = previous_run._read_last(work, graph)
    assert last == RankedRows("graph", ranks[0].files[0].path, (), 1, b"\x80")
    assert previous_run._read_last(work, other) is None
    put(work, "ranks", [{"url": "http://b.example/", "rank": 1.0}])
    assert previous_run._read_last(work, graph) is None
