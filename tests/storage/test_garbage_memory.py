"""What a process remembers of its commits: see gossamer.storage.garbage."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from gossamer.storage.garbage import Attempts, Garbage, _manifests
from gossamer.storage.manifest import File, Layer, StepReport
from tests.support.memory_backend import MemoryBackend

if TYPE_CHECKING:
    from collections.abc import Iterable

HEX32 = "0123456789abcdef" * 2


def path(name: str) -> str:
    """A name that Gossamer makes, of a file of version 1."""
    return f"pages/00000001-0123abcd/{name * 32}.parquet"


def file(name: str) -> File:
    return File(path(name), 0, 4, "")


def manifest(version: int, *names: str, listing: Iterable[str] = (), reads: Any = None) -> Any:
    """What a version names: in a layer, and in a listing."""

    def reader(_: object, __: object) -> list[Layer]:
        reads.append(version)
        return [Layer(1, tuple(map(file, listing)))]

    held = SimpleNamespace(path="manifest/a-listing", paths=("manifest/a-listing",))
    stack = SimpleNamespace(
        listings=[held] if listing else [], newest=[Layer(1, tuple(map(file, names)))]
    )
    return SimpleNamespace(
        version=version,
        datasets={"pages": stack},
        reader=reader,
        listings=lambda: stack.listings,
    )


def garbage(*names: str) -> Garbage:
    """Of a crawl with these files."""
    backend = MemoryBackend()
    for name in names:
        backend.create(path(name), b"rows")
    return Garbage(backend)


def test_files_that_are_named_again_are_kept() -> None:
    known, states = garbage(), [manifest(number) for number in range(4)]
    known._state = states[0]
    known.committed(states[0], states[1], [], [file("a"), file("b")])
    assert known._replaced == {path("a"): (1, 4), path("b"): (1, 4)}
    known.committed(states[1], states[2], [file("a")], [])
    assert (known._replaced, known._state) == ({path("b"): (1, 4)}, states[2])
    known.committed(states[1], states[3], [], [file("c")])
    assert (known._replaced, known._state) == ({path("b"): (1, 4)}, None)


def test_only_what_no_kept_version_names_is_deleted() -> None:
    known, newest = garbage(*"abc"), manifest(4)
    known._state = newest
    known._replaced = {path("a"): (2, 4), path("b"): (3, 4), path("c"): (4, 4)}
    assert known.collect([3], [newest], known.list_files(Attempts()), Attempts(), []) == 8
    assert known._replaced == {path("c"): (4, 4)}
    assert [name for name, _ in known._backend.sizes("pages")] == [path("c")]
    assert known._state == newest


def test_a_sweep_learns_from_which_version_on_files_are_not_named() -> None:
    known = garbage(*"abcd")
    states = [manifest(3, "a", "b"), manifest(5, "b", "c"), manifest(6, "c")]
    assert [name for name, _ in known._swept(states)] == [path("d")]
    assert known._replaced == {path("a"): (4, 4), path("b"): (6, 4)}


def test_a_listing_is_read_once_in_a_sweep() -> None:
    reads: list[int] = []
    known = garbage(*"ab")
    states = [manifest(number, listing="a", reads=reads) for number in (1, 2, 3)]
    assert [name for name, _ in known._swept(states)] == [path("b")]
    assert reads == [3]


def test_manifests_are_deleted_before_what_they_name() -> None:
    known = garbage()
    names = [f"manifest/0000000{number}.json" for number in (1, 2, 3)]
    listing = f"manifest/00000001-0123abcd-pages-{HEX32}.json"
    for name in (listing, *names):
        known._backend.create(name, b"{}")
    found = [name for name, _ in _manifests([2], [], known.list_files(Attempts()))]
    assert sorted(found[:2]) == [names[0], names[2]]
    assert found[2:] == [listing]


def test_attempts_are_taken_over() -> None:
    one, other = Attempts(), Attempts()
    one.folders, one.named = ["a"], {"x"}
    other.folders, other.named = ["b"], {"y"}
    one.adopt(other)
    assert (one.folders, one.named) == (["a", "b"], {"x", "y"})
    one.clear()
    assert (one.folders, one.named) == ([], set())


def test_a_step_ends_after_its_seconds() -> None:
    assert StepReport("fetch", 1, started_ms=5, seconds=1.4996).ended_ms == 1_505
