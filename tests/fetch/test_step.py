from __future__ import annotations

import asyncio
import json
import socket
import threading
from hashlib import shake_128
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from warcio.archiveiterator import ArchiveIterator

from gossamer import fetch
from gossamer.config import Config, FetchConfig
from gossamer.errors import UsageError
from gossamer.fetch import response_writer as fetch_responses
from gossamer.fetch.exchange import FetchResult, Request
from gossamer.fetch.fetch_loop import FetchLoop
from gossamer.fetch.fetch_part import FetchRow, PageRows
from gossamer.fetch.host_book import HostBook
from gossamer.fetch.response_writer import ResponseWriter
from gossamer.state.heartbeats import Heartbeat, heartbeats
from gossamer.state.workspace import Workspace
from gossamer.storage import checksums
from gossamer.storage.backends import open_backend
from gossamer.storage.store import File, Layer, StepReport, Store
from gossamer.storage.warc import payload_digest, read_response, read_responses
from gossamer.tables import FETCHLIST
from tests.support.fetched_parts import ROUND, Fetched, Row, settings, wanted, write_rows
from tests.support.loopback import Loopback, page

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from gossamer.fetch.scheme_fetchers import Fetchers

    Crawl = Callable[..., Fetched]


@pytest.fixture
def crawl(tmp_path: Path, server: Loopback) -> Callable[..., Fetched]:
    def run(rows: Iterable[Row | str], *, hosts: Sequence[Row] = (), **changes: object) -> Fetched:
        full = [wanted(row) if isinstance(row, str) else row for row in rows]
        return Fetched(tmp_path, full, settings(server, **changes), hosts)

    return run


def test_a_page_becomes_a_row_and_a_record(server: Loopback, crawl: Crawl) -> None:
    body = b"<p>hello"
    server.answers["/a"] = page(body, ("Content-Type: text/html", 'ETag: "1"'))
    fetched = crawl([wanted("http://a.test/a", depth=4, fetches=2, digest="OTHER")])
    (row,) = fetched.rows.values()
    assert row["outcome"] == "ok"
    assert (row["round"], row["host"], row["depth"], row["fetches"]) == (ROUND, "a.test", 4, 2)
    assert (row["http_status"], row["content_type"], row["etag"]) == (200, "text/html", '"1"')
    assert (row["body_bytes"], row["truncated"]) == (len(body), False)
    assert row["digest"] == payload_digest(body)
    (file,) = fetched.warcs
    assert (row["warc_file"], file.rows) == (file.path, 2)  # with robots.txt
    stored = read_response(fetched.root / file.path, row["warc_offset"])
    assert (stored.body, stored.headers["etag"]) == (body, '"1"')
    assert fetched.counts == {"ok": 1}


def test_the_next_request_is_sent_before_an_answer_is_recorded(
    server: Loopback, crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = threading.Event()

    async def last(_: StreamReader, writer: StreamWriter) -> None:
        asked.set()
        writer.write(page(b"b"))

    def add(
        writer: ResponseWriter, wanted: FetchRow, answer: FetchResult, said: Sequence[str]
    ) -> str:
        early.append(asked.wait(10))
        return record(writer, wanted, answer, said)

    early: list[bool] = []
    record = ResponseWriter.add
    monkeypatch.setattr(ResponseWriter, "add", add)
    server.answers |= {"/a": page(b"a"), "/b": last}
    assert crawl(["http://a.test/a", "http://a.test/b"]).outcomes() == ["ok", "ok"]
    assert early == [True, True]


def test_what_is_no_new_page_has_no_body_to_parse(server: Loopback, crawl: Crawl) -> None:
    same, headers = b"as before", "content-type: text/html"
    server.answers |= {
        "/304": page(b"", status="304 Not Modified"),
        "/moved": page(b"", ("Location: /b",), status="301 Moved"),
        "/same": page(same),
    }
    fetched = crawl(
        [
            wanted("http://a.test/304", etag='"1"', digest="OLD", headers=headers),
            "http://a.test/404",
            "http://a.test/moved",
            wanted("http://a.test/same", digest=payload_digest(same), headers=headers),
        ]
    )
    assert fetched.outcomes() == ["unchanged", "not_found", "redirect", "unchanged"]
    assert [file.rows for file in fetched.warcs] == [5]
    rows = [fetched.rows[url] for url in sorted(fetched.rows)]
    assert [row["digest"] for row in rows] == ["OLD", None, None, payload_digest(same)]
    assert [row["warc_file"] for row in rows] == [None] * 4
    assert rows[2]["redirect_url"] == "http://a.test/b"
    assert fetched.counts == {"unchanged": 2, "not_found": 1, "redirect": 1}


def test_only_the_rows_of_the_part_are_fetched(crawl: Crawl) -> None:
    fetched = crawl(["http://a.test/a", wanted("http://b.test/b", part=1)])
    assert list(fetched.rows) == ["http://a.test/a"]


def test_robots_comes_first_once_per_origin(server: Loopback, crawl: Crawl) -> None:
    server.answers["/robots.txt"] = page(b"User-agent: gossamer\nDisallow: /private")
    fetched = crawl([f"http://a.test/{path}" for path in ("a", "b", "private/c")])
    assert server.paths[0] == "/robots.txt"
    assert sorted(server.paths) == ["/a", "/b", "/robots.txt"]
    assert fetched.outcomes() == ["not_found", "not_found", "robots"]


def test_each_port_has_its_own_robots(server: Loopback, crawl: Crawl) -> None:
    server.answers["a.test:81/robots.txt"] = page(b"User-agent: *\nDisallow: /")
    fetched = crawl(["http://a.test/x", "http://a.test:81/x"])
    assert fetched.rows["http://a.test/x"]["outcome"] == "not_found"
    assert fetched.rows["http://a.test:81/x"]["outcome"] == "robots"


@pytest.mark.parametrize("redirects", [5, 6])
def test_robots_is_followed_over_five_redirects(
    server: Loopback, crawl: Crawl, redirects: int
) -> None:
    """RFC 9309 §2.3.1.2."""
    places = ["/robots.txt", *(f"/r{n}" for n in range(1, redirects + 1))]
    for place, target in pairwise(places):
        server.answers[place] = page(b"", (f"Location: {target}",), status="302 Found")
    server.answers[places[-1]] = page(b"User-agent: *\nDisallow: /")
    fetched = crawl(["http://a.test/a"])
    assert fetched.outcomes() == [("robots" if redirects == 5 else "not_found")]


def test_a_robots_that_leads_inside_is_not_followed(server: Loopback, crawl: Crawl) -> None:
    server.answers["/robots.txt"] = page(b"", ("Location: http://[::1]:1/",), status="302 Found")
    fetched = crawl(["http://a.test/a"])
    assert fetched.outcomes() == ["postponed"]
    assert server.paths == ["/robots.txt"]


def test_a_robots_server_in_trouble_forbids_all(server: Loopback, crawl: Crawl) -> None:
    server.answers["/robots.txt"] = page(b"", status="500 Oops")
    fetched = crawl(["http://a.test/a", "http://a.test/b"])
    assert fetched.outcomes() == ["postponed", "postponed"]
    assert fetched.details() == {"robots.txt: HTTP 500"}
    assert fetched.counts == {"postponed_no_robots": 2}
    assert server.paths == ["/robots.txt"]


def test_a_host_that_cannot_be_reached_is_tried_once(server: Loopback, crawl: Crawl) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        dead = f"127.0.0.1:{free.getsockname()[1]}"
        pages = [f"http://dead.test/{n}" for n in range(20)]
        fetched = crawl(
            [*pages, "http://a.test/a"], host_overrides={"dead.test": dead, "*": server.address}
        )
    assert fetched.outcomes() == ["not_found"] + ["unreachable"] * 20


def test_a_host_that_answers_one_scheme_only_is_asked_for_its_other_pages(crawl: Crawl) -> None:
    first = [wanted(f"https://a.test/{n}", score=2.0) for n in range(3)]
    fetched = crawl([*first, *(f"http://a.test/{n}" for n in range(3))])
    outcomes = {url: row["outcome"] for url, row in fetched.rows.items()}
    assert [outcomes[f"http://a.test/{n}"] for n in range(3)] == ["not_found"] * 3
    assert [outcomes[f"https://a.test/{n}"] for n in range(3)] == ["tls"] * 3


def test_a_slow_robots_holds_up_its_own_host_alone(server: Loopback, crawl: Crawl) -> None:
    """It is answered once the other host's last page was asked for."""
    last_page_asked = asyncio.Event()

    async def say_so(_: StreamReader, writer: StreamWriter) -> None:
        last_page_asked.set()
        writer.write(page(b"x"))

    async def answer_after_it(_: StreamReader, writer: StreamWriter) -> None:
        await last_page_asked.wait()
        writer.write(page(b""))

    server.answers |= {"slow.test/robots.txt": answer_after_it, "a.test/8": say_so}
    fetched = crawl(["http://slow.test/a", *(f"http://a.test/{n}" for n in range(9))])
    assert fetched.outcomes() == ["not_found"] * 8 + ["ok", "not_found"]
    assert server.asked[-1].host == "slow.test"


def test_addresses_inside_are_refused(server: Loopback, crawl: Crawl) -> None:
    pages = ["http://127.0.0.1:1/a", "http://a.test/a", "http://[::1]:1/a"]
    fetched = crawl(pages, allow_networks=())
    assert fetched.outcomes() == ["forbidden_address"] * 3
    assert not server.asked


def test_one_request_at_a_time_and_never_early(server: Loopback, crawl: Crawl) -> None:
    server.answers["/robots.txt"] = page(b"User-agent: *\nCrawl-delay: 0.02")
    crawl([f"http://{host}.test/{n}" for host in "ab" for n in range(4)], delay_s=0.01)
    for host in ("a.test", "b.test"):
        asked = [request for request in server.asked if request.host == host]
        assert len(asked) == 5
        assert all(after.begun_s - before.begun_s >= 0.02 for before, after in pairwise(asked))


def test_a_long_crawl_delay_postpones_the_host(server: Loopback, crawl: Crawl) -> None:
    server.answers["/robots.txt"] = page(b"User-agent: *\nCrawl-delay: 61")
    fetched = crawl(["http://a.test/a", "http://a.test/b"])
    assert fetched.outcomes() == ["postponed", "postponed"]
    assert fetched.details() == {"the host asks for 61 s between requests"}
    assert server.paths == ["/robots.txt"]


def test_a_long_retry_after_postpones_the_rest(server: Loopback, crawl: Crawl) -> None:
    server.answers["/a"] = page(b"", ("Retry-After: 3600",), status="503 Service Unavailable")
    fetched = crawl([wanted("http://a.test/a", score=2.0), "http://a.test/b"])
    assert fetched.outcomes() == ["busy", "postponed"]
    assert fetched.rows["http://a.test/a"]["retry_after_s"] == 3600
    assert "/b" not in server.paths


def test_failures_in_a_row_postpone_the_rest(server: Loopback, crawl: Crawl) -> None:
    server.answers |= {f"/{n}": page(status="503 No") for n in range(5)}
    fetched = crawl([f"http://a.test/{n}" for n in range(5)], max_failures_per_host=1)
    assert fetched.outcomes() == ["busy"] + ["postponed"] * 4
    assert fetched.counts == {"busy": 1, "postponed_failing": 4}


def test_the_end_of_the_round_postpones_the_rest(server: Loopback, crawl: Crawl) -> None:
    fetched = crawl([f"http://a.test/{n}" for n in range(3)], delay_s=60.0, round_minutes=0.001)
    assert fetched.outcomes() == ["postponed"] * 3
    assert server.paths == ["/robots.txt"]


def test_a_delay_above_patience_is_still_the_configured_one(server: Loopback, crawl: Crawl) -> None:
    server.answers["/robots.txt"] = page(b"User-agent: *\nCrawl-delay: 0.001")
    fetched = crawl(["http://a.test/a"], delay_s=0.01, max_delay_s=0.0)
    assert fetched.outcomes() == ["not_found"]


class Crowd:
    """A fetcher that counts how many wait for it at once."""

    def __init__(self) -> None:
        self.here = self.most = 0

    def delay_s(self, host: str) -> None:
        pass

    async def locate(self, host: str) -> str | None:
        return f"192.0.2.{len(host)}"

    async def fetch(self, request: Request) -> FetchResult:
        assert request.url.startswith("http://h")
        self.here += 1
        self.most = max(self.most, self.here)
        for _ in range(10):
            await asyncio.sleep(0)
        self.here -= 1
        return FetchResult("not_found", 0, http_status=404)


@pytest.mark.parametrize("hosts_at_once", [1, 7])
def test_hosts_at_once_is_a_limit(tmp_path: Path, hosts_at_once: int) -> None:
    config = FetchConfig(delay_s=0, address_delay_s=0, hosts_at_once=hosts_at_once)
    hosts = [f"h{n}.test" for n in range(30)]
    rows = [wanted(f"http://{host}/") for host in hosts]
    pages = PageRows(pa.Table.from_pylist(rows, schema=FETCHLIST.schema))
    writer = ResponseWriter(str(tmp_path), ("responses/1", "warc/1", "scratch/1"), ROUND, config)
    heartbeat = Heartbeat(str(tmp_path), "fetch", ROUND, "0", len(pages))
    crowd = Crowd()

    async def run() -> None:
        fetchers = cast("Fetchers", crowd)
        root, book = str(tmp_path), HostBook()
        await FetchLoop(root, pages, book, config, fetchers, writer, heartbeat, min_free_gb=0).run()

    asyncio.run(run())
    assert crowd.most == hosts_at_once
    assert heartbeat.counts == {"not_found": 30}


def test_files_are_rolled_in_pairs(
    server: Loopback, crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch_responses, "PAGES_PER_FILE", 2)
    server.answers |= {f"/{n}": page(b"%d" % n) for n in range(5)}
    fetched = crawl([f"http://a.test/{n}" for n in range(5)])
    assert sorted(file.rows for file in fetched.warcs) == [1, 2, 3]  # with robots.txt
    for file in fetched.files("responses"):
        rows = pq.read_table(fetched.root / file.path).to_pylist()
        (warc,) = {row["warc_file"] for row in rows}
        stored = {page.offset: page.body.decode() for page in read_responses(fetched.root / warc)}
        assert [stored[row["warc_offset"]] for row in rows] == [row["url"][-1] for row in rows]


def test_a_large_warc_file_is_closed(server: Loopback, crawl: Crawl) -> None:
    server.answers |= {f"/{n}": page(b"%d" % n) for n in range(3)}
    fetched = crawl([f"http://a.test/{n}" for n in range(3)], warc_mb=1e-6)
    assert [file.rows for file in fetched.warcs] == [1, 1, 1, 1]  # with robots.txt


@pytest.mark.parametrize(("kept", "why"), [(10 << 20, None), (9 << 20, "length")])
def test_a_large_file_is_in_the_archive_and_its_index(
    server: Loopback, crawl: Crawl, kept: int, why: str | None
) -> None:
    said = shake_128(b"a paper").digest(10 << 20)
    server.answers["/a.pdf"] = page(said, ("Content-Type: application/pdf", 'ETag: "1"'))
    fetched = crawl(["http://a.test/a.pdf"], max_file_bytes=kept)
    (row,) = fetched.rows.values()
    assert (row["body_bytes"], row["truncated"], row["etag"]) == (kept, why is not None, '"1"')
    path = fetched.root / row["warc_file"]
    assert read_response(path, row["warc_offset"]).body == said[:kept]
    with path.open("rb") as file:
        file.seek(row["warc_offset"])
        (record, *_) = ArchiveIterator(file)
    assert record.rec_headers.get_header("WARC-Truncated") == why
    index = path.with_name(path.name.replace(".warc.gz", ".cdxj")).read_text()
    (line,) = (line for line in index.splitlines() if line.startswith("test,a)/a.pdf "))
    entry = json.loads(line.split(" ", 2)[2])
    assert (entry["offset"], entry["digest"]) == (str(row["warc_offset"]), f"sha1:{row['digest']}")
    assert int(entry["length"]) > kept


def test_header_bytes_that_are_no_text_are_stored(server: Loopback, crawl: Crawl) -> None:
    server.answers["/a"] = page(b"x", ("Content-Type: text/\xff", "ETag: \xfe"))
    (row,) = crawl(["http://a.test/a"]).rows.values()
    assert (row["outcome"], row["content_type"], row["etag"]) == ("ok", "text/?", "?")


def test_a_file_that_cannot_be_written_ends_the_task(
    server: Loopback, crawl: Crawl, tmp_path: Path
) -> None:
    server.answers["/a"] = page(b"x")
    (tmp_path / "warc").write_text("in the way")
    with pytest.raises(NotADirectoryError):
        crawl(["http://a.test/a", "http://b.test/b"])


def test_a_heartbeat_is_left(crawl: Crawl) -> None:
    fetched = crawl(["http://a.test/a"])
    (beat,) = heartbeats(str(fetched.root))
    assert (beat.step, beat.round, beat.task, beat.done, beat.total) == ("fetch", ROUND, "0", 1, 1)
    assert beat.counts == {"not_found": 1}


# The step


class OneProcess:
    """In place of the engine, which tests of rounds use: runs tasks where they stand."""

    is_local = True

    def map_tasks(self, tasks: Sequence[Any], fn: Any, *_: object) -> list[Row]:
        return [row for task in tasks for row in fn(task)]


def workspace(folder: Path, rows: Sequence[Row], config: FetchConfig) -> Workspace:
    store = Store.create(open_backend(str(folder)))
    path = folder / "fetchlist" / "list.parquet"
    write_rows(path, FETCHLIST.schema, rows)
    file = File(
        "fetchlist/list.parquet", len(rows), path.stat().st_size, checksums.checksum_file(path)
    )
    layer = Layer(ROUND, (file,) if rows else ())
    store.commit(StepReport("generate", ROUND, 0, 0.0), replace={"fetchlist": (layer,)})
    return Workspace(store, Config(fetch=config), _engine=OneProcess())  # type: ignore[arg-type]


def test_the_step_commits_what_its_tasks_wrote(server: Loopback, tmp_path: Path) -> None:
    server.answers["/a"] = page(b"hello")
    rows = [wanted("http://a.test/a"), wanted("http://b.test/b", part=1)]
    work = workspace(tmp_path, rows, settings(server))
    report = fetch.run(work)
    assert (report.step, report.round) == ("fetch", ROUND)
    assert report.counts == {"ok": 1, "not_found": 1}
    assert sum(file.rows for file in work.store.files("responses", ROUND)) == 2
    assert sum(file.rows for file in work.store.files("warc", ROUND)) == 6  # with wish files
    assert work.round == ROUND


def test_a_round_is_fetched_once(server: Loopback, tmp_path: Path) -> None:
    work = workspace(tmp_path, [wanted("http://a.test/a")], settings(server))
    fetch.run(work)
    with pytest.raises(UsageError, match=r"round 3 was already fetched\n.*gossamer parse"):
        fetch.run(work)


def test_without_a_fetchlist_there_is_nothing_to_fetch(server: Loopback, tmp_path: Path) -> None:
    work = workspace(tmp_path, [], settings(server))
    with pytest.raises(UsageError, match=r"nothing to fetch\n.*gossamer generate"):
        fetch.run(work)


@pytest.mark.parametrize(
    "url", ["http://a.example/", "http://8.8.8.8/", "http://8.8.8.8:81/", "http://[2606:4700::1]/"]
)
def test_strangers_are_told_who_crawls_them(server: Loopback, tmp_path: Path, url: str) -> None:
    rows = [wanted("http://a.test/a"), wanted(url)]
    work = workspace(tmp_path, rows, settings(server))
    with pytest.raises(UsageError, match=r"fetch\.contact"):
        fetch.run(work)
    assert not server.asked


@pytest.mark.parametrize(
    "url", ["http://a.test:81/", "http://localhost:1/", "http://127.0.0.1:1/", "http://[::1]:1/"]
)
def test_ourselves_we_need_not_tell(server: Loopback, tmp_path: Path, url: str) -> None:
    work = workspace(tmp_path, [wanted(url)], settings(server))
    assert sum(fetch.run(work).counts.values()) == 1
