"""Listings: a commit writes what changed, whatever happens to a crawl in between."""

from __future__ import annotations

import dataclasses
import errno
import os
import re
from typing import TYPE_CHECKING, cast
from unittest.mock import patch

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from msgspec import structs

from gossamer.config import Config
from gossamer.errors import CorruptManifest, StoreFull
from gossamer.flow.check import checks
from gossamer.state.workspace import Workspace
from gossamer.storage import listings
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.manifest import HISTORY_LENGTH, Entry, Listing, Stack, encode_manifest
from gossamer.storage.store import Layer, StepReport, Store
from tests.support.bare_stores import Recorder, contents, files_below, put, report
from tests.support.memory_backend import MemoryBackend

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from gossamer.storage.store import Backend

FEW = {Layer: 4, StepReport: 4}
"""So that few commits make listings."""


def wide(store: Store, dataset: str, files: int, round_: int = 1) -> Layer:
    layers = [put(store, dataset, round_=round_) for _ in range(files)]
    return Layer(round_, tuple(file for layer in layers for file in layer.files))


def grown(rounds: int, backend: Backend | None = None) -> Store:
    """A store after rounds that wrote a file of `warc` each."""
    store = Store.create(MemoryBackend() if backend is None else backend)
    for number in range(1, rounds + 1):
        store.commit(report(round_=number), append={"warc": put(store, "warc", round_=number)})
    return store


def manifest_files(store: Store) -> set[str]:
    return files_below(store.backend, "manifest")


# What is written and read


class Weighed(MemoryBackend):
    """Counts the bytes of manifests and listings that are written."""

    written = 0

    def create(self, path: str, data: bytes, *, private: bool = False) -> None:
        if path.startswith("manifest/"):
            self.written += len(data)
        super().create(path, data, private=private)


def test_a_commit_writes_as_much_after_many_rounds_as_after_few() -> None:
    backend = Weighed()
    store = grown(100, backend)
    written = [backend.written]
    for number in range(101, 2_001):
        store.commit(report(round_=number), append={"warc": put(store, "warc", round_=number)})
        written.append(backend.written)
    assert written[-1] - written[-501] < 1.25 * (written[500] - written[0])
    assert backend.size("manifest/00002001.json") < 10_000
    assert len(list(store.manifest.listings())) < 16
    assert store.manifest.totals("warc").files == 2_000


def test_a_layer_of_many_files_is_not_listed_again_when_small_ones_change() -> None:
    backend = Weighed()
    store = Store.create(backend)
    base = wide(store, "pages", 1_000)
    store.commit(report(), replace={"pages": [base]})
    backend.written = 0
    for number in range(1, 101):
        old = store.manifest.layers("pages")
        kept = old[:1] if number % 20 == 0 else old
        layers = (*kept, wide(store, "pages", 1, number))
        store.commit(report(round_=number), replace={"pages": layers})
        assert contents(store.manifest.layers("pages")) == contents(layers)
    assert backend.written / 100 < 15_000  # the base alone has 150,000


@patch.object(listings, "NEWEST", FEW)
def test_listings_of_layers_that_stay_are_not_written_again() -> None:
    store = Store.create(MemoryBackend())
    layers = tuple(wide(store, "pages", files, files) for files in (64, 16, 4, 2, 1))
    store.commit(report(), replace={"pages": layers})
    before, layers = store.manifest.datasets["pages"].listings, store.manifest.layers("pages")
    assert [each.entries for each in before] == [1, 1, 2]
    store.commit(report(), replace={"pages": [*layers[:4], wide(store, "pages", 1)]})
    assert store.manifest.datasets["pages"].listings == before
    store.commit(report(), replace={"pages": [*layers[:1], *layers[2:3]]})
    assert store.manifest.datasets["pages"].listings[:1] == before[:1]
    assert contents(store.manifest.layers("pages")) == contents([layers[0], layers[2]])


def test_opening_a_crawl_reads_no_listing_and_a_round_only_its_own() -> None:
    recorder = Recorder()
    layers = grown(500, recorder).manifest.layers("warc")
    recorder.calls.clear()
    store = Store.open(recorder)
    assert store.manifest.steps_of(500) == {"fetch"}
    assert store.manifest.bytes == 500 * 4
    assert recorder.of("read") == [("read", "manifest/00000501.json")]
    recorder.calls.clear()
    assert store.manifest.layers("warc", 7) == (layers[6],)
    ((_, read),) = recorder.of("read")
    assert re.fullmatch(r"manifest/warc-\d{8}-[0-9a-f]{8}\.json", str(read))
    assert store.manifest.layers("warc", 8) == (layers[7],)
    assert len(recorder.of("read")) == 1


def test_old_reports_are_forgotten() -> None:
    store = grown(3 * HISTORY_LENGTH)
    assert len(store.manifest.reports) < HISTORY_LENGTH + listings.LARGEST[StepReport]
    assert len(store.manifest.history) == HISTORY_LENGTH


def listing(entries: int, files: int = 0) -> Listing:
    return Listing("manifest/a", 1, "", (1, 1), entries, files, 0, 0)


def test_the_oldest_reports_are_forgotten_as_far_as_the_history_has_enough_without_them() -> None:
    full, half = listing(HISTORY_LENGTH), listing(HISTORY_LENGTH // 2)
    last = (report(),)
    for listed, kept in (
        ((), ()),
        ((full,), (full,)),
        ((half, full), (full,)),
        ((full, half, half), (half, half)),
        ((full, full, half), (full, half)),
    ):
        assert listings.recent_listing(Stack(listed, last)) == Stack(kept, last)
    one = listing(1)
    assert listings.recent_listing(Stack((one, listing(HISTORY_LENGTH - 1)), last)).listings == (
        listing(HISTORY_LENGTH - 1),
    )
    short = (one, listing(HISTORY_LENGTH - 2))
    assert listings.recent_listing(Stack(short, last)).listings == short


def test_what_is_listed_weighs_as_much_as_it_has_files() -> None:
    assert listings.listing_weight(listing(3, files=9)) == 9
    assert listings.listing_weight(listing(9, files=3)) == 9
    assert listings.listing_weight(Layer(1, ())) == 1
    assert listings.listing_weight(wide(Store.create(MemoryBackend()), "warc", 5)) == 5
    assert listings.listing_weight(report()) == 1


def test_listings_are_durable_before_a_manifest_names_them() -> None:
    recorder = Recorder()
    store = grown(listings.NEWEST[Layer], recorder)
    recorder.calls.clear()
    store.commit(report(), append={"warc": put(store, "warc")})
    created = [str(path) for _, path in recorder.of("create")][1:]
    assert [path.rpartition("/")[2].partition("-")[0] for path in created] == [
        *("warc", "warc"),  # the listing is written twice
        f"{store.manifest.version:08d}.json",
    ]


def test_a_file_belongs_into_the_folder_of_its_dataset() -> None:
    store = Store.create(MemoryBackend())
    with pytest.raises(ValueError, match=r"^links/.*: not in the folder of pages$"):
        store.commit(report(), append={"pages": put(store, "links")})


# Damage


@pytest.mark.parametrize("damage", ["gone", "changed", "cut"])
def test_a_damaged_listing_is_named_with_a_remedy_that_works(damage: str) -> None:
    backend = MemoryBackend()
    store = grown(listings.NEWEST[Layer], backend)
    before = store.manifest.layers("warc")
    store.commit(report(), append={"warc": put(store, "warc")})
    (listing,) = store.manifest.datasets["warc"].listings
    for path in listing.paths:
        data = backend.contents.pop(path)
        if damage == "changed":
            backend.contents[path] = data.replace(b'"rows":2', b'"rows":3', 1)
        elif damage == "cut":
            backend.contents[path] = data[:-1]
    opened = Store.open(backend)
    with pytest.raises(CorruptManifest, match=listing.path) as error:
        opened.files("warc")
    with pytest.raises(CorruptManifest, match=listing.path):
        opened.collect_garbage(keep_versions=1)
    assert "put it back from a copy" in error.value.remedy
    (later,) = re.findall(r"manifest/\d+\.json", error.value.remedy)
    backend.delete([later])
    assert Store.open(backend).manifest.layers("warc") == before


def test_a_listing_that_an_older_version_wrote_once_is_read() -> None:
    def once(stack: Stack[Entry]) -> Stack[Entry]:
        singles = (structs.replace(each, is_doubled=False) for each in stack.listings)
        return Stack(tuple(singles), stack.newest)

    store = grown(2 * listings.NEWEST[Layer])
    now = store.manifest
    older = dataclasses.replace(
        now,
        version=now.version + 1,
        datasets={name: once(stack) for name, stack in now.datasets.items()},
        reports=once(now.reports),
    )
    store.backend.delete([path for each in now.listings() for path in each.paths[1:]])
    store.backend.create(f"manifest/{older.version:08d}.json", encode_manifest(older))
    opened = Store.open(store.backend)
    assert opened.manifest.layers("warc") == now.layers("warc")
    mended = opened.mend_listings()
    assert (mended.manifest, mended.restored, mended.lost) == (older, 0, {})


class Unreadable(MemoryBackend):
    """A disk on which one file cannot be read."""

    lost = ""

    def read(self, path: str) -> bytes:
        if path == self.lost:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return super().read(path)


def test_a_listing_that_cannot_be_read_is_read_from_its_second_file() -> None:
    backend = Unreadable()
    layers = grown(2 * listings.NEWEST[Layer], backend).manifest.layers("warc")
    opened = Store.open(backend)
    first = opened.manifest.datasets["warc"].listings[0]
    backend.lost = first.paths[0]
    assert opened.manifest.layers("warc") == layers
    second = backend.contents.pop(first.paths[1])
    with pytest.raises(CorruptManifest, match="it is gone"):
        Store.open(backend).manifest.layers("warc")
    backend.lost, backend.contents[first.paths[1]] = "", second[:-1]
    assert Store.open(backend).manifest.layers("warc") == layers, "the first is enough"
    backend.lost = first.paths[0]
    single = structs.replace(first, is_doubled=False)
    with pytest.raises(CorruptManifest, match="cannot be read: Input/output error"):
        Store.open(backend)._listings.read(single, Layer)


@patch.object(listings, "NEWEST", FEW)
def test_mending_writes_a_damaged_file_again_and_leaves_out_what_is_lost() -> None:
    backend = MemoryBackend()
    grown(60, backend)
    store = Store.open(backend)
    before = store.manifest.datasets["warc"]
    kept, *others, lost = before.listings
    layers = store.manifest.layers("warc")
    whole = backend.contents[kept.paths[0]]
    backend.contents[kept.paths[1]] = b"[]"
    for path in lost.paths:
        backend.contents[path] = b"[]"
    mended = Store.open(backend).mend_listings()
    assert (mended.restored, mended.lost) == (1, {"warc": (lost,)})
    assert backend.contents[kept.paths[1]] == whole
    assert mended.manifest.datasets["warc"] == Stack((kept, *others), before.newest)
    end = sum(each.entries for each in (kept, *others))
    assert mended.manifest.layers("warc") == layers[:end] + layers[end + lost.entries :]


def test_check_names_every_damaged_listing_and_file_and_counts_them(tmp_path: Path) -> None:
    backend = LocalBackend(tmp_path)
    store = Store.create(backend)
    for number in range(1, 101):
        layers = {name: put(store, name, round_=number) for name in ("warc", "links")}
        store.commit(report(round_=number), append=layers)
    first, *_, last = store.manifest.datasets["warc"].listings
    lost = store.listed("links")[50].path
    for path in first.paths:
        (tmp_path / path).unlink()
    for path in last.paths:
        (tmp_path / path).write_bytes(b"[]")
    (tmp_path / lost).unlink()
    work = Workspace(Store.open(backend), Config())
    wrong = {file.path: error for file, error in checks.check_files(work) if error is not None}
    assert list(wrong) == [*first.paths, *last.paths, lost]
    for path, error in wrong.items():
        assert str(error).startswith(f"{tmp_path}/{path}: ")
        assert "put it back from a copy" in error.remedy


def test_a_reader_whose_state_is_gone_is_told_to_begin_again() -> None:
    store = grown(listings.NEWEST[Layer] + 1)
    reader = Store.open(store.backend)
    store.commit(report(), replace={"warc": [put(store, "warc")]})
    store.collect_garbage(keep_versions=0)
    with pytest.raises(CorruptManifest, match="but it is gone") as error:
        reader.manifest.layers("warc")
    assert "run the command again" in error.value.remedy


# Crashes


class Full(MemoryBackend):
    """A disk that is full before an operation, of which some are half done."""

    def __init__(self, contents: dict[str, bytes], operations: int) -> None:
        super().__init__()
        self.contents = contents
        self._left = operations

    def _count(self) -> None:
        if self._left == 0:
            raise StoreFull(self.url, "no space left on the device")
        self._left -= 1

    def create(self, path: str, data: bytes, *, private: bool = False) -> None:
        self._count()
        super().create(path, data, private=private)
        self._count()

    def delete(self, paths: Iterable[str]) -> None:
        for path in list(paths):
            self._count()
            super().delete([path])


def steps(store: Store, number: int) -> Iterator[Callable[[], object]]:
    """What a process does: commits that make listings of several datasets, and collections."""
    yield lambda: store.commit(report(round_=number), append={"warc": wide(store, "warc", 2)})
    kept = store.manifest.layers("pages")[: 8 - number % 8]
    yield lambda: store.commit(
        report(round_=number), replace={"pages": (*kept, wide(store, "pages", 1))}
    )
    yield lambda: store.collect_garbage(keep_versions=1)


@patch.object(listings, "NEWEST", FEW)
def test_wherever_a_process_dies_a_state_is_whole_and_garbage_is_found() -> None:
    disk = MemoryBackend()
    store = Store.create(disk)
    for number in range(6):
        for step in steps(store, number):
            step()
    states, deaths = set[int](), 0
    for operations in range(1_000):
        backend = MemoryBackend()
        backend.contents = dict(disk.contents)
        dying = Store.open(Full(backend.contents, operations))
        reached = [snapshot(dying)]
        try:
            for number in range(6, 9):
                for step in steps(dying, number):
                    step()
                    reached.append(snapshot(dying))
        except StoreFull:
            deaths += 1
        else:
            break
        opened = Store.open(backend)
        states.add(opened.manifest.version)
        assert snapshot(opened)[0] in (reached[-1][0], reached[-1][0] + 1)
        assert snapshot(opened)[0] > reached[-1][0] or snapshot(opened) == reached[-1]
        opened.collect_garbage(keep_versions=0)
        manifest = opened.manifest
        assert files_below(backend, "warc", "pages") == manifest.paths()
        assert manifest_files(opened) == {
            f"manifest/{manifest.version:08d}.json",
            *(path for listing in manifest.listings() for path in listing.paths),
        }
        for name in ("warc", "pages"):
            opened.files(name)
    assert deaths > 40
    assert len(states) == 7


def snapshot(store: Store) -> tuple[int, object, object]:
    manifest = store.manifest
    layers = {name: manifest.layers(name) for name in manifest.datasets}
    return manifest.version, layers, manifest.history


# Garbage collection knows what its process did


def test_the_second_collection_of_a_process_lists_no_dataset() -> None:
    recorder = Recorder()
    store = grown(10, recorder)
    store.collect_garbage(keep_versions=1)
    left = put(store, "links", b"an attempt that no commit names")
    kept = put(store, "links")
    store.commit(report(), append={"links": kept})
    recorder.calls.clear()
    assert store.collect_garbage(keep_versions=1) > 0
    assert recorder.of("sizes") == []
    ((_, asked),) = recorder.of("sizes_in")
    listed = cast("tuple[str, ...]", asked)
    assert {folder.partition("/")[0] for folder in listed} == {"manifest", "links"}
    assert not {"links", "warc"}.intersection(listed)
    assert files_below(recorder, "links") == {kept.files[0].path}
    assert left.files[0].path not in files_below(recorder, "links")


def test_what_another_process_left_is_found_after_its_commit() -> None:
    store = grown(3)
    store.collect_garbage(keep_versions=0)
    other = Store.open(store.backend)
    put(other, "links", b"left")
    other.commit(report())
    store.refresh()
    store.collect_garbage(keep_versions=0)
    assert not files_below(store.backend, "links")


def test_nothing_is_deleted_that_a_state_names_again_after_a_commit_was_undone() -> None:
    store = grown(1)
    old = put(store, "pages")
    store.commit(report(), replace={"pages": [old]})
    store.collect_garbage(keep_versions=0)
    store.commit(report(), replace={"pages": [put(store, "pages")]})
    store.backend.delete([f"manifest/{store.manifest.version:08d}.json"])  # by the user
    store.refresh()
    store.commit(report())
    store.collect_garbage(keep_versions=0)
    assert store.files("pages") == list(old.files)
    assert files_below(store.backend, "pages") == {old.files[0].path}


@patch.object(listings, "NEWEST", FEW)
def test_layers_that_lose_some_of_their_files_lose_only_these() -> None:
    store = Store.create(MemoryBackend())
    stack = [wide(store, "links", 6, number) for number in range(4)]
    store.commit(report(), replace={"links": stack})
    store.collect_garbage(keep_versions=0)
    cut = [structs.replace(layer, files=layer.files[::2]) for layer in stack]
    store.commit(report(), replace={"links": cut})
    store.collect_garbage(keep_versions=0)
    assert files_below(store.backend, "links") == store.manifest.paths()
    assert len(store.files("links")) == 12


class ListedStore(RuleBasedStateMachine):
    """A store holds what a list of all states would, through listings, undone commits and crashes.

    Two processes take turns.
    """

    def __init__(self) -> None:
        super().__init__()
        self._few = patch.object(listings, "NEWEST", FEW)
        self._few.start()
        self.store = Store.create(MemoryBackend())
        self.other = Store.open(self.store.backend)
        self.states: dict[int, dict[str, tuple[Layer, ...]]] = {1: {}}
        self.rounds: list[int] = []

    def teardown(self) -> None:
        self._few.stop()

    def commit(self, name: str, layers: tuple[Layer, ...], *, append: bool) -> None:
        done = report(round_=len(self.rounds))
        if append:
            self.store.commit(done, append={name: layers[-1]})
        else:
            self.store.commit(done, replace={name: layers})
        self.rounds.append(len(self.rounds))
        version = self.store.manifest.version
        self.states[version] = {**self.states[version - 1], name: layers}

    def stack(self, name: str) -> tuple[Layer, ...]:
        return self.states[self.store.manifest.version].get(name, ())

    @rule(name=st.sampled_from(["warc", "pages"]), files=st.sampled_from([0, 1, 1, 1, 2, 9]))
    def append(self, name: str, files: int) -> None:
        layer = wide(self.store, name, files, len(self.rounds))
        self.commit(name, (*self.stack(name), layer), append=True)

    @rule(kept=st.integers(0, 9), files=st.sampled_from([0, 1, 1, 5]))
    def merge(self, kept: int, files: int) -> None:
        layers = (*self.stack("pages")[:kept], wide(self.store, "pages", files, len(self.rounds)))
        self.commit("pages", layers, append=False)

    @rule(every=st.integers(2, 5))
    def cut(self, every: int) -> None:
        """Drop layers from anywhere, as a repair does."""
        layers = (layer for n, layer in enumerate(self.stack("pages")) if n % every)
        self.commit("pages", tuple(layers), append=False)

    @rule(keep_versions=st.integers(0, 2))
    def collect(self, keep_versions: int) -> None:
        put(self.store, "pages", b"an attempt that failed")
        self.store.collect_garbage(keep_versions)
        newest = self.store.manifest.version
        first = max(newest - keep_versions, min(self.states))
        self.states = {v: state for v, state in self.states.items() if first <= v <= newest}
        named = {
            file.path
            for state in self.states.values()
            for layers in state.values()
            for layer in layers
            for file in layer.files
        }
        assert files_below(self.store.backend, "pages", "warc") == named

    @rule()
    def crash(self) -> None:
        put(self.store, "pages", b"an attempt that died")
        self.store = Store.open(self.store.backend)

    @rule()
    def take_turns(self) -> None:
        self.store, self.other = self.other, self.store
        self.store.refresh()

    @precondition(lambda self: self.store.manifest.version - 1 in self.states)
    @rule()
    def undo(self) -> None:
        self.store.backend.delete([f"manifest/{self.store.manifest.version:08d}.json"])
        del self.states[self.store.manifest.version]
        self.store.refresh()
        self.other = Store.open(self.store.backend)  # it may have the undone state in memory

    @invariant()
    def shows_every_kept_state_whole(self) -> None:
        for version, state in self.states.items():
            manifest = self.store._read(version)
            assert manifest.datasets.keys() == state.keys()
            for name, layers in state.items():
                assert contents(manifest.layers(name)) == contents(layers)
        for name, layers in self.stack_names():
            assert self.store.files(name) == [file for layer in layers for file in layer.files]
            assert self.store.manifest.totals(name).files == len(self.store.files(name))
            assert self.store.manifest.totals(name).layers == len(layers)

    def stack_names(self) -> list[tuple[str, tuple[Layer, ...]]]:
        return list(self.states[self.store.manifest.version].items())


ListedStore.TestCase.settings = settings(max_examples=30, stateful_step_count=40, deadline=None)
TestListedStore = ListedStore.TestCase
