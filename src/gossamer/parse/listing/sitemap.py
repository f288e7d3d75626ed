"""Sitemaps: the pages that a site lists, with their dates, images, videos and translations.

Sources: sitemaps.org/protocol.html for the formats (XML, index, text, RSS and Atom, each of them
gzipped or not) and the bounds; developers.google.com/search/docs for news, image and video
extensions and for alternates in other languages.

Facts: `priority` and `changefreq` are mostly a program's defaults, so they are not read; `lastmod`
is useful. Sitemaps with the name or type of gzip were often unpacked on the way, and vice versa, so
the first bytes decide. Namespaces are wrong as often as right, so the names of elements decide.
Some sitemaps lack elements: their records contain the bare URL, or the root contains `loc` elements
or lines. URLs are returned as written: relative ones violate the protocol, but are common.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime  # noqa: TC003  # msgspec reads annotations
from itertools import chain, islice
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from gossamer.parse.listing.feed import parse_feed
from gossamer.parse.listing.xml_node import Node
from gossamer.parse.listing.xml_reader import fold_xml_text, read_xml_elements
from gossamer.parse.reading.charset import decode
from gossamer.parse.reading.dates import parse_date
from gossamer.parse.reading.gzipped import MAGIC, gunzip

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BYTES = 50 << 20
"""Bytes read of an uncompressed sitemap: the limit of sitemaps.org."""
MAX_ENTRIES = 50_000
"""Entries per sitemap: the limit of sitemaps.org."""
MAX_URL_CHARS = 2_048
"""Length of a URL: the limit of sitemaps.org."""
MAX_TEXT_CHARS = 1_000
MAX_PARTS = 1_000
"""Images per page, which is Google's limit; we apply it to videos and alternates, too."""
_ROOTS = frozenset(("urlset", "sitemapindex"))
_RECORDS = frozenset(("url", "sitemap"))
_LINKS = frozenset(("xhtml:link", "link"))
_BARE = re.compile(r"https?://\S+", re.IGNORECASE)

Refusal = Literal["no_url", "url_too_long", "too_many"]


class Video(Struct, frozen=True, gc=False, kw_only=True):
    title: str | None = None
    content: str | None = None
    player: str | None = None
    published: datetime | None = None


class News(Struct, frozen=True, gc=False, kw_only=True):
    title: str | None = None
    published: datetime | None = None


class SitemapEntry(Struct, frozen=True, gc=False, kw_only=True):
    """A page, or in a sitemap index another sitemap. Dates are in UTC."""

    url: str
    lastmod: datetime | None = None
    news: News | None = None
    images: tuple[str, ...] = ()
    videos: tuple[Video, ...] = ()
    alternates: tuple[str, ...] = ()
    """URLs of translations of the page: `xhtml:link` with hreflang."""


class Sitemap(Struct, frozen=True, kw_only=True):
    kind: Literal["urlset", "index"]
    entries: tuple[SitemapEntry, ...] = ()
    refused: dict[Refusal, int] = {}
    """Number of entries that are left out, by reason."""


def parse_sitemap(
    body: bytes,
    declared: str | None = None,
    *,
    own_hosts: frozenset[str] = frozenset(),
    max_entries: int = MAX_ENTRIES,
) -> Sitemap | None:
    """Parse a sitemap; None if it is not one. Never raises. `declared` is the header's charset.

    A text is a sitemap if its first line is a URL, or one without the scheme that the second has.
    If it was announced as a sitemap, most of its lines have to be URLs, and those of its own hosts
    may all lack the scheme.
    """
    body = gunzip(body, MAX_BYTES) if body.startswith(MAGIC) else body[:MAX_BYTES]
    text = decode(body, declared)[0]
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        return _of_xml(text, max_entries) or _of_feed(body, declared, max_entries)
    return _of_lines(decode(body, declared or "utf-8")[0], own_hosts, max_entries)


def _of_xml(text: str, max_entries: int) -> Sitemap | None:
    entries = _Entries(max_entries)
    located = False
    for node in read_xml_elements(text, _RECORDS):
        if node.name:
            for entry in _entries(node):
                entries.add(node.name, entry)
            located = located or any(part.name == "loc" for part in node.elements())
            continue
        roots = {element.name: element for element in node.elements() if element.name in _ROOTS}
        if not roots and not (located and entries.kept):  # RSS has bare URLs, too
            return None
        if "sitemapindex" in roots:
            entries.kind = "index"
        for url in chain.from_iterable(map(_without_record, roots.values())):
            entries.add("url", _judged(SitemapEntry(url=url)))
    return entries.sitemap()


def _without_record(root: Node) -> Iterator[str]:
    for child in root.children:
        if isinstance(child, str):
            yield from _BARE.findall(child)
        elif child.name == "loc":
            yield child.url(child.text)


def _of_feed(body: bytes, declared: str | None, max_entries: int) -> Sitemap | None:
    """Return a feed's links and dates as a sitemap (sitemaps.org, "Other Sitemap formats")."""
    if (feed := parse_feed(body, declared)) is None:
        return None
    entries = _Entries(max_entries)
    for entry in feed.entries:
        lastmod = entry.updated or entry.published
        entries.add("url", _judged(SitemapEntry(url=entry.url or "", lastmod=lastmod)))
    return entries.sitemap()


def _of_lines(text: str, own_hosts: frozenset[str], max_entries: int) -> Sitemap | None:
    lines = [line for line in map(str.strip, text.lstrip("\ufeff").splitlines()) if line]
    hosts = {line.split("/", 3)[2].lower() for line in lines[:2] if _BARE.fullmatch(line)}
    if not own_hosts and not (hosts and (_BARE.fullmatch(lines[0]) or _host(lines[0]) in hosts)):
        return None
    hosts |= own_hosts
    entries = _Entries(max_entries)
    for line in lines:
        url = line if _BARE.fullmatch(line) else ""
        if not url and _host(line) in hosts:
            url = f"//{line.removeprefix('//')}"
        entries.add("url", _judged(SitemapEntry(url=url)))
    sitemap = entries.sitemap()
    return None if sitemap.refused.get("no_url", 0) > len(lines) / 2 and own_hosts else sitemap


def _host(line: str) -> str:
    """Return the host of a URL that lacks its scheme, in lower case."""
    return line.removeprefix("//").partition("/")[0].lower()


class _Entries:
    """Collects up to `most` entries, and counts the others by reason."""

    def __init__(self, most: int) -> None:
        self.kind: Literal["urlset", "index"] = "urlset"
        self.kept: list[SitemapEntry] = []
        self._most = most
        self._refused: Counter[Refusal] = Counter()

    def add(self, name: str, entry: SitemapEntry | Refusal) -> None:
        if not isinstance(entry, SitemapEntry):
            self._refused[entry] += 1
        elif len(self.kept) >= self._most:
            self._refused["too_many"] += 1
        else:
            self.kept.append(entry)
            if name == "sitemap":
                self.kind = "index"

    def sitemap(self) -> Sitemap:
        return Sitemap(kind=self.kind, entries=tuple(self.kept), refused=dict(self._refused))


def _judged(entry: SitemapEntry) -> SitemapEntry | Refusal:
    if not entry.url:
        return "no_url"
    return entry if len(entry.url) <= MAX_URL_CHARS else "url_too_long"


def _entries(node: Node) -> Iterator[SitemapEntry | Refusal]:
    """Yield the entry of a record, and one for each further `loc`, with the date that follows it.

    A lost end tag makes one record of two, and some programs write the URLs of all languages.
    """
    yield _entry(node)
    if sum(part.name == "loc" for part in node.elements()) > 1:
        found: list[list[Node | None]] = []
        for part in node.elements():
            if part.name == "loc":
                found.append([part, None])
            elif part.name == "lastmod" and found and found[-1][1] is None:
                found[-1][1] = part
        for loc, lastmod in found[1 : MAX_PARTS + 1]:
            yield _judged(SitemapEntry(url=_url(loc) or "", lastmod=_date(lastmod)))


def _entry(node: Node) -> SitemapEntry | Refusal:
    first = node.first()
    names = first.keys()
    return _judged(
        SitemapEntry(
            url=_url(first.get("loc")) or _bare(node),
            lastmod=_date(first.get("lastmod")),
            news=_news(first["news:news"]) if "news:news" in names else None,
            images=tuple(islice(_images(node), MAX_PARTS)) if "image:image" in names else (),
            videos=tuple(islice(_videos(node), MAX_PARTS)) if "video:video" in names else (),
            alternates=tuple(_alternates(node)) if not names.isdisjoint(_LINKS) else (),
        )
    )


def _bare(node: Node) -> str:
    found = _BARE.search("".join(part for part in node.children if isinstance(part, str)))
    return found[0] if found else ""


def _images(node: Node) -> Iterator[str]:
    for image in node.elements():
        if image.name == "image:image":
            yield from (
                url
                for part in image.elements()
                if part.name == "image:loc" and (url := part.url(part.text))
            )


def _videos(node: Node) -> Iterator[Video]:
    for video in node.elements():
        if video.name == "video:video":
            first = video.first()
            yield Video(
                title=_text(first.get("video:title")),
                content=_url(first.get("video:content_loc")),
                player=_url(first.get("video:player_loc")),
                published=_date(first.get("video:publication_date")),
            )


def _alternates(node: Node) -> Iterator[str]:
    links = [part for part in node.children if isinstance(part, Node) and part.name in _LINKS]
    for link in links[:MAX_PARTS]:
        found = link.attributes
        named = found.get("rel", "alternate") == "alternate" and found.get("hreflang", "").strip()
        if named and (url := found.get("href")):
            yield link.url(url)


def _news(node: Node) -> News:
    first = node.first()
    return News(
        title=_text(first.get("news:title")), published=_date(first.get("news:publication_date"))
    )


def _text(node: Node | None) -> str | None:
    return None if node is None else fold_xml_text(node.text, MAX_TEXT_CHARS) or None


def _url(node: Node | None) -> str | None:
    return None if node is None else node.url(node.text) or None


def _date(node: Node | None) -> datetime | None:
    return None if node is None else parse_date(node.text)
