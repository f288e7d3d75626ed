"""Our PageRank beside that of networkx, where all links of a page are equal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gossamer.config import RankConfig
from gossamer.links import graph, rank
from gossamer.links.bvgraph.files import CHUNK
from gossamer.links.rank.power import fixed_point, share_votes
from gossamer.links.rank.vote_rows import SpanThreads, Votes
from tests.support.bvgraph_files import write
from tests.support.networkx_graphs import SHAPES
from tests.support.rows import by_url, put

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.state.workspace import Workspace

EQUAL = RankConfig(same_domain=1.0, tolerance=1e-13, iterations=2_000)
"""All links of a page are equal."""
SUM_OF_ERRORS = 1e-9


def theirs(links: nx.DiGraph, damping: float) -> np.ndarray:
    """networkx stops when the ranks of n nodes change by n times its tolerance."""
    found = nx.pagerank(links, damping, max_iter=5_000, tol=1e-13 / len(links))
    return np.array([found[node] for node in range(len(links))])


def ours(folder: Path, links: nx.DiGraph, damping: float) -> np.ndarray:
    rows = [sorted(links.predecessors(node)) for node in range(len(links))]
    transposed = write(folder / "transposed", rows)
    domains = np.arange(len(links), dtype=np.int32) // 7
    even = np.full(len(links), 1 / len(links))
    with SpanThreads(len(links), 2) as threads:
        votes = Votes(transposed, domains, 1e9, threads)
        config = msgspec.structs.replace(EQUAL, damping=damping)
        start = even.copy()
        each = share_votes(votes, config.same_domain, np.ones(len(links)), threads)
        return fixed_point(votes, each, even, start, config, threads).ranks


@pytest.mark.parametrize("damping", [0.5, 0.85, 0.99])
@pytest.mark.parametrize("shape", SHAPES)
def test_of_a_shape(tmp_path: Path, shape: str, damping: float) -> None:
    links = SHAPES[shape]
    found = ours(tmp_path, links, damping)
    assert np.abs(found - theirs(links, damping)).sum() < SUM_OF_ERRORS


def test_of_a_graph_of_several_spans(tmp_path: Path) -> None:
    links = nx.fast_gnp_random_graph(2 * CHUNK + 100, 0.0003, seed=4, directed=True)
    found = ours(tmp_path, links, 0.85)
    assert np.abs(found - theirs(links, 0.85)).sum() < SUM_OF_ERRORS


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(1, 30), st.data())
def test_of_any_graph(
    tmp_path_factory: pytest.TempPathFactory, nodes: int, data: st.DataObject
) -> None:
    node = st.integers(0, nodes - 1)
    links = nx.empty_graph(nodes, nx.DiGraph)
    links.add_edges_from(data.draw(st.sets(st.tuples(node, node), max_size=3 * nodes)))
    found = ours(tmp_path_factory.mktemp("graph"), links, 0.85)
    assert np.abs(found - theirs(links, 0.85)).sum() < SUM_OF_ERRORS


def test_of_a_crawl_by_the_step(work: Workspace) -> None:
    """All shapes as parts of one web, whose pages are on many domains and are all fetched."""
    work.config = msgspec.structs.replace(work.config, rank=EQUAL)
    links = nx.disjoint_union_all(SHAPES.values())
    links.remove_edges_from(list(nx.selfloop_edges(links)))  # which a crawl does not record
    urls = [f"http://www.site-{node // 7}.org/{node}" for node in range(len(links))]
    put(work, "pages", [{"url": url, "status": "fetched"} for url in urls])
    put(work, "responses", [{"url": url, "outcome": "ok"} for url in urls])
    put(work, "links", [{"src": urls[src], "dst": urls[dst]} for src, dst in links.edges])
    graph.run(work)
    rank.run(work)
    rows = by_url(work.read("ranks"))
    found = np.array([rows[url]["rank"] for url in urls])
    assert np.abs(found - theirs(links, EQUAL.damping)).sum() < SUM_OF_ERRORS
