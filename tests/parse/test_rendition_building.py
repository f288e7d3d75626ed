"""Which blocks the elements of a page become, before they are written."""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser

from gossamer.parse.parsed_page import Rules
from gossamer.parse.rendition.blocks import (
    BREAK,
    EMPHASIS,
    STRONG,
    Block,
    Code,
    Heading,
    Inset,
    Items,
    Paragraph,
    Quote,
    Run,
    plain,
)
from gossamer.parse.rendition.building import MAX_URL_CHARS, build_blocks
from gossamer.parse.rendition.recording import record_element

BASE = "https://e.org/a/"


def blocks(html: str) -> list[Block]:
    body = LexborHTMLParser(html).body
    assert body is not None
    return build_blocks(record_element(body, Rules()), BASE)


def paragraph(text: str) -> Paragraph:
    return Paragraph([Run(text)])


def headings(html: str) -> list[tuple[int, str, str]]:
    found = [block for block in blocks(html) if isinstance(block, Heading)]
    return [(block.level, plain(block.runs), block.fragment) for block in found]


@pytest.mark.parametrize(
    ("html", "fragment"),
    [
        ("<h2 id=a>A</h2>", "a"),
        ("<a name=x></a><h2>A</h2>", "x"),
        ("<b name=x></b><h2>A</h2>", ""),
        ("<a id=x name=y></a><h2>A</h2>", "x"),
        ("<h2><a id=in></a>A</h2>", "in"),
        ("<h2 id=a><a id=b>A</a></h2>", "a"),
        ("<h2>A<b id=late></b></h2>", "late"),
        ("<h2>A</h2><b id=late></b>", ""),
        ("<p id=p>text</p><h2>A</h2>", ""),
        ("<p id=p> </p><h2>A</h2>", "p"),
        ("<div id=d><h2>A</h2></div>", "d"),
        ("<div id=d><i id=i></i><h2>A</h2></div>", "i"),
        ("<h2 id='a b'>A</h2>", ""),
        (f"<h2 id={'x' * 200}>A</h2>", "x" * 200),
        (f"<h2 id={'x' * 201}>A</h2>", ""),
    ],
)
def test_the_fragment_of_a_heading_is_the_id_nearest_to_it(html: str, fragment: str) -> None:
    assert headings(html) == [(2, "A", fragment)]


def test_an_id_is_that_of_one_heading() -> None:
    html = "<div id=d><h2>A</h2></div><h3>B</h3><h4 id=c>C</h4>"
    assert headings(html) == [(2, "A", "d"), (3, "B", ""), (4, "C", "c")]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<h2>a<div>b</div>c</h2>", "a b c"),
        ("<h2>a<br><br>b</h2>", "a b"),
        ("<h2>a<b>b</b></h2>", "ab"),
    ],
)
def test_a_heading_goes_on_after_elements_in_it(html: str, text: str) -> None:
    assert headings(html) == [(2, text, "")]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            "<p>a<b>b<i>c</i></b>d",
            [Paragraph([Run("a"), Run("b", STRONG), Run("c", STRONG | EMPHASIS), Run("d")])],
        ),
        ("<p>one<script>x</script>two", [Paragraph([Run("one"), Run(" "), Run("two")])]),
        ("<p>a<br>b<br><br>c", [Paragraph([Run("a"), Run("", BREAK), Run("b")]), paragraph("c")]),
        ("<p>a<br><p>b", [paragraph("a"), paragraph("b")]),
        ("<p>a<br></p><br><p>b", [paragraph("a"), paragraph("b")]),
        ("<h2> <b> </b></h2>", []),
        ("<p> </p>", []),
        ("a<div>b</div>c", [paragraph("a"), paragraph("b"), paragraph("c")]),
        ("<pre>a<script></script>b</pre>", [Code("ab")]),
        ("<pre>a\n<div>b</div></pre>", [Code("a\nb")]),
        ("<pre>a<p>b<p>c</pre>", [Code("a\nb\nc")]),
        ("<pre>\n\n a  \n b\t.\n\n</pre>", [Code(" a\n b      .")]),
        ("<pre> \n </pre>", []),
        ("<pre class=language-x>a</pre><pre>b</pre>", [Code("a", "x"), Code("b")]),
        ("<p class=language-x>t</p><pre>c</pre>", [paragraph("t"), Code("c")]),
        ("<pre><b class=language-x>c</b></pre>", [Code("c", "x")]),
        ("<blockquote>a</blockquote>b", [Quote([paragraph("a")]), paragraph("b")]),
        ("<blockquote></blockquote>b", [paragraph("b")]),
        ("x<blockquote>a</blockquote>", [paragraph("x"), Quote([paragraph("a")])]),
        ("x<ul><li>a", [paragraph("x"), Items([[paragraph("a")]])]),
        ("x<pre>a</pre>", [paragraph("x"), Code("a")]),
        ("x<aside>a</aside>", [paragraph("x"), Inset(True), paragraph("a"), Inset(False)]),
        (
            "<ul><li>a<li>b</li>loose</ul>",
            [Items([[paragraph("a")], [paragraph("b"), paragraph("loose")]])],
        ),
        ("<ol start=7><li>a</ol>", [Items([[paragraph("a")]], 7)]),
        ("<ol><li>a</ol>", [Items([[paragraph("a")]], 1)]),
        ("<ul start=7><li>a</ul>", [Items([[paragraph("a")]])]),
        (
            "<dl><dt>a<dd>b<dt>c<dd>d</dl>",
            [Items([[paragraph("a"), paragraph("b")], [paragraph("c"), paragraph("d")]])],
        ),
        ("<dl><dt>a</dl><dl><dt>b</dl>", [Items([[paragraph("a")], [paragraph("b")]])]),
        (
            "<dl><dt>a</dl><ul><li>b</ul><dl><dt>c</dl>",
            [Items([[paragraph("a")]]), Items([[paragraph("b")]]), Items([[paragraph("c")]])],
        ),
        *(
            (f"<{start}>a</{end}>b", [Inset(True), paragraph("a"), Inset(False), paragraph("b")])
            for start, end in (
                ("aside", "aside"),
                ("details", "details"),
                ("div class='x note'", "div"),
            )
        ),
        ("<div class=noted>a</div>", [paragraph("a")]),
        ("<blockquote><aside>a</aside></blockquote>", [Quote([paragraph("a")])]),
    ],
)  # fmt: skip
def test_blocks(html: str, expected: list[Block]) -> None:
    assert blocks(html) == expected


def test_the_text_of_an_element_within_a_line() -> None:
    element = LexborHTMLParser("<p>a<b>b</b>").css_first("b")
    assert element is not None
    assert build_blocks(record_element(element, Rules()), BASE) == [Paragraph([Run("b", STRONG)])]


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("b", "https://e.org/a/b"),
        (" / b ", "https://e.org/b"),
        ("mailto:x@e.org", "mailto:x@e.org"),
        ("ftp://e.org/", "ftp://e.org/"),
        ("javascript:x", ""),
        ("data:,x", ""),
        ("http://[1", ""),
        ("", ""),
        ("x" * MAX_URL_CHARS, BASE + "x" * MAX_URL_CHARS),
        ("x" * (MAX_URL_CHARS + 1), ""),
    ],
)
def test_links_lead_to_pages(href: str, url: str) -> None:
    assert blocks(f'a <a href="{href}">b</a> c') == [
        Paragraph([Run("a "), Run("b", 0, url), Run(" c")])
    ]
