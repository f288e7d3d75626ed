"""Garbage collection, and what else deletes: never a file that Gossamer did not make."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.api.crawl import Crawl
from gossamer.errors import ConfigError, Conflict, Occupied, StoreError
from gossamer.state.heartbeats import clear_heartbeats
from gossamer.storage import checksums
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.names import FOLDERS, OWNER_MARK, is_collected, is_of_init
from gossamer.storage.store import File, Layer, StepReport, Store
from tests.support.command_line import gossamer
from tests.support.memory_backend import MemoryBackend

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.state.workspace import Workspace

ATTEMPT = "00000002-0123abcd"
HEX32 = "0123456789abcdef" * 2
PARQUET = f"{HEX32}.parquet"
OURS = [
    "manifest/00000001.json",
    "manifest/123456789.json",
    "manifest/.00000002.json.0123abcd",
    *(
        f"{folder}/{ATTEMPT}/{PARQUET}"
        for folder in FOLDERS
        if folder not in {"warc", "index", "vectors", "graph", "ranked_nodes"}
    ),
    f"postings/{ATTEMPT}/0000-of-0008-{PARQUET}",
    f"numbered/{ATTEMPT}/0007-{PARQUET}",
    f"graph/{ATTEMPT}/page-0000-{PARQUET}",
    f"graph/{ATTEMPT}/recent-page-{PARQUET}",
    f"graph/{ATTEMPT}/hosts-t.offsets",
    f"ranked_nodes/{ATTEMPT}/nodes.msgpack",
    f"scratch/{ATTEMPT}/0012.properties",
    f"scratch/{ATTEMPT}/000012-{32 * 'a'}.graph",
    f"scratch/{ATTEMPT}/names-000012-{32 * 'a'}.arrow",
    f"scratch/{ATTEMPT}/transposed-000012-{32 * 'a'}.npy",
    f"pages/{ATTEMPT}/19QoGY0tMUGRr5SB_0.zst.parquet",
    f"scratch/{ATTEMPT}/part=12/19QoGY0tMUGRr5SB_10.zst.parquet",
    f"scratch/{ATTEMPT}/part=12/19QoGY0tMUGRr5SB.zst.parquet",
    f"scratch/{ATTEMPT}/19QoGY0tMUGRr5SB_0.zst.parquet#1",
    f"pages/{ATTEMPT}/_SUCCESS",
    f"pages/{ATTEMPT}/._SUCCESS.crc",
    f"pages/{ATTEMPT}/part-00003-8a5cbb66-4b4e-4f3c-9e43-0f1f3f0a8f11-c000.zstd.parquet",
    f"pages/{ATTEMPT}/.part-00003-8a5cbb66-4b4e-4f3c-9e43-0f1f3f0a8f11-c000.zstd.parquet.crc",
    (
        f"scratch/{ATTEMPT}/_temporary/0/_temporary/attempt_2026_0001_m_000001_3/shard=1/"
        "part-00001-8a5cbb66-4b4e-4f3c-9e43-0f1f3f0a8f11.c000.zstd.parquet"
    ),
    f"warc/{ATTEMPT}/{HEX32}.warc.gz",
    f"warc/{ATTEMPT}/{HEX32}.cdxj",
    f"index/{ATTEMPT}/0001.7-0123abcd/en/{HEX32}.term",
    f"index/{ATTEMPT}/0001.7-0123abcd/en/{HEX32}.17.del",
    f"index/{ATTEMPT}/0000.12-0123abcd/xx/meta.json",
    f"index/{ATTEMPT}/0001.7-0123abcd/en/.managed.json",
    f"index/{ATTEMPT}/0001.7-0123abcd/en/.tantivy-writer.lock",
    f"index/{ATTEMPT}/0001.7-0123abcd/en/.tmpA1b2C3",
    f"vectors/{ATTEMPT}/0001.{HEX32[:16]}-0123abcd/en/00000012.vec",
]
THEIRS = [
    "pages/index.tsx",
    "pages/about/index.tsx",
    f"pages/{ATTEMPT}/index.tsx",
    f"pages/{ATTEMPT}/notes.parquet",
    f"pages/2-0123abcd/{PARQUET}",
    f"pages/00000002/{PARQUET}",
    f"pages/{ATTEMPT}-old/{PARQUET}",
    f"pages/{ATTEMPT}/copy of {PARQUET}",
    f"pages/{ATTEMPT}/{PARQUET}.bak",
    f"pages/{ATTEMPT}/{HEX32}.warc.gz",
    f"warc/{ATTEMPT}/{PARQUET}",
    f"warc/{HEX32}.warc.gz",
    f"warc/{ATTEMPT}/{HEX32}.warc.gz\n",
    f"graph/{ATTEMPT}/my.graph",
    f"index/{ATTEMPT}/{HEX32}.term",
    f"index/{ATTEMPT}/0001.7-0123abcd/en/README.md",
    "index/index.html",
    "documents/thesis.pdf",
    "links/links.txt",
    "scratch/todo.txt",
    "manifest/site.json",
    "manifest/1.json",
    "manifest/00000001.json.bak",
    f"photos/{ATTEMPT}/{PARQUET}",
    "gossamer.toml",
    ".lock",
]


def links_of(root: Path) -> Layer:
    """A file of the dataset links, written as a task would."""
    path = f"links/{Store.open(LocalBackend(root)).attempt('links').partition('/')[2]}/{PARQUET}"
    LocalBackend(root).create(path, b"rows")
    return Layer(1, (File(path, 1, 4, checksums.checksum_bytes(b"rows")),))


def write(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)


def collect(root: Path) -> None:
    store = Store.open(LocalBackend(root))
    with store.lock():
        store.collect_garbage(keep_versions=0)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A crawl without data."""
    Store.create(LocalBackend(tmp_path / "crawl"))
    return tmp_path / "crawl"


@pytest.mark.folder
def test_files_that_the_engine_writes_are_collected(work: Workspace) -> None:
    rows = work.engine.spark.range(3).selectExpr("id % 2 AS part", "id")
    files = (*work.scratch_files(rows), *work.scratch_files(rows, by=["part"]))
    assert len(files) >= 3
    assert all(is_collected(file.path) for file in files)


@pytest.mark.parametrize("path", OURS)
def test_names_that_gossamer_makes_are_collected(path: str) -> None:
    assert is_collected(path)


@pytest.mark.parametrize("path", THEIRS)
def test_other_names_are_not_collected(path: str) -> None:
    assert not is_collected(path)


@given(st.sampled_from([*FOLDERS, "manifest"]), st.text(max_size=80))
def test_no_text_is_taken_for_a_name_of_ours(folder: str, rest: str) -> None:
    assert not is_collected(f"{folder}/{rest}")


def test_garbage_collection_spares_files_that_are_not_ours(root: Path) -> None:
    theirs = [path for path in THEIRS if path != ".lock"]
    write(root, *theirs)
    write(root, *(path for path in OURS if not path.startswith("manifest/")))
    collect(root)
    left = {path for path, _ in LocalBackend(root).sizes("")} - {".lock", "manifest/00000001.json"}
    assert left == set(theirs)


def test_garbage_collection_follows_no_link_below_a_dataset(root: Path, tmp_path: Path) -> None:
    kept = tmp_path / "elsewhere"
    write(kept, PARQUET)
    (root / "pages" / ATTEMPT).mkdir(parents=True)
    (root / "pages" / ATTEMPT / "part=1").symlink_to(kept)
    (root / "links").mkdir()
    (root / "links" / ATTEMPT).symlink_to(kept)
    (root / "ranks" / ATTEMPT).mkdir(parents=True)
    (root / "ranks" / ATTEMPT / PARQUET).symlink_to(kept / PARQUET)
    collect(root)
    assert (kept / PARQUET).exists()
    assert (root / "ranks" / ATTEMPT / PARQUET).is_symlink()


def test_nothing_is_deleted_through_a_link(root: Path, tmp_path: Path) -> None:
    kept = tmp_path / "elsewhere"
    write(kept, f"{ATTEMPT}/{PARQUET}")
    (root / "links").symlink_to(kept)
    (root / "ranks").mkdir()
    (root / "ranks" / ATTEMPT).symlink_to(kept / ATTEMPT)
    paths = [f"{name}/{ATTEMPT}/{PARQUET}" for name in ("links", "ranks")]
    LocalBackend(root).delete([*paths, f"../elsewhere/{ATTEMPT}/{PARQUET}"])
    assert (kept / ATTEMPT / PARQUET).exists()


def test_silence_deletes_heartbeats_only(root: Path) -> None:
    write(root, "heartbeats/fetch-0.json", "heartbeats/fetch-1.4711.draft")
    write(
        root, "heartbeats/fetch-notes.txt", "heartbeats/fetch-0.json.bak", "heartbeats/parse-0.json"
    )
    clear_heartbeats(str(root), "fetch")
    assert {path for path, _ in LocalBackend(root).sizes("heartbeats")} == {
        "heartbeats/fetch-notes.txt",
        "heartbeats/fetch-0.json.bak",
        "heartbeats/parse-0.json",
    }


# Making a crawl


@pytest.mark.server
def test_a_folder_with_files_of_others_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    web = tmp_path / "web"
    write(web, "pages/index.tsx")
    for command in (["init", web], ["crawl", web, "http://127.0.0.1:1/"]):
        said = gossamer(*command, code=1).stderr
        assert (
            f"{web}: a crawl needs a folder of its own, and this one holds pages/index.tsx" in said
        )
        assert "choose a folder that does not exist" in said
    assert [path for path, _ in LocalBackend(web).sizes("")] == ["pages/index.tsx"]


@pytest.mark.parametrize("path", [*THEIRS[:-2], f"links/{ATTEMPT}/{PARQUET}"])
def test_any_other_file_keeps_a_crawl_from_being_made(path: str) -> None:
    backend = MemoryBackend()
    backend.create(path, b"x")
    with pytest.raises(Occupied):
        Store.create(backend)
    assert list(backend.contents) == [path]


def test_an_error_names_a_few_of_many_files(tmp_path: Path) -> None:
    write(tmp_path, *(f"file {n}" for n in range(9)))
    with pytest.raises(Occupied, match="holds file 0, file 1, file 2 and more"):
        Crawl.create(str(tmp_path))


def test_what_a_cut_off_init_leaves_does_not_keep_the_next_one_from_its_work(
    tmp_path: Path,
) -> None:
    write(tmp_path, ".lock", ".gossamer.toml.0123abcd", "manifest/.00000001.json.0123abcd")
    (tmp_path / "warc" / "lost+found").mkdir(parents=True)
    assert all(is_of_init(path) for path, _ in LocalBackend(tmp_path).sizes(""))
    Crawl.create(str(tmp_path))


def test_settings_that_are_there_before_are_kept(tmp_path: Path) -> None:
    settings = 'fetch.contact = "me@example.org"\nparse.site_rules = "rules.toml"'
    (tmp_path / "gossamer.toml").write_text(settings)
    (tmp_path / "rules.toml").write_text("")
    gossamer("init", tmp_path)
    assert (tmp_path / "gossamer.toml").read_text() == settings
    with Crawl.open(str(tmp_path)) as crawl:
        assert crawl.work.config.fetch.contact == "me@example.org"


@pytest.mark.usefixtures("shared_engine")
def test_crawl_makes_a_crawl_with_the_settings_that_are_there(tmp_path: Path) -> None:
    (tmp_path / "gossamer.toml").write_text("generate.pages = 7\n")
    gossamer("crawl", tmp_path, "http://127.0.0.1:1/", "--minutes", "0")
    assert (tmp_path / "gossamer.toml").read_text() == "generate.pages = 7\n"
    assert Store.open(LocalBackend(tmp_path)).manifest.version > 1


def test_settings_are_not_replaced_by_others(tmp_path: Path) -> None:
    (tmp_path / "gossamer.toml").write_text("generate.pages = 7\n")
    with pytest.raises(Conflict, match="already exists, with different settings"):
        Crawl.create(str(tmp_path), "generate.pages = 8\n")
    (tmp_path / "gossamer.toml").write_text("pages = 7\n")
    with pytest.raises(ConfigError):
        Crawl.create(str(tmp_path), keep_settings=True)
    assert [path for path, _ in LocalBackend(tmp_path).sizes("")] == ["gossamer.toml"]


# Datasets on another disk


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    folder = tmp_path / "disk"
    (folder / "lost+found").mkdir(parents=True)
    return folder


def test_a_linked_dataset_is_marked_and_its_garbage_is_collected(root: Path, disk: Path) -> None:
    (root / "links").symlink_to(disk)
    collect(root)
    assert (disk / OWNER_MARK).exists()
    write(disk, f"{ATTEMPT}/{PARQUET}", f"{ATTEMPT}/notes.txt")
    collect(root)
    left = {path.name for path in disk.rglob("*") if path.is_file()}
    assert left == {OWNER_MARK, "notes.txt"}


def test_two_crawls_do_not_share_a_linked_dataset(root: Path, disk: Path, tmp_path: Path) -> None:
    (root / "links").symlink_to(disk)
    store = Store.open(LocalBackend(root))
    with store.lock():
        store.commit(StepReport("parse", 1, 0, 0.0), append={"links": links_of(root)})
    second = tmp_path / "second"
    Store.create(LocalBackend(second))
    (second / "links").symlink_to(disk)
    for _ in range(2):
        with pytest.raises(Occupied, match=f"belongs to links of the crawl {root}") as error:
            collect(second)
        assert f"make {second}/links a link to an empty folder of its own" in error.value.remedy
    with pytest.raises(Occupied), Store.open(LocalBackend(second)).lock():
        pass
    assert store.files("links")


def test_a_folder_with_other_files_is_not_taken_over(root: Path, disk: Path) -> None:
    write(disk, "holiday.jpg")
    (root / "links").symlink_to(disk)
    with pytest.raises(Occupied, match=r"holds other files: links/holiday.jpg"):
        collect(root)
    assert not (disk / OWNER_MARK).exists()


def test_a_dataset_that_was_moved_to_another_disk_is_taken_over(root: Path, tmp_path: Path) -> None:
    store = Store.open(LocalBackend(root))
    store.commit(StepReport("parse", 1, 0, 0.0), append={"links": links_of(root)})
    moved = tmp_path / "moved"
    shutil.move(root / "links", moved)
    (root / "links").symlink_to(moved)
    collect(root)
    assert (moved / OWNER_MARK).exists()
    assert Store.open(LocalBackend(root)).files("links")


def test_a_disk_that_is_not_mounted_is_not_taken_for_an_empty_one(root: Path, disk: Path) -> None:
    store = Store.open(LocalBackend(root))
    store.commit(StepReport("parse", 1, 0, 0.0), append={"links": links_of(root)})
    shutil.rmtree(root / "links")
    (root / "links").symlink_to(disk)
    with pytest.raises(StoreError, match=r"which lacks links/.*\n.*mount the disk"):
        collect(root)
    shutil.rmtree(disk)
    with pytest.raises(StoreError, match=r"is not a folder\n.*mount or create it"):
        collect(root)


def test_a_crawl_that_was_moved_keeps_its_linked_dataset(
    root: Path, disk: Path, tmp_path: Path
) -> None:
    (root / "links").symlink_to(disk)
    collect(root)
    moved = root.rename(tmp_path / "moved")
    collect(moved)
    collect(moved)


def test_a_copy_of_a_crawl_does_not_collect_the_files_of_the_first(
    root: Path, disk: Path, tmp_path: Path
) -> None:
    (root / "links").symlink_to(disk)
    collect(root)
    copy = shutil.copytree(root, tmp_path / "copy", symlinks=True)
    with pytest.raises(Occupied, match=f"belongs to links of the crawl {root}"):
        collect(copy)
    collect(root)


def test_two_datasets_do_not_share_a_folder(root: Path, disk: Path) -> None:
    (root / "links").symlink_to(disk)
    (root / "pages").symlink_to(disk)
    with pytest.raises(Occupied, match="which belongs to"):
        collect(root)


def test_a_dataset_does_not_lead_back_into_the_crawl(root: Path) -> None:
    (root / "links").mkdir()
    (root / "pages").symlink_to("links")
    with pytest.raises(Occupied, match="inside or around the crawl"):
        collect(root)
