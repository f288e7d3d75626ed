"""A walk over all pages of a search server, along their links."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from gossamer.links import graph
from tests.support.small_index import put_index
from tests.support.stored_web import put_inlinks, put_pages, put_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx

    from gossamer.state.workspace import Workspace

HOME = "http://a.example/"
PAGES = {
    "",
    "search",
    "page",
    "sections",
    "status",
    "opensearch.xml",
    "api/v1/page",
    "api/v1/status",
}
"""Pages that a walk comes to."""
_LINKS = re.compile(r'\b(?:href|src|action)="([^"]*)"')


def put_one_of_each(work: Workspace) -> None:
    """Let a crawl have something for each kind of page."""
    put_index(work, [{"url": f"{HOME}{n}", "title": f"Apple {n}"} for n in range(30)])
    put_pages(work, {HOME: "fetched", f"{HOME}0": "unfetched"})
    put_inlinks(work, HOME, [("http://b.example/", "words")], 1)
    put_rows(work, "links", [{"src": HOME, "dst": f"{HOME}0", "anchor": "0", "relation": "a"}])
    put_rows(work, "responses", [{"url": HOME, "outcome": "ok"}])
    graph.run(work)
    counts = {"known": 20, "fetched": 12, "asked": 15, "changed": 3, "fit": 7}
    sections = [
        {"section": name, "domain": "a.example", "level": level, **counts}
        for level, name in enumerate(("a.example/", "a.example/news/"), 1)
    ]
    put_rows(work, "sections", sections)


def links(html: str) -> set[str]:
    """The links of a page into its own server, as they stand there."""
    found = {unescape(link) for link in _LINKS.findall(html)}
    return {link for link in found if not link.startswith(("http:", "https:", "#"))}


def walk(get: Callable[[str], httpx.Response], start: str) -> set[str]:
    """Follow the links from the home page at the path `start`, and return the paths.

    One page of each kind is asked for: those that differ in the values of parameters are alike.
    Fails if a link leads elsewhere than below `start`, or to nothing.
    """
    seen: set[str] = set()
    first = ["none/x", "", "search?q=site:a.example+nothing", "search?q=apple"]
    first += [f"page?url={HOME}", "sections?domain=a.example"]
    waiting = [f"{start}{path}" for path in first]
    while waiting:
        address = urlsplit(urljoin(f"http://site.test{start}", waiting.pop()))
        kind = f"{address.path}?{re.sub('=[^&]*', '', address.query)}"
        if kind in seen:
            continue
        seen.add(kind)
        asked = address._replace(scheme="", netloc="", fragment="").geturl()
        assert (address.netloc, address.path[: len(start)]) == ("site.test", start), asked
        answer = get(asked)
        expected = (404,) if "/copy" in asked or "/none" in asked else (200,)
        assert answer.status_code in expected, (asked, answer.text)
        assert "set-cookie" not in answer.headers
        if answer.headers["content-type"].startswith("text/html"):
            waiting += [urljoin(address.geturl(), link) for link in sorted(links(answer.text))]
    return {kind.partition("?")[0] for kind in seen}
