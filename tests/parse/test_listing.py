from __future__ import annotations

import gzip
from datetime import UTC, datetime

import pytest

from gossamer.parse.page_parsing import parse_page
from gossamer.parse.parsed_page import Link, Page, ParsedPage, Rules
from tests.support.parse_corpus import ATOM, RSS, SITEMAP, SITEMAP_INDEX

URL = "https://example.org/dir/feed"
MAY = datetime(2024, 5, 1, tzinfo=UTC)


def parsed(body: bytes, mime: str = "", rules: Rules | None = None) -> ParsedPage:
    return parse_page(Page(URL, {"content-type": mime}, body), rules or Rules())


@pytest.mark.parametrize("mime", ["application/rss+xml", "text/xml", "text/html", ""])
def test_a_feed(mime: str) -> None:
    page = parsed(RSS, mime)
    assert (page.outcome, page.title, page.description) == ("listing", "News", "All of it")
    assert (page.text, page.language_hint) == (None, "de-AT")
    assert page.links == (
        Link("https://example.org/dir/1.html", "One", "entry", dated=MAY),
        Link("https://example.org/1.mp3", "One", "enclosure", dated=MAY),
        Link("https://example.org/", "News", "alternate"),
    )
    assert page.refused == {"no_url": 1}


def test_pages_of_a_feed_are_feeds() -> None:
    assert parsed(ATOM).links == (
        Link("https://example.org/e", "E", "entry", dated=MAY),
        Link("https://example.org/dir/feed?p=2", "", "feed", announced=True),
    )


@pytest.mark.parametrize(
    ("body", "mime"),
    [
        (SITEMAP, "text/xml"),
        (gzip.compress(SITEMAP, mtime=0), "application/x-gzip"),
        (gzip.compress(SITEMAP, mtime=0), "text/xml"),
    ],
)
def test_a_sitemap(body: bytes, mime: str) -> None:
    page = parsed(body, mime)
    assert (page.outcome, page.refused) == ("listing", {"no_url": 1})
    assert page.links == (
        Link("https://example.org/a", "", "entry", dated=MAY),
        Link("https://example.org/de", "", "alternate"),
        Link("https://example.org/a.jpg", "", "image"),
    )
    pages_alone = parsed(body, mime, Rules(media=False))
    assert [link.relation for link in pages_alone.links] == ["entry", "alternate"]


def test_an_index_of_sitemaps() -> None:
    link = Link("https://example.org/s.xml.gz", "", "sitemap", announced=True)
    assert parsed(SITEMAP_INDEX).links == (link,)


def test_a_text_of_urls_is_a_sitemap() -> None:
    page = parsed(
        b"\xef\xbb\xbfhttps://example.org/a\r\n\r\n https://example.org/b \n", "text/plain"
    )
    assert (page.outcome, page.charset) == ("listing", "utf-8")
    assert [link.dst for link in page.links] == ["https://example.org/a", "https://example.org/b"]
    for text in (b"https://example.org/a\nand words", b"see https://example.org/a", b" \n"):
        assert parsed(text, "text/plain").outcome != "listing"


def test_a_sitemap_has_more_links_than_a_page_may_have() -> None:
    body = b"\n".join(b"https://example.org/%d" % n for n in range(200))
    assert len(parsed(body, "text/plain", Rules(max_links=10)).links) == 200


@pytest.mark.parametrize(
    ("mime", "body", "text"),
    [
        ("application/rss+xml", b"<a>words</a>", "words"),
        ("application/rdf+xml", b"<rdf><a>words</a></rdf>", "words"),
        ("application/feed+json", b'{"a": "words"}', "words"),
    ],
)
def test_what_only_calls_itself_so_is_read_as_what_it_is(mime: str, body: bytes, text: str) -> None:
    page = parsed(body, mime)
    assert (page.outcome, page.text) == ("parsed", text)
