"""What becomes of an HTML body at its URL: title, base, images, and text that it only embeds."""

from __future__ import annotations

import json

import pytest

from gossamer.parse.html.findings import MAX_TITLE_CHARS
from gossamer.parse.html.html_page import MAX_CANDIDATES, MAX_LINE_CHARS, MIN_NEW_CHARS
from gossamer.parse.page_parsing import parse_page
from gossamer.parse.parsed_page import Page, ParsedPage, Rules

URL = "https://www.gazette.example/tides/x?y=1"
PROSE = "The tide rises slowly over the flats, and the boats are lifted one after another. "
SITE = '<meta property="og:site_name" content="The Harbour Gazette">'


def parsed(html: str, url: str = URL) -> ParsedPage:
    return parse_page(Page(url, {"content-type": "text/html"}, html.encode()), Rules())


@pytest.mark.parametrize(
    ("empty", "title"), [(MAX_CANDIDATES - 1, "Gunwales"), (MAX_CANDIDATES, "Untitled")]
)
def test_the_title_may_be_one_of_the_first_headings(empty: int, title: str) -> None:
    html = "<title>Untitled</title>" + "<h2>-</h2>" * empty + "<h2>Gunwales</h2>"
    headings = ["-"] * empty + ["Gunwales"]
    page = parsed(html)
    assert (page.title, list(page.headings)) == (title, headings)


@pytest.mark.parametrize(
    ("chars", "is_title"), [(MAX_LINE_CHARS, True), (MAX_LINE_CHARS + 1, False)]
)
def test_the_title_may_be_a_short_first_line(chars: int, is_title: bool) -> None:
    line = ("Boats at low tide " * 20)[: chars - 1] + "."
    page = parsed(f"<title>Untitled</title><p>{line}</p><p>Another.</p>")
    assert page.title == (line if is_title else "Untitled")


def test_a_page_without_a_title_is_not_named_by_its_first_line() -> None:
    assert parsed("<p>Boats at low tide.</p><h2>Gunwales</h2>").title is None


def test_a_title_has_a_limit() -> None:
    assert parsed(f"<title>{'a' * (MAX_TITLE_CHARS + 1)}").title == "a" * MAX_TITLE_CHARS


@pytest.mark.parametrize("name", ["The Harbour GAZETTE!", "www.gazette.example", "Gazette"])
@pytest.mark.parametrize(
    ("url", "says_something"),
    [
        ("https://www.gazette.example/", True),
        ("https://www.gazette.example//", True),
        ("https://www.gazette.example/?page=2", False),
        ("https://www.gazette.example/tides", False),
    ],
)
def test_the_name_of_the_site_is_the_title_of_its_first_page_only(
    name: str, url: str, says_something: bool
) -> None:
    html = f"<title>{name.removeprefix('www.')}</title>{SITE}<h1>Gunwales</h1>"
    assert (parsed(html, url).title == "Gunwales") != says_something


def test_addresses_are_relative_to_the_base() -> None:
    html = """<base href=/base/><title>x</title><link rel=canonical href=c>
        <link rel=icon href=i.png><meta property=og:image content=o.png>
        <link rel=alternate hreflang=de href=de>
        <link rel=alternate hreflang=fr href=https:///><a href=a>a</a>"""
    page = parsed(html)
    base = "https://www.gazette.example/base/"
    assert (page.canonical, page.icon, page.image) == (f"{base}c", f"{base}i.png", f"{base}o.png")
    assert page.alternates == (("de", f"{base}de"),)
    assert f"{base}a" in [link.dst for link in page.links]


@pytest.mark.parametrize("base", ["https:///", "mailto:x@example.org", ""])
def test_a_base_that_is_no_address_is_not_used(base: str) -> None:
    page = parsed(f'<base href="{base}"><a href=a>a</a>')
    assert [link.dst for link in page.links] == ["https://www.gazette.example/tides/a"]


def test_a_page_of_a_title_only_is_not_empty() -> None:
    assert [parsed(html).outcome for html in ("<title>x</title>", "<p>x", "<p>")] == [
        *("parsed", "parsed", "empty"),
    ]


def embedding(body: str, shown: str) -> ParsedPage:
    work = {"@type": "NewsArticle", "headline": "Tides", "articleBody": body}
    script = f"<script type=application/ld+json>{json.dumps(work)}</script>"
    return parsed(f"<title>Tides</title>{script}{shown}")


BODY = "Nets were mended on the quay while the wind was waiting for the turn of the moon. " * 9


def test_text_in_json_ld_is_read_if_the_page_does_not_show_its_beginning() -> None:
    """As many pages do which build their text by a program."""
    body = BODY.strip()
    read = embedding(body, "<nav><a href=/>Home</a></nav>")
    assert (read.main_text, read.text, read.is_doubtful) == (body, f"Home\n{body}", False)
    assert embedding(body, "").text == body
    known = embedding(body, f"<nav><a href=/>Home {body[:MIN_NEW_CHARS]}</a></nav>")
    assert body not in (known.text or "")
    new = embedding(body, f"<nav><a href=/>Home {body[: MIN_NEW_CHARS - 1]}</a></nav>")
    assert body in (new.text or "")


def test_text_in_json_ld_does_not_replace_an_article_that_is_shown() -> None:
    shown = embedding(BODY, f"<main><h1>Tides</h1><p>{PROSE * 9}</p></main>")
    assert shown.main_text is not None
    assert PROSE.strip() in shown.main_text
    assert BODY.strip() not in (shown.text or "")


@pytest.mark.parametrize("start", ["itemscope itemtype='https://schema.org/Article'", ""])
def test_microdata_is_read_where_there_is_any(start: str) -> None:
    page = parsed(f"<article {start}><p>{PROSE}<b itemprop=headline>Boats</b></article>")
    assert page.headline == ("Boats" if start else None)
