from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.serve.query import MAX_WORDS, All, Any, Not, Query, Words, parse, typed, unwanted

A, B, C = Words("a"), Words("b"), Words("c")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("", All(())),
        ("a", A),
        ("a b", All((A, B))),
        ("a AND b", All((A, B))),
        ("a and b", All((A, Words("and"), B))),
        ("a OR b", Any((A, B))),
        ("a b OR c", Any((All((A, B)), C))),
        ("a (b OR c)", All((A, Any((B, C))))),
        ("a -b", All((A, Not(B)))),
        ("a NOT b", All((A, Not(B)))),
        ("a -(b c)", All((A, Not(All((B, C)))))),
        ('"a b" c', All((Words("a b"), C))),
        ('a -"b c"', All((A, Not(Words("b c"))))),
        ("a - b", All((A, B))),
        ("well-known", Words("well-known")),
        # What makes no sense is taken for its words.
        ('"a b', Words("a b")),
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
    assert typed(parse('a -b ("c d" OR NOT e)')) == ["a", "c d"]


def test_what_no_page_may_have() -> None:
    assert unwanted(parse("a -b (c -(a OR b)) (c OR -a)")) == [B, Any((A, B))]


def test_a_long_query_is_cut() -> None:
    assert len(typed(parse(" ".join(map(str, range(500)))))) == MAX_WORDS


TEXT = st.lists(st.sampled_from(["(", ")", '"', "-", "OR", "AND", "NOT", "a", "b ", " "])).map(
    "".join
)


@given(TEXT | st.text())
def test_no_text_is_an_error(text: str) -> None:
    parse(text)
