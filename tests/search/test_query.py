from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.search.query import (
    MAX_DEPTH,
    MAX_PASSAGE,
    And,
    Filter,
    Like,
    Not,
    Or,
    Query,
    Urls,
    Words,
    allows_partial_matches,
    highlighted_words,
    parse,
    plain_words,
    query_conditions,
    removable_filters,
    restricts_host,
    wanted_words,
)
from gossamer.search.query_text import straighten

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
        ("(a OR b) c", And((Or((A, B)), C))),
        ("a -b", And((A, Not(B, unless="-b")))),
        ("a (-b)", And((A, Not(B, unless="-b")))),
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
        # As other search engines have it.
        ("filetype:pdf", Filter("type", "pdf")),
        ("a -Filetype:pdf", And((A, Not(Filter("type", "pdf"))))),
        ("ext:pdf language:de", And((Filter("type", "pdf"), Filter("lang", "de")))),
        ('title:"a b" subtitle:c', And((Filter("intitle", "a b"), Words("subtitle:c")))),
        ("url:a.org/b*", Filter("host", "a.org/b*")),
        ("+the a", And((Words("the", exact=True), A))),
        ("a +well-known", And((A, Words("well-known", exact=True)))),
        ('+"a b" +site:a.org', And((Words("a b", exact=True), Filter("site", "a.org")))),
        ("chmod +x +49 c++ a+be", And((*map(Words, ["chmod", "+x", "+49", "c++", "a+be"]),))),
        ('"a b"~3 c', And((A, B, C))),
        ('a -"b c"~3', And((A, Not(And((B, C)))))),
        ('"a b"~c', And((Words("a b", exact=True), Words("~c")))),
        ('"a b"^2 c', And((Words("a b", exact=True), C))),
        ("word^2.5 x^2 HEAD^2", And((Words("word"), Words("x^2"), Words("HEAD^2")))),
        ("a AROUND(3) b", And((A, B))),
        ("a || b", And((A, Words("||"), B))),
        # What makes no sense is taken for its words.
        ('"a b', Words("a b", exact=True)),
        ("a OR", And((A, Words("OR")))),
        ("AND operator", And((Words("AND"), Words("operator")))),
        ("NOT operator", And((Words("NOT"), Words("operator")))),
        ("operator OR NOT", And((Words("operator"), Words("OR"), Words("NOT")))),
        ("a OR NOT", And((A, Words("OR"), Words("NOT")))),
        ("a (OR b)", And((A, B))),
        ("or OR AND NOT", And((Words("or"), Words("OR"), Words("AND"), Words("NOT")))),
        ("(a", A),
        ("a) b", And((A, B))),
        ("()", And(())),
        ("-", And(())),
        ("NOT NOT a", Not(A)),
        ("print(a", And((Words("print"), A))),
        ("(" * 1000 + "a", A),
    ],
)
def test_trees(text: str, tree: Query) -> None:
    assert parse(text) == tree


@pytest.mark.parametrize(
    "text",
    ["HOW TO SET UP THE ROUTER AND MODEM", "TO BE OR NOT TO BE", "NOT AND 2 OR 3", "ПАР И OR"],
)
def test_a_query_all_in_capitals_has_no_operators(text: str) -> None:
    assert parse(text) == And(tuple(map(Words, text.split())))


@pytest.mark.parametrize("text", ["a OR B", "日本 OR 中国", "lang:de A OR B"])
def test_operators_count_if_not_all_letters_are_capitals(text: str) -> None:
    assert not allows_partial_matches(parse(text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("check --as-cran", "check --as-cran"),
        ("cargo --release", "cargo --release"),
        ("a---b --c", "a---b --c"),
        ("kill ->", "kill ->"),
        ("a -- b", "a b"),
        ("-sname", "-sname"),
        ("-a -b", "-a -b"),
    ],
)
def test_what_looks_like_a_minus_and_is_none(text: str, words: str) -> None:
    assert wanted_words(parse(text)) == [Words(word) for word in words.split()]


def test_a_minus_excludes_a_word_except_where_it_is_an_option() -> None:
    tree = parse("erl -sname")
    assert tree == And((Words("erl"), Not(Words("sname"), unless="-sname")))
    assert highlighted_words(tree) == [Words("erl"), Words("-sname")]
    assert parse("erl NOT sname") == parse("erl NOT -sname")
    assert parse("erl NOT sname") == And((Words("erl"), Not(Words("sname"))))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Thing (Java SE 17 & JDK 17)", ["Thing", "Java", "SE", "17", "&", "JDK", "17"]),
        ("print(a)", ["print(a)"]),
        ("#[derive(Debug)]", ["#[derive(Debug)]"]),
        ("=SUM(A1:A10)", ["=SUM(A1:A10)"]),
        ("main() (c)", ["main()", "c"]),
        ("main() OR (a b)", ["main()", "a", "b"]),
    ],
)
def test_parentheses_group_only_with_operators(text: str, words: list[str]) -> None:
    tree = parse(text)
    assert wanted_words(tree) == list(map(Words, words))
    assert (plain_words(tree) == []) is (" OR " in text)


def test_words_asked_for() -> None:
    assert wanted_words(parse('a -b ("c d" OR NOT e)')) == [A, Words("c d", exact=True)]
    assert wanted_words(parse("a intitle:b site:c")) == [A, B]


def test_words_that_show_why_a_page_was_found() -> None:
    like = Like((("b", 1.0), ("c", 0.5)))
    assert highlighted_words(And((like, A, Not(Like((("d", 1.0),)))))) == [A, B, C]
    assert wanted_words(And((like, A))) == [A]


def test_what_no_page_may_have() -> None:
    excluded = [Not(B, unless="-b"), Not(Or((A, B)))]
    assert query_conditions(parse("a -b (c -(a OR b)) (c OR -a)")) == excluded


def test_what_every_page_must_be_or_be_like() -> None:
    urls = Urls(("http://a.org/",))
    assert query_conditions(And((urls, A, Like((("b", 1.0),))))) == [urls]
    assert allows_partial_matches(And((urls, A)))
    assert not allows_partial_matches(And((Like((("b", 1.0),)), A)))
    assert not restricts_host(urls)


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


OPERATORS = ["OR", "AND", "NOT", "-", "site:", "after:", "link:"]
TOKENS = [*OPERATORS, *'()"（', "ｂ：", "９", "a", "b ", " ", "I "]
TEXT = st.lists(st.sampled_from(TOKENS)).map("".join)


@given(TEXT | st.text())
def test_no_text_is_an_error(text: str) -> None:
    tree = parse(text)
    assert len(wanted_words(tree)) <= MAX_PASSAGE
    assert all(each.text for each in plain_words(tree) if not each.exact)
    assert all(each.text in straighten(text) for each in wanted_words(tree))


def test_parentheses_are_read_to_a_bounded_depth() -> None:
    text, depths = "w", []
    for number in range(2 * MAX_DEPTH):
        depths.append(depth(parse(text)))
        text = f"(x OR w{number} {text})"
    assert depths[: MAX_DEPTH + 1] == list(range(1, 2 * MAX_DEPTH + 2, 2))
    assert max(depths) == depths[MAX_DEPTH]


def depth(tree: Query) -> int:
    parts = tree.parts if isinstance(tree, And | Or) else ()
    return 1 + max(map(depth, parts), default=0)


@given(TEXT | st.text())
def test_a_query_without_one_of_its_filters_has_the_others(text: str) -> None:
    filters = [typed for typed, _ in removable_filters(text)]
    for number, (typed, rest) in enumerate(removable_filters(text)):
        assert typed in text
        left = [other for other, _ in removable_filters(rest)]
        kept = filters[:number] + filters[number + 1 :]
        assert [" ".join(each.split()) for each in kept] == [
            " ".join(each.split()) for each in left
        ]


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


def test_groups_beside_each_other_are_not_deep() -> None:
    names = [f"a{number}" for number in range(MAX_DEPTH + 1)]
    tree = parse(" ".join(f"({name} OR x)" for name in names[:8]))
    assert isinstance(tree, And)
    assert [part for part in tree.parts if isinstance(part, Or)] == [*tree.parts]
    assert parse(" ".join(f"({name})" for name in names)) == parse(" ".join(names))


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("kelp AND", ["kelp", "AND"]),
        ("kelp OR NOT", ["kelp", "OR", "NOT"]),
        ("OR kelp", ["OR", "kelp"]),
        ("AND OR", ["AND", "OR"]),
        ("(kelp) eel", ["kelp", "eel"]),
        ("(kelp eel", ["kelp", "eel"]),
    ],
)
def test_operators_at_the_ends_are_words(query: str, words: list[str]) -> None:
    tree = parse(query)
    assert isinstance(tree, And)
    assert [part.text for part in tree.parts if isinstance(part, Words)] == words
    assert len(tree.parts) == len(words)
