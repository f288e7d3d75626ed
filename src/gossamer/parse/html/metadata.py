"""What a page says of itself, from what was collected of it: one value for each question.

Sources, the one to believe first at the front. schema.org's nodes (JSON-LD, then microdata) are
made for search engines, and tell the article from the site; meta elements follow (Open Graph,
Twitter, Dublin Core, Highwire, Parse.ly); then the body: time elements beside the main heading,
links to the author, large images; for the date at last the URL.

Decisions. <title> stays a page's title: `headline` is the article's, without the site's name if
possible.
Keywords and sections are left out: nothing shows them, and they are not trusted anywhere.

URLs are as written. Never raises, whatever was collected.
"""

from __future__ import annotations

import re
from datetime import datetime  # noqa: TC003  # msgspec reads the annotations
from itertools import chain
from typing import TYPE_CHECKING

from msgspec import Struct

from gossamer.parse.html.collected import is_picture
from gossamer.parse.html.jsonld import read_jsonld
from gossamer.parse.html.page_dates import page_dates
from gossamer.parse.html.schema_org import Nodes
from gossamer.parse.language import tag_of
from gossamer.parse.page import fold, short

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from gossamer.parse.html.collected import Collected

MAX_HEADLINE_CHARS = 1_000
MAX_DESCRIPTION_CHARS = 2_000
MAX_NAME_CHARS = 100
"""Of an author or a site; what is longer is no name."""
MAX_AUTHORS = 20
MAX_TYPE_CHARS = 30
MAX_URL_CHARS = 10_000

_BY = re.compile(
    r"(?:(?:posted|written|published) )?by:? |author: ?|作者[:：] ?|автор: ?", re.IGNORECASE
)
_SITE_SUFFIX = re.compile(r"$| ?[|·•:»@–—-]")
_NOBODY = frozenset(
    ("admin", "administrator", "author", "editor", "root", "unknown", "user", "webmaster")
)


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
    icon: str | None = None


def metadata(
    found: Collected,
    url: str,
    *,
    title: str = "",
    fetched: datetime | None = None,
) -> Metadata:
    """Of the page at `url` with this <title>, fetched at the instant `fetched` if it is known."""
    addresses = [url] if found.canonical is None else [url, found.canonical]
    nodes = Nodes(read_jsonld(found.scripts) + found.things, addresses)
    published, modified = page_dates(found, nodes, addresses, fetched)
    meta = found.meta_contents
    return Metadata(
        headline=_headline(nodes.headlines(), meta("headline"), title),
        description=_first(
            chain(
                meta("description"),
                nodes.texts("description"),
                meta("abstract"),
            ),
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
    )


def _first(texts: Iterable[str], limit: int) -> str | None:
    return next((first for text in texts if (first := short(text, limit))), None)


def _headline(of_work: Iterable[str], of_page: Iterable[str], title: str) -> str | None:
    """The page's own words, without the site's name where schema.org's node for the work tells it.

    The node alone is not believed: Wikipedia's `headline` is a remark, others' `name` the site's.
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
    """All of the first source that names any, without the `By` before them."""
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


def _image(found: Collected, nodes: Nodes, meta: Callable[[str], Iterator[str]]) -> str | None:
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
    """Open Graph's, but for `website`, which is the default of software that makes articles."""
    word = declared[:MAX_TYPE_CHARS].strip().lower().rpartition(":")[2].partition(".")[0]
    if not word.isascii() or not word.replace("_", "").isalnum():
        word = ""
    return kind if kind is not None and word in ("", "website") else word or None
