from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.serve.query import (
    MAX_WORDS,
    All,
    Any,
    Filter,
    Like,
    Not,
    Query,
    Urls,
    Words,
    conditions,
    is_loose,
    names_host,
    narrowed,
    parse,
    shown,
    typed,
)

A, B, C = Words("a"), Words("b"), Words("c")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("", All(())),
        ("a", A),
        ("a b", All((A, B))),
        ("a AND b", All((A, B), strict=True)),
        ("a and b", All((A, Words("and"), B))),
        ("a OR b", Any((A, B))),
        ("a b OR c", Any((All((A, B)), C))),
        ("a (b OR c)", All((A, Any((B, C))))),
        ("a -b", All((A, Not(B)))),
        ("a NOT b", All((A, Not(B)))),
        ("a -(b c)", All((A, Not(All((B, C)))))),
        ('"a b" c', All((Words("a b", exact=True), C))),
        ('a -"b c"', All((A, Not(Words("b c", exact=True))))),
        ("a - b", All((A, B))),
        ("well-known", Words("well-known")),
        ("site:a.org b", All((Filter("site", "a.org"), B))),
        ('-intitle:"a b" c', All((Not(Filter("intitle", "a b")), C))),
        ("LANG:de", Filter("lang", "de")),
        ("after:2024-01 before:2025", All((Filter("after", "2024-01"), Filter("before", "2025")))),
        ("link:a.org/b?c=d", Filter("link", "a.org/b?c=d")),
        ("related:http://a.org/b a", All((Filter("related", "http://a.org/b"), A))),
        ("site: b", All((Words("site:"), B))),
        ("mysite:b", Words("mysite:b")),
        # What makes no sense is taken for its words.
        ('"a b', Words("a b", exact=True)),
        ("a OR", A),
        ("OR AND NOT", All(())),
        ("(a", A),
        ("a) b", All((A, B))),
        ("()", All(())),
        ("-", All(())),
        ("NOT NOT a", Not(A)),
        ("print(a)", All((Words("print"), A))),
        ("(" * 1000 + "a", A),
    ],
)
def test_trees(text: str, tree: Query) -> None:
    assert parse(text) == tree


def test_words_asked_for() -> None:
    assert typed(parse('a -b ("c d" OR NOT e)')) == [A, Words("c d", exact=True)]
    assert typed(parse("a intitle:b site:c")) == [A, B]


def test_words_that_show_why_a_page_was_found() -> None:
    like = Like((("b", 1.0), ("c", 0.5)))
    assert shown(All((like, A, Not(Like((("d", 1.0),)))))) == [A, B, C]
    assert typed(All((like, A))) == [A]


def test_what_no_page_may_have() -> None:
    assert conditions(parse("a -b (c -(a OR b)) (c OR -a)")) == [Not(B), Not(Any((A, B)))]


def test_what_every_page_must_be_or_be_like() -> None:
    urls = Urls(("http://a.org/",))
    assert conditions(All((urls, A, Like((("b", 1.0),))))) == [urls]
    assert is_loose(All((urls, A)))
    assert not is_loose(All((Like((("b", 1.0),)), A)))
    assert not names_host(urls)


def test_a_long_query_is_cut() -> None:
    assert len(typed(parse(" ".join(map(str, range(500)))))) == MAX_WORDS


@pytest.mark.parametrize(
    ("text", "loose"),
    [
        ("a b", True),
        ("a", True),
        ('a "b"', False),
        ('a "b" c', True),
        ("a AND b", False),
        ("a OR b", False),
        ("a site:b -c", True),
        ("a (b c)", True),
        ("a (b AND c)", False),
    ],
)
def test_whether_a_page_may_lack_some_words(text: str, loose: bool) -> None:
    assert is_loose(parse(text)) is loose


@pytest.mark.parametrize(
    ("text", "names"),
    [("site:a b", True), ("host:a", True), ("-site:a b", False), ("a OR site:b", False)],
)
def test_whether_it_is_of_one_host(text: str, names: bool) -> None:
    assert names_host(parse(text)) is names


TEXT = st.lists(
    st.sampled_from(
        ["(", ")", '"', "-", "OR", "AND", "NOT", "site:", "after:", "link:", "a", "b ", " "]
    )
).map("".join)


@given(TEXT | st.text())
def test_no_text_is_an_error(text: str) -> None:
    parse(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("red apple", []),
        ("red  site:a.example apple", [("site:a.example", "red apple")]),
        ("-lang:de red", [("-lang:de", "red")]),
        ('intitle:"red apple"', [('intitle:"red apple"', "")]),
        (
            "after:2024 x before:2025",
            [("after:2024", "x before:2025"), ("before:2025", "after:2024 x")],
        ),
        ('"site:a" website:x', []),
    ],
)
def test_filters_and_the_query_without_them(text: str, found: list[tuple[str, str]]) -> None:
    assert narrowed(text) == found
