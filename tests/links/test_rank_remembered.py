"""Ranks after rounds, from what the last run left, are those of a full computation."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from gossamer.links import graph, rank
from gossamer.links.graph import graph_changes
from gossamer.links.rank.fetched_nodes import fetched_keys
from gossamer.state import lsm
from gossamer.state.workspace import Workspace
from gossamer.tables import PAGES
from gossamer.web.public_suffixes import registrable
from gossamer.web.urls import host_of
from tests.support.rank_by_definition import SOME, URLS, configure, crawl, dense, host_links, ranks
from tests.support.rows import frame, put

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

NEW = [f"http://new-{number}.org/" for number in range(6)]
ALL = [*URLS, *NEW]
LOOK_UP = "gossamer.links.rank.fetched_nodes.fetched_keys"
"""How all fetched pages are read."""


class Rounds:
    """Rounds in which pages are fetched, go, and link to others, some of them new."""

    def __init__(self, work: Workspace, seed: int) -> None:
        self.work, self.chance, self.round = work, Random(seed), 0  # noqa: S311
        self.links: dict[str, set[str]] = {}
        self.fetched: set[str] = set()

    def go_on(self, pages: int, *, merged: int = 0) -> None:
        """A round in which so many pages answer. So many of the layers of `pages` are merged."""
        self.round += 1
        answered = self.chance.sample(ALL, pages)
        there = {url for url in answered if self.chance.random() < 0.8}
        self.fetched = self.fetched - {*answered} | there
        rows = [
            {"url": url, "status": "fetched" if url in self.fetched else "gone"} for url in answered
        ]
        with self.work.step("test", self.round) as draft:
            layers = self.work.store.manifest.layers("pages")
            stack = [*lsm.layer_frames(self.work, PAGES)[len(layers) - merged :]] if merged else []
            newest = lsm.newest_rows([*stack, frame(self.work, "pages", rows)], "url")
            layer = self.work.write(newest, "pages", self.round)
            draft.replace["pages"] = (*layers[: len(layers) - merged], layer)
        for url in there:
            self.links[url] = {*self.chance.sample(ALL, self.chance.randrange(4))} - {url}
        number = self.round
        put(
            self.work,
            "links",
            [{"src": url, "dst": dst, "round": number} for url in there for dst in self.links[url]],
            number,
        )
        answers = [{"url": url, "outcome": "ok", "round": number} for url in there]
        put(self.work, "responses", answers, number)

    def check(self) -> None:
        links = {(src, dst) for src, found in self.links.items() for dst in found}
        expected = dense(links, self.fetched)
        assert ranks(self.work) == pytest.approx(
            dict.fromkeys(ranks(self.work)) | expected, abs=1e-9
        )
        hosts = ranks(self.work, "host_ranks", "host")
        expected = dense(host_links(links), set(map(host_of, self.fetched)), domain_of=registrable)
        assert {host: hosts[host] for host in expected} == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(0, marks=pytest.mark.slow),
        *(pytest.param(n, marks=pytest.mark.long) for n in range(1, 5)),
    ],
)
def test_any_rounds_end_with_the_ranks_of_a_full_computation(
    new_work: Callable[[], Workspace], monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(graph_changes, "SHARE", 100)
    work = new_work()
    configure(work, tolerance=1e-11)
    rounds = Rounds(work, seed)
    rounds.go_on(len(URLS))
    graph.run(work)
    rank.run(work)
    rounds.check()
    with monkeypatch.context() as patched:
        patched.delattr(LOOK_UP)
        for pages, merged in ((3, 0), (6, 0), (4, 2), (1, 1)):
            rounds.go_on(pages, merged=merged)
            graph.run(work)
            rank.run(work)
            rounds.check()
        rank.run(work)
        rounds.check()
    for anew in (True, False):
        rounds.go_on(3)
        graph.run(work, anew=anew)
        rank.run(work)
        rounds.check()


@pytest.mark.folder
def test_what_the_last_run_left_is_not_used_if_it_is_damaged_or_of_other_ranks(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl(work, SOME, URLS[:14])
    graph.run(work)
    rank.run(work)
    seen: list[str] = []

    def looked_up(work: Workspace, kind: str) -> DataFrame:
        seen.append(kind)
        return fetched_keys(work, kind)

    monkeypatch.setattr(LOOK_UP, looked_up)
    rank.run(work)
    assert not seen
    path = next(Path(work.root, file.path).parent for file in work.store.listed("ranked_nodes"))
    path /= "nodes.msgpack"
    path.write_bytes(path.read_bytes()[:-1] + b"\x00")
    rank.run(Workspace(type(work.store).open(work.store.backend), work.config, _engine=work.engine))
    assert seen == ["page"]
    work.store.refresh()
    with work.step("test", work.round) as draft:
        draft.replace |= {"ranks": (), "host_ranks": ()}
    rank.run(work)
    assert seen == ["page", "page"]
    assert ranks(work) == pytest.approx(dense(SOME, URLS[:14]), abs=1e-6)
    with work.step("test", work.round) as draft:
        draft.replace["graph"] = ()
    rank.run(work)
    assert not work.store.listed("ranked_nodes")
