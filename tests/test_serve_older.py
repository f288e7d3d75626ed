"""Crawls that another version of Gossamer wrote, or that lack a dataset, over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from gossamer.store import File, Layer, StepReport
from stored_rounds import HOME, Fetched
from stored_web import put_inlinks, put_rows, store_and_parse
from test_serve_web import dom, one, serving

if TYPE_CHECKING:
    from gossamer.workspace import Workspace

PATHS = ("/page", "/copy", "/copy/raw", "/status", "/api/page", "/api/status")


@pytest.fixture
def stored(work: Workspace) -> Workspace:
    store_and_parse(work, [Fetched(HOME, b"<p>A rose is a plant. <a href=/tulip>A tulip</a>")])
    put_inlinks(work, HOME, [("http://a.example/", "roses")], 1)
    put_rows(work, "ranks", [{"url": HOME, "rank": 0.25}])
    put_rows(work, "hosts", [{"host": "example.org", "requests": 7}])
    return work


def commit(work: Workspace, dataset: str, layers: list[Layer]) -> None:
    work.store.commit(StepReport("test", 1, 0, 0.0), replace={dataset: layers})


def without_column(work: Workspace, dataset: str, column: str) -> None:
    """The dataset as it was before it had the column."""
    layers = []
    for layer in work.store.manifest.layers(dataset):
        files = []
        for file in layer.files:
            older = f"{work.store.attempt(dataset)}.parquet"
            table = pq.read_table(f"{work.root}/{file.path}").drop_columns([column])
            pq.write_table(table, f"{work.root}/{older}")
            files.append(File(older, file.rows, Path(work.root, older).stat().st_size))
        layers.append(Layer(layer.round, tuple(files)))
    commit(work, dataset, layers)


@pytest.mark.parametrize(
    ("dataset", "column", "path", "remedy"),
    [
        ("documents", "noarchive", "/copy", "gossamer parse --again"),
        ("documents", "url", "/page", "gossamer parse --again"),
        ("links", "nofollow", "/page", "gossamer parse --again"),
        ("inlinks", "sources", "/page", "gossamer invert"),
        ("ranks", "rank", "/page", "gossamer rank"),
        ("pages", "source", "/copy/raw", "use that version"),
        ("responses", "warc_offset", "/copy", "use that version"),
        ("hosts", "requests", "/status", "use that version"),
    ],
)
def test_a_column_that_is_not_there_is_told_with_its_remedy(
    stored: Workspace, dataset: str, column: str, path: str, remedy: str
) -> None:
    without_column(stored, dataset, column)
    with serving(stored) as client:
        said = one(dom(client, path, 503, url=HOME), "main").text()
        assert f"has no column {column}: another version of Gossamer wrote it" in said
        assert remedy in said


@pytest.mark.parametrize(
    "dataset", ["pages", "responses", "documents", "links", "inlinks", "ranks", "hosts"]
)
def test_a_dataset_that_is_not_there_is_empty(stored: Workspace, dataset: str) -> None:
    commit(stored, dataset, [])
    with serving(stored) as client:
        for path in PATHS:
            assert client.get(path, params={"url": HOME}).status_code in (200, 404)


def test_what_is_known_of_a_page_is_told_without_its_archive(stored: Workspace) -> None:
    commit(stored, "warc", [])
    with serving(stored) as client:
        known = client.get("/api/page", params={"url": HOME}).json()
        assert (known["status"], known["copy"]) == ("fetched", False)
        refused = client.get("/copy", params={"url": HOME})
        assert refused.status_code == 503
        assert "put it back from a copy" in refused.text
