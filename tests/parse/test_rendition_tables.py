"""Where the cells of a table are, and which tables only arrange what stands beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gossamer.parse.rendition import tables
from gossamer.parse.rendition.blocks import Code, Heading, Items, Paragraph, Quote, Run, Table
from gossamer.parse.rendition.tables import table_blocks

if TYPE_CHECKING:
    from gossamer.parse.rendition.blocks import Block
    from gossamer.parse.rendition.tables import Cell


def text(words: str) -> Block:
    return Paragraph([Run(words)])


def row(*cells: str | tuple[str, int, int]) -> list[Cell]:
    """Cells by their texts, which may span columns and rows."""
    spans = [(each, 1, 1) if isinstance(each, str) else each for each in cells]
    return [((columns, rows), [text(words)] if words else []) for words, columns, rows in spans]


def grid(rows: list[list[Cell]]) -> list[list[str]]:
    (table,) = table_blocks(rows)
    assert isinstance(table, Table)
    return [["".join(map(words_of, cell)) for cell in line] for line in table.rows]


def words_of(block: Block) -> str:
    return "".join(run.text for run in block.runs) if isinstance(block, Paragraph) else ""


@pytest.mark.parametrize(
    ("rows", "placed"),
    [
        ([row("a", "b"), row("c", "d")], [["a", "b"], ["c", "d"]]),
        ([row("a", "b"), row("", ""), row("c", "")], [["a", "b"], ["c", ""]]),
        ([row(("a", 2, 1), "b"), row("c", "d", "e")], [["a", "", "b"], ["c", "d", "e"]]),
        ([row(("a", 1, 2), "b"), row("c"), row("d", "e")], [["a", "b"], ["", "c"], ["d", "e"]]),
        (
            [row("a", ("b", 1, 3)), row("c"), row("d"), row("e", "f")],
            [["a", "b"], ["c"], ["d"], ["e", "f"]],
        ),
        (
            [row(("a", 2, 2), "b"), row("c"), row("d", "e", "f")],
            [["a", "", "b"], ["", "", "c"], ["d", "e", "f"]],
        ),
        (
            [row("a", ("b", 1, 3), "c"), row("d", "e"), row("f", "g"), row("h", "i", "j")],
            [["a", "b", "c"], ["d", "", "e"], ["f", "", "g"], ["h", "i", "j"]],
        ),
        (
            [row("a", "b", ("c", 1, 3)), row("d"), row("e", "f", "g"), row("h", "i", "j")],
            [["a", "b", "c"], ["d"], ["e", "f", "", "g"], ["h", "i", "j"]],
        ),
        (
            [row("a", "b", ("c", 1, 2)), row("d"), row("e", "f", "g")],
            [["a", "b", "c"], ["d"], ["e", "f", "g"]],
        ),
    ],
)
def test_cells_that_span_others_leave_empty_places(
    rows: list[list[Cell]], placed: list[list[str]]
) -> None:
    assert grid(rows) == placed


@pytest.mark.parametrize(("most", "width"), [(5, 4), (3, 4), (2, 3), (0, 1)])
def test_spans_add_few_empty_places(monkeypatch: pytest.MonkeyPatch, most: int, width: int) -> None:
    monkeypatch.setattr(tables, "MAX_EMPTY", most)
    assert len(grid([row(("a", 4, 1), "b"), row("c", "d")])[0]) == width + 1


def test_empty_places_of_all_spans_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_EMPTY", 4)
    rows = [row(("a", 4, 1), "b"), row(("c", 4, 1), "d"), row(("e", 4, 1), "f")]
    assert [len(line) for line in grid(rows)] == [5, 3, 2]


@pytest.mark.parametrize(
    ("columns", "blocks"), [(tables.MAX_COLUMNS, 1), (tables.MAX_COLUMNS + 1, 2 * 201)]
)
def test_a_table_of_very_many_columns_arranges_them(columns: int, blocks: int) -> None:
    assert len(table_blocks([row(*["x"] * columns)] * 2)) == blocks


@pytest.mark.parametrize(
    ("rows", "is_table"),
    [
        ([row("a", "b"), row("c", "d")], True),
        ([row("a", "b")], True),
        ([row("a"), row("b")], False),
        ([row("a", ""), row("", "b")], False),
        ([row("a", ""), row("c", "d")], True),
        ([[((1, 1), [Code("a", "")]), *row("b")]], False),
        ([[((1, 1), [Code("a", "")]), *row("b")], row("c")], False),
        ([[((1, 1), [Code("a", "")]), *row("b")], row("c", "d")], True),
        ([[((1, 1), [Heading(1, [Run("a")], "")]), *row("b")], row("c", "d")], False),
        ([[((1, 1), [Quote([Heading(1, [Run("a")], "")])]), *row("b")], row("c", "d")], False),
        ([[((1, 1), [Quote([text("a")])]), *row("b")], row("c", "d")], True),
        ([[((1, 1), [Items([[text("a")]], None)]), *row("b")], row("c", "d")], True),
        (
            [[((1, 1), [Items([[text("a")], [Table([])]], None)]), *row("b")], row("c", "d")],
            False,
        ),
    ],
)
def test_a_table_has_rows_of_cells(rows: list[list[Cell]], is_table: bool) -> None:
    found = table_blocks(rows)
    assert (len(found) == 1 and isinstance(found[0], Table)) is is_table
    if not is_table:
        assert found == [block for line in rows for _, cell in line for block in cell]


def test_an_empty_table_is_nothing() -> None:
    assert table_blocks([]) == table_blocks([row("", "")]) == []
