from __future__ import annotations

import errno
import os

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule
from msgspec import structs

from gossamer.errors import (
    RESTORE,
    Conflict,
    CorruptManifest,
    Locked,
    MissingFile,
    NotACrawl,
    StoreError,
)
from gossamer.storage.manifest import HISTORY_LENGTH
from gossamer.storage.store import Backend, Damage, Layer, Store
from tests.support.bare_stores import Recorder, committed, contents, files_below, put, report
from tests.support.memory_backend import MemoryBackend

IN_MEMORY = pytest.mark.parametrize("backend", ["memory", "objects"], indirect=True)
"""For tests with thousands of requests."""


@pytest.fixture
def store(backend: Backend) -> Store:
    return Store.create(backend)


def test_a_commit_is_seen_when_the_crawl_is_opened_again(store: Store) -> None:
    layer = put(store, "responses")
    store.commit(report(), append={"responses": layer})
    opened = Store.open(store.backend)
    assert opened.manifest.layers("responses") == (committed(layer, 2),)
    assert opened.manifest.history == (structs.replace(report(), bytes=layer.bytes),)
    assert opened.files("responses") == list(layer.files)
    assert (layer.rows, layer.bytes) == (2, 4)


def test_layers_are_in_the_order_of_their_commits_and_known_by_round(store: Store) -> None:
    first, second = put(store, "links", round_=1), put(store, "links", round_=2)
    store.commit(report(round_=1), append={"links": first})
    store.commit(report(round_=2), append={"links": second})
    assert store.manifest.layers("links") == (committed(first, 2), committed(second, 3))
    assert store.manifest.layers("links", 2) == (committed(second, 3),)
    assert store.manifest.round == 2


def test_replaced_layers_come_before_what_the_same_commit_appends(store: Store) -> None:
    old, merged, new = (put(store, "pages") for _ in range(3))
    store.commit(report(), append={"pages": old})
    store.commit(report(), replace={"pages": [merged]}, append={"pages": new})
    assert store.manifest.layers("pages") == (committed(merged, 3), committed(new, 3))


@pytest.mark.parametrize(
    ("dataset", "command"),
    [
        ("index", "gossamer index"),
        ("indexed", "gossamer index"),
        ("ranks", "gossamer rank"),
        ("inlinks", "gossamer invert"),
        ("numbered", "gossamer postings"),
        ("documents", "gossamer reparse"),
        ("responses", None),
        ("warc", None),
    ],
)
def test_the_remedy_names_the_command_that_writes_a_file_again(
    store: Store, dataset: str, command: str | None
) -> None:
    layer = put(store, dataset)
    store.commit(report(), append={dataset: layer})
    remedy = store.error(Damage(layer.files[0], "is damaged")).remedy
    assert ("write it again" in remedy) == (command is not None)
    assert command is None or f"write it again: {command} {store.url}" in remedy


def test_of_two_writers_who_read_the_same_state_one_gets_conflict(store: Store) -> None:
    other = Store.open(store.backend)
    winner = put(store, "links")
    store.commit(report(), append={"links": winner})
    with pytest.raises(Conflict, match=r"00000002\.json.*another process"):
        other.commit(report(), append={"links": put(other, "links")})
    assert Store.open(store.backend).manifest.layers("links") == (committed(winner, 2),)


def test_a_crawl_is_created_once(store: Store) -> None:
    with pytest.raises(Conflict, match="already contains a crawl"):
        Store.create(store.backend)


def test_an_empty_folder_is_not_a_crawl(backend: Backend) -> None:
    with pytest.raises(NotACrawl, match="gossamer init"):
        Store.open(backend)


def test_a_crash_between_files_and_manifest_leaves_the_state_before(store: Store) -> None:
    store.commit(report(), append={"links": put(store, "links")})
    before = store.manifest
    put(store, "links", b"never committed")
    assert Store.open(store.backend).manifest == before


def test_a_commit_makes_files_durable_before_its_manifest_names_them() -> None:
    recorder = Recorder()
    store = Store.create(recorder)
    layers = [put(store, "links"), put(store, "pages")]
    recorder.calls.clear()
    store.commit(report(), append={"links": layers[0], "pages": layers[1]})
    assert recorder.of("sync", "create") == [
        ("sync", [layer.files[0].path for layer in layers]),
        ("create", "manifest/00000002.json"),
    ]


def test_a_commit_does_not_read_what_its_writers_have_checksummed() -> None:
    recorder = Recorder()
    store = Store.create(recorder)
    layer = put(store, "links")
    store.commit(report(), append={"links": layer})
    store.files("links")
    assert recorder.of("checksum") == []
    again = Store.open(recorder)
    again.files("links")
    again.files("links")
    assert recorder.of("checksum") == [("checksum", layer.files[0].path)]


def test_a_file_that_another_process_found_whole_is_not_read_again() -> None:
    recorder = Recorder()
    store = Store.create(recorder)
    layers = [put(store, "index"), put(store, "index")]
    for layer in layers:
        store.commit(report(), append={"index": layer})
    broken, whole = (layer.files[0] for layer in layers)
    damage_file(store, broken.path, "gone")
    parent, child = Store.open(recorder), Store.open(recorder)
    assert parent.whole("index") == [whole]
    child.trust(parent.whole("index"))
    recorder.calls.clear()
    child.check([whole])
    assert recorder.of("checksum") == []
    with pytest.raises(MissingFile, match=broken.path):
        child.files("index")


def test_a_commit_refuses_a_file_without_a_checksum(store: Store) -> None:
    layer = put(store, "links")
    bare = Layer(1, tuple(structs.replace(file, xxh3="") for file in layer.files))
    with pytest.raises(ValueError, match="its checksum was not computed"):
        store.commit(report(), append={"links": bare})


DAMAGES = {"gone": None, "short": b"1234", "grown": b"123456789", "changed": b"1234X678"}


def damage_file(store: Store, path: str, damage: str) -> None:
    store.backend.delete([path])
    if (data := DAMAGES[damage]) is not None:
        store.backend.create(path, data)


@pytest.mark.parametrize("damage", ["gone", "short", "grown"])
def test_a_commit_refuses_files_that_are_not_there_whole(store: Store, damage: str) -> None:
    layer = put(store, "links", b"12345678")
    path = layer.files[0].path
    damage_file(store, path, damage)
    before = store.manifest
    with pytest.raises(MissingFile, match=path):
        store.commit(report(), append={"links": layer})
    assert Store.open(store.backend).manifest == before


@pytest.mark.parametrize("damage", DAMAGES)
def test_reading_names_the_file_that_is_damaged_and_what_to_do(store: Store, damage: str) -> None:
    layer = put(store, "links", b"12345678")
    store.commit(report(), append={"links": layer})
    path = layer.files[0].path
    damage_file(store, path, damage)
    with pytest.raises(MissingFile, match=path) as error:
        Store.open(store.backend).files("links")
    assert "manifest/00000002.json" in error.value.remedy


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b'"text"', b'{"version": "two"}', b"\xff\xfe", b'{"version": 7}'],
    ids=["empty", "cut", "text", "wrong type", "not UTF-8", "of another version"],
)
def test_a_corrupt_manifest_is_named_and_deleting_it_helps(store: Store, content: bytes) -> None:
    store.backend.create("manifest/00000002.json", content)
    with pytest.raises(CorruptManifest, match=r"00000002\.json") as error:
        Store.open(store.backend)
    assert "delete this file" in error.value.remedy
    store.backend.delete(["manifest/00000002.json"])
    assert Store.open(store.backend).manifest.version == 1


def test_nobody_is_told_to_delete_what_a_newer_version_wrote(store: Store) -> None:
    store.backend.create("manifest/00000002.json", b'{"version": 2, "format": 4, "shape": []}')
    with pytest.raises(CorruptManifest, match="a newer Gossamer"):
        Store.open(store.backend)


def test_a_manifest_of_an_older_format_is_refused_with_the_remedy(store: Store) -> None:
    store.backend.create("manifest/00000002.json", b'{"version": 2, "datasets": {}, "format": 1}')
    with pytest.raises(
        CorruptManifest, match="has format 1, but this Gossamer reads 2 and 3"
    ) as error:
        Store.open(store.backend)
    assert "an older Gossamer wrote it: use that one, or crawl again" in error.value.remedy


@IN_MEMORY
def test_no_changed_byte_of_a_manifest_is_believed(store: Store) -> None:
    store.commit(report(), append={"links": put(store, "links")})
    path = "manifest/00000002.json"
    whole = store.backend.read(path)
    for at in range(len(whole)):
        store.backend.delete([path])
        store.backend.create(path, whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :])
        with pytest.raises(CorruptManifest, match=r"00000002\.json: is damaged") as error:
            Store.open(store.backend)
        assert "delete this file" in error.value.remedy


def test_the_only_manifest_is_never_to_be_deleted(backend: Backend) -> None:
    backend.create("manifest/00000001.json", b"{")
    with pytest.raises(CorruptManifest, match="is damaged") as error:
        Store.open(backend)
    assert error.value.remedy == "put it back from a copy"


def test_drafts_and_strange_files_beside_manifests_are_no_versions(store: Store) -> None:
    store.backend.create("manifest/.00000009.json.1a2b3c4d", b"{")
    store.backend.create("manifest/notes.json", b"{}")
    assert Store.open(store.backend).manifest.version == 1


@IN_MEMORY
def test_history_is_bounded(store: Store) -> None:
    for number in range(2 * HISTORY_LENGTH):
        store.commit(report(round_=number))
    newest = list(range(HISTORY_LENGTH, 2 * HISTORY_LENGTH))
    assert [step.round for step in store.manifest.history] == newest
    assert [step.round for step in Store.open(store.backend).manifest.history] == newest
    assert len(store.manifest.reports) < 1.5 * HISTORY_LENGTH


def test_garbage_is_what_no_kept_manifest_names(store: Store) -> None:
    layers = [put(store, "pages", b"x" * 100) for _ in range(4)]
    for layer in layers:
        store.commit(report(), replace={"pages": [layer]})
    put(store, "links", b"an attempt that died")
    store.backend.create(
        f"{store.attempt('scratch')}/part=1/ABCDEFGHabcdefgh_0.zst.parquet", b"scratch"
    )
    store.backend.create("manifest/.00000006.json.1a2b3c4d", b"a draft")
    store.backend.create("heartbeats/fetch-1.json", b"{}")
    manifest_bytes = sum(
        size for path, size in store.backend.sizes("manifest") if path < "manifest/00000004"
    )
    freed = store.collect_garbage(keep_versions=1)
    assert files_below(store.backend, "pages", "links", "scratch") == {
        layer.files[0].path for layer in layers[2:]
    }
    assert files_below(store.backend, "manifest") == {
        "manifest/00000004.json",
        "manifest/00000005.json",
    }
    assert files_below(store.backend, "heartbeats")
    assert freed == 200 + len(b"an attempt that died") + len(b"scratch") + manifest_bytes
    assert store.collect_garbage(keep_versions=1) == 0


def test_the_state_before_can_be_gone_back_to_after_garbage_collection(store: Store) -> None:
    first, second = put(store, "pages"), put(store, "pages")
    store.commit(report(), replace={"pages": [first]})
    store.commit(report(), replace={"pages": [second]})
    store.collect_garbage(keep_versions=1)
    store.backend.delete(["manifest/00000003.json"])
    assert Store.open(store.backend).files("pages") == list(first.files)


def test_garbage_collection_deletes_nothing_under_a_damaged_newest_manifest(store: Store) -> None:
    layer = put(store, "pages")
    store.commit(report(), append={"pages": layer})
    store.backend.create("manifest/00000003.json", b"{")
    with pytest.raises(CorruptManifest):
        store.collect_garbage(keep_versions=2)
    assert files_below(store.backend, "pages") == {layer.files[0].path}


def test_a_damaged_older_manifest_does_not_stop_garbage_collection(store: Store) -> None:
    layer = put(store, "pages")
    store.backend.delete(["manifest/00000001.json"])
    store.backend.create("manifest/00000001.json", b"{")
    store.commit(report(), append={"pages": layer})
    put(store, "links")
    assert store.collect_garbage(keep_versions=2) > 0
    assert files_below(store.backend, "pages", "links") == {layer.files[0].path}


def test_the_lock_is_exclusive_and_shows_the_newest_state(store: Store) -> None:
    other = Store.open(store.backend)
    store.commit(report())
    with other.lock():
        assert other.manifest.version == 2
        with pytest.raises(Locked, match="has locked this crawl since"), store.lock():
            pass
    with store.lock():
        pass


class StoreModel(RuleBasedStateMachine):
    """A store does what a list of dictionaries of paths would do."""

    layers: Bundle[Layer] = Bundle("layers")

    def __init__(self) -> None:
        super().__init__()
        self.store = Store.create(MemoryBackend())
        self.states: list[dict[str, tuple[Layer, ...]]] = [{}]

    @rule(target=layers, dataset=st.sampled_from(["pages", "links"]), data=st.binary(max_size=8))
    def write(self, dataset: str, data: bytes) -> Layer:
        return put(self.store, dataset, data)

    @rule(layer=layers, replace=st.booleans())
    def commit(self, layer: Layer, *, replace: bool) -> None:
        state, name = dict(self.states[-1]), layer.files[0].path.partition("/")[0]
        alive = layer.files[0].path in files_below(self.store.backend, name)
        if replace:
            state[name] = (layer,)
        else:
            state[name] = (*state.get(name, ()), layer)
        try:
            if replace:
                self.store.commit(report(), replace={name: [layer]})
            else:
                self.store.commit(report(), append={name: layer})
        except MissingFile:
            assert not alive
        else:
            assert alive
            self.states.append(state)

    @rule(keep_versions=st.integers(1, 3))
    def collect(self, keep_versions: int) -> None:
        self.store.collect_garbage(keep_versions)
        kept = self.states[-keep_versions - 1 :]
        named = {
            file.path
            for state in kept
            for layers in state.values()
            for layer in layers
            for file in layer.files
        }
        assert files_below(self.store.backend, "pages", "links") <= named

    @rule()
    def crash(self) -> None:
        self.store = Store.open(self.store.backend)

    @invariant()
    def shows_the_last_state_whole(self) -> None:
        state = self.states[-1]
        assert self.store.manifest.datasets.keys() == state.keys()
        for name, layers in state.items():
            assert contents(self.store.manifest.layers(name)) == contents(layers)
            assert self.store.files(name) == [file for layer in layers for file in layer.files]


StoreModel.TestCase.settings = settings(max_examples=30, stateful_step_count=25, deadline=None)
TestStoreModel = StoreModel.TestCase


@pytest.mark.parametrize("number", [errno.EACCES, errno.EMFILE, errno.ENOMEM])
def test_what_this_process_cannot_read_is_not_taken_for_damaged(
    store: Store, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    layer = put(store, "pages")
    store.commit(report(), append={"pages": layer})
    again = Store.open(store.backend)

    def checksum(path: str) -> str:
        raise OSError(number, os.strerror(number), path)

    monkeypatch.setattr(store.backend, "checksum", checksum)
    (path,) = (file.path for file in layer.files)
    for use in (again.files, again.damaged, again.whole):
        with pytest.raises(StoreError, match=os.strerror(number).lower()) as told:
            use("pages")
        assert told.value.subject == path
        assert type(told.value) is StoreError
        assert told.value.remedy != RESTORE
    ((_, error),) = again.examine(again.listed("pages"))
    assert isinstance(error, StoreError)


@pytest.mark.parametrize(
    ("number", "is_damage"),
    [(errno.EIO, True), (errno.EACCES, False), (errno.EMFILE, False), (errno.ENOMEM, False)],
)
def test_a_manifest_that_its_reader_cannot_open_is_not_damaged(
    store: Store, monkeypatch: pytest.MonkeyPatch, number: int, is_damage: bool
) -> None:
    def fail(path: str) -> bytes:
        raise OSError(number, os.strerror(number), path)

    monkeypatch.setattr(store.backend, "read", fail)
    with pytest.raises(StoreError) as refused:
        store._read(1)
    assert isinstance(refused.value, CorruptManifest) is is_damage


def test_the_newest_state_is_read_when_a_crawl_is_locked(store: Store) -> None:
    opened = Store.open(store.backend)
    store.commit(report("fetch"), append={"pages": put(store, "pages")})
    with opened.lock():
        assert opened.manifest.version == store.manifest.version
