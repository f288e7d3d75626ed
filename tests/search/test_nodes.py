"""Nodes that are opened, and whose index changes between two requests for one question."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from gossamer.config import Config
from gossamer.errors import StoreFull
from gossamer.search.messages import (
    CountTerms,
    Find,
    FoundPages,
    Question,
    Reply,
    Request,
    RequestRefused,
    Rescore,
    TermCounts,
    Weigh,
    Weighed,
)
from gossamer.search.node import Node
from gossamer.search.query import parse
from gossamer.search.searcher import Searcher
from gossamer.state.workspace import Workspace
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.store import Store
from tests.support.broker_nodes import asked
from tests.support.small_index import crawl, put_index

FRUITS = ("apple pear plum", "apple pear", "pear plum")
PAGES = [{"url": f"http://a.example/{n}", "title": text} for n, text in enumerate(FRUITS * 2)]
QUERY = "apple pear plum"
"""Few pages have all its words, so that those with some are looked for, too."""


class Changing:
    """A node whose index is another one after the first Find."""

    def __init__(self, before: Node, after: Node) -> None:
        self._node, self._after = before, after

    def reply(self, request: Request) -> Reply:
        reply = self._node.reply(request)
        if isinstance(reply, FoundPages):
            self._node = self._after
        return reply


class Failing:
    """A node that answers until it is to look closer."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self.refused = 0

    def reply(self, request: Request) -> Reply:
        if self.refused or isinstance(request, Rescore):
            self.refused += 1
            return RequestRefused("no")
        return self._node.reply(request)


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    work = crawl(tmp_path / "crawl")
    put_index(work, PAGES)
    return work


def test_pages_are_those_that_were_found_whatever_changes(work: Workspace) -> None:
    one, two = (Searcher.open(work, shards=[shard]).node for shard in (1, 2))
    put_index(work, [{"url": "http://b.example/", "title": "plum"} for _ in range(9)])
    after = Searcher.open(work, shards=[2]).node
    found = asked(work, [one, Changing(two, after)], Question(QUERY))
    assert found.missing == 1
    assert {hit.host for hit in found.hits} == {"a.example"}


def test_a_node_that_failed_is_not_asked_again(work: Workspace) -> None:
    one, two = (Searcher.open(work, shards=[shard]).node for shard in (1, 2))
    failing = Failing(two)
    found = asked(work, [one, failing], Question(QUERY))
    assert (found.missing, failing.refused) == (1, 1)
    assert found.hits


def test_a_language_that_nobody_had_counted_is_searched(work: Workspace) -> None:
    node = Searcher.open(work).node
    tree = parse("apple")
    found = node.reply(Find(tree, 10, counts={"de": {}}))
    assert isinstance(found, FoundPages)
    assert found.total == 4
    places = [each.place for each in found.candidates]
    weighed = node.reply(Weigh(node.state, tree, places, counts={"de": {}}))
    assert isinstance(weighed, Weighed)
    assert all(0 < value < 1 for value in weighed.cosines)


def test_the_same_index_is_in_the_same_state_wherever_it_lies(work: Workspace) -> None:
    elsewhere = shutil.copytree(work.root, Path(work.root).with_name("copy"))
    copy = Workspace(Store.open(LocalBackend(elsewhere)), Config())
    assert Searcher.open(copy).state == Searcher.open(work).state
    put_index(copy, PAGES)
    assert Searcher.open(copy).state != Searcher.open(work).state


def test_places_are_the_same_wherever_the_files_lie(work: Workspace, tmp_path: Path) -> None:
    """Another node of a group may be asked about what one has found."""
    parts = sorted({Path(path).parent for path in work.paths("index")})
    assert len(parts) > 1
    copies = [
        shutil.copytree(part, tmp_path / str(number) / part.parent.name / part.name)
        for number, part in zip(reversed(range(len(parts))), parts, strict=True)
    ]
    find = Find(parse("apple"), 10)
    here, there = (Node(folders, work.config.ranking).reply(find) for folders in (parts, copies))
    assert here == there


def test_a_full_disk_for_temporary_files_is_told_as_one(
    work: Workspace, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shards are joined in a folder there."""
    free = os.statvfs(small_disk)
    (small_disk / "ballast").write_bytes(bytes(free.f_bavail * free.f_frsize))
    monkeypatch.setattr(tempfile, "tempdir", str(small_disk))
    with pytest.raises(StoreFull, match=str(small_disk)):
        Searcher.open(work)


def test_terms_of_a_language_that_a_node_lacks_stand_on_none_of_its_pages(work: Workspace) -> None:
    node = Searcher.open(work).node
    assert node.reply(CountTerms("ko", ["apple"])) == TermCounts(0, {})
