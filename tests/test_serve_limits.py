"""Limits, metrics and the description for browsers, over HTTP."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.responses import Response

from gossamer.serve.web import limits, protocol
from shards import crawl
from test_serve_web import client, serving

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.types import Receive, Scope, Send

__all__ = ["client"]
PATIENCE_S = 60
NAMESPACE = {"": "http://a9.com/-/spec/opensearch/1.1/"}


def samples(client: httpx.Client) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=")
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


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


def test_the_crawl_s_totals(tmp_path: Path) -> None:
    work = crawl(tmp_path / "crawl")
    for round_ in (1, 2):
        with work.step("fetch", round_) as draft:
            draft.counts.update(ok=5, timeout=1)
    with serving(work) as client:
        told = samples(client)
        assert told["gossamer_fetches_total", frozenset({("outcome", "ok")})] == 10
        assert told["gossamer_index_generation", frozenset()] == work.store.manifest.version
        assert told["gossamer_index_pages", frozenset()] == 0


def test_long_urls_are_refused_in_the_form_of_what_was_asked(client: httpx.Client) -> None:
    long = "a" * limits.MAX_URL_BYTES
    answer = client.get(f"/api/search?q={long}")
    assert (answer.status_code, answer.json()["status"]) == (414, 414)
    assert "text/html" in client.get(f"/search?q={long}").headers["content-type"]
    assert client.get("/search?q=" + "a" * (limits.MAX_URL_BYTES - 100)).status_code == 200


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
def test_who_does_not_come_to_the_end_of_a_head_is_not_waited_for(
    client: httpx.Client, begun: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "MAX_HEAD_S", 0.05)
    with connected(client) as stranger:
        stranger.sendall(begun)
        assert stranger.recv(1) == b""


@pytest.mark.parametrize("path", ["/search", "/api/search", "/api/status", "/status", "/copy"])
def test_nothing_is_changed_from_outside(client: httpx.Client, path: str) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH", "PROPFIND"):
        answer = client.request(method, path)
        assert answer.status_code == 405
        assert set(answer.headers["allow"].split(", ")) == {"GET", "HEAD"}
        if path.startswith("/api/"):
            assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("path", sorted(limits.SEARCHES))
def test_too_many_searches_are_told_to_come_again(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_SEARCHES", 2)

    async def several() -> None:
        go = asyncio.Event()

        async def slow(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["path"] in limits.SEARCHES:
                await go.wait()
            await Response("answered")(scope, receive, send)

        transport = httpx.ASGITransport(limits.Limits(slow))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            waiting = [asyncio.create_task(client.get(path)) for _ in range(2)]
            await asyncio.sleep(0)  # both are sent before the third
            refused = await client.get(path)
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
            assert (await client.get("/status")).text == "answered"
            go.set()
            assert [(await task).text for task in waiting] == ["answered"] * 2
            assert (await client.get(path)).text == "answered"

    asyncio.run(several())


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
