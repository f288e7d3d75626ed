"""Below a path of a site, everything that a server sends leads to it, and to nowhere else."""

from __future__ import annotations

import asyncio
import re
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.config import ServeConfig
from gossamer.serve.web.clients import Clients
from gossamer.serve.web.site_path import SitePath
from gossamer.web.robots_txt import parse_robots_txt
from tests.support.asgi_requests import PROXY, STRANGER, application, get
from tests.support.site_walk import PAGES, links, put_one_of_each, walk

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx
    from starlette.types import ASGIApp

    from gossamer.state.workspace import Workspace

ADDRESS = "http://localhost"
HEADER = "x-forwarded-prefix"
ATTACKS = [
    "//evil.example",
    "/find//evil.example",
    "https://evil.example",
    "/..",
    "/find/../admin",
    "/./find",
    "/find\r\nSet-Cookie: a=b",
    "/find\n",
    '/"><script>alert(1)</script>',
    "/find?a=b",
    "/find#a",
    "/%2e%2e",
    "\\\\evil.example",
    "/\\evil.example",
    "find",
    "/find,/other",
    "/ä",
    "/" + "a" * 200,
]


@pytest.fixture(scope="module")
def work(new_work: Callable[[], Workspace]) -> Workspace:
    made = new_work()
    put_one_of_each(made)
    return made


@pytest.fixture(scope="module")
def below(work: Workspace) -> ASGIApp:
    return application(work, path="/find")


@pytest.fixture(scope="module")
def reported(work: Workspace) -> ASGIApp:
    return application(work, forwarded_path=True)


@pytest.mark.parametrize(("path", "start"), [("/find", "/find/"), ("/a/b", "/a/b/"), ("", "/")])
def test_every_link_leads_below_the_path(work: Workspace, path: str, start: str) -> None:
    site = application(work, path=path)
    assert {f"{start}{page}" for page in PAGES} <= walk(partial(get, site), start)


def test_every_link_leads_below_the_path_that_a_proxy_reports(reported: ASGIApp) -> None:
    def ask(path: str) -> httpx.Response:
        return get(reported, path.removeprefix("/a/b"), {HEADER: "/a/b"})

    assert {f"/a/b/{page}" for page in PAGES} <= walk(ask, "/a/b/")


def test_a_request_is_answered_with_and_without_the_path(below: ASGIApp) -> None:
    whole = get(below, "/find/status")
    removed = get(below, "/status")
    assert whole.status_code == removed.status_code == 200
    assert links(whole.text) == links(removed.text)
    assert get(below, "/health").status_code == 200
    assert get(below, "/finder/status").status_code == 404


def test_the_path_without_a_slash_leads_to_the_home_page(below: ASGIApp) -> None:
    answer = get(below, "/find?q=apple")
    assert answer.is_redirect
    assert answer.headers["location"] == f"{ADDRESS}/find/?q=apple"
    assert get(below, "/find/status/").headers["location"] == f"{ADDRESS}/find/status"


def test_descriptions_have_the_path(below: ASGIApp, reported: ASGIApp) -> None:
    for site, start, headers in ((below, "/find", {}), (reported, "", {HEADER: "/find"})):
        searching = get(site, f"{start}/opensearch.xml", headers).text
        found = re.findall(r'template="([^"{]+)|>(http[^<]+)', searching)
        own = [link or image for link, image in found]
        assert len(own) == 5
        assert all(link.startswith(f"{ADDRESS}/find/") for link in own)
        api = get(site, f"{start}/api/v1/openapi.json", headers).json()
        assert api["servers"] == [{"url": "/find"}]


def test_errors_have_the_path(below: ASGIApp) -> None:
    for path in ("/find/none", "/find/static/none.css", "/find/page?url=x", "/none"):
        answer = get(below, path)
        assert answer.status_code == 404
        assert links(answer.text)
        assert all(link.startswith("/find/") for link in links(answer.text)), answer.text
    refused = get(below, "/find/none", {"host": "evil.example"})
    assert refused.status_code == 400
    assert all(link.startswith("/find/") for link in links(refused.text))
    told = get(below, "/find/api/v1/search")
    assert told.headers["content-type"] == "application/problem+json"
    assert "/find/api/v1/search?q=words" in told.json()["detail"]


def test_metrics_name_routes_without_the_path(below: ASGIApp) -> None:
    get(below, "/find/status")
    get(below, "/find/static/mark.svg")
    text = get(below, "/metrics").text
    assert 'route="/status"' in text
    assert 'route="/static"' in text
    assert "/find" not in text


def test_a_reused_response_is_that_of_the_same_path(work: Workspace) -> None:
    site = application(work, kept_s=60, forwarded_path=True)
    for path in ("/a", "/b", "/a"):
        shown = links(get(site, "/status", {HEADER: path}).text)
        assert all(link.startswith(f"{path}/") for link in shown)


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_invalid_path_is_ignored(reported: ASGIApp, attack: str) -> None:
    plain = get(reported, "/none").text
    assert get(reported, "/none", {HEADER: attack.encode()}).text == plain  # type: ignore[dict-item]


def test_two_paths_are_ignored() -> None:
    headers = [(HEADER.encode(), b"/a"), (HEADER.encode(), b"/b")]
    scope = {"type": "http", "client": (PROXY, 1), "path": "/", "headers": headers}
    seen = []

    async def inner(given: dict[str, str], *_: object) -> None:  # ASGI
        seen.append(given["root_path"])

    site = SitePath(inner, "/set", Clients((PROXY,)))  # type: ignore[arg-type]
    asyncio.run(site(scope, None, None))  # type: ignore[arg-type]
    assert seen == ["/set"]


def test_only_proxies_report_a_path_and_only_if_the_setting_says_so(work: Workspace) -> None:
    site = application(work, forwarded_path=True)
    plain = get(site, "/none").text
    for address in (STRANGER, "", "unix", "proxy.example"):
        assert get(site, "/none", {HEADER: "/evil"}, address).text == plain
    # A stranger behind the proxy is not taken for it, and does not become one.
    headers = {HEADER: "/evil", "x-forwarded-for": PROXY}
    assert get(site, "/none", headers, STRANGER).text == plain
    unaware = application(work)
    assert get(unaware, "/none", {HEADER: "/evil"}).text == plain


def test_a_reported_path_may_end_with_a_slash(reported: ASGIApp) -> None:
    assert 'href="/find/status"' in get(reported, "/none", {HEADER: "/find/"}).text
    assert 'href="/status"' in get(reported, "/none", {HEADER: "/"}).text


@given(st.text("/.~a-%\\\n?#:@ä", max_size=8))
def test_what_the_setting_accepts_is_a_path_of_the_same_site(path: str) -> None:
    try:
        msgspec.convert({"path": path}, ServeConfig)
    except msgspec.ValidationError:
        return
    link = urlsplit(urljoin(f"{ADDRESS}/x/y", f"{path}/z"))
    assert (link.netloc, link.path) == ("localhost", f"{path}/z")


def test_home_answers_like_search(below: ASGIApp) -> None:
    took = re.compile(r" in [\d.]+ ms")
    for query in ("q=apple", "q=apple&page=2", "q=apple+-b&sort=date"):
        home, results = (get(below, f"{path}?{query}").text for path in ("/", "/search"))
        assert took.sub("", home) == took.sub("", results)
        assert "<ol" in home
    assert "to search" in get(below, "/?q=").text


@pytest.mark.parametrize("root", ["", "/find"])
def test_crawlers_may_fetch_the_home_page_only(work: Workspace, root: str) -> None:
    answer = get(application(work, path=root), "/robots.txt")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    rules = parse_robots_txt(answer.content)
    allowed = ("/", "/static/gossamer.css", "/opensearch.xml")
    assert all(rules.allows("anybot", f"{ADDRESS}{root}{path}") for path in allowed)
    refused = ["/?q=apple", "/search?q=apple", "/api/v1/search?q=apple", "/page?url=x", "/status"]
    refused += ["/copy/raw?url=x", "/image?url=x", "/sections?domain=x", "/metrics", "/suggest?q=a"]
    assert not any(rules.allows("anybot", f"{ADDRESS}{root}{path}") for path in refused)
