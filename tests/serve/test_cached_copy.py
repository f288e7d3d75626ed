"""Stored copies of pages over HTTP. tests/browser shows what browsers do with them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gossamer.serve import stored_copy
from gossamer.storage.store import StepReport
from tests.support.search_server import dom, one, serving
from tests.support.stored_rounds import HOME, Fetched, archive_of, store_round
from tests.support.stored_web import put_pages, put_rows, store_and_parse

if TYPE_CHECKING:
    import httpx

    from gossamer.state.workspace import Workspace

pytestmark = pytest.mark.server

PAGE = "<title>Rösti</title><p>Gerührt, nicht geschüttelt, wie es sich für Kartoffeln gehört."


def raw(client: httpx.Client, url: str = HOME) -> httpx.Response:
    return client.get("/copy/raw", params={"url": url})


def test_a_copy_shows_its_date_and_address(work: Workspace) -> None:
    store_and_parse(work, [Fetched(HOME, PAGE.encode())])
    with serving(work) as client:
        page = dom(client, "/copy", url=HOME)
        assert one(page, ".copy time").text() == "2023-11-14 22:13:20"
        assert one(page, ".copy a").attributes["href"] == HOME
        frame = one(page, "iframe")
        assert frame.attributes["sandbox"] == ""
        shown = client.get(str(frame.attributes["src"]))
        assert shown.text == PAGE + stored_copy.REACHABLE
        policy = client.get("/copy", params={"url": HOME}).headers["content-security-policy"]
        assert "frame-src 'self'" in policy
        assert "unsafe" not in policy


def test_a_copy_has_no_rights(work: Workspace) -> None:
    headers = ((b"Set-Cookie", b"a=b"), (b"Link", b"</x>; rel=preload"), (b"Refresh", b"0;url=/"))
    store_and_parse(work, [Fetched(HOME, PAGE.encode(), headers=headers)])
    with serving(work) as client:
        answer = raw(client)
        assert answer.headers["content-security-policy"] == stored_copy.POLICY
        directives = dict.fromkeys(part.strip() for part in stored_copy.POLICY.split(";"))
        assert {"sandbox", "default-src 'none'", "form-action 'none'"} <= set(directives)
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert not {"set-cookie", "link", "refresh"} & set(answer.headers)


@pytest.mark.parametrize("charset", ["utf-8", "utf-16-le", "iso-8859-1", "utf-8-sig"])
def test_a_copy_is_sent_as_utf_8_whatever_its_encoding_was(work: Workspace, charset: str) -> None:
    label = charset.removesuffix("-le").removesuffix("-sig")
    mark = "\ufeff" if charset == "utf-16-le" else ""
    body = (mark + PAGE).encode(charset)
    kind = f"text/html; charset={label}"
    store_and_parse(work, [Fetched(HOME, body, content_type=kind)])
    with serving(work) as client:
        assert raw(client).text == PAGE + stored_copy.REACHABLE


@pytest.mark.parametrize(
    ("body", "sent"),
    [
        ("<LINK rel=preconnect><link/rel=x><linker>", "<meta rel=preconnect><meta/rel=x><linker>"),
        ("<iframe src=x><Set to=x><settle>", "<meta src=x><meta to=x><settle>"),
        ("<a HREF\n='/b' href=c>in a href=d", "<a &#72;REF\n='/b' &#104;ref=c>in a &#104;ref=d"),
        ("<a title='x'href=#top xlink:href = '#b'>", "<a title='x'href=#top xlink:href = '#b'>"),
        ("<a title=''href='/b' xlink:href=#>", "<a title=''&#104;ref='/b' xlink:href=#>"),
    ],
)
def test_elements_that_would_connect_to_a_host_are_neutralised(
    work: Workspace, body: str, sent: str
) -> None:
    store_and_parse(work, [Fetched(HOME, b"<p>text of this page" + body.encode())])
    with serving(work) as client:
        assert raw(client).text == "<p>text of this page" + sent + stored_copy.REACHABLE


@pytest.mark.parametrize("tag", ["<link rel=x>", "<a href='/b'>", "<a href =\n'#b'>", "<frame>>"])
def test_large_copies_are_rewritten_the_same_in_pieces(
    work: Workspace, tag: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_and_parse(work, [Fetched(HOME, b"<p>text of this page" + 50 * tag.encode())])
    with serving(work) as client:
        whole = raw(client).text
        for chars in (1, 2, 3, 5, 8, 13, 21, 34, 55, 89):
            monkeypatch.setattr(stored_copy, "PIECE_CHARS", chars)
            assert raw(client).text == whole


@pytest.mark.parametrize("kind", ["text/plain", "application/json", "text/markdown", "text/xml"])
def test_other_texts_are_shown_as_text(work: Workspace, kind: str) -> None:
    body = b'{"a": "<script>alert(1)</script>"}' if "json" in kind else b"<a>1 &lt; 2</a>"
    store_and_parse(work, [Fetched(HOME, body, content_type=kind)])
    with serving(work) as client:
        answer = raw(client)
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        assert answer.content == body


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("image/svg+xml", b'<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>'),
        ("application/octet-stream", bytes(range(256))),
        ("application/x-shockwave-flash", b"CWS\5" + bytes(60)),
    ],
)
def test_a_file_that_is_not_text_can_only_be_saved(work: Workspace, kind: str, body: bytes) -> None:
    store_and_parse(work, [Fetched(HOME, body, content_type=kind)])
    with serving(work) as client:
        answer = raw(client)
        if answer.status_code == 200 and answer.headers["content-type"].startswith("text/"):
            assert answer.headers["content-type"] == "text/plain; charset=utf-8"
            return
        assert answer.headers["content-type"] == "application/octet-stream"
        assert answer.headers["content-disposition"] == "attachment"
        assert answer.headers["content-security-policy"] == stored_copy.POLICY
        assert answer.content == body
        page = dom(client, "/copy", url=HOME)
        assert not page.css("iframe")
        assert "Save the file" in one(page, "main").text()


@pytest.mark.parametrize(
    ("head", "why"),
    [
        ('<meta name="robots" content="noarchive">', "noarchive"),
        ('<meta name="robots" content="unavailable_after: 2020-01-01">', "unavailable_after"),
    ],
)
def test_a_page_that_forbids_copies_has_none(work: Workspace, head: str, why: str) -> None:
    store_and_parse(work, [Fetched(HOME, (head + PAGE).encode())])
    with serving(work) as client:
        for path in ("/copy", "/copy/raw"):
            answer = client.get(path, params={"url": HOME})
            assert answer.status_code == 403
            assert why in answer.text
            assert "Kartoffeln" not in answer.text


def test_a_page_that_robots_txt_excludes_now_has_no_copy(work: Workspace) -> None:
    store_and_parse(work, [Fetched(HOME, PAGE.encode())])
    put_pages(work, {HOME: "excluded"})
    with serving(work) as client:
        assert raw(client).status_code == 403


def test_the_last_body_is_shown_while_the_page_is_gone(work: Workspace) -> None:
    store_and_parse(work, [Fetched(HOME, b"old" + PAGE.encode())])
    store_and_parse(work, [Fetched(HOME, PAGE.encode())], 2)
    store_round(work, [Fetched(HOME, outcome="not_found")], round_=3)
    with serving(work) as client:
        assert raw(client).text == PAGE + stored_copy.REACHABLE


def test_only_pages_of_the_crawl_have_copies(work: Workspace) -> None:
    store_round(work, [Fetched(HOME + "unparsed", PAGE.encode())])
    put_pages(work, {HOME: "unfetched", HOME + "unparsed": "fetched"})
    with serving(work) as client:
        for url in (HOME, HOME + "unparsed", "https://b.example/"):
            assert raw(client, url).status_code == 404
        for url in ("file:///etc/passwd", "../../etc/passwd", "javascript:alert(1)"):
            assert raw(client, url).status_code == 404
        assert raw(client, "").status_code == 400


def test_a_copy_that_is_too_large_is_not_shown(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_and_parse(work, [Fetched(HOME, PAGE.encode())])
    monkeypatch.setattr(stored_copy, "MAX_COPY_BYTES", 50)
    with serving(work) as client:
        assert raw(client).status_code == 403


@pytest.mark.parametrize("file", ["../outside.warc.gz", "gossamer.toml", "/etc/passwd"])
def test_no_file_that_the_crawl_does_not_name_is_read(work: Workspace, file: str) -> None:
    store_and_parse(work, [Fetched(HOME, PAGE.encode())])
    row = {"url": HOME, "outcome": "ok", "round": 1, "truncated": False, "body_bytes": 9}
    work.store.commit(StepReport("test", 1, 0, 0.0), replace={"responses": []})
    put_rows(work, "responses", [{**row, "warc_file": file, "warc_offset": 0}])
    with serving(work) as client:
        answer = raw(client)
        assert answer.status_code == 503
        assert "does not name" in answer.text


@pytest.mark.folder
def test_a_damaged_or_missing_archive_is_a_503(work: Workspace) -> None:
    store_and_parse(work, [Fetched(HOME, PAGE.encode())])
    with serving(work) as client:
        archive = Path(archive_of(work))
        archive.write_bytes(archive.read_bytes()[:300])
        assert raw(client).status_code == 503
        archive.unlink()
        assert raw(client).status_code == 503
