"""What a task leaves behind: rows and archive, for each kind of answer."""

from __future__ import annotations

import re
from dataclasses import replace
from hashlib import shake_128
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from gossamer import parse
from gossamer.config import FetchConfig
from gossamer.errors import StoreFull
from gossamer.fetch import response_writer as fetch_responses
from gossamer.fetch.exchange import FetchResult
from gossamer.fetch.fetch_part import FetchRow
from gossamer.fetch.parsed_headers import READ_BY_PARSERS
from gossamer.fetch.response_writer import ResponseWriter, truncation
from gossamer.parse.step.stored_responses import bodies, read_answers
from gossamer.state.finished_files import Handover, take_notes
from gossamer.storage import checksums
from gossamer.storage.warc import payload_digest
from gossamer.tables import FETCHLIST, RESPONSES
from gossamer.web import publisher_wishes

if TYPE_CHECKING:
    from collections.abc import Sequence

ROUND = 3
STARTED_MS = 1_700_000_000_123
STARTED = "2023-11-14T22:13:20.123Z"
STORED_MS = 1_600_000_000_000
STORED = "2020-09-13T12:26:40.000Z"
HTML = (b"Content-Type", b"text/html")
PAGE = FetchResult(
    "ok",
    STARTED_MS,
    elapsed_ms=12,
    http_status=200,
    reason="OK",
    headers=(HTML,),
    body=b"<p>page",
    content_type="text/html",
    target="/a",
    request_headers=(("Host", "a.test"),),
    address="127.0.0.1",
)
MOVED = replace(
    PAGE,
    outcome="redirect",
    http_status=301,
    reason="Moved",
    headers=((b"Location", b"/b"),),
    body=b"moved",
    content_type=None,
    redirect_url="http://a.test/b",
)
GONE = replace(PAGE, outcome="not_found", http_status=410, reason="Gone", body=b"gone")
NOT_MODIFIED = replace(
    PAGE, outcome="unchanged", http_status=304, reason="", headers=((b"ETag", b'"1"'),), body=b""
)
NOBODY = FetchResult("unreachable", STARTED_MS, detail="no route")
TEXT = (b"Content-Type", b"text/plain")
FILE = FetchResult("ok", STARTED_MS, headers=(TEXT,), body=b"x", content_type="text/plain")


def wanted(url: str = "http://a.test/a", **known: Any) -> FetchRow:
    host = url.split("/")[2]
    plain = FetchRow(url, host, 1.0, 2, 1, 0, False, None, None, None, None, None)
    return plain._replace(**known)


class Task:
    """A writer, and what it wrote."""

    def __init__(self, root: Path, **settings: Any) -> None:
        self.root = root
        self.writer = ResponseWriter(
            str(root), ("responses/1", "warc/1", "scratch/1"), ROUND, FetchConfig(**settings)
        )

    def close(self) -> None:
        files = self.writer.close()
        for file in files:
            assert (self.root / str(file["path"])).stat().st_size == file["bytes"]
        paths = [(str(file["path"]), file["rows"]) for file in files]
        self.tables = [path for path, _ in paths if path.startswith("responses/")]
        self.revised = [path for path, _ in paths if path.startswith("scratch/")]
        self.archives = [path for path, _ in paths if path.endswith(".warc.gz")]
        self.indexes = [path for path, _ in paths if path.endswith(".cdxj")]
        self.counts = dict(paths)

    @property
    def rows(self) -> list[dict[str, Any]]:
        tables = [pq.read_table(self.root / path) for path in self.tables]
        assert all(table.schema.equals(RESPONSES.schema) for table in tables)
        return [row for table in tables for row in table.to_pylist()]

    @property
    def records(self) -> list[tuple[str, str, Any]]:
        """Type, URL and headers of what came, as warcio reads it; all of it is checked."""
        found = []
        for path in self.archives:

            class Command:
                inputs = (str(self.root / path),)
                verbose = False

            assert Checker(Command).process_all() == 0
            with (self.root / path).open("rb") as file:
                found += [
                    (record.rec_type, record.rec_headers["WARC-Target-URI"], record.rec_headers)
                    for record in ArchiveIterator(file)
                    if record.rec_type in ("response", "resource", "revisit")
                ]
        return found

    def parsed(self) -> dict[str, bytes | None]:
        """The bodies that parse reads, by URL."""
        answers = [row for path in self.tables for row in read_answers(str(self.root / path))]
        return {
            answer.url: stored and stored.body for answer, stored in bodies(str(self.root), answers)
        }


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return Task(tmp_path)


def test_wanted_has_columns_of_the_fetchlist() -> None:
    names = [name for name in FETCHLIST.column_names if name not in ("round", "part", "egress")]
    assert list(FetchRow._fields) == names


def test_a_page_is_a_row_and_a_response(task: Task) -> None:
    assert task.writer.add(wanted(fetches=4, announced=True), PAGE) == "ok"
    task.close()
    (row,) = task.rows
    (archive,) = task.archives
    offset = row.pop("warc_offset")
    assert row == {
        "round": ROUND,
        "url": "http://a.test/a",
        "host": "a.test",
        "depth": 2,
        "hops": 1,
        "fetches": 4,
        "outcome": "ok",
        "detail": None,
        "http_status": 200,
        "fetched_ms": STARTED_MS,
        "elapsed_ms": 12,
        "content_type": "text/html",
        "body_bytes": 7,
        "truncated": False,
        "digest": payload_digest(b"<p>page"),
        "redirect_url": None,
        "redirect_spelling": None,
        "retry_after_s": None,
        "etag": None,
        "last_modified": None,
        "headers": "content-type: text/html",
        "warc_file": archive,
        "announced": True,
    }
    assert offset > 0
    ((kind, url, headers),) = task.records
    assert (kind, url, headers["WARC-Date"]) == ("response", "http://a.test/a", STARTED)
    assert headers["WARC-IP-Address"] == "127.0.0.1"
    assert task.parsed() == {"http://a.test/a": b"<p>page"}


def test_what_the_archive_tells_beside_a_page(task: Task) -> None:
    task.writer.add(wanted(), PAGE)
    task.close()
    with (task.root / task.archives[0]).open("rb") as file:
        blocks = {
            record.rec_type: (record.http_headers, record.content_stream().read())
            for record in ArchiveIterator(file)
        }
    assert blocks["metadata"][1].split(b"\r\n") == [
        b"fetchTimeMs: 12", b"depth: 2", b"redirects: 1", b"outcome: ok", b""
    ]  # fmt: skip
    assert blocks["request"][0].headers == [("Host", "a.test")]
    assert b"robots: obey\r\n" in blocks["warcinfo"][1]
    assert b"http-header-user-agent: gossamer/" in blocks["warcinfo"][1]


@pytest.mark.parametrize("answer", [MOVED, GONE, replace(PAGE, outcome="server_error")])
def test_what_is_no_page_is_archived_but_not_parsed(task: Task, answer: FetchResult) -> None:
    assert task.writer.add(wanted(), answer) == answer.outcome
    task.close()
    (row,) = task.rows
    assert (row["outcome"], row["digest"], row["body_bytes"]) == (answer.outcome, None, None)
    assert (row["warc_file"], row["warc_offset"]) == (None, None)
    ((kind, _, headers),) = task.records
    assert kind == "response"
    assert headers["WARC-Payload-Digest"] == f"sha1:{payload_digest(answer.body)}"
    assert task.parsed() == {}


def test_what_had_no_head_is_a_row_alone(task: Task) -> None:
    assert task.writer.add(wanted(), NOBODY) == "unreachable"
    task.close()
    assert [row["detail"] for row in task.rows] == ["no route"]
    assert (task.archives, task.indexes) == ([], [])


def test_a_page_without_headers_is_a_page(task: Task) -> None:
    task.writer.add(wanted(), replace(PAGE, headers=()))
    task.close()
    assert task.parsed() == {"http://a.test/a": b"<p>page"}


def test_the_body_of_before_is_a_revisit(task: Task) -> None:
    digest = payload_digest(PAGE.body)
    page = wanted(digest=digest, stored_ms=STORED_MS, headers="content-type: text/html")
    assert task.writer.add(page, PAGE) == "unchanged"
    task.close()
    (row,) = task.rows
    assert (row["outcome"], row["digest"], row["body_bytes"]) == ("unchanged", page.digest, 7)
    assert row["warc_file"] is None
    ((kind, _, headers),) = task.records
    assert kind == "revisit"
    assert headers["WARC-Profile"].endswith("1.1/revisit/identical-payload-digest")
    assert headers["WARC-Refers-To-Target-URI"] == "http://a.test/a"
    assert headers["WARC-Refers-To-Date"] == STORED
    assert task.parsed() == {}


@pytest.mark.parametrize(
    ("header", "stored"),
    [
        ((b"X-Robots-Tag", b"noindex"), "content-type: text/html"),
        ((b"Server", b"x"), "content-type: text/html\nx-robots-tag: noindex"),
        ((b"Server", b"x"), "content-type: text/plain"),
        ((b"Content-Type", b"text/plain"), "content-type: text/html"),
        ((b"Server", b"x"), None),
    ],
)
def test_the_body_of_before_with_other_headers_is_another_page(
    task: Task, header: tuple[bytes, bytes], stored: str | None
) -> None:
    page = wanted(digest=payload_digest(PAGE.body), stored_ms=STORED_MS, headers=stored)
    assert task.writer.add(page, replace(PAGE, headers=(HTML, header))) == "ok"
    task.close()
    assert task.parsed() == {page.url: PAGE.body}


def test_a_304_with_other_headers_is_a_page_whose_place_is_to_be_found(task: Task) -> None:
    known = {"etag": '"1"', "last_modified": "then", "digest": "OLD"}
    tag = (b"X-Robots-Tag", b"noindex")
    task.writer.add(
        wanted(headers="content-type: text/html", **known),
        replace(NOT_MODIFIED, headers=(tag,), content_type=None, etag='"2"'),
    )
    same = wanted("http://a.test/b", headers="x-robots-tag: NOINDEX", **known)
    task.writer.add(same, replace(NOT_MODIFIED, headers=(tag,), content_type=None))
    task.close()
    assert [row["url"] for row in task.rows] == ["http://a.test/b"]
    (path,) = task.revised
    (row,) = pq.read_table(task.root / path).to_pylist()
    assert (row["url"], row["http_status"], row["digest"]) == ("http://a.test/a", 304, "OLD")
    assert row["headers"] == "content-type: text/html\nx-robots-tag: noindex"
    assert (row["content_type"], row["detail"]) == (
        "text/html",
        "other headers for the stored body",
    )
    assert (row["etag"], row["last_modified"], row["warc_file"]) == ('"2"', "then", None)
    assert [kind for kind, _, _ in task.records] == ["revisit", "revisit"]


def test_a_304_is_a_revisit(task: Task) -> None:
    page = wanted(etag='"1"', digest="OLD", stored_ms=None)
    assert task.writer.add(page, NOT_MODIFIED) == "unchanged"
    task.close()
    (row,) = task.rows
    assert (row["digest"], row["body_bytes"], row["warc_file"]) == ("OLD", None, None)
    ((kind, _, headers),) = task.records
    assert kind == "revisit"
    assert headers["WARC-Profile"].endswith("1.1/revisit/server-not-modified")
    assert headers["WARC-Payload-Digest"] == "sha1:OLD"
    assert headers["WARC-Refers-To-Date"] is None


def test_copies_are_stored_once_and_parsed_each(task: Task) -> None:
    urls = [f"http://{host}.test/" for host in "abc"]
    for url in urls:
        assert task.writer.add(wanted(url), PAGE) == "ok"
    task.writer.add(wanted("http://d.test/"), replace(PAGE, body=b"<p>another"))
    task.close()
    assert [kind for kind, _, _ in task.records] == ["response", "revisit", "revisit", "response"]
    assert len({row["warc_offset"] for row in task.rows}) == 2
    assert {row["warc_file"] for row in task.rows} == set(task.archives)
    assert task.parsed() == dict.fromkeys(urls, b"<p>page") | {"http://d.test/": b"<p>another"}


def test_copies_that_mean_something_else_are_stored_again(task: Task) -> None:
    answers = [
        PAGE,
        replace(PAGE, headers=(HTML, (b"x-robots-tag", b"noindex"))),
        replace(PAGE, headers=(TEXT,)),
        replace(PAGE, headers=((b"Server", b"other"), (b"CONTENT-TYPE", b"text/html"))),
        replace(GONE, body=PAGE.body),
    ]
    for number, answer in enumerate(answers):
        task.writer.add(wanted(f"http://a.test/{number}"), answer)
    task.close()
    kinds = [kind for kind, _, _ in task.records]
    assert kinds == ["response", "response", "response", "revisit", "response"]


def test_the_headers_that_parsers_read_are_known() -> None:
    folder = Path(parse.__file__).parent
    source = "".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.py"))
    read = re.findall(r"headers\.get\(\s*\"([a-z-]+)\"", source)
    assert read
    assert "header_statements(page.headers)" in source
    assert {*read, *publisher_wishes.HEADERS} == set(READ_BY_PARSERS)


def test_a_file_is_a_resource(task: Task) -> None:
    task.writer.add(wanted("file:///srv/a.txt"), FILE)
    task.close()
    assert [kind for kind, _, _ in task.records] == ["resource"]
    assert task.parsed() == {"file:///srv/a.txt": b"x"}


def test_robots_files_are_archived_without_a_row(task: Task) -> None:
    robots = "http://a.test/robots.txt"
    task.writer.add_hop(robots, replace(GONE, target="/robots.txt"))
    task.writer.add_hop("http://b.test/robots.txt", NOBODY)
    task.writer.add(wanted(), PAGE)
    task.close()
    assert [(kind, url) for kind, url, _ in task.records] == [
        ("response", robots), ("response", "http://a.test/a")
    ]  # fmt: skip
    assert [row["url"] for row in task.rows] == ["http://a.test/a"]


@pytest.mark.parametrize(
    ("outcome", "truncated", "detail", "reason"),
    [
        ("ok", False, None, None),
        ("ok", True, None, "length"),
        ("ok", True, "the connection ended", "disconnect"),
        ("timeout", True, "slow", "time"),
        ("not_found", True, "HTTP 404", "unspecified"),
        ("not_found", False, "HTTP 404", None),
    ],
)
def test_why_a_body_is_not_whole(
    task: Task, outcome: str, truncated: bool, detail: str | None, reason: str | None
) -> None:
    answer = replace(PAGE, outcome=outcome, truncated=truncated, detail=detail)
    assert truncation(answer) == reason
    task.writer.add(wanted(), answer)
    task.close()
    ((_, _, headers),) = task.records
    assert headers["WARC-Truncated"] == reason


def test_the_index_of_a_file_is_committed_with_it(task: Task) -> None:
    task.writer.add(wanted(), PAGE)
    task.writer.add(wanted("http://a.test/b"), GONE)
    task.close()
    (archive,), (index,) = task.archives, task.indexes
    assert index == archive.replace(".warc.gz", ".cdxj")
    assert (task.counts[archive], task.counts[index]) == (2, 0)
    assert len((task.root / index).read_bytes().splitlines()) == 2


@pytest.mark.parametrize(
    ("name", "limit", "files"), [("PAGES_PER_FILE", 2, 3), ("ROWS_PER_FILE", 4, 2)]
)
def test_files_are_rolled_together(
    task: Task, monkeypatch: pytest.MonkeyPatch, name: str, limit: int, files: int
) -> None:
    monkeypatch.setattr(fetch_responses, name, limit)
    for number in range(5):
        url = f"http://a.test/{number}"
        task.writer.add(wanted(url), replace(PAGE, body=b"%d" % number))
        task.writer.add(wanted(url + "x"), NOBODY) if number == 0 else None
    task.close()
    assert len(task.archives) == len(task.indexes) == len(task.tables) == files
    for path in task.tables:
        rows = pq.read_table(task.root / path).to_pylist()
        assert len({row["warc_file"] for row in rows} - {None}) == 1
    assert task.parsed() == {f"http://a.test/{number}": b"%d" % number for number in range(5)}


def test_files_that_are_handed_over_become_smaller_and_their_archives_are_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A quarter of the pages that are left, 20 at most and 3 at least."""
    monkeypatch.setattr(fetch_responses, "PAGES_PER_FILE", 20)
    monkeypatch.setattr(fetch_responses, "MIN_PAGES_PER_FILE", 3)
    writer = ResponseWriter(
        str(tmp_path),
        ("responses/1", "warc/1", "scratch/1"),
        ROUND,
        FetchConfig(),
        Handover("scratch/1", 100),
    )
    sizes = []
    for number in range(98):
        writer.add(wanted(f"http://a.test/{number}"), replace(PAGE, body=b"%d" % number))
        for file in take_notes(str(tmp_path), "scratch/1"):
            sizes.append(file.rows)
            answers = read_answers(str(tmp_path / file.path))
            assert all(stored for _, stored in bodies(str(tmp_path), answers))
            assert checksums.checksum_file(tmp_path / file.path) == file.xxh3
    assert sizes == [20, 20, 15, 11, 8, 6, 5, 3, 3, 3, 3]
    written = [row["rows"] for row in writer.close() if row["name"] == "responses"]
    assert written == [*sizes, 1]
    assert [file.rows for file in take_notes(str(tmp_path), "scratch/1")] == [1]
    assert take_notes(str(tmp_path), "scratch/1") == []


def test_a_copy_never_refers_to_a_file_that_is_closed(
    task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch_responses, "PAGES_PER_FILE", 1)
    for number in range(2):
        task.writer.add(wanted(f"http://a.test/{number}"), PAGE)
    task.close()
    assert [kind for kind, _, _ in task.records] == ["response", "response"]


def test_a_large_archive_is_closed(tmp_path: Path) -> None:
    task = Task(tmp_path, warc_mb=1e-6)
    for number in range(3):
        task.writer.add_hop(f"http://{number}.test/robots.txt", GONE)
    task.close()
    assert len(task.archives) == 3


def fill(task: Task, bodies: Sequence[bytes]) -> list[str]:
    """The URLs that were recorded before the disk was full."""
    recorded: list[str] = []
    for number, body in enumerate(bodies):
        url = f"http://a.test/{number}"
        try:
            task.writer.add(wanted(url), replace(PAGE, body=body))
        except StoreFull:
            return recorded
        recorded.append(url)
    pytest.fail("the disk never was full")


@pytest.mark.server
def test_rows_and_archive_agree_after_the_disk_was_full(small_disk: Path) -> None:
    task = Task(small_disk)
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(64_000))
    noise = [shake_128(bytes([number])).digest(20_000) for number in range(100)]
    recorded = fill(task, noise)
    assert recorded
    ballast.unlink()
    task.writer.add(wanted("http://a.test/last"), PAGE)
    task.close()
    urls = [*recorded, "http://a.test/last"]
    assert [row["url"] for row in task.rows] == urls
    assert [url for _, url, _ in task.records] == urls
    assert list(task.parsed().values()) == [*noise[: len(recorded)], PAGE.body]
