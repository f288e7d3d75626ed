"""Section numbers (§) are those of WHATWG MIME Sniffing."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.reading.type_sniffing import (
    ATOM,
    BINARY,
    JSON_FEED,
    RSS,
    SITEMAP,
    computed_type,
    document_type,
    effective_type,
    essence,
)
from gossamer.web.binary_data import HEADER_BYTES

MP4 = b"\0\0\0\x14ftypisom\0\0\0\1mp41" + b"\0" * 20
WEBM = b"\x1a\x45\xdf\xa3\x93\x42\x86\x81\x01\x42\x82\x84webm" + b"\0" * 20
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
SIGNATURES = [
    (b"\0\0\1\0\1\0", "image/x-icon"),
    (b"\0\0\2\0\1\0", "image/x-icon"),
    (b"BM\0\0", "image/bmp"),
    (b"GIF87a\1\0", "image/gif"),
    (b"GIF89a\1\0", "image/gif"),
    (b"RIFF\1\2\3\4WEBPVP8 ", "image/webp"),
    (PNG, "image/png"),
    (b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"),
    (b"FORM\0\0\0\1AIFF", "audio/aiff"),
    (b"ID3\3\0", "audio/mpeg"),
    (b"OggS\0\2", "application/ogg"),
    (b"MThd\0\0\0\6\0", "audio/midi"),
    (b"RIFF\1\2\3\4AVI LIST", "video/avi"),
    (b"RIFF\1\2\3\4WAVEfmt ", "audio/wave"),
    (MP4, "video/mp4"),
    (WEBM, "video/webm"),
    (b"\x1f\x8b\x08\0", "application/x-gzip"),
    (b"PK\3\4\x14\0", "application/zip"),
    (b"Rar!\x1a\7\0", "application/x-rar-compressed"),
    (b"%!PS-Adobe-3.0\n", "application/postscript"),
]
RSS_BODY = b'<?xml version="1.0"?>\n<!-- a > b --><rss version="2.0"><channel>'
ATOM_BODY = b'\xef\xbb\xbf<feed xmlns="http://www.w3.org/2005/Atom">'
RDF_BODY = (
    b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
    b' xmlns="http://purl.org/rss/1.0/">'
)
URLSET = b'<?xml version="1.0"?><?xml-stylesheet href="s.xsl"?><urlset xmlns="x">'


@pytest.mark.parametrize("supplied", ["", "unknown/unknown", "application/unknown", "*/*", "junk"])
@pytest.mark.parametrize(("start", "found"), SIGNATURES)
def test_7_1_an_unknown_type_is_found(supplied: str, start: bytes, found: str) -> None:
    assert computed_type(supplied, start) == found
    assert computed_type(supplied, start, nosniff=True) == found


TAGS = "!DOCTYPE HTML,HTML,HEAD,SCRIPT,IFRAME,H1,DIV,FONT,TABLE,A,STYLE,TITLE,B,BODY,BR,P,!--"


@pytest.mark.parametrize("tag", TAGS.split(","))
def test_7_1_html_needs_a_tag_that_ends(tag: str) -> None:
    for text in (f"<{tag}>", f" \t\r\n\f<{tag.lower()} class=x>"):
        assert computed_type("", text.encode()) == "text/html"
        assert computed_type("", text.encode(), nosniff=True) == "text/plain"
    assert computed_type("", f"<{tag}x>".encode()) == "text/plain"
    assert computed_type("", f"<{tag}".encode()) == "text/plain"


@pytest.mark.parametrize(
    ("start", "found", "unscriptable"),
    [
        (b"\n<?xml version='1.0'?>", "text/xml", "text/plain"),
        (b"%PDF-1.7\n\xe2", "application/pdf", "text/plain"),
        (b"\xfe\xff\0a", "text/plain", "text/plain"),
        (b"\xff\xfea\0", "text/plain", "text/plain"),
        (b"\xef\xbb\xbf\0", "text/plain", "text/plain"),
        (b"", "text/plain", "text/plain"),
        (b"words \x1b[1m \x0c\x80\xff", "text/plain", "text/plain"),
        (b"a\0b", BINARY, BINARY),
    ],
)
def test_7_1_what_is_left(start: bytes, found: str, unscriptable: str) -> None:
    assert computed_type("", start) == found
    assert computed_type("", start, nosniff=True) == unscriptable


@pytest.mark.parametrize("byte", range(0x20))
def test_3_and_7_2_bytes_that_make_a_text_binary(byte: int) -> None:
    is_text = byte in (0x09, 0x0A, 0x0C, 0x0D, 0x1B)
    body = b"text " + bytes((byte,))
    assert computed_type("text/plain", body) == ("text/plain" if is_text else BINARY)


def test_5_1_only_what_apache_wrote_is_checked() -> None:
    for supplied in (
        "text/plain",
        "text/plain; charset=ISO-8859-1",
        "text/plain; charset=iso-8859-1",
        "text/plain; charset=UTF-8",
    ):
        assert computed_type(supplied, b"\0\1") == BINARY
        assert computed_type(supplied, b"\0\1", nosniff=True) == "text/plain"
        assert computed_type(supplied, b"<html>") == "text/plain"
        assert computed_type(supplied, PNG) == BINARY
    assert computed_type("text/plain; charset=utf-8", b"\0\1") == "text/plain"
    assert computed_type("TEXT/plain", b"\0\1") == "text/plain"


def test_7_images_and_media_are_corrected_within_their_kind() -> None:
    assert computed_type("image/gif", PNG) == "image/png"
    assert computed_type("image/gif", PNG, nosniff=True) == "image/gif"
    assert computed_type("image/gif", MP4) == "image/gif"
    assert computed_type("audio/x-y", WEBM) == "video/webm"
    assert computed_type("video/mp4", PNG) == "video/mp4"
    assert computed_type("application/json", PNG) == "application/json"
    assert computed_type("text/css", PNG) == "text/css"
    assert computed_type("image/svg+xml", PNG) == "image/svg+xml"


@pytest.mark.parametrize(
    ("start", "found"),
    [
        (RSS_BODY, RSS),
        (ATOM_BODY, ATOM),
        (RDF_BODY, RSS),
        (b"<rdf:RDF>", "text/html"),
        (b"<!DOCTYPE html><rss>", RSS),
        (b"<rssx>", "text/html"),
        (b"text <rss>", "text/html"),
        (URLSET, "text/html"),
        (b"<!-- <rss>", "text/html"),
    ],
)
def test_7_3_a_feed_that_calls_itself_html(start: bytes, found: str) -> None:
    assert computed_type("text/html; charset=utf-8", start) == found
    assert computed_type("text/html", start, nosniff=True) == "text/html"


@pytest.mark.parametrize(
    "start",
    [
        b"\0\0\0\x14ftypisom\0\0\0\1isom",  # no brand of mp4's
        b"\0\0\0\x15ftypisom\0\0\0\1mp41....",  # not a multiple of four
        b"\0\0\1\x14ftypisom\0\0\0\1mp41",  # shorter than its first box
        b"\0\0\0\x14ftypisommp41isom....",  # the version is no brand
        b"\0\0\0\x0cftyp",
    ],
)
def test_6_2_1_what_is_no_mp4(start: bytes) -> None:
    assert computed_type("", start) == BINARY


@pytest.mark.parametrize(
    "start",
    [
        b"\x1a\x45\xdf\xa3",
        b"\x1a\x45\xdf\xa3\x42\x82",
        b"\x1a\x45\xdf\xa3\x42\x82\0webm",
        b"\x1a\x45\xdf\xa3\x42\x82\x88matroska",
        b"\x1a\x45\xdf\xa3" + b"\x80" * 36 + b"\x42\x82\x84webm\0",
    ],
)
def test_6_2_2_what_is_no_webm(start: bytes) -> None:
    assert computed_type("", start + b"\1") == BINARY


def test_6_2_2_lengths_of_several_bytes_and_zeros_before_the_name() -> None:
    assert computed_type("", b"\x1a\x45\xdf\xa3\x42\x82\x40\x06\0\0webm") == "video/webm"


@pytest.mark.parametrize(
    ("supplied", "start", "found"),
    [
        ("text/html", PNG, "image/png"),
        ("text/html", b"%PDF-1.4\n", "application/pdf"),
        ("text/html; charset=utf-8", b"PK\3\4\x14\0", "application/zip"),
        ("text/plain", b"{\\rtf1 Hello", "application/rtf"),
        ("text/plain", b"BMW builds cars", "text/plain"),
        ("text/plain", b"ID3 is a tag", "text/plain"),
        ("text/html", b"OTTO was here", "text/html"),
        ("text/html", "ÿ<p>".encode("utf-16"), "text/html"),
        ("", b"\xef\xbb\xbf<!DOCTYPE html\n PUBLIC", "text/html"),
        ("", b"<meta charset=utf-8>", "text/html"),
        ("", b"<html\nlang=de>", "text/html"),
        ("", b"{\\rtf1", "application/rtf"),
        ("", b"wOF2\0\1", "font/woff2"),
        ("application/octet-stream", b"<!DOCTYPE html>", "text/html"),
        ("application/octet-stream", b"%PDF-1.4", "application/pdf"),
        ("application/octet-stream", RSS_BODY, RSS),
        ("binary/octet-stream", b"\0\1\2", BINARY),
        (
            "application/force-download",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
            "application/x-ole-storage",
        ),
        ("text/xml", RSS_BODY, RSS),
        ("application/xml; charset=utf-8", ATOM_BODY, ATOM),
        ("text/plain", RDF_BODY, RSS),
        ("text/html", URLSET, SITEMAP),
        ("application/xml", b"<sm:sitemapindex xmlns:sm='x'>", SITEMAP),
        ("application/rss+xml", URLSET, SITEMAP),
        ("", URLSET, SITEMAP),
        ("text/xml", b'<?xml version="1.0"?><!DOCTYPE html><html>', "application/xhtml+xml"),
        ("text/xml", b"<svg>", "image/svg+xml"),
        ("text/xml", b"<note>", "text/xml"),
        ("text/html", b"<html><rss>", "text/html"),
        ("application/json", b'{"version": "https://jsonfeed.org/version/1.1"', JSON_FEED),
        ("application/json", b'{"version": "https:\\/\\/jsonfeed.org\\/version\\/1"', JSON_FEED),
        ("application/json", b'{"a": 1}', "application/json"),
        ("application/pdf", b"<html>", "application/pdf"),
    ],
)
def test_what_a_crawler_makes_of_it(supplied: str, start: bytes, found: str) -> None:
    assert document_type(supplied, start) == found


def test_nosniff_keeps_a_text_a_text() -> None:
    assert document_type("text/html", PNG, nosniff=True) == "text/html"
    assert document_type("text/plain", b"%PDF-1.4", nosniff=True) == "text/plain"
    assert document_type("text/xml", RSS_BODY, nosniff=True) == RSS


def test_only_the_start_is_looked_at() -> None:
    assert computed_type("text/plain", b"a" * HEADER_BYTES + b"\0") == "text/plain"


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("Text/HTML ; charset=x", "text/html"),
        ("text/html;", "text/html"),
        ("html", ""),
        ("text/html, text/plain", ""),
        ("text/ht\xadml", ""),
        ("text/html\0", ""),
        (f"text/{'x' * 128}", ""),
        ("*/*", "*/*"),
        ("", ""),
        (";", ""),
    ],
)
def test_the_essence_of_a_type(header: str, found: str) -> None:
    assert essence(header) == found


STARTS = st.sampled_from(
    [start for start, _ in SIGNATURES]
    + [RSS_BODY, ATOM_BODY, RDF_BODY, URLSET, b"<!--", b"<?", b"{"]
)


@given(st.text(), st.one_of(st.binary(), st.lists(STARTS).map(b"".join)), st.booleans())
def test_nothing_raises(supplied: str, start: bytes, nosniff: bool) -> None:
    for sniff in (computed_type, document_type):
        assert "/" in sniff(supplied, start, nosniff=nosniff)


@pytest.mark.parametrize(
    "piece", [b" ", b"<!--", b"<!---->", b"<?", b"<a", b"{", b'"', b"<!", b":"]
)
def test_time_does_not_grow(piece: bytes) -> None:
    start = time.process_time()
    for prefix in (b"", b"<", b"{", b"<!-- -->"):
        document_type("text/xml", prefix + piece * 100_000)
        document_type("text/plain", prefix + piece * 100_000)
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        ("text/html", "text/html"),
        ("text/html; charset=utf-8, text/plain", "text/plain"),
        ("text/plain, text/html; charset=utf-8", "text/html; charset=utf-8"),
        ("text/html; charset=utf-8, text/html", "text/html; charset=utf-8"),
        ("text/html; charset=utf-8, text/html; charset=koi8-r", "text/html; charset=koi8-r"),
        ("text/html, nonsense, */*", "text/html"),
        ('text/html; a="b, c"; charset=x', 'text/html; a="b, c"; charset=x'),
        (",", ","),
        ('"' * 300 + ",", '"' * 300 + ","),
    ],
)
def test_the_last_of_several_types(header: str, kind: str) -> None:
    assert effective_type(header) == kind
