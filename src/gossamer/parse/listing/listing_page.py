"""A feed or a sitemap as a parsed page: links with dates and anchor texts.

Most listings are recognised by their first element, whatever type is declared (`type_sniffing.py`).
What its own site announced as a listing (`Page.announced`) is tried as one if that fails: scripts
write warnings before the declaration, servers have types of their own for feeds, and text sitemaps
lack the scheme. But no link decides what a page is: what begins as a page of HTML stays one, and so
does what lists no URL.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any

from msgspec import structs

from gossamer.parse.documents.binary import parse_file
from gossamer.parse.listing.feed import parse_feed
from gossamer.parse.listing.sitemap import MAX_ENTRIES, MAX_URL_CHARS, News, parse_sitemap
from gossamer.parse.parsed_page import ParsedPage
from gossamer.parse.reading.charset import decode
from gossamer.parse.reading.references import References
from gossamer.parse.reading.type_sniffing import ATOM, JSON_FEED, RSS, SITEMAP
from gossamer.web.binary_data import HEADER_BYTES
from gossamer.web.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gossamer.parse.listing.feed_model import Feed
    from gossamer.parse.listing.sitemap import Sitemap
    from gossamer.parse.parsed_page import Content, Rules

LISTING_TYPES = (RSS, ATOM, JSON_FEED, SITEMAP, "application/rdf+xml")
_TYPES = {"rss": RSS, "rdf": RSS, "atom": ATOM, "json": JSON_FEED}
JUDGED_LINES = 10
"""Non-empty lines at the start of a text, which is a sitemap if all of them are URLs."""

MAX_JUNK_CHARS = 65_536
"""Characters before the root of an announced listing."""

_PAGES_OF_A_FEED = frozenset(
    ("first", "last", "next", "previous", "prev", "next-archive", "prev-archive")
)
"""Link relations between the pages of a feed (RFC 5005)."""
_SCHEMELESS = re.compile(r"(?://)?[\w.-]+\.[\w-]+(?::\d+)?(?:/\S*)?")
_LINE = re.compile(r"https?://\S+", re.IGNORECASE)
_ROOT = re.compile(
    r"<(?:[^\s<>/:!?]{1,40}+:)?(?:rss|rdf|channel|feed|urlset|sitemapindex)[\s>]", re.IGNORECASE
)
_PROLOG = re.compile(r"<\?xml\s|<!doctype\s", re.IGNORECASE)
_PAGE = re.compile(r"<(?:!doctype\s++html|html|head|title|body|frameset)[\s/>]", re.IGNORECASE)
"""What browsers show as a page, if it stands before the root of a listing."""


def parse_listing(content: Content, rules: Rules) -> ParsedPage:
    """Parse what is declared as a feed or sitemap. If it is neither, parse it as XML or JSON."""
    body = content.page.body
    if content.mime == SITEMAP:
        if (sitemap := parse_sitemap(body, content.label)) is not None:
            return _page_of_sitemap(sitemap, content, rules)
    else:
        feed = parse_feed(body, content.label)
        if feed is not None and (feed.entries or feed.kind != "rdf"):  # most RDF is not a feed
            return _page_of_feed(feed, content, rules)
    if content.page.announced and (announced := parse_announced(content, rules)) is not None:
        return announced
    kind = "application/json" if content.mime == JSON_FEED else "application/xml"
    return parse_file(content._replace(mime=kind), rules)


def parse_announced(content: Content, rules: Rules) -> ParsedPage | None:
    """Parse what was announced as a listing, but does not look like one.

    None if it lists nothing, or if browsers would show it as a page.
    """
    text = decode(content.page.body, content.label)[0].lstrip("\ufeff \t\r\n")
    start = text[:MAX_JUNK_CHARS]
    root, page = _ROOT.search(start), _PAGE.search(start)
    if "\0" in start[:HEADER_BYTES] or (page and (root is None or page.start() < root.start())):
        return None
    if root is not None:
        begin = _PROLOG.search(start, 0, root.start()) or root
        text = text[begin.start() :]
    body = text.encode()
    has_root = root is not None or text.startswith("{")
    feed = parse_feed(body, "utf-8", announced=True) if has_root else None
    if feed is not None and feed.entries:
        return structs.replace(_page_of_feed(feed, content, rules), content_type=_TYPES[feed.kind])
    host = host_of(content.page.url)
    own_hosts = frozenset((host, f"www.{host}", host.removeprefix("www.")))
    sitemap = parse_sitemap(body, "utf-8", own_hosts=own_hosts)
    if sitemap is None or not sitemap.entries:
        return None
    return structs.replace(_page_of_sitemap(sitemap, content, rules), content_type=SITEMAP)


def parse_lines(content: Content, text: str, rules: Rules) -> ParsedPage | None:
    """Parse a text sitemap: one URL per line (sitemaps.org, "Text file"). None if it is not one.

    Some lines may lack the scheme, but not both of the first two.
    """
    lines = map(str.strip, text[: JUDGED_LINES * MAX_URL_CHARS].splitlines())
    first = list(islice(filter(None, lines), JUDGED_LINES))
    if not any(map(_LINE.fullmatch, first[:2])):
        return None
    if not all(_LINE.fullmatch(line) or _SCHEMELESS.fullmatch(line) for line in first):
        return None
    sitemap = parse_sitemap(content.page.body, content.label)
    return None if sitemap is None else _page_of_sitemap(sitemap, content, rules)


def _page_of_sitemap(sitemap: Sitemap, content: Content, rules: Rules) -> ParsedPage:
    refused, references = _begun(sitemap.refused)
    relation = "sitemap" if sitemap.kind == "index" else "entry"
    for entry in sitemap.entries:
        news = entry.news or News()
        dated = entry.lastmod or news.published
        references.add(entry.url, news.title or "", relation, dated=dated)
    for entry in sitemap.entries:
        for alternate in entry.alternates:
            references.add(alternate, "", "alternate")
        if rules.media:
            for image in entry.images:
                references.add(image, "", "image")
            for video in entry.videos:
                for url in filter(None, (video.content, video.player)):
                    references.add(url, video.title or "", "video", dated=video.published)
    return _listing(content, references, refused, rules)


def _page_of_feed(feed: Feed, content: Content, rules: Rules) -> ParsedPage:
    refused, references = _begun(feed.refused)
    for entry in feed.entries:
        title, dated = entry.title or "", entry.updated or entry.published
        references.add(entry.url, title, "entry", dated=dated)
        for enclosure in entry.enclosures:
            references.add(enclosure, title, "enclosure", dated=dated)
    for link in feed.links:
        if link.relation in _PAGES_OF_A_FEED:
            references.add(link.url, "", "feed")
        elif link.relation == "alternate":
            references.add(link.url, feed.title or "", "alternate")
    page = _listing(content, references, refused, rules)
    return structs.replace(
        page,
        title=feed.title,
        description=feed.description,
        language_hint=feed.language,
        modified=feed.updated,
    )


def _begun(refused: Mapping[Any, int]) -> tuple[Counter[str], References]:
    counts = Counter(refused)
    return counts, References(MAX_ENTRIES, counts)


def _listing(
    content: Content, references: References, refused: Counter[str], rules: Rules
) -> ParsedPage:
    url = content.page.url
    return ParsedPage(
        outcome="listing", links=references.links(url, url, rules.urls), refused=refused
    )
