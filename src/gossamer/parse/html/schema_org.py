"""What the nodes of schema.org on a page say of the page itself.

A page holds many: the article, its publisher, crumbs, the teasers of others. Its main work is one
that has a type of works; where there are several, the one that names this page as its address, else
the first that names none. If all name other pages, this one is a list, and none of them is its own.
After the main work come those of the same title, then the nodes of the page itself (WebPage and
its kin).

Types: https://schema.org/CreativeWork, by their endings, as new ones come every year.
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
"""Of any value, before it is cut to what it is for."""

_ARTICLES = ("article", "posting", "report", "creativework", "recipe", "howto")
_WORKS = {"videoobject": "video", "podcastepisode": "episode"}
_SITE = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?(?://[^/?#]*)?", re.IGNORECASE)
_MARKUP = re.compile(r"<[^<>]*>")


class Nodes:
    """The nodes that speak for a page, the one to believe first at the front."""

    def __init__(self, things: Sequence[Thing], addresses: Iterable[str]) -> None:
        """Of the page at one of these `addresses`, which are its URL and its canonical one."""
        self._by_id = {name: thing for thing in things if isinstance(name := thing.get("@id"), str)}
        here = {_path(address) for address in addresses}
        works = [thing for thing in things if kind(thing) == "article"]
        works = works or [thing for thing in things if kind(thing) is not None]
        ours = self._ours(works, here)
        self.main: Thing = ours[0] if ours else {}
        self.kind = kind(self.main)
        pages = [thing for thing in things if _is(thing, "page") or not thing.get("@type")]
        self._speakers = [*ours, *pages]
        self._sites = [thing for thing in things if _is(thing, "website")]

    def texts(self, *names: str) -> Iterator[str]:
        """The values of properties, by speaker, then by name."""
        for speaker in self._speakers:
            for name in names:
                yield from _texts(speaker.get(name))

    def headlines(self) -> Iterator[str]:
        """Of the main work alone."""
        yield from _texts(self.main.get("headline"))
        yield from _texts(self.main.get("name"))

    def authors(self) -> list[str]:
        """Their names, of the first speaker that has any."""
        for speaker in self._speakers:
            for name in ("author", "creator"):
                if found := list(self._names(speaker.get(name))):
                    return found
        return []

    def images(self) -> Iterator[str]:
        for speaker in self._speakers:
            for name in ("image", "thumbnailUrl"):
                for value in map(self._resolved, _listed(speaker.get(name))):
                    if isinstance(value, dict):
                        yield from _texts(value.get("url"))
                        yield from _texts(value.get("contentUrl"))
                    else:
                        yield from _texts(value)

    def site_names(self) -> Iterator[str]:
        for site in self._sites:
            yield from _texts(site.get("name"))
        for speaker in self._speakers:
            yield from self._names(speaker.get("publisher"))

    def _ours(self, works: Sequence[Thing], here: set[str]) -> Sequence[Thing]:
        """The main work, and what else is the same one: JSON-LD and microdata tell it twice."""
        if len(works) < 2:  # noqa: PLR2004  # nothing to choose from
            return works
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
        """A reference's node, where the page holds it."""
        if isinstance(value, dict) and isinstance(name := value.get("@id"), str):
            return value if "name" in value or "url" in value else self._by_id.get(name, value)
        return value


def kind(thing: Thing) -> str | None:
    """What a work is, in one word: article, video, …; None for what is no work."""
    if _is(thing, _ARTICLES):
        return "article"
    return next((_WORKS[name] for name in _types(thing) if name in _WORKS), None)


def _title(work: Thing) -> str | None:
    return next(chain(_texts(work.get("headline")), _texts(work.get("name"))), None)


def _is(thing: Thing, endings: str | tuple[str, ...]) -> bool:
    return any(name.endswith(endings) for name in _types(thing))


def _types(thing: Thing) -> list[str]:
    """Lower-case, without their vocabulary: `https://schema.org/`, `schema:`."""
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
    """Folded, without markup; numbers in digits, which may be dates."""
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
    """JSON can escape what is no text: halves of surrogate pairs, and NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", "")


def _path(address: str) -> str:
    """What is the same in a page's addresses for http and https, desktop and phone."""
    return _SITE.sub("", address[:MAX_CHARS].strip(), count=1).partition("#")[0].rstrip("/")
