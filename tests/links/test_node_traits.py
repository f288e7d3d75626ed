"""What is known of the hosts of nodes: see gossamer.links.rank.node_traits."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from gossamer.errors import StoreError
from gossamer.links.rank import node_traits
from gossamer.links.rank.node_traits import HostBatch

if TYPE_CHECKING:
    from collections.abc import Sequence

NOTHING: Any = SimpleNamespace(hosts=(), urls=(), is_empty=True)


def described(
    monkeypatch: pytest.MonkeyPatch, nodes: int, batches: Sequence[HostBatch], **factors: float
) -> node_traits.NodeTraits:
    """The traits of a graph of hosts, of which the first node was fetched, and one besides."""
    monkeypatch.setattr(node_traits, "host_batches", lambda *_: iter(batches))
    work: Any = SimpleNamespace(root="/crawl")
    graph: Any = SimpleNamespace(forward=SimpleNamespace(nodes=nodes))
    known: Any = SimpleNamespace(
        fetched=np.array([0]), others=pa.array(["beside.test"], pa.large_string())
    )
    lists: Any = (NOTHING, NOTHING)
    return node_traits.describe_nodes(work, graph, "host", lists, known, factors)


def batch(first: int, hosts: Sequence[str], sizes: Sequence[int]) -> HostBatch:
    return HostBatch([*hosts], np.array(sizes), slice(first, first + sum(sizes)))


def test_each_node_has_the_domain_and_factor_of_its_host(monkeypatch: pytest.MonkeyPatch) -> None:
    batches = [batch(0, ["a.x.org", "b.x.org"], [2, 1]), batch(3, ["y.org"], [2])]
    found = described(monkeypatch, 5, batches, **{"b.x.org": 0.5})
    assert found.domains.tolist() == [0, 0, 0, 1, 1]
    assert found.factors.tolist() == [1, 1, 0.5, 1, 1]
    assert found.fetched.tolist() == [True, False, False, False, False, True]
    assert found.fetched_hosts.to_pylist() == ["beside.test", "a.x.org"]
    assert not found.trusted.any()


@pytest.mark.parametrize("nodes", [2, 4])
def test_a_graph_of_other_nodes_than_names_is_damaged(
    monkeypatch: pytest.MonkeyPatch, nodes: int
) -> None:
    with pytest.raises(StoreError, match="other nodes than names"):
        described(monkeypatch, nodes, [batch(0, ["a.org"], [3])])


def test_set_flags_are_counted_per_host() -> None:
    flags = np.array([True, True, False, True, True, True])
    assert batch(1, ["a", "b", "c"], [2, 1, 2]).count_set(flags).tolist() == [1, 1, 2]
    assert batch(1, ["a", "b"], [2, 3]).spread(["x", "y"]).tolist() == [*"xxyyy"]
