"""Limits on requests, metrics, and the OpenSearch description, over HTTP."""

from __future__ import annotations

import asyncio
import select
import socket
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from gossamer.config import ServeConfig
from gossamer.errors import ConfigError
from gossamer.search.results import Results
from gossamer.search.searcher import Searcher
from gossamer.serve.dispatch import front
from gossamer.serve.dispatch.fair_queue import ANYBODY, Busy, FairQueue
from gossamer.serve.web import expensive_responses, paced_sending, protocol, request_limits
from gossamer.serve.web.clients import Clients
from gossamer.serve.web.expensive_responses import Guard
from gossamer.serve.web.paced_sending import Sending
from gossamer.serve.web.problem import busy_problem
from gossamer.serve.web.request_limits import Limits
from tests.support.search_server import PATIENCE_S, client, refusals, samples, serving
from tests.support.served_application import Gate, get, listening, read
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from starlette.requests import Request

    from gossamer.search.messages import Question

pytestmark = pytest.mark.server

__all__ = ["client"]
NAMESPACE = {"": "http://a9.com/-/spec/opensearch/1.1/"}


def requests(client: httpx.Client, route: str, status: int) -> float:
    labels = frozenset({("route", route), ("status", str(status))})
    return samples(client).get(("gossamer_requests_total", labels), 0)


def test_requests_are_counted_by_route_and_status(client: httpx.Client) -> None:
    before = requests(client, "/search", 200), requests(client, "other", 404)
    for _ in range(3):
        client.get("/search?q=apple")
        client.get("/who/knows")
    assert (requests(client, "/search", 200), requests(client, "other", 404)) == (
        before[0] + 3,
        before[1] + 3,
    )
    told = samples(client)
    assert told["gossamer_index_pages", frozenset()] == 27
    assert told["gossamer_request_seconds_count", frozenset({("route", "/search")})] >= 3


def test_strangers_do_not_choose_labels(client: httpx.Client) -> None:
    for number in range(5):
        client.get(f"/x{number}")
        client.get(f"/static/x{number}")
        client.request(f"M{number}", "/search")
    routes = {value for _, labels in samples(client) for name, value in labels if name == "route"}
    assert not [route for route in routes if "x" in route.partition("/static")[2]]
    assert not [route for route in routes if route.startswith("/x")]


def test_long_urls_are_refused_in_the_form_of_what_was_asked(client: httpx.Client) -> None:
    long = "a" * request_limits.MAX_URL_BYTES
    answer = client.get(f"/api/v1/search?q={long}")
    assert (answer.status_code, answer.json()["status"]) == (414, 414)
    assert "text/html" in client.get(f"/search?q={long}").headers["content-type"]
    assert client.get("/search?q=" + "a" * (request_limits.MAX_URL_BYTES - 100)).status_code == 200


def connected(client: httpx.Client) -> socket.socket:
    return socket.create_connection((client.base_url.host, client.base_url.port or 0), PATIENCE_S)


def test_a_head_without_end_is_refused(client: httpx.Client) -> None:
    with connected(client) as stranger:
        stranger.sendall(b"GET / HTTP/1.1\r\n" + b"x-more: and more\r\n" * 3_000)
        with suppress(ConnectionError):
            stranger.sendall(b"x-more: and more\r\n" * 3_000)
        assert stranger.recv(12) == b"HTTP/1.1 400"


def test_a_head_may_be_long_and_so_may_many_of_one_connection(client: httpx.Client) -> None:
    for _ in range(4):
        assert client.get("/health", headers={"x-more": "x" * 60_000}).status_code == 200


@pytest.mark.parametrize("begun", [b"", b"GET / HTT", b"GET / HTTP/1.1\r\nhost: localhost\r\nx"])
def test_a_client_that_does_not_finish_its_request_is_cut_off(
    client: httpx.Client, begun: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "MAX_REQUEST_S", 0.05)
    with connected(client) as stranger:
        stranger.sendall(begun)
        assert stranger.recv(1) == b""


@pytest.mark.parametrize(
    "path", ["/search", "/api/v1/search", "/api/v1/status", "/status", "/copy"]
)
def test_nothing_is_changed_from_outside(client: httpx.Client, path: str) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"):
        answer = client.request(method, path)
        assert answer.status_code == 405
        assert set(answer.headers["allow"].split(", ")) == {"GET", "HEAD"}
        if path.startswith("/api/"):
            assert answer.headers["content-type"] == "application/problem+json"


def test_searches_beyond_the_queue_are_refused_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(front, "MAX_WAITING", 0)
    go, begun = threading.Event(), threading.Semaphore(0)

    def slow(_: Searcher, __: Question, ___: float) -> Results:
        begun.release()
        assert go.wait(PATIENCE_S)
        return Results(0, [], 0.0)

    monkeypatch.setattr(Searcher, "answer", slow)
    work = crawl(tmp_path)
    put_index(work, [{"url": "http://a.example/", "title": "apple"}])
    with serving(work) as client, ThreadPoolExecutor() as threads:
        waiting = [threads.submit(client.get, f"/api/v1/search?q={n}") for n in range(front.HERE)]
        for _ in waiting:
            assert begun.acquire(timeout=PATIENCE_S)
        refused = client.get("/api/v1/search?q=more")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        assert "search" in refused.json()["detail"]
        assert client.get("/health").status_code == 200
        go.set()
        assert [task.result().status_code for task in waiting] == [200] * front.HERE
        assert refusals(client, "search") == 1


def test_one_address_may_have_so_many_requests_open() -> None:
    """A proxy on this machine forwards the addresses; IPv6 addresses count by /64."""
    gate, refused = Gate(), Counter[str]()
    clients = Clients(ServeConfig().proxies)
    limited = Limits(gate, clients, 2, refused)
    with listening(limited, proxies=["127.0.0.1"]) as site, ExitStack() as stack:

        def asking(forwarded: str) -> socket.socket:
            ours = stack.enter_context(site.connected())
            ours.sendall(get(headers=f"X-Forwarded-For: {forwarded}\r\n" if forwarded else ""))
            return ours

        open_ = [asking(f"2001:db8::{number}") for number in range(2)]
        gate.wait(2)
        assert b" 429 " in asking("2001:db8::ffff:1").recv(100)
        assert refused == {"address": 1}
        open_ += [asking("2001:db8:0:1::1"), asking("192.0.2.1"), *(asking("") for _ in range(5))]
        gate.wait(7)
        gate.open.set()
        assert all(read(each, b"\r\n\r\n/").startswith(b"HTTP/1.1 200") for each in open_)
        assert read(asking("2001:db8::1"), b"\r\n\r\n/").startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    ("host", "client"),
    [
        ("127.0.0.1", ANYBODY),
        ("::1", ANYBODY),
        ("::ffff:127.0.0.1", ANYBODY),
        ("10.1.2.3", ANYBODY),
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8:0:0:ffff::1", "2001:db8::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("unknown", "unknown"),
        ("x" * 1_000, "x" * 64),
    ],
)
def test_the_client_that_an_address_counts_for(host: str, client: str) -> None:
    assert Clients(("127.0.0.1", "::1", "10.0.0.0/8")).of(host) == client


def test_the_network_of_a_proxy_may_be_written_as_one_of_its_addresses() -> None:
    """Both who reads X-Forwarded-For and who counts requests take it for the network."""
    gate, refused, proxies = Gate(), Counter[str](), ["127.0.0.1/8"]
    limited = Limits(gate, Clients(proxies), 1, refused)
    with listening(limited, proxies=proxies) as site, ExitStack() as stack:

        def asking() -> socket.socket:
            ours = stack.enter_context(site.connected())
            ours.sendall(get(headers="X-Forwarded-For: 192.0.2.1\r\n"))
            return ours

        first = asking()
        gate.wait()
        assert b" 429 " in asking().recv(100)
        gate.open.set()
        assert read(first, b"\r\n\r\n/").startswith(b"HTTP/1.1 200")


def test_a_proxy_that_is_no_address_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"serve\.proxies"):
        Clients(("1.2.3",))


class Slow:
    """A site whose route `/cost` blocks in its thread until the test lets it continue."""

    def __init__(self, **given: float) -> None:
        self.begun, self.go = threading.Semaphore(0), threading.Event()
        self.made: list[str] = []
        refused = self.refused = Counter[str]()
        guard = Guard("cost", **given)  # type: ignore[arg-type]
        self.application = Starlette(
            routes=[Route("/cost", guard(self.cost))],
            exception_handlers={Busy: partial(busy_problem, refused)},
        )

    def cost(self, request: Request) -> Response:
        self.made.append(request.url.query)
        self.begun.release()
        assert self.go.wait(PATIENCE_S)
        return Response(request.url.query)


def test_a_costly_answer_is_made_once_and_kept_for_a_second() -> None:
    now_s = [0.0]
    site = Slow(clock=lambda: now_s[0])  # type: ignore[arg-type]
    site.go.set()

    async def run() -> None:
        transport = httpx.ASGITransport(site.application)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            together = await asyncio.gather(*(client.get("/cost?a") for _ in range(10)))
            assert {answer.text for answer in together} == {"a"}
            now_s[0] = 0.9
            await client.get("/cost?a")
            assert site.made == ["a"]
            now_s[0] = 1.1
            await client.get("/cost?a")
            assert site.made == ["a", "a"]

    asyncio.run(run())


def test_costly_answers_are_made_one_by_one_and_few_may_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(expensive_responses, "MAX_WAITING", 1)
    slow = Slow()
    with listening(slow.application) as site, ExitStack() as stack:
        asked = [stack.enter_context(site.connected()) for _ in range(3)]
        asked[0].sendall(get("/cost?0"))
        assert slow.begun.acquire(timeout=PATIENCE_S)
        for number in (1, 2):
            asked[number].sendall(get(f"/cost?{number}"))
        refused = next(each for each in select.select(asked[1:], [], [], PATIENCE_S)[0])
        assert refused.recv(100).startswith(b"HTTP/1.1 503")
        assert slow.refused == {"cost": 1}
        assert slow.made == ["0"]
        slow.go.set()
        (other,) = {*asked[1:]} - {refused}
        for each in (asked[0], other):
            assert each.recv(12) == b"HTTP/1.1 200"


def test_copies_pages_pictures_status_and_metrics_have_limits_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = []

    class Noted(FairQueue):
        @asynccontextmanager
        async def taken(self, client: str) -> AsyncIterator[None]:
            taken.append(self.kind)
            async with super().taken(client):
                yield

    monkeypatch.setattr(expensive_responses, "FairQueue", Noted)
    paths = ["/copy", "/copy/raw", "/image", "/page", "/api/v1/page", "/status", "/api/v1/status"]
    with serving(crawl(tmp_path)) as client:
        for path in (*paths, "/metrics", "/health"):
            client.get(path, params={"url": "https://nowhere.example/"})
    kinds = ["copy", "copy", "image", "page", "page", "status", "status", "metrics"]
    assert taken == kinds


def test_connections_that_were_refused_are_counted_on_metrics(tmp_path: Path) -> None:
    with serving(crawl(tmp_path), connections=1) as client:
        client.get("/health")
        with connected(client) as stranger:
            stranger.sendall(get("/health"))
            assert stranger.recv(12) == b"HTTP/1.1 503"  # there is no index yet
            assert refusals(client, "idle connection") == 2  # the client's first, and this one


def test_large_answers_on_their_way_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paced_sending, "MAX_BYTES", 12 << 20)
    refused = Counter[str]()
    large = Sending(Response(bytes(8 << 20)), refused)
    with listening(large) as site, ExitStack() as stack:
        first, second = (stack.enter_context(site.connected(room=4_096)) for _ in range(2))
        first.sendall(get())
        assert first.recv(15) == b"HTTP/1.1 200 OK"  # it is on its way, and stays there
        second.sendall(get())
        assert second.recv(12) == b"HTTP/1.1 503"
        assert refused == {"large answer": 1}


def test_behind_a_proxy_addresses_are_those_that_the_proxy_has(client: httpx.Client) -> None:
    told = client.get("/opensearch.xml", headers={"x-forwarded-proto": "https"}).text
    assert f'template="https://{client.base_url.netloc.decode()}/search?' in told


def test_browsers_can_add_the_engine(client: httpx.Client) -> None:
    (link,) = [
        line for line in client.get("/").text.splitlines() if line.startswith('<link rel="search"')
    ]
    assert 'href="/opensearch.xml"' in link
    answer = client.get("/opensearch.xml")
    assert answer.headers["content-type"].startswith("application/opensearchdescription+xml")
    root = ET.fromstring(answer.text)  # noqa: S314  # our own
    urls = {url.attrib["type"]: url.attrib["template"] for url in root.findall("Url", NAMESPACE)}
    for kind in ("text/html", "application/json"):
        asked = urls[kind].replace("{searchTerms}", "apple")
        for name, value in (("{startPage?}", "1"), ("{startIndex?}", "0"), ("{count?}", "5")):
            asked = asked.replace(name, value)
        found = client.get(asked)
        assert found.status_code == 200
        assert "Apple" in found.text
