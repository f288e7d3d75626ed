"""Which of a page's schema.org nodes describe the page itself, and what they contain.

A page has many nodes: the article, its publisher, breadcrumbs, the teasers of other articles. Its
main work is the node whose type is a kind of work. If there are several, it is the one whose
address is this page, or else the first without an address. If all have the addresses of other
pages, this page is a list and has no main work. After the main work we trust works with the same
title, then the nodes of the page itself (WebPage and similar).

Types are those of https://schema.org/CreativeWork. We compare their endings, as new types are added
every year.
"""

from __future__ import annotations

import re
from html import unescape
from itertools import chain, islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gossamer.parse.html.jsonld import Thing

MAX_VALUES = 20
MAX_CHARS = 4_000
"""Characters read of any value, before its user cuts it further."""
MAX_BODY_CHARS = 500_000

_ARTICLES = ("article", "posting", "report", "creativework", "recipe", "howto")
_WORKS = {"videoobject": "video", "podcastepisode": "episode"}
_SITE = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?(?://[^/?#]*)?", re.IGNORECASE)
_MARKUP = re.compile(r"<[^<>]*>")
_BLOCK_MARKUP = re.compile(r"</?(?:p|div|br|li|ul|ol|h[1-6]|blockquote|tr)\b[^<>]*>", re.IGNORECASE)


class Nodes:
    """The nodes that describe a page, the most trusted first."""

    def __init__(self, things: Sequence[Thing], addresses: Iterable[str]) -> None:
        """Select the nodes among `things`; `addresses` are the page's URL and canonical URL."""
        self._by_id = {name: thing for thing in things if isinstance(name := thing.get("@id"), str)}
        works = [thing for thing in things if kind(thing) == "article"]
        works = works or [thing for thing in things if kind(thing) is not None]
        main_works = self._main_works(works, addresses)
        self.main: Thing = main_works[0] if main_works else {}
        self.kind = kind(self.main)
        pages = [thing for thing in things if _is(thing, "page") or not thing.get("@type")]
        self._trusted = [*main_works, *pages]
        self._sites = [thing for thing in things if _is(thing, "website")]

    def texts(self, *names: str) -> Iterator[str]:
        """Yield the values of these properties, node by node, in the order of `names`."""
        for node in self._trusted:
            for name in names:
                yield from _texts(node.get(name))

    def headlines(self) -> Iterator[str]:
        """Yield the titles of the main work only."""
        yield from _texts(self.main.get("headline"))
        yield from _texts(self.main.get("name"))

    def body(self) -> str | None:
        """Return the text of the main work without markup, one line per block."""
        for name in ("articleBody", "text"):
            value = self.main.get(name)
            if isinstance(value, str) and len(value) <= MAX_BODY_CHARS:
                text = _sound(unescape(value) if "&" in value else value)
                lines = _MARKUP.sub("", _BLOCK_MARKUP.sub("\n", text)).splitlines()
                return "\n".join(filter(None, map(" ".join, map(str.split, lines)))) or None
        return None

    def authors(self) -> list[str]:
        """Return the names of the authors in the first node that has any."""
        for node in self._trusted:
            for name in ("author", "creator"):
                if found := list(self._names(node.get(name))):
                    return found
        return []

    def images(self) -> Iterator[str]:
        for node in self._trusted:
            for name in ("image", "thumbnailUrl"):
                for value in map(self._resolved, _listed(node.get(name))):
                    if isinstance(value, dict):
                        yield from _texts(value.get("url"))
                        yield from _texts(value.get("contentUrl"))
                    else:
                        yield from _texts(value)

    def site_names(self) -> Iterator[str]:
        for site in self._sites:
            yield from _texts(site.get("name"))
        for node in self._trusted:
            yield from self._names(node.get("publisher"))

    def _main_works(self, works: Sequence[Thing], addresses: Iterable[str]) -> Sequence[Thing]:
        """Return the main work and its duplicates: JSON-LD and microdata may both describe it."""
        if len(works) < 2:  # noqa: PLR2004  # nothing to choose from
            return works
        here = {_path(address) for address in addresses}
        addressed = [(set(map(_path, self._addresses(work))), work) for work in works]
        named = [work for paths, work in addressed if not paths.isdisjoint(here)]
        nameless = [work for paths, work in addressed if not paths]
        main = next(iter(named or nameless), None)
        if main is None:
            return ()
        title = _title(main)
        same = [work for work in works if work is not main and title and _title(work) == title]
        return [main, *same]

    def _addresses(self, work: Thing) -> Iterator[str]:
        for name in ("url", "mainEntityOfPage", "@id"):
            for value in _listed(work.get(name)):
                found = value.get("@id") or value.get("url") if isinstance(value, dict) else value
                if isinstance(found, str) and not found.startswith("#"):
                    yield found

    def _names(self, value: object) -> Iterator[str]:
        for person in map(self._resolved, _listed(value)):
            if not isinstance(person, dict):
                yield from _texts(person)
            elif names := list(_texts(person.get("name"))):
                yield names[0]
            else:
                parts = (_texts(person.get(part)) for part in ("givenName", "familyName"))
                yield " ".join([name for names in parts for name in islice(names, 1)])

    def _resolved(self, value: object) -> object:
        """Return the node that a reference (an `@id`) points to, if the page contains it."""
        if isinstance(value, dict) and isinstance(name := value.get("@id"), str):
            return value if "name" in value or "url" in value else self._by_id.get(name, value)
        return value


def kind(thing: Thing) -> str | None:
    """Return the kind of a work: article, video or episode; None if the node is not a work."""
    if _is(thing, _ARTICLES):
        return "article"
    return next((_WORKS[name] for name in _types(thing) if name in _WORKS), None)


def _title(work: Thing) -> str | None:
    return next(chain(_texts(work.get("headline")), _texts(work.get("name"))), None)


def _is(thing: Thing, endings: str | tuple[str, ...]) -> bool:
    return any(name.endswith(endings) for name in _types(thing))


def _types(thing: Thing) -> list[str]:
    """Return a node's types in lower case, without a prefix such as `https://schema.org/`."""
    return [
        re.split(r"[/#:]", name[:MAX_CHARS].rstrip("/"))[-1].lower()
        for name in _listed(thing.get("@type"))
        if isinstance(name, str)
    ]


def _listed(value: object) -> Sequence[object]:
    if isinstance(value, list):
        return value[:MAX_VALUES]
    return () if value is None else (value,)


def _texts(value: object) -> Iterator[str]:
    """Yield values as folded text without markup. Integers are kept, since they may be dates."""
    for item in _listed(value):
        text = item.get("@value") if isinstance(item, dict) else item
        if isinstance(text, int) and not isinstance(text, bool):
            yield str(text)
        elif isinstance(text, str):
            plain = _MARKUP.sub(" ", unescape(text[:MAX_CHARS])) if _escaped(text) else text
            if found := " ".join(_sound(plain[:MAX_CHARS]).split()):
                yield found


def _escaped(text: str) -> bool:
    return "&" in text or "<" in text


def _sound(text: str) -> str:
    """Remove what JSON can escape although it is not text: lone surrogates and NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", "")


def _path(address: str) -> str:
    """Return the path and query of a URL: equal for http and https, desktop and mobile hosts."""
    return _SITE.sub("", address[:MAX_CHARS].strip(), count=1).partition("#")[0].rstrip("/")
