"""What rendering a page results in. This module needs no parsers."""

from __future__ import annotations

from msgspec import Struct


class Passage(Struct, frozen=True):
    """A part of a page as Markdown, without the headings above it, which are its `path`."""

    id: str
    path: tuple[str, ...]
    text: str
    fragment: str = ""
    """The id of the last of these headings in the page, for links to it."""


class Rendition(Struct, frozen=True):
    """A page's main text as CommonMark, and cut into passages."""

    markdown: str
    passages: tuple[Passage, ...]
    truncated: bool
    """Whether it ends before the main text does, because that is too long."""
