"""Where `gossamer inspect` gets a page from: a file, its server, or a crawl.

Each source returns a `Page` as the parse step would get it, and raises UsageError if there is
none. Notes, for instance about redirects, are printed to standard error.
"""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

import typer

from gossamer.cli.terminal import printable
from gossamer.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.config import Config
    from gossamer.fetch.exchange import FetchResult
    from gossamer.parse.parsed_page import Page
    from gossamer.parse.step.stored_responses import ResponseRow
    from gossamer.state.workspace import Workspace
    from gossamer.web.urls import UrlRules

STDIN = "-"


def page_of_file(name: str, url: str | None, config: Config) -> Page:
    """Return a file, or standard input, as if it were the response of `url`.

    The type is sniffed from the bytes; for text it follows from the file's name.
    """
    from gossamer.parse.parsed_page import Page

    body = _read_limited(name, config.fetch.max_body_bytes)
    known_as = Path(name).name if name != STDIN else ""
    address = normal_source_url(url or f"http://localhost/{quote(known_as)}", config.urls)
    return Page(address, _guess_file_headers(known_as, body), body, datetime.now(UTC))


def page_of_server(url: str, config: Config, folder: str) -> Page:
    """Fetch one page, following redirects. `folder` is the crawl's, for files with secrets."""
    import uvloop
    from msgspec import structs

    from gossamer.config import reveal_secrets

    config = structs.replace(config, fetch=reveal_secrets(config.fetch, folder))
    return uvloop.run(_fetch_to_inspect(normal_source_url(url, config.urls), config))


def page_of_crawl(work: Workspace, url: str) -> Page:
    """Return the newest body that a crawl has stored of a page. Needs no engine."""
    from gossamer.parse.step.parse_task import page_of
    from gossamer.parse.step.stored_responses import bodies

    address = normal_source_url(url, work.config.urls)
    newer: Visit | None = None
    for visit in _visits_to_inspect(work, address):
        if visit.outcome == "ok":
            ((answer, stored),) = bodies(work.root, [visit.answer])
            if stored is None:
                where = answer.warc_file and f": {answer.warc_file}, offset {answer.warc_offset}"
                raise UsageError(
                    address,
                    f"its record is damaged or missing{where or ''}",
                    f"gossamer check {work.root} names damaged files; restore them from a copy",
                )
            if newer is not None:
                note_source(f"{newer.summary()}; shown is the page that round {visit.round} stored")
            return page_of(answer, stored)
        if newer is None and visit.outcome not in ("unchanged", "postponed"):
            newer = visit
    what = "no page is stored" + (f"; {newer.summary()}" if newer is not None else "")
    raise UsageError(address, what, f"gossamer inspect {address} --crawl {work.root}")


def normal_source_url(url: str, rules: UrlRules) -> str:
    from gossamer.web.urls import normalize

    address = normalize(url, None, rules)
    if address is None:
        raise UsageError(
            printable(url),
            "is not a URL that can be crawled",
            f"give one with a scheme of urls.schemes: {', '.join(rules.schemes)}",
        )
    return address


def note_source(text: str) -> None:
    typer.echo(f"gossamer: {printable(text)}", err=True)


class Visit(NamedTuple):
    """One visit to a page: its row of the dataset responses."""

    round: int
    outcome: str
    detail: str | None
    redirect_url: str | None
    answer: ResponseRow

    def summary(self) -> str:
        more = self.redirect_url or self.detail
        return f"round {self.round}: {self.outcome}" + (f", {more}" if more else "")


def _visits_to_inspect(work: Workspace, url: str) -> Iterator[Visit]:
    """Yield the visits to a URL, the newest first."""
    from gossamer.parse.step.stored_responses import ResponseRow
    from gossamer.state.lookup import Lookup

    shown = Visit._fields[:-1]
    columns = list(dict.fromkeys((*shown, *ResponseRow._fields)))
    for row in Lookup(work).rows("responses", "url", url, columns):
        answer = ResponseRow(*[row[name] for name in ResponseRow._fields])
        yield Visit(answer=answer, **{name: row[name] for name in shown})


async def _fetch_to_inspect(url: str, config: Config) -> Page:
    from gossamer.fetch.exchange import Request
    from gossamer.fetch.scheme_fetchers import Fetchers
    from gossamer.parse.parsed_page import Page

    requested = url
    async with Fetchers.open(config.fetch, config.urls, keep_alive=False) as fetchers:
        for _ in range(config.filter.max_redirects + 1):
            answer = await fetchers.fetch(Request(requested, config.fetch.max_body_bytes))
            if answer.redirect_url is None:
                break
            requested = answer.redirect_spelling or answer.redirect_url
            note_source(f"{url}: {answer.detail}, to {requested}")
            url = answer.redirect_url
        else:
            raise UsageError(
                url,
                f"was reached after {config.filter.max_redirects + 1} redirects; gave up",
                "with --crawl, filter.max_redirects sets the limit",
            )
    if answer.outcome != "ok":
        refused = answer.outcome == "forbidden_address"
        remedy = "give --crawl FOLDER of a crawl whose settings allow this address"
        remedy = remedy if refused else ""
        raise UsageError(url, printable(f"{answer.outcome}: {answer.detail}"), remedy)
    if answer.truncated:
        why = answer.detail or "fetch.max_body_bytes"
        note_source(f"{url}: cut after {len(answer.body):,} bytes ({why})")
    fetched = datetime.fromtimestamp(answer.started_ms / 1000, UTC)
    return Page(url, _headers_for_parser(answer), answer.body, fetched)


def _headers_for_parser(answer: FetchResult) -> dict[str, str]:
    """The headers of the response as the parse step would read them from the archive."""
    from gossamer.storage.warc import head_fields, response_head

    if answer.http_status is None:
        return {"content-type": answer.content_type or ""}
    size = len(answer.body)
    return head_fields(
        response_head(
            answer.http_status, answer.reason, answer.headers, size, decoded=answer.decoded
        )
    )


def _read_limited(name: str, limit: int) -> bytes:
    """Read at most `limit` bytes of a file or of standard input."""
    if name == STDIN and sys.stdin is None:  # the calling process closed it
        raise UsageError("standard input", "is closed", "give a file")
    try:
        if name == STDIN:
            body = sys.stdin.buffer.read(limit + 1)
        else:
            with Path(name).open("rb") as file:
                body = file.read(limit + 1)
    except OSError as error:
        raise UsageError(
            name,
            f"cannot be read: {error.strerror}",
            "give a readable file, or a URL with its scheme (https://…)",
        ) from None
    if len(body) > limit:
        note_source(f"{name}: cut after {limit:,} bytes (fetch.max_body_bytes)")
    return body[:limit]


def _guess_file_headers(name: str, body: bytes) -> dict[str, str]:
    """A content-type header guessed from the file's name, if the bytes are some kind of text."""
    from gossamer.fetch.file_results import media_type
    from gossamer.parse.reading.type_sniffing import document_type

    named = media_type(os.fsencode(name)) if document_type("", body) == "text/plain" else None
    return {} if named is None else {"content-type": named}
