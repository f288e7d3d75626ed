"""The blocks of a rendered page, and the runs of text in them."""

from __future__ import annotations

from typing import NamedTuple

STRONG, EMPHASIS, CODE, IMAGE, BREAK = 1, 2, 4, 8, 16
"""Styles of a run. BREAK is a line break; the text of an IMAGE is its alternative text."""


class Run(NamedTuple):
    """Text of one style, within a link to `href` if that is not empty."""

    text: str
    style: int = 0
    href: str = ""


class Paragraph(NamedTuple):
    runs: list[Run]


class Heading(NamedTuple):
    level: int
    runs: list[Run]
    fragment: str = ""
    """The id by which links lead to it."""


class Code(NamedTuple):
    """Preformatted text, with the name of its language if the page states one."""

    text: str
    language: str = ""


class Quote(NamedTuple):
    blocks: list[Block]


class Items(NamedTuple):
    """A list. It counts from `start`; None: it has bullets."""

    items: list[list[Block]]
    start: int | None = None


class Table(NamedTuple):
    """Rows of cells. The first row is the header, as GFM's tables must have one."""

    rows: list[list[list[Block]]]


class Inset(NamedTuple):
    """The beginning or the end of a note within a section, whose headings do not reach beyond it.

    It has no text.
    """

    begins: bool


Block = Inset | Paragraph | Heading | Code | Quote | Items | Table


def plain(runs: list[Run]) -> str:
    """Return the words of runs, with white space folded."""
    return " ".join("".join([" " if run.style & BREAK else run.text for run in runs]).split())
