"""Columns of a PDF page whose lines were drawn across them.

Most programs draw a column after the other, and PDFium keeps the order of drawing. Some draw row by
row; PDFium then joins the lines of neighbouring columns to one, which breaks every sentence.
Columns are found by the gaps within such lines: at least `MIN_ROWS` of them lie above each other,
nothing crosses them, and what is beside them is as wide as prose. Tables with narrow cells stay
rows.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import pypdfium2.raw as c

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.parse.documents.pdf_page import TextPage

MAX_BOXES = 3_000
"""Boxes of text per page up to which columns are looked for."""
MAX_GUTTERS = 3
MIN_ROWS = 4
MIN_GAP = 1.0
MIN_WIDTH = 12.0
"""Smallest gap between columns, and smallest width of a column, in heights of a line."""
MAX_LOST = 0.01
"""Largest share of characters that may differ between the columns and the page."""

MIN_WORDS = 3
"""Fewest words of a line, on average."""
MIN_QUIET = 3

_FAR = 1e6
_Sides = Sequence[float]
"""The values of a `_Box`, of which pages have many, and most pages are not examined further."""
_DOUBLE_BYTES = ctypes.sizeof(ctypes.c_double)
_ADDRESS = ctypes.c_void_p
_read_box = ctypes.CFUNCTYPE(ctypes.c_int, _ADDRESS, ctypes.c_int, *[_ADDRESS] * 4)(
    ctypes.cast(c.FPDFText_GetRect, _ADDRESS).value or 0
)
"""FPDFText_GetRect with addresses: ctypes takes three times as long to convert typed pointers."""
_WORD = re.compile(r"[^\W\d_]{2,}")


class _Box(NamedTuple):
    left: float
    bottom: float
    right: float
    top: float

    def is_beside(self, other: _Box) -> bool:
        """Whether two boxes are in the same line."""
        overlap = min(self.top, other.top) - max(self.bottom, other.bottom)
        return overlap > 0.5 * min(self.top - self.bottom, other.top - other.bottom)


class _Gap(NamedTuple):
    """A gap in a line, with the boxes that are around it."""

    before: _Box
    after: _Box


class _Region(NamedTuple):
    """The part of a page that has columns: its gutters, and where it ends above and below."""

    gutters: list[float]
    bottom: float
    top: float


class Columns:
    """Reads the pages of a document.

    Pages of a document are alike. So after `MIN_QUIET` pages without columns, only every
    `MIN_QUIET`th is examined, which takes a fifth of the time of a page, until one has columns.
    """

    def __init__(self) -> None:
        self._quiet = 0
        """Pages since the last one with columns."""

    def text_of(self, text_page: TextPage, text: str) -> str:
        """Return the text of the next page, column by column where its lines cross columns."""
        self._quiet += 1
        if self._quiet > MIN_QUIET and self._quiet % MIN_QUIET:
            return text
        found = _text_in_columns(text_page, text)
        if found is None:
            return text
        self._quiet = 0
        return found


def _text_in_columns(text_page: TextPage, text: str) -> str | None:
    count = c.FPDFText_CountRects(text_page.raw, 0, -1)
    if not text.count("\n") + MIN_ROWS < count <= MAX_BOXES:  # most lines are of one box
        return None
    region = _region(_boxes(text_page, count))
    if region is None:
        return None
    columns = [
        text_page.text_within(left, region.bottom, right, region.top).strip()
        for left, right in pairwise((-_FAR, *region.gutters, _FAR))
    ]
    if not all(map(_is_prose, columns)):
        return None
    above = text_page.text_within(-_FAR, region.top, _FAR, _FAR).strip()
    below = text_page.text_within(-_FAR, -_FAR, _FAR, region.bottom).strip()
    found = "\r\n".join(part for part in (above, *columns, below) if part)
    lost = abs(len("".join(found.split())) - len("".join(text.split())))
    return found if lost <= MAX_LOST * len(text) else None


def _is_prose(column: str) -> bool:
    """Whether the lines of a column have words enough to be sentences, not cells of a table."""
    words = _WORD.findall(column)
    return len(words) >= MIN_WORDS * (column.count("\n") + 1)


def _boxes(text_page: TextPage, count: int) -> list[_Sides]:
    """Return the boxes of a page's text, in the order of drawing."""
    sides = (ctypes.c_double * len(_Box._fields))()
    left, bottom, right, top = range(
        ctypes.addressof(sides), ctypes.addressof(sides) + ctypes.sizeof(sides), _DOUBLE_BYTES
    )
    raw = ctypes.cast(text_page.raw, ctypes.c_void_p).value
    read: Callable[[], _Sides] = memoryview(sides).cast("B").cast("d").tolist
    return [read() for index in range(count) if _read_box(raw, index, left, top, right, bottom)]


def _region(sides: Sequence[_Sides]) -> _Region | None:
    if not _may_have_columns(sides):
        return None
    boxes = list(map(_Box._make, sides))
    gaps = [
        _Gap(before, after)
        for before, after in pairwise(_joined(boxes))
        if before.is_beside(after) and after.left > before.right
    ]
    gutters: list[float] = []
    rows: list[_Gap] = []
    while len(gaps) >= MIN_ROWS and len(gutters) < MAX_GUTTERS:
        gutter, around = _gutter(gaps)
        if len(around) < MIN_ROWS or not _is_between_prose(around):
            break
        gutters.append(gutter)
        rows += around
        gaps = [gap for gap in gaps if not gap.before.right < gutter < gap.after.left]
    if not gutters:
        return None
    top = max(max(gap.before.top, gap.after.top) for gap in rows)
    bottom = min(min(gap.before.bottom, gap.after.bottom) for gap in rows)
    return _extended(boxes, sorted(gutters), bottom, top)


def _may_have_columns(sides: Sequence[_Sides]) -> bool:
    """Whether there are gaps enough; this takes less time than to look at all boxes closely."""
    rows = 0
    for (_, bottom, right, top), (left, low, _, high) in pairwise(sides):
        if left - right > MIN_GAP * (top - bottom) and bottom < (low + high) / 2 < top:
            rows += 1
    return rows >= MIN_ROWS


def _joined(boxes: Sequence[_Box]) -> list[_Box]:
    """Join the boxes of words to those of lines, up to the gaps.

    Most boxes are far from the last one, so this is asked before `_Box.is_beside`.
    """
    lines: list[_Box] = []
    for box in boxes:
        last = lines[-1] if lines else None
        if last is not None and last.left <= box.left:
            height = max(last.top - last.bottom, box.top - box.bottom)
            if box.left <= last.right + MIN_GAP * height and last.is_beside(box):
                lines[-1] = _Box(
                    last.left,
                    min(last.bottom, box.bottom),
                    max(last.right, box.right),
                    max(last.top, box.top),
                )
                continue
        lines.append(box)
    return lines


def _gutter(gaps: Sequence[_Gap]) -> tuple[float, list[_Gap]]:
    """Return the place that most gaps have in common, and these gaps."""
    ends = [(gap.before.right, 1) for gap in gaps] + [(gap.after.left, -1) for gap in gaps]
    ends.sort()
    depth = deepest = 0
    place = 0.0
    for number, (at, step) in enumerate(ends):
        depth += step
        if depth > deepest:
            deepest, place = depth, (at + ends[number + 1][0]) / 2
    return place, [gap for gap in gaps if gap.before.right < place < gap.after.left]


def _is_between_prose(gaps: Sequence[_Gap]) -> bool:
    height: float = median(gap.before.top - gap.before.bottom for gap in gaps)
    widths: list[float] = [
        median(box.right - box.left for box in side) for side in zip(*gaps, strict=True)
    ]
    return bool(min(widths) >= MIN_WIDTH * height)


def _extended(
    boxes: Sequence[_Box], gutters: list[float], bottom: float, top: float
) -> _Region | None:
    """Extend a region up and down to the next text that crosses a gutter.

    Return None if there is such text within the region, or beside its other text.
    """
    crossing = [box for box in boxes if any(box.left < x < box.right for x in gutters)]
    above = min((box.bottom for box in crossing if box.bottom >= top), default=_FAR)
    below = max((box.top for box in crossing if box.top <= bottom), default=-_FAR)
    if any(box.top > below and box.bottom < above for box in crossing):
        return None
    inside = [box for box in boxes if box.top <= above and box.bottom >= below]
    highest, lowest = max(box.top for box in inside), min(box.bottom for box in inside)
    return _Region(gutters, (below + lowest) / 2, (above + highest) / 2)
