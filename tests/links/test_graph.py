"""The link graph of a crawl: built, asked, and read by others."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from gossamer.cli import app
from gossamer.errors import MissingFile, UsageError
from gossamer.links import graph
from gossamer.links.bvgraph.files import BvGraph
from gossamer.links.graph import arc_encoding, numbering, paths
from gossamer.links.graph.names import Names, host_name, host_prefix, name_of, url_of
from gossamer.links.graph.paths import shortest_path
from gossamer.links.graph.queries import LinkGraph
from gossamer.state.workspace import Workspace
from tests.support.bvgraph_files import write
from tests.support.crawled_links import crawl

if TYPE_CHECKING:
    from collections.abc import Callable

HOSTS = ("a.example.org", "example.org", "b.example.org:8080", "[::1]:81", "other.net")
URLS = [f"https://{host}/{path}" for host in HOSTS for path in ("", "x", "x/y", "z?q=1%202")]


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://www.example.org/a?b", "org,example,www  https /a?b"),
        ("http://www.example.org:8080/", "org,example,www :8080 http /"),
        ("http://[::1]:81/x y z", "[::1] :81 http /x y z"),
        ("http://127.0.0.1/", "1,0,0,127  http /"),
        ("file:///etc/motd", "  file /etc/motd"),
    ],
)
def test_a_name_sorts_by_domain_and_is_a_url_again(url: str, name: str) -> None:
    assert name_of(url) == name
    assert url_of(name) == url


@pytest.mark.parametrize("host", ["www.example.org", "example.org:8080", "[::1]:81", "[::1]"])
def test_the_name_of_a_host_begins_the_names_of_its_pages(host: str) -> None:
    assert name_of(f"http://{host}/x").startswith(f"{host_name(host)} ")
    assert url_of(host_name(host)) == host
    assert host_prefix(name_of(f"http://{host}/x y z")) == host_name(host)


def test_links_are_found_in_both_directions(work: Workspace) -> None:
    links = [("http://a.org/", "http://b.org/"), ("http://a.org/", "http://c.org/x")]
    links += [("http://c.org/y", "http://b.org/")]
    crawl(work, links)
    done = graph.run(work)
    assert done.counts == {"pages": 4, "page_links": 3, "hosts": 3, "host_links": 3}
    pages, hosts = LinkGraph(work), LinkGraph(work, "host")
    assert pages.outlinks("http://a.org/") == (["http://b.org/", "http://c.org/x"], 2)
    assert pages.inlinks("http://b.org/") == (["http://a.org/", "http://c.org/y"], 2)
    assert pages.inlinks("http://b.org/", 1) == (["http://a.org/"], 2)
    assert pages.outlinks("HTTP://A.org") == pages.outlinks("http://a.org/")
    assert pages.inlinks("http://a.org/") == ([], 0)
    assert hosts.inlinks("b.org") == (["a.org", "c.org"], 2)
    assert hosts.outlinks("b.org") == ([], 0)
    assert pages.common(["http://b.org/", "http://c.org/x"]) == (["http://a.org/"], 1)
    assert pages.common(["http://a.org/", "http://c.org/x"]) == ([], 0)
    assert hosts.common(["b.org"], 1) == (["a.org"], 2)
    with pytest.raises(UsageError, match="no page of this name"):
        pages.inlinks("http://unknown.org/")
    with pytest.raises(UsageError, match="no host of this name"):
        hosts.inlinks("unknown.org")


def test_only_votes_are_links_of_the_graph(work: Workspace) -> None:
    crawl(work, [("http://a.org/", "http://a.org/feed")], relation="feed")
    crawl(work, [("http://a.org/", "http://spam.org/")], nofollow=True)
    assert graph.run(work).counts == {"pages": 0, "page_links": 0, "hosts": 0, "host_links": 0}
    assert LinkGraph(work).degrees().nodes == 0


def test_degrees_are_counted(work: Workspace) -> None:
    crawl(work, [("http://a.org/", f"http://a.org/{n}") for n in range(5)])
    graph.run(work)
    degrees = LinkGraph(work).degrees()
    assert degrees[:6] == (6, 5, 5, 1, 5, 1)
    assert LinkGraph(work, "host").degrees()[:3] == (1, 0, 1)


def test_the_bits_of_a_link_are_a_mean(work: Workspace) -> None:
    """In the rows of both directions; the bytes of a name are those of all names."""
    crawl(work, [(f"http://{host}.org/", f"http://a.org/{n}") for n in range(99) for host in "bc"])
    graph.run(work)
    degrees = LinkGraph(work).degrees()
    assert degrees.links == 198
    assert 0 < degrees.bits_per_link < 20
    assert 0 < degrees.bits_per_link_transposed < 20
    assert degrees.bytes_per_name > 1


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sets(st.tuples(st.sampled_from(URLS), st.sampled_from(URLS)), max_size=60))
def test_any_links_are_the_same_in_parts_of_any_size(
    new_work: Callable[[], Workspace], links: set[tuple[str, str]]
) -> None:
    links = {(src, dst) for src, dst in links if src != dst}
    with pytest.MonkeyPatch.context() as small:
        small.setattr(numbering, "NAME_BYTES", 10**9 // 5)
        small.setattr(arc_encoding, "ARC_BYTES", 10**9 // 7)
        small.setattr(arc_encoding, "CHUNK", 4)
        work = new_work()
        crawl(work, links)
        graph.run(work)
    pages = LinkGraph(work)
    for url in {url for link in links for url in link}:
        assert set(pages.outlinks(url).names) == {dst for src, dst in links if src == url}
        assert set(pages.inlinks(url).names) == {src for src, dst in links if dst == url}


NODES = st.integers(0, 11)


@given(st.sets(st.tuples(NODES, NODES), max_size=30), NODES, NODES, st.integers(1, 4))
def test_a_path_is_a_shortest_one(
    tmp_path_factory: pytest.TempPathFactory,
    links: set[tuple[int, int]],
    start: int,
    end: int,
    at_once: int,
) -> None:
    folder = tmp_path_factory.mktemp("paths")
    both: list[BvGraph] = []
    for name, ends in (("forward", links), ("transposed", {(dst, src) for src, dst in links})):
        rows = [sorted(dst for src, dst in ends if src == node) for node in range(12)]
        both.append(write(folder / name, rows))
    with pytest.MonkeyPatch.context() as small:
        small.setattr(paths, "NODES_AT_ONCE", at_once)
        found = shortest_path(both[0], both[1], start, end)
    reached, steps = {start}, 0
    while end not in reached and (more := {dst for src, dst in links if src in reached} - reached):
        reached, steps = reached | more, steps + 1
    if end not in reached:
        assert found is None
    else:
        assert found is not None
        assert (found[0], found[-1], len(found)) == (start, end, steps + 1)
        assert set(pairwise(found)) <= links


def test_a_search_for_a_path_is_bounded(tmp_path: Path) -> None:
    rows = [[0, 1, 2], [2], [0, 1], [3]]
    both = write(tmp_path / "forward", rows), write(tmp_path / "transposed", rows)
    assert shortest_path(*both, 0, 3) is None
    with pytest.raises(UsageError, match="none was found among 2 nodes"):
        shortest_path(*both, 0, 3, most=2)


def test_names_of_many_groups_are_found(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    urls = [f"http://h{n % 7}.org/{n}" for n in range(60)]
    monkeypatch.setattr("gossamer.links.graph.names.GROUP", 4)
    crawl(work, [("http://a.org/", url) for url in urls])
    graph.run(work)
    listed = [file.path for file in work.store.files("graph") if file.path.endswith("parquet")]
    names = Names([f"{work.root}/{path}" for path in listed if "/page-" in path])
    assert [names.number(names[number]) for number in range(names.count)] == [*range(61)]
    assert [names[number] for number in range(61)] == sorted(map(name_of, [*urls, "http://a.org/"]))
    assert names.number("") is names.number("zzz") is names.number(names[7] + "0") is None


@pytest.mark.folder
def test_the_graph_is_not_there_before_it_is_built_and_damage_is_found(work: Workspace) -> None:
    with pytest.raises(UsageError, match="gossamer graph build"):
        LinkGraph(work)
    crawl(work, [("http://a.org/", "http://b.org/")])
    graph.run(work)
    path = next(file.path for file in work.store.files("graph") if file.path.endswith("s.graph"))
    content = bytearray(Path(work.root, path).read_bytes())
    content[0] ^= 16
    Path(work.root, path).write_bytes(content)
    with pytest.raises(MissingFile, match="graph"):
        LinkGraph(Workspace.open(work.root))


@pytest.mark.folder
def test_a_graph_is_replaced_by_the_next_one(work: Workspace) -> None:
    crawl(work, [("http://a.org/", "http://b.org/")])
    graph.run(work)
    before = work.store.files("graph")
    graph.run(work, anew=True)
    after = work.store.files("graph")
    assert not {file.path for file in before} & {file.path for file in after}
    assert [file.xxh3 for file in before if file.path.endswith("graph")] == [
        file.xxh3 for file in after if file.path.endswith("graph")
    ]
    base = Path(work.root, after[0].path).parent
    assert [BvGraph(base / name).arcs for name in ("pages", "pages-t", "hosts", "hosts-t")] == [
        1
    ] * 4


def test_the_commands(work: Workspace) -> None:
    crawl(work, [("http://a.org/", f"http://b.org/{n}") for n in range(25)])

    def run(*arguments: str) -> str:
        ended = CliRunner().invoke(app, ["graph", *arguments])
        assert ended.exit_code == 0, ended.output
        return ended.output

    graph.run(work)
    shown = run("outlinks", work.root, "http://a.org/")
    assert shown.startswith("http://b.org/0\nhttp://b.org/1\n")
    assert "and 5 more: --limit" in shown
    found = msgspec.json.decode(run("inlinks", work.root, "http://b.org/7", "--json"))
    assert found == {"total": 1, "links": [{"url": "http://a.org/", "anchor": None}]}
    assert run("inlinks", work.root, "b.org", "--hosts") == "a.org\n"
    assert msgspec.json.decode(run("stats", work.root, "--json"))["links"] == 25
    assert (
        run("common", work.root, "b.org", "--hosts", "--json") == '{"total":1,"names":["a.org"]}\n'
    )
    assert (
        run("path", work.root, "http://a.org/", "http://b.org/7")
        == "http://a.org/\nhttp://b.org/7\n"
    )
    none = CliRunner().invoke(app, ["graph", "path", work.root, "b.org", "a.org", "--hosts"])
    assert (none.exit_code, none.output) == (1, "there is no way along links\n")
    assert "bits per link" in run("stats", work.root)
