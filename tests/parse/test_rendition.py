"""Pages as Markdown: the structure of HTML, the words of the main text, and hostile pages."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.page_parsing import parse_response
from gossamer.parse.parsed_page import ParsedPage, Rules, SiteRule
from tests.support.rendered_back import text_of

RENDERS = Rules(renders=True)
URL = "https://a.test/docs/page.html"
PROSE = "This is a sentence of prose, long enough that it counts as one of an article's paragraphs."


def parse(html: str, rules: Rules = RENDERS, mime: str = "text/html") -> ParsedPage:
    headers = {"content-type": f"{mime}; charset=utf-8"}
    return parse_response(URL, headers, html.encode("utf-8", "replace"), rules)


def body_of(html: str, rules: Rules = RENDERS) -> str:
    """Return the Markdown of a page of which the given HTML is the middle."""
    page = parse(f"<title>t</title><main><p>{PROSE}</p>{html}<p>{PROSE}</p></main>", rules)
    assert page.rendition is not None
    written = page.rendition.markdown.removeprefix("# t\n\n")
    return written.removeprefix(PROSE).removesuffix(PROSE).strip("\n")


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<h2>Head <code>x</code></h2>", "## Head `x`"),
        ("<p>an <em>odd</em> and <b>bold</b> word", "an *odd* and **bold** word"),
        ('<p>see <a href="../b?c#d">this page</a>.', "see [this page](https://a.test/b?c#d)."),
        ('<p>do <a href="javascript:x()">this</a>.', "do this."),
        (
            '<p>seen <img src=i.png alt="a cat"> here',
            "seen ![a cat](https://a.test/docs/i.png) here",
        ),
        ("<p>seen <img src=i.png> here", "seen here"),
        ("<p>one line<br>another line", "one line\\\nanother line"),
        ("<p>one line<br><br>another line", "one line\n\nanother line"),
        ("<ul><li>one<ol start=3><li>two</ol><li>three</ul>", "- one\n\n  3. two\n\n- three"),
        ("<ul><li>one<ul><li>two</ul><li>three</ul>", "- one\n  - two\n- three"),
        ("<ol><li><p>one</p><p>more</p><li>two</ol>", "1. one\n\n   more\n\n2. two"),
        (
            "<dl><dt>term<dd>meaning<dt>other<dd>sense</dl>",
            "- term\n\n  meaning\n\n- other\n\n  sense",
        ),
        ("<dl><dt>a<dd>b</dl><dl><dt>c<dd>d</dl>", "- a\n\n  b\n\n- c\n\n  d"),
        ("<blockquote><p>said<p>more</blockquote>", "> said\n>\n> more"),
        (
            '<div class="highlight-python3"><pre>\nif a &lt; b:\n    c = "`"\n</pre></div>',
            '```python\nif a < b:\n    c = "`"\n```',
        ),
        ('<pre><code class="language-c++">int a;</code></pre>', "```c++\nint a;\n```"),
        ("<pre>a\n```\nb</pre>", "````\na\n```\nb\n````"),
        (
            "<table><caption>Sizes</caption><tr><th>a<th>b<tr><td>1<td>x|y</table>",
            "Sizes\n\n| a | b |\n| --- | --- |\n| 1 | x\\|y |",
        ),
        (
            "<table><tr><td rowspan=2>a<td>b<td>c<tr><td colspan=2>d<tr><td>e<td>f<td>g</table>",
            "| a | b | c |\n| --- | --- | --- |\n|  | d |  |\n| e | f | g |",
        ),
        ("<table><tr><td><h3>a</h3><p>b<td><p>c</table>", "### a\n\nb\n\nc"),
        ("<table><tr><td>1\n2<td><pre>x\ny</pre></table>", "1 2\n\n```\nx\ny\n```"),
        ("<p>x<sup>2</sup> and <math><mi>a</mi><mo>+</mo><mn>1</mn></math>", "x2 and a+1"),
        (r"<p>as \(x_1^2\) says", r"as \\(x_1^2\\) says"),
        ("<p>a <span hidden>secret </span>word", "a word"),
        ("<li>stray<p>text", "stray\n\ntext"),
        ("<div><p>one</p>two<h3>three</h3>four</div>", "one\n\ntwo\n\n### three\n\nfour"),
        ("one<pre>two</pre>three<p>four", "one\n\n```\ntwo\n```\n\nthree\n\nfour"),
        ("one<ul><li>two</ul>three", "one\n\n- two\n\nthree"),
        ("<ul>loose<li>kept</ul>", "- loose\n- kept"),
        ("<pre>\ta  \n\n b\n\n</pre>", "```\n        a\n\n b\n```"),
        ("<pre>a<br>b</pre>", "```\na\nb\n```"),
        ("<pre>a<div>b</div>c</pre>", "```\na\nb\nc\n```"),
        ("<ol start=0><li>a</ol>", "0. a"),
        ("<ol start=-2><li>a</ol>", "1. a"),
        ("<p>a<br><br><br>b", "a\n\nb"),
        ("<h3>a<br>b</h3>", "### a b"),
        ("<h2>a<h3>b</h3></h2>", "## a\n\n### b"),
        ("<h2> </h2>", ""),
        ('<p>a <a href="  /x\n y ">link</a>', "a [link](https://a.test/xy)"),
        ('<p>a <a href="data:,x">link</a>', "a link"),
        ("<p>a<img src=i.png alt=' '>b", "ab"),
        ("<dl><dt>a<dd>b<dd>c</dl>", "- a\n\n  b\n\n  c"),
        ("<dl><dd>a<dd>b</dl>", "- a\n\n  b"),
        ("<dl><dt>a<dd>b</dl><p>x<dl><dt>c<dd>d</dl>", "- a\n\n  b\n\nx\n\n- c\n\n  d"),
        ("<p>a <a href=/x>b<b>c</b></a>d", "a [b](https://a.test/x)[**c**](https://a.test/x)d"),
        ("<ul><li></li><li>a</ul>", "- a"),
        ("<ul></ul><blockquote></blockquote>", ""),
        ("<blockquote>a<ul><li>b</ul></blockquote>", "> a\n>\n> - b"),
        (
            "<table><tr><td colspan=x>a<td>b<tr><td>c<td>d</table>",
            "| a | b |\n| --- | --- |\n| c | d |",
        ),
        ("<div class=language-sh><div><div><pre>x</pre></div></div></div>", "```sh\nx\n```"),
        (
            "<div class=language-sh><div><div><div><pre>x</pre></div></div></div></div>",
            "```\nx\n```",
        ),
        ("<pre class=language-a><code class=language-b>x</code></pre>", "```a\nx\n```"),
        ("<div class=language-a><pre class=language-b>x</pre></div>", "```b\nx\n```"),
    ],
)
def test_elements(html: str, markdown: str) -> None:
    assert body_of(html) == markdown


def test_boilerplate_is_left_out() -> None:
    page = parse(
        f"<title>A page</title><nav><ul><li><a href=/>Home</a></ul></nav><h1>A page</h1>"
        f"<p>{PROSE}<p>{PROSE}<footer>Imprint</footer>"
    )
    assert page.rendition is not None
    assert page.rendition.markdown == f"# A page\n\n{PROSE}\n\n{PROSE}"


@pytest.mark.parametrize(
    ("title", "headings", "shown"),
    [
        ("Loops - The Manual", ["The Manual", "Contents", "Loops"], "Loops"),
        ("Loops - The Manual", ["Loops", "The Manual"], "Loops"),
        ("The Manual", ["The Manual", "Loops"], "The Manual"),
        ("The Manual: Loops", ["The Manual", "Loops"], "The Manual"),
        ("Loops - Contents - The Manual", ["The Manual", "Loops"], "The Manual"),
        ("Loops - The Manual", ["Contents", "Loops"], "Loops - The Manual"),
        ("- The Manual", ["The Manual", "Loops"], "The Manual"),
    ],
)
def test_the_heading_of_the_page_is_its_title(title: str, headings: list[str], shown: str) -> None:
    """Manuals have their own name in the first heading of each page."""
    first, *others = (f"<h1>{each}</h1>" for each in headings)
    page = parse(f"<title>{title}</title><header>{first}</header>{''.join(others)}<p>{PROSE}")
    assert page.rendition is not None
    assert page.rendition.markdown.partition("\n")[0] == f"# {shown}"


def test_the_site_rules_body_is_rendered() -> None:
    rule = SiteRule(name="a", url="https://a.test/*", body=(".b",), drop=(".ad",))
    html = f"<title>t</title><p>{PROSE}</p><div class=b><ul><li>x</ul><p class=ad>ad</p></div>"
    page = parse(html, Rules(renders=True, sites=(rule,)))
    assert page.rendition is not None
    assert page.rendition.markdown == "# t\n\n- x"


def test_a_page_whose_text_is_only_hidden_is_shown() -> None:
    page = parse(f"<title>t</title><div hidden><h2>a</h2><p>{PROSE * 20}</p></div>")
    assert page.rendition is not None
    assert page.main_text is not None
    assert text_of(page.rendition.markdown) == " ".join(f"t {page.main_text}".split())


def test_other_formats_are_rendered_by_their_text() -> None:
    page = parse("# One *two*\n\nthree", mime="text/plain")
    assert page.rendition is not None
    assert page.rendition.markdown == "\\# One \\*two\\*\n\nthree"
    page = parse("# One\n\n## Two\n\nthree", mime="text/markdown")
    assert page.rendition is not None
    assert page.rendition.markdown == "# One\n\n## Two\n\nthree"
    assert [each.path for each in page.rendition.passages] == [("One", "Two")]


@pytest.mark.parametrize("tag", ['div class="note"', "aside"])
def test_headings_of_notes_do_not_reach_beyond_them(tag: str) -> None:
    note = f"<{tag}><h3>Note</h3><p>{PROSE * 4}</p></{tag.split(maxsplit=1)[0]}>"
    page = parse(f"<title>t</title><h2>A</h2><p>{PROSE}</p>{note}<p>{PROSE}</p><p>{PROSE}</p>")
    assert page.rendition is not None
    paths = [each.path for each in page.rendition.passages]
    assert paths == [("t", "A"), ("t", "A", "Note"), ("t", "A")]
    assert page.rendition.markdown.count("### Note") == 1


def test_nothing_is_rendered_unless_it_is_wanted() -> None:
    assert parse(f"<p>{PROSE}", Rules()).rendition is None


INLINE = st.recursive(
    st.text("ab *_`[]()<&>#!|~\\\n1.", max_size=8).map(
        lambda text: text.replace("&", "&amp;").replace("<", "&lt;")
    ),
    lambda inner: st.builds(
        lambda tag, content: f"<{tag}>{content}</{tag.split()[0]}>",
        st.sampled_from(("b", "em", "code", "a href=/x", "span", "span hidden", "tt")),
        inner,
    ),
    max_leaves=4,
)
FLOW = st.recursive(
    st.one_of(INLINE, st.just("<br>"), st.builds("<p>{}</p>".format, INLINE)),
    lambda inner: st.builds(
        lambda tags, parts: tags[0] + "".join(tags[1].format(each) for each in parts) + tags[2],
        st.sampled_from(
            (
                ("<ul>", "<li>{}</li>", "</ul>"),
                ("<ol>", "<li>{}</li>", "</ol>"),
                ("<dl>", "<dt>a<dd>{}</dd>", "</dl>"),
                ("<blockquote>", "{}", "</blockquote>"),
                ("<div>", "{}", "</div>"),
                ("<pre>", "{}", "</pre>"),
                ("<h3>", "{}", "</h3>"),
                ("<table>", "<tr><td>{}<td>b", "</table>"),
                ("<table><tr>", "<th>{}</th>", "</table>"),
            )
        ),
        st.lists(inner, max_size=3),
    ),
    max_leaves=8,
)


@given(FLOW)
def test_the_words_of_the_main_text_come_back(html: str) -> None:
    page = parse(f"<title>t</title><main><p>{PROSE}</p>{html}<p>{PROSE}</p></main>")
    assert page.rendition is not None
    assert page.main_text is not None
    back = text_of(page.rendition.markdown).removeprefix("t ")
    assert letters(back) == letters(page.main_text)


def letters(text: str) -> str:
    return "".join(re.findall(r"[^\s•]", text))


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 1_000 + "a",
        "<ul><li>" * 1_000 + "a",
        "<blockquote>" * 1_000 + "a",
        "<table><tr><td>" * 500 + "a",
        "<table>" + "<tr><td rowspan=65534 colspan=1000>a" * 500,
        "<table><tr>" + "<td>a" * 3_000,
        "<table>" + "<tr><td>a<td>b" * 1_500,
        "<dl>" + "<dt>a<dd>b" * 1_500,
        "<pre>" + "a<br>" * 3_000,
        "<p>" + "<b>a</b>*" * 3_000,
        "<p>" + "[" * 3_000,
        "<p>a" * 3_000,
    ],
)
def test_hostile_pages_become_at_most_a_few_times_longer(html: str) -> None:
    page = parse(f"<title>t</title><p>{PROSE}{html}")
    assert page.rendition is not None
    assert len(page.rendition.markdown) < 100_000 + 12 * len(html)
    assert len(page.rendition.passages) < len(html)


def test_long_pages_end_at_a_block() -> None:
    rules = Rules(renders=True, max_text_chars=500)
    page = parse("<title>t</title>" + f"<p>{PROSE}</p>" * 20, rules)
    assert page.rendition is not None
    assert page.rendition.truncated
    assert page.rendition.markdown == "\n\n".join(["# t", *[PROSE] * 5])
