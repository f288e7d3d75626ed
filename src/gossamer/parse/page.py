"""What goes into a parser and what comes out of it."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003  # msgspec reads the annotations
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from gossamer.parse.directives import Wishes
from gossamer.urls import UrlRules

if TYPE_CHECKING:
    from typing import Self

    from gossamer.config import Config


class Page(NamedTuple):
    """A stored answer: its normalised URL, its HTTP headers (names lower-case), its body."""

    url: str
    headers: dict[str, str]
    body: bytes
    fetched: datetime | None = None
    """In UTC. No page is younger."""


class Content(NamedTuple):
    """An answer whose type is known, for a parser."""

    page: Page
    mime: str
    """Without parameters, lower-case."""
    label: str | None = None
    """The charset of the header."""


class SiteRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the pages of a site have what the parser is to take: see docs/parsing.md.

    `title` to `drop` are CSS selectors (`html/selectors.py`), of which the first that gives
    something counts.
    """

    name: str
    """In what is counted."""
    url: str
    """A pattern of whole URLs, in which `*` stands for anything."""
    title: tuple[str, ...] = ()
    date: tuple[str, ...] = ()
    author: tuple[str, ...] = ()
    body: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    """What is no part of the body: all of these."""


class Rules(Struct, frozen=True, kw_only=True):
    """The settings that parsing depends on."""

    agent: str = "gossamer"
    max_links: int = 10_000
    max_text_chars: int = 200_000
    media: bool = True
    """Whether the addresses of pictures and films are links."""
    extractor: str = "gossamer"
    """Of the main text of HTML: `gossamer` or `trafilatura`."""
    sites: tuple[SiteRule, ...] = ()
    """The first that fits a URL counts."""
    urls: UrlRules = UrlRules()

    @classmethod
    def of(cls, config: Config, sites: tuple[SiteRule, ...] = ()) -> Self:
        return cls(
            agent=config.fetch.agent,
            max_links=config.parse.max_links,
            max_text_chars=config.parse.max_text_chars,
            media=config.parse.media,
            extractor=config.parse.extractor,
            sites=sites,
            urls=config.urls,
        )


class Link(NamedTuple):
    """A reference to another page or file.

    `relation` is the element or the role that it has: a, area, frame, iframe, refresh, canonical,
    alternate (another language or form), amphtml, next, prev, feed, img, srcset; in feeds and
    sitemaps entry, enclosure, sitemap, image, video.
    """

    dst: str
    """Normalised."""
    anchor: str
    relation: str
    nofollow: bool = False
    dated: datetime | None = None
    """When `dst` was published or changed, as a feed or sitemap says; in UTC."""


class ParsedPage(Struct, frozen=True, kw_only=True):
    """The best that could be made of an answer. Texts are folded and bounded; dates are in UTC."""

    outcome: str
    """parsed, listing, empty, unsupported or failed: see gossamer.parse."""
    detail: str | None = None
    """Why, where it was not parsed; what is wrong with it, where it was in part."""
    content_type: str | None = None
    """What the body is, which is not always what the header says."""
    charset: str | None = None
    """WHATWG name of the encoding; None for what is no text."""
    title: str | None = None
    """The page's own: for HTML the title element."""
    headline: str | None = None
    """The article's, without the site's name."""
    description: str | None = None
    headings: tuple[str, ...] = ()
    """h1 to h3, or what a file has for them, in document order."""
    text: str | None = None
    """All that is visible, a line for each block."""
    main_text: str | None = None
    """Without navigation, teasers and what else surrounds it. None: `text` is all main text."""
    language: str | None = None
    """ISO 639-1, of the main text; None where it is open."""
    language_hint: str | None = None
    """What the page declares, or its header: a BCP 47 tag."""
    authors: tuple[str, ...] = ()
    published: datetime | None = None
    modified: datetime | None = None
    image: str | None = None
    """The URL of the picture that stands for the page."""
    icon: str | None = None
    site_name: str | None = None
    page_type: str | None = None
    """Of Open Graph's vocabulary: article, video, product, …"""
    canonical: str | None = None
    """Normalised."""
    alternates: tuple[tuple[str, str], ...] = ()
    """The same page in other languages: hreflang and normalised URL."""
    robots: Wishes = Wishes()
    """What the page and its header ask of crawlers."""
    links: tuple[Link, ...] = ()
    refused: dict[str, int] = {}
    """How many references are no links, by reason: those of `urls.refusal`, `max_links`, and of
    feeds and sitemaps `no_url`, `url_too_long`, `too_many`."""
    unmatched: tuple[str, ...] = ()
    """Fields of the site's rule, as `name.field`, for which the page has nothing."""


PERMALINK = "¶"
"""Alone in an element, it is no text: generators of manuals link headings to themselves by it."""


def fold(text: str) -> str:
    """White space folded, as on a screen."""
    return " ".join(text.split())


def short(text: str | None, limit: int) -> str:
    """Folded and cut, at a cost that does not grow with the text."""
    return fold((text or "")[: 4 * limit])[:limit]
