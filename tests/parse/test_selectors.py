from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from gossamer.parse.html import css_selectors
from gossamer.parse.html.css_selectors import Selector, outermost, selector

PAGE = """<body><div id=a class="x y"><p id=b lang=de>1</p><!-- --><p id=c class=x>2</p> text
<section id=d><div id=e><p id=f data-k="a b]'">3</p></div></section></div><p id=g></p>"""


def found(css: str, page: str = PAGE) -> list[str]:
    nodes = Selector.parse(css).find(LexborHTMLParser(page))
    return [node.id or node.tag or "" for node in nodes]


@pytest.mark.parametrize(
    ("css", "ids"),
    [
        ("p", ["b", "c", "f", "g"]),
        ("div p", ["b", "c", "f"]),
        ("div>p", ["b", "c", "f"]),
        ("body > p", ["g"]),
        ("p + p", ["c"]),
        ("p ~ *", ["c", "d"]),
        ("  .x.y  >  section   p ", ["f"]),
        ("p, section", ["b", "c", "d", "f", "g"]),
        ("#c, p:empty, .x, div.x", ["a", "c", "g"]),
        ("p:not(.x, [lang])", ["f", "g"]),
        ("div :is(section, p.x):where( * )", ["c", "d"]),
        ("p:nth-child( 2n + 1 )", ["b", "f"]),
        ("p:first-of-type", ["b", "f", "g"]),
        ("P:First-Child", ["b", "f"]),
        (":root > body > div", ["a"]),
        ("[lang=de]", ["b"]),
        ("""[data-k="a b]'"]""", ["f"]),
        ("[data-k*=B i]", ["f"]),
        (r"#\62, #\000063 ", ["b", "c"]),
        ("p.missing div", []),
        ("*", ["html", "head", "body", "a", "b", "c", "d", "e", "f", "g"]),
    ],
)
def test_elements_are_found_once_and_in_document_order(css: str, ids: list[str]) -> None:
    assert found(css) == ids


def test_a_list_in_a_pseudo_class_is_tried_on_every_sibling() -> None:
    # Where lexbor is asked for the whole of it, it gives up after the first.
    assert found(":is(div, .x) ~ i", "<div></div><b class=x></b><p></p><i id=i></i>") == ["i"]


@pytest.mark.parametrize(
    ("css", "name"), [("a::attr(href)", "href"), ("div a ::Attr( Data-X ) ", "data-x"), ("a", None)]
)
def test_attributes_are_taken_by_what_stands_at_the_end(css: str, name: str | None) -> None:
    assert Selector.parse(css).attribute == name


@pytest.mark.parametrize(
    ("css", "why"),
    [
        ("", "at the end"),
        ("p >", "at the end"),
        ("> p", "before '> p'"),
        ("p,", "at the end"),
        (", p", "before ', p'"),
        ("p {", "before '{'"),
        ("p..x", "is expected before '..x'"),
        ("p::before", "before '::before'"),
        ("::attr(href)", "at the end"),
        ("a::attr(href) b", "before '::attr"),
        ("svg|a", "before '|a'"),
        ("a /* b */", "before '/"),
        ("[lang", r"before '\[lang'"),
        ("[a='b]", r"before \"\[a='b]\""),
        ("[=]", "is not valid CSS"),
        ("[a]p", "is not valid CSS"),
        (":hover", ":hover is not supported"),
        (":has(p)", r":has\(\) is not supported; use one of :is"),
        ('p:lexbor-contains("x")', "is not supported"),
        (":first-child(1)", "is not supported"),
        (":not", ":not is not supported; use one of :empty"),
        (":not()", r"before '\)'"),
        (":not(p", "a closing bracket is expected at the end"),
        (":not(div p)", r"combinators are not supported in :not\(\)"),
        (":is(p, div > p)", r"combinators are not supported in :is\(\)"),
        (":not(:hover)", ":hover is not supported"),
        ("p:nth-child(x)", "is not valid CSS"),
        ("p:nth-child(2 of .x)", "a position"),
        ("p)", r"before '\)'"),
    ],
)
def test_errors_in_selectors_say_what_is_wrong(css: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Selector.parse(css)


@given(st.text("ap .#*:,>+~()[]='\"\\\n1-\0é{|^$nthof", max_size=30))
def test_any_text_is_a_selector_or_an_error_of_one_kind(text: str) -> None:
    try:
        made = Selector.parse(text)
    except ValueError:
        return
    made.find(LexborHTMLParser(PAGE))


TAGS = ("div", "section", "em", "q")
CLASSES = ("", ' class="x"', ' class="x y"', " lang=de")


def element(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    inside = st.lists(st.one_of(children, st.sampled_from(["t", " ", "<!---->"])), max_size=4)
    return st.builds(
        lambda tag, attributes, parts: f"<{tag}{attributes}>{''.join(parts)}</{tag}>",
        st.sampled_from(TAGS),
        st.sampled_from(CLASSES),
        inside,
    )


pages = st.lists(st.recursive(element(st.just("t")), element, max_leaves=12), max_size=4).map(
    "".join
)
compounds = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["*", *TAGS]),
        st.sampled_from(["", ".x", ".y", "[lang]"]),
        st.sampled_from(["", "", "", ":first-child", ":nth-child(2n)", ":empty", ":last-of-type"]),
    ),
)
combinators = st.sampled_from([" ", " > ", "+", " ~ "])
chains = st.builds(
    lambda first, rest: first + "".join(map("".join, rest)),
    compounds,
    st.lists(st.tuples(combinators, compounds), max_size=3),
)


@given(pages, st.lists(chains, min_size=1, max_size=2).map(", ".join))
def test_the_same_is_found_as_by_lexbor_alone(page: str, css: str) -> None:
    tree = LexborHTMLParser(page)
    theirs = {node.mem_id for node in tree.css(css)}
    in_order = [node.mem_id for node in tree.css("*") if node.mem_id in theirs]
    assert [node.mem_id for node in Selector.parse(css).find(tree)] == in_order


@given(pages)
def test_the_outermost_hold_all_others(page: str) -> None:
    tree = LexborHTMLParser(page)
    nodes = tree.css(".x")
    outer = outermost(nodes)
    covered = [inner.mem_id for node in outer for inner in node.css(".x")]
    assert covered == [node.mem_id for node in nodes]


@pytest.mark.parametrize(
    ("page", "css"),
    [
        # lexbor alone has not found the end of any of them after 25 s.
        ("<div>" * 5_000, "q div div div div"),
        ("<div>" * 5_000, "q + div div div, q div div"),
        ("<p></p>" * 50_000, "q ~ p ~ p ~ p"),
        ("<p></p>" * 50_000, "p:nth-last-child(3)"),
        ("<div>" + "".join(f"<a{n:x}></a{n:x}>" for n in range(50_000)), ":first-of-type"),
        ("<!---->".join(["<p>"] * 50_000), "q ~ p + p ~ p"),
    ],
)
def test_what_was_made_to_take_long_does_not(page: str, css: str) -> None:
    tree = LexborHTMLParser(page)
    start = time.process_time()
    assert Selector.parse(css).find(tree) == []
    assert time.process_time() - start < 5


def test_siblings_are_compared_on_pages_of_bounded_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(css_selectors, "MAX_ELEMENTS", 10)
    most = 10 - len(("html", "head", "body"))
    assert len(found("p:nth-child(1)", "<p></p>" * most)) == 1
    assert found("p:nth-child(1)", "<p></p>" * (most + 1)) == []
    assert len(found("p:first-child", "<p></p>" * (most + 1))) == 1


def test_a_selector_is_made_once() -> None:
    assert selector("p > a") is selector("p > a")


def test_a_page_without_elements() -> None:
    assert found("p, a", "") == []


@pytest.mark.parametrize(
    ("css", "chains"),
    [
        ("p", [[("", "p")]]),
        ("p.a#b[c='d e']", [[("", "p.a#b[c='d e']")]]),
        (" p  q > r+s ~ t ", [[("", "p"), (" ", "q"), (">", "r"), ("+", "s"), ("~", "t")]]),
        ("p,q r", [[("", "p")], [("", "q"), (" ", "r")]]),
        ("p:is(.a, .b) q", [[("", "p:is(.a, .b)"), (" ", "q")]]),
        (":not(.a),p", [[("", ":not(.a)")], [("", "p")]]),
        ("p:nth-child(2n + 1)>q", [[("", "p:nth-child(2n + 1)"), (">", "q")]]),
    ],
)
def test_compounds_and_combinators(css: str, chains: list[list[tuple[str, str]]]) -> None:
    assert Selector.parse(css).chains == tuple(tuple(map(tuple, chain)) for chain in chains)


@pytest.mark.parametrize(
    ("css", "compares"),
    [
        ("p:is(.a)", False),
        ("p:first-child", False),
        ("p:nth-child(2)", True),
        ("p:first-of-type", True),
        ("p:not(:nth-child(2))", True),
    ],
)
def test_some_selectors_compare_siblings(css: str, compares: bool) -> None:
    assert Selector.parse(css).compares is compares
