"""Links in HTTP headers. The grammar is that of RFC 8288, with its examples (§3.5)."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.page_parsing import parse_page
from gossamer.parse.parsed_page import Page, ParsedPage, Rules
from gossamer.parse.reading.header_links import MAX_CHARS, read_link_header

URL = "https://example.org/dir/page"
HERE = "https://example.org"


def parsed(body: str = "<title>t</title>", kind: str = "text/html", **headers: str) -> ParsedPage:
    return parse_page(Page(URL, {"content-type": kind} | headers, body.encode()), Rules())


@pytest.mark.parametrize(
    ("value", "links"),
    [
        (
            '<http://example.com/TheBook/chapter2>; rel="previous"; title="previous chapter"',
            [
                (
                    "http://example.com/TheBook/chapter2",
                    {"rel": "previous", "title": "previous chapter"},
                )
            ],
        ),
        (
            '</terms>; rel="copyright"; anchor="#foo"',
            [("/terms", {"rel": "copyright", "anchor": "#foo"})],
        ),
        (
            "</chapter2>; rel=previous; title*=UTF-8'de'letztes%20Kapitel, </chapter4>; rel=next",
            [
                ("/chapter2", {"rel": "previous", "title*": "UTF-8'de'letztes%20Kapitel"}),
                ("/chapter4", {"rel": "next"}),
            ],
        ),
        (
            '<a,b;c>;rel="x, y; z";title="a \\"b\\""',
            [("a,b;c", {"rel": "x, y; z", "title": 'a "b"'})],
        ),
        ("<a>;REL=canonical;rel=next", [("a", {"rel": "canonical"})]),
        ("< a > ; rel = canonical ;;crossorigin", [("a", {"rel": "canonical", "crossorigin": ""})]),
        ("<a>,<b>", [("a", {}), ("b", {})]),
        (", ,<a>; rel=x,", [("a", {"rel": "x"})]),
        ("nonsense, <a>; rel=x y, <b>; rel=z", [("a", {"rel": "x"}), ("b", {"rel": "z"})]),
        ('<a>; rel="never closed, <b>; rel=z', [("a", {"rel": ""}), ("b", {"rel": "z"})]),
        ("<never closed", []),
        ("", []),
    ],
)
def test_link_header(value: str, links: list[tuple[str, dict[str, str]]]) -> None:
    assert list(read_link_header(value)) == links


@pytest.mark.parametrize("value", ["<", "<a>", '<a>;x="', ",", '"', '<a>;x="\\"', ";x"])
def test_reading_takes_linear_time(value: str) -> None:
    start = time.process_time()
    list(read_link_header(value * MAX_CHARS))
    assert time.process_time() - start < 1


@given(st.text('<>;,="\\ arel', max_size=60))
def test_nothing_is_raised(value: str) -> None:
    parsed(link=value, refresh=value)


@pytest.mark.parametrize(
    ("link", "canonical"),
    [
        ("</c>; rel=canonical", f"{HERE}/c"),
        ('<c?a=1>; rel="x Canonical"; title=t', f"{HERE}/dir/c?a=1"),
        ("<https://other.example/>; rel=next, </c>; rel=canonical", f"{HERE}/c"),
        ("</1>; rel=canonical, </2>; rel=canonical", f"{HERE}/1"),
        (f"</c>; rel=canonical; anchor='{URL}'".replace("'", '"'), f"{HERE}/c"),
        ("</c>; rel=canonical; anchor=/other", None),
        ("</c>; rev=canonical", None),
        ("<mailto:a@b>; rel=canonical", None),
        ("</d\xc3\xa4>; rel=canonical", f"{HERE}/d%C3%A4"),
        ("</\xe4>; rel=canonical", f"{HERE}/%E4"),
    ],
)
def test_canonical_urls_in_headers(link: str, canonical: str | None) -> None:
    assert parsed(link=link).canonical == canonical
    assert parsed("some text", "text/plain", link=link).canonical == canonical


def test_the_page_itself_precedes_its_headers() -> None:
    html = "<base href=/base/><link rel=canonical href=c><a href=/x>X</a><img src=/y>"
    page = parsed(html, link="<c>; rel=canonical, </x>; rel=next, </y>; rel=next; title=Y")
    assert page.canonical == f"{HERE}/base/c"
    assert [(link.dst, link.anchor, link.relation) for link in page.links] == [
        (f"{HERE}/base/c", "", "canonical"),
        (f"{HERE}/x", "X", "a"),
        (f"{HERE}/y", "", "next"),
        (f"{HERE}/dir/c", "", "canonical"),
    ]


def test_other_relations_in_headers() -> None:
    page = parsed(
        link='</de>; rel=alternate; hreflang=DE, </rss>; rel=alternate; type="application/rss+xml"'
        ", </s.css>; rel=preload, </2>; rel=next"
    )
    assert page.alternates == (("DE", f"{HERE}/de"),)
    assert [(link.dst, link.relation) for link in page.links] == [
        (f"{HERE}/de", "alternate"),
        (f"{HERE}/rss", "feed"),
        (f"{HERE}/2", "next"),
    ]


def test_links_in_headers_count_among_the_most() -> None:
    page = Page(URL, {"link": "</1>; rel=next, </2>; rel=prev, </a>; rel=next"}, b"<a href=/a>")
    found = parse_page(page, Rules(max_links=2)).links
    assert [(link.dst, link.relation) for link in found] == [
        (f"{HERE}/a", "a"),
        (f"{HERE}/1", "next"),
    ]


def test_refresh_headers() -> None:
    (link,) = parsed("<base href=/base/>", refresh="0; url=t").links
    assert (link.dst, link.relation) == (f"{HERE}/dir/t", "refresh")
    assert not parsed(refresh="5").links
    assert parsed(refresh="0;url=tel:1").refused == {"scheme": 1}


def test_a_page_that_is_nofollow_has_no_followed_links_in_headers() -> None:
    page = parsed(link="</2>; rel=next", refresh="0;/r", **{"x-robots-tag": "nofollow"})
    assert [link.nofollow for link in page.links] == [True, True]
