from __future__ import annotations

import errno
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gossamer.errors import Locked, StoreError, StoreFull, UsageError
from gossamer.storage import checksums
from gossamer.storage.backends import open_backend
from gossamer.storage.errors import disk_errors
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.objects.backend import ObjectBackend
from gossamer.storage.store import Backend, File, Holder, Layer, StepReport, Store

if TYPE_CHECKING:
    from collections.abc import Iterator


def path_of(descriptor: int) -> str:
    return str(Path(f"/proc/self/fd/{descriptor}").readlink())


HOLDER = Holder(pid=4711, machine="here", command="gossamer crawl", since_ms=0)


def test_what_was_created_is_read_and_listed(backend: Backend) -> None:
    backend.create("a/b/two", b"22")
    backend.create("a/one", b"1")
    backend.create("ab/other", b"")
    assert backend.read("a/b/two") == b"22"
    assert sorted(backend.sizes("a")) == [("a/b/two", 2), ("a/one", 1)]
    assert backend.size("ab/other") == 0
    assert list(backend.sizes("none")) == []


def test_a_storage_that_can_keep_a_crawl_is_left_as_it_was(backend: Backend) -> None:
    backend.prove()
    assert list(backend.sizes("")) == []


def test_creation_is_exclusive(backend: Backend) -> None:
    backend.create("manifest/1", b"first")
    with pytest.raises(FileExistsError):
        backend.create("manifest/1", b"second")
    assert backend.read("manifest/1") == b"first"
    assert [path for path, _ in backend.sizes("manifest")] == ["manifest/1"]


def test_what_is_not_there_is_said(backend: Backend) -> None:
    asked = [backend.read, backend.size, backend.checksum]
    if not isinstance(backend, ObjectBackend):  # there, what can be seen is durable
        asked.append(lambda path: backend.sync([path]))
    for ask in asked:
        with pytest.raises(FileNotFoundError):
            ask("a/none")


def test_sizes_of_many_files_and_of_few(backend: Backend) -> None:
    for number in range(6):
        backend.create(f"a/{number}", bytes(number))
    backend.create("b/one", b"1")
    assert backend.sizes_of([]) == {}
    assert backend.sizes_of(["a/2", "a/none", "b/one"]) == {"a/2": 2, "b/one": 1}
    wanted = {f"a/{number}": number for number in range(5)}
    assert backend.sizes_of(["a/none", *wanted]) == wanted


def test_deleting_twice_is_no_error(backend: Backend) -> None:
    backend.create("a/b/one", b"1")
    backend.create("a/two", b"2")
    backend.delete(["a/b/one", "a/b/one", "c/none"])
    assert list(backend.sizes("a")) == [("a/two", 1)]


def test_of_empty_folders_only_those_of_datasets_are_left(tmp_path: Path) -> None:
    """Another thread or process may be about to create a folder in that of the dataset."""
    backend = LocalBackend(tmp_path)
    backend.create("a/b/c/one", b"1")
    backend.create("a/two", b"2")
    backend.delete(["a/b/c/one"])
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["two"]
    backend.delete(["a/two"])
    assert list(tmp_path.rglob("*")) == [tmp_path / "a"]


def test_a_second_holder_is_told_who_the_first_is(backend: Backend) -> None:
    told = pytest.raises(Locked, match=r"4711 on here.*1970-01-01.*gossamer crawl")
    with backend.lock(HOLDER), told, backend.lock(HOLDER):
        pass
    with backend.lock(HOLDER):
        pass


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["gossamer", "crawl", *(f"https://{n}.example/" for n in range(10_000))], "crawl https"),
        (["gossamer", "crawl", os.fsdecode(b"caf\xe9")], "crawl caf�"),
    ],
    ids=["thousands of seeds", "a name that is not UTF-8"],
)
def test_any_command_line_can_hold_a_lock(
    words: list[str], told: str, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", words)
    holder = Holder.me()
    with backend.lock(holder), pytest.raises(Locked, match=told), backend.lock(holder):
        pass


_HOLD = """
import sys
from gossamer.storage import checksums
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.store import Store
with Store.create(LocalBackend(sys.argv[1])).lock():
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def other_process(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A real process that holds the crawl's lock until its standard input ends."""
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


@pytest.mark.server
def test_a_lock_held_by_another_process_names_its_pid(tmp_path: Path) -> None:
    with other_process(tmp_path) as process:
        store = Store.open(LocalBackend(tmp_path))
        with (
            pytest.raises(Locked, match=rf"process {process.pid} on \S+ has locked") as error,
            store.lock(),
        ):
            pass
        assert error.value.remedy.endswith(f"kill {process.pid}")


@pytest.mark.server
def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    with other_process(tmp_path) as process:
        process.kill()
        process.wait()
        with Store.open(LocalBackend(tmp_path)).lock():
            pass


def test_a_holder_who_has_not_yet_said_who_it_is_is_respected(tmp_path: Path) -> None:
    backend = LocalBackend(tmp_path)
    with backend.lock(HOLDER):
        (tmp_path / ".lock").write_bytes(b"")
        with pytest.raises(Locked, match="another process"), backend.lock(HOLDER):
            pass


@pytest.mark.server
def test_a_full_disk_leaves_the_last_state_whole_and_frees_what_it_wrote(small_disk: Path) -> None:
    store = Store.create(LocalBackend(small_disk))
    store.backend.create("pages/1", bytes(300_000))
    layer = Layer(1, (File("pages/1", 1, 300_000, checksums.checksum_bytes(bytes(300_000))),))
    store.commit(StepReport("update", 1, 0, 0.0), append={"pages": layer})
    with pytest.raises(StoreFull, match=r"pages/2.*no space left") as error:
        store.backend.create("pages/2", bytes(900_000))
    assert "free some space" in error.value.remedy
    assert Store.open(LocalBackend(small_disk)).files("pages") == list(layer.files)
    store.backend.create("pages/3", bytes(600_000))


@pytest.mark.server
def test_a_manifest_that_does_not_fit_is_not_committed(small_disk: Path) -> None:
    store = Store.create(LocalBackend(small_disk))
    before = store.manifest
    free = os.statvfs(small_disk)
    (small_disk / "ballast").write_bytes(bytes(free.f_bavail * free.f_frsize))
    with pytest.raises(StoreFull, match=r"manifest/00000002\.json"):
        store.commit(StepReport("update", 1, 0, 0.0))
    assert store.manifest == Store.open(LocalBackend(small_disk)).manifest == before


@pytest.mark.parametrize("number", ["EACCES", "EPERM", "EROFS"])
def test_a_disk_that_cannot_be_written_is_named(number: str) -> None:
    code = getattr(errno, number)
    with pytest.raises(StoreError, match="/crawl: cannot be written"), disk_errors("/crawl"):
        raise OSError(code, os.strerror(code))


def test_what_is_created_reaches_the_disk_before_its_name_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[str, str]] = []
    fsync, link = os.fsync, os.link

    def spy_fsync(descriptor: int) -> None:
        calls.append(("fsync", path_of(descriptor)))
        fsync(descriptor)

    def spy_link(source: Path, target: Path) -> None:
        calls.append(("link", str(source)))
        link(source, target)

    monkeypatch.setattr(os, "fsync", spy_fsync)
    monkeypatch.setattr(os, "link", spy_link)
    LocalBackend(tmp_path).create("manifest/1", b"{}")
    draft = calls[0][1]
    assert draft.startswith(f"{tmp_path}/manifest/.1.")
    assert calls == [("fsync", draft), ("link", draft), ("fsync", f"{tmp_path}/manifest")]


def test_files_of_others_are_synced_with_their_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    fsync = os.fsync

    def spy(descriptor: int) -> None:
        synced.append(path_of(descriptor))
        fsync(descriptor)

    (tmp_path / "pages/1").mkdir(parents=True)
    (tmp_path / "pages/1/part").write_bytes(b"rows")
    monkeypatch.setattr(os, "fsync", spy)
    LocalBackend(tmp_path).sync(["pages/1/part"])
    folders = (str(tmp_path), f"{tmp_path}/pages", f"{tmp_path}/pages/1")
    assert sorted(synced) == [*folders, f"{tmp_path}/pages/1/part"]


def test_addresses_of_stores(tmp_path: Path) -> None:
    assert open_backend(str(tmp_path)).url == str(tmp_path)
    assert open_backend(f"file://{tmp_path}").url == str(tmp_path)
    with pytest.raises(UsageError, match="ftp:// is not supported"):
        open_backend("ftp://example.org/crawl")


def test_a_path_that_spark_cannot_use() -> None:
    with pytest.raises(UsageError, match=r"caf\udce9: is not UTF-8"):
        open_backend(os.fsdecode(b"crawls/caf\xe9"))
