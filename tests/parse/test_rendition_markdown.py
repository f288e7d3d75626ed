"""Blocks as Markdown: rendering it back gives the same words, and the same structure."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.rendition.blocks import (
    BREAK,
    CODE,
    EMPHASIS,
    STRONG,
    Block,
    Code,
    Heading,
    Items,
    Paragraph,
    Quote,
    Run,
    Table,
    plain,
)
from gossamer.parse.rendition.markdown import markdown, write_blocks
from tests.support.rendered_back import html_of, tags_of, text_of

TEXTS = st.text(
    st.one_of(
        st.sampled_from("ab1 \\`*_{}[]()#+-.!<>&;:|~=\"'/"),
        st.sampled_from("é語\u00a0\u3000„—"),
    ),
    max_size=12,
)
RUNS = st.lists(
    st.builds(
        Run,
        TEXTS,
        st.sampled_from((0, 0, STRONG, EMPHASIS, CODE, STRONG | EMPHASIS, BREAK)),
        st.sampled_from(("", "", "", "http://a.test/b_c(d)?e=*f*&copy;=[g]")),
    ),
    max_size=6,
).map(lambda runs: [run._replace(text="") if run.style & BREAK else run for run in runs])
CODES = st.builds(
    Code,
    st.text("ab `~\n\t<&>#*", min_size=1, max_size=20)
    .filter(str.strip)
    .map(lambda text: "x" + text + "x"),
    st.sampled_from(("", "python", "c++", "a b`")),
)
LEAVES = st.one_of(st.builds(Paragraph, RUNS), st.builds(Heading, st.integers(1, 6), RUNS), CODES)
CELLS = st.lists(st.builds(Paragraph, RUNS), max_size=2)
TABLES = st.builds(
    Table, st.lists(st.lists(CELLS, min_size=2, max_size=3), min_size=2, max_size=3)
).filter(lambda table: words([table]))
BLOCKS: st.SearchStrategy[list[Block]] = st.recursive(
    st.lists(st.one_of(LEAVES, TABLES), min_size=1, max_size=3),
    lambda inner: st.lists(
        st.one_of(
            st.builds(Quote, inner),
            st.builds(
                Items,
                st.lists(inner, min_size=1, max_size=3),
                st.sampled_from((None, 0, 1, 7, 999_999_999)),
            ),
        ),
        min_size=1,
        max_size=3,
    ),
    max_leaves=6,
)


def words(blocks: list[Block]) -> str:
    """Return the text of blocks, with white space folded."""
    parts: list[str] = []
    for block in blocks:
        match block:
            case Paragraph(runs) | Heading(_, runs):
                parts.append(plain(runs))
            case Code(text):
                parts.append(text)
            case Quote(inner):
                parts.append(words(inner))
            case Items(items):
                parts += map(words, items)
            case Table(rows):
                parts += [words(cell) for row in rows for cell in row]
    return " ".join(" ".join(parts).split())


def structure(blocks: list[Block]) -> list[str]:
    """Return the elements of blocks with text, as HTML names them, except those of tables."""
    tags: list[str] = []
    for block in blocks:
        if not words([block]):
            continue
        match block:
            case Heading(level):
                tags.append(f"h{level}")
            case Code():
                tags.append("pre")
            case Quote(inner):
                tags += ["blockquote", *structure(inner)]
            case Items(items, start):
                tags.append("ul" if start is None else "ol")
                for item in items:
                    if words(item):
                        tags += ["li", *structure(item)]
            case Table(rows):
                tags += ["table", *["tr"] * len(rows)]
    return tags


SHOWN = frozenset(("h1", "h2", "h3", "h4", "h5", "h6", "pre", "blockquote", "ul", "ol", "li"))


@given(BLOCKS)
def test_any_blocks_come_back(blocks: list[Block]) -> None:
    written = markdown(blocks)
    assert text_of(written) == words(blocks)
    shown = [tag for tag in tags_of(written) if tag in SHOWN | {"table", "tr"}]
    assert shown == structure(blocks)


@given(RUNS)
def test_any_text_stays_in_its_paragraph(runs: list[Run]) -> None:
    written = markdown([Paragraph(runs)])
    assert text_of(written) == plain(runs)
    assert set(tags_of(written)) <= {"p", "br", "a", "code", "strong", "em"}


@given(st.text(max_size=40))
def test_any_characters_come_back(text: str) -> None:
    seen = text.replace("\0", "")
    assert text_of(markdown([Paragraph([Run(seen)])])) == " ".join(seen.split())


@given(st.text("ab `~\n\\<&>#*|", max_size=40).map(lambda text: f"x{text}x"))
def test_code_comes_back_to_the_letter(text: str) -> None:
    html = html_of(markdown([Items([[Paragraph([Run("y")]), Code(text, "c++")]])]))
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert f'<pre><code class="language-c++">{escaped}\n</code></pre>' in html


@pytest.mark.parametrize(
    ("runs", "written"),
    [
        ([Run("snake_case and _under_")], r"snake_case and \_under\_"),
        ([Run("a[0](b)")], r"a[0\](b)"),
        ([Run("# no heading")], r"\# no heading"),
        ([Run("1. no list")], r"1\. no list"),
        ([Run("so"), Run(" it ", STRONG), Run("is")], "so **it** is"),
        ([Run("a"), Run("b", EMPHASIS), Run("c")], "a*b*c"),
        ([Run("a"), Run("(b)", EMPHASIS), Run("c")], "a(b)c"),
        ([Run("a`b", CODE)], "``a`b``"),
        ([Run("one"), Run("", BREAK), Run("two")], "one\\\ntwo"),
        ([Run("a]", 0, "http://b.test/c d")], r"[a\]](http://b.test/c%20d)"),
        ([Run("Fish & chips, AT&T, &lt;")], r"Fish & chips, AT\&T, \&lt;"),
    ],
)
def test_little_is_escaped(runs: list[Run], written: str) -> None:
    assert markdown([Paragraph(runs)]) == written


def test_lists_are_tight_if_their_items_are_short() -> None:
    inner = Items([[Paragraph([Run("b")])]], 1)
    items = Items([[Paragraph([Run("a")]), inner], [Paragraph([Run("c")])]])
    assert markdown([items]) == "- a\n  1. b\n- c"


def test_lists_in_a_row_stay_apart() -> None:
    one = Items([[Paragraph([Run("a")])]])
    assert markdown([one, one, one]) == "- a\n\n* a\n\n- a"
    assert tags_of(markdown([one, one])).count("ul") == 2


def test_cells_hold_lists_and_code_in_a_line() -> None:
    cell: list[Block] = [
        Paragraph([Run("a|b")]),
        Items([[Paragraph([Run("c")])], [Code("d|\ne")]]),
    ]
    table = Table([[[Paragraph([Run("x")])], [Paragraph([Run("y")])]], [cell, []]])
    assert markdown([table]).splitlines() == [
        "| x | y |",
        "| --- | --- |",
        r"| a\|b<br>• c<br>• `d\|`<br>`e` |  |",
    ]


@given(BLOCKS, st.integers(0, 80))
def test_as_many_blocks_are_written_as_have_few_characters(blocks: list[Block], limit: int) -> None:
    text, number = write_blocks(blocks, limit)
    assert text == markdown(blocks[:number])
    assert number == 1 or len(text) <= limit
    assert number == len(blocks) or len(markdown(blocks[: number + 1])) > limit


@pytest.mark.parametrize(("limit", "number"), [(0, 1), (5, 1), (6, 2), (7, 2), (9, 2), (10, 3)])
def test_the_empty_lines_between_blocks_count(limit: int, number: int) -> None:
    blocks: list[Block] = [Paragraph([Run(text)]) for text in ("ab", "cd", "ef")]
    assert write_blocks(blocks, limit)[1] == number


@pytest.mark.parametrize(
    ("starts", "marks"),
    [
        ((None, None, None), "- * -"),
        ((1, 1, 2), "1. 1) 2."),
        ((None, 1, None), "- 1. -"),
        ((None, 1, 3, None, None), "- 1. 3) - *"),
    ],
)
def test_lists_in_a_row_have_different_marks(starts: tuple[int | None, ...], marks: str) -> None:
    lists: list[Block] = [Items([[Paragraph([Run("x")])]], start) for start in starts]
    assert markdown(lists) == "\n\n".join(f"{mark} x" for mark in marks.split())
    apart = [each for one in lists for each in (one, Paragraph([Run("y")]))]
    usual = "\n\n".join(f"{'-' if start is None else f'{start}.'} x\n\ny" for start in starts)
    assert markdown(apart) == usual


@pytest.mark.parametrize(("start", "text"), [(None, "- a\n- b"), (7, "7. a\n9. b")])
def test_an_item_without_words_is_not_written(start: int | None, text: str) -> None:
    items: list[list[Block]] = [[Paragraph([Run(name)])] for name in ("a", "", "b")]
    assert markdown([Items(items, start)]) == text
