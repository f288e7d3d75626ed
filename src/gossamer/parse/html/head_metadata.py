"""The raw metadata of a page, collected element by element during the walk.

The walk calls a method for each meta, link, img, time, h1 and JSON-LD script element, and the
parser one for microdata; `page_metadata.py` interprets the result. This module only decides what to
keep, so an ordinary page costs one look-up per element. The length of each list is limited.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from gossamer.parse.html.microdata import read_microdata
from gossamer.parse.reading.directives import Wishes, wishes
from gossamer.parse.reading.language import tag_of
from gossamer.web.publisher_wishes import META_NAMES as WISH_NAMES
from gossamer.web.publisher_wishes import RSL_TYPE, statement

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from selectolax.lexbor import LexborHTMLParser

    from gossamer.parse.html.jsonld import Thing

    Attributes = dict[str, str | None]

MAX_VALUE_CHARS = 10_000
MAX_VALUES = 20
"""Values kept per meta name: papers have one element for each author."""
MAX_ALTERNATES = 300
MAX_SCRIPTS = 50
MAX_TIMES = 100
MAX_HEADINGS = 20
MAX_STATEMENTS = 50

LARGE_WIDTH, LARGE_HEIGHT = 200, 150
"""Pixels that an image needs to represent its page, if it is not a banner: see `WIDEST`."""
WIDEST = 4
"""Ratio of width to height above which an image is a banner."""

JSONLD_TYPE = "application/ld+json"

_NAMES = {
    "headline": "og:title twitter:title citation_title dc:title dcterms:title",
    "description": "description og:description twitter:description",
    "abstract": "dc:description dcterms:description",
    "author": """citation_author parsely-author sailthru:author author byl article:author
        book:author dc:creator dcterms:creator""",
    "published": """article:published_time article:published datepublished dc:date:issued
        dcterms:issued parsely-pub-date sailthru:date citation_publication_date
        citation_online_date citation_date pubdate publishdate publish-date publish_date
        published-date dc:date dcterms:date date dc:date:created dcterms:created""",
    "modified": """article:modified_time article:modified datemodified dc:date:modified
        dcterms:modified og:updated_time last-modified last_modified lastmod revised modified""",
    "image": "og:image:secure_url og:image og:image:url twitter:image twitter:image:src",
    "thumbnail": "thumbnail",
    "site": "og:site_name",
    "application": "application-name",
    "type": "og:type",
    "locale": "og:locale",
}
NAMES = {question: tuple(names.split()) for question, names in _NAMES.items()}
"""Names of meta elements that answer each question, the most trusted first.

Sources: Open Graph (ogp.me, with article: and book:), Twitter's cards, Dublin Core in HTML (DCMI),
Highwire Press tags (citation_, which Google Scholar requires), Parse.ly (parsely-), Sailthru, and
non-standard names that newspapers' software writes. All are in lower case, with colons in place of
dots: dc.date and DC:date are the same.
"""
META_NAMES = frozenset(chain.from_iterable(NAMES.values()))
_HATOM = frozenset(("published", "updated"))
_DIGITS = re.compile(r"\s*(\d{1,5})(?:\.\d+)?\s*(?:px)?\s*", re.ASCII)


class Time(NamedTuple):
    """A time element.

    `words` are those of its class and itemprop, in lower case. `text` is what it shows, and `line`
    the number of its line, as in `Lines`.
    """

    value: str
    words: frozenset[str]
    pubdate: bool
    line: int
    text: str


class ShownDate(NamedTuple):
    """A date in the text of a page that is its own."""

    date: datetime
    label: str | None
    """What the words around it say: a label of `date_labels.py`."""
    is_above: bool
    """Whether it stands above the headline, where a masthead may show today's date."""


class HeadMetadata:
    """What is kept of a page's metadata, in document order.

    `agent` is our name in robots.txt; meta elements of this name are directives for us.
    """

    def __init__(self, agent: str = "gossamer") -> None:
        self.agent = agent.lower()
        self.meta: dict[str, list[str]] = {}
        self.wishes = Wishes()
        self.statements: list[str] = []
        """What elements say about uses of the page: see `web/publisher_wishes.py`."""
        self.canonical: str | None = None
        self.icon: str | None = None
        self.touch_icon: str | None = None
        self.image_src: str | None = None
        self.alternates: list[tuple[str, str]] = []
        self.scripts: list[str] = []
        self.things: list[Thing] = []
        self.authors: list[str] = []
        self.times: list[Time] = []
        self.shown: list[ShownDate] = []
        """Dates in the text that are the page's own, the most trusted first."""
        self.headlines: list[int] = []
        """Lines of the h1 headings; of the main heading, if it is of another level."""
        self.large_image: str | None = None

    def add_meta(self, attributes: Attributes) -> None:
        content = attributes.get("content")
        if not content:
            return
        for attribute in ("name", "property", "http-equiv"):
            named = attributes.get(attribute)
            if not named:
                continue
            for name in named[:200].lower().replace(".", ":").split():  # RDFa allows several
                if name in META_NAMES:
                    values = self.meta.setdefault(name, [])
                    if len(values) < MAX_VALUES:
                        values.append(content[:MAX_VALUE_CHARS])
                elif name in ("robots", self.agent) and attribute != "http-equiv":
                    self.wishes |= wishes(content)
                elif name in WISH_NAMES:
                    self._add_statement(name, content[:MAX_VALUE_CHARS])

    def meta_contents(self, question: str) -> Iterator[str]:
        """Yield the contents of the meta elements that answer `question`, a key of `NAMES`."""
        for name in NAMES[question]:
            yield from self.meta.get(name, ())

    def add_link(self, attributes: Attributes) -> None:
        href = attributes.get("href")
        if not href or len(href) > MAX_VALUE_CHARS:
            return
        relations = (attributes.get("rel") or "")[:200].lower().split()
        for relation in relations:
            match relation:
                case "canonical":
                    self.canonical = self.canonical or href
                case "alternate":
                    self._add_alternate(href, attributes)
                case "icon":
                    self.icon = self.icon or href
                case "apple-touch-icon":
                    self.touch_icon = self.touch_icon or href
                case "image_src":
                    self.image_src = self.image_src or href
                case "license" if RSL_TYPE in (attributes.get("type") or "")[:200].lower():
                    self._add_statement("License", href)

    def add_script(self, text: str) -> None:
        """Keep the text of a script element whose type is JSONLD_TYPE."""
        if len(self.scripts) < MAX_SCRIPTS:
            self.scripts.append(text)

    def add_image(self, attributes: Attributes) -> None:
        """Keep an img element of the body if it is the first large one."""
        if self.large_image is None:
            width, height = _pixels(attributes.get("width")), _pixels(attributes.get("height"))
            if width >= LARGE_WIDTH and height >= LARGE_HEIGHT and width <= WIDEST * height:
                source = attributes.get("data-src") or attributes.get("src")  # lazy ones have both
                if source and is_picture(source):
                    self.large_image = source

    def add_author(self, name: str) -> None:
        """Keep the text of a link whose rel is author."""
        if name and len(self.authors) < MAX_VALUES:
            self.authors.append(name)

    def add_time(self, attributes: Attributes, text: str, line: int) -> None:
        """Keep a time element, or an abbr whose title is a date (as in microformats)."""
        if len(self.times) < MAX_TIMES:
            words = [attributes.get("class") or "", attributes.get("itemprop") or ""]
            value = attributes.get("datetime") or attributes.get("title") or text
            self.times.append(
                Time(
                    value[:MAX_VALUE_CHARS],
                    frozenset(" ".join(words)[:200].lower().split()),
                    "pubdate" in attributes,
                    line,
                    text,
                )
            )

    def add_h1(self, line: int) -> None:
        if len(self.headlines) < MAX_HEADINGS:
            self.headlines.append(line)

    def add_microdata(self, tree: LexborHTMLParser) -> None:
        self.things = read_microdata(tree)

    def add_rsl(self, tree: LexborHTMLParser) -> None:
        """Keep that a script element has the terms of a licence in it."""
        if tree.css_first(f'script[type="{RSL_TYPE}" i]') is not None:
            self._add_statement("License", f"a script of the type {RSL_TYPE}")

    def _add_statement(self, field: str, value: str) -> None:
        if len(self.statements) < MAX_STATEMENTS:
            self.statements.append(statement("page", field, value))

    def _add_alternate(self, href: str, attributes: Attributes) -> None:
        language = tag_of(attributes.get("hreflang") or "")
        if language and len(self.alternates) < MAX_ALTERNATES:
            self.alternates.append((language, href))


_NO_PICTURE = re.compile(
    r"(?:(?<![A-Za-z])[Ll]ogos?|[a-z]Logo|LOGO)(?![a-z])"
    r"|(?<![A-Za-z])(?:[Ss]prites?|[Ii]cons?|favicon|spacer|blank|pixel|1x1|transparent"
    r"|placeholder|avatar|gravatar|tracking|beacon)(?![a-z])"
)


def is_picture(address: str) -> bool:
    """Whether an image, judged by its file name, may show what the page is about."""
    if address[:5].lower() == "data:":
        return False
    path = address[:MAX_VALUE_CHARS].partition("?")[0].partition("#")[0]
    name = path.rpartition("/")[2]
    return not name.lower().endswith((".svg", ".ico")) and _NO_PICTURE.search(name) is None


def is_date_abbreviation(attributes: Attributes) -> bool:
    """Whether an abbr is a date of the microformat hAtom."""
    return not _HATOM.isdisjoint((attributes.get("class") or "")[:200].lower().split())


def _pixels(size: str | None) -> int:
    match = _DIGITS.fullmatch(size[:20]) if size else None
    return 0 if match is None else int(match[1])
