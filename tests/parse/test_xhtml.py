"""Pages in XHTML are XML, and have the text and links that browsers show of them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.html.xhtml import html_of
from gossamer.parse.page_parsing import parse_page
from gossamer.parse.parsed_page import Page, ParsedPage, Rules
from gossamer.parse.reading.xml_entities import (
    MAX_ENTITY_CHARS,
    MAX_GROWTH_CHARS,
    expand_entities,
)

URL = "https://example.org/"
HTML = '<html xmlns="http://www.w3.org/1999/xhtml">'


def parsed(page: str, kind: str = "application/xhtml+xml") -> ParsedPage:
    return parse_page(Page(URL, {"content-type": kind}, page.encode()), Rules())


@pytest.mark.parametrize(
    "element",
    [
        *("a", "b", "button", "canvas", "div", "h1", "i", "iframe", "noembed", "noframes"),
        *("noscript", "object", "option", "p", "pre", "script", "select", "span", "style"),
        *("svg", "table", "template", "textarea", "title", "video", "xmp"),
    ],
)
@pytest.mark.parametrize("written", ["<{}/>", "<{} />", "<{} id='x' class=\"a>b\"\n/>"])
def test_empty_elements_are_empty(element: str, written: str) -> None:
    empty = written.format(element)
    page = parsed(f"{HTML}<head/><body>{empty}<p>some words <a href='/x'>x</a></p></body></html>")
    assert page.text == "some words x"
    assert [(link.dst, link.anchor, link.relation) for link in page.links] == [
        (f"{URL}x", "x", "a"),
    ]


@pytest.mark.parametrize("element", ["script", "style", "title"])
def test_empty_elements_of_the_head(element: str) -> None:
    page = parsed(
        f"<?xml version='1.0'?>{HTML}<head><{element}/><meta name='description' content='D'/>"
        f"<link rel='canonical' href='/c'/></head><body><p>words</p></body></html>"
    )
    assert (page.text, page.description, page.canonical) == ("words", "D", f"{URL}c")


def test_html_ignores_the_slash() -> None:
    assert parsed("<i>a<title/>b</title></i>c", "text/html").text == "ac"
    assert parsed("<i>a<script/>b</script></i>c", "text/html").text == "ac"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p><![CDATA[a < b & c]]></p>", "a < b & c"),
        ("<p>a<br></br>b<br/>c</p>", "a\nb\nc"),
        ("<p>a<?php echo '>' ?>b</p>", "ab"),
        ("<p>a<!-- <p/> > -->b</p>", "ab"),
        ("<p>a &nbsp; &lt; &#65; &copy;</p>", "a < A ©"),
        ("<p title='a &lt; b'>x</p>", "x"),
        ("<script>if (a &lt; b) '</p>'; <![CDATA[</script> <p>]]></script><p>x</p>", "x"),
        ("<p>a <q cite='/>'>b</q></p>", "a b"),
        ("<a id='top'/><p>x</p>", "x"),
    ],
)
def test_what_only_xml_has(body: str, text: str) -> None:
    assert parsed(f"{HTML}<body>{body}</body></html>").text == text


def test_prefixed_elements() -> None:
    page = parsed(
        '<h:html xmlns:h="http://www.w3.org/1999/xhtml"><h:head><h:title>T</h:title></h:head><h:body>'
        '<h:p>a</h:p><h:script/><h:p><h:a href="/x">b</h:a></h:p></h:body></h:html>'
    )
    assert (page.title, page.text, page.links[0].dst) == ("T", "a\nb", f"{URL}x")


def test_declared_entities() -> None:
    page = parsed(
        "<!DOCTYPE html [<!-- ' ]> --><!ENTITY site '/a?x=]'><!ENTITY name 'N &amp; &more;'>\n"
        f'<!ENTITY more "<b>more</b>">]>{HTML}<p>&name;: <a href="&site;">x</a></p></html>'
    )
    assert (page.text, page.links[0].dst) == ("N & more: x", f"{URL}a?x=%5D")


def test_structured_data_is_read() -> None:
    page = parsed(
        f'{HTML}<head><title/><script type="application/ld+json">//<![CDATA[\n'
        '{"@type": "Article", "headline": "A &lt; B", "author": {"name": "Ann"}}\n//]]></script>'
        "</head><body><p>words</p></body></html>"
    )
    assert page.authors == ("Ann",)


@pytest.mark.parametrize(
    "type_",
    ["application/xhtml+xml", "text/xml", "application/xml", "application/vnd.wap.xhtml+xml"],
)
def test_xml_whose_root_is_html_is_xhtml(type_: str) -> None:
    page = parsed(f"<?xml version='1.0'?>{HTML}<head><title/></head><p>x</p></html>", type_)
    assert (page.text, page.content_type) == ("x", "application/xhtml+xml")


# Entities


@pytest.mark.parametrize(
    ("subset", "text", "expanded"),
    [
        ('<!ENTITY a "x">', "&a;&b;&amp;", "x&b;&amp;"),
        ("<!ENTITY a 'x'><!ENTITY a 'y'>", "&a;", "x"),
        ("<!ENTITY a '&#60;b&#x3e; &#38; &#38;amp;'>", "&a;", "&#60;b> &#38; &#38;amp;"),
        ("<!ENTITY a '&b;&b;'><!ENTITY b '&c;'><!ENTITY c '1'>", "&a;", "11"),
        ("<!ENTITY a '&b;'><!ENTITY b '&a;'>", "&a;&b;", "&a;&b;"),
        ("<!ENTITY a '&a;'>", "&a;", "&a;"),
        (
            "<!ENTITY a SYSTEM 'file:///etc/passwd'><!ENTITY % p '<!ENTITY b \"x\">'>%p;",
            "&a;&b;",
            None,
        ),
        ("<!ENTITY a 'x'>", "<![CDATA[&a;]]><!-- &a; -->&a;", "<![CDATA[&a;]]><!-- &a; -->x"),
    ],
)
def test_entities(subset: str, text: str, expanded: str | None) -> None:
    assert expand_entities(f"<!DOCTYPE x [{subset}]>{text}") == expanded or text


def test_a_billion_laughs_stay_small() -> None:
    levels = "".join(f"<!ENTITY l{n} '{f'&l{n - 1};' * 10}'>" for n in range(1, 30))
    text = f"<!DOCTYPE x [<!ENTITY l0 'ha'>{levels}]>" + "".join(f"&l{n};" for n in range(30))
    assert len(expand_entities(text)) < 5 * MAX_ENTITY_CHARS
    text = f"<!DOCTYPE x [<!ENTITY a '{'x' * MAX_ENTITY_CHARS}'>]>" + "&a;" * 10_000
    assert len(expand_entities(text)) <= MAX_GROWTH_CHARS + len(text)


def test_empty_entities_in_many_levels_take_little_time() -> None:
    levels = "".join(f"<!ENTITY l{n} '{f'&l{n - 1};' * 500}'>" for n in range(1, 9))
    start = time.process_time()
    expand_entities(f"<!DOCTYPE x [<!ENTITY l0 ''>{levels}]>&l8;")
    assert time.process_time() - start < 1


PIECES = (
    *("<!DOCTYPE§[", "]>", "<!ENTITY§a§'x'>", "&a;", "<![CDATA[", "]]>", "<!--", "-->", "<?", "?>"),
    *("<p/>", "<script>", "</script>", "<a§b='", "'", '"', "/", ">", "</br>", "<x:y", "<title/>"),
    *(' xmlns:x="http://www.w3.org/1999/xhtml"', "<"),
)


@given(st.lists(st.sampled_from([piece.replace("§", " ") for piece in PIECES]), max_size=30))
def test_anything_is_rewritten(pieces: list[str]) -> None:
    html_of("".join(pieces))
    parsed("".join(pieces))


@pytest.mark.parametrize("piece", [*PIECES, "<!DOCTYPE x ['", "<a\n", "<!ENTITY a '", "&a"])
def test_time_is_linear(piece: str) -> None:
    text = piece.replace("§", " ") * (300_000 // len(piece))
    start = time.process_time()
    html_of(text)
    html_of("<!DOCTYPE x [<!ENTITY a 'b'>]>" + text)
    html_of(f"<!DOCTYPE x [{text[:60_000]}]>")
    assert time.process_time() - start < 1
