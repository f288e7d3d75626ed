"""From an answer to a parsed page: what it is decides which parser reads it.

The type is the header's, as far as `sniff.py` believes it. `parsers.py` knows who reads it; what
nobody does is `unsupported`. What all formats have in common is added here: what the headers ask
of crawlers, and the language.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from gossamer.parse import packed
from gossamer.parse.dates import CLOCK_ERROR
from gossamer.parse.directives import header_wishes
from gossamer.parse.language import hint_of, language_of, tag_of
from gossamer.parse.page import Content, Page, ParsedPage, Rules
from gossamer.parse.parsers import parser_of
from gossamer.parse.sniff import HEADER_BYTES, document_type
from gossamer.urls import normalize

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

MAX_DETAIL_CHARS = 200
MAX_HEADER_CHARS = 1_000
MAX_UNPACKED_BYTES = 50 << 20
"""A sitemap of the size that sitemaps.org allows."""
ALL = Rules()


def parse_response(
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    rules: Rules = ALL,
    fetched: datetime | None = None,
) -> ParsedPage:
    """What an answer says: its text, links and metadata, whatever its format.

    `headers` are HTTP's, in any case, and `body` has no content coding any more. Dates after
    `fetched` are not believed. Never raises for anything that a server sent but MemoryError; and
    may take long for what was made to, which `guard.GuardedParser` ends. Raises ValueError where
    `url` is none.
    """
    address = normalize(url, None, rules.urls)
    if address is None:
        raise ValueError(f"not a URL that can be crawled: {url!r}")
    lower = {name.lower(): value for name, value in headers.items()}
    return parse_page(Page(address, lower, body, fetched), rules)


def parse_page(page: Page, rules: Rules) -> ParsedPage:
    """Anything that was fetched as what it is. Never raises but for want of memory."""
    headers = page.headers
    header = headers.get("content-type", "")
    nosniff = headers.get("x-content-type-options", "").strip().lower() == "nosniff"
    mime = document_type(header, page.body[:HEADER_BYTES], nosniff=nosniff)
    if mime in packed.TYPES:
        page, header = page._replace(body=packed.gunzip(page.body, MAX_UNPACKED_BYTES)), ""
        mime = document_type("", page.body[:HEADER_BYTES])
    parser = parser_of(mime)
    if parser is None:
        return ParsedPage(outcome="unsupported", detail=mime[:MAX_DETAIL_CHARS], content_type=mime)
    if coding := headers.get("content-encoding"):
        detail = f"content coding {coding}"[:MAX_DETAIL_CHARS]
        return ParsedPage(outcome="unsupported", detail=detail, content_type=mime)
    label = charset_of(header)
    return completed(parser(Content(page, mime, label), rules), page, mime, rules)


def completed(parsed: ParsedPage, page: Page, mime: str, rules: Rules) -> ParsedPage:
    """With what does not depend on the format."""
    hint = parsed.language_hint or page.headers.get("content-language") or ""
    asked = parsed.robots | header_wishes(page.headers.get("x-robots-tag", ""), rules.agent)
    published, modified = (
        None if date is None or (page.fetched and date > page.fetched + CLOCK_ERROR) else date
        for date in (parsed.published, parsed.modified)
    )
    links = parsed.links
    if asked.nofollow:
        links = tuple([link._replace(nofollow=True) for link in links])
    return structs.replace(
        parsed,
        content_type=parsed.content_type or mime,
        language=language_of(parsed.main_text or parsed.text or "", hint_of(hint)),
        language_hint=tag_of(hint),
        published=published,
        modified=modified,
        robots=asked,
        links=links,
    )


def charset_of(header: str) -> str | None:
    """The charset that a Content-Type header (RFC 9110 §8.3) names, in lower case."""
    for parameter in header[:MAX_HEADER_CHARS].lower().split(";")[1:]:
        name, _, text = parameter.partition("=")
        if name.strip() == "charset":
            return text.strip(" \t'\"") or None
    return None
