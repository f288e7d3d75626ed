"""Depths and hops are those of the shortest known paths, in whatever order pages were met."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from gossamer.schedule import generate, inject, update
from gossamer.state import lsm
from gossamer.tables import HOSTS, PAGES
from tests.support.rows import LATER_MS, by_url, put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gossamer.state.workspace import Workspace

FAR = 1_000


@dataclass(frozen=True)
class Graph:
    """A small web. Names of pages are URLs without their scheme."""

    seeds: tuple[str, ...]
    links: dict[str, tuple[str, ...]]
    redirects: dict[str, str] = field(default_factory=dict)
    sitemaps: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """What the robots.txt of a host names."""
    nofollow: frozenset[tuple[str, str]] = frozenset()

    def rows_of(self, page: dict[str, Any], round_: int) -> list[dict[str, Any]]:
        """The links of a page that is fetched with this depth and these hops."""
        name = name_of(page["url"])
        link = {"src": page["url"], "round": round_, "first": not page["asked"]}
        if name in self.redirects:
            over = {"dst": self.redirects[name], "relation": "redirect"}
            return [link | over | {"depth": page["depth"], "hops": page["hops"] + 1}]
        return [
            link
            | {"dst": dst, "depth": page["depth"] + 1, "nofollow": (name, dst) in self.nofollow}
            for dst in self.links.get(name, ())
        ]

    def meet(self, work: Workspace, listed: Iterable[dict[str, Any]], round_: int) -> None:
        """Commit what a fetch of these pages, and their parsing, leave; then update."""
        listed = list(listed)
        answers, links, hosts = [], [], []
        known = by_url(lsm.current(work, HOSTS), "host")
        for page in listed:
            moved = name_of(page["url"]) in self.redirects
            outcome = "redirect" if moved else "ok"
            answers.append(
                page | {"outcome": outcome, "round": round_, "fetched_ms": work.now_ms()}
            )
            links += self.rows_of(page, round_)
        met = {host for host, row in known.items() if row["depth"] is not None}
        for host in {page["host"] for page in listed} - met:
            depth = min(page["depth"] for page in listed if page["host"] == host)
            hosts.append({"host": host, "depth": depth, "ready_ms": 0})
            robots = {"src": f"http://{host}/robots.txt", "relation": "sitemap", "first": False}
            links += [
                robots | {"dst": dst, "depth": depth + 1, "round": round_}
                for dst in self.sitemaps.get(host, ())
            ]
        put(work, "responses", answers, round_)
        put(work, "hosts", hosts, round_)
        put(work, "links", [row | {"dst": f"http://{row['dst']}"} for row in links], round_)
        with work.step("parse", round_):
            pass
        update.run(work)

    def shortest(self, asked: set[str]) -> dict[str, tuple[int, int]]:
        """Depth and hops of each page, if the pages `asked` are those that were fetched."""
        found = dict.fromkeys(self.seeds, (0, 0))
        for _ in range(FAR):
            hosts: dict[str, int] = {}
            for name in asked & found.keys():
                host = name.partition("/")[0]
                hosts[host] = min(hosts.get(host, FAR), found[name][0])
            paths = [
                (dst, depth + 1, 0)
                for host, depth in hosts.items()
                for dst in self.sitemaps.get(host, ())
            ]
            for name in asked & found.keys():
                depth, hops = found[name]
                if name in self.redirects:
                    paths.append((self.redirects[name], depth, hops + 1))
                else:
                    paths += [
                        (dst, depth + 1, 0)
                        for dst in self.links.get(name, ())
                        if (name, dst) not in self.nofollow
                    ]
            before = dict(found)
            for name, depth, hops in paths:
                least = found.get(name, (FAR, FAR))
                found[name] = (min(least[0], depth), min(least[1], hops))
            if found == before:
                return found
        raise AssertionError


def urls(names: Iterable[str]) -> list[str]:
    return [f"http://{name}" for name in names]


def seeded(work: Workspace, graph: Graph) -> None:
    put(work, "hosts", [], round_=0)
    inject.run(work, urls(graph.seeds))


def name_of(url: str) -> str:
    return url.removeprefix("http://")


def places(rows: dict[str, dict[str, Any]]) -> dict[str, tuple[int, int]]:
    return {name_of(url): (row["depth"], row["hops"]) for url, row in rows.items()}


WEB = Graph(
    seeds=("a.example/", "b.example/"),
    links={
        "a.example/": ("a.example/1", "w.example/"),
        "a.example/1": ("a.example/2",),
        "a.example/2": ("c.example/old", "a.example/3"),
        "a.example/3": ("c.example/4", "d.example/deep"),
        "b.example/": ("b.example/moved",),
        "c.example/new": ("c.example/4", "d.example/"),
        "c.example/4": ("c.example/5", "a.example/1"),
        "c.example/5": ("d.example/6",),
        "d.example/": ("d.example/6",),
        "w.example/": ("c.example/old", "c.example/5", "d.example/deep"),
    },
    redirects={
        "b.example/moved": "w.example/on",
        "w.example/on": "c.example/old",
        "c.example/old": "c.example/new",
    },
    sitemaps={"d.example": ("d.example/map", "d.example/6"), "c.example": ("c.example/map",)},
    nofollow=frozenset({("a.example/3", "d.example/deep")}),
)
OF_THIS_RUN = ("found_ms", "fetched_ms", "stored_ms", "next_fetch_ms", "source", "cash", "history")
"""`source` is how a page was met first, and cash flows from page to page: both depend on the
order."""


def crawled(
    work: Workspace, graph: Graph, waiting: tuple[str, ...] = (), **limits: int
) -> list[dict[str, Any]]:
    """The rows of pages after rounds until nothing is due; some hosts wait for the others."""
    config = msgspec.structs.replace(work.config.generate, **limits)
    work.config = msgspec.structs.replace(work.config, generate=config)
    seeded(work, graph)
    for ready_ms in (LATER_MS, 0)[not waiting :]:
        known = by_url(lsm.current(work, HOSTS), "host")
        new = {"depth": None, "contacted_ms": 0}
        held = [
            new | known.get(host, {}) | {"host": host, "ready_ms": ready_ms} for host in waiting
        ]
        put(work, "hosts", held, work.round)
        while generate.run(work).counts["pages"]:
            listed = work.read("fetchlist", work.round).collect()
            graph.meet(work, [row.asDict() for row in listed], work.round)
    rows = by_url(lsm.current(work, PAGES))
    kept = [name for name in PAGES.column_names if name not in OF_THIS_RUN]
    return [{name: rows[url][name] for name in kept} for url in sorted(rows)]


@pytest.mark.long
@pytest.mark.parametrize(
    ("waiting", "limits"),
    [
        (("c.example",), {"pages": 2}),
        ((), {"pages": 1}),
        ((), {"pages_per_host": 1}),
        (("w.example", "b.example"), {"pages": 5}),
    ],
)
def test_the_order_in_which_pages_are_met_does_not_change_them(
    new_work: Callable[[], Workspace], waiting: tuple[str, ...], limits: dict[str, int]
) -> None:
    at_once = crawled(new_work(), WEB)
    assert crawled(new_work(), WEB, waiting, **limits) == at_once
    found = {name_of(row["url"]): (row["depth"], row["hops"]) for row in at_once}
    assert found == WEB.shortest(set(found))


def random_graph(draw: Random, hosts: int = 25, pages: int = 8) -> Graph:
    """Most pages have one or two links, so that paths are long; a fifth of them move."""
    names = [f"h{host}.example/{page}" for host in range(hosts) for page in range(pages)]
    moved = {name for name in names if draw.random() < 0.2}
    return Graph(
        seeds=tuple(draw.sample(names, 12)),
        links={name: tuple(draw.sample(names, draw.choice((1, 1, 2, 3)))) for name in names},
        redirects={name: draw.choice(names) for name in sorted(moved)},
        sitemaps={f"h{host}.example": tuple(draw.sample(names, 2)) for host in range(0, hosts, 3)},
        nofollow=frozenset((name, draw.choice(names)) for name in names),
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
def test_places_in_a_random_graph_are_those_of_the_shortest_paths(
    work: Workspace, seed: int
) -> None:
    """Each round fetches a random part of the pages that are known, deep ones more often."""
    draw = Random(seed)  # noqa: S311  # the same graph each time
    graph = random_graph(draw)
    seeded(work, graph)
    asked: set[str] = set()
    rows = by_url(lsm.current(work, PAGES))
    for round_ in range(1, 6):
        due = [rows[url] | {"asked": False} for url in sorted(rows.keys() - asked)]
        listed = [row for row in due if draw.random() < 0.4 + 0.1 * row["depth"]]
        graph.meet(work, listed, round_)
        asked |= {row["url"] for row in listed}
        rows = by_url(lsm.current(work, PAGES))
        assert places(rows) == graph.shortest({name_of(url) for url in asked})
    assert len(asked) > 40


@pytest.mark.slow
def test_a_known_page_that_becomes_a_seed_brings_the_pages_behind_it_nearer(
    work: Workspace,
) -> None:
    seeded(work, WEB)
    for round_ in range(1, 6):
        known = by_url(lsm.current(work, PAGES)).values()
        due = [row | {"asked": False} for row in known if row["outcome"] is None]
        WEB.meet(work, due, round_)
    again = replace(WEB, seeds=(*WEB.seeds, "c.example/4", "d.example/"))
    inject.run(work, urls(again.seeds))
    rows = by_url(lsm.current(work, PAGES))
    asked = {name_of(url) for url, row in rows.items() if row["outcome"] is not None}
    assert {"c.example/4", "c.example/5", "d.example/"} <= asked
    assert places(rows) == again.shortest(asked)
    assert by_url(lsm.current(work, HOSTS), "host")["d.example"]["depth"] == 0


def test_a_page_of_a_known_host_that_is_asked_for_first_may_be_nearer_than_the_others(
    work: Workspace,
) -> None:
    """No page is nearer than it was, but the host is: what its robots.txt names follows."""
    deep = {"host": "b.example", "depth": 3, "ready_ms": 0}
    put(work, "hosts", [deep], round_=0)
    inject.run(work, urls(["a.example/"]))
    near = {"url": "http://b.example/1", "host": "b.example", "depth": 1, "hops": 0}
    put(work, "pages", [near | {"status": "unfetched", "source": "link"}], round_=0)
    WEB.meet(work, [near | {"asked": False}], 1)
    assert by_url(lsm.current(work, HOSTS), "host")["b.example"]["depth"] == 1
