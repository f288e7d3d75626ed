"""The commands as a user types them, on a small web: what they print, and their exit codes."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.tables import DATASETS
from tests.support.command_line import gossamer
from tests.support.crawl_settings import loopback_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.usefixtures("shared_engine")
STEPS = [
    *("generate", "fetch", "parse", "update"),
    *("invert", "rank", "boilerplate", "dedup", "index", "postings"),
]


@pytest.fixture(scope="module")
def web() -> Iterator[FakeWeb]:
    with FakeWeb(Web(hosts=2, pages_per_host=15, mix=Mix.plain())) as running:
        yield running


@pytest.fixture(scope="module")
def told(web: FakeWeb, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The report of each step of one round, run as a command; `crawl` is the crawl's folder."""
    folder = tmp_path_factory.mktemp("cli") / "crawl"
    gossamer("init", folder)
    (folder / "gossamer.toml").write_text(loopback_settings(web.address))
    reports = {"inject": gossamer("inject", folder, *web.web.seeds(), "--json")}
    reports |= {name: gossamer(name, folder, "--json") for name in STEPS}
    return {name: json.loads(said.stdout) for name, said in reports.items()} | {"crawl": folder}


@pytest.fixture(scope="module")
def crawl(told: dict[str, Any]) -> Path:
    return Path(told["crawl"])


def test_each_step_reports_what_it_did(told: dict[str, Any]) -> None:
    assert {name: told[name]["step"] for name in ("inject", *STEPS)} == {
        name: name for name in ("inject", *STEPS)
    }
    assert told["inject"]["counts"]["seeds"] == told["generate"]["counts"]["pages"] == 1
    assert told["fetch"]["counts"] == {"ok": 1}
    assert told["parse"]["counts"]["links"] == told["invert"]["counts"]["pages"] > 1
    assert told["index"]["counts"] == {"indexed": 1, "added": 1}


def test_a_step_out_of_turn_changes_nothing_and_says_what_is_next(crawl: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in crawl.glob("*/*")}
    assert "round 1 is already parsed" in gossamer("parse", crawl, code=1).stderr
    assert f"gossamer generate {crawl}" in gossamer("update", crawl, code=1).stderr
    assert {path: path.stat().st_mtime_ns for path in crawl.glob("*/*")} == before


def test_search(crawl: Path, web: FakeWeb) -> None:
    title = web.web.title(next(iter(web.web.hosts())), 0)
    found = json.loads(gossamer("search", crawl, title, "--json").stdout)
    assert found["total"] == 1
    assert found["hits"][0]["url"] == web.web.seeds()[0]
    assert web.web.seeds()[0] in gossamer("search", crawl, title).stdout


def test_status(crawl: Path, told: dict[str, Any]) -> None:
    figures = json.loads(gossamer("status", crawl, "--json").stdout)
    links = told["parse"]["counts"]["links"]
    assert figures["pages"] == {"fetched": 1, "unfetched": links, "hosts": 2}
    assert figures["datasets"]["links"]["rows"] == links
    assert [step["step"] for step in figures["steps"]] == ["inject", *STEPS]
    assert f"{links + 1} known pages on 2 hosts" in gossamer("status", crawl).stdout


@pytest.mark.parametrize("dataset", ["pages", "links", "documents", "inlinks"])
def test_export(dataset: str, crawl: Path, tmp_path: Path) -> None:
    file = tmp_path / "out.parquet"
    gossamer("export", crawl, dataset, "-o", file)
    rows = pq.read_table(file)
    assert rows.num_rows > 0
    lines = gossamer("export", crawl, dataset, "--to", "jsonl").stdout.splitlines()
    table = list(
        csv.DictReader(io.StringIO(gossamer("export", crawl, dataset, "--to", "csv").stdout))
    )
    key = DATASETS[dataset].key[-1]
    urls = sorted(rows[key].to_pylist())
    assert sorted(json.loads(line)[key] for line in lines) == urls
    assert sorted(row[key] for row in table) == urls


def test_export_of_an_unknown_dataset_lists_the_datasets(crawl: Path) -> None:
    said = gossamer("export", crawl, "documents2", code=1).stderr
    assert "no such dataset" in said
    assert "documents, links" in said


def test_inject_reports_bad_lines_and_accepts_the_rest(tmp_path: Path) -> None:
    folder, seeds = tmp_path / "crawl", tmp_path / "seeds.gz"
    gossamer("init", folder)
    seeds.write_bytes(gzip.compress(b"# seeds\nhttps://a.example/\n\nmailto:x@example.org\n"))
    said = gossamer("inject", folder, "--list", seeds)
    assert said.stdout.startswith("inject: 1 bad_lines, 1 seeds in ")
    assert f"{seeds}:4: not a URL that can be crawled: 'mailto:x@example.org'" in said.stderr
    assert (
        "2 seeds"
        in gossamer("inject", folder, "--list", "-", stdin="b.example\nc.example\n").stdout
    )
    assert (
        "-:1: not a URL" in gossamer("inject", folder, "-l", "-", stdin="ftp://x/\n", code=1).stderr
    )
    assert "cannot be read" in gossamer("inject", folder, "--list", folder / "none", code=1).stderr
    gossamer("inject", folder, code=2)


def test_a_folder_without_a_crawl_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    for command in (["status"], ["search", "x"], ["generate"], ["export", "pages"]):
        name, *rest = command
        said = gossamer(name, tmp_path, *rest, code=1).stderr
        assert (
            said
            == f"gossamer: {tmp_path}: is not a crawl\n  → create one: gossamer init {tmp_path}\n"
        )


def test_bad_settings_are_named(tmp_path: Path) -> None:
    gossamer("init", tmp_path)
    file = tmp_path / "gossamer.toml"
    for text, why in (
        ("[fetch]\ndelay = 1", "unknown key `delay` in fetch"),
        ("[fetch]\ndelay_s = -1.0", "fetch.delay_s = -1.0: expected `float` >= 0.0"),
        ("[fetch", "not TOML"),
    ):
        file.write_text(text)
        said = gossamer("status", tmp_path, code=1).stderr
        assert said.startswith(f"gossamer: {file}: ")
        assert why in said
