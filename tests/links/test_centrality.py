"""`gossamer graph centrality`: datasets from the stored link graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from typer.testing import CliRunner

from gossamer.cli import app
from gossamer.errors import UsageError
from gossamer.links import graph
from gossamer.links.graph import centrality
from tests.support.rows import put

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gossamer.state.workspace import Workspace


def crawl(work: Workspace, links: Iterable[tuple[str, str]], round_: int = 1) -> None:
    rows = [{"src": src, "dst": dst, "round": round_} for src, dst in links]
    put(work, "links", rows, round_)
    sources = {src for src, _ in links}
    put(work, "responses", [{"url": u, "round": round_, "outcome": "ok"} for u in sources], round_)


def found(work: Workspace) -> dict[tuple[str, str], tuple[float, float]]:
    rows = work.read("centrality").collect()
    return {(row["kind"], row["name"]): (row["harmonic"], row["error"]) for row in rows}


def test_pages_and_hosts_have_a_centrality(work: Workspace) -> None:
    with pytest.raises(UsageError, match="gossamer graph build"):
        centrality.run(work)
    first, second, third = "http://a.org/", "https://www.b.org:81/x y", "http://1.2.3.4/?q= 1 "
    crawl(work, [(first, second), (second, third)])
    graph.run(work)
    assert centrality.run(work).counts == {"pages": 3, "hosts": 3}
    wanted = {
        **{("page", url): (value, 0) for url, value in ((first, 0), (second, 1), (third, 1.5))},
        **{
            ("host", host): (value, 0)
            for host, value in (("a.org", 0), ("www.b.org:81", 1), ("1.2.3.4", 1.5))
        },
    }
    assert found(work) == wanted
    crawl(work, [("http://c.org/", first)], round_=2)
    graph.run(work)  # a change beside the graph, whose nodes have the last numbers
    centrality.run(work)
    assert found(work)["page", third] == pytest.approx((1 + 1 / 2 + 1 / 3, 0))
    assert found(work)["host", "c.org"] == (0, 0)


def test_the_command(work: Workspace) -> None:
    crawl(work, [("http://a.org/", "http://b.org/")])
    graph.run(work)
    ended = CliRunner().invoke(app, ["graph", "centrality", work.root, "--json"])
    assert ended.exit_code == 0, ended.output
    assert msgspec.json.decode(ended.output)["counts"] == {"pages": 2, "hosts": 2}
