"""From a response to a parsed page: its type selects the parser.

The type is that of the header, unless `type_sniffing.py` finds evidence against it. `parsers.py`
holds the parser for each type; pages of other types are `unsupported`. What the site announced as a
feed or sitemap is tried as one first (`listing_page.py`). What all formats have in common is added
here: the directives and links in the HTTP headers, and the language.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import structs

from gossamer.parse.listing.listing_page import LISTING_TYPES, parse_announced
from gossamer.parse.parsed_page import Content, Page, ParsedPage, Rules
from gossamer.parse.parsers import parser_of
from gossamer.parse.reading import gzipped
from gossamer.parse.reading.dates import CLOCK_ERROR
from gossamer.parse.reading.directives import header_wishes
from gossamer.parse.reading.header_links import LINKING, header_links, merge_links
from gossamer.parse.reading.language import hint_of, language_of, tag_of
from gossamer.parse.reading.type_sniffing import document_type, effective_type, essence
from gossamer.web.binary_data import looks_like_text
from gossamer.web.directions import without_overrides
from gossamer.web.publisher_wishes import header_statements, statement
from gossamer.web.urls import normalize

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

MAX_DETAIL_CHARS = 200
MAX_HEADER_CHARS = 1_000
MAX_ALTERNATES = 300
MAX_UNPACKED_BYTES = 50 << 20
"""Size of a decompressed body. sitemaps.org allows sitemaps of this size."""
CODINGS = frozenset(
    (
        *("aes128gcm", "br", "compress", "dcb", "dcz", "deflate", "exi", "gzip", "pack200-gzip"),
        *("x-compress", "x-gzip", "zstd"),
    )
)
"""The registered content codings (IANA), apart from `identity`."""
DEFAULTS = Rules()
_SHOWN = ("title", "headline", "description", "site_name", "text")
"""Fields that search results may show, beside the main text, which is a part of the text."""


def parse_response(
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    rules: Rules = DEFAULTS,
    fetched: datetime | None = None,
) -> ParsedPage:
    """Return the text, links and metadata of a response in any format.

    `headers` are the HTTP headers, with names in any case; `body` is already decoded from its
    content coding. Dates after `fetched` are rejected. Raises ValueError if `url` is not a valid
    URL. Nothing that a server sends raises anything but MemoryError, but a hostile page can take
    very long; `GuardedParser` limits time and memory.
    """
    address = normalize(url, None, rules.urls)
    if address is None:
        raise ValueError(f"not a URL that can be crawled: {url!r}")
    lower = {name.lower(): value for name, value in headers.items()}
    return parse_page(Page(address, lower, body, fetched), rules)


def parse_page(page: Page, rules: Rules) -> ParsedPage:
    """Parse a response by its type. Raises nothing but MemoryError."""
    headers = page.headers
    header = effective_type(headers.get("content-type", ""))
    if page.body.startswith(gzipped.MAGIC):
        page = page._replace(body=gzipped.gunzip(page.body, MAX_UNPACKED_BYTES))
    if gzipped.is_gzip_type(essence(header)):
        header = ""
    nosniff = headers.get("x-content-type-options", "").strip().lower() == "nosniff"
    mime = document_type(header, page.body, nosniff=nosniff)
    parser = parser_of(mime)
    coding = _remaining_coding(headers.get("content-encoding", ""), page.body)
    content = Content(page, mime, charset_of(header))
    if page.announced and not coding and mime not in LISTING_TYPES:
        announced = parse_announced(content, rules)
        if announced is not None:
            return _rendered(complete_page(announced, page, mime, rules), rules)
    if parser is None:
        return ParsedPage(outcome="unsupported", detail=mime[:MAX_DETAIL_CHARS], content_type=mime)
    if coding:
        return ParsedPage(
            outcome="unsupported", detail=f"content coding {coding}", content_type=mime
        )
    return _rendered(complete_page(parser(content, rules), page, mime, rules), rules)


def _rendered(parsed: ParsedPage, rules: Rules) -> ParsedPage:
    """Return the page with its rendition, if the rules want one and its parser has made none."""
    if not rules.renders or parsed.rendition is not None:
        return parsed
    from gossamer.parse.rendition.rendering import render, text_blocks

    rendition = render(parsed, text_blocks(parsed), rules.max_text_chars)
    return structs.replace(parsed, rendition=rendition)


def complete_page(parsed: ParsedPage, page: Page, mime: str, rules: Rules) -> ParsedPage:
    """Return the parsed page with its language, the headers' directives and links, checked dates.

    Texts end at `rules.max_text_chars`.
    """
    hint = parsed.language_hint or page.headers.get("content-language") or ""
    of_headers = header_wishes(page.headers.get("x-robots-tag", ""), rules.agent)
    robots = parsed.robots | of_headers
    statements = [
        *parsed.statements,
        *parsed.robots.statements("page", "robots"),
        *of_headers.statements("header", "X-Robots-Tag"),
        *header_statements(page.headers),
    ]
    published, modified = (
        None if date is None or (page.fetched and date > page.fetched + CLOCK_ERROR) else date
        for date in (parsed.published, parsed.modified)
    )
    links, refused = parsed.links, parsed.refused
    canonical, alternates = parsed.canonical, parsed.alternates
    if not LINKING.isdisjoint(page.headers):
        counts = Counter(refused)
        told = header_links(page.url, page.headers, rules.urls, counts)
        statements += [statement("header", "License", each) for each in told.licenses]
        links, refused = merge_links(links, told.links, rules.max_links), dict(counts)
        canonical = canonical or told.canonical
        alternates = (*alternates, *told.alternates)[:MAX_ALTERNATES]
    shown = {
        name: without_overrides(text)
        for name in _SHOWN
        if isinstance(text := getattr(parsed, name), str)  # of a plugin, it may be anything
    }
    if isinstance(parsed.main_text, str) and shown.get("text") is not parsed.text:
        shown["main_text"] = without_overrides(parsed.main_text)
    parsed = structs.replace(
        parsed,
        **shown,
        headings=tuple(map(without_overrides, parsed.headings)),
        authors=tuple(map(without_overrides, parsed.authors)),
    )
    limit = rules.max_text_chars
    longest = max(len(parsed.text or ""), len(parsed.main_text or ""))
    if robots.nofollow:
        links = tuple([link._replace(nofollow=True) for link in links])
    return structs.replace(
        parsed,
        content_type=parsed.content_type or mime,
        text=parsed.text and parsed.text[:limit],
        main_text=parsed.main_text and parsed.main_text[:limit],
        truncated=parsed.truncated or longest > limit,
        language=language_of(parsed.main_text or parsed.text or "", hint_of(hint)),
        language_hint=tag_of(hint),
        published=published,
        modified=modified,
        canonical=canonical,
        alternates=alternates,
        robots=robots,
        statements=tuple(
            dict.fromkeys(_with_absolute_license(each, page.url) for each in statements)
        ),
        links=links,
        refused=refused,
    )


def _with_absolute_license(line: str, url: str) -> str:
    """Make the link to an RSL file absolute, by which `judge` knows the file that was read."""
    source, license_field, href = line.partition(" License: ")
    target = normalize(href, url) if license_field and " " not in href else None
    return line if target is None else f"{source}{license_field}{target}"


def _remaining_coding(content_encoding: str, body: bytes) -> str | None:
    """Return the content coding of a body that fetch could not decode.

    Other names are none (`utf-8`, `aws-chunked`): like browsers, we take such a body as it is.
    """
    names = {name.strip().lower() for name in content_encoding[:MAX_HEADER_CHARS].split(",")}
    found = min(names & CODINGS, default=None)
    return None if found is None or looks_like_text(body) else found


def charset_of(header: str) -> str | None:
    """Return the charset parameter of a Content-Type header (RFC 9110 §8.3) in lower case."""
    for parameter in header[:MAX_HEADER_CHARS].lower().split(";")[1:]:
        name, _, text = parameter.partition("=")
        if name.strip() == "charset":
            return text.strip(" \t'\"") or None
    return None
