"""What is around a page: its neighbourhood, its host, and the words of its links."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from gossamer.api.crawl import Crawl
from gossamer.cli import app
from gossamer.errors import UsageError
from gossamer.links import graph
from gossamer.links.graph.neighbourhood import nodes_around
from gossamer.links.graph.paths import TooMuch
from gossamer.links.graph.queries import LinkGraph, Neighbourhood
from tests.support.bvgraph_files import write
from tests.support.crawled_links import crawl
from tests.support.stored_web import put_inlinks

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.links.bvgraph.files import BvGraph
    from gossamer.state.workspace import Workspace

HOME = "http://a.org/"
NODES = 12
NODE = st.integers(0, NODES - 1)
Links = set[tuple[int, int]]


def both_ways(folder: Path, links: Links) -> tuple[BvGraph, BvGraph]:
    folder.mkdir(exist_ok=True)
    forward, transposed = (
        write(folder / name, [sorted(b for a, b in ends if a == node) for node in range(NODES)])
        for name, ends in (("forward", links), ("transposed", {(b, a) for a, b in links}))
    )
    return forward, transposed


def distances(links: Links, centre: int, depth: int) -> dict[int, int]:
    """By the definition: a step at a time."""
    known = {centre: 0}
    for step in range(1, depth + 1):
        known |= dict.fromkeys({b for a, b in links if a in known} - set(known), step)
    return known


@given(st.sets(st.tuples(NODE, NODE), max_size=40), NODE, st.integers(1, 3), st.integers(2, 12))
def test_a_neighbourhood_is_what_is_near(
    tmp_path_factory: pytest.TempPathFactory, links: Links, centre: int, depth: int, most: int
) -> None:
    forward, transposed = both_ways(tmp_path_factory.mktemp("around"), links)
    weights = transposed.outdegrees(0, NODES)
    whole = nodes_around(forward, transposed, centre, depth, 2 * NODES, weights)
    ahead = distances(links, centre, depth)
    back = distances({(b, a) for a, b in links}, centre, depth)
    nodes = whole.nodes.tolist()
    assert nodes[0] == centre
    assert sorted(nodes) == sorted(ahead.keys() | back.keys())
    assert whole.linked.tolist() == [ahead.get(node, -1) for node in nodes]
    assert whole.linking.tolist() == [back.get(node, -1) for node in nodes]
    among = {(nodes[a], nodes[b]) for a, b in whole.arcs.tolist()}
    assert among == {(a, b) for a, b in links if {a, b} <= set(nodes)}
    assert (whole.more_linking, whole.more_linked) == (0, 0)
    few = nodes_around(forward, transposed, centre, depth, most, weights)
    assert few.nodes.size <= most
    assert set(few.nodes.tolist()) <= set(nodes)
    if depth == 1:
        assert few.nodes.size == min(len(nodes), most)


def test_of_many_neighbours_the_most_linked_are_kept_in_both_directions(tmp_path: Path) -> None:
    ahead, back = {(0, n) for n in range(1, 6)}, {(n, 0) for n in range(6, 12)}
    more = {(1, 5), (2, 5), (3, 4), (1, 9), (2, 9), (3, 9)}
    both = both_ways(tmp_path, ahead | back | more)
    few = nodes_around(*both, 0, 1, 5, both[1].outdegrees(0, NODES))
    assert few.nodes.tolist() == [0, 5, 9, 4, 6]
    assert (few.more_linking, few.more_linked) == (4, 3)
    uneven = nodes_around(
        *both_ways(tmp_path / "uneven", back | {(0, 1)}), 0, 1, 5, np.zeros(NODES, int)
    )
    assert (uneven.more_linking, uneven.more_linked) == (3, 0)


def test_links_that_are_read_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.links.graph.neighbourhood.MAX_READ", 2)
    links = {(0, n) for n in (1, 2, 3)} | {(1, 4), (1, 5), (1, 6), (2, 7), (3, 8)}
    both = both_ways(tmp_path, links)
    found = nodes_around(*both, 0, 2, 50, both[1].outdegrees(0, NODES))
    assert sorted(found.nodes.tolist()) == [0, 1, 2, 3, 4, 5, 6]


def test_a_neighbourhood_has_names_degrees_and_links(work: Workspace) -> None:
    ends = [(HOME, "http://b.org/"), ("http://b.org/", HOME), ("http://c.org/", HOME)]
    crawl(work, [*ends, ("http://c.org/", "http://d.org/"), ("http://d.org/", "http://e.org/")])
    graph.run(work)
    found = LinkGraph(work).neighbourhood(HOME, 1)
    shown = [
        (page.name[7], page.inlinks, page.outlinks, page.linking, page.linked)
        for page in found.pages
    ]
    assert shown == [("a", 2, 1, 0, 0), ("b", 1, 1, 1, 1), ("c", 0, 2, 1, None)]
    assert sorted(found.links) == [(0, 1), (1, 0), (2, 0)]
    hosts = LinkGraph(work, "host").neighbourhood("d.org", 2)
    assert [(host.name, host.depth) for host in hosts.pages] == [
        ("d.org", 0),
        ("e.org", 1),
        ("c.org", 1),
    ]


def test_a_host_its_pages_and_the_links_to_others(work: Workspace) -> None:
    links = [(HOME, f"http://b.org:8080/{n}") for n in range(3)]
    links += [(HOME, f"{HOME}x"), (HOME, "http://a.org.evil.org/"), ("http://c.org/", f"{HOME}y")]
    crawl(work, links)
    graph.run(work)
    found = msgspec.to_builtins(LinkGraph(work).host("a.org"))
    assert found == {
        "name": "a.org",
        "pages": 3,
        "links_inside": 1,
        "hosts_linked": 2,
        "linked": [{"name": "b.org:8080", "links": 3}, {"name": "a.org.evil.org", "links": 1}],
        "hosts_linking": 1,
        "linking": [{"name": "c.org", "links": 1}],
    }
    assert LinkGraph(work).host("b.org:8080", 0).linking == []
    assert LinkGraph(work).host("a.org", most=3).pages == 3
    with pytest.raises(TooMuch, match="has 3 pages, and links of at most 2 are counted here"):
        LinkGraph(work).host("a.org", most=2)
    with pytest.raises(UsageError, match="no host of this name"):
        LinkGraph(work).host("b.org")


def test_anchors_are_those_that_invert_recorded(work: Workspace) -> None:
    crawl(work, [("http://b.org/", HOME), ("http://c.org/", HOME)])
    graph.run(work)
    assert LinkGraph(work).anchors(HOME) == {}
    put_inlinks(work, HOME, [("http://b.org/", "words"), ("http://c.org/", "")], 2)
    assert LinkGraph(work).anchors("HTTP://A.org") == {"http://b.org/": "words"}


def test_common_pages_in_both_directions(work: Workspace) -> None:
    """Which pages link to both, and to which pages both link."""
    ends = [("x", "a"), ("x", "b"), ("y", "a"), ("y", "b"), ("z", "a"), ("a", "c"), ("b", "c")]
    crawl(work, [(f"http://{src}.org/", f"http://{dst}.org/") for src, dst in ends])
    graph.run(work)
    both = [HOME, "http://b.org/"]
    found = LinkGraph(work)
    assert found.common(both) == (["http://x.org/", "http://y.org/"], 2)
    assert found.common(both, 1, 1) == (["http://y.org/"], 2)
    assert found.common([HOME, HOME]).total == 3
    assert found.common(both, linked=True) == (["http://c.org/"], 1)


def test_a_crawl_keeps_its_graph_open_until_there_is_a_newer_one(work: Workspace) -> None:
    opened = Crawl(work)
    with pytest.raises(UsageError, match="gossamer graph build"):
        assert opened.graph
    crawl(work, [(HOME, "http://b.org/")])
    graph.run(work)
    first = opened.graph
    assert opened.graph is first
    assert first.outlinks(HOME).names == ["http://b.org/"]
    assert opened.host_graph.inlinks("b.org").names == ["a.org"]
    graph.run(work)
    assert opened.graph is not first


def test_the_commands_that_look_around(work: Workspace) -> None:
    crawl(work, [(HOME, f"http://b.org/{n}") for n in range(25)])
    graph.run(work)
    put_inlinks(work, "http://b.org/7", [(HOME, "se\x1bven")], 1)

    def run(*arguments: str) -> str:
        ended = CliRunner().invoke(app, ["graph", *arguments])
        assert ended.exit_code == 0, ended.output
        return ended.output

    assert (
        run("inlinks", work.root, "http://b.org/7") == f"{HOME}  “se\N{REPLACEMENT CHARACTER}ven”\n"
    )
    found = msgspec.json.decode(run("inlinks", work.root, "http://b.org/7", "--json"))
    assert found["links"] == [{"url": HOME, "anchor": "se\x1bven"}]
    shown = run("neighbourhood", work.root, HOME, "--limit", "5")
    assert "http://b.org/0\n" in shown
    assert "and 21 more that are linked: --limit" in shown
    told = run("neighbourhood", work.root, "b.org", "--hosts", "--json")
    assert len(msgspec.json.decode(told, type=Neighbourhood).pages) == 2
    shown = run("host", work.root, "b.org", "--limit", "0")
    assert shown.startswith("b.org: 25 pages, 0 links inside\n")
    assert "and 1 more: --limit" in shown
    assert msgspec.json.decode(run("host", work.root, "a.org", "--json"))["pages"] == 1
    assert run("common", work.root, HOME, "--linked", "--limit", "1").startswith("http://b.org/0\n")
