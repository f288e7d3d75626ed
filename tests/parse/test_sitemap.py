"""Sources: sitemaps.org/protocol.html, and Google's pages on its extensions."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.listing import sitemap
from gossamer.parse.listing.sitemap import (
    MAX_BYTES,
    MAX_PARTS,
    MAX_URL_CHARS,
    News,
    Sitemap,
    SitemapEntry,
    Video,
    parse_sitemap,
)
from gossamer.parse.reading.gzipped import gunzip

NAMESPACES = (
    'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    ' xmlns:xhtml="http://www.w3.org/1999/xhtml"'
    ' xmlns:i="http://www.google.com/schemas/sitemap-image/1.1"'
    ' xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"'
    ' xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
)
DAY = datetime(2024, 5, 1, tzinfo=UTC)
ONE = SitemapEntry(url="http://a.example/1")


def urlset(content: str) -> bytes:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {NAMESPACES}>{content}</urlset>'.encode()
    )


def only_entry(content: str) -> SitemapEntry:
    sitemap = parse_sitemap(urlset(f"<url>{content}</url>"))
    assert sitemap is not None
    assert not sitemap.refused
    (entry,) = sitemap.entries
    return entry


def test_url_and_date_of_an_entry() -> None:
    entry = only_entry("""
        <loc> http://a.example/?a=1&amp;b=%C3%BC </loc>
        <lastmod>2024-05-01T12:00:00+12:00</lastmod>
        <changefreq>Monthly</changefreq>
        <priority>0.8</priority>""")
    assert entry == SitemapEntry(url="http://a.example/?a=1&b=%C3%BC", lastmod=DAY)


def test_an_index() -> None:
    body = b"""<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
        <sitemap><loc>http://a.example/1.xml.gz</loc><lastmod>2024-05</lastmod></sitemap>
        <sitemap><loc>http://a.example/2.xml.gz</loc></sitemap></sitemapindex>"""
    assert parse_sitemap(body) == Sitemap(
        kind="index",
        entries=(
            SitemapEntry(url="http://a.example/1.xml.gz", lastmod=DAY),
            SitemapEntry(url="http://a.example/2.xml.gz"),
        ),
    )


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2024-05-01", DAY),
        *((text, None) for text in ("", "yesterday", "0000-00-00", "2024-02-30")),
    ],
)
def test_dates_that_hold_and_that_do_not(text: str, date: datetime | None) -> None:
    entry = only_entry(f"<lastmod>{text}</lastmod><loc>http://a.example/1</loc>")
    assert entry.lastmod == date


def test_images_videos_news_and_languages() -> None:
    entry = only_entry("""<loc>http://a.example/1</loc>
        <i:image><i:loc>http://a.example/1.png</i:loc><i:title>T</i:title></i:image>
        <i:image><i:loc>2.png</i:loc></i:image><i:image/>
        <video:video>
          <video:thumbnail_loc>http://a.example/t.png</video:thumbnail_loc>
          <video:title>Knots &amp; <![CDATA[<ropes>]]></video:title>
          <video:description>How
            to tie them</video:description>
          <video:content_loc>http://a.example/v.mp4</video:content_loc>
          <video:player_loc>http://a.example/p?v=1</video:player_loc>
          <video:publication_date>2024-05-01</video:publication_date>
        </video:video>
        <news:news>
          <news:publication><news:name>The Knot</news:name><news:language>en</news:language>
          </news:publication>
          <news:publication_date>2024-05-01T00:00:00Z</news:publication_date>
          <news:title>A new knot</news:title>
        </news:news>
        <xhtml:link rel="alternate" hreflang="de-CH" href="http://a.example/de"/>
        <xhtml:link rel="alternate" hreflang="x-default" href="http://a.example/"/>
        <xhtml:link rel="amphtml" hreflang="en" href="http://a.example/amp"/>
        <xhtml:link rel="alternate" hreflang="fr"/>""")
    assert entry.images == ("http://a.example/1.png", "2.png")
    assert entry.videos == (
        Video(
            title="Knots & <ropes>",
            content="http://a.example/v.mp4",
            player="http://a.example/p?v=1",
            published=DAY,
        ),
    )
    assert entry.news == News(title="A new knot", published=DAY)
    assert entry.alternates == ("http://a.example/de", "http://a.example/")


def test_an_entry_without_a_url_or_with_too_long_a_one_is_counted() -> None:
    long = "http://a.example/".ljust(MAX_URL_CHARS + 1, "a")
    content = (
        f"<url><lastmod>2024</lastmod></url><url><loc/></url><url/><url><loc>{long}</loc></url>"
        f"<url><loc>{long[:-1]}</loc></url>"
    )
    sitemap = parse_sitemap(urlset(content))
    assert sitemap is not None
    assert [entry.url for entry in sitemap.entries] == [long[:-1]]
    assert sitemap.refused == {"no_url": 3, "url_too_long": 1}


def test_entries_and_their_parts_are_bounded() -> None:
    entry = (
        f"<url><loc>http://a.example/1</loc>{'<i:image><i:loc>i</i:loc></i:image>' * 1_001}</url>"
    )
    sitemap = parse_sitemap(urlset(entry * 3), max_entries=2)
    assert sitemap is not None
    assert [len(entry.images) for entry in sitemap.entries] == [MAX_PARTS] * 2
    assert sitemap.refused == {"too_many": 1}


@pytest.mark.parametrize(
    "body",
    [
        b"<urlset><url><loc>http://a.example/1</loc></url></urlset>",
        b"\n\n<?xml version='1.0'?><urlset><url><loc>http://a.example/1</loc></url>",
        b"\xef\xbb\xbf<!-- made --><urlset xmlns='http://nobody.example/'><url><loc>http://a.example/1",
        (
            b"<s:urlset xmlns:s='https://www.sitemaps.org/schemas/sitemap/0.9/'>"
            b"<s:url><s:loc>http://a.example/1</s:loc></s:url></s:urlset>"
        ),
        b"<urlset><url><loc><![CDATA[\nhttp://a.example/1 ]]></loc></url></urlset>",
        b"<urlset><URL><Loc>http://a.example/1</loc></url></urlset>",
        "<urlset><url><loc>http://a.example/1</loc></url></urlset>".encode("utf-16"),
        b"<rss><channel><item><link>http://a.example/1</link></item></channel></rss>",
        b"http://a.example/1\n",
        b"\xef\xbb\xbfhttp://a.example/1\r\n\r\n",
    ],
)
def test_other_formats_and_broken_ones(body: bytes) -> None:
    if body.endswith(b"/1"):  # cut in the middle of the URL
        assert parse_sitemap(body) == Sitemap(kind="urlset", refused={"no_url": 1})
        return
    expected = Sitemap(kind="urlset", entries=(ONE,))
    assert parse_sitemap(body) == expected
    assert parse_sitemap(gzip.compress(body)) == expected


@pytest.mark.parametrize(
    "content",
    [
        "<sitemap>http://a.example/1.xml</sitemap> <sitemap>\n http://a.example/2.xml</sitemap>",
        "<sitemap><![CDATA[http://a.example/1.xml]]><sitemap>http://a.example/2.xml",
        "<url>http://a.example/1.xml</url><url>http://a.example/2.xml</url>",
        "<sitemap>http://a.example/1.xml<lastmod/></sitemap><loc>http://a.example/2.xml</loc>",
        "<sitemap><url>http://a.example/1.xml</url><url>http://a.example/2.xml</url></sitemap>",
        "<loc>http://a.example/1.xml</loc><loc> http://a.example/2.xml </loc>",
        "http://a.example/1.xml\r\n\r\n http://a.example/2.xml\r\n",
        "<!-- all --> http://a.example/1.xml <br/> http://a.example/2.xml",
        "<![CDATA[http://a.example/1.xml\nhttp://a.example/2.xml]]>",
    ],
)
def test_a_sitemap_index_with_bare_urls(content: str) -> None:
    sitemap = parse_sitemap(f"<sitemapindex>{content}</sitemapindex>".encode())
    assert sitemap is not None
    assert sitemap.kind == "index"
    assert [entry.url for entry in sitemap.entries] == [
        "http://a.example/1.xml",
        "http://a.example/2.xml",
    ]


def test_a_sitemap_with_bare_urls() -> None:
    sitemap = parse_sitemap(b"<urlset><url>http://a.example/1</url><url>words</url></urlset>")
    assert sitemap == Sitemap(kind="urlset", entries=(ONE,), refused={"no_url": 1})
    escaped = parse_sitemap(b"<urlset>http://a.example/?a=1&amp;b=2 and words /3</urlset>")
    assert escaped == Sitemap(
        kind="urlset", entries=(SitemapEntry(url="http://a.example/?a=1&b=2"),)
    )


def test_bare_urls_of_a_feed_are_not_a_sitemap() -> None:
    image = b"<image><url>http://a.example/logo.png</url></image>"
    item = b"<item><link>http://a.example/1</link></item>"
    sitemap = parse_sitemap(b"<rss><channel>" + image + item + b"</channel></rss>")
    assert sitemap == Sitemap(kind="urlset", entries=(ONE,))
    assert parse_sitemap(b"<x>" + image + b"</x>") is None


def test_bare_urls_are_bounded() -> None:
    body = b"<sitemapindex>" + b"http://a.example/1\n" * 3 + b"</sitemapindex>"
    sitemap = parse_sitemap(body, max_entries=2)
    assert sitemap is not None
    assert (len(sitemap.entries), sitemap.refused) == (2, {"too_many": 1})


def test_a_feed_as_a_sitemap_has_dates() -> None:
    body = b"""<feed xmlns="http://www.w3.org/2005/Atom">
        <entry><link href="http://a.example/1"/><published>2023-01-01</published>
        <updated>2024-05-01</updated></entry><entry><title>none</title></entry></feed>"""
    sitemap = parse_sitemap(body)
    assert sitemap is not None
    assert sitemap.entries == (SitemapEntry(url="http://a.example/1", lastmod=DAY),)


def test_a_text_with_lines_that_are_no_urls() -> None:
    sitemap = parse_sitemap(b"http://a.example/1\nwords of prose\nHTTPS://a.example/2\n/3\n")
    assert sitemap is not None
    assert [entry.url for entry in sitemap.entries] == ["http://a.example/1", "HTTPS://a.example/2"]
    assert sitemap.refused == {"no_url": 2}


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b" ", b"prose", b"prose\nhttp://a.example/1", b"{}", b"<", b"<html><p>x</p></html>"),
        *(
            b"\x1f\x8b",
            b"\x1f\x8b\x08junk",
            gzip.compress(b"prose", mtime=0),
            b"<rss2><url/></rss2>",
            b"\0",
        ),
        b"<html><url><b>no loc</b></url></html>",
    ],
)
def test_what_is_no_sitemap(body: bytes) -> None:
    assert parse_sitemap(body) is None


def test_a_sitemap_without_entries_is_one() -> None:
    assert parse_sitemap(b"<urlset/>") == Sitemap(kind="urlset")
    assert parse_sitemap(b"<sitemapindex></sitemapindex>") == Sitemap(kind="index")


def test_gzip_is_bounded_and_read_as_far_as_it_goes() -> None:
    text = b"http://a.example/1\n" * 1_000
    packed = gzip.compress(text)
    assert gunzip(packed, MAX_BYTES) == text
    assert gunzip(packed + packed + b"junk", MAX_BYTES) == text * 2
    assert gunzip(packed, 100) == text[:100]
    assert gunzip(packed + packed, len(text) + 1) == text + text[:1]
    assert text.startswith(gunzip(packed[:-20], MAX_BYTES))
    assert gunzip(packed[:5], MAX_BYTES) == b""
    assert gunzip(b"no gzip", MAX_BYTES) == b""


def test_a_bomb_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemap, "MAX_BYTES", 1 << 20)
    entries = [f"<url><loc>http://a.example/{number}</loc></url>" for number in (1, 2)]
    body = urlset((" " * (2 << 20)).join(entries))
    bomb = gzip.compress(body)
    assert len(bomb) < 10_000
    for sent in (body, bomb):
        found = parse_sitemap(sent)
        assert found is not None
        assert found.entries == (ONE,)


PIECES = st.sampled_from(
    [
        *(b"<urlset>", b"<sitemapindex>", b"<url>", b"</url>", b"<sitemap>", b"<loc>", b"</loc>"),
        *(
            b"http://a.example/",
            b"\n",
            b"<image:image>",
            b"<image:loc>",
            b"<video:video>",
            b"<rss>",
        ),
        *(
            b"<news:news>",
            b"<news:publication/>",
            b"<xhtml:link hreflang=a href=b>",
            b"<item>",
            b"{",
        ),
        *(
            b"<lastmod>2024</lastmod>",
            b"<priority>1</priority>",
            b"<link>x</link>",
            b"\x1f\x8b\x08",
        ),
        *(b"<!DOCTYPE a [", b"]>", b"<![CDATA[", b"]]>", b"&", b"\0", b"\xff", b"<", b">"),
    ]
)


@given(
    st.one_of(st.binary(), st.lists(PIECES).map(b"".join)), st.sampled_from([None, "utf-16", "?"])
)
def test_no_bytes_raise(body: bytes, declared: str | None) -> None:
    for packed in (body, gzip.compress(body), gzip.compress(body)[:-9]):
        sitemap = parse_sitemap(packed, declared, max_entries=3)
        assert sitemap is None or len(sitemap.entries) <= 3
