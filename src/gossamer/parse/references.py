"""Turns references into links: normalised, one per target; refused ones are counted by reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from gossamer.parse.page import Link
from gossamer.urls import normalize_all, refusal

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable
    from datetime import datetime

    from gossamer.urls import UrlRules

MAX_HREF_CHARS = 10_000
"""Length of a reference before normalisation, which has its own limit: white space may be long."""
LEADING = frozenset(
    ("a", "area", "frame", "iframe", "refresh", "canonical", "next", "prev", "entry")
)
"""Relations of links that people follow to a page, as opposed to images and metadata."""


class Reference(NamedTuple):
    """A link as written in a document; the other fields are those of `page.Link`."""

    href: str
    anchor: str
    relation: str
    nofollow: bool = False
    dated: datetime | None = None


Met = TypeVar("Met", Reference, Link)


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
        target, mark, _ = href.partition("#")
        if mark and target[-1] <= " ":  # WHATWG strips blanks at the end, not before a fragment
            target = href
        known = self._met.get(target)
        if known is not None:
            self._met[target] = _merged(known, anchor, relation, nofollow=nofollow)
        elif len(self._met) < self._most:
            self._met[target] = Reference(href, anchor, relation, nofollow, dated)
        else:
            self._refused["max_links"] += 1

    def links(self, url: str, base: str, rules: UrlRules) -> tuple[Link, ...]:
        """Return one link per target, but none to the page itself (`url`). `base` joins hrefs."""
        links: dict[str, Link] = {}
        found: Iterable[Reference] = self._met.values()
        targets = normalize_all([reference.href for reference in found], base, rules)
        for (href, anchor, relation, nofollow, dated), dst in zip(found, targets, strict=True):
            if dst is None:
                self._refused[refusal(href, base, rules)] += 1
            elif dst != url:
                known = links.get(dst)
                links[dst] = (
                    Link(dst, anchor, relation, nofollow, dated)
                    if known is None
                    else _merged(known, anchor, relation, nofollow=nofollow)
                )
        return tuple(links.values())


def _merged(known: Met, anchor: str, relation: str, *, nofollow: bool) -> Met:
    """Merge a link with another one to the same target.

    The first anchor text is kept. The link is nofollow only if both are. A relation in LEADING
    replaces one that is not.
    """
    leads = relation in LEADING and known.relation not in LEADING
    if (known.anchor or not anchor) and (nofollow or not known.nofollow) and not leads:
        return known
    return known._replace(
        anchor=known.anchor or anchor,
        relation=relation if leads else known.relation,
        nofollow=known.nofollow and nofollow,
    )
