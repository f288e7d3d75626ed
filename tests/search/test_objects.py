"""Search on a machine that has nothing but its cache, beside the one that indexes."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from gossamer.api.crawl import Crawl
from gossamer.index.parts import ShardTask, build_shard, group_by_index_part
from gossamer.search.searcher import Searcher
from gossamer.state.workspace import Workspace
from gossamer.storage import places
from gossamer.storage.objects.bucket import Bucket
from gossamer.storage.task_output import layers_of
from tests.support.planted_duplicates import prose
from tests.support.small_index import PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

PAGES = 300
MORE = 5
SHARDS = (1, 2)


def index(work: Workspace, numbers: range, round_: int) -> None:
    """Index more pages, each with a title of its own, by the tasks of `index`."""
    words = " ".join(prose(round_, 200))
    rows = [
        PLAIN
        | {"url": f"http://a.example/{n:03}", "title": f"page{n}", "text": f"{words} {n}"}
        | {"host": "a.example", "index_language": "en", "adds": True}
        for n in numbers
    ]
    before = group_by_index_part(work.store.files("index"))
    written = []
    attempt = work.store.attempt("index")
    for shard in SHARDS:
        mine = [row for row in rows if 1 + int(row["url"][-3:]) % len(SHARDS) == shard]
        path = f"{attempt}/rows-{shard}.parquet"
        stored = BytesIO()
        pq.write_table(pa.Table.from_pylist(mine), stored)
        work.store.backend.create(path, stored.getvalue())
        base = {key[1]: tuple(files) for key, files in before.items() if key[0] == shard}
        task = ShardTask(work.root, round_, shard, (path,), len(mine), base, attempt, 16_000_000)
        written += list(build_shard(task))
    with work.step("index", round_) as draft:
        draft.replace["index"] = (layers_of(written, round_)["index"],)


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
    s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(word: str) -> list[str]:
        """What is found on another machine, by the newest index."""
        with monkeypatch.context() as elsewhere:
            elsewhere.setenv(places.CACHE, str(tmp_path))
            searcher = Searcher.open(Workspace.open(s3))
            return [hit.url for hit in searcher.search(word).hits]

    work = Crawl.create(s3).work
    index(work, range(PAGES), 1)
    assert found("page7") == ["http://a.example/007"]
    whole, before = held_bytes(tmp_path), {file.xxh3 for file in work.store.files("index")}
    index(work, range(PAGES, PAGES + MORE), 2)
    new = [file for file in work.store.files("index") if file.xxh3 not in before]
    with read_bytes(monkeypatch) as read:
        assert found(f"page{PAGES}") == [f"http://a.example/{PAGES}"]
    assert read == {file.path: file.bytes for file in new}  # each of them once
    assert found("page7") == ["http://a.example/007"]
    assert held_bytes(tmp_path) - whole == sum(file.bytes for file in new)
    assert held_bytes(tmp_path) - whole < whole / 2
