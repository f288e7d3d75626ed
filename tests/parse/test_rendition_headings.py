"""The heading of a rendition, and number signs at the end of one."""

from __future__ import annotations

import pytest

from gossamer.parse.parsed_page import ParsedPage
from gossamer.parse.rendition.escaping import escape_closing, escape_start
from gossamer.parse.rendition.rendering import SITE_HEADINGS, _title

LATE = ("Site", *["x"] * (SITE_HEADINGS - 1), "Boats")
LAST = ("Site", *["x"] * (SITE_HEADINGS - 2), "Boats")


@pytest.mark.parametrize(
    ("title", "headings", "heading"),
    [
        ("Boats - Site", ("Boats",), "Boats"),
        ("Boats - Site", (), "Boats - Site"),
        ("Boats  -  Site", ("Sea",), "Boats - Site"),
        ("Boats - Site", ("Site", "Boats"), "Boats"),
        ("Boats - Site", ("Site", "x", "Boats"), "Boats"),
        ("Boats - Site", ("Site", "Sea"), "Site"),
        ("Boats - Site", LAST, "Boats"),
        ("Boats - Site", LATE, "Site"),
        ("Site", ("Site", ""), "Site"),
        (None, ("Boats",), ""),
    ],
)
def test_the_heading_is_the_title_or_the_first_heading_in_it(
    title: str | None, headings: tuple[str, ...], heading: str
) -> None:
    assert _title(ParsedPage(outcome="parsed", title=title, headings=headings)) == heading
    page = ParsedPage(outcome="parsed", title="other", headline=title, headings=headings)
    assert title is None or _title(page) == heading


@pytest.mark.parametrize(
    ("line", "escaped"), [("C #", "C \\#"), ("C ##", "C \\#\\#"), ("C#", "C\\#"), ("# C", "# C")]
)
def test_number_signs_at_the_end_of_a_heading_are_text(line: str, escaped: str) -> None:
    assert escape_closing(line) == escaped


@pytest.mark.parametrize(
    ("line", "escaped"),
    [("# a", "\\# a"), ("1. a", "1\\. a"), ("12) a", "12\\) a"), ("a", "a"), ("- a", "\\- a")],
)
def test_a_line_that_would_begin_a_block(line: str, escaped: str) -> None:
    assert escape_start(line) == escaped
