"""A small response of every kind that parsing reads, as a server sends it: seeds for fuzzers.

Each uses as much of its format as fits into a screen.
"""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from gossamer.parse.parsed_page import Page, Rules, SiteRule
from tests.support.binary_files import (
    DOCX,
    EPUB,
    ODT,
    PPTX,
    RTF,
    XLSX,
    docx,
    epub,
    exif,
    jpeg,
    odt,
    pdf,
    png,
    pptx,
    shown,
    xlsx,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

URL = "https://example.org/dir/page"
FETCHED = datetime(2026, 5, 1, tzinfo=UTC)

RULES = Rules(
    sites=(
        SiteRule(
            name="site",
            url="https://example.org/dir/*",
            title=("h2.title",),
            date=(".date", "time::attr(datetime)"),
            author=(".by li",),
            body=("div.text p",),
            drop=("aside",),
        ),
    )
)

CORE = (
    "<dc:title>The title</dc:title><dc:creator>Ann</dc:creator><dc:language>de-DE</dc:language>"
    "<dcterms:created>2024-05-06T07:08:09+02:00</dcterms:created>"
)
LINKED_PDF = pdf(
    shown("A Large Title", (50, 750), 30) + shown("See the site for more.") + shown("x", (50, 600)),
    page="/Annots [10 0 R]",
    extra=["<< /Subtype /Link /Rect [72 695 115 715] /A << /S /URI /URI (http://a.example/) >> >>"],
)
FILES = {
    "application/pdf": LINKED_PDF,
    DOCX: docx(
        "<w:p><w:pPr><w:pStyle w:val='berschrift1'/></w:pPr><w:t>Head</w:t></w:p>"
        "<w:p><w:t>text</w:t><w:hyperlink r:id='l'><w:t>link</w:t></w:hyperlink></w:p>",
        CORE,
        l="hyperlink https://example.org/d",
    ),
    PPTX: pptx(
        "<p:sp><p:ph type='title'/><a:p><a:t>one</a:t></a:p></p:sp><a:p><a:t>two</a:t></a:p>",
        l="hyperlink https://example.org/p",
    ),
    XLSX: xlsx(
        "<row><c t='s'><v>0</v></c><c t='inlineStr'><is><t>in</t></is></c><c><v>7</v></c></row>",
        "<si><t>zero</t><rPh><t>null</t></rPh></si>",
        "<hyperlinks><hyperlink ref='A1' r:id='l'/></hyperlinks>",
        l="hyperlink https://example.org/x",
    ),
    ODT: odt(
        "<text:h>Head</text:h><text:p>text<text:s/><text:a xlink:href='https://example.org/o'>a"
        "</text:a></text:p>",
        "<dc:title>T</dc:title><meta:document-statistic meta:page-count='3'/>",
    ),
    EPUB: epub(
        "<html><h1>One</h1><p>one &eacute; <a href='https://example.org/e'>two</a></p></html>",
        meta="<dc:title>Book</dc:title><dc:creator>Ann</dc:creator>",
    ),
    "application/rtf": RTF,
    "text/markdown": b"---\ntitle: T\ndate: 2024-05-06\n---\n# a\n[b](https://c.example/ 'd')"
    b" `e`\n\n- f\n\n| g | h |\n|---|---|\n| i | <j> |\n\n<details><summary>k</summary>\n\n*l*\n"
    b"</details>\n\n```\nm\n  n\n```\n",
    "application/json": b'{"title": "T", "author": [{"name": "Ann"}], "a": ["\\ud800", 1e999, null,'
    b' "https://example.org/j"]}',
    "application/geo+json": b'{"title": "T", "features": [{"name": "a"}]}',
    "text/xml": b"<?xml version='1.0'?><a><title>T</title>b<c d='https://example.org/'/>&amp;</a>",
    "image/jpeg": jpeg(exif(t010E="text", t013B="Ann", t9003="2024:05:06 07:08:09")),
    "image/png": png((b"iTXt", "Author\0\0\0de\0\0Änn".encode()), (b"zTXt", b"Title\0\0x")),
}
"""Of the types that `gossamer.parse.documents` reads."""

RSS = b"""<rss version="2.0"><channel><title>News</title><link>/</link><description>All of it
    </description><language>de-AT</language><item><title>One</title><link>1.html</link>
    <pubDate>Wed, 01 May 2024 00:00:00 GMT</pubDate><enclosure url="/1.mp3" type="audio/mpeg"/>
    </item><item><title>None</title></item></channel></rss>"""
ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom"><title>A</title><link rel="next" href="?p=2"/>
    <link rel="self" href="/self"/><link rel="hub" href="https://hub.example/"/>
    <entry><title>E</title><link href="/e"/><updated>2024-05-01T00:00:00Z</updated>
    </entry></feed>"""
RDF = b"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dc=
    "http://purl.org/dc/elements/1.1/" xmlns="http://purl.org/rss/1.0/"><channel><title>R</title>
    </channel><item rdf:about="https://example.org/r"><title>&lt;b&gt;r&lt;/b&gt;</title><dc:date>
    2024</dc:date><description><![CDATA[<p>text]]></description></item></rdf:RDF>"""
JSON_FEED = b"""{"version": "https://jsonfeed.org/version/1.1", "title": "J", "home_page_url": "/",
    "items": [{"url": "j", "title": "<b>one</b>", "date_published": "2024-05-01T00:00:00Z",
    "authors": [{"name": "Ann"}], "attachments": [{"url": "a.mp3", "size_in_bytes": 9}]}]}"""
SITEMAP = b"""<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
    xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"
    xmlns:xhtml="http://www.w3.org/1999/xhtml"><url><loc>https://example.org/a</loc>
    <lastmod>2024-05-01</lastmod><image:image><image:loc>https://example.org/a.jpg</image:loc>
    </image:image><xhtml:link rel="alternate" hreflang="de" href="https://example.org/de"/></url>
    <url><loc></loc></url></urlset>"""
SITEMAP_INDEX = b"""<sitemapindex><sitemap><loc>https://example.org/s.xml.gz</loc></sitemap>
    </sitemapindex>"""
ODD_LISTINGS = {
    "text/html; charset=us-ascii": b"Notice: x\n<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b "
    b"'c'>]>" + SITEMAP,
    "text/plain; charset=us-ascii": b"# all\nexample.org/1\n//www.example.org/2\n",
    "text/javascript": JSON_FEED.replace(b"version", b"x", 1)[:-3],
}
"""Listings only if they were announced."""
LISTINGS = {
    "application/rss+xml": RSS,
    "application/atom+xml": ATOM,
    "application/rdf+xml": RDF,
    "application/feed+json": JSON_FEED,
    "application/xml": SITEMAP,
    "application/x-gzip": gzip.compress(SITEMAP, mtime=0),
    "text/xml; charset=utf-8": SITEMAP_INDEX,
    "text/plain": b"https://example.org/1\nhttps://example.org/2\r\nhttp://[\n",
}

HTML = """<!doctype html><html lang=de-AT><head><meta charset=windows-1251><title>Заголовок | Сайт
</title><base href=/b/><meta name=description content="О чём страница"><meta name=robots
content="noarchive, unavailable_after: 25 Jun 2027 15:00:00 PST"><meta property=og:title
content=Заголовок><meta property=og:image content=/i.jpg><meta property=article:published_time
content=2024-05-01T10:00:00+02:00><meta http-equiv=refresh content="5; url='/there'"><link
rel=canonical href=/c><link rel="alternate" hreflang=en href=/en><link rel=alternate
type=application/atom+xml href=/feed><link rel=icon href=/i.ico><script type=application/ld+json>
{"@context": "https://schema.org", "@graph": [{"@type": "NewsArticle", "headline": "Заголовок",
"author": {"@id": "#a"}, "dateModified": "2024-05-02",}, {"@id": "#a", "name": "Анна \\ud83d"}]}
// -->
</script></head><body><nav class=menu><ul><li><a href=/1>one</a><li><a href="2?b=2&amp;a=1#x"
rel=nofollow>two</a></ul></nav><main itemscope itemtype=https://schema.org/Article><h1>Заголовок
</h1><time datetime=2024-05-01>1 May</time><p>Это первое предложение страницы, в которой достаточно
слов для текста. <a href=http://пример.испытание/>ссылка</a><p hidden>скрыто<p>Второй абзац, тоже с
достаточным числом слов, чтобы быть текстом.<br><br>И ещё один.<img src=p.jpg width=600 height=400
srcset="p1.jpg 1x, p2.jpg 2x" alt=Картинка><table><tr><td>cell<td><b>bold</table><svg><title>x
</title></svg><template><p>t</template><noscript><a href=/n>n</a></noscript><iframe src=/f>
</iframe><a rel=author href=/ann>Анна</a><abbr class=published title=2024-05-01>May</abbr></main>
<map><area href=/area alt=A></map><footer>&copy; 2024 &#0; &#xd800;</footer>"""
TITLED_HTML = "<title>日本語の題名</title><p>日本語の本文です。天気の話と山の話をします。"
PAGES = {
    "text/html": HTML.encode("cp1251", "xmlcharrefreplace"),
    "text/html; charset=shift_jis": TITLED_HTML.encode("cp932"),
    "text/html; charset=iso-2022-jp": TITLED_HTML.encode("iso2022-jp"),
    "text/html; charset=gb18030": TITLED_HTML.encode("gb18030"),
    "text/html; charset=koi8-r": b"\xff\xfe" + TITLED_HTML.encode("utf-16-le"),
    "application/xhtml+xml": b"<?xml version='1.0' encoding='koi8-r'?><!DOCTYPE html><html xmlns="
    b"'http://www.w3.org/1999/xhtml'><head><title>x</title></head><body><p>y<br/>z</p></body></html>",
    "application/xml; charset=utf-8": b"\xef\xbb\xbf<!DOCTYPE h:html [<!ENTITY a '&b;&b;'><!ENTITY "
    b"b '<h:i>c</h:i>'>]><h:html xmlns:h='http://www.w3.org/1999/xhtml' xml:lang='de'><h:head>"
    b"<h:script/><h:title/></h:head><h:body>"
    b"<h:p>&a;&nbsp;<![CDATA[<d>]]></h:p><h:a href='e' xml:base='/f/'/>"
    b"<svg xmlns='http://www.w3.org/2000/svg'><a xmlns:x='http://www.w3.org/1999/xlink' x:href='g'>"
    b"<text>h</text></a></svg><?i j?></h:body></h:html>",
    "text/csv": b'a;"b\nc"\r\n1;"2 ""3"""\r\n',
    "text/x-log": b"first\nsecond\n",
    "text/plain; charset=utf-16": "first\nsecond\0".encode("utf-16"),
}

HEADERS = {
    "x-robots-tag": "otherbot: noindex, gossamer: nofollow, unavailable_after: 1 Jan 2030",
    "content-language": "de, en",
    "x-content-type-options": "nosniff",
    "link": '</c>; rel="canonical"; title="a\\"b", <?p=2>;rel=next, <f>; rel=alternate; '
    'type="application/atom+xml", <de>; rel=alternate; hreflang=de; anchor="#x", <s>; rel=sitemap, '
    "<\xe4>; rel=prev",
    "refresh": "5; URL='/there,\xe4'",
    "announced": "1",
}
"""A header each, which pages have in turn. `announced` stands for `Page.announced`."""


def answers() -> Mapping[str, bytes]:
    """Responses with and without their type: headers as in HTTP/1.1, and the body."""
    bodies = PAGES | LISTINGS | FILES
    found = {
        mime: written({"content-type": mime, "announced": "1"}, body)
        for mime, body in ODD_LISTINGS.items()
    }
    for number, (mime, body) in enumerate(bodies.items()):
        more = list(HEADERS.items())[number % (len(HEADERS) + 1) :][:1]
        found[mime] = written({"content-type": mime, **dict(more)}, body)
        found[f"{mime}, not said"] = written({}, body)
    return found


def written(headers: Mapping[str, str], body: bytes) -> bytes:
    lines = [f"{name}: {value}\r\n" for name, value in headers.items()]
    return "".join(lines).encode("latin-1") + b"\r\n" + body


def read(answer: bytes) -> Page:
    """Read any bytes as a response: the head is what precedes the first empty line."""
    head, end, body = answer.partition(b"\r\n\r\n")
    if answer.startswith(b"\r\n") or not end:
        head, body = b"", answer.removeprefix(b"\r\n")
    lines = (line.partition(":") for line in head.decode("latin-1").split("\r\n"))
    headers = {name.lower(): value.strip() for name, _, value in lines}
    return Page(URL, headers, body, FETCHED, announced="announced" in headers)
