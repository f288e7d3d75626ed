"""What a page says of itself, from what was collected of it: one value for each question.

Sources, the one to believe first at the front. schema.org's nodes (JSON-LD, then microdata) are
made for search engines, and tell the article from the site; meta elements follow (Open Graph,
Twitter, Dublin Core, Highwire, Parse.ly); then the body: time elements beside the main heading,
links to the author, large images; for the date at last the URL.

Decisions. <title> stays a page's title: `headline` is the article's alone, without the site's name.
Keywords and sections are left out: nothing shows them, and they are not trusted anywhere. A
date in the future is none, and neither is a change before the publication.

URLs are as written. Never raises, whatever was collected.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING

from msgspec import Struct

from gossamer.parse.collected import is_picture
from gossamer.parse.dates import parse_date
from gossamer.parse.jsonld import read_jsonld
from gossamer.parse.page import fold
from gossamer.parse.robots_wishes import Wishes, header_wishes
from gossamer.parse.schema_org import Nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from gossamer.parse.collected import Collected, Time

MAX_HEADLINE_CHARS = 1_000
MAX_DESCRIPTION_CHARS = 2_000
MAX_NAME_CHARS = 100
"""Of an author or a site; what is longer is no name."""
MAX_AUTHORS = 20
MAX_TYPE_CHARS = 30
MAX_LOCALE_CHARS = 35
"""RFC 5646 §4.4.1."""
MAX_URL_CHARS = 10_000
NEAR_HEADING = range(-30, 126)
"""Where a time element belongs to a main heading, counted in pieces of text from its start. Blocks
are two pieces each. Of 25 pages, the date is within 25 in 15, within 70 in 21, within 124 in all;
the first that belongs to a teaser is 141 away."""
CLOCK_ERROR = timedelta(days=1)
"""How far ahead of us a page's clock, or its zone, may be."""
FIRST_URL_DATE = datetime(1990, 1, 1, tzinfo=UTC)

_PUBLISHED = [
    "article:published_time",
    "article:published",
    "datepublished",
    "dc:date:issued",
    "dcterms:issued",
    "parsely-pub-date",
    "sailthru:date",
    "citation_publication_date",
    "citation_online_date",
    "citation_date",
    "pubdate",
    "publishdate",
    "publish-date",
    "publish_date",
    "published-date",
    "dc:date",
    "dcterms:date",
    "date",
    "dc:date:created",
    "dcterms:created",
]
_MODIFIED = [
    "article:modified_time",
    "article:modified",
    "datemodified",
    "dc:date:modified",
    "dcterms:modified",
    "og:updated_time",
    "last-modified",
    "last_modified",
    "lastmod",
    "revised",
    "modified",
]
_AUTHORS = [
    "citation_author",
    "parsely-author",
    "sailthru:author",
    "author",
    "byl",
    "article:author",
    "book:author",
    "dc:creator",
    "dcterms:creator",
]
_IMAGES = ["og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src"]

_CHANGED = frozenset(
    ("updated", "modified", "dateline-modified", "date-modified", "date-updated", "datemodified")
)
_BY = re.compile(
    r"(?:(?:posted|written|published) )?by:? |author: ?|作者[:：] ?|автор: ?", re.IGNORECASE
)
_NOBODY = frozenset(
    ["admin", "administrator", "author", "editor", "root", "staff", "unknown", "user", "webmaster"]
)
_DATE_IN_PATH = re.compile(
    r"(?<![\d-])((?:19|20)\d\d)(?:([/_-])(\d\d?|[a-z]{3})\2(\d\d?)|([01]\d)([0-3]\d))(?![\d])"
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


class Metadata(Struct, frozen=True, kw_only=True):
    """What a page says of itself. Texts are folded and cut; dates are in UTC."""

    headline: str | None = None
    description: str | None = None
    authors: tuple[str, ...] = ()
    published: datetime | None = None
    modified: datetime | None = None
    image: str | None = None
    site_name: str | None = None
    page_type: str | None = None
    """Of Open Graph's vocabulary: article, video, product, website, …"""
    locale: str | None = None
    """A language tag, a hint."""
    canonical: str | None = None
    alternates: tuple[tuple[str, str], ...] = ()
    """Pairs of hreflang and URL."""
    amp: str | None = None
    feeds: tuple[str, ...] = ()
    favicon: str | None = None
    robots: Wishes = Wishes()


def metadata(
    found: Collected, url: str, *, fetched: datetime | None = None, robots_header: str = ""
) -> Metadata:
    """Of the page at `url`, fetched at the instant `fetched`: what is later cannot be."""
    addresses = [url] if found.canonical is None else [url, found.canonical]
    nodes = Nodes(read_jsonld(found.scripts) + found.things, addresses)
    latest = None if fetched is None else fetched + CLOCK_ERROR
    published, modified = _dates(found, nodes, addresses, latest)
    meta = _Meta(found.meta)
    return Metadata(
        headline=_first(
            chain(
                nodes.headlines(),
                meta("og:title", "twitter:title", "citation_title", "dc:title", "dcterms:title"),
            ),
            MAX_HEADLINE_CHARS,
        ),
        description=_first(
            chain(
                meta("description", "og:description", "twitter:description"),
                nodes.texts("description"),
                meta("dc:description", "dcterms:description"),
            ),
            MAX_DESCRIPTION_CHARS,
        ),
        authors=_authors(nodes.authors(), meta(*_AUTHORS), found.authors),
        published=published,
        modified=modified,
        image=_image(found, nodes, meta),
        site_name=_site_name(
            chain(meta("og:site_name"), nodes.site_names(), meta("application-name"))
        ),
        page_type=_page_type(next(meta("og:type"), ""), nodes.kind),
        locale=_locale(next(meta("og:locale"), "")),
        canonical=found.canonical,
        alternates=tuple(found.alternates),
        amp=found.amp,
        feeds=tuple(found.feeds),
        favicon=found.icon or found.touch_icon,
        robots=found.wishes | header_wishes(robots_header, found.agent),
    )


class _Meta:
    """The contents of meta elements, by the order of the names asked for."""

    def __init__(self, contents: dict[str, list[str]]) -> None:
        self._contents = contents

    def __call__(self, *names: str) -> Iterator[str]:
        for name in names:
            yield from self._contents.get(name, ())


def _first(texts: Iterable[str], limit: int) -> str | None:
    return next((short for text in texts if (short := fold(text[: 4 * limit])[:limit])), None)


def _site_name(texts: Iterable[str]) -> str | None:
    return _first((text for text in texts if "://" not in text), MAX_NAME_CHARS)


def _authors(*sources: Iterable[str]) -> tuple[str, ...]:
    """All of the first source that names any."""
    for source in sources:
        names = dict.fromkeys(name for text in source if (name := _name(text)))
        if names:
            return tuple(names)[:MAX_AUTHORS]
    return ()


def _name(text: str) -> str | None:
    """An author's name; None for addresses, handles, and what software writes for nobody."""
    name = fold(text[: 4 * MAX_NAME_CHARS])
    if said := _BY.match(name):
        name = name[said.end() :]
    strange = "://" in name or "@" in name or "<" in name or name.startswith(("www.", "/", "#"))
    if strange or len(name) > MAX_NAME_CHARS or name.lower() in _NOBODY:
        return None
    return name if any(character.isalpha() for character in name) else None


def _dates(
    found: Collected, nodes: Nodes, addresses: Iterable[str], latest: datetime | None
) -> tuple[datetime | None, datetime | None]:
    """Published and modified."""
    meta = _Meta(found.meta)
    beside_heading = _beside(found.times, found.h1)
    published = _date(
        chain(
            nodes.texts("datePublished", "uploadDate"),
            meta(*_PUBLISHED),
            _alone(time.value for time in found.times if time.pubdate),
            (time.value for time in beside_heading if not _tells_change(time)),
            nodes.texts("dateCreated"),
        ),
        latest,
    )
    modified = _date(
        chain(
            nodes.texts("dateModified"),
            meta(*_MODIFIED),
            (time.value for time in beside_heading if _tells_change(time)),
        ),
        latest,
    )
    for address in addresses:
        published = published or url_date(address, latest)
    if modified and published and modified < published:
        modified = None
    return published, modified


def _date(texts: Iterable[str], latest: datetime | None) -> datetime | None:
    for text in texts:
        date = parse_date(text)
        if date is not None and (latest is None or date <= latest):
            return date
    return None


def _alone(texts: Iterable[str]) -> set[str]:
    """Nothing where they differ: teasers have dates too."""
    different = set(texts)
    return different if len(different) == 1 else set()


def _beside(times: Iterable[Time], headings: list[int]) -> list[Time]:
    """The time elements near a main heading, the nearest first."""
    near = [
        (abs(distance), time)
        for time in times
        for place in headings
        if (distance := time.place - place) in NEAR_HEADING
    ]
    return [time for _, time in sorted(near, key=itemgetter(0))]


def _tells_change(time: Time) -> bool:
    return not _CHANGED.isdisjoint(time.words) and "published" not in time.words


def url_date(url: str, latest: datetime | None = None) -> datetime | None:
    """The day that a URL's path names, as blogs and newspapers write it, unless after `latest`.

    >>> url_date("https://example.org/2024/05/01/title.html")
    datetime.datetime(2024, 5, 1, 0, 0, tzinfo=datetime.timezone.utc)
    """
    path = url[:MAX_URL_CHARS].partition("?")[0].partition("#")[0]
    for year, _, month, day, solid_month, solid_day in _DATE_IN_PATH.findall(path.lower()):
        word = month or solid_month
        number = int(word) if word.isdigit() else _MONTHS.index(word) + 1 if word in _MONTHS else 0
        try:
            date = datetime(int(year), number, int(day or solid_day), tzinfo=UTC)
        except ValueError:
            continue
        if date >= FIRST_URL_DATE and (latest is None or date <= latest):
            return date
    return None


def _image(found: Collected, nodes: Nodes, meta: Callable[..., Iterator[str]]) -> str | None:
    candidates = chain(
        meta(*_IMAGES),
        nodes.images(),
        [found.image_src or ""],
        meta("thumbnail"),
        [found.large_image or ""],
    )
    for candidate in candidates:
        address = candidate.strip()
        if address and len(address) <= MAX_URL_CHARS and is_picture(address):
            return address
    return None


def _page_type(declared: str, kind: str | None) -> str | None:
    """Open Graph's, but for `website`, which is the default of software that makes articles."""
    word = declared[:MAX_TYPE_CHARS].strip().lower().rpartition(":")[2].partition(".")[0]
    if not word.isascii() or not word.replace("_", "").isalnum():
        word = ""
    return kind if kind is not None and word in ("", "website") else word or None


def _locale(text: str) -> str | None:
    tag = text[: MAX_LOCALE_CHARS + 1].strip().replace("_", "-")
    whole = len(tag) <= MAX_LOCALE_CHARS and tag.isascii() and tag[:1].isalpha()
    return tag if whole and tag.replace("-", "").isalnum() else None
