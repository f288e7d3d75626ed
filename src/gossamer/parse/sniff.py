"""What a body is, by its declared type and its first bytes. Source: the WHATWG's MIME Sniffing.

`computed_type` is the standard's (§7), which asks how little sniffing the web can live with, for
the sake of a browser's safety. `document_type` goes on where a crawler loses a document: nothing is
executed here, so a wrong guess costs a parse. Left out of the standard: MP3 without ID3 tags
(§6.2.4), three tables for a file that no parser here reads; the contexts of §8.

Facts behind `document_type`: servers call PDF and pictures text/html (error handlers, and scripts
that forget the header), everything application/octet-stream (their default for names that they
do not know), and feeds text/html, text/plain, text/xml or application/xml.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

HEADER_BYTES = 1_445
"""§5.2: of the body, what is looked at."""
MAX_TYPE_CHARS = 300
SITEMAP = "application/x-sitemap+xml"
"""Sitemaps have no type of their own; this is ours."""
RSS = "application/rss+xml"
ATOM = "application/atom+xml"
JSON_FEED = "application/feed+json"
BINARY = "application/octet-stream"

UNKNOWN_TYPES = frozenset(("", "unknown/unknown", "application/unknown", "*/*"))
"""§7, step 2."""
DEFAULT_TYPES = frozenset(
    (
        *("application/octet-stream", "binary/octet-stream", "application/binary"),
        *("application/download", "application/force-download", "application/x-download"),
        "application/x-unknown",
    )
)
"""What servers say of files that they know nothing of, or want to be saved."""
APACHE_BUG = frozenset(
    (
        *("text/plain", "text/plain; charset=ISO-8859-1", "text/plain; charset=iso-8859-1"),
        "text/plain; charset=UTF-8",
    )
)
"""§5.1: what an old Apache says of everything else."""


class _Signature(NamedTuple):
    """Bytes at the start, and at another place behind them."""

    type: str
    start: bytes
    offset: int = 0
    then: bytes = b""

    def matches(self, header: bytes) -> bool:
        return header.startswith(self.start) and header.startswith(self.then, self.offset)


_IMAGES = (
    _Signature("image/x-icon", b"\0\0\1\0"),
    _Signature("image/x-icon", b"\0\0\2\0"),
    _Signature("image/bmp", b"BM"),
    _Signature("image/gif", b"GIF87a"),
    _Signature("image/gif", b"GIF89a"),
    _Signature("image/webp", b"RIFF", 8, b"WEBPVP"),
    _Signature("image/png", b"\x89PNG\r\n\x1a\n"),
    _Signature("image/jpeg", b"\xff\xd8\xff"),
)
"""§6.1."""
_MEDIA = (
    _Signature("audio/aiff", b"FORM", 8, b"AIFF"),
    _Signature("audio/mpeg", b"ID3"),
    _Signature("application/ogg", b"OggS\0"),
    _Signature("audio/midi", b"MThd\0\0\0\x06"),
    _Signature("video/avi", b"RIFF", 8, b"AVI "),
    _Signature("audio/wave", b"RIFF", 8, b"WAVE"),
)
"""§6.2."""
_FONTS = (
    _Signature("font/ttf", b"\0\1\0\0"),
    _Signature("font/otf", b"OTTO"),
    _Signature("font/collection", b"ttcf"),
    _Signature("font/woff", b"wOFF"),
    _Signature("font/woff2", b"wOF2"),
)
"""§6.3, but for Embedded OpenType."""
_ARCHIVES = (
    _Signature("application/x-gzip", b"\x1f\x8b\x08"),
    _Signature("application/zip", b"PK\x03\x04"),
    _Signature("application/x-rar-compressed", b"Rar!\x1a\x07\0"),
)
"""§6.4."""
_DOCUMENTS = (
    _Signature("application/pdf", b"%PDF-"),
    _Signature("application/postscript", b"%!PS-Adobe-"),
)
"""§7.1."""
_OTHERS = (
    _Signature("application/rtf", b"{\\rtf"),
    _Signature("application/x-ole-storage", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    _Signature("application/x-rar-compressed", b"Rar!\x1a\x07\x01\0"),
    _Signature("application/x-7z-compressed", b"7z\xbc\xaf\x27\x1c"),
    _Signature("application/x-xz", b"\xfd7zXZ\0"),
    _Signature("application/zstd", b"\x28\xb5\x2f\xfd"),
    _Signature("application/wasm", b"\0asm"),
    _Signature("application/x-executable", b"\x7fELF"),
)
"""Not of the standard."""

_ESSENCE = re.compile(r"[a-z0-9!#$&^_.+-]{1,127}/[a-z0-9!#$&^_.+-]{1,127}")
"""RFC 6838 §4.2: what can be registered."""
_UTF16_BOMS = (b"\xfe\xff", b"\xff\xfe")
_UTF8_BOM = b"\xef\xbb\xbf"
_BINARY_BYTES = bytes((*range(0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)))
"""§3."""
_HTML = re.compile(
    rb"[\t\n\f\r ]*<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body"
    rb"|br|p|!--)[ >]",
    re.IGNORECASE,
)
"""§7.1."""
_PAGE = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+<(?:!--|(?:!doctype|html|head|title|meta|link|base|script|style|body|div"
    rb"|main|article|section|header|nav|h[1-6]|p|br|hr|[abiu]|ul|ol|table|font|center|img|i?frame"
    rb"|frameset|form|span|strong|em|pre)[\s/>])",
    re.IGNORECASE,
)
"""The same as it is written: after a byte-order mark, before a line's end, other elements."""
_XML = re.compile(rb"[\t\n\f\r ]*<\?xml")
_ROOT = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s++|<!--.*?-->|<\?.*?\?>|<![^>]*+>)*+<([\w.-]*+:)?([\w.-]++)", re.DOTALL
)
"""The name of the first element, its prefix apart; §7.3."""
_ROOTS = {
    b"rss": RSS,
    b"feed": ATOM,
    b"urlset": SITEMAP,
    b"sitemapindex": SITEMAP,
    b"html": "application/xhtml+xml",
    b"svg": "image/svg+xml",
}
_JSON_FEED = re.compile(
    rb"""(?:\xef\xbb\xbf)?\s*+\{.*?"https?:\\?/\\?/(?:www\.)?jsonfeed\.org""", re.DOTALL
)
_JSON_TYPES = frozenset(("application/json", "text/json", "text/plain", JSON_FEED))
_WEBM_END = 38
"""§6.2.2: how far the document type of EBML is looked for."""


def essence(content_type: str) -> str:
    """Type and subtype, in lower case (§4.4); "" where the header has none."""
    found = content_type[:MAX_TYPE_CHARS].partition(";")[0].strip().lower()
    return found if found == "*/*" or _ESSENCE.fullmatch(found) else ""


def computed_type(content_type: str, start: bytes, *, nosniff: bool = False) -> str:
    """The standard's computed type (§7), without parameters.

    `content_type` is the header's value, "" where there is none; `nosniff` whether
    X-Content-Type-Options says so.
    """
    supplied, header = essence(content_type), start[:HEADER_BYTES]
    if supplied in UNKNOWN_TYPES:
        return _unknown(header, scriptable=not nosniff)
    if nosniff or _is_xml(supplied):
        return supplied
    if content_type in APACHE_BUG:
        return _text_or_binary(header)
    found = None
    if supplied == "text/html":
        found = _feed(header)
    elif supplied.startswith("image/"):
        found = _first(_IMAGES, header)
    elif supplied.startswith(("audio/", "video/")) or supplied == "application/ogg":
        found = _media(header)
    return found or supplied


def document_type(content_type: str, start: bytes, *, nosniff: bool = False) -> str:
    """The type that a crawler's parsers go by; never raises.

    Beyond the standard: what is called text and is a picture, a document or an archive; what a
    server knows nothing of; feeds and sitemaps among XML, text and JSON. `nosniff` keeps text from
    becoming something else than a kind of text.
    """
    supplied, header = essence(content_type), start[:HEADER_BYTES]
    if supplied in UNKNOWN_TYPES or supplied in DEFAULT_TYPES:
        found = _unknown(header, scriptable=True)
        if found in (BINARY, "text/plain"):
            if _PAGE.match(header):
                return "text/html"
            found = _first((*_FONTS, *_OTHERS), header) or found
        return _kind_of_text(found, header)
    if supplied.startswith("text/") and not nosniff and (other := _not_text(header)):
        return other
    return _kind_of_text(computed_type(content_type, start, nosniff=nosniff), header)


def _kind_of_text(found: str, header: bytes) -> str:
    """Feeds and sitemaps, by the root of an XML document; the type as it is for all others."""
    if found in _JSON_TYPES and _JSON_FEED.match(header):
        return JSON_FEED
    if found in ("text/html", "text/plain") or _is_xml(found):
        root = _root(header)
        if root in (RSS, ATOM, SITEMAP) or (root and found in ("text/xml", "application/xml")):
            return root
    return found


def _not_text(header: bytes) -> str | None:
    """The signatures that are letters are words too, but where bytes follow that no text holds."""
    if found := _first((*_DOCUMENTS, *_OTHERS), header):
        return found
    if _text_or_binary(header) != BINARY:
        return None
    return _first((*_IMAGES, *_ARCHIVES, *_FONTS), header) or _media(header)


def _unknown(header: bytes, *, scriptable: bool) -> str:
    """§7.1."""
    if scriptable:
        if _HTML.match(header):
            return "text/html"
        if _XML.match(header):
            return "text/xml"
        if header.startswith(b"%PDF-"):
            return "application/pdf"
    if header.startswith(b"%!PS-Adobe-"):
        return "application/postscript"
    if header.startswith((*_UTF16_BOMS, _UTF8_BOM)):
        return "text/plain"
    known = _first(_IMAGES, header) or _media(header) or _first(_ARCHIVES, header)
    return known or _text_or_binary(header)


def _text_or_binary(header: bytes) -> str:
    """§7.2."""
    if header.startswith((*_UTF16_BOMS, _UTF8_BOM)):
        return "text/plain"
    return "text/plain" if len(header.translate(None, _BINARY_BYTES)) == len(header) else BINARY


def _feed(header: bytes) -> str | None:
    """§7.3."""
    root = _root(header)
    return root if root in (RSS, ATOM) else None


def _root(header: bytes) -> str | None:
    """The type that an XML document's first element tells; None for all others."""
    if (match := _ROOT.match(header)) is None:
        return None
    if match[2] == b"RDF":
        return RSS if b"//purl.org/rss/1.0/" in header or b"/rdf/simple/0.9/" in header else None
    return _ROOTS.get(match[2])


def _first(signatures: Iterable[_Signature], header: bytes) -> str | None:
    return next((each.type for each in signatures if each.matches(header)), None)


def _media(header: bytes) -> str | None:
    """§6.2."""
    if found := _first(_MEDIA, header):
        return found
    if _is_mp4(header):
        return "video/mp4"
    return "video/webm" if _is_webm(header) else None


def _is_mp4(header: bytes) -> bool:
    """§6.2.1: a brand of its first box begins with mp4. Bytes 12 to 16 are a version."""
    size = int.from_bytes(header[:4], "big")
    if header[4:8] != b"ftyp" or len(header) < size or size % 4:
        return False
    return any(header.startswith(b"mp4", place) for place in (8, *range(16, size, 4)))


def _is_webm(header: bytes) -> bool:
    """§6.2.2: the element DocType (0x4282) of EBML, whose length is a number of 1 to 8 bytes."""
    if not header.startswith(b"\x1a\x45\xdf\xa3"):
        return False
    place = header.find(b"\x42\x82", 4, _WEBM_END + 1)
    if place < 0 or place + 2 >= len(header) or not (first := header[place + 2]):
        return False
    length_bytes = 9 - first.bit_length()
    return header[place + 2 + length_bytes :].lstrip(b"\0").startswith(b"webm")


def _is_xml(supplied: str) -> bool:
    return supplied in ("text/xml", "application/xml") or supplied.endswith("+xml")
