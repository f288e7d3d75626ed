"""What the crawl knows about a page, from rows of its datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gossamer.search.page_info import (
    MAX_COUNTED,
    MAX_REDIRECTS,
    Inlinks,
    KnownPage,
    LinkIn,
    LinkOut,
    Outlinks,
    PageInfo,
)
from gossamer.state.lookup import Lookup
from tests.support.small_index import crawl
from tests.support.stored_web import put_inlinks, put_rows

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.state.workspace import Workspace

URL = "http://a.example/"
DOCUMENT = {
    "url": URL,
    "round": 1,
    "outcome": "ok",
    "description": "about it",
    **dict.fromkeys(("truncated", "noindex", "nofollow", "noarchive", "nosnippet"), False),
}
NO_LINKS = Inlinks(0, 0, 0, [])


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    return crawl(tmp_path)


def info(work: Workspace) -> PageInfo:
    return PageInfo(work, Lookup(work))


def described(work: Workspace, offset: int = 0, limit: int = 10) -> KnownPage:
    found = info(work).describe(URL, offset, limit, copy=False)
    assert found is not None
    return found


def put_visit(work: Workspace, round_: int, outcome: str, **columns: Any) -> None:
    """A round in which the page answered, with a link to a page named for the round."""
    visit = {"url": URL, "round": round_, "outcome": outcome, "body_bytes": 1, "warc_file": "w"}
    put_rows(work, "responses", [{**visit, "warc_offset": round_, **columns}])
    put_rows(work, "links", [{"src": URL, "dst": f"{URL}{round_}", "round": round_}])
    if outcome == "ok":
        put_rows(work, "documents", [DOCUMENT | {"round": round_, "title": f"title {round_}"}])


def test_a_page_that_the_crawl_does_not_hold(work: Workspace) -> None:
    put_rows(work, "pages", [{"url": f"{URL}other"}])
    assert info(work).describe(URL, 0, 10, copy=True) is None
    assert info(work).linking(URL) == []
    assert info(work).visit(URL)["outcome"] is None
    assert info(work).capture(URL) is None


def test_a_page_that_was_not_fetched_yet(work: Workspace) -> None:
    put_rows(work, "pages", [{"url": URL, "depth": 3}])
    found = described(work)
    assert (found.url, found.status, found.depth) == (URL, "unfetched", 3)
    assert (found.outcome, found.http_status, found.title, found.rank) == (None, None, None, None)
    assert (found.truncated, found.noindex, found.nofollow, found.noarchive) == (False,) * 4
    assert (found.inlinks, found.outlinks) == (NO_LINKS, Outlinks(0, []))


def test_a_page_is_as_it_was_when_it_last_answered(work: Workspace) -> None:
    put_rows(work, "pages", [{"url": URL, "status": "fetched"}])
    put_rows(work, "ranks", [{"url": URL, "rank": 0.25}])
    put_visit(work, 1, "ok", http_status=200)
    put_visit(work, 2, "ok", http_status=200)
    put_visit(work, 3, "server_error", http_status=503)
    found = described(work)
    assert (found.outcome, found.http_status) == ("server_error", 503)  # of the last fetch
    assert (found.title, found.description, found.rank) == ("title 2", "about it", 0.25)
    assert [link.dst for link in found.outlinks.links] == [f"{URL}2"]
    capture = info(work).capture(URL)
    assert capture is not None
    assert (capture.response["warc_offset"], (capture.document or {})["title"]) == (2, "title 2")


def test_a_redirect_is_an_answer_without_a_document(work: Workspace) -> None:
    put_rows(work, "pages", [{"url": URL, "status": "redirected"}])
    put_visit(work, 1, "ok")
    put_visit(work, 2, "redirect", redirect_url=f"{URL}2")
    found = described(work)
    assert (found.redirect_url, found.title) == (f"{URL}2", "title 1")
    assert [link.dst for link in found.outlinks.links] == [f"{URL}2"]


def test_a_body_that_was_not_parsed_has_no_document(work: Workspace) -> None:
    put_rows(work, "pages", [{"url": URL, "status": "fetched"}])
    put_visit(work, 1, "ok")
    put_rows(work, "responses", [{"url": URL, "round": 2, "outcome": "ok"}])
    capture = info(work).capture(URL)
    assert capture is not None
    assert (capture.response["round"], capture.document) == (2, None)
    assert described(work).title is None


@pytest.mark.parametrize(("nosnippet", "description"), [(True, None), (False, "about it")])
def test_a_page_without_snippets_is_not_described(
    work: Workspace, nosnippet: bool, description: str | None
) -> None:
    put_rows(work, "pages", [{"url": URL}])
    put_rows(work, "responses", [{"url": URL, "round": 1, "outcome": "ok"}])
    put_rows(work, "documents", [DOCUMENT | {"nosnippet": nosnippet}])
    assert described(work).description == description


def test_links_are_shown_from_an_offset_on(work: Workspace) -> None:
    put_rows(work, "pages", [{"url": URL}])
    put_rows(work, "responses", [{"url": URL, "round": 1, "outcome": "ok"}])
    links = [{"src": URL, "dst": f"{URL}{number}", "anchor": "a"} for number in range(5)]
    put_rows(work, "links", links)
    put_inlinks(work, URL, [(f"{URL}{number}", "in") for number in range(4)], 9)
    found = described(work, 1, 2)
    assert found.outlinks == Outlinks(
        5, [LinkOut(f"{URL}{number}", "a", "a", nofollow=False) for number in (1, 2)]
    )
    assert found.inlinks == Inlinks(9, 4, 0, [LinkIn(f"{URL}{number}", "in") for number in (1, 2)])
    assert info(work).linking(URL) == [f"{URL}{number}" for number in range(4)]


def test_links_to_copies_and_older_versions_count_for_the_page(work: Workspace) -> None:
    put_rows(work, "pages", [{"url": URL}])
    copies = [{"url": f"{URL}{number}", "reason": "text"} for number in range(MAX_COUNTED - 1)]
    versions = [{"url": f"{URL}{number}.0/", "reason": "version"} for number in (1, 2)]
    counts = {"copy_count": len(copies) + 2, "version_count": 2}
    standing = {"url": URL, "disposition": "indexed", "copies": [*copies, *versions]}
    put_rows(work, "dispositions", [{**standing, **counts}])
    for page in (*copies, *versions):
        put_inlinks(work, page["url"], [], 10)
    assert described(work).inlinks.to_copies == 10 * MAX_COUNTED


def test_pages_that_redirect_here_when_they_last_answered(work: Workspace) -> None:
    def put_answer(name: str, outcome: str, to: str | None = None) -> None:
        put_rows(
            work,
            "responses",
            [{"url": f"{URL}{name}", "outcome": outcome, "redirect_url": to}],
        )

    put_answer("moved", "redirect", URL)
    put_answer("moved", "redirect", URL)
    put_answer("moved", "timeout")  # which says nothing new
    put_answer("moved-on", "redirect", URL)
    put_answer("moved-on", "redirect", f"{URL}there")
    put_answer("back", "redirect", URL)
    put_answer("back", "ok")
    assert info(work).redirects(URL) == [f"{URL}moved"]
    for number in range(MAX_REDIRECTS + 1):
        put_answer(f"{number}", "redirect", URL)
    assert len(info(work).redirects(URL)) == MAX_REDIRECTS
