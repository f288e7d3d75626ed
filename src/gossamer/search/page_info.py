"""What the crawl knows about a page: its state, its metadata, links in both directions."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from gossamer.dedup.dispositions import Duplicates, duplicates_of, survivor_of
from gossamer.links.farm_signs import FarmSign, signs_of
from gossamer.web.urls import normalize

if TYPE_CHECKING:
    from gossamer.state.lookup import Lookup
    from gossamer.state.workspace import Workspace

ANSWERED = ("ok", "redirect")
"""Outcomes after which a page's links are current: see gossamer.links.current_links."""
MAX_COUNTED = 20
"""Pages for which another stands whose inlinks are counted with its own."""
MAX_REDIRECTS = 10
"""Redirects to a page that are named."""
VISIT = ("round", "outcome", "detail", "http_status", "fetched_ms", "redirect_url")
STORED = (*VISIT, "url", "body_bytes", "truncated", "digest", "warc_file", "warc_offset")
STATE = ("status", "source", "depth", "found_ms", "fetches", "failures", "stored_ms")
DOCUMENT = (
    *("outcome", "detail", "content_type", "charset", "truncated", "title", "description"),
    *("language", "published_ms", "modified_ms", "canonical", "noindex", "nofollow"),
    *("noarchive", "nosnippet", "unavailable_after_ms", "wishes", "wishes_said"),
)


class LinkIn(msgspec.Struct, frozen=True):
    """A page that links here, and its anchor text."""

    src: str
    anchor: str


class LinkOut(msgspec.Struct, frozen=True):
    """A link of the page. `relation`: as in the dataset links."""

    dst: str
    anchor: str
    relation: str
    nofollow: bool


class Inlinks(msgspec.Struct, frozen=True):
    """`total` pages linked here at the last `invert`, which names `known` of them.

    `to_copies`: links to the pages for which this one stands, which count for it, too; those to
    MAX_COUNTED of these pages are counted.
    """

    total: int
    known: int
    to_copies: int
    links: list[LinkIn]


class Outlinks(msgspec.Struct, frozen=True):
    """The links of the page as it last answered."""

    total: int
    links: list[LinkOut]


class KnownPage(msgspec.Struct, frozen=True, kw_only=True):
    """A URL that the crawl holds. Unknown values are null; times are ms since 1970, UTC."""

    url: str
    status: str
    """unfetched, fetched, redirected, excluded, gone"""
    source: str
    depth: int
    found_ms: int | None
    fetches: int
    failures: int
    stored_ms: int | None
    outcome: str | None
    """Outcome of the last fetch, to which the next four fields belong, too."""
    detail: str | None
    http_status: int | None
    fetched_ms: int | None
    redirect_url: str | None
    title: str | None
    description: str | None
    language: str | None
    content_type: str | None
    truncated: bool
    """Whether text is missing, because the page is longer than a limit or came incomplete."""
    published_ms: int | None
    modified_ms: int | None
    canonical: str | None
    noindex: bool
    nofollow: bool
    noarchive: bool
    wishes: str | None
    """Uses that its publisher allows or forbids, such as `search=yes ai-train=no`."""
    rank: float | None
    """PageRank."""
    farms: list[FarmSign]
    """Why the votes of this page's host, or those for the page, weigh less."""
    duplicates: Duplicates
    """Where else its content is found, and which page stands for it in the index."""
    redirects: list[str]
    """URLs that redirected here when they were last fetched; at most MAX_REDIRECTS of them."""
    copy: bool
    """Whether the stored copy may be shown: see gossamer.serve.stored_copy."""
    inlinks: Inlinks
    outlinks: Outlinks


class Capture(msgspec.Struct, frozen=True):
    """The last answer with a body: its rows of responses and, once parsed, of documents."""

    response: dict[str, Any]
    document: dict[str, Any] | None


class PageInfo:
    """Looks pages up in the manifest that the store last read."""

    def __init__(self, work: Workspace, lookup: Lookup) -> None:
        self._work = work
        self._lookup = lookup

    def normal(self, url: str) -> str | None:
        """The crawl's normal form of a URL; None if it is invalid."""
        return normalize(url, None, self._work.config.urls)

    def state(self, url: str) -> dict[str, Any] | None:
        """The columns STATE of the page's newest row in `pages`."""
        return next(self._lookup.rows("pages", "url", url, STATE), None)

    def visit(self, url: str) -> dict[str, Any]:
        """The columns VISIT of the last answer; null if nothing is known of it any more."""
        return next(self._lookup.rows("responses", "url", url, VISIT), dict.fromkeys(VISIT))

    def capture(self, url: str) -> Capture | None:
        """Where the last stored body lies, and the document parsed from it."""
        for response in self._lookup.rows("responses", "url", url, STORED):
            if response["outcome"] == "ok":
                return Capture(response, self._document(url, response["round"]))
        return None

    def _document(self, url: str, round_: int) -> dict[str, Any] | None:
        rows = self._lookup.rows("documents", "url", url, ("round", *DOCUMENT))
        return next((row for row in rows if row["round"] == round_), None)

    def describe(self, url: str, offset: int, limit: int, *, copy: bool) -> KnownPage | None:
        """Describe a page, with `limit` of its links in each direction, from `offset`.

        None if the crawl does not know it.
        """
        state = self.state(url)
        if state is None:
            return None
        visits = list(self._lookup.rows("responses", "url", url, VISIT))
        visit = visits[0] if visits else dict.fromkeys(VISIT)
        captured = self.capture(url)
        document = (captured and captured.document) or _NO_DOCUMENT
        rank = next(self._lookup.rows("ranks", "url", url, ["rank"]), None)
        answered = next((row["round"] for row in visits if row["outcome"] in ANSWERED), None)
        duplicates = duplicates_of(self._lookup, url)
        return msgspec.convert(
            {
                **document,
                **state,
                **visit,
                "url": url,
                "description": None if document["nosnippet"] else document["description"],
                "rank": rank and rank["rank"],
                "farms": signs_of(self._lookup, url),
                "duplicates": duplicates,
                "redirects": self.redirects(url),
                "copy": copy,
                "inlinks": self._inlinks(url, duplicates, offset, limit),
                "outlinks": self._outlinks(url, answered, offset, limit),
            },
            KnownPage,
        )

    def linking(self, url: str) -> list[str]:
        """The pages that link to a URL, of which `invert` names a bounded number."""
        row = next(self._lookup.rows("inlinks", "dst", url, ["sources"]), None)
        return [source["src"] for source in row["sources"]] if row else []

    def survivor(self, url: str) -> str | None:
        """The page that stands for a normalised URL in the index; None if no other page does."""
        return survivor_of(self._lookup, url)

    def _inlinks(self, url: str, duplicates: Duplicates, offset: int, limit: int) -> Inlinks:
        row = next(self._lookup.rows("inlinks", "dst", url, ["count", "sources"]), None)
        sources = row["sources"] if row else []
        links = [LinkIn(**source) for source in sources[offset : offset + limit]]
        others = [*duplicates.copies, *duplicates.versions][:MAX_COUNTED]
        to_copies = sum(
            found["count"]
            for other in others
            for found in self._lookup.rows("inlinks", "dst", other.url, ["count"])
        )
        return Inlinks(row["count"] if row else 0, len(sources), to_copies, links)

    def redirects(self, url: str) -> list[str]:
        """The URLs whose last answer was a redirect to this one, at most MAX_REDIRECTS."""
        found = self._lookup.rows("responses", "redirect_url", url, ["url"])
        urls = dict.fromkeys(row["url"] for row in islice(found, MAX_REDIRECTS))
        return [each for each in urls if self._last_redirect(each) == url]

    def _last_redirect(self, url: str) -> str | None:
        """Where the last answer of a URL redirected to."""
        rows = self._lookup.rows("responses", "url", url, ("outcome", "redirect_url"))
        return next((row["redirect_url"] for row in rows if row["outcome"] in ANSWERED), None)

    def _outlinks(self, url: str, round_: int | None, offset: int, limit: int) -> Outlinks:
        if round_ is None:
            return Outlinks(0, [])
        columns = LinkOut.__struct_fields__
        rows = [
            {name: row[name] for name in columns}
            for row in self._lookup.rows("links", "src", url, ("round", *columns))
            if row["round"] == round_
        ]
        return Outlinks(len(rows), [LinkOut(**row) for row in rows[offset : offset + limit]])


_NO_DOCUMENT = dict.fromkeys(DOCUMENT) | dict.fromkeys(
    ("truncated", "noindex", "nofollow", "noarchive", "nosnippet"), False
)
