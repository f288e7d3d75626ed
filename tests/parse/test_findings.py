"""What the walk finds in elements besides text, and how much of it."""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser

from gossamer.parse.html.embedded_links import MAX_ANCHOR_CHARS, MAX_PHRASE_NODES
from gossamer.parse.html.findings import (
    MAX_HEADING_CHARS,
    MAX_HEADINGS,
    MAX_SIZES,
    MAX_TIME_CHARS,
    MAX_TITLE_CHARS,
    Findings,
)
from gossamer.parse.html.page_dates import page_dates
from gossamer.parse.html.schema_org import Nodes
from gossamer.parse.html.walk import findings
from gossamer.parse.parsed_page import Rules

URL = "https://example.org/"


def found(html: str, rules: Rules | None = None) -> Findings:
    return findings(LexborHTMLParser(html), rules or Rules())


def links(html: str, *, media: bool = False) -> list[tuple[str, str, str, bool]]:
    rules = Rules(media=media)
    listed = found(html, rules).references.links(URL, URL, rules.urls)
    return [(link.dst, link.anchor, link.relation, link.nofollow) for link in listed]


def test_headings_have_levels_and_a_limit() -> None:
    assert found("<h2>A</h2><h1>B <i>c</i></h1><h3>D</h3><h4>E</h4><h3> </h3>").headings == [
        (2, "A"),
        (1, "B c"),
        (3, "D"),
    ]
    many = "".join(f"<h2>{number}</h2>" for number in range(MAX_HEADINGS + 2))
    assert found(many).headings == [(2, str(number)) for number in range(MAX_HEADINGS)]
    assert found(f"<h1>{'x' * MAX_HEADING_CHARS}y</h1>").headings == [(1, "x" * MAX_HEADING_CHARS)]
    assert found("<h2>A<h3>B</h3>C</h2>").headings == [(2, "A"), (3, "B")]


def test_a_phrase_is_what_the_first_characters_of_few_pieces_show() -> None:
    space = " " * (4 * MAX_HEADING_CHARS - 1)
    assert found(f"<h1>{space}x</h1>").headings == [(1, "x")]
    assert found(f"<h1> {space}x</h1>").headings == []
    pieces = "<i>x</i>" * (MAX_PHRASE_NODES + 1)
    assert found(f"<h1>{pieces}</h1>").headings == [(1, "x" * MAX_PHRASE_NODES)]
    assert found("<h1>New<br>line <wbr>of<b> text</b></h1>").headings == [(1, "New line of text")]


def test_the_first_title_counts_up_to_a_limit() -> None:
    assert found("<title>A</title><title>B</title>").title == "A"
    assert found("<title> </title><title>B</title>").title == "B"
    assert len(found(f"<title>{'x' * (MAX_TITLE_CHARS + 1)}</title>").title) == MAX_TITLE_CHARS


def test_the_language_and_the_base() -> None:
    assert found("<html lang=de xml:lang=en>").language == "de"
    assert found("<html xml:lang=en>").language == "en"
    assert found("<html>").language is None
    assert found("<base target=x><base href=/a><base href=/b>").base == "/a"
    assert found("<p>").base is None


def test_times_have_their_line_and_text() -> None:
    html = "<p>x<p>y <time datetime=1>1 <b>May</b></time> z <abbr class=updated title=2>May</abbr>"
    first, second = found(html).head_metadata.times
    assert (first.value, first.text, second.value, second.text) == ("1", "1 May", "2", "")
    assert first.line == second.line > 0
    assert found("<abbr title=2>May</abbr>").head_metadata.times == []
    (long,) = found(f"<time>{'x' * (MAX_TIME_CHARS + 1)}</time>").head_metadata.times
    assert long.text == long.value == "x" * MAX_TIME_CHARS


def test_a_time_far_behind_the_headline_is_near_a_main_heading() -> None:
    lines = "<p>x" * 80
    time = "<time class=entry-date datetime=2024-05-01>May</time>"
    page = f"<title>Harbour works</title><main><h2>Harbour works</h2>{lines}{{}}<p>{time}</main>"
    for heading, is_found in (("", False), ("<h1>Notes</h1>", True), ("<h3>Notes</h3>", False)):
        metadata = found(page.format(heading)).head_metadata
        published, _ = page_dates(metadata, Nodes([], []), [], None)
        assert (published is not None) is is_found


def test_scripts_of_json_ld_only() -> None:
    html = """<script type=" Application/LD+json ">{"a": 1}</script><script>x</script>
        <script type=text/plain>y</script>"""
    assert found(html).head_metadata.scripts == ['{"a": 1}']


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<a href=/x>X <b>y</b></a>", ("x", "X y", "a", False)),
        ("<a href=/x rel='me nofollow'>X</a>", ("x", "X", "a", True)),
        ("<a href=/x rel=me>X</a>", ("x", "X", "a", False)),
        ("<a href=/x><img alt=' A  cat '><img alt=dog></a>", ("x", "A cat", "a", False)),
        ("<img alt=cat><a href=/x><img></a>", ("x", "", "a", False)),
        ("<a href=/y></a><a href=/x><img alt=cat></a>", ("x", "cat", "a", False)),
        ("<a href=/x><img alt=cat>Dog</a>", ("x", "Dog", "a", False)),
        ("<map><area href=/x alt=' A  map '></map>", ("x", "A map", "area", False)),
        ("<map><area href=/x rel=nofollow></map>", ("x", "", "area", True)),
        ("<map><area href=/x rel=me></map>", ("x", "", "area", False)),
        ("<iframe src=/x title=' A  frame '></iframe>", ("x", "A frame", "iframe", False)),
        ("<link rel=next href=/x title=' The  next '>", ("x", "The next", "next", False)),
        ("<meta http-equiv=' Refresh ' content='1; url=/x'>", ("x", "", "refresh", False)),
    ],
)
def test_references(html: str, expected: tuple[str, str, str, bool]) -> None:
    url, *rest = expected
    assert (URL + url, *rest) in links(html)


def test_names_of_links_have_a_limit() -> None:
    name = "x" * (MAX_ANCHOR_CHARS + 1)
    for html in (
        f"<a href=/x>{name}</a>",
        f"<a href=/x><img alt={name}></a>",
        f"<map><area href=/x alt={name}></map>",
        f"<iframe src=/x title={name}></iframe>",
        f"<link rel=next href=/x title={name}>",
    ):
        assert [anchor for _, anchor, *_ in links(html)] == ["x" * MAX_ANCHOR_CHARS]


@pytest.mark.parametrize(
    ("srcset", "names"),
    [
        ("a 1x, b 2x", "a b"),
        ("a, b", "a b"),
        ("a,b 2x", "a,b"),
        (",a 1x,b 2x", "a b"),
        (",,a,, b", "a b"),
        ("a 1x,, b", "a b"),
        ("a (1x, 2x) 3x, b", "a b"),
        (", ,", ""),
    ],
)
def test_urls_of_a_srcset(srcset: str, names: str) -> None:
    html = f'<picture><source srcset="{srcset}"></picture>'
    if "(" not in srcset:
        assert links(html, media=True) == [
            (URL + name, "", "srcset", False) for name in names.split()
        ]
    assert links(html) == []


def test_pictures_of_an_image() -> None:
    html = "<img src=/a alt=cat srcset='/b 2x'><img src=' data:image/png,x'><img src=DATA:x>"
    assert links(html, media=True) == [
        (URL + "a", "cat", "img", False),
        (URL + "b", "cat", "srcset", False),
    ]
    many = ", ".join(f"/{number}" for number in range(MAX_SIZES + 1))
    assert len(links(f"<img srcset='{many}'>", media=True)) == MAX_SIZES


def test_authors_are_links_of_that_relation() -> None:
    html = "<a rel='Author me' href=/ann>Ann Lee</a><a rel=author>Bob</a><a href=/c>Carl</a>"
    assert found(html).head_metadata.authors == ["Ann Lee", "Bob"]


def test_only_templates_with_a_shadow_root_are_shown() -> None:
    assert found("<div><template shadowrootmode=open><p>x</template></div>").has_shadow_roots
    assert not found("<div><template><p>x</template></div>").has_shadow_roots
