"""Crawls that another version of Gossamer wrote, or that lack a dataset, over HTTP."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from gossamer.state.workspace import Workspace
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.store import File, Layer, StepReport, Store
from tests.support.search_server import dom, one, serving
from tests.support.stored_rounds import HOME, Fetched
from tests.support.stored_web import put_inlinks, put_rows, store_and_parse

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.folder

PATHS = ("/page", "/copy", "/copy/raw", "/status", "/api/v1/page", "/api/v1/status")


@pytest.fixture(scope="module")
def parsed(new_work: Callable[[], Workspace]) -> Workspace:
    work = new_work()
    store_and_parse(work, [Fetched(HOME, b"<p>A rose is a plant. <a href=/tulip>A tulip</a>")])
    put_inlinks(work, HOME, [("http://a.example/", "roses")], 1)
    put_rows(work, "ranks", [{"url": HOME, "rank": 0.25}])
    put_rows(work, "hosts", [{"host": "example.org", "requests": 7}])
    return work


@pytest.fixture
def stored(parsed: Workspace, tmp_path: Path) -> Workspace:
    """A copy of the crawl, for tests that modify it."""
    folder = shutil.copytree(parsed.root, tmp_path / "crawl")
    return replace(parsed, store=Store.open(LocalBackend(folder)))


def commit(work: Workspace, dataset: str, layers: list[Layer]) -> None:
    work.store.commit(StepReport("test", 1, 0, 0.0), replace={dataset: layers})


def without_column(work: Workspace, dataset: str, column: str) -> None:
    """Remove a column from a dataset, as if an older version had written it."""
    layers = []
    for layer in work.store.manifest.layers(dataset):
        files = []
        for file in layer.files:
            older = f"{work.store.attempt(dataset)}.parquet"
            table = pq.read_table(f"{work.root}/{file.path}").drop_columns([column])
            pq.write_table(table, f"{work.root}/{older}")
            size = Path(work.root, older).stat().st_size
            files.append(File(older, file.rows, size, work.store.backend.checksum(older)))
        layers.append(Layer(layer.round, tuple(files)))
    commit(work, dataset, layers)


@pytest.mark.parametrize(
    ("dataset", "column", "path", "remedy"),
    [
        ("documents", "noarchive", "/copy", "gossamer reparse"),
        ("documents", "url", "/page", "gossamer reparse"),
        ("links", "nofollow", "/page", "gossamer reparse"),
        ("inlinks", "sources", "/page", "gossamer invert"),
        ("ranks", "rank", "/page", "gossamer rank"),
        ("pages", "source", "/copy/raw", "use that version"),
        ("responses", "warc_offset", "/copy", "use that version"),
    ],
)
def test_a_missing_column_is_reported_with_its_remedy(
    stored: Workspace, dataset: str, column: str, path: str, remedy: str
) -> None:
    without_column(stored, dataset, column)
    with serving(stored) as client:
        said = one(dom(client, path, 503, url=HOME), "main").text()
        assert f"has no column {column}: another version of Gossamer wrote it" in said
        assert remedy in said


def test_the_status_page_shows_the_rest_if_hosts_lack_a_column(stored: Workspace) -> None:
    without_column(stored, "hosts", "requests")
    with serving(stored) as client:
        said = one(dom(client, "/status"), "main").text()
        assert "has no column requests: another version of Gossamer wrote it" in said
        assert "use that version" in said
        assert "documents" in said


@pytest.mark.parametrize(
    ("dataset", "path"),
    [
        ("pages", "/page"),
        ("responses", "/page"),
        ("documents", "/copy"),
        ("links", "/page"),
        ("inlinks", "/page"),
        ("ranks", "/api/v1/page"),
        ("warc", "/copy/raw"),
    ],
)
def test_a_changed_byte_is_an_error_with_its_remedy(
    stored: Workspace, dataset: str, path: str
) -> None:
    *_, file = (f for f in stored.store.listed(dataset) if not f.path.endswith(".cdxj"))
    where = Path(stored.root, file.path)
    whole = where.read_bytes()
    where.write_bytes(whole[: len(whole) // 2] + b"\0\1\2\3" + whole[len(whole) // 2 + 4 :])
    afresh = Workspace.open(stored.root)
    with serving(afresh) as client:
        answer = client.get(path, params={"url": HOME})
        assert answer.status_code == 503
        assert file.path in answer.text
        assert "put it back from a copy" in answer.text


@pytest.mark.parametrize(
    "dataset", ["pages", "responses", "documents", "links", "inlinks", "ranks", "hosts"]
)
def test_a_dataset_that_is_not_there_is_empty(stored: Workspace, dataset: str) -> None:
    commit(stored, dataset, [])
    with serving(stored) as client:
        for path in PATHS:
            assert client.get(path, params={"url": HOME}).status_code in (200, 404)


def test_what_is_known_about_a_page_is_shown_without_its_archive(stored: Workspace) -> None:
    commit(stored, "warc", [])
    with serving(stored) as client:
        known = client.get("/api/v1/page", params={"url": HOME}).json()
        assert (known["status"], known["copy"]) == ("fetched", False)
        refused = client.get("/copy", params={"url": HOME})
        assert refused.status_code == 503
        assert "put it back from a copy" in refused.text
