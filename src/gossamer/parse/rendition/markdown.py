"""Writes blocks as CommonMark 0.31, with the tables of GFM (§4.10)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gossamer.parse.rendition.blocks import (
    BREAK,
    CODE,
    Code,
    Heading,
    Inset,
    Items,
    Paragraph,
    Quote,
    Run,
    Table,
)
from gossamer.parse.rendition.escaping import escape_closing
from gossamer.parse.rendition.inlines import IN_CELL, inline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gossamer.parse.rendition.blocks import Block

_FENCES = re.compile(r"^[ ]{0,3}(`{3,})", re.MULTILINE)
_INFO = re.compile(r"[\w+#.-]{1,40}")
MAX_START = 999_999_999
"""The largest number that a list may begin with (§5.2)."""


def markdown(blocks: Iterable[Block]) -> str:
    """Return blocks as Markdown, without a line end at its end."""
    return "\n".join(_lines(blocks))


def write_blocks(blocks: Sequence[Block], limit: int) -> tuple[str, int]:
    """Return as many blocks as have at most `limit` characters, and their number; at least one."""
    lines: list[str] = []
    length = -1  # no line end follows the last line
    for number, written in enumerate(_written(blocks)):
        added = [*([""] if lines and written else []), *written]
        length += sum(map(len, added)) + len(added)
        if number and length > limit:
            return "\n".join(lines), number
        lines += added
    return "\n".join(lines), len(blocks)


def _lines(blocks: Iterable[Block], *, is_tight: bool = False) -> list[str]:
    """Return the lines of blocks, with an empty one between two blocks, unless `is_tight`."""
    lines: list[str] = []
    for written in _written(blocks):
        if lines and written and not is_tight:
            lines.append("")
        lines += written
    return lines


def _written(blocks: Iterable[Block]) -> Iterator[list[str]]:
    """Yield the lines of each block."""
    bullets, last = "-.", ""
    for block in blocks:
        # Two lists in a row would be one, if they had the same mark.
        kind = _kind_of_list(block)
        bullets = {"-.": "*)", "*)": "-."}[bullets] if kind and kind == last else "-."
        if written := _block(block, bullets):
            last = kind
        yield written


def _kind_of_list(block: Block) -> str:
    if not isinstance(block, Items):
        return ""
    return "bullets" if block.start is None else "numbers"


def _block(block: Block, bullets: str) -> list[str]:
    lines: list[str] = []
    match block:
        case Paragraph(runs):
            lines = _paragraph(runs)
        case Heading(level, runs):
            text = inline(runs, " ")
            lines = [f"{'#' * level} {escape_closing(text)}"] if text else []
        case Code(text, language):
            lines = _fenced(text, language)
        case Quote(inner):
            lines = [f"> {line}" if line else ">" for line in _lines(inner)]
        case Items():
            lines = _items(block, bullets)
        case Table(rows):
            lines = list(_table(rows)) if any(map(any, rows)) else []
        case Inset():
            pass
    return lines


def _paragraph(runs: Sequence[Run]) -> list[str]:
    text = inline(runs)
    return text.split("\n") if text else []


def _fenced(text: str, language: str) -> list[str]:
    longest = max(map(len, _FENCES.findall(text)), default=2)
    fence = "`" * (longest + 1)
    info = language if _INFO.fullmatch(language) else ""
    return [f"{fence}{info}", *text.split("\n"), fence]


def _items(block: Items, bullets: str) -> list[str]:
    lines: list[str] = []
    is_tight = all(map(_is_short, block.items))
    for number, item in enumerate(block.items):
        written = _lines(item, is_tight=is_tight)
        if not written:
            continue
        if lines and not is_tight:
            lines.append("")
        if block.start is None:
            mark = f"{bullets[0]} "
        else:
            mark = f"{min(block.start + number, MAX_START)}{bullets[1]} "
        indent = " " * len(mark)
        lines.append(mark + written[0])
        lines += [indent + line if line else "" for line in written[1:]]
    return lines


def _is_short(item: Sequence[Block]) -> bool:
    """Whether an item is a paragraph, possibly with lists of such items.

    A list cannot follow a paragraph without an empty line if it does not count from 1 (§5.3).
    """
    first, *others = item
    return isinstance(first, Paragraph) and all(
        isinstance(block, Items) and block.start in (None, 1) and all(map(_is_short, block.items))
        for block in others
    )


def _table(rows: Sequence[Sequence[Sequence[Block]]]) -> Iterator[str]:
    width = max(map(len, rows))
    for number, row in enumerate(rows):
        cells = [inline(_cell_runs(cell), IN_CELL).replace("|", "\\|") for cell in row]
        cells += [""] * (width - len(cells) if not number else 0)  # other rows may be shorter
        yield f"| {' | '.join(cells)} |"
        if not number:
            yield "|" + " --- |" * width


def _cell_runs(blocks: Iterable[Block]) -> Iterator[Run]:
    """Yield the text of a cell, in which there can be no blocks: each begins a line."""
    for block in blocks:
        yield Run("", BREAK)
        match block:
            case Paragraph(runs) | Heading(_, runs):
                yield from runs
            case Code(text):
                lines = [Run(line, CODE) for line in text.split("\n")]
                yield from _separated([[line] for line in lines], Run("", BREAK))
            case Quote(inner):
                yield from _inner(inner)
            case Items(items):
                listed = ([Run("• "), *_inner(item)] for item in items)
                yield from _separated(listed, Run("", BREAK))
            case Table(rows):
                cells = ([run for cell in row for run in (*_inner(cell), Run(" "))] for row in rows)
                yield from _separated(cells, Run("", BREAK))


def _separated(groups: Iterable[Sequence[Run]], separator: Run) -> Iterator[Run]:
    for number, group in enumerate(groups):
        if number:
            yield separator
        yield from group


def _inner(blocks: Sequence[Block]) -> Sequence[Run]:
    """Return the text of blocks that go on in the present line."""
    return [*_cell_runs(blocks)][1:]
