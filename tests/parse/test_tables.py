from __future__ import annotations

import pytest

from gossamer.parse.documents.tables import rows_of
from gossamer.parse.page_parsing import parse_page
from gossamer.parse.parsed_page import Page, ParsedPage, Rules

URL = "https://example.org/file"


def read(mime: str, body: bytes, rules: Rules = Rules()) -> ParsedPage:  # noqa: B008  # frozen
    return parse_page(Page(URL, {"content-type": mime}, body), rules)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"mast,boats\r\nNorth,7\r\n", "mast boats\nNorth 7"),
        (b'"a, b",c\n"d\ne","say ""f"""\n', 'a, b c\nd e say "f"'),
        (b"a;b,c;d\n1;2;3\n", "a b,c d\n1 2 3"),
        (b"a\tb\n1\t2\n", "a b\n1 2"),
        (b"a|b\n\n1|2\n", "a b\n1 2"),
        (b"", ""),
    ],
)
def test_a_row_of_a_table_is_a_line(body: bytes, text: str) -> None:
    page = read("text/csv", body)
    assert (page.text, page.outcome) == (text, "parsed" if text else "empty")


def test_quotes_that_do_not_end_spoil_no_line() -> None:
    page = read("text/csv", b'a,b\n1,"' + b"x" * 140_000 + b'\n2,"3\n')
    assert page.text == f'a b\n1,"{"x" * 140_000}\n2,"3'


def test_a_table_is_in_the_encoding_of_its_header() -> None:
    page = read("text/csv; charset=windows-1251", "имя,город\n".encode("cp1251"))
    assert (page.text, page.charset, page.content_type) == ("имя город", "windows-1251", "text/csv")


def test_a_long_table_is_cut() -> None:
    page = read("text/tab-separated-values", b"a\tb\n" * 1_000, Rules(max_text_chars=9))
    assert (page.text, page.truncated) == ("a b\na b\na", True)


@pytest.mark.parametrize(
    "mime", ["text/x-python", "text/x-log", "text/vtt", "text/troff", "application/x-ndjson"]
)
def test_what_is_called_text_is_text(mime: str) -> None:
    page = read(mime, b"line one\nline  two\n")
    assert (page.outcome, page.text) == ("parsed", "line one\nline two")
    assert page.content_type == mime


def test_what_is_called_text_and_is_none_is_unsupported() -> None:
    page = read("text/x-log", b"\0\1\2 binary")
    assert (page.outcome, page.content_type) == ("unsupported", "application/octet-stream")


@pytest.mark.parametrize("mime", ["application/geo+json", "application/problem+json; charset=x"])
def test_types_with_the_suffix_of_json_are_json(mime: str) -> None:
    page = read(mime, b'{"title": "Quay", "a": ["text", "https://a.example/"]}')
    assert (page.outcome, page.title, page.text) == ("parsed", "Quay", "Quay\ntext")
    assert [link.dst for link in page.links] == ["https://a.example/"]
    assert read(mime, b"{").outcome == "failed"


@pytest.mark.parametrize(
    ("limit", "lines"),
    [(1, 1), (3, 2), (4, 3), (200_004, 3), (200_005, 4), (200_006, 4), (200_007, 5), (999_999, 5)],
)
def test_lines_that_are_no_rows_are_cut_as_well(limit: int, lines: int) -> None:
    """The reader gives up at a field that is longer than its limit; its line is read as text."""
    text = "a\nb\n" + "x" * 200_000 + "\n\nd\ne\n"
    found = [line[:2] for line in rows_of(text, limit)]
    assert found == ["a", "b", "xx", "d", "e"][:lines]
