"""A crawl folder that lost something: the command says what, where and what to do, and exits 1."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gossamer import cli, fetch, generate
from gossamer.api import Crawl
from gossamer.fakeweb import FakeWeb, Mix, Web

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.engine import Engine

SETTINGS = """
filter.scope = "any"
fetch.delay_s = 0
fetch.delay_factor = 0
fetch.address_delay_s = 0
fetch.allow_networks = ["127.0.0.0/8"]
fetch.resolve = {{ "*.test" = "{address}" }}
"""
READERS = {
    "pages": ["generate"],
    "fetchlist": ["fetch"],
    "responses": ["parse"],
    "warc": ["parse"],
    "links": ["invert"],
    "documents": ["index"],
    "inlinks": ["index"],
    "ranks": ["index"],
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
        settings = SETTINGS.format(address=web.address)
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
        assert dataset in {"pages", "links", "documents", "inlinks"}, "no kept state is without it"


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
    assert told.startswith(f"gossamer: {newest}: not a manifest of format 1"), told
    assert "delete this file: the state before it is whole" in told
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
