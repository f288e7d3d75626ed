"""Ranks reach pages: their own, or what the rank of their host is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from gossamer.schedule import generate
from gossamer.schedule.order import page_ranks
from gossamer.schedule.order.page_ranks import LEAST, add_own_ranks, add_ranks
from tests.support.rows import by_url, frame, put

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

RANKS: dict[str, float | None] = {
    "http://a.example/": 0.5,
    "http://a.example/1": 0.2,
    "http://b.example/": 0.2,
    "http://b.example/none": 0.0,
    "http://b.example/lost": None,
}
HOSTS = {"a.example": 0.6, "b.example": 0.3}
UNRANKED = ("http://a.example/new", "http://b.example/new", "http://c.example/")


def ranked(work: Workspace) -> dict[str, dict[str, Any]]:
    put(work, "ranks", [{"url": url, "rank": rank} for url, rank in RANKS.items()])
    put(work, "host_ranks", [{"host": host, "rank": rank} for host, rank in HOSTS.items()])
    put(work, "host_sizes", [{"host": host, "pages": 2} for host in HOSTS])
    rows = [{"url": url, "host": url.split("/")[2]} for url in (*RANKS, *UNRANKED)]
    return by_url(add_ranks(work, frame(work, "pages", rows)))


@pytest.mark.parametrize("at_once", [100, 1])
def test_a_page_has_its_own_rank_or_its_part_of_its_host_s(
    work: Workspace, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(page_ranks, "PART_RANKS", at_once)
    found = ranked(work)
    assert {url: row["rank"] for url, row in found.items()} == pytest.approx(
        {
            "http://a.example/": 0.5,
            "http://a.example/1": 0.2,
            "http://b.example/": 0.2,
            "http://b.example/none": LEAST,
            "http://b.example/lost": 0.15 * 0.3 / 2,
            "http://a.example/new": 0.15 * 0.6 / 2,
            "http://b.example/new": 0.15 * 0.3 / 2,
            "http://c.example/": LEAST,
        }
    )
    hosts = {row["host"]: row["host_rank"] for row in found.values()}
    assert hosts == {"a.example": 0.6, "b.example": 0.3, "c.example": LEAST}


@pytest.mark.parametrize("count", [None, 2])
def test_few_pages_are_looked_up_among_many_ranks(
    work: Workspace, monkeypatch: pytest.MonkeyPatch, count: int | None
) -> None:
    monkeypatch.setattr(page_ranks, "PART_RANKS", 2)
    put(work, "ranks", [{"url": url, "rank": rank} for url, rank in RANKS.items()])
    urls = [{"url": "http://a.example/1"}, {"url": UNRANKED[0]}]
    found = by_url(add_own_ranks(work, frame(work, "pages", urls).select("url"), count))
    assert {url: row["rank"] for url, row in found.items()} == {
        "http://a.example/1": 0.2,
        UNRANKED[0]: None,
    }


def test_before_the_first_rank_all_pages_are_alike(work: Workspace) -> None:
    rows = [{"url": f"http://{host}.example/", "host": f"{host}.example"} for host in "ab"]
    found = by_url(add_ranks(work, frame(work, "pages", rows)))
    assert {(row["rank"], row["host_rank"]) for row in found.values()} == {(LEAST, LEAST)}


@pytest.mark.parametrize(
    ("scoring", "chosen"),
    [
        ("pagerank", {"http://a.example/", "http://a.example/1"}),
        ("links*pagerank", {"http://a.example/", "http://b.example/"}),
        ("breadth*hostrank", {"http://a.example/", "http://a.example/1"}),
    ],
)
def test_a_round_takes_the_pages_with_the_highest_ranks(
    work: Workspace, scoring: str, chosen: set[str]
) -> None:
    ranked(work)
    linked = {"http://b.example/": 99, "http://c.example/": 99}
    rows = [
        {"url": url, "host": url.split("/")[2], "depth": 0, "inlinks": linked.get(url, 0)}
        for url in (*RANKS, *UNRANKED)
    ]
    put(work, "pages", rows)
    work.config = msgspec.structs.replace(
        work.config,
        generate=msgspec.structs.replace(work.config.generate, pages=2, domain_share=1),
        update=msgspec.structs.replace(work.config.update, scoring=scoring),
    )
    generate.run(work)
    assert set(by_url(work.read("fetchlist"))) == chosen
