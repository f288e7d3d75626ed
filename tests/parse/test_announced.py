"""What its own site announced as a feed or sitemap is one, however it is served or begins.

Sources: sitemaps.org/protocol.html ("XML tag definitions", "Text file"), RFC 4287, RSS 1.0 and 2.0,
jsonfeed.org/version/1.1; and what servers make of them.
"""

from __future__ import annotations

import gzip
import json

import pytest

from gossamer.parse.listing.listing_page import MAX_JUNK_CHARS
from gossamer.parse.page_parsing import parse_page
from gossamer.parse.parsed_page import Page, ParsedPage, Rules
from tests.support.small_listings import INDEX, PAGES, RSS, URL, URLSET

ATOM = (
    '<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title><entry><link href="/1"/></entry>'
    '<entry><link href="/2"/></entry></feed>'
)
RDF = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">'
    '<item rdf:about="https://e.org/1"/><item rdf:about="https://e.org/2"/></rdf:RDF>'
)
ITEMS = [{"id": url, "url": url, "content_text": "words"} for url in PAGES]
JSON = json.dumps({"version": "https://jsonfeed.org/version/1.1", "title": "T", "items": ITEMS})
LINES = "".join(f"{url}\n" for url in PAGES)
BARE = LINES.replace("https://", "")
WARNING = "<br />\n<b>Warning</b>:  Undefined variable in <b>/srv/www/list.php</b><br />\n"
TYPES = [
    *("", "text/html", "text/plain", "text/xml", "application/xml", "application/octet-stream"),
    *("application/json", "text/javascript", "application/rss", "text/x-sitemap", "text/csv"),
    *("binary/octet-stream", "application/rss+xml", "application/atom+xml", "application/x-gzip"),
]


def parsed(body: str | bytes, kind: str, *, announced: bool = True) -> ParsedPage:
    raw = body.encode() if isinstance(body, str) else body
    return parse_page(Page(URL, {"content-type": kind}, raw, announced=announced), Rules())


def listed(body: str | bytes, kind: str) -> list[str]:
    page = parsed(body, kind)
    assert page.outcome == "listing", (kind, page.outcome, page.content_type)
    return [link.dst for link in page.links]


@pytest.mark.parametrize(
    "body",
    [
        *(URLSET, INDEX, RSS, ATOM, RDF, JSON, LINES),
        *(f"\ufeff\n{xml}" for xml in (URLSET, RSS)),
        *(f"{WARNING}<?xml version='1.0'?>{xml}" for xml in (URLSET, INDEX, RSS, ATOM, RDF)),
        *(f"Notice: Undefined index: q\n{xml}" for xml in (URLSET, RSS, ATOM)),
        *(f"HTTP/1.0 200 OK\r\nX: {'y' * 4_000}\r\n\r\n{xml}" for xml in (URLSET, RSS)),
        "0 <!DOCTYPE x [<!ENTITY h 'https://e.org'>]>" + URLSET.replace("https://e.org", "&h;"),
        "<s:" + URLSET.removeprefix("<").replace("xmlns=", "xmlns:s=")
        .replace("</", "</s:").replace("<url>", "<s:url>").replace("<loc", "<s:loc"),
        # a root that sitemaps.org does not know, and none
        URLSET.replace("urlset", "pages"),
        URLSET.removeprefix(URLSET[: URLSET.index("<url>")]).removesuffix("</urlset>"),
        # a text without schemes, with comments, with white space
        BARE, f"# maps\n\n\n{LINES}", f"www.e.org\n{BARE}", f"\t{BARE}".replace("\n", " \r\n"),
        json.dumps({"items": ITEMS}), json.dumps({"version": "1.1", "items": ITEMS}),
    ],
)  # fmt: skip
def test_listings_of_any_type_and_beginning(body: str) -> None:
    found = {kind: [url for url in listed(body, kind) if url in PAGES] for kind in TYPES}
    assert found == dict.fromkeys(TYPES, PAGES)


@pytest.mark.parametrize("body", [f"\n{WARNING}{RSS}", BARE, JSON.replace("jsonfeed", "")])
@pytest.mark.parametrize("encode", ["utf-16", "utf-8-sig", "gzip"])
def test_listings_in_any_encoding(body: str, encode: str) -> None:
    raw = gzip.compress(body.encode(), mtime=0) if encode == "gzip" else body.encode(encode)
    assert listed(raw, "text/html") == PAGES


@pytest.mark.parametrize(
    "body",
    [
        # what browsers show as a page, whatever it contains
        f"<!doctype html><title>RSS</title><pre>{RSS}</pre>",
        f"<html><body><p>How to list pages:</p>{URLSET}</body></html>",
        f"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><body>{ATOM}</body></html>",
        f"<HTML\n><BODY>{WARNING}{RSS}",
        f"<!-- made by hand -->\n<head><title>Maps</title></head>{URLSET}",
        "<!doctype html><title>Map of the site</title><a href=/1>One</a> <a href=/2>Two</a>",
        "<h1>Not found</h1><p>There is no such <b>page</b>.",
        # what lists nothing
        "There are no maps here.\nThe end.\n",
        "None. " + URLSET[: URLSET.index("<url>")] + "<!--none-->",
        '{"items": [{"title": "no URL"}], "about": "https://e.org/"}',
        '{"version": "https://e.org/api/1"}',
        # texts with some URLs, and with those of others
        f"See these pages:\n{LINES}or ask\nus for others.\n",
        "ads.example\ntracker.example\ne.org\nmore.example\n",
    ],
)  # fmt: skip
def test_no_link_makes_a_page_a_listing(body: str) -> None:
    for kind in ("text/html", "text/plain", "application/xml", "", "text/javascript"):
        page = parsed(body, kind)
        assert page == parsed(body, kind, announced=False)
        assert page.outcome != "listing", kind


@pytest.mark.parametrize("body", [BARE, f"{WARNING}{RSS}", JSON.replace("jsonfeed", "")])
def test_without_announcement_content_has_to_be_plain(body: str) -> None:
    assert parsed(body, "text/html", announced=False).outcome == "parsed"


def test_junk_is_bounded() -> None:
    fits = "x" * (MAX_JUNK_CHARS - 100)
    assert listed(f"{fits}{RSS}", "text/plain") == PAGES
    assert parsed(f"{fits * 2}{RSS}", "text/plain").outcome == "parsed"


@pytest.mark.parametrize(
    ("body", "kind", "title"),
    [
        (f"0\n{URLSET}", "application/x-sitemap+xml", None),
        (BARE, "application/x-sitemap+xml", None),
        (f"0\n{RSS}", "application/rss+xml", "T"),
        (f"0\n{ATOM}", "application/atom+xml", "T"),
        (JSON.replace("jsonfeed", ""), "application/feed+json", "T"),
    ],
)
def test_the_type_is_that_of_the_content(body: str, kind: str, title: str | None) -> None:
    page = parsed(body, "text/html")
    assert (page.content_type, page.title) == (kind, title)


@pytest.mark.parametrize("kind", ["application/feed+json", "application/json"])
def test_a_json_feed_that_is_cut_off(kind: str) -> None:
    """Items that came whole are kept, as those of XML are."""
    items = JSON.index("[")
    ends = [JSON.index("}", items), JSON.index("}", JSON.index("}", items) + 1)]
    for end in range(len(JSON)):
        page = parsed(JSON[:end], kind, announced=False)
        found = [link.dst for link in page.links] if page.outcome == "listing" else []
        assert found == PAGES[: sum(end > each for each in ends)], JSON[:end]


@pytest.mark.parametrize(
    ("feed", "pages"),
    [
        # the version comes after the items, and is lost
        (json.dumps({"items": ITEMS, "version": "https://jsonfeed.org/version/1"})[:-20], PAGES),
        (JSON.replace('"content', '"content": "a\nb\x01", "more', 1), PAGES),
        (JSON.replace("}, {", '}, {"x": broken}, {'), PAGES[:1]),
        (JSON.replace("}, {", "},, {"), PAGES[:1]),
    ],
)
def test_json_feeds_that_are_broken(feed: str, pages: list[str]) -> None:
    assert listed(feed, "application/feed+json") == pages


def test_broken_json_has_no_halves_of_characters() -> None:
    feed = JSON.replace('"T"', '"\\ud83d and"').replace("words", "\\udc00")[:-1]
    page = parsed(feed, "application/feed+json", announced=False)
    assert page.title == "and"
    page.title.encode()


def test_deep_json_ends() -> None:
    feed = JSON[:-2] + ', {"a": ' + "[" * 100_000
    assert listed(feed, "application/json") == PAGES
    assert parsed('{"a":' * 100_000, "application/json").outcome in ("parsed", "failed")
