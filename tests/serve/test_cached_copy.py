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
    from collections.abc import Callable, Iterable, Iterator

    import httpx

    from gossamer.state.workspace import Workspace

pytestmark = pytest.mark.server

PAGE = "<title>Rösti</title><p>Gerührt, nicht geschüttelt, wie es sich für Kartoffeln gehört."
HEADERS = ((b"Set-Cookie", b"a=b"), (b"Link", b"</x>; rel=preload"), (b"Refresh", b"0;url=/"))
CHARSETS = ("utf-8", "utf-16-le", "iso-8859-1", "utf-8-sig")
NEUTRALISED = {
    "<LINK rel=preconnect><link/rel=x><linker>": "<meta rel=preconnect><meta/rel=x><linker>",
    "<iframe src=x><Set to=x><settle>": "<meta src=x><meta to=x><settle>",
    "<a HREF\n='/b' href=c>in a href=d": "<a &#72;REF\n='/b' &#104;ref=c>in a &#104;ref=d",
    "<a title='x'href=#top xlink:href = '#b'>": "<a title='x'href=#top xlink:href = '#b'>",
    "<a title=''href='/b' xlink:href=#>": "<a title=''&#104;ref='/b' xlink:href=#>",
}
TAGS = ("<link rel=x>", "<a href='/b'>", "<a href =\n'#b'>", "<frame>>")
TEXTS = {
    "text/plain": b"<a>1 &lt; 2</a>",
    "application/json": b'{"a": "<script>alert(1)</script>"}',
    "text/markdown": b"<a>1 &lt; 2</a>",
    "text/xml": b"<a>1 &lt; 2</a>",
}
FILES = {
    "image/svg+xml": b'<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>',
    "application/octet-stream": bytes(range(256)),
    "application/x-shockwave-flash": b"CWS\5" + bytes(60),
}
FORBIDDEN = {
    "noarchive": '<meta name="robots" content="noarchive">',
    "unavailable_after": '<meta name="robots" content="unavailable_after: 2020-01-01">',
}


def html_in(charset: str) -> Fetched:
    label = charset.removesuffix("-le").removesuffix("-sig")
    mark = "\ufeff" if charset == "utf-16-le" else ""
    kind = f"text/html; charset={label}"
    return Fetched(HOME + charset, (mark + PAGE).encode(charset), content_type=kind)


def numbered(kind: str, bodies: Iterable[str]) -> list[Fetched]:
    texts = (f"<p>text of this page{body}" for body in bodies)
    return [Fetched(f"{HOME}{kind}/{n}", text.encode()) for n, text in enumerate(texts)]


@pytest.fixture(scope="module")
def client(new_work: Callable[[], Workspace]) -> Iterator[httpx.Client]:
    """The server of a crawl with the pages of all tests that change nothing."""
    work = new_work()
    files = TEXTS | FILES
    fetched = [
        Fetched(HOME, PAGE.encode()),
        Fetched(HOME + "headers", PAGE.encode(), headers=HEADERS),
        Fetched(HOME + "excluded", PAGE.encode()),
        *map(html_in, CHARSETS),
        *numbered("neutralised", NEUTRALISED),
        *numbered("large", (50 * tag for tag in TAGS)),
        *(Fetched(HOME + kind, body, content_type=kind) for kind, body in files.items()),
        *(Fetched(HOME + why, (head + PAGE).encode()) for why, head in FORBIDDEN.items()),
    ]
    store_and_parse(work, fetched)
    put_pages(work, {HOME + "excluded": "excluded"})
    with serving(work) as opened:
        yield opened


def raw(client: httpx.Client, url: str = HOME) -> httpx.Response:
    return client.get("/copy/raw", params={"url": url})


def test_a_copy_shows_its_date_and_address(client: httpx.Client) -> None:
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


def test_a_copy_has_no_rights(client: httpx.Client) -> None:
    answer = raw(client, HOME + "headers")
    assert answer.status_code == 200
    assert answer.headers["content-security-policy"] == stored_copy.POLICY
    directives = dict.fromkeys(part.strip() for part in stored_copy.POLICY.split(";"))
    assert {"sandbox", "default-src 'none'", "form-action 'none'"} <= set(directives)
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert not {"set-cookie", "link", "refresh"} & set(answer.headers)


@pytest.mark.parametrize("charset", CHARSETS)
def test_a_copy_is_sent_as_utf_8_whatever_its_encoding_was(
    client: httpx.Client, charset: str
) -> None:
    assert raw(client, HOME + charset).text == PAGE + stored_copy.REACHABLE


@pytest.mark.parametrize("number", range(len(NEUTRALISED)))
def test_elements_that_would_connect_to_a_host_are_neutralised(
    client: httpx.Client, number: int
) -> None:
    sent = f"<p>text of this page{list(NEUTRALISED.values())[number]}"
    assert raw(client, f"{HOME}neutralised/{number}").text == sent + stored_copy.REACHABLE


@pytest.mark.parametrize("number", range(len(TAGS)))
def test_large_copies_are_rewritten_the_same_in_pieces(
    client: httpx.Client, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{HOME}large/{number}"
    whole = raw(client, url)
    assert whole.status_code == 200
    for chars in (1, 2, 3, 5, 8, 13, 21, 34, 55, 89):
        monkeypatch.setattr(stored_copy, "PIECE_CHARS", chars)
        assert raw(client, url).text == whole.text


@pytest.mark.parametrize("kind", TEXTS)
def test_other_texts_are_shown_as_text(client: httpx.Client, kind: str) -> None:
    answer = raw(client, HOME + kind)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.content == TEXTS[kind]


@pytest.mark.parametrize("kind", FILES)
def test_a_file_that_is_not_text_can_only_be_saved(client: httpx.Client, kind: str) -> None:
    answer = raw(client, HOME + kind)
    if answer.status_code == 200 and answer.headers["content-type"].startswith("text/"):
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        return
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"] == "attachment"
    assert answer.headers["content-security-policy"] == stored_copy.POLICY
    assert answer.content == FILES[kind]
    page = dom(client, "/copy", url=HOME + kind)
    assert not page.css("iframe")
    assert "Save the file" in one(page, "main").text()


@pytest.mark.parametrize("why", FORBIDDEN)
def test_a_page_that_forbids_copies_has_none(client: httpx.Client, why: str) -> None:
    for path in ("/copy", "/copy/raw"):
        answer = client.get(path, params={"url": HOME + why})
        assert answer.status_code == 403
        assert why in answer.text.replace(HOME + why, "")
        assert "Kartoffeln" not in answer.text


def test_a_page_that_robots_txt_excludes_now_has_no_copy(client: httpx.Client) -> None:
    assert raw(client, HOME + "excluded").status_code == 403


def test_a_copy_that_is_too_large_is_not_shown(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_copy, "MAX_COPY_BYTES", 50)
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


def test_no_file_that_the_crawl_does_not_name_is_read(work: Workspace) -> None:
    files = ["../outside.warc.gz", "gossamer.toml", "/etc/passwd"]
    urls = [f"{HOME}{number}" for number in range(len(files))]
    store_and_parse(work, [Fetched(url, PAGE.encode()) for url in urls])
    work.store.commit(StepReport("test", 1, 0, 0.0), replace={"responses": []})
    row = {"outcome": "ok", "round": 1, "truncated": False, "body_bytes": 9, "warc_offset": 0}
    found = zip(urls, files, strict=True)
    put_rows(work, "responses", [row | {"url": url, "warc_file": file} for url, file in found])
    with serving(work) as client:
        for url in urls:
            answer = raw(client, url)
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
