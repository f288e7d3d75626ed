"""Which parser a stored answer is for, by its type. The extension point for other formats.

The type is the header's; an answer without one is looked at, and so is what calls itself HTML or
text but starts as a binary file does. What nothing here can read is `unsupported`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from gossamer.parse.charset import decode
from gossamer.parse.directives import header_wishes
from gossamer.parse.html import parse_html
from gossamer.parse.page import ParsedPage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gossamer.parse.page import Page, Rules

    Parser = Callable[[Page, str, str, Rules], ParsedPage]

SNIFF_BYTES = 1_445
"""WHATWG MIME Sniffing, §5.2: the resource header."""
MAX_DETAIL_CHARS = 200
UNKNOWN_TYPES = frozenset(("", "unknown/unknown", "application/unknown", "*/*"))
_MAGIC = {
    b"%PDF-": "application/pdf",
    b"%!PS-Adobe-": "application/postscript",
    b"\x89PNG\r\n": "image/png",
    b"GIF8": "image/gif",
    b"\xff\xd8\xff": "image/jpeg",
    b"PK\x03\x04": "application/zip",
    b"\x1f\x8b\x08": "application/gzip",
    b"Rar!": "application/x-rar-compressed",
    b"\0asm": "application/wasm",
    b"\x7fELF": "application/x-executable",
}
_HTML_STARTS = (
    *(b"<!doctype html", b"<!--", b"<html", b"<head", b"<title", b"<meta", b"<script", b"<style"),
    *(b"<body", b"<div", b"<h1", b"<p>", b"<br", b"<table", b"<a ", b"<b>", b"<font", b"<iframe"),
)
"""WHATWG MIME Sniffing, §7.1, and meta."""
_BINARY = frozenset((*range(0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)))
"""WHATWG MIME Sniffing, §3: bytes that no text holds."""


def parse_page(page: Page, rules: Rules) -> ParsedPage:
    """Anything that was fetched as what it says. Never raises but for want of memory."""
    mime, label = split_content_type(page.headers.get("content-type", ""))
    mime = sniff(mime, page.body)
    parser = PARSERS.get(mime)
    if parser is None:
        return ParsedPage(outcome="unsupported", detail=mime[:MAX_DETAIL_CHARS], content_type=mime)
    if coding := page.headers.get("content-encoding"):
        detail = f"content coding {coding}"[:MAX_DETAIL_CHARS]
        return ParsedPage(outcome="unsupported", detail=detail, content_type=mime)
    text, charset = decode(page.body, label)
    return structs.replace(parser(page, text, charset, rules), content_type=mime)


def parse_text(page: Page, text: str, charset: str, rules: Rules) -> ParsedPage:
    """Plain text: no title, no links."""
    lines = (" ".join(line.split()) for line in text.replace("\0", "").splitlines())
    visible = "\n".join(line for line in lines if line)[: rules.max_text_chars]
    asked = header_wishes(page.headers.get("x-robots-tag", ""), rules.agent)
    return ParsedPage(
        outcome="parsed" if visible else "empty",
        charset=charset,
        text=visible,
        noindex=asked.noindex,
        nofollow=asked.nofollow,
    )


PARSERS: Mapping[str, Parser] = {
    "text/html": parse_html,
    "application/xhtml+xml": parse_html,
    "text/plain": parse_text,
}


def split_content_type(header: str) -> tuple[str, str | None]:
    """Type and charset of a Content-Type header (RFC 9110 §8.3), in lower case."""
    mime, *parameters = header[:1_000].lower().split(";")
    for parameter in parameters:
        name, _, text = parameter.partition("=")
        if name.strip() == "charset":
            return mime.strip(), text.strip(" \t'\"") or None
    return mime.strip(), None


def sniff(mime: str, body: bytes) -> str:
    """The type of a body that is declared as `mime`, which may be empty."""
    if mime not in UNKNOWN_TYPES and not mime.startswith("text/"):
        return mime
    start = body[:SNIFF_BYTES]
    for magic, found in _MAGIC.items():
        if start.startswith(magic):
            return found
    if mime not in UNKNOWN_TYPES:
        return mime
    if start.removeprefix(b"\xef\xbb\xbf").lstrip().lower().startswith(_HTML_STARTS):
        return "text/html"
    has_bom = start.startswith((b"\xff\xfe", b"\xfe\xff"))
    return "text/plain" if has_bom or _BINARY.isdisjoint(start) else "application/octet-stream"
