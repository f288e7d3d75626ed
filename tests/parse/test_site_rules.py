from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from selectolax.lexbor import LexborHTMLParser

from gossamer import parse
from gossamer.config import ParseConfig
from gossamer.errors import ConfigError
from gossamer.parse.html.site_rules import MAX_VALUES, body_elements, read_site_rules
from gossamer.parse.page_parsing import parse_page
from gossamer.parse.page_rules import sites_of
from gossamer.parse.parsed_page import Page, ParsedPage, Rules, SiteRule
from gossamer.parse.process.guarded_parser import GuardedParser
from tests.support.stored_rounds import HOME, Fetched, store_round, table

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

URL = "https://example.org/news/1"
FERRY = "The ferry to the island leaves at dawn, when the harbour is still dark and quiet."
PAGE = f"""<title>Site</title><meta name=author content=Nobody><meta name=date content=2001-01-01>
<div class=head><h2> A  <b>story</b></h2><time datetime=2024-05-01T10:00Z>a day ago</time>
<ul class=by><li>By Ann Lee<li>https://example.org/bob<li>Bob Ray</ul></div>
<div class=text><p>One.<p>Two<br>lines.<aside>Advert</aside></div>
<p>{FERRY}</p><div class=text><p>Three.</p></div>"""


def taken(html: str, *, at: str = URL, fetched: datetime | None = None, **rule: Any) -> ParsedPage:
    """Return the page as parsed with a rule."""
    rules = Rules(sites=(SiteRule(**({"name": "site", "url": "https://example.org/*"} | rule)),))
    return parse_page(Page(at, {"content-type": "text/html"}, html.encode(), fetched), rules)


def automatic(html: str) -> ParsedPage:
    return parse_page(Page(URL, {"content-type": "text/html"}, html.encode()), Rules())


def test_what_a_rule_finds_beats_what_the_parser_makes_of_the_page() -> None:
    page = taken(
        PAGE,
        title=("h2",),
        date=("time::attr(datetime)",),
        author=(".by li",),
        body=(".text",),
        drop=("aside",),
    )
    assert (page.title, page.headline) == ("A story", "A story")
    assert page.published == datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert page.authors == ("Ann Lee", "Bob Ray")
    assert page.main_text == "One.\nTwo lines.\nThree."
    assert page.unmatched == ()
    plain = automatic(PAGE)
    assert (plain.title, plain.headline, plain.authors) == ("Site", None, ("Nobody",))
    assert (plain.published, plain.text) == (datetime(2001, 1, 1, tzinfo=UTC), page.text)
    assert plain.main_text != page.main_text


def test_what_it_does_not_find_stays_and_is_told() -> None:
    page = taken(
        PAGE, title=("h3",), date=("time",), author=("h3", "i"), body=("article",), drop=("b",)
    )
    assert page.unmatched == ("site.title", "site.date", "site.author", "site.body")
    assert structs.replace(page, unmatched=()) == automatic(PAGE)


def test_of_several_selectors_the_first_that_gives_something_counts() -> None:
    page = taken(
        PAGE,
        title=("h3", ".text aside::attr(title)", "h2", "title"),
        date=("h2", "time", "time::attr(datetime)", "meta[name=date]::attr(content)"),
        author=("aside::attr(id)", "li:last-child", "li"),
        body=("article", "aside", ".text"),
    )
    assert page.title == "A story"
    assert page.published == datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert page.authors == ("Bob Ray",)
    assert page.main_text == "Advert"


def test_of_several_elements_the_first_that_gives_something_counts() -> None:
    html = "<h1> </h1><h1>A</h1><h1>B</h1><i>soon</i><i>2 May 2024</i><i>3 May 2024</i>"
    page = taken(html, title=("h1",), date=("i",))
    assert (page.title, page.published) == ("A", datetime(2024, 5, 2, tzinfo=UTC))


def test_attributes_are_folded_as_texts_are() -> None:
    html = "<meta name=t content=' A\n title '><p data-body='First  line'><p data-body=Second><p>x"
    page = taken(html, title=("meta[name=t]::attr(content)",), body=("p::attr(data-body)",))
    assert (page.title, page.main_text) == ("A title", "First line\nSecond")


def test_a_body_in_a_body_is_read_once() -> None:
    html = "<div class=c>a<div class=c>b<p class=c>c</div></div><p>x<div><div class=c>d</div></div>"
    assert taken(html, body=(".c",)).main_text == "a\nb\nc\nd"


def test_dropped_elements_may_hold_each_other_and_all_of_them_go() -> None:
    html = "<div>a<b>b<i>c<b>d</b></i></b><i>e</i>f</div>"
    assert taken(html, body=("div",), drop=("b", "i, b", "html, i")).main_text == "af"


def test_what_is_dropped_from_the_body_may_be_its_title_and_its_text() -> None:
    page = taken("<div><h1>T</h1>x</div>", title=("h1",), body=("div",), drop=("h1",))
    assert (page.title, page.main_text, page.text) == ("T", "x", "T\nx")


def test_a_body_that_is_dropped_is_none() -> None:
    for drop in ("body", "div, p", "*"):
        page = taken("<div>x</div>", body=("div",), drop=(drop,))
        assert (page.main_text, page.unmatched) == ("x", ("site.body",))


def test_what_is_not_shown_is_taken_where_it_is_asked_for() -> None:
    article = "<article style='display:none'>a<p>b<p hidden>c<script>d</script></article>"
    page = taken(f"<title>T <b></title>{article}", title=("title",), body=("article",))
    assert (page.title, page.main_text) == ("T <b>", "a\nb")


@pytest.mark.parametrize("inside", ["", " ", "<script>x</script>", "<p hidden>x", "<img alt=x>"])
def test_an_element_without_text_is_nothing(inside: str) -> None:
    page = taken(f"<article>{inside}</article><p>y", body=("article",))
    assert (page.main_text, page.unmatched) == ("y", ("site.body",))


def test_a_rule_makes_a_page_of_what_would_be_empty() -> None:
    html = "<div data-t=Title></div>"
    assert automatic(html).outcome == "empty"
    assert taken(html, title=("div::attr(data-t)",)).outcome == "parsed"
    assert taken(html, title=("p",)).outcome == "empty"


def test_a_date_that_cannot_be_is_none() -> None:
    html = "<meta property=article:modified_time content=2024-05-02><i>2024-05-03</i>"
    may = datetime(2024, 5, 1, tzinfo=UTC)
    page = taken(html, date=("i",), fetched=may.replace(day=20))
    assert (page.published, page.modified) == (may.replace(day=3), None)
    page = taken(html, date=("i",), fetched=may.replace(day=2))  # a clock may be a day behind
    assert page.published == may.replace(day=3)
    page = taken(html, date=("i",), fetched=may)
    assert (page.published, page.unmatched) == (None, ("site.date",))


def test_the_elements_of_a_body_may_be_partly_empty() -> None:
    tree = LexborHTMLParser("<i></i><b></b><b>x</b>")
    rule = SiteRule(name="a", url="*", body=("i", "b::attr(id)", "b"))
    assert [node.text() for node in body_elements(rule, tree)] == ["", "x"]
    assert body_elements(structs.replace(rule, body=("i",)), tree) == []
    named = LexborHTMLParser("<b id=1>x</b>")
    assert body_elements(rule, named) == []


def test_what_is_taken_has_an_end() -> None:
    html = "<h1>" + "t " * 2_000 + "</h1>" + "<i>A B</i>" * MAX_VALUES + "<i>C</i><p>" + "x" * 50
    rule = SiteRule(name="a", url="*", title=("h1",), author=("i",), body=("p",))
    page = parse_page(
        Page(URL, {"content-type": "text/html"}, html.encode()),
        Rules(sites=(rule,), max_text_chars=20),
    )
    assert len(page.title or "") <= 1_000
    assert page.authors == ("A B",)
    assert page.main_text == "x" * 20


def test_the_language_is_that_of_the_body() -> None:
    german = "<p>Die Fähre zur Insel fährt im Morgengrauen ab, wenn der Hafen noch dunkel ist."
    html = f"<p>{FERRY * 3}</p><aside>{german}</aside>"
    assert automatic(html).language == "en"
    assert taken(html, body=("aside",)).language == "de"


def test_feeds_and_texts_have_no_rules() -> None:
    rules = Rules(sites=(SiteRule(name="a", url="*", title=("h1",)),))
    page = parse_page(Page(URL, {"content-type": "text/plain"}, b"<h1>x</h1>"), rules)
    assert (page.text, page.unmatched) == ("<h1>x</h1>", ())


@pytest.mark.parametrize(
    ("pattern", "url", "fits"),
    [
        ("*", URL, True),
        ("https://example.org/*", URL, True),
        ("https://example.org/news/1", URL, True),
        ("http*://example.org/*", URL, True),
        ("*://*.org/*/1", URL, True),
        ("https://*/news/*", URL, True),
        ("https://example.org*", URL, True),
        ("*/news/*s/*", URL, False),
        ("http://example.org/*", URL, False),
        ("https://example.org/new", URL, False),
        ("https://example.org/news/", URL, False),
        ("https://example.org/?.[ab]+(*", "https://example.org/?.[ab]+(c", True),
        ("https://example.org/?.[ab]+(*", "https://example.org/x.a(c", False),
        ("https://example.org/*/*", "https://example.org/a", False),
        ("*a*ab*", "https://example.org/aab", True),
        ("*a*b", "https://example.org/abab", True),
        ("*/aa*aa", "https://example.org/aaa", False),
        ("*https://*", URL, True),
    ],
)
def test_patterns_of_urls(pattern: str, url: str, fits: bool) -> None:
    page = taken("<h1>x", at=url, url=pattern, title=("i",))
    assert page.unmatched == (("site.title",) if fits else ())


def test_a_pattern_tries_no_place_twice() -> None:
    start = time.process_time()
    assert taken("x", at=URL + "a" * 2_000, url="*a" * 40 + "*b", title=("i",)).unmatched == ()
    assert time.process_time() - start < 5


def test_the_first_rule_that_fits_counts() -> None:
    sites = (
        SiteRule(name="other", url="https://example.com/*", title=("h1",)),
        SiteRule(name="news", url="*/news/*", title=("h2",)),
        SiteRule(name="all", url="*", title=("h3",)),
    )
    page = Page(URL, {"content-type": "text/html"}, b"<h1>1</h1><h2>2</h2><h3>3</h3>")
    assert parse_page(page, Rules(sites=sites)).title == "2"
    assert parse_page(page._replace(url=HOME), Rules(sites=sites)).title == "3"


RULES = """
[[rule]]
name = "example"
url = "https://example.org/news/*"
title = "h1"
date = ["time::attr(datetime)", ".date"]
author = '[rel="author"]'
body = "article > p, article > ul"
drop = [".ad"]

[[rule]]
name = "rest"
url = "https://example.org/*"
title = "h2"
"""


def test_a_file_of_rules(tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text(RULES)
    rules = sites_of(ParseConfig(site_rules="rules.toml"), str(tmp_path))
    assert rules == (
        SiteRule(
            name="example",
            url="https://example.org/news/*",
            title=("h1",),
            date=("time::attr(datetime)", ".date"),
            author=('[rel="author"]',),
            body=("article > p, article > ul",),
            drop=(".ad",),
        ),
        SiteRule(name="rest", url="https://example.org/*", title=("h2",)),
    )
    assert sites_of(ParseConfig(site_rules=str(tmp_path / "rules.toml")), "/elsewhere") == rules
    assert sites_of(ParseConfig(), str(tmp_path)) == ()
    (tmp_path / "none.toml").write_text("")
    assert read_site_rules(tmp_path / "none.toml") == ()


@pytest.mark.parametrize(
    ("text", "subject", "what"),
    [
        ("rule = [", "", "not TOML"),
        ("rules = 1", "", "rules: only tables"),
        ("rule = 1", "", "rule: only tables"),
        ("rule = [1]", "", "rule: only tables"),
        ("[[rule]]\nurl = '*'", ", rule 1", "missing required field `name`"),
        ("[[rule]]\nname = 'a'\ntitle = 'p'", ", rule a", "missing required field `url`"),
        ("{r}titel = 'p'", ", rule a", "unknown field `titel`"),
        ("{r}title = 1", ", rule a", "Expected `array`, got `int` - at `title`"),
        ("{r}title = ['p', 1]", ", rule a", "Expected `str`, got `int` - at `title[1]`"),
        ("{r}body = ['p', 'p:hover']", ", rule a", "body: 'p:hover': :hover is not supported"),
        ("{r}date = 'p > '", ", rule a", "date: 'p > ': a selector is expected at the end"),
        ("{r}body = 'p'\ndrop = 'p::attr(x)'", ", rule a", "drop: 'p::attr(x)': only elements"),
        ("{r}title = 'p'\ndrop = 'i'", ", rule a", "it has `drop` but not `body`"),
        ("{r}title = []", ", rule a", "it extracts nothing"),
        ("{r}title = 'p'\n{r}title = 'p'", ", rule a", "another rule has this name"),
        ("[[rule]]\nname = 'a.b'\nurl = '*'\ntitle = 'p'", ", rule a.b", "a name may contain only"),
        ("[[rule]]\nname = ''\nurl = '*'\ntitle = 'p'", ", rule ", "a name may contain only"),
    ],
)
def test_errors_in_rules_name_the_file_and_the_rule(
    tmp_path: Path, text: str, subject: str, what: str
) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(text.replace("{r}", "[[rule]]\nname = 'a'\nurl = '*'\n"))
    with pytest.raises(ConfigError) as raised:
        read_site_rules(path)
    assert raised.value.subject == f"{path}{subject}"
    assert what in raised.value.what
    assert raised.value.remedy == "see docs/parsing.md"


@pytest.mark.parametrize(
    "url",
    [
        *("", "example.org/*", "https://example.org", "https://Example.org/*", "HTTPS://a.org/*"),
        *("https://a.org/#*", "https://a.org/ *", "https://müller.example/*", "https:/a.org/*"),
    ],
)
def test_a_pattern_that_fits_no_url_is_told(tmp_path: Path, url: str) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(f"[[rule]]\nname = 'a'\nurl = '{url}'\ntitle = 'p'")
    with pytest.raises(ConfigError, match="give a pattern of whole URLs"):
        read_site_rules(path)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"rules\.toml: cannot be read"):
        sites_of(ParseConfig(site_rules="rules.toml"), str(tmp_path))


def with_rules(work: Workspace, text: str) -> Workspace:
    Path(work.root, "rules.toml").write_text(text)
    return replace(
        work, config=structs.replace(work.config, parse=ParseConfig(site_rules="rules.toml"))
    )


@pytest.mark.folder
def test_the_step_reads_the_file_and_counts_what_matched_nothing(work: Workspace) -> None:
    work = with_rules(work, RULES)
    news = b"<h1>N</h1><article><p>one<p class=ad>ad</article>"
    store_round(
        work,
        [Fetched(HOME + "news/1", news), Fetched(HOME + "news/2", news), Fetched(HOME, b"<p>x")],
    )
    counts = parse.run(work).counts
    assert {name: n for name, n in counts.items() if name.startswith("unmatched_")} == {
        "unmatched_example_date": 2,
        "unmatched_example_author": 2,
        "unmatched_rest_title": 1,
    }
    documents = {row["url"]: row for row in table(work, "documents")}
    assert documents[HOME + "news/1"]["title"] == "N"
    assert documents[HOME + "news/1"]["main_text"] == "one"


@pytest.mark.folder
def test_a_bad_rule_is_told_before_anything_runs(work: Workspace) -> None:
    work = with_rules(work, RULES.replace("h1", "h1:hover"))
    with pytest.raises(ConfigError, match=r"rules\.toml, rule example: title: 'h1:hover'"):
        parse.run(work)


@pytest.mark.server
def test_many_rules_pass_to_the_guarded_process() -> None:
    many = [
        SiteRule(name=f"r{n}", url=f"https://{n}.example/*", title=("h1",)) for n in range(9_000)
    ]
    with GuardedParser(Rules(sites=tuple(many))) as parser:
        page = Page("https://8999.example/", {"content-type": "text/html"}, b"<h1>x</h1>")
        assert parser.parse(page).title == "x"


# Made to take long: each of these elements is in all those before it, or follows them.
HOSTILE = {
    "deep": "<div class=c>" * 3_000 + "x",
    "flat": "<p class=c>x</p>" * 20_000,
    "inline": "<b><i class=c>x</i>" * 3_000,
    "comments": "<p class=c>x</p><!---->" * 20_000,
    "attributes": "<p class=c " + " ".join(f"a{n}" for n in range(3_000)) + ">x",
}


@pytest.mark.server
@pytest.mark.parametrize("html", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_was_made_to_take_long_takes_little_longer_with_rules(html: str) -> None:
    fields = ("* .c", ".c ~ .c", "* * * .c", "body .c")
    start = time.process_time()
    plain = automatic(html)
    middle = time.process_time()
    page = taken(html, title=fields, date=fields, author=fields, body=fields, drop=("b * b",))
    assert (time.process_time() - middle) < 10 * (middle - start) + 5
    assert page.outcome == plain.outcome


SELECTORS = ("*", "p", "div p", "div > *", "p ~ p", ".c", ".c:not(p)", "[a]::attr(a)", "b, i")
selectors = st.lists(st.sampled_from(SELECTORS), max_size=3).map(tuple)
elements = st.lists(
    st.one_of(
        st.sampled_from(("<p>", "</p>", "<div class=c>", "</div>", "<b>", "<i a=1>", "</b>"))
        | st.sampled_from(
            ("<template>", "<svg>", "<frameset>", "</body>", "<html>", "<table><td>")
        ),
        st.text("x \0<>&é中\ud83d", max_size=5),
    )
)


@given(elements, selectors, selectors, selectors, selectors.map(lambda s: s[:1]))
def test_no_page_breaks_a_rule(
    parts: list[str],
    title: tuple[str, ...],
    author: tuple[str, ...],
    body: tuple[str, ...],
    drop: tuple[str, ...],
) -> None:
    html = "".join(parts).encode(errors="replace").decode()
    drop = tuple(text for text in drop if "::" not in text)
    page = taken(html, title=title, date=title, author=author, body=body, drop=drop)
    if page.main_text:
        assert all(line == " ".join(line.split()) != "" for line in page.main_text.split("\n"))
    if body and "site.body" in page.unmatched:
        assert page.main_text == automatic(html).main_text
