"""Search on a machine that has nothing but its cache, beside the one that indexes."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gossamer.api.crawl import Crawl
from gossamer.search.searcher import Searcher
from gossamer.state.workspace import Workspace
from gossamer.storage import places
from gossamer.storage.objects.bucket import Bucket
from tests.support.harvest_steps import run_index
from tests.support.planted_duplicates import document, prose, store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

    from gossamer.engine.engine import Engine

PAGES = 300
MORE = 5


def index(work: Workspace, numbers: range, round_: int) -> None:
    """Index more pages, each with a title of its own."""
    rows = [document(f"http://a.example/{n}", prose(n, 200), title=f"page{n}") for n in numbers]
    store(work, rows, round_)
    run_index(work)


def held_bytes(cache: Path) -> int:
    return sum(path.stat().st_size for path in cache.glob("*/*") if path.is_file())


@contextmanager
def read_bytes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """The bytes of objects that are read as a whole, by their path."""
    read: Counter[str] = Counter()
    stream = Bucket.stream

    def counted(bucket: Bucket, path: str) -> tuple[int, Iterator[bytes]]:
        size, pieces = stream(bucket, path)
        read[path.partition("/")[2]] += size
        return size, pieces

    with monkeypatch.context() as patch:
        patch.setattr(Bucket, "stream", counted)
        yield read


def test_a_searcher_elsewhere_fetches_only_what_has_changed(
    s3: str, s3_engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(word: str) -> list[str]:
        """What is found on another machine, by the newest index."""
        with monkeypatch.context() as elsewhere:
            elsewhere.setenv(places.CACHE, str(tmp_path))
            searcher = Searcher.open(Workspace.open(s3))
            return [hit.url for hit in searcher.search(word).hits]

    work = Crawl.create(s3, engine=s3_engine).work
    index(work, range(PAGES), 1)
    assert found("page7") == ["http://a.example/7"]
    whole, before = held_bytes(tmp_path), {file.xxh3 for file in work.store.files("index")}
    index(work, range(PAGES, PAGES + MORE), 2)
    new = [file for file in work.store.files("index") if file.xxh3 not in before]
    with read_bytes(monkeypatch) as read:
        assert found(f"page{PAGES}") == [f"http://a.example/{PAGES}"]
    assert read == {file.path: file.bytes for file in new}  # each of them once
    assert found("page7") == ["http://a.example/7"]
    assert held_bytes(tmp_path) - whole == sum(file.bytes for file in new)
    assert held_bytes(tmp_path) - whole < whole / 2
