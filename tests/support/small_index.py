"""An index of documents that a test names, committed without the engine."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from gossamer.config import Config
from gossamer.index.format import schema
from gossamer.index.format.analysis import OTHER, index_language_of
from gossamer.index.format.document_builder import build_document
from gossamer.index.format.layout import FIRST, shard_folder
from gossamer.state.settings_file import DEFAULTS
from gossamer.state.workspace import Workspace
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.names import CONFIG_NAME
from gossamer.storage.store import File, Layer, StepReport, Store
from gossamer.web.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tantivy import IndexWriter

PLAIN: dict[str, Any] = {
    "title": "",
    "description": None,
    "headings": None,
    "anchors": None,
    "text": "",
    "inner_boilerplate": None,
    "boilerplate": None,
    "is_doubtful": False,
    "language": None,
    "index_language": OTHER,
    "content_type": "text/html",
    "published_ms": None,
    "modified_ms": None,
    "image": None,
    "nosnippet": False,
    "wishes": None,
    "fetched_ms": 1_800_000_000_000,
    "static_rank": 0.0,
    "outer_lines": None,
    "inner_lines": None,
    "copies": None,
    "versions": None,
    "copy_hosts": None,
}


def crawl(folder: Path) -> Workspace:
    store = Store.create(LocalBackend(folder))
    store.backend.create(CONFIG_NAME, DEFAULTS.encode())
    return Workspace(store, Config())


def put_index(
    work: Workspace, documents: Iterable[dict[str, Any]], shards: int = 2, first: int = 0
) -> None:
    """Replace the index: documents dealt to the shards in turn, each by its language.

    The `first` of them are the first tier.
    """
    attempt, backend = work.store.attempt("index"), work.store.backend
    writers: dict[Path, IndexWriter] = {}
    names = [shard_folder(number) for number in range(shards + 1)]
    documents = list(documents)
    with TemporaryDirectory() as built:
        for number, document in enumerate(documents):
            row = PLAIN | {"host": host_of(document["url"])} | document
            row["static_rank"] = (row.pop("rank", None) or 0) * len(documents)
            language = index_language_of(row["language"])
            row["index_language"] = language
            shard = names[FIRST if number < first else 1 + number % shards]
            folder = Path(built, shard, language)
            if folder not in writers:
                folder.mkdir(parents=True)
                writers[folder] = schema.create(folder).writer(16_000_000, 1)
            writers[folder].add_document(build_document(row))
        for writer in writers.values():
            writer.commit()
            writer.wait_merging_threads()
        for file in Path(built).rglob("*"):
            if file.is_file() and file.suffix != ".lock":
                backend.create(f"{attempt}/{file.relative_to(built)}", file.read_bytes())
    files = [File(path, 0, size, backend.checksum(path)) for path, size in backend.sizes(attempt)]
    report = StepReport("index", 1, 0, 0.0, {"indexed": 1})
    work.store.commit(report, replace={"index": [Layer(1, tuple(files))]})
