"""What is added to a parsed page, whatever its format: dates, codings, charsets, nosniff."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from gossamer.parse.page_parsing import charset_of, parse_page
from gossamer.parse.parsed_page import Page, ParsedPage, Rules

FETCHED = datetime(2024, 5, 1, tzinfo=UTC)
URL = "https://example.org/a"


def parsed(body: bytes, kind: str = "text/html", **headers: str) -> ParsedPage:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return parse_page(Page(URL, {"content-type": kind, **named}, body, FETCHED), Rules())


@pytest.mark.parametrize(
    ("header", "charset"),
    [
        ("text/html; charset=utf-8", "utf-8"),
        ("text/html; x=y; CHARSET = 'Latin1' ", "latin1"),
        ('text/html;charset="utf-8"', "utf-8"),
        ("text/html; charset=", None),
        ("text/html; charset=; charset=utf-8", None),
        ("text/html; charset", None),
        ("charset=utf-8", None),
        ("", None),
    ],
)
def test_the_charset_of_a_header(header: str, charset: str | None) -> None:
    assert charset_of(header) == charset


@pytest.mark.parametrize(("hours", "is_kept"), [(0, True), (24, True), (25, False)])
def test_dates_may_be_a_day_ahead_of_the_fetch(hours: int, is_kept: bool) -> None:
    date = (FETCHED + timedelta(hours=hours)).isoformat()
    page = parsed(
        f'<meta name=date content="{date}"><meta name=lastmod content="{date}"><p>x'.encode()
    )
    assert (page.published is not None, page.modified is not None) == (is_kept, is_kept)


@pytest.mark.parametrize(
    ("coding", "body", "is_read"),
    [
        ("br", b"\x0b\x02\x80words\x03", False),
        ("utf-8", b"\x0b\x02\x80words\x03", True),
        ("br", b"<p>words", True),
        ("x, BR", b"\x0b\x02\x80words\x03", False),
        ("", b"<p>words", True),
    ],
)
def test_a_body_that_could_not_be_decoded_is_not_read(
    coding: str, body: bytes, is_read: bool
) -> None:
    page = parsed(body, content_encoding=coding)
    assert (page.outcome in ("parsed", "empty")) is is_read


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("", "image/gif"),
        ("x", "image/gif"),
        ("nosniff", "text/x-notes"),
        (" NoSniff ", "text/x-notes"),
    ],
)
def test_a_server_may_forbid_to_guess_types(value: str, kind: str) -> None:
    page = parsed(b"GIF89a\0\1", "text/x-notes", x_content_type_options=value)
    assert page.content_type == kind


PROSE = "This is a sentence of prose that is long enough to be one of an article's paragraphs. "
MENU = "<li>Startseite der Gemeinde und ihrer Einwohner" * 30


def test_the_language_is_that_of_the_main_text() -> None:
    page = parsed(f"<nav><ul>{MENU}</ul></nav><main><p>{PROSE * 3}</main>".encode())
    assert page.text is not None
    assert page.main_text == (PROSE * 3).strip()
    assert page.language == "en"
    assert parsed(f"<nav><ul>{MENU}</ul></nav>".encode()).language == "de"
