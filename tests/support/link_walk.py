"""An independent judge of a crawl: a walk over the links of files, as libxml2 reads them.

It knows nothing of how Gossamer parses, normalises or filters. A page is known by its host, its
path with percent-encoding undone, and its query, so that two spellings of one file are one page.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard
from urllib.parse import quote, unquote, urlsplit

from lxml import etree

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

HTML = {".html", ".htm", ".xhtml"}
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
TELLING = ("a", "area", "base", "frame", "iframe", "link", "title")
LEADING = {"canonical", "next", "prev", "alternate"}
HTML_TYPE = "text/html"


class Place(NamedTuple):
    host: str
    path: str
    query: str

    @classmethod
    def of(cls, url: str) -> Place | None:
        """None for what is not of the web."""
        try:
            parts = urlsplit(url)
        except ValueError:
            return None
        if parts.scheme not in {"http", "https"}:
            return None
        return cls(parts.netloc.lower(), unquote(parts.path) or "/", parts.query)

    @property
    def url(self) -> str:
        query = f"?{self.query}" if self.query else ""
        return f"http://{self.host}{quote(self.path)}{query}"


@dataclass(frozen=True)
class Walk:
    """`pages`: what is there and can be reached, with the titles of HTML; `deepest` in links."""

    pages: Mapping[Place, str]
    links: frozenset[tuple[Place, Place]]
    """Between these hosts, of what may be fetched, whether it is there or not."""
    deepest: int


def walk(
    folders: Mapping[str, Path],
    seeds: Iterable[str],
    skip_extensions: Collection[str],
    max_depth: int,
) -> Walk:
    """Every page that links lead to from the seeds, breadth first.

    A folder without its slash redirects to it, with it is its index.html; what is not a plain
    file below its host's folder is not there.
    """
    found: dict[Place, str] = {}
    links: set[tuple[Place, Place]] = set()
    waiting = deque((place, 0) for seed in seeds if (place := Place.of(seed)))
    met = {place for place, _ in waiting}
    deepest = 0

    def belongs(place: Place | None) -> TypeGuard[Place]:
        return (
            place is not None
            and place.host in folders
            and (
                PurePosixPath(place.path).suffix[1:].lower() not in skip_extensions
                or place.path.endswith((".txt.gz", ".xml.gz"))
            )
        )

    while waiting:
        place, depth = waiting.popleft()
        answer = _ask(folders[place.host], place.path)
        if answer is None:
            continue
        if isinstance(answer, Path):
            page = _Page(answer)
            found[place] = page.title
            deepest = max(deepest, depth)
            linked, add = page.linked(place), waiting.append
            depth += 1
        else:
            linked, add = {place._replace(path=answer)}, waiting.appendleft
        for target in linked - {place} if depth <= max_depth else ():
            if belongs(target):
                links.add((place, target))
                if target not in met:
                    met.add(target)
                    add((target, depth))
    return Walk(found, frozenset(links), deepest)


def join(base: str, href: str) -> str:
    """RFC 3986 §5.2.2, which urljoin follows but for empty segments and a last ";".

    `base` is an absolute path's URL; `href` has no fragment.
    """
    href = href.strip()
    if not href or SCHEME.match(href):
        return href or base
    scheme, _, host, path = base.partition("?")[0].split("/", 3)
    if href.startswith("//"):
        return scheme + href
    target, mark, query = href.partition("?")
    if not target:
        target = f"/{path}"
    elif not target.startswith("/"):
        target = f"/{path[: path.rfind('/') + 1]}{target}"
    return f"{scheme}//{host}{_without_dots(target)}{mark}{query}"


def _without_dots(path: str) -> str:
    """RFC 3986 §5.2.4."""
    *segments, last = path.split("/")
    kept: list[str] = []
    for segment in [*segments, *([last, ""] if last in {".", ".."} else [last])]:
        if segment == "..":
            del kept[max(1, len(kept) - 1) :]
        elif segment != ".":
            kept.append(segment)
    return "/".join(kept)


def _ask(root: Path, path: str) -> Path | str | None:
    """The file that a host answers with, the path it redirects to, or None where there is none."""
    file = (root / path.lstrip("/")).resolve()
    if "//" in path or not file.is_relative_to(root.resolve()):
        return None
    if file.is_dir():
        if not path.endswith("/"):
            return path + "/"
        file /= "index.html"
    elif path.endswith("/"):
        return None
    return file if file.is_file() else None


class _Page:
    """The links that may be followed, and the title, of a file; none of what is not HTML."""

    def __init__(self, file: Path) -> None:
        self._hrefs: set[str] = set()
        self._base = ""
        self.title = ""
        if file.suffix in HTML:
            for element in etree.parse(file, etree.HTMLParser(encoding="utf-8")).iter(*TELLING):
                self._read(element)

    def linked(self, place: Place) -> set[Place | None]:
        base = join(place.url, self._base)
        return {Place.of(join(base, href)) for href in self._hrefs}

    def _link(self, href: str) -> None:
        if href:
            self._hrefs.add(href.partition("#")[0])

    def _read(self, element: Any) -> None:
        rel = element.get("rel", "").lower().split()
        if element.tag == "title":
            self.title = self.title or " ".join("".join(element.itertext()).split())
        elif element.tag == "base":
            self._base = self._base or element.get("href", "")
        elif (element.tag in {"a", "area"} and "nofollow" not in rel) or (
            element.tag == "link"
            and LEADING.intersection(rel)
            and element.get("type", HTML_TYPE) == HTML_TYPE
        ):
            self._link(element.get("href", ""))
        elif element.tag in {"frame", "iframe"}:
            self._link(element.get("src", ""))
