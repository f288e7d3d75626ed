"""A feed or a sitemap as a parsed page: links with dates and anchor texts."""

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
from gossamer.parse.reading.references import References
from gossamer.parse.reading.type_sniffing import ATOM, JSON_FEED, RSS, SITEMAP

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gossamer.parse.listing.feed_model import Feed
    from gossamer.parse.listing.sitemap import Sitemap
    from gossamer.parse.parsed_page import Content, Rules

LISTING_TYPES = (RSS, ATOM, JSON_FEED, SITEMAP, "application/rdf+xml")
JUDGED_LINES = 10
"""Non-empty lines at the start of a text, which is a sitemap if all of them are URLs."""

_PAGES_OF_A_FEED = frozenset(
    ("first", "last", "next", "previous", "prev", "next-archive", "prev-archive")
)
"""Link relations between the pages of a feed (RFC 5005)."""
_SCHEMELESS = re.compile(r"(?://)?[\w.-]+\.[\w-]+(?::\d+)?(?:/\S*)?")
_LINE = re.compile(r"https?://\S+", re.IGNORECASE)


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
    kind = "application/json" if content.mime == JSON_FEED else "application/xml"
    return parse_file(content._replace(mime=kind), rules)


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
