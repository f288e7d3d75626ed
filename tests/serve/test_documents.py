"""Pages as Markdown and JSON over HTTP, and the llms.txt of a site."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gossamer.api.documents import CrawlDocuments
from gossamer.errors import UsageError
from gossamer.serve import documents as serve_documents
from tests.support.search_server import serving
from tests.support.stored_rounds import HOME, Fetched
from tests.support.stored_web import put_pages, put_rows, store_and_parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import httpx

    from gossamer.state.workspace import Workspace

pytestmark = pytest.mark.server

PROSE = "This is a sentence of prose, long enough that it counts as one of an article's paragraphs."
PAGE = (
    f"<title>A page</title><h1>A page</h1><p>{PROSE}<h2 id=more>More</h2>"
    f'<p><a href="x">{PROSE}</a> and {PROSE}'
)
MARKDOWN = f"# A page\n\n{PROSE}\n\n## More\n\n[{PROSE}]({HOME}x) and {PROSE}"
REFUSED = {
    "noindex": '<meta name="robots" content="noindex">',
    "noarchive": '<meta name="robots" content="noarchive">',
    "nosnippet": '<meta name="robots" content="nosnippet">',
    "expired": '<meta name="robots" content="unavailable_after: 2020-01-01">',
}


@pytest.fixture(scope="module")
def work(new_work: Callable[[], Workspace]) -> Workspace:
    opened = new_work()
    fetched = [
        Fetched(HOME, PAGE.encode()),
        Fetched(HOME + "text", b"# one\n\ntwo", content_type="text/plain"),
        Fetched(HOME + "excluded", PAGE.encode()),
        Fetched(HOME + "header", PAGE.encode(), headers=((b"X-Robots-Tag", b"noindex"),)),
        Fetched(HOME + "empty", b"<p>"),
        *(Fetched(HOME + why, (head + PAGE).encode()) for why, head in REFUSED.items()),
    ]
    store_and_parse(opened, fetched)
    put_pages(opened, {HOME + "excluded": "excluded"})
    put_rows(
        opened,
        "dispositions",
        [
            {"url": page.url, "round": 1, "disposition": "indexed", "copy_count": 0}
            for page in fetched
        ],
    )
    return opened


@pytest.fixture(scope="module")
def client(work: Workspace) -> Iterator[httpx.Client]:
    with serving(work) as opened:
        yield opened


def document(client: httpx.Client, url: str = HOME, **given: Any) -> httpx.Response:
    headers = given.pop("headers", {})
    return client.get("/api/v1/document", params={"url": url, **given}, headers=headers)


def test_a_page_is_sent_as_markdown(client: httpx.Client) -> None:
    answer = document(client, format="markdown")
    assert answer.text == MARKDOWN
    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    assert answer.headers["x-robots-tag"] == "noindex"
    assert "sandbox" in answer.headers["content-security-policy"]


def test_a_page_is_sent_as_json_with_its_passages_and_provenance(client: httpx.Client) -> None:
    found = document(client).json()
    assert found["markdown"] == MARKDOWN
    assert [(each["path"], each["fragment"]) for each in found["passages"]] == [
        (["A page"], ""),
        (["A page", "More"], "more"),
    ]
    assert found["provenance"]["warc_file"].startswith("warc/")
    assert found["provenance"]["digest"]


def test_other_formats_are_sent_by_their_text(client: httpx.Client) -> None:
    assert document(client, HOME + "text", format="markdown").text == "\\# one\n\ntwo"


@pytest.mark.parametrize("why", [*REFUSED, "excluded", "header", "empty"])
def test_pages_that_must_not_be_shown_are_refused(client: httpx.Client, why: str) -> None:
    answer = document(client, HOME + why)
    assert answer.status_code == 403
    assert answer.headers["content-type"] == "application/problem+json"
    assert PROSE not in answer.text


def test_what_the_crawl_lacks_is_not_found(client: httpx.Client) -> None:
    assert document(client, HOME + "unknown").status_code == 404
    assert client.get("/api/v1/document").status_code == 400
    assert document(client, format="pdf").status_code == 400


def test_a_client_that_has_a_document_gets_no_second_one(client: httpx.Client) -> None:
    tag = document(client).headers["etag"]
    again = document(client, headers={"If-None-Match": f'"other", {tag}'})
    assert again.status_code == 304
    assert not again.content
    assert again.headers["etag"].removeprefix("W/") == tag.removeprefix("W/")
    assert document(client, headers={"If-None-Match": '"other"'}).status_code == 200
    assert document(client, format="markdown", headers={"If-None-Match": tag}).status_code == 200


def test_the_api_reads_the_same(work: Workspace) -> None:
    documents = CrawlDocuments(work)
    assert documents.read(HOME).markdown == MARKDOWN
    with pytest.raises(UsageError, match="noarchive"):
        documents.read(HOME + "noarchive")
    with pytest.raises(UsageError, match="not a URL"):
        documents.read("no url")


def test_an_llms_txt_lists_the_pages_that_may_be_shown(work: Workspace) -> None:
    documents = CrawlDocuments(work)
    lines = "".join(documents.llms_txt("example.org")).splitlines()
    assert lines[0] == "# example.org"
    assert [line for line in lines if line.startswith("- ")] == [
        f"- [A page]({HOME})",
        f"- [{HOME}text]({HOME}text)",
    ]
    assert MARKDOWN in "".join(documents.llms_txt("example.org", full=True))
    assert not list(documents.all("example.net"))


def test_an_llms_txt_is_made_without_parsing(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(serve_documents, "standing_parser")
    documents = CrawlDocuments(work)
    assert "A page" in "".join(documents.llms_txt("example.org"))
    with pytest.raises(NameError):
        "".join(documents.llms_txt("example.org", full=True))
