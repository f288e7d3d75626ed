"""What goes into a parser and what comes out of it."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003  # msgspec reads the annotations
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from gossamer.native import native_text
from gossamer.parse.reading.directives import Wishes
from gossamer.parse.rendition.rendered import Rendition  # noqa: TC001  # as above
from gossamer.web.urls import UrlRules

if TYPE_CHECKING:
    from typing import Self

    from gossamer.config import Config


class Page(NamedTuple):
    """A stored response: its normalised URL, its HTTP headers (names in lower case), its body."""

    url: str
    headers: dict[str, str]
    body: bytes
    fetched: datetime | None = None
    """When it was fetched, in UTC. Later dates in the page are rejected."""
    announced: bool = False
    """Whether its own site calls it a feed or sitemap (`Link.announced`)."""


class Content(NamedTuple):
    """The input of a parser: a response whose type is known."""

    page: Page
    mime: str
    """The media type in lower case, without parameters."""
    label: str | None = None
    """The charset in the Content-Type header, if any."""


class SiteRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where to find title, date, author and body in the pages of a site: see docs/parsing.md.

    `title` to `body` are lists of CSS selectors (`html/css_selectors.py`); the first that finds
    something is used.
    """

    name: str
    """The rule's name in counts."""
    url: str
    """A pattern that must match the whole URL; `*` stands for any characters."""
    title: tuple[str, ...] = ()
    date: tuple[str, ...] = ()
    author: tuple[str, ...] = ()
    body: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    """CSS selectors of elements to remove from the body. All of them apply."""


class Rules(Struct, frozen=True, kw_only=True):
    """The settings that parsing depends on."""

    agent: str = "gossamer"
    max_links: int = 10_000
    max_text_chars: int = 10_000_000
    media: bool = True
    """Whether the URLs of images and videos count as links."""
    sandbox: bool = True
    """Whether the parsing process gives up access to files, network and other programs."""
    sites: tuple[SiteRule, ...] = ()
    """Rules for single sites. The first that matches a URL is used."""
    urls: UrlRules = UrlRules()
    renders: bool = False
    """Whether pages are rendered as Markdown, too."""

    @classmethod
    def of(cls, config: Config, sites: tuple[SiteRule, ...] = ()) -> Self:
        return cls(
            agent=config.fetch.agent,
            max_links=config.parse.max_links,
            max_text_chars=config.parse.max_text_chars,
            media=config.parse.media,
            sandbox=config.parse.sandbox,
            sites=sites,
            urls=config.urls,
        )


class Link(NamedTuple):
    """A reference to another page or file.

    `relation` names the element or its role: a, area, frame, iframe, refresh, canonical, alternate
    (another language or format), amphtml, next, prev, feed, img, srcset; noscript, svg, object,
    embed, srcdoc (`html/embedded_links.py`); in feeds and sitemaps entry, enclosure, sitemap,
    image, video.
    """

    dst: str
    """The normalised URL that it leads to."""
    anchor: str
    relation: str
    nofollow: bool = False
    dated: datetime | None = None
    """When `dst` was published or changed according to a feed or sitemap, in UTC."""
    spelling: str | None = None
    """The URL as it was written, if `dst` lacks something of it that robots.txt may forbid."""
    announced: bool = False
    """Whether it is called a feed or sitemap, by a link element, robots.txt or sitemap index."""


class ParsedPage(Struct, frozen=True, kw_only=True):
    """What was read from a response.

    White space in texts is folded, their lengths are bounded, and dates are in UTC.
    """

    outcome: str
    """parsed, listing, empty, unsupported or failed: see gossamer.parse."""
    detail: str | None = None
    """Why it could not be parsed, or what is wrong with a page that was parsed in part."""
    content_type: str | None = None
    """The media type of the body, which may differ from the header's."""
    charset: str | None = None
    """WHATWG name of the encoding; None for binary formats."""
    title: str | None = None
    """The title of the page; for HTML, that of the title element."""
    headline: str | None = None
    """The title of the article, without the site's name."""
    description: str | None = None
    headings: tuple[str, ...] = ()
    """Texts of h1 to h3, or of the format's equivalent, in document order."""
    text: str | None = None
    """All visible text, one line per block."""
    main_text: str | None = None
    """The text without boilerplate, one line per block. None if `text` is all main text."""
    is_doubtful: bool = False
    """Whether main_text may well have boilerplate: see gossamer.parse.maintext."""
    truncated: bool = False
    """Whether text is missing because the page is longer than a limit."""
    language: str | None = None
    """Language of the main text (ISO 639-1); None if it could not be determined."""
    language_hint: str | None = None
    """The language that the page or its header declares: a BCP 47 tag."""
    authors: tuple[str, ...] = ()
    published: datetime | None = None
    modified: datetime | None = None
    image: str | None = None
    """The URL of the image that represents the page."""
    icon: str | None = None
    site_name: str | None = None
    page_type: str | None = None
    """The type in Open Graph's vocabulary: article, video, product, …"""
    canonical: str | None = None
    """The canonical URL that the page declares, normalised."""
    alternates: tuple[tuple[str, str], ...] = ()
    """Translations of the page: pairs of hreflang and normalised URL."""
    robots: Wishes = Wishes()
    """Directives for crawlers in the page and its header."""
    statements: tuple[str, ...] = ()
    """What its publisher says about uses of the page: see `web/publisher_wishes.py`."""
    links: tuple[Link, ...] = ()
    refused: dict[str, int] = {}
    """Number of references that are not links, by reason: those of `urls.refusal`, `max_links`, and
    in feeds and sitemaps `no_url`, `url_too_long`, `too_many`."""
    unmatched: tuple[str, ...] = ()
    """Fields of the site's rule, as `name.field`, that matched nothing in the page."""
    rendition: Rendition | None = None
    """The main text as Markdown, if `Rules.renders`."""


PERMALINK: Final = "¶"
"""Dropped where it is a whole text node: the mark by which manuals link headings to themselves."""


@native_text
def fold(text: str) -> str:
    """Return the text with each run of white space replaced by one space."""
    return " ".join(text.split())


def short(text: str | None, limit: int) -> str:
    """Return the first `limit` characters of the folded text, in time independent of its length.

    It may be shorter if the text has much white space: only `4 * limit` characters are read.
    """
    return fold((text or "")[: 4 * limit])[:limit]
