"""The search server of a crawl on loopback, asked by a client of this process."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from selectolax.lexbor import LexborHTMLParser, LexborNode

from gossamer.serve import web
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.state.workspace import Workspace

EVIL = '"><script>alert(1)</script><b onclick=x>'


@contextmanager
def serving(work: Workspace, **given: Any) -> Iterator[httpx.Client]:
    """Serve a crawl on a loopback port; yields a client with that base URL.

    `given` is passed to `web.server`. By default no response is reused (`kept_s`).
    """
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        serving_at(listener, work, **given),
    ):
        host, port = listener.getsockname()
        with httpx.Client(base_url=f"http://{host}:{port}") as opened:
            yield opened


@contextmanager
def serving_at(listener: socket.socket, work: Workspace, **given: Any) -> Iterator[None]:
    """Serve a crawl at a socket that listens; see `serving`."""
    server = web.server(work, **{"kept_s": 0, "log_level": "critical", **given})
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    work = crawl(tmp_path_factory.mktemp("crawl"))
    shelf: list[dict[str, Any]] = [
        {"url": f"http://a.example/apple/{n}", "title": f"Apple {n}", "text": "a red apple"}
        for n in range(25)
    ]
    shelf.append({"url": "http://b.example/%3Cscript%3E", "title": EVIL, "text": f"pear {EVIL}"})
    shelf.append({"url": "javascript://c.example/%0Aalert(1)", "title": "trap", "text": "trap"})
    put_index(work, shelf)
    with serving(work) as opened:
        yield opened


def dom(
    client: httpx.Client, path: str, status: int = 200, **params: str | int
) -> LexborHTMLParser:
    answer = client.get(path, params=params)
    assert answer.status_code == status
    return LexborHTMLParser(answer.text)


def one(page: LexborHTMLParser | LexborNode, selector: str) -> LexborNode:
    found = page.css_first(selector)
    assert found is not None
    return found


PATIENCE_S = 60


def samples(client: httpx.Client) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=")
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def refusals(client: httpx.Client, reason: str) -> float:
    return samples(client).get(("gossamer_refused_total", frozenset({("reason", reason)})), 0)


def known(client: httpx.Client, url: str, **params: int) -> dict[str, Any]:
    answer = client.get("/api/v1/page", params={"url": url, **params})
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told
