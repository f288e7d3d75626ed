"""Passages: cut at headings, complete, and with ids that do not depend on the rest of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.rendition import passages as cutting
from gossamer.parse.rendition.blocks import (
    Block,
    Code,
    Heading,
    Inset,
    Items,
    Paragraph,
    Quote,
    Run,
    Table,
)
from gossamer.parse.rendition.passages import MAX_CHARS, cut_passages
from tests.support.rendered_back import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

WORD = st.sampled_from(["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"])
SENTENCES = st.lists(WORD, min_size=1, max_size=90).map(" ".join)
PARAGRAPHS = st.builds(lambda text: Paragraph([Run(text)]), SENTENCES)
BODIES: st.SearchStrategy[list[Block]] = st.lists(
    st.one_of(
        PARAGRAPHS,
        st.builds(Code, SENTENCES.map(lambda text: text.replace(" ", "\n"))),
        st.builds(
            Items, st.lists(PARAGRAPHS.map(lambda each: [each]), min_size=1, max_size=30), st.none()
        ),
    ),
    min_size=1,
    max_size=6,
)


def titled(level: int, title: str, body: list[Block]) -> list[Block]:
    return [Heading(level, [Run(title)], title), *body]


SECTIONS = st.lists(
    st.builds(titled, st.integers(1, 3), st.sampled_from("ABCDE"), BODIES), min_size=1, max_size=5
)


def joined(sections: list[list[Block]]) -> list[Block]:
    return [block for section in sections for block in section]


def words_of(block: Block) -> list[str]:
    match block:
        case Paragraph(runs):
            return " ".join(run.text for run in runs).split()
        case Code(text):
            return text.split()
        case Items(items):
            return [word for item in items for each in item for word in words_of(each)]
    return []


@given(SECTIONS)
def test_passages_have_all_the_text_in_order(sections: list[list[Block]]) -> None:
    passages = cut_passages(joined(sections))
    got = [word for each in passages for word in text_of(each.text).split()]
    assert got == [word for block in joined(sections) for word in words_of(block)]
    assert len({each.id for each in passages}) == len(passages)


@given(SECTIONS, st.data())
def test_ids_survive_changes_of_other_sections(
    sections: list[list[Block]], data: st.DataObject
) -> None:
    """Of the sections at the top, one is replaced by another text."""
    sections = [[Heading(1, [Run(str(n))]), *each[1:]] for n, each in enumerate(sections)]
    changed = data.draw(st.integers(0, len(sections) - 1))
    other = titled(1, "changed", data.draw(BODIES))
    before = {each.path: each for each in cut_passages(joined(sections))}
    edited = [other if n == changed else each for n, each in enumerate(sections)]
    after = cut_passages(joined(edited))
    kept = {each.id for each in after}
    assert all(each.id in kept for path, each in before.items() if path[:1] != (str(changed),))


@given(BODIES, st.integers(0, 3))
def test_equal_passages_are_told_apart_by_their_order(body: list[Block], others: int) -> None:
    one = cut_passages(titled(1, "A", body))
    between = [titled(1, f"B{n}", body) for n in range(others)]
    both = cut_passages(joined([titled(1, "A", body), *between, titled(1, "A", body)]))
    ids = [each.id for each in both]
    assert len(set(ids)) == len(ids)
    assert ids[: len(one)] == [each.id for each in one]


@given(st.integers(0, 10_000))
def test_a_change_moves_few_cuts_of_its_section(seed: int) -> None:
    texts = [f"{seed} {number} " + "word " * (40 + number * seed % 50) for number in range(80)]
    before = cut_passages([Paragraph([Run(text)]) for text in texts])
    after = cut_passages([Paragraph([Run(text)]) for text in ["more " * 100, *texts]])
    kept = {each.id for each in before} & {each.id for each in after}
    assert len(kept) >= len(before) // 3


def test_paths_follow_the_levels_of_headings() -> None:
    def section(level: int, title: str) -> list[Block]:
        return titled(level, title, [Paragraph([Run("text")])])

    passages = cut_passages(
        joined([section(1, "A"), section(3, "B"), section(2, "C"), section(1, "D")])
    )
    assert [each.path for each in passages] == [("A",), ("A", "B"), ("A", "C"), ("D",)]
    assert [each.fragment for each in passages] == ["A", "B", "C", "D"]


def test_long_blocks_are_divided() -> None:
    row: list[list[Block]] = [[Paragraph([Run("x" * 300)])], [Paragraph([Run("y")])]]
    blocks: list[Block] = [
        Table([[[Paragraph([Run("h")])], [Paragraph([Run("i")])]], *[row] * 20]),
        Code("\n".join(["z" * 79] * 100)),
        Paragraph([Run("word " * 2_000)]),
        Items([[Paragraph([Run("item " * 100)])]] * 20),
    ]
    passages = cut_passages(blocks)
    assert max(len(each.text) for each in passages) <= MAX_CHARS + 20
    assert all("| h | i |" in each.text for each in passages if "xxx" in each.text)


def method(name: str) -> Block:
    return Items([[Paragraph([Run(f"{name}()")]), Paragraph([Run(f"{name} " * 60)])]])


def test_further_parts_of_an_item_have_its_first_line_above_them() -> None:
    members = [method(f"method{number}") for number in range(20)]
    body: list[Block] = [Items([[Paragraph([Run("class Box(size)")]), *members]])]
    after = Paragraph([Run("after " * 50)])
    first, *further = cut_passages([*titled(1, "Boxes", body), after])
    assert first.path == ("Boxes",)
    assert first.text.startswith("class Box(size)")
    assert {each.path for each in further[:-1]} == {("Boxes", "class Box(size)")}
    assert (further[-1].path, further[-1].text.split()[0]) == (("Boxes",), "after")


def test_an_item_that_is_cut_begins_a_passage_with_its_first_line() -> None:
    before = Items([[Paragraph([Run("earlier()")]), Paragraph([Run("before " * 40)])]])
    long: list[Block] = [Paragraph([Run("wanted(size)")]), *[Paragraph([Run("about " * 100)])] * 6]
    first, second, *further = cut_passages(titled(1, "Boxes", [before, Items([long])]))
    assert "wanted" not in first.text
    assert (second.path, second.text.split()[:2]) == (("Boxes",), ["wanted(size)", "about"])
    assert {each.path for each in further} == {("Boxes", "wanted(size)")}


def test_an_item_may_begin_with_nothing() -> None:
    blocks: list[Block] = [Paragraph([]), *[Paragraph([Run("about " * 100)])] * 6]
    assert {each.path for each in cut_passages([Items([blocks])])} == {("",)}


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passages of at most 20 characters, which no hash ends."""
    monkeypatch.setattr(cutting, "MAX_CHARS", 20)


def paragraph(*texts: str) -> Paragraph:
    return Paragraph([Run(text) for text in texts])


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", [""]),
        ("x" * 10, ["x" * 10]),
        ("x" * 25, ["x" * 10, "x" * 10, "x" * 5]),
        ("aaaa bbbb cccc", ["aaaa bbbb ", "cccc"]),
        ("aaaa bbbbb cccc", ["aaaa ", "bbbbb cccc"]),
        (" " + "x" * 11, [" ", "x" * 10, "x"]),
    ],
)
def test_words_are_cut_behind_a_space_or_else_anywhere(text: str, parts: list[str]) -> None:
    assert [*cutting._cut_words(text)] == parts


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(
    ("lines", "parts"),
    [
        (["aaaa", "bbbbb"], ["aaaa\nbbbbb"]),
        (["aaaa", "bbbbbb"], ["aaaa", "bbbbbb"]),
        (["a", "b", "c", "d", "e", "f"], ["a\nb\nc\nd\ne", "f"]),
        (["aaaaaa", "bbbb", "ccccc"], ["aaaaaa", "bbbb\nccccc"]),
        (["x" * 30, "", "y"], ["x" * 30, "\ny"]),
    ],
)
def test_lines_of_code_are_cut_in_groups(lines: list[str], parts: list[str]) -> None:
    assert [*cutting._cut_lines(lines)] == parts


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(
    ("runs", "parts"),
    [
        (["aaaaa", "bbbbb"], [["aaaaa", "bbbbb"]]),
        (["aaaaa", "bbbbbb"], [["aaaaa"], ["bbbbbb"]]),
        (["aaa", "bbb", "cccc", "d"], [["aaa", "bbb", "cccc"], ["d"]]),
        (["aaaaaaaaaa", "b"], [["aaaaaaaaaa"], ["b"]]),
        (["aaaa bbbb cccc"], [["aaaa bbbb "], ["cccc"]]),
    ],
)
def test_runs_are_cut_in_groups(runs: list[str], parts: list[list[str]]) -> None:
    found = cutting._cut_runs([Run(text, 1) for text in runs])
    assert [*found] == [[Run(text, 1) for text in part] for part in parts]


@pytest.mark.usefixtures("short")
def test_the_urls_of_links_count() -> None:
    runs = [Run("aaa", 0, "/" * 4), Run("bbb"), Run("c")]
    assert [*cutting._cut_runs(runs)] == [runs[:2], runs[2:]]


A, B, C = ([paragraph(name)] for name in "abc")


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(
    ("block", "parts"),
    [
        (Items([[*A], [*B], [*C]]), [Items([[*A]]), Items([[*B]]), Items([[*C]])]),
        (Items([[*A], [*B]], 7), [Items([[*A]], 7), Items([[*B]], 8)]),
        (Items([[*A, *B]]), [*A, *B]),
        (Items([[*A]]), [Items([[*A]])]),
        (Quote([*A, *B]), [*A, *B]),
        (Quote([*A]), [Quote([*A])]),
        (Table([[[*A]], [[*B]], [[*C]]]), [Table([[[*A]], [[*B]]]), Table([[[*A]], [[*C]]])]),
        (Table([[[*A]], [[*B]]]), [Table([[[*A]], [[*B]]])]),
        (Code("aaaaaa\nbbbbbb", "c"), [Code("aaaaaa", "c"), Code("bbbbbb", "c")]),
        (Code("a" * 30, "c"), [Code("a" * 30, "c")]),
        (paragraph("aaaaaa", "bbbbbb"), [paragraph("aaaaaa"), paragraph("bbbbbb")]),
    ],
)
def test_a_long_block_has_parts(block: Block, parts: Sequence[Block]) -> None:
    assert cutting._parts(block) == parts


def test_equal_passages_are_numbered_from_the_second_on() -> None:
    one, *others = cut_passages(joined([titled(1, "A", [paragraph("x")])] * 3))
    assert [each.id for each in others] == [f"{one.id}-2", f"{one.id}-3"]
    assert "-" not in one.id


def test_headings_in_a_note_do_not_reach_beyond_it() -> None:
    def heading(level: int, title: str) -> Heading:
        return Heading(level, [Run(title)], title.lower())

    texts = [paragraph(str(number)) for number in range(6)]
    blocks: list[Block] = [
        heading(1, "A"),
        texts[0],
        Inset(True),
        texts[1],
        heading(2, "B"),
        texts[2],
    ]
    blocks += [Inset(False), texts[3], Inset(True), texts[4], Inset(False), texts[5], Inset(False)]
    found = [(each.path, each.fragment, each.text) for each in cut_passages(blocks)]
    assert found == [
        (("A",), "a", "0\n\n1"),
        (("A", "B"), "b", "2"),
        (("A",), "a", "3\n\n4\n\n5"),
    ]


@pytest.mark.parametrize(
    ("size", "most", "passages"), [(5, 10, 1), (5, 9, 2), (5, 12, 1), (6, 11, 2)]
)
def test_a_passage_ends_before_it_is_too_long(
    monkeypatch: pytest.MonkeyPatch, size: int, most: int, passages: int
) -> None:
    monkeypatch.setattr(cutting, "MAX_CHARS", most)
    assert len(cut_passages([paragraph("x" * size), paragraph("y" * size)])) == passages


@pytest.mark.parametrize(("least", "passages"), [(5, 2), (6, 1)])
def test_a_passage_may_end_at_a_block_when_it_is_long_enough(
    monkeypatch: pytest.MonkeyPatch, least: int, passages: int
) -> None:
    monkeypatch.setattr(cutting, "CHOSEN", 1)  # every block may begin one
    monkeypatch.setattr(cutting, "MIN_CHARS", least)
    assert len(cut_passages([paragraph("xxxxx"), paragraph("y")])) == passages


def test_terms_that_both_have() -> None:
    assert cutting._shared(("a", "b"), ("a", "c")) == ("a",)
    assert cutting._shared(("a", "b"), ("a", "b", "c")) == ("a", "b")
    assert cutting._shared(("b",), ("c", "b")) == ()
