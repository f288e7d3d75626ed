"""Which parser a stored answer is for, by its type. The extension point for other formats.

The type is the header's, as far as `sniff.py` believes it. What nothing here can read is
`unsupported`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from gossamer.parse.charset import decode
from gossamer.parse.directives import header_wishes
from gossamer.parse.html import parse_html
from gossamer.parse.page import ParsedPage
from gossamer.parse.sniff import HEADER_BYTES, document_type

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gossamer.parse.page import Page, Rules

    Parser = Callable[[Page, str, str, Rules], ParsedPage]

MAX_DETAIL_CHARS = 200


def parse_page(page: Page, rules: Rules) -> ParsedPage:
    """Anything that was fetched as what it says. Never raises but for want of memory."""
    header = page.headers.get("content-type", "")
    _, label = split_content_type(header)
    nosniff = page.headers.get("x-content-type-options", "").strip().lower() == "nosniff"
    mime = document_type(header, page.body[:HEADER_BYTES], nosniff=nosniff)
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
