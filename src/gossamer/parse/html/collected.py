"""What the walk over a page meets that tells of the page: handed over element by element.

The walk calls a method for each meta, link, img, time, h1 and JSON-LD script element, the parser
one for microdata; `metadata.py` makes sense of it. Nothing is interpreted here but what decides
whether it is kept, so that an ordinary page costs a look-up for each element. Each list has an end.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from gossamer.parse.directives import Wishes, wishes
from gossamer.parse.html.meta_names import KNOWN, NAMES
from gossamer.parse.html.microdata import read_microdata
from gossamer.parse.language import tag_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from selectolax.lexbor import LexborHTMLParser

    from gossamer.parse.html.jsonld import Thing

    Attributes = Mapping[str, str | None]

MAX_VALUE_CHARS = 10_000
MAX_VALUES = 20
"""Of one meta name: a paper's authors have an element each."""
MAX_ALTERNATES = 300
MAX_SCRIPTS = 50
MAX_TIMES = 100
MAX_HEADINGS = 20

LARGE_WIDTH, LARGE_HEIGHT = 200, 150
"""Pixels of an image that may stand for its page, and of no banner: see `WIDEST`."""
WIDEST = 4
"""Width by height."""

FEED_TYPES = frozenset(("application/rss+xml", "application/atom+xml", "application/feed+json"))
JSONLD_TYPE = "application/ld+json"

_HATOM = frozenset(("published", "updated"))
_DIGITS = re.compile(r"\s*(\d{1,5})(?:\.\d+)?\s*(?:px)?\s*", re.ASCII)


class Time(NamedTuple):
    """A time element. `words`: of its class and itemprop, lower-case. `place`: as in `h1`."""

    value: str
    words: frozenset[str]
    pubdate: bool
    place: int


class Collected:
    """What is kept, in document order. `agent`: our name, as in robots.txt."""

    def __init__(self, agent: str = "gossamer") -> None:
        self.agent = agent.lower()
        self.meta: dict[str, list[str]] = {}
        self.wishes = Wishes()
        self.canonical: str | None = None
        self.icon: str | None = None
        self.touch_icon: str | None = None
        self.image_src: str | None = None
        self.alternates: list[tuple[str, str]] = []
        self.scripts: list[str] = []
        self.things: list[Thing] = []
        self.authors: list[str] = []
        self.times: list[Time] = []
        self.h1: list[int] = []
        """Where headings are: how many pieces of text the walk had seen."""
        self.large_image: str | None = None

    def add_meta(self, attributes: Attributes) -> None:
        content = attributes.get("content")
        if not content:
            return
        for attribute in ("name", "property", "http-equiv"):
            named = attributes.get(attribute)
            if not named:
                continue
            for name in named[:200].lower().replace(".", ":").split():  # RDFa's are several
                if name in KNOWN:
                    values = self.meta.setdefault(name, [])
                    if len(values) < MAX_VALUES:
                        values.append(content[:MAX_VALUE_CHARS])
                elif name in ("robots", self.agent) and attribute != "http-equiv":
                    self.wishes |= wishes(content)

    def meta_contents(self, question: str) -> Iterator[str]:
        """The contents of the meta elements that answer a question of `NAMES`."""
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

    def add_script(self, text: str) -> None:
        """The text of a script element whose type is JSONLD_TYPE."""
        if len(self.scripts) < MAX_SCRIPTS:
            self.scripts.append(text)

    def add_image(self, attributes: Attributes) -> None:
        """An img element of the body; the first large one is kept."""
        if self.large_image is None:
            width, height = _pixels(attributes.get("width")), _pixels(attributes.get("height"))
            if width >= LARGE_WIDTH and height >= LARGE_HEIGHT and width <= WIDEST * height:
                source = attributes.get("data-src") or attributes.get("src")  # lazy ones have both
                if source and is_picture(source):
                    self.large_image = source

    def add_author(self, name: str) -> None:
        """The text of a link whose rel is author."""
        if name and len(self.authors) < MAX_VALUES:
            self.authors.append(name)

    def add_time(self, attributes: Attributes, text: str, place: int) -> None:
        """A time element, or an abbr whose title is a date, which it is for microformats."""
        if len(self.times) < MAX_TIMES:
            words = [attributes.get("class") or "", attributes.get("itemprop") or ""]
            value = attributes.get("datetime") or attributes.get("title") or text
            self.times.append(
                Time(
                    value[:MAX_VALUE_CHARS],
                    frozenset(" ".join(words)[:200].lower().split()),
                    "pubdate" in attributes,
                    place,
                )
            )

    def add_h1(self, place: int) -> None:
        if len(self.h1) < MAX_HEADINGS:
            self.h1.append(place)

    def add_microdata(self, tree: LexborHTMLParser) -> None:
        self.things = read_microdata(tree)

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
    """Whether it may show what the page is about, by its file's name."""
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
