"""References as links: joined, normalised, each target once, and a reason for each that is none."""

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
"""Before normalisation, which sets its own limit; white space may surround a reference."""
LEADING = frozenset(
    ("a", "area", "frame", "iframe", "refresh", "canonical", "next", "prev", "entry")
)
"""Relations that lead people to a page."""


class Reference(NamedTuple):
    """A link as a document has it: `href` as written, else as in `page.Link`."""

    href: str
    anchor: str
    relation: str
    nofollow: bool = False
    dated: datetime | None = None


Met = TypeVar("Met", Reference, Link)


class References:
    """Those of one document, in its order; of those that differ in their fragment alone, one.

    An index of terms has thousands of them, to a few hundred pages.
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
        """One link for each target but the page itself, at `url`; `base` is what joins them."""
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
    """A link that is met again.

    The first words count, one wish to follow is enough, and what leads people to a page is told
    rather than that it is shown or meant.
    """
    leads = relation in LEADING and known.relation not in LEADING
    if (known.anchor or not anchor) and (nofollow or not known.nofollow) and not leads:
        return known
    return known._replace(
        anchor=known.anchor or anchor,
        relation=relation if leads else known.relation,
        nofollow=known.nofollow and nofollow,
    )
