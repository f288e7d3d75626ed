"""invert and the current link graph, on graphs whose answers are known."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pyarrow.parquet as pq

from gossamer.links import current_links, invert
from gossamer.tables import DATASETS, INLINKS
from tests.support.rows import by_url, put

if TYPE_CHECKING:
    import pytest

    from gossamer.state.workspace import Workspace
    from gossamer.tables import Dataset


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


def test_without_links_there_are_no_inlinks(work: Workspace) -> None:
    assert invert.run(work).counts == {"pages": 0}


def test_inlinks_are_sources_with_anchors(work: Workspace) -> None:
    rows = [{"src": s, "dst": "z", "anchor": f"to z from {s}"} for s in "cab"]
    put(work, "links", [*rows, {"src": "a", "dst": "y"}])
    invert.run(work)
    found = by_url(work.read("inlinks"), "dst")
    assert found["z"]["count"] == 3
    assert {s["src"]: s["anchor"] for s in found["z"]["sources"]} == {
        name: f"to z from {name}" for name in "abc"
    }
    assert found["y"]["sources"] == [{"src": "a", "anchor": None}]


def test_sources_are_bounded_and_counted(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(invert, "MAX_SOURCES", 2)
    put(work, "links", [{"src": s, "dst": "z"} for s in "dcba"])
    invert.run(work)
    found = by_url(work.read("inlinks"), "dst")["z"]
    assert (found["count"], len(found["sources"])) == (4, 2)


def test_a_look_up_of_inlinks_decodes_few_rows(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = replace(INLINKS, group_rows=2)
    monkeypatch.setitem(cast("dict[str, Dataset]", DATASETS), "inlinks", small)
    put(work, "links", [{"src": "s", "dst": f"d{n}"} for n in range(40)])
    invert.run(work)
    for path in work.paths("inlinks"):
        metadata = pq.read_metadata(path)
        assert metadata.num_row_groups == -(-metadata.num_rows // 2)


def test_sitemaps_are_links_and_no_votes(work: Workspace) -> None:
    """Of a robots.txt, which no response is of, those that it named last."""
    named = {"relation": "sitemap", "first": False}
    site, other = ({"src": f"http://{host}/robots.txt", **named} for host in ("a.b", "b.c"))
    crawl(work, "ab", ["ab"])
    put(work, "links", [site | {"dst": "s1"}, site | {"dst": url("a")}, other | {"dst": "s2"}], 1)
    put(work, "links", [site | {"dst": "s3", "round": 2}], 2)
    put(work, "links", [{"src": url("a"), "dst": url("x"), **named}], 1)
    current = {(row["src"], row["dst"]) for row in current_links.read_current(work).collect()}
    assert current == {
        (url("a"), url("b")),
        (url("a"), url("x")),
        (site["src"], "s3"),
        (other["src"], "s2"),
    }
    votes = [(row["src"], row["dst"]) for row in current_links.votes(work).collect()]
    assert votes == [(url("a"), url("b"))]
    invert.run(work)
    assert by_url(work.read("inlinks"), "dst").keys() == {url("b")}


def test_the_links_of_a_page_are_those_of_its_last_parse(work: Workspace) -> None:
    crawl(work, "ab", ["ax", "bx"], round_=1)
    put(work, "links", [{"src": url("a"), "dst": url("y"), "round": 2}], round_=2)
    put(work, "responses", [{"url": url("a"), "round": 2, "outcome": "ok"}], round_=2)
    found = {
        (letter(row["src"]), letter(row["dst"]))
        for row in current_links.read_current(work).collect()
    }
    assert found == {("a", "y"), ("b", "x")}


def test_a_page_that_answered_without_links_has_none(work: Workspace) -> None:
    crawl(work, "ab", ["ax", "bx"], round_=1)
    put(work, "responses", [{"url": url("a"), "round": 2, "outcome": "ok"}], round_=2)
    found = [(row["src"], row["dst"]) for row in current_links.votes(work).collect()]
    assert found == [(url("b"), url("x"))]
