"""A parse task: reads pieces of the responses, writes the documents and links of their pages.

Bodies are read one at a time, in the order of the WARC files, and parsed in a child process
(`guarded_parser.py`). `page_writer.py` writes the rows, `postponed.py` those of pages left for
later.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from msgspec.structs import replace

from gossamer.parse.parsed_page import Page, ParsedPage
from gossamer.parse.process.guarded_parser import standing_parser
from gossamer.parse.step.body_copies import responses_of_copies
from gossamer.parse.step.cpu_budget import SPENT, Budget, domain_weights
from gossamer.parse.step.page_writer import PageWriter
from gossamer.parse.step.postponed import INTERRUPTED, POSTPONED, RETRIED, PostponedWriter
from gossamer.parse.step.sitemap_discovery import (
    is_robots,
    read_previous_sitemaps,
    read_robots_sitemaps,
)
from gossamer.parse.step.stored_responses import (
    bodies,
    piece_responses,
    read_answers,
    read_stored_redirects,
)
from gossamer.rules.filter_rules.filter_recipe import index_of
from gossamer.rules.filters import filters_of
from gossamer.state.heartbeats import Heartbeat
from gossamer.storage import opening
from gossamer.storage.names import SCRATCH
from gossamer.storage.task_output import ParquetWriter, Row, count_rows
from gossamer.storage.warc import header_values
from gossamer.tables.outcomes import FILTERED
from gossamer.web.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.parse.step.job import Job, Share
    from gossamer.parse.step.stored_responses import ResponseRow
    from gossamer.rules.filter_rules.filter_recipe import RuleFile
    from gossamer.storage.warc import StoredResponse

UNREADABLE = pa.schema([("round", pa.int32()), ("url", pa.string()), ("has_links", pa.bool_())])
UNREADABLE_DDL = "round int, url string, has_links boolean"
MAX_ALONE = 100
"""Pages per round in the second pass, during which all other cores wait."""


def parse_share(job: Job, share: Share) -> list[Row]:
    """Parse a share. Return rows of YIELD: the files written, and counts."""
    answers = _responses_of_share(job, share)
    heartbeat = Heartbeat(job.root, "parse", job.round, str(share.number), len(answers))
    writer = PageWriter(job, filters_of(job.filters))
    later = "" if job.early is None else job.early.later
    left = PostponedWriter(job.root, job.attempts[2:], alone=share.alone, later=later)
    budget = Budget(
        job.domain_cpu_s,
        answers,
        _weights_of_job(job),
        dict(job.spent),
        job.early.tasks if job.early else 1,
    )
    unreadable = _parse_pages(job, answers, writer, left, budget, heartbeat)
    _add_other_links(job, share, writer)
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
    left: PostponedWriter,
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
            allowed = allowed and not opening.exists(job.early.over)
            if not allowed:
                left.later.append(answer)
        elif not allowed:
            left.postponed.append(answer)
            heartbeat.beat(count=POSTPONED)
        return allowed

    for answer, stored in bodies(job.root, filter(affordable, answers[:most]), near=True):
        if stored is None:
            has_links = not is_robots(answer.url)
            unreadable.append({"round": answer.round, "url": answer.url, "has_links": has_links})
            if job.unreadable is not None:
                heartbeat.beat()
                continue
        before_s = parser.cpu_s
        page = _unreadable_page(answer) if stored is None else parser.parse(page_of(answer, stored))
        budget.spend(answer, parser.cpu_s - before_s)
        page = _refuse_language(job.filters.rules, answer, page)
        if page.outcome == INTERRUPTED:
            left.interrupted.append(answer)
            heartbeat.beat(count=INTERRUPTED if left.alone else RETRIED)
        else:
            writer.add(answer, page, None if stored is None else address_of(answer, stored))
            heartbeat.beat(count=page.outcome)
    return unreadable


def _add_other_links(job: Job, share: Share, writer: PageWriter) -> None:
    """Add redirects, and the sitemaps that robots.txt files name, as links."""
    responses = [f"{job.root}/{piece.path}" for piece in share.responses if not piece.number]
    for redirect in read_stored_redirects(responses):
        writer.add_redirect(redirect)
    wellknown = job.config.parse.wellknown_paths
    hosts, links = ([f"{job.root}/{file}" for file in some] for some in (share.hosts, share.links))
    for found in read_robots_sitemaps(hosts, job.fetch_began_ms, wellknown, job.config.urls):
        writer.add_announced(found)
    for found in read_previous_sitemaps(links):
        writer.add_announced(found)


def _weights_of_job(job: Job) -> dict[str, int]:
    """The weights of the domains, if they are needed and known."""
    files = (tuple([f"{job.root}/{path}" for path in some]) for some in job.files)
    return domain_weights(*files) if job.domain_cpu_s and job.early is None else {}


def _responses_of_share(job: Job, share: Share) -> list[ResponseRow]:
    """Return the pages of a share, starting with those left from earlier."""
    answers: list[ResponseRow] = []
    for piece in share.unparsed:
        answers += piece_responses(read_answers(f"{job.root}/{piece.path}", fetched=False), piece)
    moved = [f"{job.root}/{path}" for path in job.moved]
    return answers + responses_of_copies(job.root, share.responses, moved)


def page_of(answer: ResponseRow, stored: StoredResponse) -> Page:
    """Return the page, with its headers as they are since a 304 has changed them, if one has."""
    fetched = datetime.fromtimestamp(answer.fetched_ms / 1000, UTC)
    headers = stored.headers | header_values((answer.headers or "").split("\n"))
    return Page(answer.url, headers, stored.body, fetched, bool(answer.announced))


def address_of(answer: ResponseRow, stored: StoredResponse) -> str | None:
    """Return the IP address of a page's host; None if the record is of an equal page elsewhere."""
    address, target = (stored.fields.get(n) for n in ("warc-ip-address", "warc-target-uri"))
    return address if target is not None and host_of(target) == answer.host else None


def _refuse_language(rules: RuleFile | None, answer: ResponseRow, page: ParsedPage) -> ParsedPage:
    """Set the outcome `filtered` if a filter rule refuses the page's language. Its links stay."""
    if rules is None or not rules.has_languages or page.outcome != "parsed":
        return page
    index = index_of(rules)
    refused = index.refusing_language(answer.url, answer.content_type, page.language)
    return page if refused is None else replace(page, outcome=FILTERED, detail=refused.text)


def _unreadable_page(answer: ResponseRow) -> ParsedPage:
    where = f"{answer.warc_file}, offset {answer.warc_offset}"
    return ParsedPage(outcome="failed", detail=f"damaged record in {where}")
