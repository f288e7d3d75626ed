"""What browsers show of a page beyond plain elements: shadow roots, formulas, readings."""

from __future__ import annotations

import json

import pytest

from gossamer.parse.html.shadow_roots import MAX_ROOTS
from gossamer.parse.page_parsing import parse_page
from gossamer.parse.parsed_page import Page, ParsedPage, Rules

PROSE = "The committee met on the harbour wall to discuss the repairs of the crane and its pier."


def parsed(html: str) -> ParsedPage:
    headers = {"content-type": "text/html; charset=utf-8"}
    return parse_page(Page("https://example.org/x", headers, html.encode()), Rules())


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<x-a><template shadowrootmode=open><p>in</template></x-a>", "in"),
        ("<div><template shadowrootmode=CLOSED><p>in</template></div>", "in"),
        ("<div><template shadowrootmode>no</template>yes</div>", "yes"),
        ("<ul><template shadowrootmode=open>no</template><li>yes</ul>", "yes"),
        ("<x-a><template shadowrootmode=open>one</template><template>no</template></x-a>", "one"),
        (
            (
                "<x-a><template shadowrootmode=open>one</template>"
                "<template shadowrootmode=open>two</template></x-a>"
            ),
            "one",
        ),
        ("<x-a><template shadowrootmode=open>in</template>out</x-a>", "in"),
        (
            "<x-a><template shadowrootmode=open>(<slot></slot>)</template>in <b>bold</b></x-a>",
            "(in bold)",
        ),
        (
            (
                "<x-a><template shadowrootmode=open><slot name=b>no</slot>-<slot name=a></slot>"
                "-<slot name=c>default</slot></template><i slot=a>A</i><i slot=b>B</i></x-a>"
            ),
            "B-A-default",
        ),
        (
            (
                "<x-a><template shadowrootmode=open><x-b><template shadowrootmode=open>"
                "[<slot></slot>]</template><slot></slot></x-b></template>in</x-a>"
            ),
            "[in]",
        ),
        (
            (
                "<i><template shadowrootmode=open>no</template></i>"
                "<div><template shadowrootmode=open>in</template></div>"
            ),
            "in",
        ),
        ("<div><template shadowrootmode=open><slot>default</slot></template></div>", "default"),
        (
            (
                "<div><template shadowrootmode=open><slot name=a></slot></template>no"
                "<b slot=b>no</b><b slot=a>yes</b></div>"
            ),
            "yes",
        ),
        (
            (
                "<div><template shadowrootmode=open>(<slot>no</slot>)</template>"
                "<!-- a remark -->one</div>"
            ),
            "(one)",
        ),
    ],
)
def test_shadow_roots_show_what_their_slots_take(html: str, text: str) -> None:
    assert parsed(html).text == text


def test_links_and_headings_of_shadow_roots_count() -> None:
    page = parsed("<x-a><template shadowrootmode=open><h2>H</h2><a href=/y>Y</a></template></x-a>")
    assert page.headings == ("H",)
    assert [link.dst for link in page.links] == ["https://example.org/y"]


def test_shadow_roots_have_an_end() -> None:
    nested = "<x-a><template shadowrootmode=open>" * 300
    assert parsed(nested + "deep").outcome == "parsed"
    many = "<x-a><template shadowrootmode=open>a </template></x-a>" * (MAX_ROOTS + 1)
    assert (parsed(many).text or "").split() == ["a"] * MAX_ROOTS


@pytest.mark.parametrize(
    ("math", "text"),
    [
        ("<mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup>", "E=mc2"),
        ("<mi>sin</mi><mo>&ApplyFunction;</mo><mi>x</mi>", "sin x"),
        ("<mi>x</mi><mtext> if </mtext><mi>y</mi>", "x if y"),
        ("<mfrac><mi>a</mi><mi>b</mi></mfrac>", "a/b"),
        (
            (
                "<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr>"
                "<mtr><mtd><mn>3</mn></mtd></mtr></mtable>"
            ),
            "1 2 3",
        ),
        (
            (
                "<semantics><mi>x</mi><annotation encoding=application/x-tex>TeX</annotation>"
                "<annotation-xml><ci>y</ci></annotation-xml></semantics>"
            ),
            "x",
        ),
        ("<mphantom><mi>x</mi></mphantom><mi>y</mi>", "y"),
        ("<maction><mi>x</mi><mi>y</mi></maction>", "x"),
        ("<mtext>a <b>bold</b> word</mtext>", "a bold word"),
    ],
)
def test_formulas(math: str, text: str) -> None:
    assert parsed(f"<p>let <math>{math}</math>.").text == f"let {text}."


@pytest.mark.parametrize(
    "html",
    [
        (
            '<span class="katex"><span class="katex-mathml">{}</span>'
            '<span class="katex-html" aria-hidden="true"><span>v</span></span></span>'
        ),
        (
            '<span class="MathJax"><nobr aria-hidden="true"><span>v</span></nobr>'
            '<span class="MJX_Assistive_MathML" role="presentation">{}</span></span>'
        ),
        (
            '<mjx-container><mjx-math aria-hidden="true"><mjx-c>v</mjx-c></mjx-math>'
            "<mjx-assistive-mml>{}</mjx-assistive-mml></mjx-container>"
        ),
        (
            '<mjx-container><svg aria-hidden="true"><text>v</text></svg>'
            "<mjx-assistive-mml>{}</mjx-assistive-mml></mjx-container>"
        ),
    ],
)
def test_a_formula_and_its_copy_are_one(html: str) -> None:
    page = parsed("the speed " + html.format("<math><mi>v</mi></math>") + " is low")
    assert page.text == page.main_text == "the speed v is low"


@pytest.mark.parametrize(
    ("svg", "text"),
    [
        ("<title>no</title><desc>no</desc><text>v1</text>", "a v1 b"),
        ("<text>one<tspan>more</tspan></text><text>two</text>", "a\nonemore\ntwo\nb"),
        ("<text><tspan x=0>one</tspan><tspan x=0 dy=9>line</tspan></text>", "a one line b"),
        ("<defs><text>no</text></defs><symbol><text>no</text></symbol>", "ab"),
        ("<text display=none>no</text><g visibility=hidden><text>no</text></g>", "ab"),
        ("<foreignObject><div>one<div>two</div></div></foreignObject>", "a one two b"),
        (
            "<switch><foreignObject><i>one</i></foreignObject><text>no</text></switch>",
            "a one b",
        ),
        ("<style>no</style><path d=''/>", "ab"),
    ],
)
def test_images_of_text(svg: str, text: str) -> None:
    assert parsed(f"a<svg>{svg}</svg>b").text == text


@pytest.mark.parametrize(
    ("html", "main", "text"),
    [
        ("<p>a<div popover>no</div>", "a", "a\nno"),
        ("<p>a<x-a popover=manual>no</x-a>", "a", "ano"),
        ("<p>a<dialog popover open>b</dialog>", "a", "a\nb"),
        ("<p>a<div hidden>no</div>", "a", "a\nno"),
        ("<p>a<div hidden=hidden>no</div>", "a", "a\nno"),
        ("<p>a<div hidden=until-found>b</div>", "a\nb", "a\nb"),
        ("<p>a<div hidden=' Until-Found '>b</div>", "a\nb", "a\nb"),
        ("<p>a<details><summary>b</summary>c</details>", "a\nb\nc", "a\nb\nc"),
    ],
)
def test_elements_that_show_on_demand(html: str, main: str, text: str) -> None:
    page = parsed(html)
    assert (page.main_text, page.text) == (main, text)


@pytest.mark.parametrize(
    "title",
    [
        "<h2><button>Question?</button></h2>",
        "<h2><div><button>Question?</button></div></h2>",
        "<h5><span><button>Question?</button></span></h5>",
        "<button><h3>Question?</h3></button>",
        "<button><span><h4>Question?</h4></span></button>",
        "<div role=heading aria-level=2><button>Question?</button></div>",
        "<dl><dt><button>Question?</button></dl>",
    ],
)
def test_a_heading_is_text_although_it_is_a_button(title: str) -> None:
    page = parsed(f"<p>{PROSE}</p>{title}<p>{PROSE} Again.</p><button>Send</button>")
    assert page.main_text == f"{PROSE}\nQuestion?\n{PROSE} Again."


@pytest.mark.parametrize(
    "code",
    [
        (
            "<table><tr><td class=linenos><div class=linenodiv><pre>1\n2</pre></div>"
            "<td class=code><pre>{}</pre></table>"
        ),
        "<table><tr><td class=gutter><div>1</div><div>2</div><td><pre>{}</pre></table>",
        (
            "<table><tr><td class=lntd><pre><i class=lnt>8\n</i><i class=lnt>9</i></pre>"
            "<td class=lntd><pre>{}</pre></table>"
        ),
        "<table><tr><td><pre>1\n2\n3</pre><td><pre>{}</pre></table>",
        "<pre class=lineno>1\n</pre><pre>{}</pre>",
        "<pre><span class=lineno>  1 </span>{}</pre>",
        "<pre><a class=linenr href=#l1> 1</a>{}</pre>",
        "<div class=line><span class=lineno>    1</span>{}</div>",
        "<div class=line-numbers-wrapper><span class=line-number>1</span><br></div><pre>{}</pre>",
        "<table><tr><td class='blob-num'>1</td><td class=blob-code>{}</table>",
        "<table><tr><td class='hljs-ln-line hljs-ln-numbers'>1<td>{}</table>",
    ],
)
def test_line_numbers_are_no_text(code: str) -> None:
    page = parsed(f"<p>{PROSE}</p>{code.format('alpha = 1')}<p>{PROSE} Again.</p>")
    assert page.text == page.main_text == f"{PROSE}\nalpha = 1\n{PROSE} Again."


def test_numbers_that_do_not_count_lines_stay() -> None:
    page = parsed("<pre>1 3 4</pre><pre><span class=mi>7</span></pre><p class=gutter>see 5</p>")
    assert page.text == "1 3 4\n7\nsee 5"


@pytest.mark.parametrize(
    ("html", "main", "more"),
    [
        ("<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>字<rt>じ</rt></ruby>", "漢字", "かんじ"),
        ("<ruby><rb>漢<rb>字<rt>かん<rt>じ</ruby>", "漢字", "かんじ"),
        ("<ruby>食<rt>た</rt></ruby>べる", "食べる", "たべる"),
        ("<ruby>北<rt>Běi</rt>京<rt>jīng</rt></ruby>", "北京", "Běijīng"),
        ("<rt>not ruby</rt>", "not ruby", ""),
    ],
)
def test_readings_are_beside_the_text(html: str, main: str, more: str) -> None:
    page = parsed(f"<title>x</title><p>{html}")
    assert page.main_text == main
    assert page.text == f"{main}\n{more}".strip()


def test_what_must_not_be_quoted_is_found_but_not_shown() -> None:
    page = parsed(
        f"<p>{PROSE}<span data-nosnippet> Secret.</span></p><div data-nosnippet><h2>Hidden</h2>"
        f"<p>{PROSE} Hushed.</p></div><h2>Shown</h2><p data-nosnippet>{PROSE} Told.</p>"
    )
    assert page.main_text == f"{PROSE}\nShown\n{PROSE} Told."
    assert "Secret." in (page.text or "")
    assert "Hushed." in (page.text or "")
    assert page.headings == ("Shown",)
    assert not page.robots.nosnippet


def test_a_page_of_nothing_else_is_not_quoted_at_all() -> None:
    page = parsed(f"<div data-nosnippet><p>{PROSE}</p></div>")
    assert page.robots.nosnippet
    assert page.text == PROSE
    long = parsed(f"<section data-nosnippet><p>{PROSE * 20}</p></section>")
    assert long.robots.nosnippet
    assert long.main_text == PROSE * 20


def test_the_text_in_json_ld_where_the_page_shows_nothing() -> None:
    work = {"@type": "NewsArticle", "headline": "Tides", "articleBody": f"<p>{PROSE}</p>A &amp; B"}
    script = f"<script type=application/ld+json>{json.dumps(work)}</script>"
    page = parsed(f"<title>Tides</title>{script}<nav><a href=/>Home</a></nav><div id=root></div>")
    assert page.main_text == f"{PROSE}\nA & B"
    assert page.text == f"Home\n{PROSE}\nA & B"
    assert not page.is_doubtful
    shown = parsed(f"<title>Tides</title>{script}<main><p>Other prose. {PROSE}</main>")
    assert shown.main_text == f"Other prose. {PROSE}"
