"""Which answers are listings: by their content, whatever is declared, written or around it."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode

import pytest

from gossamer.parse.page_parsing import parse_page
from gossamer.parse.parsed_page import Page, ParsedPage, Rules
from gossamer.web.binary_data import HEADER_BYTES
from tests.support.small_listings import INDEX, PAGES, RSS, URL, URLSET

ATOM = (
    '<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="https://e.org/1"/></entry>'
    '<entry><link href="https://e.org/2"/></entry></feed>'
)
ITEM_ENTITIES = """<!DOCTYPE rss [
    <!ENTITY i "<item>"> <!ENTITY h 'https://&n;/'> <!ENTITY n "e.org">]>"""
LONG = f"<!-- {'long > words ' * HEADER_BYTES}-->"
TYPES = ["", "text/xml", "application/xml", "text/plain", "text/html", "application/octet-stream"]


def parsed(body: str | bytes, kind: str = "application/xml") -> ParsedPage:
    raw = body.encode() if isinstance(body, str) else body
    return parse_page(Page(URL, {"content-type": kind}, raw), Rules())


def listed(body: str | bytes, kind: str = "application/xml") -> list[str]:
    page = parsed(body, kind)
    assert page.outcome == "listing", page.outcome
    return [link.dst for link in page.links]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("xml", [URLSET, INDEX, RSS, ATOM])
@pytest.mark.parametrize(
    "prolog",
    [
        "",
        "\ufeff<?xml version='1.0'?>\n",
        "<?xml version='1.0'?><?xml-stylesheet href='a.xsl'?>" + LONG,
        LONG * 2 + "\n<!DOCTYPE x>",
        "<?xml version='1.0'?><!DOCTYPE x [<!-- ]> ' --><!ENTITY e ']>'>]>" + LONG,
    ],
)
def test_xml_by_its_root(xml: str, kind: str, prolog: str) -> None:
    assert listed(prolog + xml, kind) == PAGES


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("xml", [URLSET, RSS])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_xml_in_utf_16(xml: str, kind: str, encoding: str) -> None:
    assert (
        listed(f"<?xml version='1.0' encoding='UTF-16'?>{LONG}{xml}".encode(encoding), kind)
        == PAGES
    )


def test_xml_in_gzip() -> None:
    packed = gzip.compress((LONG + URLSET).encode("utf-16"), mtime=0)
    assert listed(packed, "application/gzip") == PAGES


@pytest.mark.parametrize(
    "xml",
    [
        URLSET.replace("urlset", "URLSET"),
        RSS.replace("rss", "RSS"),
        URLSET.replace("xmlns", "xmlns:s")
        .replace("</", "</s:")
        .replace("<u", "<s:u")
        .replace("<loc", "<s:loc"),
        # an unknown namespace, or none
        URLSET.replace("http://www.sitemaps.org/schemas/sitemap/0.9", "urn:wrong"),
        URLSET.replace('xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"', 'xmlns:s="urn:x"')
        .replace("</", "</s:")
        .replace("<u", "<s:u")
        .replace("<loc", "<s:loc"),
        RSS.replace("</", "</ü:")
        .replace("<r", "<ü:r")
        .replace("<c", "<ü:c")
        .replace("<i", "<ü:i")
        .replace("<l", "<ü:l")
        .replace("<t", "<ü:t"),
        ATOM.replace('xmlns="http://www.w3.org/2005/Atom"', 'xmlns:a="urn:x"')
        .replace("</", "</a:")
        .replace("<f", "<a:f")
        .replace("<e", "<a:e")
        .replace("<l", "<a:l"),
        # entities that the document declares
        '<!DOCTYPE urlset [<!ENTITY h "https://e.org">]>' + URLSET.replace("https://e.org", "&h;"),
        ITEM_ENTITIES + RSS.replace("<item>", "&i;").replace("https://e.org/", "&h;"),
    ],
)
def test_names_and_entities(xml: str) -> None:
    assert listed(xml, "text/xml") == PAGES


@pytest.mark.parametrize(
    "kind", ["application/json", "text/plain", "text/html", "", "application/feed+json"]
)
@pytest.mark.parametrize(
    "version", ["https://jsonfeed.org/version/1", "https://jsonfeed.org/version/1.1"]
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_json_feeds_in_any_order(kind: str, version: str, encoding: str) -> None:
    items = [{"id": "1", "content_text": "words " * HEADER_BYTES, "url": url} for url in PAGES]
    text = json.dumps({"items": items, "title": "T", "version": version}, indent=1)
    assert listed(text.encode(encoding), kind) == PAGES
    assert listed(text.replace("/", "\\/").encode(encoding), kind) == PAGES


def test_other_json_is_no_feed() -> None:
    assert parsed('{"about": "jsonfeed.org/version/1"}', "application/json").outcome == "parsed"
    assert parsed('{"a": "b"}', "text/html").outcome == "parsed"


@pytest.mark.parametrize(
    ("records", "found"),
    [
        (
            "<url><loc>/1</loc><lastmod>2024-01-01</lastmod><loc>/2</loc><lastmod>2024-02-02</url>",
            [("/1", 1), ("/2", 2)],
        ),
        (
            "<url><loc>/1</loc><loc>/2</loc><lastmod>2024-02-02</lastmod></url>",
            [("/1", 2), ("/2", 2)],
        ),
        ("<url><loc>/1</loc><url><loc>/2</loc></url>", [("/1", None), ("/2", None)]),
        ("<url><loc>/1</loc></url><url><loc>/2</loc><lastm", [("/1", None), ("/2", None)]),
        ("<url><loc>/1</loc></url><url><loc>https://e.org/half-of-a-na", [("/1", None)]),
        ("<url><loc>/1<lastmod>2024-01-01</lastmod></url><url><loc>/2</loc></url>", None),
    ],
)
def test_broken_records(records: str, found: list[tuple[str, int | None]] | None) -> None:
    page = parsed(f"<urlset>{records}")
    links = [
        (link.dst.removeprefix("https://e.org"), link.dated and link.dated.month)
        for link in page.links
    ]
    if found is None:
        assert links[-1] == ("/2", None)
    else:
        assert links == found


@pytest.mark.parametrize(
    "lines",
    [
        "\ufeffhttps://e.org/1\r\nhttps://e.org/2\r\n",
        "e.org/1\nhttps://e.org/2",
        "\n\n//e.org/1\nhttps://e.org/2",
        "https://e.org/1\nE.org/2\n",
    ],
)
def test_text_sitemaps(lines: str) -> None:
    assert listed(lines, "text/plain") == PAGES


@pytest.mark.parametrize(
    "lines", ["e.org/1", "words\nhttps://e.org/2", "other.org\nhttps://e.org/2"]
)
def test_other_texts(lines: str) -> None:
    assert parsed(lines, "text/plain").outcome == "parsed"


@pytest.mark.parametrize("mode", ["base64", "BASE64"])
@pytest.mark.parametrize("attributes", ["", "type='text/plain'", "type='text/html'", "type='text'"])
def test_titles_in_base64(mode: str, attributes: str) -> None:
    title = b64encode("Grüße &amp; mehr".encode()).decode()
    feed = ATOM.replace(
        "<link", f"<title mode='{mode}' {attributes}>\n{title[:8]}\n{title[8:]}</title><link"
    )
    assert parsed(feed).links[0].anchor in ("Grüße & mehr", "Grüße &amp; mehr")


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("=?UTF-8?B?R3LDvMOfZQ==?= to all", "Grüße to all"),
        ("=?iso-8859-1?q?Gr=FC=DFe?=", "Grüße"),
        ("=?UTF-8?B?R3LD?= =?UTF-8?B?vMOfZQ==?=", "Grüße"),
        ("=?x-none?B?R3LD?=", "=?x-none?B?R3LD?="),
    ],
)
def test_titles_in_encoded_words(title: str, text: str) -> None:
    assert parsed(RSS.replace("<item>", f"<item><title>{title}</title>")).links[0].anchor == text
