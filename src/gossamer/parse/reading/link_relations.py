"""Which relations of a link element, or of a link in an HTTP header, lead to a page or feed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_REL_CHARS: Final = 1_000
FEED_TYPES: Final = frozenset(
    ("application/rss+xml", "application/atom+xml", "application/feed+json")
)
PAGE_TYPES: Final = frozenset(("", "text/html", "application/xhtml+xml"))


def link_relations(attributes: Mapping[str, str | None]) -> Iterator[str]:
    """Yield values of `Link.relation`, by the attributes `rel` and `type`."""
    for word in (attributes.get("rel") or "")[:MAX_REL_CHARS].lower().split():
        if word in ("canonical", "amphtml", "next", "prev", "sitemap"):
            yield word
        elif word == "alternate":
            kind = (attributes.get("type") or "").partition(";")[0].strip().lower()
            if kind in FEED_TYPES:
                yield "feed"
            elif kind in PAGE_TYPES:
                yield word
