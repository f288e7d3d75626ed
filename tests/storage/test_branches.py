"""Steps beside each other: what each reads, what their commits make, and what is garbage."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gossamer.errors import Conflict
from gossamer.storage.names import FOLDERS
from gossamer.storage.store import Layer, Store
from tests.support.bare_stores import contents, files_below, put, report
from tests.support.memory_backend import MemoryBackend

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@pytest.fixture
def store() -> Store:
    return Store.create(MemoryBackend())


def versions(layers: Iterable[Layer]) -> list[int]:
    return [layer.version for layer in layers]


def test_each_reads_what_it_began_with_and_its_own(store: Store) -> None:
    first, second, ranks = put(store, "links"), put(store, "links", b"more"), put(store, "ranks")
    store.commit(report(), append={"links": first})
    with store.branch() as branch:
        store.commit(report(round_=2), append={"links": second})
        branch.commit(report("rank"), replace={"ranks": [ranks]})
        assert contents(branch.manifest.layers("links")) == contents([first])
        assert contents(branch.manifest.layers("ranks")) == contents([ranks])
        assert contents(store.manifest.layers("ranks")) == []
    newest = Store.open(store.backend).manifest
    assert contents(newest.layers("links")) == contents([first, second])
    assert contents(newest.layers("ranks")) == contents([ranks])
    assert newest.round == 2  # that of the branch was older
    assert [done.step for done in newest.history] == ["fetch", "fetch", "rank"]
    assert store.refresh().version == newest.version


def test_what_others_commit_is_newer_than_what_a_branch_makes(store: Store) -> None:
    """So a step that recorded the version it has read finds it as new."""
    store.commit(report(), append={"links": put(store, "links")})
    read = store.manifest.version
    with store.branch() as branch:
        store.commit(report(), append={"links": put(store, "links")})
        branch.commit(report(), replace={"ranks": [put(branch, "ranks")]})
        branch.commit(report(), replace={"farms": [put(branch, "farms")]})
        assert branch.manifest.version == read
    newest = store.refresh()
    assert versions(newest.layers("links")) == [read, read + 1]
    assert versions(newest.layers("ranks")) == versions(newest.layers("farms")) == [read]
    store.commit(report(), replace={"ranks": [put(store, "ranks")]})
    assert versions(store.manifest.layers("ranks")) == [newest.version + 1]


def test_layers_are_merged_while_others_are_appended(store: Store) -> None:
    old = [put(store, "links"), put(store, "links", b"2"), put(store, "links", b"3")]
    for layer in old:
        store.commit(report(), append={"links": layer})
    with store.branch() as branch:
        merged, later = put(branch, "links", b"23"), put(store, "links", b"4")
        kept = store.manifest.layers("links")[0]
        store.commit(report(), append={"links": later})
        branch.commit(report("compact"), replace={"links": [kept, merged]})
        assert contents(branch.manifest.layers("links")) == contents([kept, merged])
        last = put(store, "links", b"5")
        store.commit(report(), append={"links": last})
    assert contents(store.manifest.layers("links")) == contents([kept, merged, later, last])


def test_what_another_step_has_replaced_cannot_be_replaced(store: Store) -> None:
    store.commit(report(), append={"pages": put(store, "pages")})
    with store.branch() as branch:
        store.commit(report(), replace={"pages": [put(store, "pages")]})
        with pytest.raises(Conflict, match="pages: another step replaced it"):
            branch.commit(report(), replace={"pages": [put(branch, "pages")]})
    assert len(store.manifest.layers("pages")) == 1


def test_what_a_branch_has_made_first_cannot_be_made_beside_it(store: Store) -> None:
    """Nor is it taken for layers that were appended."""
    with store.branch() as branch:
        store.commit(report(), replace={"pages": [put(store, "pages")]})
        branch.commit(report(), replace={"ranks": [put(branch, "ranks")]})
        with pytest.raises(Conflict, match="ranks: another step replaced it"):
            store.commit(report(), replace={"ranks": [put(store, "ranks")]})
    with store.branch() as second:
        second.commit(report(), replace={"ranks": [put(second, "ranks")]})
    assert len(store.refresh().layers("ranks")) == 1


def test_a_branch_may_begin_without_datasets_and_replaces_them(store: Store) -> None:
    store.commit(report(), replace={"ranks": [put(store, "ranks")]})
    store.commit(report(), replace={"farms": [put(store, "farms")]})
    with store.branch(without=["ranks", "farms"]) as branch:
        assert branch.manifest.layers("ranks") == ()
        first, second = put(branch, "ranks"), put(branch, "ranks")
        branch.commit(report(), replace={"ranks": [first]})
        assert len(store.refresh().layers("farms")) == 1
        branch.commit(report(), replace={"ranks": [*branch.manifest.layers("ranks"), second]})
        branch.commit(report(), replace={"farms": []})
    assert contents(store.refresh().layers("ranks")) == contents([first, second])
    assert store.manifest.layers("farms") == ()


def test_a_branch_that_has_ended_commits_nothing(store: Store) -> None:
    with store.branch() as branch:
        ranks = put(branch, "ranks")
    with pytest.raises(Conflict, match="given up"):
        branch.attempt("ranks")
    with pytest.raises(Conflict, match="given up"):
        branch.commit(report(), replace={"ranks": [ranks]})
    assert store.refresh().version == 1


@pytest.mark.parametrize("sweeps", [False, True])
def test_what_a_branch_reads_or_writes_is_no_garbage(store: Store, sweeps: bool) -> None:
    store.commit(report(), replace={"pages": [put(store, "pages", b"old")]})
    if sweeps:
        store = Store.open(store.backend)  # another process: its first collection sweeps
    (old,) = store.listed("pages")
    with store.branch() as branch:
        store.commit(report(), replace={"pages": [put(store, "pages", b"new")]})
        put(store, "links", b"of a task that ran twice")
        (draft,) = put(branch, "ranks").files
        store.collect_garbage(keep_versions=0)
        assert files_below(store.backend, "pages", "links", "ranks") == {
            old.path,
            store.listed("pages")[0].path,
            draft.path,
        }
        branch.commit(report(), replace={"ranks": [Layer(1, (draft,))]})
        (running,) = put(store, "links").files
        put(branch, "ranks", b"of a task that ran twice")
        branch.collect_garbage(keep_versions=0)
        assert files_below(store.backend, "links", "ranks") == {running.path, draft.path}
        put(branch, "farms", b"of a step that was given up")
    store.refresh()
    store.collect_garbage(keep_versions=0)
    kept = {store.listed("pages")[0].path, draft.path}
    assert files_below(store.backend, *FOLDERS) == kept


def test_files_that_a_branch_begins_to_write_during_a_sweep_are_no_garbage() -> None:
    backend = MemoryBackend()
    Store.create(backend)
    store = Store.open(backend)
    listed = backend.sizes_in

    with store.branch() as branch:

        def list_late(folders: Iterable[str]) -> Iterator[tuple[str, int]]:
            put(branch, "ranks")
            return listed(folders)

        backend.sizes_in = list_late  # type: ignore[method-assign]
        store.collect_garbage(keep_versions=0)
        assert len(files_below(backend, "ranks")) == 1


class Beside(RuleBasedStateMachine):
    """A crawl appends links and replaces pages; a branch replaces ranks and merges links."""

    def __init__(self) -> None:
        super().__init__()
        self.store = Store.create(MemoryBackend())
        self.open = ExitStack()
        self.branch: Store | None = None
        self.number = 0
        self.expected: dict[str, list[bytes]] = {"links": [], "pages": [], "ranks": []}
        self.read: dict[str, list[bytes]] = {}
        """What the branch reads."""

    def made(self, store: Store, name: str) -> tuple[Layer, bytes]:
        self.number += 1
        data = f"{name} {self.number}".encode()
        put(store, name, b"of a task that ran twice")
        return put(store, name, data), data

    def contents(self, store: Store, name: str) -> list[bytes]:
        return [store.backend.read(file.path) for file in store.listed(name)]

    @rule()
    def append(self) -> None:
        layer, data = self.made(self.store, "links")
        self.store.commit(report(), append={"links": layer})
        self.expected["links"].append(data)

    @rule()
    def replace(self) -> None:
        layer, data = self.made(self.store, "pages")
        self.store.commit(report(), replace={"pages": [layer]})
        self.expected["pages"] = [data]

    @precondition(lambda self: self.branch is None)
    @rule()
    def begin(self) -> None:
        self.branch = self.open.enter_context(self.store.branch())
        self.read = {name: list(layers) for name, layers in self.expected.items()}

    @precondition(lambda self: self.branch is not None)
    @rule()
    def rank(self) -> None:
        assert self.branch is not None
        layer, data = self.made(self.branch, "ranks")
        self.branch.commit(report(), replace={"ranks": [layer]})
        self.expected["ranks"] = self.read["ranks"] = [data]

    @precondition(lambda self: self.branch is not None)
    @rule(kept=st.integers(0, 3))
    def merge(self, kept: int) -> None:
        assert self.branch is not None
        old = self.branch.manifest.layers("links")
        layer, data = self.made(self.branch, "links")
        self.branch.commit(report(), replace={"links": [*old[:kept], layer]})
        later = self.expected["links"][len(old) :]
        self.read["links"] = [*self.read["links"][:kept], data]
        self.expected["links"] = [*self.read["links"], *later]

    @precondition(lambda self: self.branch is not None)
    @rule()
    def end(self) -> None:
        self.open.close()
        self.branch = None

    @rule(keep_versions=st.integers(0, 2), by_branch=st.booleans())
    def collect(self, keep_versions: int, by_branch: bool) -> None:
        (self.branch if by_branch and self.branch else self.store).collect_garbage(keep_versions)

    @rule()
    def follow(self) -> None:
        """Another process takes over; the one before has died."""
        self.open.close()
        self.branch = None
        self.store = Store.open(self.store.backend)

    @invariant()
    def all_is_there(self) -> None:
        newest = Store.open(self.store.backend)
        for name, data in self.expected.items():
            assert self.contents(newest, name) == data
            if self.branch is not None:
                assert self.contents(self.branch, name) == self.read[name]

    def teardown(self) -> None:
        self.open.close()
        self.store.refresh()
        self.store.collect_garbage(keep_versions=0)
        assert len(files_below(self.store.backend, *FOLDERS)) == sum(
            map(len, self.expected.values())
        )


TestBeside = Beside.TestCase
TestBeside.settings = settings(max_examples=30, stateful_step_count=20, deadline=None)
