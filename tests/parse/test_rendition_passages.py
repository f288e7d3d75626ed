"""Passages: cut at headings, complete, and with ids that do not depend on the rest of the page."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.rendition.blocks import Block, Code, Heading, Items, Paragraph, Run, Table
from gossamer.parse.rendition.passages import MAX_CHARS, cut_passages
from tests.support.rendered_back import text_of

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
