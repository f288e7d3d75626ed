"""Turns references into links: normalised, one per target; refused ones are counted by reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gossamer.parse.parsed_page import Link
from gossamer.rules.spellings import plainer
from gossamer.web.query_encoding import UTF8, encode_query
from gossamer.web.urls import refusal, resolve_all

if TYPE_CHECKING:
    from collections import Counter
    from datetime import datetime

    from gossamer.web.urls import UrlRules

MAX_HREF_CHARS: Final = 10_000
"""Length of a reference before normalisation, which has its own limit: white space may be long."""
LEADING: Final = frozenset(
    ("a", "area", "frame", "iframe", "refresh", "canonical", "next", "prev", "entry")
)
"""Relations of links that people follow to a page, as opposed to images and metadata."""
ANNOUNCING: Final = frozenset(("feed", "sitemap"))
"""Relations by which a page calls another one a feed or sitemap."""


class Reference:
    """A link as written in a document; the attributes are the fields of `Link`."""

    __slots__ = ("anchor", "announced", "dated", "nofollow", "relation")

    def __init__(self, anchor: str, relation: str, nofollow: bool, dated: datetime | None) -> None:
        self.anchor = anchor
        self.relation = relation
        self.nofollow = nofollow
        self.dated = dated
        self.announced = relation in ANNOUNCING

    def merge(self, anchor: str, relation: str, *, nofollow: bool) -> None:
        """Merge with another reference to the same target.

        The first anchor text is kept. The link is nofollow only if both are. A relation in LEADING
        replaces one that is not.
        """
        self.anchor = self.anchor or anchor
        self.nofollow = self.nofollow and nofollow
        self.announced = self.announced or relation in ANNOUNCING
        if self.relation not in LEADING and relation in LEADING:
            self.relation = relation


class References:
    """The references of one document, in order. Those that differ only in the fragment are merged.

    An index of terms has thousands of references to a few hundred pages.
    """

    def __init__(self, most: int, refused: Counter[str]) -> None:
        self._most = most
        self._refused = refused
        self._met: dict[str, Reference] = {}

    def add(
        self,
        href: str | None,
        anchor: str,
        relation: str,
        *,
        nofollow: bool = False,
        dated: datetime | None = None,
    ) -> None:
        if not href or href[0] == "#":
            return
        if len(href) > MAX_HREF_CHARS:
            self._refused["long_url"] += 1
            return
        target = href
        if "#" in href:
            target = href.partition("#")[0]
            if target[-1] <= " ":  # WHATWG strips blanks at the end, not before a fragment
                target = href
        known = self._met.get(target)
        if known is not None:
            known.merge(anchor, relation, nofollow=nofollow)
        elif len(self._met) < self._most:
            self._met[target] = Reference(anchor, relation, nofollow, dated)
        else:
            self._refused["max_links"] += 1

    def links(
        self,
        url: str,
        base: str,
        rules: UrlRules,
        refused: Counter[str] | None = None,
        charset: str = "utf-8",
    ) -> tuple[Link, ...]:
        """Return one link per target, but none to the page itself (`url`). `base` joins hrefs.

        References without a target are counted in `refused`, by default where the others are. In
        HTML, `charset` is the page's encoding, which that of queries follows. The references do not
        change: the same document may have been fetched from several URLs.
        """
        found: dict[str, Reference] = {}
        spellings: dict[str, str | None] = {}
        refused = self._refused if refused is None else refused
        hrefs = list(self._met)
        if charset not in UTF8:
            hrefs = [encode_query(href, base, charset) for href in hrefs]
        urls, spelled = resolve_all(hrefs, base, rules)
        for href, reference, dst in zip(hrefs, self._met.values(), urls, strict=True):
            if dst is None:
                refused[refusal(href, base, rules)] += 1
                continue
            if dst == url:
                continue
            known = found.get(dst)
            if known is None:
                found[dst] = reference
                if href in spelled:
                    spellings[dst] = spelled[href]
                continue
            merged = Reference(known.anchor, known.relation, known.nofollow, known.dated)
            merged.merge(reference.anchor, reference.relation, nofollow=reference.nofollow)
            merged.announced = known.announced or reference.announced
            found[dst] = merged
            spellings[dst] = plainer(spellings.get(dst), spelled.get(href))
        links: list[Link] = []
        new = tuple.__new__  # in half the time of a call of Link
        for dst, r in found.items():
            written = spellings.get(dst)
            fields = (dst, r.anchor, r.relation, r.nofollow, r.dated, written, r.announced)
            links.append(new(Link, fields))
        return tuple(links)
