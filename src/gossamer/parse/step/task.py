"""A parse task: reads pieces of the responses, writes the documents and links of their pages.

Bodies are read one at a time, in the order of the WARC files, and parsed in a child process
(`guard.py`). Rows are written in batches of some hundred pages. Pages that are not parsed are left
for later (`postponed.py`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from gossamer.parse.page import Link, Page, ParsedPage
from gossamer.parse.process.guard import standing_parser
from gossamer.parse.reading.sniff import essence
from gossamer.parse.step.budget import SPENT, Budget, domain_weights
from gossamer.parse.step.copies import answers_of
from gossamer.parse.step.discovery import announced, announced_before, is_robots
from gossamer.parse.step.postponed import INTERRUPTED, POSTPONED, RETRIED, LeftWriter
from gossamer.parse.step.refused import judged
from gossamer.parse.step.rewritten import LinkRewriter
from gossamer.parse.step.stored import bodies, piece_of, read_answers, read_redirects
from gossamer.rules.filters import filters_of
from gossamer.state.heartbeats import Heartbeat
from gossamer.storage import files
from gossamer.storage.names import SCRATCH
from gossamer.storage.task_output import SMALL_PAGES, ParquetWriter, Row, count_rows
from gossamer.tables import DOCUMENTS, LINKS
from gossamer.web.sketches import hash_and_sketch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gossamer.config import Config
    from gossamer.parse.page import Rules
    from gossamer.parse.step.discovery import Announced
    from gossamer.parse.step.stored import Piece, Redirect, ResponseRow
    from gossamer.rules.filter_rules.recipe import FilterRecipe
    from gossamer.rules.filters import Filters
    from gossamer.storage.warc import StoredResponse

UNREADABLE = pa.schema([("round", pa.int32()), ("url", pa.string()), ("has_links", pa.bool_())])
UNREADABLE_DDL = "round int, url string, has_links boolean"
MAX_ALONE = 100
"""Pages per round in the second pass, during which all other cores wait."""
TRUNCATED = "truncated"
"""Name of the count of pages of which text is missing."""
FLUSH_PAGES = 2_000
FLUSH_CHARS = 32_000_000
"""Rows are written, as a row group, after this many pages or characters of text and links. Text
counts twice: it is stored whole, and as main text and boilerplate. With small groups, readers of a
few columns spend most of their time on opening them."""


class Early(NamedTuple):
    """How a task parses pages while their round is being fetched (`ahead.py`)."""

    over: str
    """A file that appears when the fetch has ended. The task then ends as well."""
    later: str
    """Scratch folder for the pages that it has not parsed, with the columns of unparsed."""
    spent: str
    """Scratch folder for what domains took (SPENT)."""
    tasks: int
    """The number of such tasks that may run at once."""


@dataclass(frozen=True)
class Job:
    """What all tasks of a step have in common."""

    root: str
    round: int
    config: Config
    rules: Rules
    filters: FilterRecipe
    fetch_began_ms: int
    """When the round's fetch began. robots.txt files fetched since then are new."""
    attempts: tuple[str, str, str, str]
    """Folders for documents, links, unparsed, and the pages for the second pass."""
    domain_cpu_s: float = 0
    """Processor time for the pages of a registrable domain; 0: no limit."""
    files: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """All files of responses and of unparsed; each task has pieces of them."""
    moved: tuple[str, ...] = ()
    """Files of pages that are parsed with those of another file of responses (`copies.py`)."""
    url_rules: tuple[str, ...] = ()
    """Scratch files of the active rules for URLs (`url_rules.lessons`)."""
    rewritten: str = ""
    """Folder for the URLs that they rewrite."""
    unreadable: str | None = None
    """Scratch folder for a list (UNREADABLE) of pages whose stored body is damaged; they get no
    document. None: they get a document with the outcome `failed`."""
    spent: tuple[tuple[str, float], ...] = ()
    """What domains took ahead of this task, in seconds."""
    early: Early | None = None


@dataclass(frozen=True)
class Share:
    """The part of one task: its number, and its files, relative to the crawl's folder."""

    number: int
    responses: tuple[Piece, ...] = ()
    unparsed: tuple[Piece, ...] = ()
    hosts: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    """Files of links from when the round was parsed before."""
    alone: bool = False
    """Whether this is the second pass, in which no other page is parsed at the same time."""


def parse_share(job: Job, share: Share) -> list[Row]:
    """Parse a share. Return rows of YIELD: the files written, and counts."""
    answers = _answers(job, share)
    heartbeat = Heartbeat(job.root, "parse", job.round, str(share.number), len(answers))
    writer = PageWriter(job, filters_of(job.filters))
    later = "" if job.early is None else job.early.later
    left = LeftWriter(job.root, job.attempts[2:], alone=share.alone, later=later)
    budget = Budget(
        job.domain_cpu_s,
        answers,
        _weights(job),
        dict(job.spent),
        job.early.tasks if job.early else 1,
    )
    unreadable = _parse_pages(job, answers, writer, left, budget, heartbeat)
    responses = [f"{job.root}/{piece.path}" for piece in share.responses if not piece.number]
    for redirect in read_redirects(responses):
        writer.add_redirect(redirect)
    wellknown = job.config.parse.wellknown_paths
    hosts, links = ([f"{job.root}/{file}" for file in some] for some in (share.hosts, share.links))
    for found in announced(hosts, job.fetch_began_ms, wellknown, job.config.urls):
        writer.add_announced(found)
    for found in announced_before(links):
        writer.add_announced(found)
    heartbeat.finish()
    written = writer.close() + left.close() + count_rows(heartbeat.counts)
    if unreadable:
        written += count_rows({"unreadable": len(unreadable)})
        if job.unreadable is not None:
            urls = ParquetWriter(job.root, SCRATCH, job.unreadable, schema=UNREADABLE)
            urls.write(pa.Table.from_pylist(unreadable, UNREADABLE))
            written += urls.close()
    if job.early is not None and (spent := budget.spent()):
        domains = ParquetWriter(job.root, SCRATCH, job.early.spent, schema=SPENT)
        domains.write(spent)
        written += domains.close()
    return written


def _parse_pages(
    job: Job,
    answers: Sequence[ResponseRow],
    writer: PageWriter,
    left: LeftWriter,
    budget: Budget,
    heartbeat: Heartbeat,
) -> list[dict[str, Any]]:
    """Parse pages, or leave them for later. Return rows of UNREADABLE."""
    most = MAX_ALONE if left.alone else len(answers)
    left.interrupted += answers[most:]
    parser = standing_parser(job.rules)
    unreadable: list[dict[str, Any]] = []

    def affordable(answer: ResponseRow) -> bool:
        allowed = budget.allows(answer)
        if job.early is not None:
            allowed = allowed and not files.exists(job.early.over)
            if not allowed:
                left.later.append(answer)
        elif not allowed:
            left.postponed.append(answer)
            heartbeat.beat(count=POSTPONED)
        return allowed

    for answer, stored in bodies(job.root, filter(affordable, answers[:most])):
        if stored is None:
            has_links = not is_robots(answer.url)
            unreadable.append({"round": answer.round, "url": answer.url, "has_links": has_links})
            if job.unreadable is not None:
                heartbeat.beat()
                continue
        before_s = parser.cpu_s
        page = _unreadable(answer) if stored is None else parser.parse(page_of(answer, stored))
        budget.spend(answer, parser.cpu_s - before_s)
        page = judged(job.filters.rules, answer, page)
        if page.outcome == INTERRUPTED:
            left.interrupted.append(answer)
            heartbeat.beat(count=INTERRUPTED if left.alone else RETRIED)
        else:
            writer.add(answer, page)
            heartbeat.beat(count=page.outcome)
    return unreadable


def _weights(job: Job) -> dict[str, int]:
    """The weights of the domains, if they are needed and known."""
    files = (tuple([f"{job.root}/{path}" for path in some]) for some in job.files)
    return domain_weights(*files) if job.domain_cpu_s and job.early is None else {}


def _answers(job: Job, share: Share) -> list[ResponseRow]:
    """Return the pages of a share, starting with those left from earlier."""
    answers: list[ResponseRow] = []
    for piece in share.unparsed:
        answers += piece_of(read_answers(f"{job.root}/{piece.path}", fetched=False), piece)
    moved = [f"{job.root}/{path}" for path in job.moved]
    return answers + answers_of(job.root, share.responses, moved)


class Source(NamedTuple):
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
        self._documents = ParquetWriter(job.root, DOCUMENTS.name, documents, encoding=SMALL_PAGES)
        self._links = ParquetWriter(job.root, LINKS.name, links)
        rejected = filters.reject_all
        self._rewriter = LinkRewriter(job.root, job.url_rules, job.rewritten, rejected)
        self._document_rows: list[tuple[Any, ...]] = []
        self._link_columns: tuple[list[Any], ...] = tuple([] for _ in LINKS.schema)
        """The rows of links by column, as files are written: a page may have thousands."""
        self._waiting_chars = 0
        self._counts: Counter[str] = Counter()

    def add(self, answer: ResponseRow, page: ParsedPage) -> None:
        found = () if is_robots(answer.url) else page.links
        links = self._add_links(answer, found, answer.depth + 1, first=answer.fetches == 0)
        self._counts["documents"] += 1
        if answer.truncated or page.truncated:
            self._counts[TRUNCATED] += 1
        self._count_dropped(page.refused)
        self._counts.update(f"unmatched_{field.replace('.', '_')}" for field in page.unmatched)
        self._document_rows.append(document_row(answer, page, links))
        self._waiting_chars += 2 * len(page.text or "") + len(page.main_text or "")
        self._flush_when_full()

    def add_redirect(self, redirect: Redirect) -> None:
        """Add a redirect as a link to its target, which gets the same depth."""
        if not is_robots(redirect.url):
            link, hops = Link(redirect.redirect_url, "", "redirect"), redirect.hops + 1
            self._add_links(redirect, [link], redirect.depth, hops, first=redirect.fetches == 0)

    def add_announced(self, found: Announced) -> None:
        robots = Source(self._round if found.round is None else found.round, found.src)
        self._add_links(robots, found.links, found.depth + 1, first=False)
        self._count_dropped(found.refused)
        self._flush_when_full()

    def _add_links(
        self,
        src: ResponseRow | Redirect | Source,
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
            dst, anchor, relation, nofollow, dates = zip(*links, strict=True)
            round_, url, depth_, hops_, first_ = (
                (value,) * len(links) for value in (src.round, src.url, depth, hops, first)
            )
            dated = map(_ms, dates) if any(dates) else dates
            rows = (round_, url, dst, anchor, relation, nofollow, dated, depth_, hops_, first_)
            for column, values in zip(self._link_columns, rows, strict=True):
                column.extend(values)
            self._waiting_chars += sum(map(len, dst))
        return len(links)

    def _count_dropped(self, reasons: Mapping[str, int]) -> None:
        self._counts.update({f"dropped_{reason}": n for reason, n in reasons.items()})

    def close(self) -> list[Row]:
        """Write what is left. Return rows of YIELD: the files, and counts."""
        self._flush()
        files = [*self._documents.close(), *self._links.close(), *self._rewriter.close()]
        return files + count_rows(self._counts)

    def _flush_when_full(self) -> None:
        if len(self._document_rows) >= FLUSH_PAGES or self._waiting_chars >= FLUSH_CHARS:
            self._flush()

    def _flush(self) -> None:
        documents = list(zip(*self._document_rows, strict=True))
        for writer, columns, schema in (
            (self._documents, documents, DOCUMENTS.schema),
            (self._links, self._link_columns, LINKS.schema),
        ):
            if columns and columns[0]:
                arrays = [
                    pa.array(column, field.type)
                    for column, field in zip(columns, schema, strict=True)
                ]
                writer.write(pa.Table.from_arrays(arrays, schema=schema))
        self._document_rows.clear()
        for column in self._link_columns:
            column.clear()
        self._waiting_chars = 0


def document_row(answer: ResponseRow, page: ParsedPage, links: int) -> tuple[Any, ...]:
    """Return a row of documents, in the order of its columns."""
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
    )


def main_and_boilerplate(text: str | None, main: str | None) -> tuple[str | None, str | None]:
    """Return the main text, and the lines of the text that are not in it, each once."""
    if main is None:
        return text, None
    lines, inside = dict.fromkeys((text or "").split("\n")), {"", *main.split("\n")}
    return main, "\n".join([line for line in lines if line not in inside])


def _ms(instant: datetime | None) -> int | None:
    return None if instant is None else int(instant.timestamp() * 1000)


def page_of(answer: ResponseRow, stored: StoredResponse) -> Page:
    fetched = datetime.fromtimestamp(answer.fetched_ms / 1000, UTC)
    return Page(answer.url, stored.headers, stored.body, fetched)


def _unreadable(answer: ResponseRow) -> ParsedPage:
    where = f"{answer.warc_file}, offset {answer.warc_offset}"
    return ParsedPage(outcome="failed", detail=f"damaged record in {where}")
