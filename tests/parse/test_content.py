from __future__ import annotations

import gzip
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from gossamer.parse.page_parsing import charset_of, parse_page, parse_response
from gossamer.parse.parsed_page import Link, Page, Rules

if TYPE_CHECKING:
    from collections.abc import Callable

URL = "https://example.org/"


@pytest.mark.parametrize(
    ("header", "label"),
    [
        ("Text/HTML; Charset=UTF-8", "utf-8"),
        ("text/html;charset='koi8-r' ; x=y", "koi8-r"),
        ("text/html; boundary=x", None),
        ("text/html; charset=", None),
        ("", None),
        (";;;=", None),
    ],
)
def test_the_charset_of_a_content_type(header: str, label: str | None) -> None:
    assert charset_of(header) == label


@pytest.mark.parametrize(
    ("headers", "body", "mime"),
    [
        ({}, b"<html><p>x", "text/html"),
        ({}, b"just words", "text/plain"),
        ({"content-type": "text/html"}, b"%PDF-1.7", "application/pdf"),
        (
            {"content-type": "text/html", "x-content-type-options": "NoSniff"},
            b"%PDF-1.7",
            "text/html",
        ),
        ({"content-type": "image/png"}, b"<html>", "image/png"),
    ],
)
def test_a_missing_or_wrong_type_is_found_by_looking(
    headers: dict[str, str], body: bytes, mime: str
) -> None:
    assert parse_page(Page(URL, headers, body), Rules()).content_type == mime


def test_plain_text() -> None:
    body = "first  line\r\n\r\n second <b>é</b>\n".encode()
    page = parse_page(
        Page(URL, {"content-type": "text/plain", "x-robots-tag": "noindex"}, body),
        Rules(max_text_chars=25),
    )
    assert (page.outcome, page.text) == ("parsed", "first line\nsecond <b>é</b>"[:25])
    assert (page.content_type, page.charset) == ("text/plain", "utf-8")
    assert page.robots.noindex
    assert page.links == ()
    assert parse_page(Page(URL, {"content-type": "text/plain"}, b" \n"), Rules()).outcome == "empty"


@pytest.mark.parametrize("mime", ["text/plain", "text/html", "text/markdown", "application/rtf"])
def test_text_beyond_the_limit_is_marked_truncated(mime: str) -> None:
    body = {"application/rtf": rb"{\rtf1 ferries sail}"}.get(mime, b"ferries sail")
    page = Page(URL, {"content-type": mime}, body)
    cut = parse_page(page, Rules(max_text_chars=9))
    assert (cut.text, cut.truncated) == ("ferries s", True)
    whole = parse_page(page, Rules(max_text_chars=12))
    assert (whole.text, whole.truncated) == ("ferries sail", False)


def test_text_that_ends_with_a_line_has_no_empty_one_after_it() -> None:
    page = Page(URL, {"content-type": "application/rtf"}, rb"{\rtf1 ferries\par sail}")
    cut = parse_page(page, Rules(max_text_chars=len("ferries\n")))
    assert (cut.text, cut.truncated) == ("ferries", True)


def test_xhtml_is_html() -> None:
    page = parse_page(Page(URL, {"content-type": "application/xhtml+xml"}, b"<p>x</p>"), Rules())
    assert (page.outcome, page.text, page.content_type) == ("parsed", "x", "application/xhtml+xml")


def test_other_types_are_unsupported_and_say_so() -> None:
    page = parse_page(Page(URL, {"content-type": "video/mp4; x=y"}, b"..."), Rules())
    assert (page.outcome, page.detail, page.text) == ("unsupported", "video/mp4", None)


@pytest.mark.parametrize(
    "coding",
    [
        "identity",
        "utf-8",
        "none",
        "8bit",
        "aws-chunked",
        "text/html; charset=utf-8",
        "gzip",
        "x, y",
    ],
)
def test_a_coding_that_is_none_changes_nothing(coding: str) -> None:
    headers = {"content-type": "text/html", "content-encoding": coding}
    assert parse_page(Page(URL, headers, b"<p>x"), Rules()).text == "x"


SITEMAP_FILE = b"<urlset><url><loc>http://a.test/p</loc></url></urlset>"


@pytest.mark.parametrize("pack", [gzip.compress, bytes], ids=["packed", "unpacked"])
@pytest.mark.parametrize(
    "kind",
    [
        *("application/gzip", "application/x-gzip", "application/x-gzip-compressed"),
        *("application/x-gunzip", "application/gzipped", "gzip/document", "Application/GZIP; x=y"),
        *("application/xml", "text/xml", "application/rss+xml", "text/plain", "text/html", ""),
        "application/octet-stream",
    ],
)
@pytest.mark.parametrize("nosniff", ["", "nosniff"])
def test_gzip_is_known_by_its_bytes(
    pack: Callable[[bytes], bytes], kind: str, nosniff: str
) -> None:
    headers = {"content-type": kind, "x-content-type-options": nosniff}
    page = parse_page(Page(URL, headers, pack(SITEMAP_FILE)), Rules())
    assert (page.outcome, [link.dst for link in page.links]) == ("listing", ["http://a.test/p"])


def test_a_wrong_checksum_of_a_file_costs_nothing() -> None:
    packed = gzip.compress(b"<p>all of it")[:-8] + bytes(8)
    assert parse_page(Page(URL, {"content-type": "text/html"}, packed), Rules()).text == "all of it"


def test_a_body_that_is_still_coded_is_unsupported() -> None:
    headers = {"content-type": "text/html", "content-encoding": "zstd"}
    page = parse_page(Page(URL, headers, gzip.compress(b"<p>x")[4:]), Rules())
    assert (page.outcome, page.detail) == ("unsupported", "content coding zstd")


def test_what_was_packed_is_unpacked() -> None:
    page = parse_page(
        Page(URL, {"content-type": "application/gzip"}, gzip.compress(b"<html><p>x")), Rules()
    )
    assert (page.content_type, page.text) == ("text/html", "x")
    packed = gzip.compress(gzip.compress(b"<p>x"))
    assert parse_page(Page(URL, {}, packed), Rules()).outcome == "unsupported"
    assert parse_page(Page(URL, {}, packed[:9]), Rules()).outcome == "empty"


def test_files_of_other_kinds() -> None:
    page = parse_page(
        Page(URL, {"content-type": "text/markdown"}, b"# Quay\n\n[link](http://b.org/x) text"),
        Rules(),
    )
    assert (page.outcome, page.title, page.headings) == ("parsed", "Quay", ("Quay",))
    assert page.links == (Link("http://b.org/x", "link", "a"),)
    broken = parse_page(Page(URL, {"content-type": "application/pdf"}, b"%PDF-1.7 \0"), Rules())
    assert broken.outcome == "failed"
    assert broken.detail


def test_no_file_is_younger_than_its_fetch() -> None:
    body = b"---\ndate: 2024-05-06\nlastmod: 2030-01-01\n---\ntext"
    fetched = datetime(2026, 1, 1, tzinfo=UTC)
    page = parse_page(Page(URL, {"content-type": "text/markdown"}, body, fetched), Rules())
    assert (page.published, page.modified) == (datetime(2024, 5, 6, tzinfo=UTC), None)
    without = parse_page(Page(URL, {"content-type": "text/markdown"}, body), Rules())
    assert without.modified == datetime(2030, 1, 1, tzinfo=UTC)


def test_the_public_function() -> None:
    page = parse_response(
        "HTTP://example.org/x#y", {"X-Robots-Tag": "noindex", "Content-Language": "de"}, b"<p>x"
    )
    assert (page.text, page.robots.noindex, page.language_hint) == ("x", True, "de")
    with pytest.raises(ValueError, match="mailto"):
        parse_response("mailto:x@y", {}, b"")
