"""A crawl on object storage gives the tables, answers and texts of one in a folder."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gossamer.api.crawl import Crawl
from gossamer.errors import ConfigError, UsageError
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.state import pausing, stopping, workspace
from gossamer.state.heartbeats import (
    OBJECT_BEAT_S,
    Heartbeat,
    clear_heartbeats,
    heartbeats,
)
from gossamer.storage import opening, parquet
from gossamer.storage.backends import open_backend
from gossamer.storage.checksums import checksum_bytes
from gossamer.storage.names import is_collected, is_made_here
from gossamer.storage.store import Store
from gossamer.storage.warc import payload_digest, read_response
from tests.support.command_line import gossamer, lent
from tests.support.crawl_settings import loopback_settings
from tests.support.crawl_tables import OF_THIS_RUN, answers
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from gossamer.engine.engine import Engine

COMPARED = (
    *("pages", "responses", "documents", "links", "hosts", "inlinks", "ranks", "host_ranks"),
    *("dispositions", "outer_boilerplate", "centrality"),
)
HOME, OTHER = "http://site-0.test/", "http://site-1.test/"
RULE = "deny pattern zzz"
CRAWL = ("crawl", "--rounds", "1")
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("status",), CRAWL, ("refresh",), CRAWL, ("status",), ("top",),
    ("refresh",), ("generate",), ("fetch",), ("parse",), ("update",), ("reparse",),
    ("invert",), ("graph build",), ("farms",), ("rank",), ("boilerplate",), ("dedup",), ("index",),
    ("harvest",), ("postings",), ("graph centrality",), ("prune",),
    ("search", "the"), ("explain", HOME), ("inspect", HOME), ("changes", "--texts"),
    ("graph inlinks", HOME), ("graph outlinks", HOME), ("graph common", HOME, OTHER),
    ("graph path", HOME, HOME), ("graph neighbourhood", HOME), ("graph host", "site-0.test"),
    ("graph stats",), ("graph farms",), ("graph export",), ("export", "pages"), ("sections",),
    ("mark", HOME, "--fit"), ("mark", "--list"),
    ("duplicates show", HOME), ("duplicates rules",), ("duplicates test", HOME),
    ("filter list",), ("filter test", HOME), ("filter add", RULE), ("filter disable", RULE),
    ("filter enable", RULE), ("filter apply",), ("filter remove", RULE), ("filter generate",),
    ("check",), ("harvest", "--all"), ("check", "--repair"),
)  # fmt: skip
"""Commands in their order, and their words after the crawl."""
SOME: tuple[tuple[str, ...], ...] = (
    CRAWL, ("refresh",), CRAWL, ("status",), ("reparse",), ("harvest",), ("postings",),
    ("graph centrality",), ("prune",), ("search", "the"), ("inspect", HOME),
    ("graph inlinks", HOME), ("graph export",), ("export", "pages"), ("mark", HOME, "--fit"),
    ("changes", "--texts"), ("duplicates show", HOME), ("filter add", RULE), ("filter apply",),
    ("check",),
)  # fmt: skip
"""Some of them, which write all datasets, and read each in its own way."""
TIMES = {"status", "top", "changes"}
"""They print cursors, or sizes and times in units that may differ."""
DIGITS = re.compile(r" *\d[\d.,e-]*")
PLACES = {"contacted_ms", "ready_ms", "latency_ms", "robots", "wish_files", "address"}
BY_TIME = {"watched_days", "rate", "finding_days", "history"}
"""Columns of pages that follow from the time between two visits."""


def rows(paths: list[str]) -> list[dict[str, Any]]:
    found = [row for path in paths for row in parquet.read_table(path).to_pylist()]
    plain = [
        {name: row[name] for name in row if name not in OF_THIS_RUN | PLACES | BY_TIME}
        for row in found
    ]
    return sorted(plain, key=repr)


def crawled(
    root: str, commands: Sequence[tuple[str, ...]], web: FakeWeb, folder: Path
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Crawl command by command; return the tables, and what the commands print."""
    said = []
    Crawl.create(root, loopback_settings(web.address, "store.warc_versions = 1"))
    gossamer("inject", root, *web.web.seeds())
    for command, *words in commands:
        if command == "refresh":
            Crawl.open(root).refresh()
            continue
        if command.endswith("export"):
            words += ["--output", str(folder / f"{command}.tsv")]
        if command == "inspect":
            printed = gossamer(command, *words, "--stored", "--crawl", root).stdout
        else:
            printed = gossamer(*command.split(), root, *words).stdout
        plain = DIGITS.sub("#", printed.replace(root, "CRAWL"))
        said.append((command, "" if command in TIMES else " ".join(plain.split())))
    said += [("line", line) for line in (folder / "graph export.tsv").read_text().splitlines()]
    crawl = Crawl.open(root)
    titles = [row["title"] for row in rows(crawl.rows_of("documents"))]
    found = {name: rows(crawl.rows_of(name)) for name in COMPARED}
    return found | {"answers": answers(crawl, titles)}, said


@pytest.mark.parametrize(
    "commands",
    [
        pytest.param(SOME, marks=pytest.mark.slow, id="some"),
        pytest.param(COMMANDS, marks=pytest.mark.long, id="all"),
    ],
)
def test_commands_work_on_object_storage_as_in_a_folder(
    s3: str, s3_engine: Engine, tmp_path: Path, commands: Sequence[tuple[str, ...]]
) -> None:
    with FakeWeb(Web(hosts=3, pages_per_host=40, mix=Mix.plain())) as web, lent(s3_engine):
        there, said_there = crawled(s3, commands, web, tmp_path)
        here, said_here = crawled(str(tmp_path / "crawl"), commands, web, tmp_path)
        for each in zip(said_there, said_here, strict=True):
            assert each[0] == each[1]
        for name in there:
            assert there[name] == here[name], name
            assert there[name], name
        check_archive(s3)
        check_files(s3)


def check_archive(root: str) -> None:
    """All bodies are in the archive, where responses say."""
    stored = [
        row
        for path in Crawl.open(root).rows_of("responses")
        for row in parquet.read_table(path).to_pylist()
        if row["warc_file"]
    ]
    assert stored
    for row in stored:
        body = read_response(f"{root}/{row['warc_file']}", row["warc_offset"]).body
        assert payload_digest(body) == row["digest"]


def check_files(root: str) -> None:
    """All files of the crawl are whole, and no others are left."""
    store = Store.open(open_backend(root))
    for dataset in store.manifest.datasets:
        listed = store.listed(dataset)
        assert [wrong for _, wrong in store.verify(listed)] == [None] * len(listed)
    store.collect_garbage(keep_versions=0)
    names = set(dict(store.backend.sizes("")))
    assert all(is_made_here(name) for name in names)
    left = {name for name in names if is_collected(name)}
    manifest = store.refresh()
    assert {name for name in left if not name.startswith("manifest/")} == manifest.paths()


def test_settings_are_read_from_the_bucket(s3: str) -> None:
    Crawl.create(s3, 'fetch.agent = "somebody"')
    assert Crawl.open(s3).work.config.fetch.agent == "somebody"
    assert Crawl.open(s3).work.settings_changed_ms > 0
    opening.replace(f"{s3}/gossamer.toml", b'filter.files = ["rules.txt"]')
    with pytest.raises(ConfigError, match=r"names rules.txt, which is not read"):
        Crawl.open(s3)
    opening.replace(f"{s3}/gossamer.toml", b'rank.trusted_file = "good.txt"')
    with pytest.raises(ConfigError, match=r"names good.txt, which is not read"):
        Crawl.open(s3)
    opening.replace(f"{s3}/gossamer.toml", b" ")
    with pytest.raises(ConfigError, match=r"is empty"):
        Crawl.open(s3)
    opening.remove(f"{s3}/gossamer.toml")
    with pytest.raises(ConfigError, match="no such object"):
        Crawl.open(s3)


def test_a_cluster_refuses_other_object_stores() -> None:
    workspace._check_engine("gs://bucket/crawl", "local")
    workspace._check_engine("s3://bucket/crawl", "sc://spark:15002")
    with pytest.raises(UsageError, match="only works with s3:// among object stores"):
        workspace._check_engine("gs://bucket/crawl", "sc://spark:15002")


def test_requests_to_stop_and_pause_and_progress_are_objects(
    s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Store.create(open_backend(s3))
    monkeypatch.setattr(opening, "POLL_S", 0)
    assert not stopping.requested(s3)
    stopping.request(s3)
    assert stopping.requested(s3)
    with stopping.stop_on_signals(s3):
        assert not stopping.requested(s3)
    assert pausing.pause_reason(s3, 1e9) is None
    gossamer("pause", s3)
    assert pausing.pause_reason(s3, 0) == pausing.ASKED
    gossamer("resume", s3)
    assert pausing.pause_reason(s3, 0) is None
    times = iter([0.0, OBJECT_BEAT_S - 1, OBJECT_BEAT_S, OBJECT_BEAT_S + 1])
    beat = Heartbeat(s3, "fetch", 1, "0", total=2, clock=lambda: next(times))
    beat.beat(0)
    assert list(heartbeats(s3)) == []
    beat.beat(0)
    assert [(each.step, each.done) for each in heartbeats(s3)] == [("fetch", 0)]
    beat.done = 1
    beat.finish()
    assert [(each.step, each.done) for each in heartbeats(s3)] == [("fetch", 1)]
    Heartbeat(s3, "parse", 1, "0", total=2).finish()
    assert len(list(heartbeats(s3))) == 1, "a task that takes less than a moment leaves no record"
    clear_heartbeats(s3, "fetch")
    assert list(heartbeats(s3)) == []


def test_what_is_polled_is_asked_for_at_a_bounded_rate(s3: str) -> None:
    assert not opening.exists_lately(f"{s3}/flag")
    opening.touch(f"{s3}/flag")
    assert opening.exists(f"{s3}/flag")
    assert not opening.exists_lately(f"{s3}/flag")  # as it was a moment ago
    opening.remove(f"{s3}/flag", f"{s3}/claim")
    assert f"{s3}/flag" in opening._polled
    assert f"{s3}/claim" not in opening._polled, "what nobody polls is not remembered"


@pytest.mark.server
@pytest.mark.parametrize("where", ["here", "there"])
def test_files_are_written_once_and_read_at_any_place(
    where: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    root = str(tmp_path) if where == "here" else request.getfixturevalue("s3")
    data = bytes(range(256)) * (3 << 12)
    path = f"{root}/warc/file"
    file = opening.create(path)
    for at in range(0, len(data), 100_000):
        file.write(data[at : at + 100_000])
    assert not opening.exists(path) or where == "here"
    file.close()
    assert (file.size, file.tell(), file.xxh3) == (len(data), len(data), checksum_bytes(data))
    assert file.closed
    assert opening.read(path) == data
    with opening.open_file(path) as reader:
        for at in (2_999_990, 0, 1_000_000, len(data) - 3):
            reader.seek(at)
            assert reader.read(70_000) == data[at : at + 70_000]
        assert reader.read() == b""
        assert reader.seek(-5, 2) == len(data) - 5
        assert reader.read() == data[-5:]
    for ask in (opening.read, opening.open_file, opening.modified_ms):
        with pytest.raises(FileNotFoundError):
            ask(f"{root}/none")
    opening.remove(path)
    opening.remove(path)
    assert opening.list_files(f"{root}/warc") == []


def test_parquet_is_read_by_pyarrow_as_from_a_folder(s3: str, tmp_path: Path) -> None:
    table = pa.table({"url": [f"http://x/{n}" for n in range(200_000)], "n": range(200_000)})
    pq.write_table(table, tmp_path / "one.parquet", row_group_size=20_000)
    data = (tmp_path / "one.parquet").read_bytes()
    paths = [f"{s3}/pages/{name}" for name in ("one", "two")]
    for path in paths:
        opening.write(path, data)
    assert parquet.read_table(paths[0]).equals(table)
    assert parquet.read_table(paths, columns=["n"]).num_rows == 400_000
    assert parquet.read_table(paths, filters=[("n", "=", 70_001)]).num_rows == 2
    assert parquet.metadata(paths[0]).num_rows == parquet.open_parquet(paths[0]).metadata.num_rows
    assert parquet.schema(paths[0]).names == ["url", "n"]
    with parquet.open_parquet(paths[0], pre_buffer=False) as file:
        assert file.read_row_group(3).equals(table.slice(60_000, 20_000))
    with pytest.raises(FileNotFoundError):
        parquet.read_table(f"{s3}/pages/none")


_UPLOAD = """
import resource, sys
from gossamer.storage import opening
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
opening.write(sys.argv[1] + "/warc/small", bytes(1 << 20))
before, chunk = peak(), bytes(1 << 20)
file = opening.create(sys.argv[1] + "/warc/large")
for _ in range(int(sys.argv[2])):
    file.write(chunk)
file.close()
print(file.size, peak() - before)
"""


@pytest.mark.parametrize("megabytes", [160, pytest.param(2048, marks=pytest.mark.long)])
def test_the_memory_of_a_task_does_not_grow_with_its_file(s3: str, megabytes: int) -> None:
    program = [sys.executable, "-c", _UPLOAD, s3, str(megabytes)]
    done = subprocess.run(program, check=True, capture_output=True, text=True)
    size, grown_mb = map(int, done.stdout.split())
    assert size == megabytes << 20
    assert grown_mb < 100


BY_PATH = re.compile(
    r"\bPath\([\w.]*(?:\broot|\.url|\.path)\b|\bpq\.(?:ParquetFile|read_\w+|write_table)\("
    r"|\bmemory_map\((?!str\(local_copy\()|\bmemmap\((?!here|local_copy\()|pa\.parquet\.ParquetFile\("
)
SEAM = {
    *("engine/small/files", "parse/page_rules", "rules/filter_rules/crawl_rules"),
    *("state/settings_file", "storage/local_copies", "storage/local_backend", "storage/parquet"),
    *("search/synonyms", "serve/web/token_gate"),
}
"""The seam itself, the embedded engine, which gets paths on this machine only, and modules that
open files which are no part of a crawl."""


def test_no_other_module_opens_a_file_of_a_crawl_by_its_path() -> None:
    source = ROOT / "src" / "gossamer"
    found = {
        path.relative_to(source).with_suffix("").as_posix()
        for path in source.rglob("*.py")
        if BY_PATH.search(path.read_text("utf-8"))
    }
    assert found == SEAM
