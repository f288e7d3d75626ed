from __future__ import annotations

import time
from datetime import UTC, datetime
from html import escape
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.html.embedded_links import (
    MAX_ANCHOR_CHARS,
    MAX_EMBEDDED_LINKS,
    MAX_MARKUP_CHARS,
)
from gossamer.parse.html.findings import MAX_HEADINGS, MAX_SIZES
from gossamer.parse.page_parsing import parse_page
from gossamer.parse.parsed_page import Link, Page, ParsedPage, Rules
from gossamer.parse.reading.directives import Wishes, header_wishes, wishes
from gossamer.web.urls import normalize

URL = "https://example.org/dir/page"


def parsed(html: str | bytes, rules: Rules | None = None, **headers: str) -> ParsedPage:
    body = html.encode() if isinstance(html, str) else html
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    page = Page(URL, {"content-type": "text/html"} | named, body)
    return parse_page(page, rules or Rules())


def links(html: str, rules: Rules | None = None) -> list[tuple[str, str, str]]:
    return [(link.dst, link.anchor, link.relation) for link in parsed(html, rules).links]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>a <b>bold</b> word", "a bold word"),
        ("un<b>believ</b>able", "unbelievable"),
        ("<ul><li>one<li>two</ul>three", "one\ntwo\nthree"),
        ("<div>a</div>b", "a\nb"),
        ("<a href=x><h3>head</h3></a><span>tail</span>", "head\ntail"),
        ("one<br>two", "one\ntwo"),
        ("<table><tr><td>1<td>2<tr><td>3</table>", "1\n2\n3"),
        ("<p>  much\n\t white\u00a0 \u2003space  </p>", "much white space"),
        ("<title>not in the text</title><p>x", "x"),
        ("x<script>a()</script><style>b{}</style><noscript>c</noscript>y", "xy"),
        ("x<template>t</template><textarea>u</textarea><select><option>v</select>y", "xy"),
        ("x<svg><title>t</title><text>u</text></svg><iframe>v</iframe>y", "x u y"),
        ("<script></script>seen", "seen"),
        ("<!-- no -->yes<!-- no -->", "yes"),
        ("&lt;b&gt; &amp; &eacute;&#x4e2d;&notanentity;", "<b> & é中¬anentity;"),
        ("a\0b", "ab"),
        ("<body>in</body></html>after<!-- c -->", "inafter"),
        ("<p>unclosed <i>tags", "unclosed tags"),
        ("plain text, no tags", "plain text, no tags"),
    ],
)
def test_visible_text(html: str, text: str) -> None:
    assert parsed(html).text == text


def test_text_is_cut() -> None:
    assert parsed("<p>abcdef<p>ghi", Rules(max_text_chars=8)).text == "abcdef\ng"


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title> A\n title </title><meta property=og:title content=B><h1>C</h1>", "A title"),
        ("<title> </title><meta property='og:title' content='B b'><h1>C</h1>", "B b"),
        ("<h2>D</h2><h1>C <i>c</i></h1><h1>E</h1>", "C c"),
        ("<svg><title>icon</title></svg><p>x", None),
        ("<title>first</title><title>second</title>", "first"),
        ("<title>a <b> &amp; c</title>", "a <b> & c"),
    ],
)
def test_title(html: str, title: str | None) -> None:
    assert parsed(html).title == title


def test_description_is_metas_before_open_graphs() -> None:
    both = '<meta property="og:description" content="og"><meta name=Description content=" a  b">'
    assert parsed(both).description == "a b"
    assert parsed('<meta property="og:description" content="og">').description == "og"
    assert parsed("<p>x").description is None


def test_headings_in_document_order() -> None:
    html = "<h2>two</h2><h1>one<br>more</h1><h3><a href=x>three</a></h3><h4>four</h4><h1> </h1>"
    assert parsed(html).headings == ("two", "one more", "three")
    assert len(parsed("<h1>x</h1>" * 300).headings) == MAX_HEADINGS


@pytest.mark.parametrize(
    ("html", "header", "language"),
    [
        ("<html lang=de-AT>", "fr", "de-AT"),
        ("<html xml:lang=pt_BR>", None, "pt-BR"),
        ("<p>x", "fr, en", "fr"),
        ("<html lang='not a language'>", None, None),
        ("<html lang=''>", None, None),
        ("<p>x", None, None),
    ],
)
def test_language(html: str, header: str | None, language: str | None) -> None:
    page = parsed(html) if header is None else parsed(html, content_language=header)
    assert page.language_hint == language


def test_the_language_is_that_of_the_main_text() -> None:
    english = "The women went to the market early in the morning to buy bread and fresh apples."
    page = parsed(f"<html lang=de><title>Markt</title><nav>Startseite</nav><p>{english}</p>")
    assert (page.language, page.language_hint) == ("en", "de")
    assert parsed("<p>x").language is None


def test_main_text_and_metadata() -> None:
    text = "There is a long paragraph here, with more than a few words in it, that tells a story."
    page = parsed(
        f"""<title>Story - Site</title><meta property=og:title content=Story>
        <meta property=og:site_name content=Site><meta name=author content=Ann>
        <link rel=icon href=/i.png><meta property=og:image content=/p.jpg>
        <link rel=alternate hreflang=de href=/de><link rel=alternate hreflang=fr href=http://[>
        <nav><a href=/a>Home</a> <a href=/b>News</a></nav>
        <article><h1>Story</h1><time datetime=2024-05-01>May</time><p>{text}</p><p>{text}</p>
        </article><footer>Imprint</footer>"""
    )
    assert page.main_text == f"{text}\n{text}"
    assert "Imprint" in (page.text or "")
    assert (page.title, page.headline, page.site_name) == ("Story - Site", "Story", "Site")
    assert (page.authors, page.published) == (("Ann",), datetime(2024, 5, 1, tzinfo=UTC))
    assert (page.image, page.icon) == ("https://example.org/p.jpg", "https://example.org/i.png")
    assert page.alternates == (("de", "https://example.org/de"),)


def test_no_page_is_younger_than_its_fetch() -> None:
    page = Page(URL, {}, b"<h1>x</h1><time>2024-05-01</time>")
    assert parse_page(page, Rules()).published == datetime(2024, 5, 1, tzinfo=UTC)
    early = page._replace(fetched=datetime(2024, 1, 1, tzinfo=UTC))
    assert parse_page(early, Rules()).published is None


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ("<a href=b>B</a>", [("https://example.org/dir/b", "B", "a")]),
        ("<a href='/b?x=1&amp;y=2#frag'>B</a>", [("https://example.org/b?x=1&y=2", "B", "a")]),
        ("<a href=' \n/b\t'> B  b </a>", [("https://example.org/b", "B b", "a")]),
        (
            "<a href=/i><img alt='An  image'></a>",
            [("https://example.org/i", "An image", "a")],
        ),
        ("<a href=/i><img alt=A>text</a>", [("https://example.org/i", "text", "a")]),
        (
            "<a href=/i><img alt=A><img alt=B></a><a href=/j><img></a><a href=/k></a>",
            [(f"https://example.org/{name}", "A" if name == "i" else "", "a") for name in "ijk"],
        ),
        ("<a href=/1><div>x</div><div>y</div></a>", [("https://example.org/1", "x y", "a")]),
        ("<map><area href=/m alt=M></map>", [("https://example.org/m", "M", "area")]),
        (
            "<frameset><frame src=/f title=F><frame src=/g></frameset>",
            [("https://example.org/f", "F", "frame"), ("https://example.org/g", "", "frame")],
        ),
        ("<iframe src=/f></iframe>", [("https://example.org/f", "", "iframe")]),
        (
            "<meta http-equiv=Refresh content='0; URL=\"/there\"'>",
            [("https://example.org/there", "", "refresh")],
        ),
        ("<meta http-equiv=refresh content='5,/t'>", [("https://example.org/t", "", "refresh")]),
        ("<meta http-equiv=refresh content=5>", []),
        ("<meta http-equiv=refresh content='x; url=/t'>", []),
        (
            "<meta http-equiv=refresh content='0;url=/a,b;c'>",
            [("https://example.org/a,b;c", "", "refresh")],
        ),
        (
            "<link rel='x Canonical' href=/c>",
            [("https://example.org/c", "", "canonical")],
        ),
        ("<link rel=stylesheet href=/c>", []),
        (
            "<link rel=alternate hreflang=de title=Deutsch href=/de><link rel=amphtml href=/amp>",
            [
                ("https://example.org/de", "Deutsch", "alternate"),
                ("https://example.org/amp", "", "amphtml"),
            ],
        ),
        (
            "<link rel=prev href=/1><link rel=next href=/3>",
            [("https://example.org/1", "", "prev"), ("https://example.org/3", "", "next")],
        ),
        (
            "<link rel=alternate type='application/rss+xml; charset=utf-8' title=News href=/rss>",
            [("https://example.org/rss", "News", "feed")],
        ),
        ("<link rel=alternate type=application/json href=/wp-json>", []),
        ("<link rel='alternate stylesheet' type=text/css href=/s.css>", []),
        ("<a href>x</a><a>y</a><a name=z>z</a><a href='#frag'>f</a><a href=page#f>g</a>", []),
        ("<a href=mailto:a@b>m</a><a href='javascript:x()'>j</a><a href='http://['>b</a>", []),
        ("<script>'<a href=/s>s</a>'</script><!--<a href=/c>c</a>-->", []),
        ("<template><a href=/n>n</a></template><textarea><a href=/v>v</a></textarea>", []),
        ("<a href=/u>never closed", [("https://example.org/u", "never closed", "a")]),
        (
            "<a href=/1>one<a href=/2>two</a>",
            [("https://example.org/1", "one", "a"), ("https://example.org/2", "two", "a")],
        ),
        ("<a href=/1 href=/2>x</a>", [("https://example.org/1", "x", "a")]),
    ],
)
def test_links(html: str, found: list[tuple[str, str, str]]) -> None:
    assert links(html) == found


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ("<img src=/i alt='A  picture'>", [("https://example.org/i", "A picture", "img")]),
        (
            "<img src=/1 srcset='/a,b.jpg 1x, /2 2x,/3 300w'>",
            [
                ("https://example.org/1", "", "img"),
                ("https://example.org/a,b.jpg", "", "srcset"),
                ("https://example.org/2", "", "srcset"),
                ("https://example.org/3", "", "srcset"),
            ],
        ),
        (
            "<picture><source srcset='/s.webp, /t.webp 2x'></picture>",
            [
                ("https://example.org/s.webp", "", "srcset"),
                ("https://example.org/t.webp", "", "srcset"),
            ],
        ),
        ("<img src=' data:image/gif;base64,R0lGOD'><img srcset='data:x 1x'><img>", []),
        (
            "<a href=/i.jpg><img src=/i.jpg alt=I></a><img src=/i.jpg>",
            [("https://example.org/i.jpg", "I", "a")],
        ),
    ],
)
def test_pictures_are_links_where_they_are_wanted(
    html: str, found: list[tuple[str, str, str]]
) -> None:
    assert links(html) == found
    assert links(html, Rules(media=False)) == [link for link in found if link[2] == "a"]


def test_sizes_of_a_picture_have_an_end() -> None:
    many = ", ".join(f"/{n} {n}w" for n in range(100))
    assert len(links(f"<img srcset='{many}'>")) == MAX_SIZES
    start = time.process_time()
    links(f"<img srcset='{', ' * 5_000}'>" * 100)
    assert time.process_time() - start < 1


def test_the_first_base_counts_for_all_links_wherever_it_stands() -> None:
    html = (
        "<a href=x>x</a><base target=_top><base href=/b/><base href=/c/><link rel=canonical href=y>"
    )
    page = parsed(html)
    assert [link.dst for link in page.links] == [
        "https://example.org/b/x",
        "https://example.org/b/y",
    ]
    assert page.canonical == "https://example.org/b/y"
    assert links("<base href='data:,x'><a href=x>x") == [("https://example.org/dir/x", "x", "a")]


def test_links_to_one_page_are_one_link() -> None:
    html = """
        <a href=/p rel=nofollow><img></a>
        <a href=/q>Q</a>
        <a href=/p#part>words</a>
        <a href=/p>others</a>
        <a href=/r rel="ugc me">R</a><a href=/r rel=Sponsored>RR</a>
    """
    assert parsed(html).links == (
        Link("https://example.org/p", "words", "a", nofollow=False),
        Link("https://example.org/q", "Q", "a", nofollow=False),
        Link("https://example.org/r", "R", "a", nofollow=True),
    )


def test_links_are_the_first_of_the_page() -> None:
    html = "<a href=#top>t</a>" + "".join(f"<a href=/{n}>{n}</a>" for n in range(20))
    assert [anchor for _, anchor, _ in links(html, Rules(max_links=3))] == ["0", "1", "2"]


def test_links_that_differ_in_their_fragment_count_as_one() -> None:
    html = "".join(f"<a href=/{n}#{term}>{term}</a>" for n in range(4) for term in "abc")
    assert links(html, Rules(max_links=3)) == [
        ("https://example.org/0", "a", "a"),
        ("https://example.org/1", "a", "a"),
        ("https://example.org/2", "a", "a"),
    ]
    spaced = "<a href='/x '>X</a><a href='/x #y'>Y</a>"
    assert [dst for dst, *_ in links(spaced)] == [
        "https://example.org/x",
        "https://example.org/x%20",
    ]


@pytest.mark.parametrize(
    ("html", "refused"),
    [
        ("<a href=/a>a</a><a href='#b'>b</a><a href=''>c</a><a>d</a><a href=page>e</a>", {}),
        (
            "<a href=mailto:a@b>m</a><a href='JAVA\tscript:x()'>j</a><iframe src=about:blank>",
            {"scheme": 3},
        ),
        ("<a href=mailto:a@b>m</a><a href=mailto:a@b>again</a>", {"scheme": 1}),
        ("<a href=ftp://h/>f</a><link rel=canonical href=data:,x>", {"scheme": 2}),
        ("<meta http-equiv=refresh content='0;url=tel:1'>", {"scheme": 1}),
        ("<a href='http://['>1</a><a href='//a,b/'>2</a><a href='/x&#1;y'>3</a>", {"no_url": 2}),
        (f"<a href=/{'a' * 2_000}>x</a><a href=http://h/{'a' * 1_991}>fits</a>", {"long_url": 1}),
        (f"<a href=/{'a' * 10_000}>x</a><a href=data:{'a' * 10_000}>y</a>", {"long_url": 2}),
        (f"<base href=http://h/{'a' * 1_980}/><a href={'b' * 50}>x</a>", {"long_url": 1}),
        (
            "<a href=tel:1>x</a><a href=tel:2>y</a><a href='http://['>z</a>",
            {"scheme": 2, "no_url": 1},
        ),
    ],
)
def test_references_that_are_no_links_are_counted_by_reason(
    html: str, refused: dict[str, int]
) -> None:
    assert parsed(html).refused == refused


def test_links_beyond_the_most_are_counted() -> None:
    html = "".join(f"<a href=/{n}>{n}</a><a href=/0>0</a>" for n in range(20))
    assert parsed(html, Rules(max_links=3)).refused == {"max_links": 17}


# Without what HTML's own preprocessing replaces (§13.2.3.5).
ATTRIBUTE = st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"]))


@given(st.lists(ATTRIBUTE | st.sampled_from(["/a", "tel:1", "http://[", "b#c"]), max_size=9))
def test_every_reference_is_a_link_or_refused(hrefs: list[str]) -> None:
    page = parsed("".join(f'<a href="{escape(href)}">x</a>' for href in hrefs))
    found = {normalize(href, URL) for href in hrefs if href and not href.startswith("#")}
    assert {link.dst for link in page.links} == found - {None, URL}
    assert bool(page.refused) == (None in found)


def test_anchor_text_is_cut() -> None:
    ((_, anchor, _),) = links(f"<a href=/x>{'long ' * 1000}</a>")
    assert len(anchor) == MAX_ANCHOR_CHARS


def test_a_canonical_link_to_the_page_itself_is_no_link() -> None:
    page = parsed("<link rel=canonical href=page>")
    assert page.canonical == URL
    assert page.links == ()


@pytest.mark.parametrize(
    ("html", "header", "asked"),
    [
        ("<meta name=robots content='noindex, Follow'>", "", Wishes(noindex=True)),
        ("<meta name=ROBOTS content=none>", "", Wishes(noindex=True, nofollow=True)),
        ("<meta name=Gossamer content=nofollow>", "", Wishes(nofollow=True)),
        ("<meta name=otherbot content=noindex>", "", Wishes()),
        ("<meta name=robots content=noindex><meta name=gossamer content=index>", "", Wishes(True)),
        ("<p>x", "nofollow", Wishes(nofollow=True)),
        ("<p>x", "otherbot: noindex, nofollow", Wishes()),
        ("<p>x", "otherbot: noindex, GOSSAMER: nofollow", Wishes(nofollow=True)),
        ("<p>x", "unavailable_after: Wed, 03 Dec 2025 13:09:53 GMT, noindex", Wishes(True)),
        ("<p>x", "max-snippet: 20, noindex", Wishes(noindex=True)),
        ("<meta name=robots content=noindex>", "nofollow", Wishes(True, True)),
    ],
)
def test_what_a_page_asks_of_crawlers(html: str, header: str, asked: Wishes) -> None:
    page = parsed(html + "<a href=/x>x</a>", x_robots_tag=header)
    assert page.robots[:2] == asked[:2]
    assert [link.nofollow for link in page.links] == [asked.nofollow]


@given(st.text(), st.text())
def test_directives_never_raise(content: str, agent: str) -> None:
    wishes(content)
    header_wishes(content, agent)


def test_a_page_without_text_and_title_is_empty() -> None:
    assert parsed("<script>x()</script><a href=/x></a>").outcome == "empty"
    assert parsed(b"").outcome == "empty"
    assert parsed("<title>t</title>").outcome == "parsed"


FRAGMENTS = st.sampled_from(
    """< > </ <!-- --> " ' = & &#x0; ]]> <![CDATA[ <a§href= </a> <h1> </h1> <table> <td> <svg>
    <math> <template> <title> <base§href= <meta§name=robots§content= <meta§charset= <frameset>
    <select> <html§lang= <plaintext> <b> </p> <object> <form> </body>
    <meta§http-equiv=refresh§content='0;url=
    <x-a><template§shadowrootmode=open> </template> <slot> </slot> <math> <mfrac> <semantics> <svg>
    <text> <foreignObject> <ruby> <rt> <rp> <pre>1 <span§aria-hidden=true> <div§popover> <button>
    <div§data-nosnippet> <span§class=lineno>1</span> </ruby> </math> </svg> </button>
    http://[ é \ud7ff \U0010ffff \0 §""".replace("\n", " ").split(" ")
).map(lambda fragment: fragment.replace("§", " "))


@given(st.lists(FRAGMENTS | st.text(max_size=5), max_size=40).map("".join))
def test_mutated_html_never_raises(html: str) -> None:
    check_page(parsed(html))


@given(st.binary(max_size=400), st.sampled_from(["text/html", "", "text/html; charset=utf-16"]))
def test_random_bytes_never_raise(body: bytes, content_type: str) -> None:
    check_page(parse_page(Page(URL, {"content-type": content_type}, body), Rules()))


def check_page(page: ParsedPage) -> None:
    assert page.outcome in ("parsed", "listing", "empty", "unsupported", "failed")
    assert "\0" not in (page.text or "")
    (page.text or "").encode()
    assert "\0" not in (page.main_text or "")
    (page.main_text or "").encode()
    assert len({link.dst for link in page.links}) == len(page.links)
    assert all(link.dst != URL and link.dst.isascii() for link in page.links)


def cost_s(make: Any, size: int) -> float:
    html = make(size)
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        parsed(html)
        best = min(best, time.process_time() - start)
    return best


@pytest.mark.parametrize(
    "unit",
    [
        "<a href=/x>",
        "<a href=/x><object>",
        "<h1><object>",
        "<p>x",
        "<b a=1>x</b>",
        "<meta name=description content=x>",
        "<title>",
        "</p>",
        "<div><template shadowrootmode=open>x</template></div>",
        "<math><mi>x",
        "<svg><text>x</text></svg>",
        "<ruby>x<rt>y",
        "<ruby>x<rt>y</rt></ruby>",
        "<pre>1\n",
        "<div class=gutter>1",
        "<button><h2>x",
        "<div data-nosnippet><h2>x",
        "&amp;",
        "\t",
    ],
)
def test_the_cost_of_a_repetition_is_linear(unit: str) -> None:
    # Depths at which lexbor's own square (guarded_parser.py) is still small beside the rest.
    small, large = (cost_s(lambda size: unit * size, size) for size in (500, 4_000))
    assert large < 8 * small * 3 + 0.02


def test_nested_anchors_around_one_long_text() -> None:
    html = "<a href=/x><object>" * 1_000 + "word " * 100_000
    start = time.process_time()
    parsed(html)
    assert time.process_time() - start < 1


def test_a_heading_s_link_to_itself_is_no_text() -> None:
    page = parsed("<h1>Lists<a href='#l'>¶</a></h1><p>Of ¶ 5 and more.<a href='/x'>¶</a>")
    assert page.headings == ("Lists",)
    assert page.text == "Lists\nOf ¶ 5 and more."
    assert "¶" not in {link.anchor for link in page.links}


def test_a_page_without_a_title_has_that_of_its_first_h1() -> None:
    assert parsed("<h2>Ferries</h2><h1>Islands</h1><h1>Boats</h1>").title == "Islands"
    assert parsed("<h2>Ferries</h2>").title is None


SRCDOC = escape("<a href='/s?a=1&amp;b=2'>S</a>")


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ("<noscript><p>x <a href=/n><b>N</b> n</a></noscript>", [("/n", "N n", "noscript")]),
        ("<head><noscript><a href=/n>N</a></noscript></head>", [("/n", "N", "noscript")]),
        ("<noscript><iframe src=/n title=N></iframe></noscript>", [("/n", "N", "noscript")]),
        ("<frameset><noframes><a href=/n>N</a></noframes>", [("/n", "N", "noscript")]),
        ("<noembed><a href=/n>N</a></noembed>", [("/n", "N", "noscript")]),
        ("<video><source src=/v><a href=/n>N</a></video>", [("/n", "N", "noscript")]),
        ("<audio><a href=/n>N</a></audio>", [("/n", "N", "noscript")]),
        ("<canvas><ul><li><a href=/n>N</a></ul></canvas>", [("/n", "N", "noscript")]),
        (
            "<object data=/o type='Text/HTML; x'><embed src=/e><a href=/n>N</a></object>",
            [("/o", "", "object"), ("/e", "", "noscript"), ("/n", "N", "noscript")],
        ),
        ("<object title=O data=/o.pdf type=application/pdf></object>", [("/o.pdf", "O", "object")]),
        ("<object><object data=/o></object></object>", [("/o", "", "noscript")]),
        ("<embed src=/e title=E>", [("/e", "E", "embed")]),
        (
            f'<iframe srcdoc="{SRCDOC}" src=/f></iframe>',
            [("/f", "", "iframe"), ("/s?a=1&b=2", "S", "srcdoc")],
        ),
        (
            "<svg><a xlink:href=/1>T<tspan>u</tspan></a><a href=/2 xlink:href=/3></svg>",
            [("/1", "Tu", "svg"), ("/2", "", "svg")],
        ),
        ("<p><SVG><A HREF=/1><title>x</title></A></SVG>", [("/1", "x", "svg")]),
        # other links to the same page come first
        ("<noscript><a href=/n>no</a></noscript><a href=/n>yes</a>", [("/n", "yes", "a")]),
        # not pages, or not seen by anybody
        ("<object data=/x type=image/png></object><embed src=/x type='video/mp4'>", []),
        ("<embed src=/x type=application/x-shockwave-flash><object></object><embed>", []),
        (
            "<noscript><iframe src=https://t.example/ns style='display:none'></iframe></noscript>",
            [],
        ),
        (
            "<noscript><a href=/n>N</a><iframe src=/h style='display: none'></iframe></noscript>",
            [("/n", "N", "noscript")],
        ),
        ("<svg><a>x</a><path/></svg><canvas></canvas><noscript>text</noscript>", []),
    ],
)
def test_embedded_links(html: str, found: list[tuple[str, str, str]]) -> None:
    here = "https://example.org"
    assert [(dst.removeprefix(here), text, rel) for dst, text, rel in links(html)] == found


def test_embedded_links_may_be_nofollow() -> None:
    html = (
        "<noscript><a rel='x NoFollow' href=/1>1</a></noscript><svg><a rel=ugc href=/2></a></svg>"
    )
    assert [link.nofollow for link in parsed(html).links] == [True, True]


def test_embedded_links_are_bounded() -> None:
    many = "".join(f"<svg><a href=/s{n}></a></svg>" for n in range(2_000))
    many += "".join(f"<noscript><a href=/n{n}></a></noscript>" for n in range(2_000))
    assert len(parsed(many).links) == MAX_EMBEDDED_LINKS
    long = "<noscript><a href=/1></a>" + " " * MAX_MARKUP_CHARS + "<a href=/2></a></noscript>"
    assert [link.dst for link in parsed(long).links] == ["https://example.org/1"]


@pytest.mark.parametrize(
    "opened", ["<svg><a href=/x>", "<object><a href=/x>", "<canvas><a href=/x>"]
)
def test_nested_drawings_and_fallbacks_take_linear_time(opened: str) -> None:
    html = opened * 1_000 + "word " * 100_000
    start = time.process_time()
    parsed(html)
    assert time.process_time() - start < 1


def test_queries_are_in_the_encoding_of_the_page() -> None:
    """All references of HTML are parsed with it (WHATWG HTML, "encoding-parsing a URL")."""
    html = """<meta charset=windows-1251><base href="/папка/?б=я"><title>Обычная страница</title>
    <link rel=canonical href="/c?q=да"><link rel=alternate hreflang=en href="/en?q=да">
    <meta http-equiv=refresh content="9; url=/r?q=да"><meta property=og:image content="/o?q=да">
    <a href="?q=да">да</a><map><area href="/да?q=да"></map><img src="/i?q=да">
    <iframe src="/f?q=да"></iframe>"""
    page = parsed(html.encode("windows-1251"))
    path = "%D0%B4%D0%B0"
    assert page.charset == "windows-1251"
    assert page.canonical == "https://example.org/c?q=%E4%E0"
    assert page.image == "https://example.org/o?q=%E4%E0"
    assert page.alternates == (("en", "https://example.org/en?q=%E4%E0"),)
    assert [link.dst.removeprefix("https://example.org") for link in page.links] == [
        "/c?q=%E4%E0",
        "/en?q=%E4%E0",
        "/r?q=%E4%E0",
        "/%D0%BF%D0%B0%D0%BF%D0%BA%D0%B0/?q=%E4%E0",
        f"/{path}?q=%E4%E0",
        "/i?q=%E4%E0",
        "/f?q=%E4%E0",
    ]
