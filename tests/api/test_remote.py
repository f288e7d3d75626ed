"""A crawl that is read over HTTP answers as the open crawl does, and says what is wrong."""

from __future__ import annotations

from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from gossamer import Crawl
from gossamer.api import remote
from gossamer.errors import ForgottenChanges, ServerUnavailable, UsageError
from tests.support.changing_pages import HARVESTS, HOST, harvest_pages
from tests.support.search_server import serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gossamer.api.remote import RemoteCrawl
    from gossamer.state.workspace import Workspace

pytestmark = [pytest.mark.server, pytest.mark.engine]


@pytest.fixture(scope="module")
def work(new_work: Callable[[], Workspace]) -> Workspace:
    opened = new_work()
    for number, texts in enumerate(HARVESTS, 1):
        harvest_pages(opened, number, texts)
    return opened


@pytest.fixture(scope="module")
def crawl(work: Workspace) -> Iterator[RemoteCrawl]:
    with serving(work) as client:
        yield Crawl.connect(f"{client.base_url}/")


@contextmanager
def answering(status: int, body: bytes) -> Iterator[RemoteCrawl]:
    """A server that gives one answer to all requests."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield Crawl.connect(f"http://127.0.0.1:{server.server_port}")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_it_searches_as_the_open_crawl_does(crawl: RemoteCrawl, work: Workspace) -> None:
    for query in ("green", "apples OR tea", "pears"):
        found, expected = crawl.search(query), Crawl(work).search(query)
        assert [hit.url for hit in found.hits] == [hit.url for hit in expected.hits]
        assert (found.total, found.whole) == (expected.total, expected.whole)
    assert crawl.search("green", limit=1, offset=1).hits == crawl.search("green").hits[1:2]


def test_it_knows_pages(crawl: RemoteCrawl) -> None:
    assert crawl.page(f"http://{HOST}/a").url == f"http://{HOST}/a"
    with pytest.raises(UsageError, match="does not hold"):
        crawl.page(f"http://{HOST}/nowhere")


def test_changes_are_those_of_the_open_crawl(
    crawl: RemoteCrawl, work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [each.change for each in Crawl(work).changes.each()]
    for at_once in (2, 1_000):
        monkeypatch.setattr(remote, "CHANGES_AT_ONCE", at_once)
        assert [change for part, _ in crawl.changes() for change in part] == expected
    *_, (_, cursor) = crawl.changes()
    assert [*crawl.changes(cursor)] == []
    assert next(crawl.changes(site="elsewhere.example"))[0] == []


def test_wrong_questions_are_explained(crawl: RemoteCrawl) -> None:
    with pytest.raises(UsageError, match="cursor"):
        [*crawl.changes("nonsense")]
    with pytest.raises(UsageError, match="limit may be at most"):
        crawl.search("apples", limit=100_000)
    with pytest.raises(UsageError, match="could"):
        crawl.document("ftp://a.test/")
    with pytest.raises(UsageError):
        crawl.diff(f"http://{HOST}/a", since="once")


def test_only_urls_of_servers_are_taken() -> None:
    for url in ("file:///etc/passwd", "127.0.0.1:8080", "my-web"):
        with pytest.raises(UsageError, match="is not the URL of a server"):
            Crawl.connect(url)


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"{}", b'{"hits": 1}', b"\xff"])
def test_another_server_is_not_believed(body: bytes) -> None:
    with answering(200, body) as crawl, pytest.raises(ServerUnavailable, match="is not an answer"):
        crawl.search("apples")


@pytest.mark.parametrize(
    ("status", "body", "error", "says"),
    [
        (400, b'{"detail": "q is missing"}', UsageError, "q is missing"),
        (404, b"<html>", UsageError, "HTTP status 404"),
        (410, b'{"detail": "not kept"}', ForgottenChanges, r"(?s)not kept.*begin again"),
        (429, b'{"title": "Too Many Requests"}', ServerUnavailable, r"(?s)Too Many.*later"),
        (503, b'{"detail": "\xff"}', ServerUnavailable, "HTTP status 503"),
        (503, '{"detail": "old\\n → build it"}'.encode(), ServerUnavailable, r"(?s)build it$"),
    ],
)
def test_problems_are_errors(status: int, body: bytes, error: type[Exception], says: str) -> None:
    with answering(status, body) as crawl, pytest.raises(error, match=says):
        crawl.search("apples")


def test_long_answers_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "MAX_ANSWER_BYTES", 1 << 20)
    with (
        answering(200, b" " * ((1 << 20) + 1)) as crawl,
        pytest.raises(ServerUnavailable, match="more than 1 MB"),
    ):
        crawl.search("apples")


def test_a_server_that_is_away_is_named() -> None:
    with answering(200, b"") as crawl:
        pass
    with pytest.raises(
        ServerUnavailable, match=r"(?s)/search\?q=apples.*is gossamer serve running"
    ):
        crawl.search("apples")
