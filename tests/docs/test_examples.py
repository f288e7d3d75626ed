"""Each example runs on a small crawl: one as a user runs it, the others in this process."""

from __future__ import annotations

import http.server
import json
import runpy
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow.parquet as pq
import pytest

from gossamer import Crawl
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.flow import rounds
from tests.support.changing_pages import GONE, HOST, harvest_pages
from tests.support.command_line import lent
from tests.support.crawl_settings import loopback_settings
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.engine.engine import Engine
    from gossamer.state.workspace import Workspace

pytestmark = pytest.mark.slow

EXAMPLES = ROOT / "examples"
MAX_LINES = 40
PAGES = 6


@pytest.fixture(scope="module")
def crawled(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A crawl of one round, with ranks. The examples that read it search nothing."""
    folder = str(tmp_path_factory.mktemp("crawl"))
    ranking = {name: rounds.HARVEST[name] for name in ("graph", "rank")}
    with (
        pytest.MonkeyPatch.context() as patch,
        FakeWeb(Web(hosts=1, pages_per_host=PAGES, mix=Mix.plain())) as fake,
    ):
        crawl = Crawl.create(folder, loopback_settings(fake.address), engine)
        crawl.inject(fake.web.urls("site-0.test"))
        patch.setattr(rounds, "HARVEST", ranking)
        crawl.run(rounds=1)
    return folder


def run_as_user(folder: Path, name: str, *arguments: str) -> str:
    ended = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture
def run(
    engine: Engine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., str]:
    """Runs an example here, on the engine of all tests, which saves imports and an engine."""

    def run_here(name: str, *arguments: str) -> str:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        with lent(engine):
            runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        return capsys.readouterr().out

    return run_here


def test_crawl_and_search(run: Callable[..., str]) -> None:
    steps, _, answers = run("crawl_and_search.py").partition("\n\n")
    assert steps.startswith("1 generate {'pages': 1}\n")
    head, best, *_ = answers.splitlines()
    title = head.partition(" pages for ")[2].strip("'")
    assert best.startswith(f"{title} http://site-0.test/")


def test_top_pages(run: Callable[..., str], crawled: str, tmp_path: Path) -> None:
    lines = run("top_pages.py", crawled).splitlines()
    assert lines[0].split() == ["url", "rank", "inlinks", "depth"]
    ranks = [float(line.split()[1]) for line in lines[1:-1]]
    assert len(ranks) == PAGES
    assert ranks == sorted(ranks, reverse=True)
    import pandas as pd  # takes a third of a second, in each process that collects tests

    links = pd.read_csv(tmp_path / "links.csv")
    assert lines[-1] == f"wrote {len(links)} links to links.csv"
    assert list(links.columns) == ["src", "dst", "anchor"]
    assert links.dst.nunique() == PAGES


def test_stored_pages(crawled: str, tmp_path: Path) -> None:
    lines = run_as_user(tmp_path, "stored_pages.py", crawled, "http://site-0.test/").splitlines()
    assert lines[0] == "round 1: ok, HTTP 200"
    assert any(line.startswith("  content-type: text/html") for line in lines)
    assert "bytes, beginning with b'<!doctype html>" in lines[-1].lower()


def test_what_if(run: Callable[..., str], crawled: str) -> None:
    first, *urls = run("what_if.py", crawled).splitlines()
    assert first == "3 of 3 selected pages have no query:"
    assert "http://site-0.test/" in urls
    assert len(urls) == 3


HARVESTS: tuple[dict[str, str | None], ...] = (
    {"a": "red apples", "b": "green pears", "c": "dry plums"},
    {"a": "red and green apples", "b": GONE, "d": "green tea"},
    {"b": "ripe pears", "d": GONE},
)
LEFT = {"a": "red and green apples", "b": "ripe pears", "c": "dry plums"}


@pytest.mark.folder
@pytest.mark.parametrize("at_once", [True, False])
def test_a_table_of_sqlite_follows_the_index(
    run: Callable[..., str], work: Workspace, tmp_path: Path, at_once: bool
) -> None:
    for number, texts in enumerate(HARVESTS, 1):
        harvest_pages(work, number, texts)
        if not at_once or number == len(HARVESTS):
            run("changes_to_sqlite.py", work.root, "pages.db")
    run("changes_to_sqlite.py", work.root, "pages.db")
    with closing(sqlite3.connect(tmp_path / "pages.db")) as store:
        rows = store.execute("SELECT url, text FROM pages JOIN texts ON id = texts.rowid")
        assert dict(rows.fetchall()) == {f"http://{HOST}/{name}": LEFT[name] for name in LEFT}
        found = store.execute("SELECT count(*) FROM texts WHERE texts MATCH 'green'").fetchone()
        assert found == (1,)


@pytest.mark.folder
def test_a_folder_of_parquet_follows_the_index(
    run: Callable[..., str], work: Workspace, tmp_path: Path
) -> None:
    for number, texts in enumerate(HARVESTS, 1):
        harvest_pages(work, number, texts)
        for _ in range(2):
            run("changes_to_parquet.py", work.root, "pages")
    files = sorted((tmp_path / "pages").iterdir())
    assert len(files) == len(HARVESTS)
    held: dict[str, str] = {}
    for row in pq.read_table(files).to_pylist():
        held.pop(row["url"], None)
        if row["change"] in ("added", "changed"):
            held[row["url"]] = row["text"]
    assert held == {f"http://{HOST}/{name}": LEFT[name] for name in LEFT}


class _Bulk(http.server.BaseHTTPRequestHandler):
    """What `_bulk` of OpenSearch and Elasticsearch does with an index: lines of JSON in pairs."""

    held: ClassVar[dict[str, Any]] = {}
    refuses: ClassVar[list[int]] = []
    """For each request, how many of its actions are refused, at its end."""

    def do_POST(self) -> None:
        lines = self.rfile.read(int(self.headers["content-length"])).decode().split("\n")
        assert self.path == "/pages/_bulk"
        assert self.headers["content-type"] == "application/x-ndjson"
        assert lines.pop() == ""  # the last line ends, too
        items: list[Any] = []
        actions = sum(line.startswith(('{"index": {"_id"', '{"delete": {"_id"')) for line in lines)
        taken = actions - (self.refuses.pop(0) if self.refuses else 0)
        while lines:
            [(action, named)] = json.loads(lines.pop(0)).items()
            source = json.loads(lines.pop(0)) if action == "index" else None
            status = 429
            if len(items) < taken:
                known = self.held.pop(named["_id"], None)
                status = 200 if known else 201 if source else 404
                self.held.update({named["_id"]: source} if source else {})
            items.append({action: {**named, "status": status}})
        answer = json.dumps({"errors": taken < actions, "items": items}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Be quiet."""


@pytest.mark.folder
@pytest.mark.server
def test_an_index_of_opensearch_follows_ours(run: Callable[..., str], work: Workspace) -> None:
    _Bulk.held.clear()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Bulk) as server:
        serving = threading.Thread(target=server.serve_forever, args=(0.02,))
        serving.start()
        url = f"http://127.0.0.1:{server.server_port}/pages"
        for number, texts in enumerate(HARVESTS, 1):
            harvest_pages(work, number, texts)
            _Bulk.refuses[:] = [2]
            with pytest.raises(SystemExit, match="not all changes were taken"):
                run("changes_to_opensearch.py", work.root, url, "cursor")
            run("changes_to_opensearch.py", work.root, url, "cursor")
        server.shutdown()
        serving.join()
    held = {source["url"]: source["text"] for source in _Bulk.held.values()}
    assert held == {f"http://{HOST}/{name}": LEFT[name] for name in LEFT}


def test_all_examples_are_short_and_tested() -> None:
    tested = Path(__file__).read_text(encoding="utf-8")
    for example in EXAMPLES.glob("*.py"):
        assert f'"{example.name}"' in tested
        assert len(example.read_text(encoding="utf-8").splitlines()) <= MAX_LINES
