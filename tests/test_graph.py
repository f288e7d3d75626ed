"""invert and rank, on graphs whose answers are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gossamer import invert, linkgraph, rank
from rows import by_url, put

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.workspace import Workspace

ALPHA = 0.85


def crawl(work: Workspace, nodes: str, edges: list[str], round_: int = 1) -> None:
    """A crawl of pages with names of one letter, each on a domain of its own."""
    put(work, "pages", [{"url": url(n), "status": "fetched"} for n in nodes], round_)
    links = [{"src": url(e[0]), "dst": url(e[1]), "round": round_} for e in edges]
    put(work, "links", links, round_)
    answers = [{"url": url(n), "round": round_, "outcome": "ok"} for n in nodes]
    put(work, "responses", answers, round_)


def url(letter: str) -> str:
    return f"http://{letter}.org/"


def letter(url: str) -> str:
    return url.removeprefix("http://").removesuffix(".org/")


def ranks(work: Workspace) -> dict[str, float]:
    rank.run(work)
    return {letter(url): row["rank"] for url, row in by_url(work.read("ranks")).items()}


def dense(nodes: str, edges: set[str]) -> dict[str, float]:
    """PageRank by solving the linear system: an independent way to the same numbers."""
    n = len(nodes)
    move = np.zeros((n, n))
    for i, u in enumerate(nodes):
        out = [nodes.index(e[1]) for e in edges if e[0] == u and e[1] != u]
        move[:, i] = 1 / n
        if out:
            move[:, i] = 0
            move[out, i] = 1 / len(out)
    x = np.linalg.solve(np.eye(n) - ALPHA * move, np.full(n, (1 - ALPHA) / n))
    return dict(zip(nodes, x, strict=True))


@pytest.mark.parametrize("nodes", ["ab", "abcdef"])
def test_in_a_cycle_and_in_a_clique_all_are_equal(work: Workspace, nodes: str) -> None:
    cycle = [a + b for a, b in zip(nodes, nodes[1:] + nodes[0], strict=True)]
    crawl(work, nodes, cycle)
    assert ranks(work) == pytest.approx(dict.fromkeys(nodes, 1 / len(nodes)))


def test_a_star_s_centre(work: Workspace) -> None:
    crawl(work, "cxyz", ["xc", "yc", "zc"])
    assert ranks(work) == pytest.approx(dense("cxyz", {"xc", "yc", "zc"}), abs=1e-5)


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sets(st.text("abcde", min_size=2, max_size=2), max_size=15))
def test_ranks_solve_the_linear_system(new_work: Callable[[], Workspace], edges: set[str]) -> None:
    work = new_work()
    crawl(work, "abcde", sorted(edges))
    found = ranks(work)
    assert found == pytest.approx(dense("abcde", edges), abs=1e-5)
    assert sum(found.values()) == pytest.approx(1)


def test_a_graph_too_large_for_memory_is_ranked_by_the_engine(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    edges = ["ab", "ac", "bc", "ca", "dc", "ea"]
    crawl(work, "abcde", edges)
    counts, in_memory = rank.run(work).counts, ranks(work)
    monkeypatch.setattr(rank, "MAX_IN_MEMORY", 0)
    assert rank.run(work).counts == counts
    assert ranks(work) == pytest.approx(in_memory, rel=1e-12)
    assert in_memory == pytest.approx(dense("abcde", set(edges)), abs=1e-5)


def test_only_fetched_pages_have_rank(work: Workspace) -> None:
    crawl(work, "ab", ["ab", "ba", "ax", "ay"])
    put(work, "pages", [{"url": url("y"), "status": "redirected"}])
    assert ranks(work) == pytest.approx({"a": 0.5, "b": 0.5})


def test_links_to_one_page_carry_one_share(work: Workspace) -> None:
    crawl(work, "abc", ["ab", "ab", "ab", "ac"])
    assert ranks(work) == pytest.approx(dense("abc", {"ab", "ac"}), abs=1e-5)


def test_a_nofollow_link_carries_no_rank(work: Workspace) -> None:
    crawl(work, "abc", ["ab"])
    put(work, "links", [{"src": url("a"), "dst": url("c"), "nofollow": True}])
    assert ranks(work) == pytest.approx(dense("abc", {"ab"}), abs=1e-5)


def test_hosts_are_ranked_by_the_links_between_them(work: Workspace) -> None:
    urls = [f"http://{host}/{n}" for host in ("a.org", "b.org", "c.org:81") for n in range(2)]
    put(work, "pages", [{"url": url, "status": "fetched"} for url in urls])
    links = [(0, 2), (1, 2), (1, 3), (0, 1), (2, 4)]
    put(work, "links", [{"src": urls[src], "dst": urls[dst]} for src, dst in links])
    rank.run(work)
    found = {host: row["rank"] for host, row in by_url(work.read("host_ranks"), "host").items()}
    by_letter = {f"{host}.org" + ":81" * (host == "c"): host for host in "abc"}
    expected = dense("abc", {"ab", "bc"})
    assert found == pytest.approx({host: expected[n] for host, n in by_letter.items()}, abs=1e-5)


def test_iterations_are_bounded(work: Workspace) -> None:
    few = msgspec.structs.replace(work.config.rank, iterations=2, tolerance=1e-12)
    work.config = msgspec.structs.replace(work.config, rank=few)
    crawl(work, "cxyz", ["xc", "yc", "zc"])
    assert rank.run(work).counts["iterations"] == 2


def test_an_empty_graph(work: Workspace) -> None:
    assert rank.run(work).counts == {"pages": 0, "iterations": 0, "hosts": 0}
    assert invert.run(work).counts == {"pages": 0}


def test_inlinks_are_sources_in_order(work: Workspace) -> None:
    rows = [{"src": s, "dst": "z", "anchor": f"to z from {s}"} for s in "cab"]
    put(work, "links", [*rows, {"src": "a", "dst": "y"}])
    invert.run(work)
    found = by_url(work.read("inlinks"), "dst")
    assert found["z"]["count"] == 3
    assert [s["src"] for s in found["z"]["sources"]] == ["a", "b", "c"]
    assert found["z"]["sources"][0]["anchor"] == "to z from a"
    assert found["y"]["sources"] == [{"src": "a", "anchor": None}]


def test_sources_are_bounded_and_counted(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(invert, "MAX_SOURCES", 2)
    put(work, "links", [{"src": s, "dst": "z"} for s in "dcba"])
    invert.run(work)
    found = by_url(work.read("inlinks"), "dst")["z"]
    assert (found["count"], [s["src"] for s in found["sources"]]) == (4, ["a", "b"])


def test_sitemaps_are_links_and_no_votes(work: Workspace) -> None:
    """Of a robots.txt, which no response is of, those that it named last."""
    named = {"relation": "sitemap", "first": False}
    site, other = ({"src": f"http://{host}/robots.txt", **named} for host in ("a.b", "b.c"))
    crawl(work, "ab", ["ab"])
    put(work, "links", [site | {"dst": "s1"}, site | {"dst": url("a")}, other | {"dst": "s2"}], 1)
    put(work, "links", [site | {"dst": "s3", "round": 2}], 2)
    put(work, "links", [{"src": url("a"), "dst": url("x"), **named}], 1)
    current = {(row["src"], row["dst"]) for row in linkgraph.current(work).collect()}
    assert current == {
        (url("a"), url("b")),
        (url("a"), url("x")),
        (site["src"], "s3"),
        (other["src"], "s2"),
    }
    votes = [(row["src"], row["dst"]) for row in linkgraph.votes(work).collect()]
    assert votes == [(url("a"), url("b"))]
    invert.run(work)
    assert by_url(work.read("inlinks"), "dst").keys() == {url("b")}


def test_the_links_of_a_page_are_those_of_its_last_parse(work: Workspace) -> None:
    crawl(work, "ab", ["ax", "bx"], round_=1)
    put(work, "links", [{"src": url("a"), "dst": url("y"), "round": 2}], round_=2)
    put(work, "responses", [{"url": url("a"), "round": 2, "outcome": "ok"}], round_=2)
    found = {(letter(row["src"]), letter(row["dst"])) for row in linkgraph.current(work).collect()}
    assert found == {("a", "y"), ("b", "x")}


def test_a_page_that_answered_without_links_has_none(work: Workspace) -> None:
    crawl(work, "ab", ["ax", "bx"], round_=1)
    put(work, "responses", [{"url": "a", "round": 2, "outcome": "ok"}], round_=2)
    assert [(row["src"], row["dst"]) for row in linkgraph.votes(work).collect()] == [("b", "x")]
