"""What a page and its headers say about uses of it, as it is kept."""

from __future__ import annotations

from gossamer.parse.page_parsing import parse_page
from gossamer.parse.parsed_page import Page, Rules
from gossamer.parse.reading.header_links import MAX_LICENSES
from gossamer.web.publisher_wishes import RSL_TYPE, statement

URL = "https://example.org/a/b"


def statements(html: str, **headers: str) -> list[str]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    page = Page(URL, {"content-type": "text/html", **named}, html.encode())
    return list(parse_page(page, Rules()).statements)


def test_licences_have_absolute_addresses() -> None:
    link = f'<link rel=license type="{RSL_TYPE}" href="{{}}">'
    absolute = statement("page", "License", "https://example.org/a/l.xml")
    for href in ("l.xml", "/a/l.xml", "https://example.org/a/l.xml", "l.xml#x"):
        assert statements(link.format(href)) == [absolute]
    assert statements(link.format("javascript:x")) == [statement("page", "License", "javascript:x")]
    assert statements(link.format("l.xml").replace("license", "help")) == []
    assert statements(link.format("l.xml").replace("rsl+", "")) == []


def test_equal_statements_are_one() -> None:
    link = f'<link rel=license type="{RSL_TYPE}" href="l.xml">'
    assert len(statements(link * 2)) == 1


def test_a_licence_in_the_page_itself_is_named() -> None:
    script = f"<script type='{RSL_TYPE}'><rsl/></script>"
    found = statement("page", "License", f"a script of the type {RSL_TYPE}")
    assert statements(script) == statements(script.replace(RSL_TYPE, RSL_TYPE.upper())) == [found]
    assert statements(f"<pre>{RSL_TYPE}</pre>") == []


def test_headers_link_to_licences_too() -> None:
    written = f'</l.xml>; rel="license"; type="{RSL_TYPE}"'
    found = statement("header", "License", "https://example.org/l.xml")
    assert statements("<p>", link=written) == [found]
    assert statements("<p>", link=written.replace("license", "help")) == []
    assert statements("<p>", link=written.replace("rsl+", "")) == []
    many = ", ".join(written.replace("/l", f"/{number}") for number in range(MAX_LICENSES + 2))
    assert len(statements("<p>", link=many)) == MAX_LICENSES


def test_meta_elements_and_headers_are_kept_in_order() -> None:
    html = "<meta name=tdm-reservation content=1><meta name=robots content=noai>"
    assert statements(html, tdm_reservation="0", x_robots_tag="noimageai") == [
        statement("page", "tdm-reservation", "1"),
        statement("page", "robots", "noai"),
        statement("header", "X-Robots-Tag", "noimageai"),
        statement("header", "tdm-reservation", "0"),
    ]
