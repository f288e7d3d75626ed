from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.search.query import (
    MAX_WORDS,
    And,
    Filter,
    Like,
    Not,
    Or,
    Query,
    Urls,
    Words,
    allows_partial_matches,
    conditions,
    highlighted_words,
    parse,
    removable_filters,
    restricts_host,
    wanted_words,
)

A, B, C = Words("a"), Words("b"), Words("c")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("", And(())),
        ("a", A),
        ("a b", And((A, B))),
        ("a AND b", And((A, B), strict=True)),
        ("a and b", And((A, Words("and"), B))),
        ("a OR b", Or((A, B))),
        ("a b OR c", Or((And((A, B)), C))),
        ("a (b OR c)", And((A, Or((B, C))))),
        ("a -b", And((A, Not(B)))),
        ("a NOT b", And((A, Not(B)))),
        ("a -(b c)", And((A, Not(And((B, C)))))),
        ('"a b" c', And((Words("a b", exact=True), C))),
        ('a -"b c"', And((A, Not(Words("b c", exact=True))))),
        ("a - b", And((A, B))),
        ("well-known", Words("well-known")),
        ("site:a.org b", And((Filter("site", "a.org"), B))),
        ('-intitle:"a b" c', And((Not(Filter("intitle", "a b")), C))),
        ("LANG:de", Filter("lang", "de")),
        ("after:2024-01 before:2025", And((Filter("after", "2024-01"), Filter("before", "2025")))),
        ("link:a.org/b?c=d", Filter("link", "a.org/b?c=d")),
        ("related:http://a.org/b a", And((Filter("related", "http://a.org/b"), A))),
        ("site: b", And((Words("site:"), B))),
        ("mysite:b", Words("mysite:b")),
        # What makes no sense is taken for its words.
        ('"a b', Words("a b", exact=True)),
        ("a OR", A),
        ("OR AND NOT", And(())),
        ("(a", A),
        ("a) b", And((A, B))),
        ("()", And(())),
        ("-", And(())),
        ("NOT NOT a", Not(A)),
        ("print(a)", And((Words("print"), A))),
        ("(" * 1000 + "a", A),
    ],
)
def test_trees(text: str, tree: Query) -> None:
    assert parse(text) == tree


def test_words_asked_for() -> None:
    assert wanted_words(parse('a -b ("c d" OR NOT e)')) == [A, Words("c d", exact=True)]
    assert wanted_words(parse("a intitle:b site:c")) == [A, B]


def test_words_that_show_why_a_page_was_found() -> None:
    like = Like((("b", 1.0), ("c", 0.5)))
    assert highlighted_words(And((like, A, Not(Like((("d", 1.0),)))))) == [A, B, C]
    assert wanted_words(And((like, A))) == [A]


def test_what_no_page_may_have() -> None:
    assert conditions(parse("a -b (c -(a OR b)) (c OR -a)")) == [Not(B), Not(Or((A, B)))]


def test_what_every_page_must_be_or_be_like() -> None:
    urls = Urls(("http://a.org/",))
    assert conditions(And((urls, A, Like((("b", 1.0),))))) == [urls]
    assert allows_partial_matches(And((urls, A)))
    assert not allows_partial_matches(And((Like((("b", 1.0),)), A)))
    assert not restricts_host(urls)


def test_a_long_query_is_cut() -> None:
    assert len(wanted_words(parse(" ".join(map(str, range(500)))))) == MAX_WORDS


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
    assert allows_partial_matches(parse(text)) is loose


@pytest.mark.parametrize(
    ("text", "names"),
    [("site:a b", True), ("host:a", True), ("-site:a b", False), ("a OR site:b", False)],
)
def test_whether_it_is_of_one_host(text: str, names: bool) -> None:
    assert restricts_host(parse(text)) is names


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
    assert removable_filters(text) == found
