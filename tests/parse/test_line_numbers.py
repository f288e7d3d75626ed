"""Which elements hold the numbers of lines beside code."""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser

from gossamer.parse.html import line_numbers
from gossamer.parse.html.line_numbers import MAX_DEPTH, is_column, is_number


@pytest.mark.parametrize(
    ("html", "number", "column"),
    [
        ("1", True, False),
        ("1 2 3", True, True),
        ("7<br>8", True, True),
        ("1 3", True, False),
        ("2 1", True, False),
        ("1 a", False, False),
        ("a", False, False),
        ("", False, False),
        (" ", False, False),
        ("123456789", True, False),
        ("1234567890", False, False),
        ("<i>1</i>\n<i>2</i>", True, True),
        ("<i>" * MAX_DEPTH + "1", True, False),
        ("<i>" * (MAX_DEPTH + 1) + "1", False, False),
    ],
)
def test_numbers_and_columns_of_them(html: str, number: bool, column: bool) -> None:
    node = LexborHTMLParser(f"<p>{html}</p>").css_first("p")
    assert node is not None
    assert (is_number(node), is_column(node)) == (number, column)


@pytest.mark.parametrize(("most", "number"), [(5, True), (4, True), (3, False)])
def test_a_large_element_is_no_number(
    monkeypatch: pytest.MonkeyPatch, most: int, number: bool
) -> None:
    monkeypatch.setattr(line_numbers, "MAX_NODES", most)
    node = LexborHTMLParser("<p>1<br>2</p>").css_first("p")
    assert node is not None
    assert is_number(node) is number
