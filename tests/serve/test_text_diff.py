"""Differences of texts: whatever is compared, both texts can be read from the rows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.serve import text_diff
from gossamer.serve.text_diff import CONTEXT, Row, TextDiff, compare

WORDS = st.lists(st.sampled_from(["a", "bee", "sea", ",", "日本語", "é", "."]), max_size=6)
TEXTS = st.lists(WORDS.map(" ".join), max_size=12).map("\n".join)
LINES = [f"line {number}" for number in range(20)]


def lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


def read_back(found: TextDiff, text: str, side: str) -> list[str]:
    """The lines of one side; those that were skipped are taken from the text."""
    read: list[str] = []
    given_lines = lines(text)
    for row in found.rows:
        if row.kind == "skipped":
            read += given_lines[len(read) : len(read) + row.skipped]
        elif pieces := getattr(row, side):
            read.append("".join(pieces))
    return read


@given(TEXTS, TEXTS)
def test_both_texts_can_be_read_from_the_rows(old: str, new: str) -> None:
    found = compare(old, new)
    assert read_back(found, old, "old") == lines(old)
    assert read_back(found, new, "new") == lines(new)
    assert not found.truncated


@given(TEXTS, TEXTS)
def test_what_is_not_marked_is_the_same_on_both_sides(old: str, new: str) -> None:
    for row in compare(old, new).rows:
        if row.kind == "changed":
            kept = ["".join("".join(pieces[::2]).split()) for pieces in (row.old, row.new)]
            assert kept[0] == kept[1]
        elif row.kind in ("removed", "added"):
            pieces = row.old if row.kind == "removed" else row.new
            assert pieces[0] == ""
            assert len(pieces) == 2


@given(TEXTS)
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    found = compare(text, text)
    assert (found.removed, found.added) == (0, 0)
    assert {row.kind for row in found.rows} <= {"skipped"}


def test_words_of_similar_lines_are_compared() -> None:
    found = compare("The red fox runs.", "The quick red fox ran.")
    [row] = found.rows
    assert row.kind == "changed"
    assert row.old == ["The ", "", "red fox ", "runs", "."]
    assert row.new == ["The ", "quick ", "red fox ", "ran", "."]
    assert (found.removed, found.added) == (1, 2)


def test_lines_are_paired_with_those_that_they_resemble() -> None:
    old = "one two three four\nfive six seven eight"
    new = "quite another\nfive six seven ate\nnothing alike"
    assert [row.kind for row in compare(old, new).rows] == [
        *("removed", "added", "changed", "added"),
    ]


def test_lines_with_few_words_in_common_are_not_paired() -> None:
    found = compare("the end of one story", "the sea is green today")
    assert [row.kind for row in found.rows] == ["removed", "added"]


def test_marks_between_differences_are_a_part_of_them() -> None:
    [row] = compare("see a, b in the list", "see c, d in the list").rows
    assert row.old == ["see ", "a, b ", "in the list"]
    assert row.new == ["see ", "c, d ", "in the list"]


@pytest.mark.parametrize(
    ("old", "new", "gone"),
    [
        ("今日は天気がいい", "今日は天気が悪い", ["い", "いい"]),
        ("ยินดีที่รู้จัก", "ยินดีที่รู้สึก", ["จั"]),
        ("ดีที่สุด", "ดีที้สุด", ["ที่"]),
    ],
)
def test_scripts_without_spaces_are_compared_by_characters(
    old: str, new: str, gone: list[str]
) -> None:
    [row] = compare(old, new).rows
    assert row.kind == "changed"
    assert row.old[1] in gone
    assert "".join(row.old) == old


def test_equal_lines_far_from_a_difference_are_skipped() -> None:
    changed = [*LINES[:10], "other", *LINES[11:]]
    rows = compare("\n".join(LINES), "\n".join(changed)).rows
    around = [row.kind for row in rows]
    assert around[0] == around[-1] == "skipped"
    assert [row.skipped for row in rows if row.skipped] == [10 - CONTEXT, 9 - CONTEXT]
    assert around.count("same") == 2 * CONTEXT


@pytest.mark.parametrize(("name", "most"), [("MAX_CHARS", 100), ("MAX_ITEMS", 10), ("MAX_ROWS", 3)])
def test_bounds_are_said(monkeypatch: pytest.MonkeyPatch, name: str, most: int) -> None:
    monkeypatch.setattr(text_diff, name, most)
    found = compare("\n".join(LINES), "\n".join(reversed(LINES)))
    assert found.truncated
    assert len(found.rows) <= text_diff.MAX_ROWS


def test_the_rest_of_a_very_long_line_is_one_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_diff, "MAX_ITEMS", 5)
    [row] = compare("a b c d e f g h", "a b c d e f g i").rows
    assert (row.old, row.new) == (["a b c d ", "e f g h"], ["a b c d ", "e f g i"])


def test_lines_beyond_the_bound_are_not_paired(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_diff, "MAX_PAIRS", 1)
    found = compare("a b c d\nsame\ne f g h", "a b c x\nsame\ne f g y")
    assert found.rows[0].kind == "changed"
    assert found.rows[2:] == [Row("removed", ["", "e f g h"]), Row("added", [], ["", "e f g y"])]
