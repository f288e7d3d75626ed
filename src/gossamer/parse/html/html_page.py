"""An HTML page as a parsed page: one tree, one walk, and what they show."""

from __future__ import annotations

from codecs import BOM_UTF8
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from msgspec import structs
from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from gossamer.native import native_text
from gossamer.parse.html.findings import MAX_TITLE_CHARS
from gossamer.parse.html.page_metadata import metadata
from gossamer.parse.html.shadow_roots import show_shadow_roots
from gossamer.parse.html.site_rules import apply_rule, body_elements, rule_for
from gossamer.parse.html.walk import findings
from gossamer.parse.html.xhtml import html_of
from gossamer.parse.maintext.core import MainText, main_text
from gossamer.parse.parsed_page import ParsedPage
from gossamer.parse.reading.body_cache import remember_latest
from gossamer.parse.reading.charset import decode
from gossamer.parse.reading.directives import Wishes
from gossamer.parse.reading.titles import is_visible, says_nothing
from gossamer.parse.reading.type_sniffing import XHTML
from gossamer.web.publisher_wishes import RSL_TYPE
from gossamer.web.query_encoding import encode_query
from gossamer.web.urls import normalize

if TYPE_CHECKING:
    from gossamer.parse.html.findings import Findings
    from gossamer.parse.html.page_metadata import Metadata
    from gossamer.parse.maintext.blocks import Outline
    from gossamer.parse.parsed_page import Content, Rules, SiteRule

MICRODATA = "itemprop"
"""A page without this string has no microdata. Searching for it takes a small part of the time of a
query for elements with this attribute."""

MAX_CANDIDATES = 5
"""Headings of which one is the title, if the page's title says nothing."""
MAX_LINE_CHARS = 120
"""Length of a first line that is such a title."""
MIN_NEW_CHARS = 200
"""Beginning of the text in JSON-LD that a page does not show if it shows nothing of that text."""


class Reading(NamedTuple):
    """What an HTML body contains, whatever its URL."""

    found: Findings
    charset: str
    text: str
    main: MainText


def parse_html(content: Content, rules: Rules) -> ParsedPage:
    """Parse an HTML page. Never raises, whatever the page contains."""
    rule = rule_for(content.page.url, rules)
    if rules.renders:
        return _rendered(content, rules, rule)
    if rule is None:
        return _page(
            content, _latest_reading(content.page.body, content.label, content.mime, rules)
        )
    reading, tree = _read(content.page.body, content.label, content.mime, rules)
    return apply_rule(_page(content, reading), tree, content.page, rule)


def _rendered(content: Content, rules: Rules, rule: SiteRule | None) -> ParsedPage:
    """Parse a page and render its main text."""
    from gossamer.parse.rendition.rendering import (
        element_blocks,
        main_text_blocks,
        render,
        text_blocks,
    )

    reading, tree = _read(content.page.body, content.label, content.mime, rules)
    page = _page(content, reading)
    base = _base_of(content.page.url, reading.found, reading.charset, rules)
    blocks = None
    if rule is not None:
        page = apply_rule(page, tree, content.page, rule)
        blocks = element_blocks(body_elements(rule, tree), base, rules)
    if not blocks and tree.root is not None and page.main_text == reading.main.text:
        blocks = main_text_blocks(tree.root, reading.found.title, base, rules)
    rendition = render(page, text_blocks(page) if blocks is None else blocks, rules.max_text_chars)
    return structs.replace(page, rendition=rendition)


def _read(
    body: bytes, label: str | None, mime: str, rules: Rules
) -> tuple[Reading, LexborHTMLParser]:
    text, charset = decode(body, label)
    markup: str | bytes = body if charset == "utf-8" and _is_intact(body, text) else text
    if mime == XHTML:
        markup = text = html_of(text)
    tree = LexborHTMLParser(markup, scripting=True, options=LexborDocumentOptions.WO_EVENTS)
    found = findings(tree, rules)
    if found.has_shadow_roots:
        show_shadow_roots(tree)
        found = findings(tree, rules)
    found.embedded.add_to(found.references)
    if mentions(markup, MICRODATA):
        found.head_metadata.add_microdata(tree)
    if mentions(markup, RSL_TYPE):
        found.head_metadata.add_rsl(tree)
    return Reading(found, charset, found.lines.visible(), article(tree, found)), tree


@native_text
def mentions(markup: str | bytes, word: str) -> bool:
    """Whether a word is in a page, in large or small letters: HTML has these attributes in both."""
    if isinstance(markup, bytes):
        return word.encode() in markup.lower()
    return word in markup.lower()


def _is_intact(body: bytes, text: str) -> bool:
    """Whether a body is exactly its text in UTF-8. If so, lexbor need not encode that again."""
    return (
        not text.isascii()  # that costs little to encode
        and "\ufffd" not in text
        and body.endswith(text[-1:].encode())  # not cut within a character
        and not body.startswith(BOM_UTF8)
    )


@remember_latest
def _latest_reading(body: bytes, label: str | None, mime: str, rules: Rules) -> Reading:
    reading, _ = _read(body, label, mime, rules)
    return reading


def article(tree: LexborHTMLParser, found: Findings) -> MainText:
    """Return the main text of a page: see `gossamer.parse.maintext`.

    If that is text that must not be quoted, the whole page must not be: no snippet shows what is
    outside the main text, but the page has nothing else.
    """
    is_revealed = False

    def revealed() -> Outline | None:
        nonlocal is_revealed
        if not found.lines.hides:
            return None
        is_revealed = True
        return findings(tree, found.rules, reveal=True).lines.outline()

    main = main_text(found.lines.outline(), found.title, revealed)
    if found.lines.has_unquoted and (not main.text or is_revealed):
        found.head_metadata.wishes |= Wishes(nosnippet=True)
    return main


def _page(content: Content, reading: Reading) -> ParsedPage:
    """Return the page that a body is at its URL."""
    found, charset, text, main = reading
    url, rules = content.page.url, found.rules
    base = _base_of(url, found, charset, rules)

    def joined(href: str | None) -> str | None:
        if href is None:
            return None
        return normalize(encode_query(href, base, charset), base, rules.urls)

    meta = metadata(
        found.head_metadata,
        url,
        title=found.title,
        fetched=content.page.fetched,
        with_body=main.is_doubtful or not main.text,
    )
    title = _title(found, meta, url, main.text)
    if meta.body and meta.body[:MIN_NEW_CHARS] not in text:
        text, main = f"{text}\n{meta.body}".lstrip(), MainText(meta.body)
    alternates = ((language, joined(href)) for language, href in meta.alternates)
    refused = found.refused.copy()
    return ParsedPage(
        outcome="parsed" if text or title else "empty",
        charset=charset,
        title=title or None,
        headline=meta.headline,
        description=meta.description,
        headings=tuple(heading for _, heading in found.headings),
        text=text,
        main_text=main.text,
        is_doubtful=main.is_doubtful,
        language_hint=found.language or meta.locale,
        authors=meta.authors,
        published=meta.published,
        modified=meta.modified,
        image=joined(meta.image),
        icon=joined(meta.icon),
        site_name=meta.site_name,
        page_type=meta.page_type,
        canonical=joined(meta.canonical),
        alternates=tuple((language, href) for language, href in alternates if href is not None),
        robots=found.head_metadata.wishes,
        statements=tuple(found.head_metadata.statements),
        links=found.references.links(url, base, rules.urls, refused, charset),
        refused=refused,
    )


def _base_of(url: str, found: Findings, charset: str, rules: Rules) -> str:
    """Return the URL to which a page's links are relative."""
    if found.base is None:
        return url
    return normalize(encode_query(found.base, url, charset), url, rules.urls) or url


def _title(found: Findings, meta: Metadata, url: str, text: str) -> str:
    """Return the title, or what a reader would take for it if that says nothing.

    On pages other than a site's first one, the name of the site alone says nothing either.
    """
    h1 = next((heading for level, heading in found.headings if level == 1), "")
    candidates = [found.title, meta.headline or "", h1]
    if found.title:
        candidates += [heading for _, heading in found.headings[:MAX_CANDIDATES]]
        line = text.partition("\n")[0]
        candidates.append(line if len(line) <= MAX_LINE_CHARS else "")
    sites = _site_names(meta, url)
    title = next((each for each in candidates if not _is_empty_title(each, sites)), "")
    title = title or next(filter(is_visible, candidates), "")
    return title[:MAX_TITLE_CHARS]


def _is_empty_title(title: str, sites: frozenset[str]) -> bool:
    return says_nothing(title) or _letters(title) in sites


def _site_names(meta: Metadata, url: str) -> frozenset[str]:
    """Return the names by which a site may be called, as `_letters`; none for its first page."""
    parts = urlsplit(url)
    if not parts.path.strip("/") and not parts.query:
        return frozenset()
    host = (parts.hostname or "").removeprefix("www.")
    return frozenset(map(_letters, filter(None, (meta.site_name, host, host.partition(".")[0]))))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))
