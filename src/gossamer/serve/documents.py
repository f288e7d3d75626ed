"""Pages as documents for programs: main text as Markdown, passages, and where they come from.

A document is made of the stored body whenever somebody asks for it, in the parser's process without
rights. What may not be shown as a copy is not shown as a document either, and neither is a page
that asks not to be found (noindex) or quoted (nosnippet), or whose publisher does not want it as
input of AI (`web/publisher_wishes.py`).
"""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from cachetools import LRUCache

from gossamer.parse.page_rules import rules_of
from gossamer.parse.parsed_page import Page, ParsedPage
from gossamer.parse.process.guarded_parser import standing_parser
from gossamer.parse.rendition.rendered import Passage  # noqa: TC001  # msgspec reads the annotations
from gossamer.search.provenance import Provenance, find_provenance
from gossamer.serve.stored_copy import Copy, Refusal, find_copy, read_record
from gossamer.web.publisher_wishes import AI_INPUT, forbids

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from gossamer.parse.parsed_page import Rules
    from gossamer.search.page_info import PageInfo
    from gossamer.state.workspace import Workspace
    from gossamer.storage.warc import StoredResponse

KEPT_CHARS = 8_000_000
"""Characters of documents that are kept for who asks for the next part of one."""


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A page's main text. Unknown values are null; times are ms since 1970, UTC."""

    url: str
    title: str | None
    language: str | None
    description: str | None
    published_ms: int | None
    modified_ms: int | None
    markdown: str
    """CommonMark with GFM's tables. It begins with the title as a heading of level 1."""
    passages: tuple[Passage, ...]
    """The same text, cut at headings and where sections are long."""
    truncated: bool
    """Whether text is missing, because the page is longer than a limit or came incomplete."""
    provenance: Provenance


class Entry(NamedTuple):
    """What an llms.txt says of a page."""

    url: str
    title: str
    note: str = ""


class _Stored(NamedTuple):
    """What the crawl has of a page that may be shown: its body, and its row of documents."""

    copy: Copy
    provenance: Provenance
    described: Mapping[str, Any]


class Documents:
    """Makes documents of stored pages. Safe to use from several threads; one parses at a time."""

    def __init__(self, work: Workspace, pages: PageInfo) -> None:
        self._work = work
        self._pages = pages
        self._guard = threading.Lock()
        self._kept: LRUCache[Provenance, Document] = LRUCache(
            KEPT_CHARS, lambda document: 2 * len(document.markdown) + 1_000
        )

    def find(self, url: str) -> Document | Refusal:
        """The document of a URL in normal form, or why there is none. Raises StoreError."""
        stored = self._stored(url)
        if isinstance(stored, Refusal):
            return stored
        copy, provenance, _ = stored
        with self._guard:
            kept = self._kept.get(provenance)
            if kept is not None and kept.url == url:
                return kept
            record = read_record(self._work.root, copy.file, copy.offset)
            page = self._parse(copy, record)
        if page.rendition is None:
            return Refusal(503, f"This page cannot be rendered: {page.detail or page.outcome}.")
        measured = msgspec.structs.replace(provenance, warc_length=record.length)
        document = _document(copy, page, measured)
        if 2 * len(document.markdown) < KEPT_CHARS:
            with self._guard:
                self._kept[provenance] = document
        return document

    def entry(self, url: str) -> Entry | Refusal:
        """The line about a URL in an llms.txt, if it has a document, which is not made for it."""
        stored = self._stored(url)
        if isinstance(stored, Refusal):
            return stored
        described = stored.described
        return Entry(url, described["title"] or "", described["description"] or "")

    def may_be_input(self, url: str) -> bool:
        """Whether a found page may become input of AI, as far as its publisher has said."""
        captured = self._pages.capture(url)
        document = captured and captured.document
        return not document or not _is_forbidden_input(document, self._work.config.publishers.obey)

    def _stored(self, url: str) -> _Stored | Refusal:
        copy = find_copy(self._work, self._pages, url)
        captured, provenance = self._pages.capture(url), find_provenance(self._pages, url)
        if isinstance(copy, Refusal):
            return copy
        if captured is None or captured.document is None or provenance is None:
            return Refusal(404, "The crawl has stored no copy of this page.")
        if (why := _objection(captured.document, self._work.config.publishers.obey)) is not None:
            return Refusal(403, why)
        return _Stored(copy, provenance, captured.document)

    @cached_property
    def _rules(self) -> Rules:
        rules = rules_of(self._work.config, self._work.root)
        return msgspec.structs.replace(rules, renders=True, max_links=0)

    def _parse(self, copy: Copy, record: StoredResponse) -> ParsedPage:
        fetched = datetime.fromtimestamp(copy.fetched_ms / 1000, UTC)
        return standing_parser(self._rules).parse(
            Page(copy.url, record.headers, record.body, fetched)
        )


def _objection(document: Mapping[str, Any], obeyed: Collection[str]) -> str | None:
    """Why a page must not be read by programs, or None. `obeyed`: the wishes that are."""
    if document["noindex"]:
        return "This page asks not to be found (noindex)."
    if document["nosnippet"]:
        return "This page asks search engines not to show its text (nosnippet)."
    if _is_forbidden_input(document, obeyed):
        return f"Its publisher does not want this page as input of AI ({AI_INPUT}=no)."
    if document["outcome"] != "parsed":
        return "This page has no text: it is a listing, empty, or of a type that is not read."
    return None


def _is_forbidden_input(document: Mapping[str, Any], obeyed: Collection[str]) -> bool:
    return AI_INPUT in obeyed and forbids(document["wishes"], AI_INPUT)


def _document(copy: Copy, page: ParsedPage, provenance: Provenance) -> Document:
    assert page.rendition is not None  # noqa: S101  # the caller has checked it
    published, modified = page.published, page.modified
    return Document(
        url=copy.url,
        title=page.title,
        language=page.language,
        description=page.description,
        published_ms=_ms(published),
        modified_ms=_ms(modified),
        markdown=page.rendition.markdown,
        passages=page.rendition.passages,
        truncated=page.truncated or page.rendition.truncated or copy.truncated,
        provenance=provenance,
    )


def _ms(time: datetime | None) -> int | None:
    return None if time is None else int(time.timestamp() * 1000)
