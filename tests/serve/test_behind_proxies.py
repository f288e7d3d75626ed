"""The search server behind real nginx and Caddy: at the root of a site and below a path."""

from __future__ import annotations

import gzip
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import brotli
import httpx
import pytest
from msgspec.structs import replace

from gossamer import config
from gossamer.config import ServeConfig
from gossamer.serve.listening import open_listener
from tests.support.code_blocks import blocks
from tests.support.repository import ROOT
from tests.support.reverse_proxies import caddy, nginx, running
from tests.support.search_server import serving_at
from tests.support.site_walk import PAGES, links, put_one_of_each, walk

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from gossamer.state.workspace import Workspace

pytestmark = pytest.mark.slow


class Way(NamedTuple):
    """How a proxy reaches the server."""

    path: str = ""
    socket: bool = False
    removes: bool = False
    """Whether it removes the path, and reports that."""


WAYS = {
    "root, TCP": Way(),
    "root, socket": Way(socket=True),
    "path kept, TCP": Way("/find"),
    "path kept, socket": Way("/find", socket=True),
    "path removed, TCP": Way("/find", removes=True),
    "path removed, socket": Way("/find", socket=True, removes=True),
}


@pytest.fixture(scope="module")
def work(new_work: Callable[[], Workspace]) -> Workspace:
    made = new_work()
    put_one_of_each(made)
    return made


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("proxy", [nginx, caddy])
def test_a_site_behind_a_proxy(
    work: Workspace, tmp_path: Path, proxy: Callable[..., AbstractContextManager[str]], way: Way
) -> None:
    settings = ServeConfig(
        socket=str(tmp_path / "search.sock") if way.socket else "",
        path="" if way.removes else way.path,
        forwarded_path=way.removes,
        proxies=("unix",) if way.socket else ("127.0.0.1",),
    )
    work.config = replace(work.config, serve=settings)
    with ExitStack() as stack:
        listener = stack.enter_context(open_listener(settings, "127.0.0.1", 0))
        stack.enter_context(serving_at(listener, work))
        upstream = settings.socket or f"http://127.0.0.1:{listener.getsockname()[1]}"
        folder = tmp_path / "proxy"
        url = stack.enter_context(proxy(folder, upstream, way.path, removes=way.removes))
        client = stack.enter_context(httpx.Client(base_url=url))
        start = f"{way.path}/"
        assert {f"{start}{page}" for page in PAGES} <= walk(client.get, start)
        check_descriptions(client, start)
        check_codings(client, start)
        check_files(client, start)
        check_what_a_visitor_says(client, start)


@pytest.mark.parametrize("program", ["nginx", "caddy"])
def test_the_settings_of_the_guide(work: Workspace, tmp_path: Path, program: str) -> None:
    guide = (ROOT / "docs" / "operating.md").read_text("utf-8").partition("### Behind a proxy")[2]
    guide = guide.replace("/run/gossamer/my-web.sock", str(tmp_path / "s"))
    text, nginx_rules, caddy_site = (
        blocks(guide, language)[0] for language in ("toml", "nginx", "caddy")
    )
    rules = nginx_rules if program == "nginx" else "\n".join(caddy_site.splitlines()[1:-1])
    work.config = config.loads(text, "gossamer.toml")
    with ExitStack() as stack:
        listener = stack.enter_context(open_listener(work.config.serve, "127.0.0.1", 0))
        stack.enter_context(serving_at(listener, work))
        url = stack.enter_context(running(program, tmp_path / "proxy", rules))
        client = stack.enter_context(httpx.Client(base_url=url, headers={"host": "example.org"}))
        assert {f"/find/{page}" for page in PAGES} <= walk(client.get, "/find/")


def check_descriptions(client: httpx.Client, start: str) -> None:
    whole = f"{client.base_url}".rstrip("/") + start
    assert f"{whole}search?q=" in client.get(f"{start}opensearch.xml").text
    api = client.get(f"{start}api/v1/openapi.json").json()
    assert api["servers"] == [{"url": start.rstrip("/") or "/"}]
    assert f"Disallow: {start}\n" in client.get(f"{start}robots.txt").text
    moved = client.get(f"{start}status/")
    assert moved.headers["location"] == f"{whole}status"
    assert client.get(f"{start}?q=apple").text.count("<article") == 10


def check_codings(client: httpx.Client, start: str) -> None:
    """What is compressed is compressed once, whatever the proxy does."""
    plain = client.get(f"{start}search?q=apple", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    for coding, decode in (("gzip", gzip.decompress), ("br", brotli.decompress)):
        headers = {"accept-encoding": coding}
        with client.stream("GET", f"{start}search?q=apple", headers=headers) as answer:
            body = b"".join(answer.iter_raw())
        assert answer.headers["content-encoding"] == coding
        assert "Accept-Encoding" in answer.headers["vary"]
        assert decode(body).startswith(b"<!doctype html>")


def check_files(client: httpx.Client, start: str) -> None:
    for coding in ("identity", "gzip", "br"):
        headers = {"accept-encoding": coding}
        first = client.get(f"{start}static/gossamer.css", headers=headers)
        headers["if-none-match"] = first.headers["etag"]
        again = client.get(f"{start}static/gossamer.css", headers=headers)
        assert (first.status_code, again.status_code) == (200, 304), coding


def check_what_a_visitor_says(client: httpx.Client, start: str) -> None:
    """A visitor's own X-Forwarded headers change no link."""
    said = {"x-forwarded-prefix": "/evil", "x-forwarded-for": "127.0.0.1"}
    page = partial(client.get, f"{start}none")
    assert links(page(headers=said).text) == links(page().text)
