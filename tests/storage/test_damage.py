"""A crawl folder that lost something: the command says what, where and what to do, and exits 1."""

from __future__ import annotations

import random
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from gossamer import cli, fetch
from gossamer.api.crawl import Crawl
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.parse.step.stored_responses import read_answers, record_of
from gossamer.schedule import generate
from gossamer.state.workspace import Workspace
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.names import is_collected, is_made_here
from gossamer.tables import DATASETS
from tests.support import byte_flips
from tests.support.crawl_settings import loopback_settings
from tests.support.harvest_steps import run_index

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.engine.engine import Engine

READERS = {
    "pages": ["generate"],
    "fetchlist": ["fetch"],
    "responses": ["parse"],
    "warc": ["parse"],
    "links": ["invert"],
    "documents": ["index"],
    "inlinks": ["index"],
    "ranks": ["dedup"],
    "dispositions": ["index"],
    "index": ["search", "words"],
}
"""A command that reads each dataset."""


def gone(file: Path) -> None:
    file.unlink()


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def gibberish(file: Path) -> None:
    file.write_bytes(b"\xff\x00{")


@pytest.fixture(scope="module")
def crawls(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One whose second round is generated, and one whose second round is fetched."""
    folder = tmp_path_factory.mktemp("damage")
    with FakeWeb(Web(hosts=2, pages_per_host=20, mix=Mix.plain())) as web:
        settings = loopback_settings(web.address)
        crawl = Crawl.create(str(folder / "generated"), settings, engine)
        crawl.inject(web.web.seeds())
        crawl.run(rounds=1)
        generate.run(crawl.work)
        shutil.copytree(folder / "generated", folder / "fetched")
        fetch.run(Crawl.open(str(folder / "fetched"), engine).work)
    return {"generated": folder / "generated", "fetched": folder / "fetched"}


@pytest.fixture
def crawl(crawls: dict[str, Path], request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    state = "generated" if request.node.callspec.params.get("dataset") == "fetchlist" else "fetched"
    return Path(shutil.copytree(crawls[state], tmp_path / "crawl"))


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., tuple[object, str]]:
    """Runs a command as the console script does: exit code and standard error."""

    def command(*words: object) -> tuple[object, str]:
        monkeypatch.setattr(sys, "argv", ["gossamer", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return ended.value.code or 0, capfd.readouterr().err

    return command


@pytest.mark.parametrize("damage", [gone, cut])
@pytest.mark.parametrize("dataset", READERS)
def test_a_file_that_is_not_whole_is_named_with_a_remedy_which_works(
    dataset: str,
    damage: Callable[[Path], None],
    crawl: Path,
    run: Callable[..., tuple[object, str]],
) -> None:
    manifest = Crawl.open(str(crawl)).work.store.manifest
    file = crawl / manifest.layers(dataset)[-1].files[-1].path
    damage(file)
    name, *rest = READERS[dataset]
    code, told = run(name, crawl, *rest)
    assert code == 1
    assert told.startswith(f"gossamer: {file}: "), told
    assert "put it back from a copy" in told
    assert "Traceback" not in told
    later = re.findall(rf"{crawl}/manifest/\d+\.json", told)
    for state in later:
        Path(state).unlink()
    if later:
        Crawl.open(str(crawl)).work.paths(dataset)
    else:
        assert dataset in {"pages", "links", "documents", "inlinks", "ranks"}, (
            "no kept state is without it"
        )


def flip(file: Path) -> None:
    """Change a byte in the middle."""
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


@pytest.mark.parametrize("dataset", [name for name in READERS if name != "warc"])
def test_a_changed_byte_is_named_with_a_remedy(
    dataset: str, crawl: Path, run: Callable[..., tuple[object, str]]
) -> None:
    manifest = Crawl.open(str(crawl)).work.store.manifest
    file = crawl / manifest.layers(dataset)[-1].files[-1].path
    flip(file)
    name, *rest = READERS[dataset]
    code, told = run(name, crawl, *rest)
    assert code == 1
    assert told.startswith(f"gossamer: {file}: is damaged: its checksum"), told
    assert "put it back from a copy" in told


def test_a_flip_in_any_kind_of_file_is_an_error_that_names_it(
    crawls: dict[str, Path], engine: Engine, tmp_path: Path
) -> None:
    """Only `check` reads all bytes of an archive: the requests, gzip headers and indexes too."""
    root = Path(shutil.copytree(crawls["fetched"], tmp_path / "crawl"))
    newest = str(max((root / "manifest").iterdir()).relative_to(root))
    named = [*sorted(Crawl.open(str(root)).work.store.manifest.paths()), newest]
    kinds = {byte_flips.kind_of(path): path for path in named}
    assert len(kinds) > 15
    draws = random.Random(7)  # noqa: S311  # no secret
    for kind, path in kinds.items():
        before = byte_flips.question_of(path.partition("/")[0])(Workspace.open(str(root), engine))
        for at in byte_flips.flipped(root, path, draws):
            said = byte_flips.outcome(root, path, before, engine)
            expected = {"error", "same"} if kind.startswith("warc") else {"error"}
            assert said[0] in expected, (path, at, said)
            assert byte_flips.is_found(root, path), (path, at)


def test_a_flip_in_any_stored_body_is_an_error_that_names_the_archive(
    crawls: dict[str, Path], engine: Engine, tmp_path: Path
) -> None:
    root = Path(shutil.copytree(crawls["fetched"], tmp_path / "crawl"))
    work = Workspace.open(str(root), engine)
    before = byte_flips.archive(work)
    files = work.store.files("responses")
    answers = [answer for file in files for answer in read_answers(f"{root}/{file.path}")]
    records = sorted(set(map(record_of, answers)))
    assert len(records) > 10
    for path, offset in records[:: len(records) // 10]:
        archive = root / path
        whole = archive.read_bytes()
        compressed = offset + 10  # behind the member's header (RFC 1952, section 2.3)
        archive.write_bytes(
            whole[:compressed] + bytes([whole[compressed] ^ 1]) + whole[compressed + 1 :]
        )
        assert byte_flips.outcome(root, path, before, engine)[0] == "error", (path, offset)
        archive.write_bytes(whole)


@pytest.mark.parametrize(
    ("dataset", "words"),
    [
        ("pages", ["status"]),
        ("pages", ["export", "pages"]),
        ("links", ["export", "links"]),
        ("documents", ["export", "documents"]),
        ("responses", ["export", "responses"]),
    ],
)
def test_a_changed_byte_is_named_by_commands_that_read(
    dataset: str, words: list[str], crawl: Path, run: Callable[..., tuple[object, str]]
) -> None:
    file = crawl / Crawl.open(str(crawl)).work.store.listed(dataset)[0].path
    flip(file)
    command, *rest = words
    code, told = run(command, crawl, *rest)
    assert code == 1
    assert f"gossamer: {file}: is damaged: its checksum" in told, told
    assert "Traceback" not in told


def test_check_names_every_file_that_is_not_whole(
    crawls: dict[str, Path], tmp_path: Path, run: Callable[..., tuple[object, str]]
) -> None:
    crawl = Path(shutil.copytree(crawls["fetched"], tmp_path / "crawl"))
    assert run("check", crawl) == (0, "")
    manifest = Crawl.open(str(crawl)).work.store.manifest
    stacks = {name: manifest.layers(name) for name in manifest.datasets}
    last = {name: crawl / stack[-1].files[-1].path for name, stack in stacks.items() if stack}
    damages = [gone, cut, flip]
    for number, file in enumerate(last.values()):
        damages[number % len(damages)](file)
    code, told = run("check", crawl)
    assert code == 1
    for file in last.values():
        assert f"gossamer: {file}: " in told
    assert told.count("put it back from a copy") == len(last)
    assert re.search(rf"{len(last)} of \d+ files .* are damaged or missing", told)


@pytest.mark.parametrize("dataset", ["index", "indexed"])
def test_indexing_repairs_a_damaged_index(
    dataset: str, crawls: dict[str, Path], tmp_path: Path, engine: Engine
) -> None:
    folder = str(shutil.copytree(crawls["fetched"], tmp_path / "crawl"))
    words = "host OR page OR the"
    crawl = Crawl.open(folder, engine)
    before = [hit.url for hit in crawl.search(words).hits]
    assert before
    flip(Path(folder, crawl.work.store.listed(dataset)[-1].path))
    crawl = Crawl.open(folder, engine)
    counts = run_index(crawl.work).counts
    assert ("damaged_parts" in counts) == (dataset == "index")
    assert [hit.url for hit in crawl.search(words).hits] == before


@pytest.mark.parametrize("command", ["generate", "status", "search", "crawl", "export"])
@pytest.mark.parametrize("damage", [cut, gibberish])
def test_a_bad_manifest_is_named_with_a_remedy_which_works(
    command: str,
    damage: Callable[[Path], None],
    crawl: Path,
    run: Callable[..., tuple[object, str]],
) -> None:
    newest = max((crawl / "manifest").glob("*.json"))
    damage(newest)
    words = {"search": ["words"], "export": ["links"]}.get(command, [])
    code, told = run(command, crawl, *words)
    assert code == 1
    assert told.startswith(f"gossamer: {newest}: is damaged"), told
    assert "delete this file to return to the previous state" in told
    assert "Traceback" not in told
    newest.unlink()
    assert run("status", crawl) == (0, "")


@pytest.mark.parametrize("dataset", ["fetchlist", "index"])
def test_a_file_of_the_right_size_and_the_wrong_bytes_is_named(
    dataset: str, crawl: Path, run: Callable[..., tuple[object, str]]
) -> None:
    named = Crawl.open(str(crawl)).work.store.manifest.layers(dataset)[-1].files
    file = next(crawl / f.path for f in named if f.path.endswith(("meta.json", ".parquet")))
    file.write_bytes(bytes(file.stat().st_size))
    name, *rest = READERS[dataset]
    code, told = run(name, crawl, *rest)
    assert code == 1
    assert str(file if dataset == "fetchlist" else file.parent) in told
    assert "is damaged" in told
    assert "Traceback" not in told


def test_every_file_of_a_crawl_has_a_name_that_garbage_collection_knows(
    crawls: dict[str, Path],
) -> None:
    manifest = Crawl.open(str(crawls["fetched"])).work.store.manifest
    assert {path.partition("/")[0] for path in manifest.paths()} >= READERS.keys() - {"fetchlist"}
    assert [path for path in manifest.paths() if not is_collected(path)] == []
    files = LocalBackend(crawls["fetched"]).sizes("")
    assert [path for path, _ in files if not is_made_here(path)] == []


def test_every_file_that_the_engine_writes_has_such_a_name(work: Workspace) -> None:
    for name in [name for name, dataset in DATASETS.items() if dataset.columns]:
        schema = DATASETS[name].schema
        row = pa.Table.from_pylist([dict.fromkeys(schema.names)], schema=schema)
        (file,) = work.write(work.engine.rows(row), name, 0).files
        assert is_collected(file.path), file.path
