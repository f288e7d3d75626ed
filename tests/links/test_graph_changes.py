"""A graph that is brought up to date is the one that would be built from all links."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path, PurePath
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gossamer.errors import MissingFile
from gossamer.links import graph
from gossamer.links.graph import arc_encoding, graph_changes, numbering, vote_reading
from gossamer.links.graph.host_links import links_between_hosts
from gossamer.links.graph.names import look_up_recent, url_of
from gossamer.links.graph.overlay import Overlaid
from gossamer.links.graph.stored_graph import open_graph
from gossamer.state.workspace import Workspace
from gossamer.storage.names import is_collected
from tests.support.rows import put

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.links.graph.overlay import Graph

HOSTS = ("a.org", "b.org", "c.b.org", "d.net:8080", "e.net")
URLS = [f"http://{host}/{path}" for host in HOSTS for path in ("", "x", "y")]
Arcs = set[tuple[str, str]]


def arcs_of(work: Workspace, kind: str) -> tuple[Arcs, Arcs]:
    """The named arcs that readers see, forward and transposed."""
    opened = open_graph(work, kind)

    def named(rows: Graph) -> Arcs:
        found, first = set(), 0
        for part in rows.rows(4):
            for node, (begin, end) in enumerate(pairwise(part.starts), first):
                assert rows.successors(node).tolist() == part.targets[begin:end].tolist()
                found |= {(node, target) for target in part.targets[begin:end].tolist()}
            first += part.starts.size - 1
        assert first == rows.nodes == opened.names.count
        assert len(found) == rows.arcs
        return {(url_of(opened.names[src]), url_of(opened.names[dst])) for src, dst in found}

    return named(opened.forward), named(opened.transposed)


def links_of_hosts(work: Workspace) -> dict[tuple[str, str], int]:
    found = links_between_hosts(work)
    assert found is not None
    hosts = found.hosts.to_pylist()
    ends = zip(found.sources.tolist(), found.targets.tolist(), strict=True)
    named = [(hosts[src], hosts[dst]) for src, dst in ends]
    assert len({*named}) == len(named)
    return dict(zip(named, found.links.tolist(), strict=True))


class History:
    """Rounds of a crawl, and the links that its graph has to have."""

    def __init__(self, work: Workspace, seed: int) -> None:
        self.work, self.round, self.chance = work, 0, Random(seed)  # noqa: S311
        self.links: dict[str, set[str]] = {}
        self.left: list[str] = []

    def go_on(self, pages: int) -> None:
        """A round: some pages answer, some are gone, fail, or are parsed in the next round."""
        self.round += 1
        late, self.left = self.left, []
        answers: list[dict[str, Any]] = []
        rows = []
        for url in late:
            rows += self._parsed(url, self.round - 1)
        for url in self.chance.sample(sorted(set(URLS) - set(late)), pages):
            outcome = self.chance.choice(["ok", "ok", "ok", "redirect", "gone", "server_error"])
            answers.append({"url": url, "round": self.round, "outcome": outcome})
            if outcome in {"gone", "server_error"}:
                continue
            self.links.pop(url, None)
            if self.chance.random() < 0.2:
                self.left.append(url)
            else:
                rows += self._parsed(url, self.round)
        put(self.work, "responses", answers, self.round)
        if rows:
            put(self.work, "links", rows, self.round)

    def _parsed(self, url: str, round_: int) -> list[dict[str, Any]]:
        found = self.chance.sample(URLS, self.chance.randrange(5))
        self.links[url] = set(found) - {url}
        rows = [{"src": url, "dst": dst, "round": round_} for dst in self.links[url]]
        return [*rows, {"src": url, "dst": "http://feed.org/", "round": round_, "relation": "feed"}]

    @property
    def arcs(self) -> Arcs:
        return {(src, dst) for src, found in self.links.items() for dst in found}


@pytest.mark.parametrize(
    "seed",
    [pytest.param(n, marks=pytest.mark.slow if n < 2 else pytest.mark.long) for n in range(6)],
)
def test_any_history_ends_with_the_graph_of_all_links(
    new_work: Callable[[], Workspace], monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(graph_changes, "SHARE", 100)
    monkeypatch.setattr(vote_reading, "FEWEST_BYTES", 1)
    monkeypatch.setattr(vote_reading, "ROW_BYTES", 10**9)  # each row group is a share
    if seed % 2:
        monkeypatch.setattr(numbering, "NAME_BYTES", 10**9 // 5)
        monkeypatch.setattr(arc_encoding, "ARC_BYTES", 10**9 // 7)
        monkeypatch.setattr(arc_encoding, "CHUNK", 4)
    work = new_work()
    history = History(work, seed)
    history.go_on(len(URLS) - 2)
    graph.run(work)
    for pages in (1, 5, 3, len(URLS) - 3):
        history.go_on(pages)
        done = graph.run(work)
        assert len(work.store.manifest.layers("graph")) == 2
        assert all(is_collected(file.path) for file in work.store.listed("graph"))
        of_hosts = {(src.split("/")[2], dst.split("/")[2]) for src, dst in history.arcs}
        expected = {"page": history.arcs, "host": {ends for ends in of_hosts if len({*ends}) > 1}}
        for kind, ends in expected.items():
            assert arcs_of(work, kind) == (ends, {(dst, src) for src, dst in ends})
            assert done.counts[f"{kind}_links"] == len(ends)
        assert links_of_hosts(work) == Counter(
            (src.split("/")[2], dst.split("/")[2])
            for src, dst in history.arcs
            if src.split("/")[2] != dst.split("/")[2]
        )
    seen = {kind: arcs_of(work, kind) for kind in expected}
    graph.run(work, anew=True)
    assert len(work.store.manifest.layers("graph")) == 1
    assert {kind: arcs_of(work, kind) for kind in expected} == seen


def test_the_names_of_the_pages_that_answered_last_are_kept_apart(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_changes, "SHARE", 100)
    history = History(work, 2)
    for pages in (len(URLS) - 2, 6):
        history.go_on(pages)
        graph.run(work)
    (path,) = (path for path in work.paths("graph") if "/recent-page-" in path)
    names, recent = open_graph(work, "page").names, pq.read_table(path)
    assert recent.num_rows
    assert [names[number] for number in recent["number"].to_pylist()] == recent["name"].to_pylist()
    assert look_up_recent([path], recent["name"].combine_chunks()).tolist() == (
        recent["number"].to_pylist()
    )
    assert look_up_recent([path], pa.array(["org,nowhere  http /"])).tolist() == [-1]


def test_a_graph_that_lacks_links_does_not_count_them(work: Workspace) -> None:
    history = History(work, 4)
    history.go_on(len(URLS) - 2)
    assert links_between_hosts(work) is None
    graph.run(work)
    assert links_of_hosts(work)
    history.go_on(3)
    assert links_between_hosts(work) is None


def test_a_graph_that_changed_much_is_built_again(work: Workspace) -> None:
    history = History(work, 1)
    for _ in range(3):
        history.go_on(len(URLS) - 4)
        graph.run(work)
        assert isinstance(open_graph(work, "page").forward, Overlaid) is False
    assert arcs_of(work, "page")[0] == history.arcs


@pytest.mark.folder
def test_damage_of_any_file_is_found_by_readers_and_mended_by_a_build(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_changes, "SHARE", 100)
    history = History(work, 3)
    for pages in (len(URLS) - 2, 5):
        history.go_on(pages)
        graph.run(work)
    listed = work.store.listed("graph")
    names = {PurePath(file.path).name.partition(".")[0][:10] for file in listed}
    assert {"pages", "pages-t", "hosts", "hosts-t", "covered", "hosts-link"} <= names
    chance = Random(5)  # noqa: S311
    for file in listed:
        path = Path(work.root, file.path)
        whole = path.read_bytes()
        flipped, at = bytearray(whole), chance.randrange(len(whole))
        flipped[at] ^= 1 << chance.randrange(8)
        for damaged in (whole[: chance.randrange(len(whole))], bytes(flipped)):
            path.write_bytes(damaged)
            with pytest.raises(MissingFile, match="graph build"):
                open_graph(Workspace.open(work.root), "page")
        path.write_bytes(whole)
    path.unlink()
    graph.run(work)
    assert arcs_of(work, "page")[0] == history.arcs


def test_a_graph_of_links_that_were_replaced_is_built_again(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_changes, "SHARE", 100)
    history = History(work, 2)
    history.go_on(len(URLS) - 2)
    graph.run(work)
    rows = work.read("links")
    with work.step("test", 1) as draft:
        layer = work.write(rows.where("dst not like '%/x'"), "links", 1)
        draft.replace["links"] = (layer,)
    graph.run(work)
    assert len(work.store.manifest.layers("graph")) == 1
    expected = {ends for ends in history.arcs if not ends[1].endswith("/x")}
    assert arcs_of(work, "page")[0] == expected != history.arcs
