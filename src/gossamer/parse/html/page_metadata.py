"""The metadata of a page: one value per field, selected from everything that was collected.

Sources in the order of trust: schema.org's nodes (JSON-LD, then microdata), which are written for
search engines and distinguish the article from the site; meta elements (Open Graph, Twitter,
Dublin Core, Highwire, Parse.ly); the body (time elements beside the main heading, links to the
author, large images); and for the date, as a last resort, the URL.

Decisions. A page's title is its <title>; `headline` is the title of the article, without the site's
name if possible. Keywords and sections are left out: nothing shows them, and they are not trusted
anywhere.

URLs are left as written. Nothing here raises, whatever was collected.
"""

from __future__ import annotations

import re
from datetime import datetime  # noqa: TC003  # msgspec reads the annotations
from itertools import chain
from typing import TYPE_CHECKING

from msgspec import Struct

from gossamer.parse.html.head_metadata import is_picture
from gossamer.parse.html.jsonld import read_jsonld
from gossamer.parse.html.page_dates import page_dates
from gossamer.parse.html.schema_org import Nodes
from gossamer.parse.parsed_page import fold, short
from gossamer.parse.reading.authors import split_authors
from gossamer.parse.reading.language import tag_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from gossamer.parse.html.head_metadata import HeadMetadata

MAX_HEADLINE_CHARS = 1_000
MAX_DESCRIPTION_CHARS = 2_000
MAX_NAME_CHARS = 100
"""Length of the name of an author or a site. Anything longer is not a name."""
MAX_AUTHORS = 20
MAX_FIELD_CHARS = 4_000
MAX_TYPE_CHARS = 30
MAX_URL_CHARS = 10_000

_BY = re.compile(
    r"(?:(?:posted|written|published|words|text) )?by:? |(?:author|auteur|autor|autore)s?: ?"
    r"|作者[:：] ?|автор: ?|(?:par|por|door) (?=\S+ \S)",
    re.IGNORECASE,
)
_SITE_SUFFIX = re.compile(r"$| ?[|·•:»@–—-]")


class Metadata(Struct, frozen=True, kw_only=True):
    """The metadata of a page. Texts are folded and cut; dates are in UTC."""

    headline: str | None = None
    description: str | None = None
    authors: tuple[str, ...] = ()
    published: datetime | None = None
    modified: datetime | None = None
    image: str | None = None
    site_name: str | None = None
    page_type: str | None = None
    """The type in Open Graph's vocabulary: article, video, product, website, …"""
    locale: str | None = None
    """A language tag, used as a hint."""
    canonical: str | None = None
    alternates: tuple[tuple[str, str], ...] = ()
    """Pairs of hreflang and URL."""
    icon: str | None = None
    body: str | None = None
    """The text of the main work in schema.org's node, if asked for."""


def metadata(
    found: HeadMetadata,
    url: str,
    *,
    title: str = "",
    fetched: datetime | None = None,
    with_body: bool = False,
) -> Metadata:
    """Return the metadata of the page at `url`, whose title element is `title`.

    Dates after `fetched`, the instant at which it was fetched, are rejected. `with_body` is for
    pages that show their text by a script.
    """
    addresses = [url] if found.canonical is None else [url, found.canonical]
    nodes = Nodes(read_jsonld(found.scripts) + found.things, addresses)
    published, modified = page_dates(found, nodes, addresses, fetched)
    meta = found.meta_contents
    return Metadata(
        headline=_headline(nodes.headlines(), meta("headline"), title),
        description=_first(
            chain(meta("description"), nodes.texts("description"), meta("abstract")),
            MAX_DESCRIPTION_CHARS,
        ),
        authors=author_names(nodes.authors(), meta("author"), found.authors),
        published=published,
        modified=modified,
        image=_image(found, nodes, meta),
        site_name=_site_name(chain(meta("site"), nodes.site_names(), meta("application"))),
        page_type=_page_type(next(meta("type"), ""), nodes.kind),
        locale=tag_of(next(meta("locale"), "")),
        canonical=found.canonical,
        alternates=tuple(found.alternates),
        icon=found.icon or found.touch_icon,
        body=nodes.body() if with_body else None,
    )


def _first(texts: Iterable[str], limit: int) -> str | None:
    return next((first for text in texts if (first := short(text, limit))), None)


def _headline(of_work: Iterable[str], of_page: Iterable[str], title: str) -> str | None:
    """Return the title that the page shows, without the site's name at its end.

    The title in schema.org's node shows where the site's name begins. On its own it is only a last
    resort: Wikipedia's `headline` is a remark, and the `name` on other sites is the site's.
    """
    works = [fold(text[:MAX_HEADLINE_CHARS]) for text in of_work]
    shown = _first(of_page, MAX_HEADLINE_CHARS)
    for whole in (shown or "", title):
        for work in works:
            if whole.startswith(work) and _SITE_SUFFIX.match(whole, len(work)):
                return work
    return shown or next(iter(works), None)


def _site_name(texts: Iterable[str]) -> str | None:
    return _first((text for text in texts if "://" not in text), MAX_NAME_CHARS)


def author_names(*sources: Iterable[str]) -> tuple[str, ...]:
    """Return the authors in the first source that names any, without a leading "By"."""
    for source in sources:
        names = dict.fromkeys(name for text in source for name in _names(text))
        if names:
            return tuple(names)[:MAX_AUTHORS]
    return ()


def _names(text: str) -> Iterator[str]:
    """Yield the names of authors in a text; addresses and handles are left out."""
    text = fold(text[:MAX_FIELD_CHARS])
    if by := _BY.match(text):
        text = text[by.end() :]
    for name in split_authors(text):
        strange = "://" in name or "@" in name or "<" in name or name.startswith(("www.", "/", "#"))
        if not strange and len(name) <= MAX_NAME_CHARS and any(map(str.isalpha, name)):
            yield name


def _image(found: HeadMetadata, nodes: Nodes, meta: Callable[[str], Iterator[str]]) -> str | None:
    candidates = chain(
        meta("image"),
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
    """Return Open Graph's type; schema.org's if that is `website`, a default of much software."""
    word = declared[:MAX_TYPE_CHARS].strip().lower().rpartition(":")[2].partition(".")[0]
    if not word.isascii() or not word.replace("_", "").isalnum():
        word = ""
    return kind if kind is not None and word in ("", "website") else word or None
