"""Tables: which of them have rows of data, and where the cells of these are.

Pages also use tables to arrange what stands beside each other, such as code and its line numbers,
or a whole page. The cells of those are blocks in a row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.parse.rendition.blocks import Heading, Items, Paragraph, Quote, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gossamer.parse.rendition.blocks import Block

    Cell = tuple[tuple[int, int], list[Block]]
    """The columns and rows that it spans, and its blocks."""

MAX_COLUMNS = 200
MAX_EMPTY = 100_000
"""Empty cells that spans may add to a table."""


def table_blocks(rows: Sequence[Sequence[Cell]]) -> list[Block]:
    """Return a table as one block, or the blocks of its cells if it only arranges them."""
    filled = [row for row in rows if any(blocks for _, blocks in row)]
    if not filled:
        return []
    placed = _placed(filled)
    if _arranges(placed):
        return [block for row in filled for _, blocks in row for block in blocks]
    return [Table(placed)]


def _arranges(rows: Sequence[Sequence[list[Block]]]) -> bool:
    cells = [cell for row in rows for cell in row if cell]
    return (
        all(sum(map(bool, row)) <= 1 for row in rows)
        or max(map(len, rows)) > MAX_COLUMNS
        or any(_has_sections(cell) for cell in cells)
        or (
            sum(sum(map(bool, row)) > 1 for row in rows) <= 1  # such as a warning with its icon
            and not all(isinstance(block, Paragraph) for cell in cells for block in cell)
        )
    )


def _has_sections(blocks: Iterable[Block]) -> bool:
    """Whether a cell has headings or tables, as the parts of a page do."""
    for block in blocks:
        match block:
            case Heading() | Table():
                return True
            case Quote(inner):
                if _has_sections(inner):
                    return True
            case Items(items):
                if any(map(_has_sections, items)):
                    return True
    return False


def _placed(rows: Iterable[Sequence[Cell]]) -> list[list[list[Block]]]:
    """Return the cells by row and column, with empty ones where others span several."""
    placed: list[list[list[Block]]] = []
    spanned: dict[int, int] = {}  # columns, and the number of rows for which they are taken
    left = MAX_EMPTY
    for row in rows:
        cells: list[list[Block]] = []
        taken, spanned = spanned, {}
        for (columns, deep), blocks in row:
            while taken.get(len(cells), 0) > 0 and left > 0:
                spanned[len(cells)] = max(spanned.get(len(cells), 0), taken.pop(len(cells)) - 1)
                cells.append([])
                left -= 1
            width = min(columns, MAX_COLUMNS, left + 1)
            if deep > 1:
                spanned.update(dict.fromkeys(range(len(cells), len(cells) + width), deep - 1))
            cells.append(blocks)
            cells += [[] for _ in range(width - 1)]
            left -= width - 1
        spanned |= {column: rest - 1 for column, rest in taken.items() if rest > 1}
        placed.append(cells)
    return placed
