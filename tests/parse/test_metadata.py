from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from gossamer.parse.html.head_metadata import MAX_ALTERNATES, META_NAMES, HeadMetadata, is_picture
from gossamer.parse.html.page_dates import page_dates, url_date
from gossamer.parse.html.page_metadata import MAX_AUTHORS, Metadata, metadata
from gossamer.parse.html.schema_org import Nodes
from gossamer.parse.html.walk import findings
from gossamer.parse.parsed_page import Rules

URL = "https://example.org/page"
MAY = datetime(2024, 5, 1, tzinfo=UTC)
JUNE = datetime(2024, 6, 1, tzinfo=UTC)


def said(html: str, url: str = URL, **more: Any) -> Metadata:
    return metadata(collected(html), url, **more)


def collected(html: str) -> HeadMetadata:
    tree = LexborHTMLParser(html, scripting=True)
    found = findings(tree, Rules()).head_metadata
    found.add_microdata(tree)
    return found


def meta(**contents: str) -> str:
    """Return meta elements; two underscores in a name stand for a colon."""
    named = {name.replace("__", ":"): content for name, content in contents.items()}
    return "".join(f'<meta name="{name}" content="{named[name]}">' for name in named)


def jsonld(**properties: object) -> str:
    thing = json.dumps({"@type": "NewsArticle", **properties})
    return f'<script type="application/ld+json">{thing}</script>'


def test_a_page_that_says_all() -> None:
    page = said(
        "<title>T - Site</title>"
        + jsonld(headline="T", author={"name": "Ann"}, datePublished="2024-05-01T10:00:00+02:00")
        + meta(description="D", og__site_name="Site", og__type="article", og__locale="de_AT")
        + meta(og__image="/a.jpg", og__updated_time="2024-06-01")
        + """<link rel=canonical href=/c>
        <link rel="shortcut icon" href=/f.ico>
        <link rel=alternate hreflang=en href=/en><link rel=alternate hreflang=x-default href=/x>
        <link rel=alternate type="application/json" href=/wp-json>"""
    )
    assert page == Metadata(
        headline="T",
        description="D",
        authors=("Ann",),
        published=datetime(2024, 5, 1, 8, tzinfo=UTC),
        modified=JUNE,
        image="/a.jpg",
        site_name="Site",
        page_type="article",
        locale="de-AT",
        canonical="/c",
        alternates=(("en", "/en"), ("x-default", "/x")),
        icon="/f.ico",
    )
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(page), type=Metadata) == page


def test_a_page_that_says_nothing() -> None:
    assert said("<p>text") == Metadata()
    assert said("") == Metadata()


def test_of_several_sources_the_most_trusted_one_counts() -> None:
    things = {"@type": "Article", "@id": URL, "headline": "by json", "description": "by json"}
    things |= {"author": "Jay Son", "image": "https://example.org/json.png"}
    script = f'<script type="application/ld+json">{json.dumps(things)}</script>'
    named = meta(description="by meta", author="Mae Tar", og__image="https://example.org/meta.png")
    both = said(script + named)
    assert (both.headline, both.description) == ("by json", "by meta")
    assert (both.authors, both.image) == (("Jay Son",), "https://example.org/meta.png")
    alone = said(script)
    assert (alone.description, alone.image) == ("by json", "https://example.org/json.png")
    assert said(meta(dc__description="by abstract") + script).description == "by json"
    assert said(meta(dc__description="by abstract")).description == "by abstract"
    assert said(named).authors == ("Mae Tar",)


@pytest.mark.parametrize(
    ("html", "headline"),
    [
        (meta(og__title=" A\n b ") + jsonld(headline="C"), "A b"),
        (meta(og__title="A b | Site") + jsonld(headline="A  b"), "A b"),
        (meta(og__title="A b | Site") + jsonld(name="A b", headline="a remark"), "A b"),
        (meta(og__title="A b cd") + jsonld(headline="A b"), "A b cd"),
        (meta(og__title="A b") + jsonld(name="Site"), "A b"),
        (jsonld(headline="a remark", name="The title"), "The title"),
        (jsonld(headline="C", name="D"), "C"),
        (jsonld(name="D"), "D"),
        (meta(twitter__title="T", og__title="O"), "O"),
        ('<meta property="dc:title og:title" content=O>', "O"),
        ('<meta name="DC.title" content=D>', "D"),
        (jsonld(**{"@type": "WebPage", "name": "page"}), None),
        (meta(og__title=" "), None),
    ],
)
def test_headline(html: str, headline: str | None) -> None:
    assert said(html, title="The title – Encyclopaedia").headline == headline


@pytest.mark.parametrize(
    ("html", "authors"),
    [
        (meta(author="Ann") + jsonld(author="Bob"), ("Bob",)),
        (meta(author="By Ann Lee"), ("Ann Lee",)),
        (meta(author="Written by: Ann"), ("Ann",)),
        (meta(author="Byron"), ("Byron",)),
        (meta(author="von Neumann"), ("von Neumann",)),
        (
            2 * meta(citation_author="Lee, Ann") + meta(citation_author="Ray, Bob"),
            ("Lee, Ann", "Ray, Bob"),
        ),
        (meta(author="admin") + "<a rel='author nofollow' href=/>Ann\n Lee</a>", ("Ann Lee",)),
        (meta(article__author="https://example.org/ann", dc__creator="Ann"), ("Ann",)),
        (meta(author="@ann"), ()),
        (meta(author="By Ann Lee, Bob Ray and Eve Fox"), ("Ann Lee", "Bob Ray", "Eve Fox")),
        (meta(author="Ann Lee, Senior Science Correspondent"), ("Ann Lee",)),
        (meta(author="Ana Lee y Bea Ray"), ("Ana Lee", "Bea Ray")),
        (meta(author="José Ortega y Gasset"), ("José Ortega y Gasset",)),
        (meta(author="Анна Ли и Боб Рей"), ("Анна Ли", "Боб Рей")),
        (meta(author="山田太郎、鈴木花子"), ("山田太郎", "鈴木花子")),
        (jsonld(author="Ann Lee; Bob Ray"), ("Ann Lee", "Bob Ray")),
        (meta(author="--"), ()),
        (meta(author="x" * 101), ()),
        (jsonld(author=[f"A{n}" for n in range(40)]), tuple(f"A{n}" for n in range(MAX_AUTHORS))),
    ],
)
def test_authors(html: str, authors: tuple[str, ...]) -> None:
    assert said(html).authors == authors


TIME = "<time datetime=2024-05-01>May 1</time>"
FAR = "<p>text</p>" * 200


@pytest.mark.parametrize(
    ("html", "published"),
    [
        (jsonld(datePublished="2024-05-01") + meta(date="2023-01-01"), MAY),
        (jsonld(datePublished="soon") + meta(date="2024-05-01"), MAY),
        (meta(article__published_time="2024-05-01T00:00:00Z", date="2023-01-01"), MAY),
        ('<meta name="DC.date.issued" content="2024-05-01">', MAY),
        ('<meta name="parsely-pub-date" content="2024-05-01T00:00Z">', MAY),
        ("<span itemprop=datePublished content=2024-05-01></span>", MAY),
        (f"<h1>H</h1>{TIME}", MAY),
        (f"{TIME}<h1>H</h1>", MAY),
        ("<h1>H</h1><time>1 May 2024</time>", MAY),
        ("<h1>H</h1><abbr class='x published' title=2024-05-01>May</abbr>", MAY),
        ("<h1>H</h1><abbr title=2024-05-01>May</abbr>", None),
        (f"<h1>H</h1><time datetime=2024-04-01 class=Updated></time>{TIME}", MAY),
        (f"<h1>H</h1>{TIME}<p>text</p><time datetime=2024-04-01></time>", MAY),
        (f"<h1>H</h1>{FAR}{TIME}", None),
        (f"{TIME}{FAR}<h1>H</h1>", None),
        (TIME, None),
        ("<time pubdate datetime=2024-05-01></time>", MAY),
        (
            "<time pubdate datetime=2024-05-01></time><time pubdate datetime=2024-05-02></time>",
            None,
        ),
        (jsonld(dateCreated="2024-05-01"), MAY),
        (jsonld(datePublished="2099-01-01"), None),
        (jsonld(datePublished="2099-01-01") + meta(date="2024-05-01"), MAY),
    ],
)
def test_published(html: str, published: datetime | None) -> None:
    assert said(html, fetched=JUNE).published == published


@pytest.mark.parametrize(
    ("html", "modified"),
    [
        (jsonld(dateModified="2024-06-01") + meta(og__updated_time="2024-05-20"), JUNE),
        ('<meta http-equiv=last-modified content="Sat, 01 Jun 2024 00:00:00 GMT">', JUNE),
        ("<h1>H</h1><time class='entry-updated updated' datetime=2024-06-01></time>", JUNE),
        ("<h1>H</h1><time itemprop=dateModified datetime=2024-06-01></time>", JUNE),
        ("<h1>H</h1><time class='published updated' datetime=2024-06-01></time>", None),
        (jsonld(datePublished="2024-06-02", dateModified="2024-06-01"), None),
        (jsonld(datePublished="2024-06-01", dateModified="2024-06-01"), JUNE),
    ],
)
def test_modified(html: str, modified: datetime | None) -> None:
    assert said(html).modified == modified


@pytest.mark.parametrize(
    ("path", "date"),
    [
        ("/2024/05/01/title.html", MAY),
        ("/2024/5/1", MAY),
        ("/2024/may/01/title", MAY),
        ("/news/2024-05-01-title", MAY),
        ("/title_2024_05_01.html", MAY),
        ("/20240501/title", MAY),
        ("/2023/13/01/x/2024/05/01/", MAY),
        ("/2024/05/10-things", None),
        ("/2024/05/title", None),
        ("/2024-05", None),
        ("/120240501", None),
        ("/202405011", None),
        ("/2024/02/30/x", None),
        ("/1989/05/01/x", None),
        ("/2024/07/01/x", None),
        ("/?d=/2024/05/01/", None),
        ("/#/2024/05/01/", None),
    ],
)
def test_dates_in_urls(path: str, date: datetime | None) -> None:
    assert url_date(f"https://example.org{path}", JUNE) == date


def test_the_urls_date_comes_last_and_may_be_the_canonical_ones() -> None:
    assert said("", "https://example.org/2024/05/01/x").published == MAY
    assert said("<link rel=canonical href=/2024/05/01/x>").published == MAY
    assert said(meta(date="2024-06-01"), "https://example.org/2024/05/01/x").published == JUNE


@pytest.mark.parametrize(
    ("html", "image"),
    [
        (meta(og__image="/o.jpg", twitter__image="/t.jpg"), "/o.jpg"),
        (meta(og__image=" /site-logo.png ", twitter__image="/t.jpg"), "/t.jpg"),
        (jsonld(image={"url": "/j.jpg"}), "/j.jpg"),
        (jsonld(image={"url": "data:image/png;base64,AAAA"}), None),
        ("<link rel=image_src href=/l.jpg>", "/l.jpg"),
        ("<img src=/s.jpg width=40 height=40><img src=/b.jpg width=640 height='480px'>", "/b.jpg"),
        ("<img src=/banner.jpg width=900 height=200>", None),
        ("<img src=/b.jpg width=100% height=auto><img src=/c.jpg>", None),
        ("<img src=data:x data-src=/lazy.jpg width=640.5 height=480>", "/lazy.jpg"),
    ],
)
def test_image(html: str, image: str | None) -> None:
    assert said(html).image == image


@pytest.mark.parametrize(
    ("address", "picture"),
    [
        ("/a.jpg", True),
        ("/catalogo.jpg", True),
        ("/logos/a.jpg", True),
        ("/pixelated-art.jpg", True),
        ("/logo.png", False),
        ("/Logo@2x.png", False),
        ("/siteLogo.png?v=/a.jpg", False),
        ("/site_logo_big.png", False),
        ("/sprite.png", False),
        ("/1x1.gif", False),
        ("/a.svg#x", False),
        ("DATA:image/gif;base64,x", False),
    ],
)
def test_pictures(address: str, picture: bool) -> None:
    assert is_picture(address) is picture


@pytest.mark.parametrize(
    ("html", "kind"),
    [
        (meta(og__type="website"), "website"),
        (meta(og__type="website") + jsonld(), "article"),
        (meta(og__type="Video.Other"), "video"),
        (meta(og__type="og:product"), "product"),
        (meta(og__type="a b"), None),
        (jsonld(**{"@type": "VideoObject"}), "video"),
        (jsonld(**{"@type": "Organization"}), None),
    ],
)
def test_page_type(html: str, kind: str | None) -> None:
    assert said(html).page_type == kind


@pytest.mark.parametrize(
    ("html", "name"),
    [
        (meta(og__site_name="https://example.org", application_name="x"), None),
        ('<meta name="application-name" content="App">', "App"),
        (jsonld(publisher={"name": "P"}), "P"),
        (jsonld(**{"@type": "WebSite", "name": "S"}) + jsonld(publisher="P"), "S"),
    ],
)
def test_site_name(html: str, name: str | None) -> None:
    assert said(html).site_name == name


@pytest.mark.parametrize(
    ("tag", "locale"), [("en_US", "en-US"), ("zh-Hant", "zh-Hant"), ("!", None), ("x" * 36, None)]
)
def test_locale(tag: str, locale: str | None) -> None:
    assert said(meta(og__locale=tag)).locale == locale


def test_icons_of_phones_are_second() -> None:
    touch = "<link rel=apple-touch-icon href=/touch>"
    assert said(touch).icon == "/touch"
    assert said(touch + "<link rel=icon href=/icon><link rel=icon href=/icon2>").icon == "/icon"


def test_an_alternate_is_for_a_language() -> None:
    html = "<link rel=alternate hreflang={} href=/x>"
    languages = ("pt_BR", "' de '", "'a b'", "x" * 40, "é", "''")
    found = said("".join(map(html.format, languages))).alternates
    assert found == (("pt-BR", "/x"), ("de", "/x"))


def test_lists_have_an_end() -> None:
    page = said("<link rel=alternate hreflang=en href=/x>" * 1_000)
    assert len(page.alternates) == MAX_ALTERNATES


@pytest.mark.parametrize(
    "html",
    [
        meta(author="x" * 1_000_000, date="2" * 1_000_000, og__image="/" * 1_000_000),
        meta(author="By " * 300_000),
        "<h1>" * 10_000 + "<time pubdate>x</time>" * 10_000,
        meta(robots="unavailable_after: 1, " * 50_000),
        jsonld(author=["<" * 10_000] * 50, image=["&" * 10_000] * 50),
        f"<link rel=canonical href=/{'2024/01/' * 100_000}>",
        "<meta name=date content=2024-13-45>" * 50_000,
    ],
    ids=lambda html: html[:20],
)
def test_hostile_pages_cost_little(html: str) -> None:
    found = collected(html)
    start = time.process_time()
    metadata(found, URL)
    assert time.process_time() - start < 1


WORDS = st.sampled_from(
    [
        *sorted(META_NAMES),
        "robots",
        "gossamer",
        "refresh",
        "canonical",
        "alternate",
        "icon",
        "author",
    ]
) | st.text(max_size=12)
VALUES = WORDS | st.sampled_from(
    ["2024-05-01", "noindex", "/a.jpg", "application/rss+xml", "application/ld+json", "Article"]
)
ELEMENTS = st.builds(
    lambda tag, attributes, text: (
        f"<{tag} "
        + " ".join(f'{name}="{value}"' for name, value in attributes.items())
        + f">{text}</{tag}>"
    ),
    st.sampled_from(["meta", "link", "img", "time", "h1", "abbr", "a", "script", "div", "span"]),
    st.dictionaries(
        st.sampled_from(
            [
                "name",
                "property",
                "content",
                "href",
                "rel",
                "type",
                "hreflang",
                "itemprop",
                "itemscope",
                "itemtype",
                "class",
                "datetime",
                "title",
                "width",
                "height",
                "src",
            ]
        ),
        VALUES,
        max_size=5,
    ),
    VALUES,
)


@given(st.lists(ELEMENTS, max_size=8), st.text(max_size=30))
def test_any_page(elements: list[str], url: str) -> None:
    page = said("".join(elements), url, fetched=JUNE)
    msgspec.msgpack.encode(page)


def test_dates_of_nothing() -> None:
    empty = collected("")
    assert page_dates(empty, Nodes([], []), [], None) == (None, None)
