"""A parse task: some files of responses, and the documents and links of their pages.

Bodies are read one at a time, in the order of the WARC files, and parsed beside this process
(`guard.py`). Rows are gathered and written some hundred pages at a time.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from gossamer.errors import MissingFile
from gossamer.filters import Filters
from gossamer.layers import ParquetWriter, Row, counted
from gossamer.monitor import Pulse
from gossamer.parse.discovery import announced, announced_before, is_robots
from gossamer.parse.guard import standing_parser
from gossamer.parse.page import Link, Page, ParsedPage
from gossamer.parse.sniff import essence
from gossamer.tables import DOCUMENTS, LINKS
from gossamer.warc import WarcReader

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gossamer.config import Config
    from gossamer.parse.discovery import Announced
    from gossamer.parse.page import Rules
    from gossamer.warc import StoredResponse

FLUSH_PAGES = 500
FLUSH_CHARS = 32_000_000
"""Of text and links, whichever comes first; the text twice, as it is and as main and around."""


@dataclass(frozen=True)
class Job:
    """What all tasks of a step are told."""

    root: str
    round: int
    config: Config
    rules: Rules
    seed_hosts: tuple[str, ...]
    year: int
    """Now, to tell calendars without end."""
    fetch_began_ms: int
    """The round's: of robots.txt files, what is younger is new."""
    attempts: tuple[str, str]
    """Folders of documents and of links."""


@dataclass(frozen=True)
class Share:
    """What one task is told: its number, and its files, relative to the crawl."""

    number: int
    responses: tuple[str, ...]
    hosts: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    """Of the time that the round was parsed before."""


class Answer(NamedTuple):
    """The columns of responses that parsing needs."""

    url: str
    host: str
    depth: int
    fetches: int
    fetched_ms: int
    content_type: str | None
    body_bytes: int
    digest: str
    warc_file: str
    warc_offset: int


class Redirect(NamedTuple):
    """The columns of responses that tell a redirect."""

    url: str
    redirect_url: str
    depth: int
    hops: int
    fetches: int


def parse_share(job: Job, share: Share) -> list[Row]:
    """Parse a share. Returns rows of YIELD: the files written, what was found and dropped."""
    responses, hosts, links = (
        [f"{job.root}/{file}" for file in files]
        for files in (share.responses, share.hosts, share.links)
    )
    answers = read_answers(responses)
    pulse = Pulse(job.root, "parse", job.round, str(share.number), len(answers))
    filters = Filters.from_config(job.config.filter, job.seed_hosts, year=job.year)
    writer = PageWriter(job, filters)
    parser = standing_parser(job.rules)
    for answer, stored in bodies(job.root, answers):
        page = _unreadable(answer) if stored is None else parser.parse(page_of(answer, stored))
        writer.add(answer, page)
        pulse.beat(count=page.outcome)
    for redirect in read_redirects(responses):
        writer.add_redirect(redirect)
    wellknown = job.config.parse.wellknown_paths
    for found in announced(hosts, job.fetch_began_ms, wellknown, job.config.urls):
        writer.add_announced(found)
    for found in announced_before(links):
        writer.add_announced(found)
    pulse.finish()
    return writer.close() + counted(pulse.counts)


def read_answers(paths: Sequence[str]) -> list[Answer]:
    """The rows that brought a new body, in the order of the WARC files."""
    table = pq.read_table(
        list(paths), columns=list(Answer._fields), filters=[("outcome", "=", "ok")]
    )
    columns = [table.column(name).to_pylist() for name in Answer._fields]
    rows = [Answer(*row) for row in zip(*columns, strict=True)]
    return sorted(rows, key=lambda row: (row.warc_file, row.warc_offset))


def read_redirects(paths: Sequence[str]) -> list[Redirect]:
    """The rows that sent us elsewhere, to a URL that can be crawled."""
    only = [("outcome", "=", "redirect")]
    table = pq.read_table(list(paths), columns=list(Redirect._fields), filters=only)
    columns = [table.column(name).to_pylist() for name in Redirect._fields]
    return [Redirect(*row) for row in zip(*columns, strict=True) if row[1]]


def bodies(root: str, answers: Sequence[Answer]) -> Iterator[tuple[Answer, StoredResponse | None]]:
    """Each answer with what WARC stored; None where its record is damaged.

    Answers that share a record, since their bodies are equal, follow each other, and it is read
    once. Raises MissingFile where a whole WARC file is gone.
    """
    for file, of_file in groupby(answers, key=attrgetter("warc_file")):
        path = Path(root, file)
        if not path.exists():
            raise MissingFile(
                path, "responses name this file, but it is gone", "put it back from a copy"
            )
        with WarcReader(path) as reader:
            for offset, sharing in groupby(of_file, key=attrgetter("warc_offset")):
                stored = reader.at(offset)
                for answer in sharing:
                    yield answer, stored


class PageWriter:
    """The two files of a task, and the rows that wait to be written to them.

    Invariant: no two rows of links have the same source and target. A robots.txt that was fetched
    as a page leads nowhere, since what it names is known from the dataset hosts.
    """

    def __init__(self, job: Job, filters: Filters) -> None:
        documents, links = job.attempts
        self._round = job.round
        self._filters = filters
        self._documents = ParquetWriter(job.root, DOCUMENTS.name, documents)
        self._links = ParquetWriter(job.root, LINKS.name, links)
        self._document_rows: list[tuple[Any, ...]] = []
        self._link_rows: list[tuple[Any, ...]] = []
        self._waiting_chars = 0
        self._counts: Counter[str] = Counter()

    def add(self, answer: Answer, page: ParsedPage) -> None:
        found = () if is_robots(answer.url) else page.links
        links = self._add_links(answer.url, found, answer.depth + 1, first=answer.fetches == 0)
        self._counts["documents"] += 1
        self._count_dropped(page.refused)
        self._counts.update(f"unmatched_{field.replace('.', '_')}" for field in page.unmatched)
        self._document_rows.append(document_row(self._round, answer, page, links))
        self._waiting_chars += 2 * len(page.text or "") + len(page.main_text or "")
        self._flush_when_full()

    def add_redirect(self, redirect: Redirect) -> None:
        """A redirect is a link that costs no depth: its target is a page of its own."""
        if not is_robots(redirect.url):
            link, hops = Link(redirect.redirect_url, "", "redirect"), redirect.hops + 1
            self._add_links(redirect.url, [link], redirect.depth, hops, first=redirect.fetches == 0)

    def add_announced(self, found: Announced) -> None:
        self._add_links(found.src, found.links, found.depth + 1, first=False)
        self._count_dropped(found.refused)
        self._flush_when_full()

    def _add_links(
        self, src: str, found: Sequence[Link], depth: int, hops: int = 0, *, first: bool
    ) -> int:
        """Rows of the links that pass the filters; how many these are."""
        reasons = self._filters.reject_all([link.dst for link in found], depth, hops)
        links = [link for link, reason in zip(found, reasons, strict=True) if reason is None]
        if len(links) < len(found):
            self._count_dropped(Counter(reason for reason in reasons if reason is not None))
        self._counts["links"] += len(links)
        self._waiting_chars += sum(len(link.dst) for link in links)
        self._link_rows.extend(
            (self._round, src, *about, _ms(dated), depth, hops, first) for *about, dated in links
        )
        return len(links)

    def _count_dropped(self, reasons: Mapping[str, int]) -> None:
        self._counts.update({f"dropped_{reason}": n for reason, n in reasons.items()})

    def close(self) -> list[Row]:
        """Rows of YIELD: the files, and what was counted."""
        self._flush()
        return self._documents.close() + self._links.close() + counted(self._counts)

    def _flush_when_full(self) -> None:
        if len(self._document_rows) >= FLUSH_PAGES or self._waiting_chars >= FLUSH_CHARS:
            self._flush()

    def _flush(self) -> None:
        for writer, rows, schema in (
            (self._documents, self._document_rows, DOCUMENTS.schema),
            (self._links, self._link_rows, LINKS.schema),
        ):
            if rows:
                columns = zip(*rows, strict=True)
                arrays = [
                    pa.array(column, field.type)
                    for column, field in zip(columns, schema, strict=True)
                ]
                writer.write(pa.Table.from_arrays(arrays, schema=schema))
                rows.clear()
        self._waiting_chars = 0


def document_row(round_: int, answer: Answer, page: ParsedPage, links: int) -> tuple[Any, ...]:
    """The columns of documents, in their order."""
    asked = page.robots
    main, around = main_and_around(page.text, page.main_text)
    return (
        round_,
        answer.url,
        answer.host,
        page.outcome,
        page.detail,
        answer.fetched_ms,
        page.content_type or essence(answer.content_type or "") or None,
        page.charset,
        page.title,
        page.headline,
        page.description,
        page.headings,
        page.text,
        main,
        around,
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
        asked.noindex,
        asked.nofollow,
        asked.noarchive,
        asked.nosnippet,
        _ms(asked.unavailable_after),
        links,
        answer.body_bytes,
        answer.digest,
    )


def main_and_around(text: str | None, main: str | None) -> tuple[str | None, str | None]:
    """The main text, and the lines of all the text that it has not, each once."""
    if main is None:
        return text, None
    lines, inside = dict.fromkeys((text or "").split("\n")), {"", *main.split("\n")}
    return main, "\n".join(line for line in lines if line not in inside)


def _ms(instant: datetime | None) -> int | None:
    return None if instant is None else int(instant.timestamp() * 1000)


def page_of(answer: Answer, stored: StoredResponse) -> Page:
    fetched = datetime.fromtimestamp(answer.fetched_ms / 1000, UTC)
    return Page(answer.url, stored.headers, stored.body, fetched)


def _unreadable(answer: Answer) -> ParsedPage:
    where = f"{answer.warc_file}, offset {answer.warc_offset}"
    return ParsedPage(outcome="failed", detail=f"no whole record in {where}")
