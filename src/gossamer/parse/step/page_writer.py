"""Writes the rows of parsed pages: documents, and the links that pass the filters."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from gossamer.config.own_hosts import Own
from gossamer.native import native_text
from gossamer.parse.parsed_page import Link
from gossamer.parse.reading.type_sniffing import essence
from gossamer.parse.step.link_rewriting import LinkRewriter
from gossamer.parse.step.link_rows import LinkRows, Origin
from gossamer.parse.step.sitemap_discovery import is_robots
from gossamer.storage.task_output import SMALL_PAGES, ParquetWriter, Row, count_rows
from gossamer.tables import DOCUMENTS, LINKS
from gossamer.web import publisher_wishes
from gossamer.web.sketches import hash_and_sketch
from gossamer.web.urls import domain_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from gossamer.parse.parsed_page import ParsedPage
    from gossamer.parse.step.job import Job
    from gossamer.parse.step.sitemap_discovery import Announced
    from gossamer.parse.step.stored_responses import Redirect, ResponseRow
    from gossamer.rules.filters import Filters

TRUNCATED = "truncated"
"""Name of the count of pages of which text is missing."""
FLUSH_PAGES = 2_000
FLUSH_CHARS = 32_000_000
"""Rows are written, as a row group, after this many pages or characters of text and links. Text
counts twice: it is stored whole, and as main text and boilerplate. With small groups, readers of a
few columns spend most of their time on opening them."""


class LinkSource(NamedTuple):
    """A robots.txt file as the source of links to the sitemaps that it names."""

    round: int
    url: str


class PageWriter:
    """Writes the documents and links of a task, in batches.

    Invariant: no two rows of links have the same source and target. A robots.txt that was fetched
    as a page gets no links, since its sitemaps are found through the dataset hosts.
    """

    def __init__(self, job: Job, filters: Filters) -> None:
        documents, links, *_ = job.attempts
        self._round = job.round
        self._filters = filters
        self._own = Own(job.config.fetch)
        name = DOCUMENTS.name
        self._document_file = ParquetWriter(job.root, name, documents, encoding=SMALL_PAGES)
        self._link_file = ParquetWriter(job.root, LINKS.name, links)
        rejected = filters.reject_all
        self._rewriter = LinkRewriter(job.root, job.url_rules, job.rewritten, rejected)
        self._document_rows: list[tuple[Any, ...]] = []
        self._links = LinkRows()
        self._waiting_chars = 0
        self._counts: Counter[str] = Counter()

    def add(self, answer: ResponseRow, page: ParsedPage, address: str | None = None) -> None:
        """Add a page. `address`: the IP address that it was fetched from, if that is known."""
        found = () if is_robots(answer.url) else page.links
        links = self._add_links(answer, found, answer.depth + 1, first=answer.fetches == 0)
        self._counts["documents"] += 1
        if answer.truncated or page.truncated:
            self._counts[TRUNCATED] += 1
        self._count_dropped(page.refused)
        for field in page.unmatched:
            self._counts[f"unmatched_{field.replace('.', '_')}"] += 1
        is_own = bool(page.statements) and self._own.has(answer.host, address)
        self._document_rows.append(document_row(answer, page, links, is_own=is_own))
        self._waiting_chars += 2 * len(page.text or "") + len(page.main_text or "")
        self._flush_when_full()

    def add_redirect(self, redirect: Redirect) -> None:
        """Add a redirect as a link to its target, which gets the same depth."""
        if not is_robots(redirect.url):
            url, spelling = redirect.redirect_url, redirect.redirect_spelling
            link = Link(url, "", "redirect", spelling=spelling, announced=bool(redirect.announced))
            hops = redirect.hops + 1
            self._add_links(redirect, [link], redirect.depth, hops, first=redirect.fetches == 0)

    def add_announced(self, found: Announced) -> None:
        robots = LinkSource(self._round if found.round is None else found.round, found.src)
        self._add_links(robots, found.links, found.depth + 1, first=False)
        self._count_dropped(found.refused)
        self._flush_when_full()

    def _add_links(
        self,
        src: ResponseRow | Redirect | LinkSource,
        found: Sequence[Link],
        depth: int,
        hops: int = 0,
        *,
        first: bool,
    ) -> int:
        """Add a row for each link that passes the filters; return their number."""
        if self._rewriter:
            found = self._rewriter.rewritten(src.url, found, depth, hops)
        reasons = self._filters.reject_all([link.dst for link in found], depth, hops)
        links = [link for link, reason in zip(found, reasons, strict=True) if reason is None]
        if len(links) < len(found):
            self._count_dropped(Counter(reason for reason in reasons if reason is not None))
        self._counts["links"] += len(links)
        if links:
            dst, anchor, relation, nofollow, dates, spellings, flags = zip(*links, strict=True)
            dated = tuple(map(_ms, dates)) if any(dates) else dates
            announced = _believed_announcements(src.url, links) if any(flags) else flags
            origin = Origin(src.round, src.url, depth, hops, first)
            columns = dst, anchor, relation, nofollow, dated, spellings, announced
            self._links.add(origin, columns)
            self._waiting_chars += sum(map(len, dst))
        return len(links)

    def _count_dropped(self, reasons: Mapping[str, int]) -> None:
        for reason, number in reasons.items():
            self._counts[f"dropped_{reason}"] += number

    def close(self) -> list[Row]:
        """Write what is left. Return rows of YIELD: the files, and counts."""
        self._flush()
        files = [*self._document_file.close(), *self._link_file.close(), *self._rewriter.close()]
        return files + count_rows(self._counts)

    def _flush_when_full(self) -> None:
        if len(self._document_rows) >= FLUSH_PAGES or self._waiting_chars >= FLUSH_CHARS:
            self._flush()

    def _flush(self) -> None:
        if self._document_rows:
            columns = zip(*self._document_rows, strict=True)
            arrays = [
                pa.array(column, field.type)
                for column, field in zip(columns, DOCUMENTS.schema, strict=True)
            ]
            self._document_file.write(pa.Table.from_arrays(arrays, schema=DOCUMENTS.schema))
        if self._links:
            self._link_file.write(self._links.take())
        self._document_rows.clear()
        self._waiting_chars = 0


def _believed_announcements(src: str, links: Sequence[Link]) -> list[bool]:
    """Whether `src` may call each target a feed or sitemap: only pages of its own domain.

    Else anybody could keep somebody else's page out of the index.
    """
    own = domain_of(src)
    return [link.announced and domain_of(link.dst) == own for link in links]


def document_row(
    answer: ResponseRow, page: ParsedPage, links: int, *, is_own: bool
) -> tuple[Any, ...]:
    """Return a row of documents, in the order of its columns.

    What the publisher of an own page wishes about its uses is kept, but has no effect.
    """
    robots = page.robots
    main, boilerplate = main_and_boilerplate(page.text, page.main_text)
    return (
        answer.round,
        answer.url,
        answer.host,
        page.outcome,
        page.detail,
        answer.fetched_ms,
        page.content_type or essence(answer.content_type or "") or None,
        page.charset,
        bool(answer.truncated or page.truncated),
        page.title,
        page.headline,
        page.description,
        page.headings,
        page.text,
        main,
        boilerplate,
        page.is_doubtful,
        *hash_and_sketch(main, page.title),
        page.language,
        page.language_hint,
        page.authors,
        _ms(page.published),
        _ms(page.modified),
        page.image,
        page.site_name,
        page.page_type,
        page.canonical,
        [{"language": language, "url": url} for language, url in page.alternates],
        robots.noindex,
        robots.nofollow,
        robots.noarchive,
        robots.nosnippet,
        _ms(robots.unavailable_after),
        links,
        answer.body_bytes,
        answer.digest,
        None if is_own else publisher_wishes.encode(publisher_wishes.judge(page.statements)),
        "\n".join(publisher_wishes.keep(page.statements)) or None,
    )


def main_and_boilerplate(text: str | None, main: str | None) -> tuple[str | None, str | None]:
    """Return the main text, and the lines of the text that are not in it, each once."""
    if main is None:
        return text, None
    return main, lines_outside(text or "", main)


@native_text
def lines_outside(text: str, other: str) -> str:
    """Return the lines of a text that are neither empty nor in the other one, each once.

    No text has surrogates: the answer of a parser would be invalid. In C, they raise an error.
    """
    lines, inside = dict.fromkeys(text.split("\n")), {"", *other.split("\n")}
    return "\n".join([line for line in lines if line not in inside])


def _ms(instant: datetime | None) -> int | None:
    return None if instant is None else int(instant.timestamp() * 1000)
