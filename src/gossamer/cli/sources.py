"""Where the page comes from that `gossamer parse` shows: a file, its server, or a crawl.

Each gives a `Page` as the parse step would get it. What there is to tell on the way, such as
redirects, goes to the standard error; where there is no page, UsageError says why.
"""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

import typer

from gossamer.cli.answers import printable
from gossamer.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.config import Config
    from gossamer.fetch.exchange import Answer
    from gossamer.parse.page import Page
    from gossamer.parse.task import Answer as TaskAnswer
    from gossamer.urls import UrlRules
    from gossamer.workspace import Workspace

STDIN = "-"


def from_file(name: str, url: str | None, config: Config) -> Page:
    """A file, or the standard input, as if `url` had answered with it.

    Its type is what its bytes look like; where they look like any text, what its name says.
    """
    from gossamer.parse.page import Page

    body = _read(name, config.fetch.max_body_bytes)
    known_as = Path(name).name if name != STDIN else ""
    address = normal(url or f"http://localhost/{quote(known_as)}", config.urls)
    return Page(address, _guessed(known_as, body), body, datetime.now(UTC))


def from_server(url: str, config: Config) -> Page:
    """One page from its server, and the redirects that lead to it."""
    import uvloop

    return uvloop.run(_fetch(normal(url, config.urls), config))


def from_crawl(work: Workspace, url: str) -> Page:
    """What a crawl stored when the page last had a new body. Needs no engine."""
    from gossamer.parse.task import bodies, page_of

    address = normal(url, work.config.urls)
    newer: Visit | None = None
    for visit in _visits(work, address):
        if visit.outcome == "ok":
            ((answer, stored),) = bodies(work.root, [visit.answer])
            if stored is None:
                where = f"{answer.warc_file}, offset {answer.warc_offset}"
                raise UsageError(address, f"no whole record in {where}")
            if newer is not None:
                tell(f"{newer.told()}; this is what round {visit.round} stored")
            return page_of(answer, stored)
        if newer is None and visit.outcome not in ("unchanged", "postponed"):
            newer = visit
    what = "no page is stored" + (f"; {newer.told()}" if newer is not None else "")
    raise UsageError(address, what, f"gossamer parse {address} --crawl {work.root}")


def normal(url: str, rules: UrlRules) -> str:
    from gossamer.urls import normalize

    address = normalize(url, None, rules)
    if address is None:
        raise UsageError(
            printable(url), "not a URL that can be crawled", f"one of {', '.join(rules.schemes)}"
        )
    return address


def tell(text: str) -> None:
    typer.echo(f"gossamer: {printable(text)}", err=True)


class Visit(NamedTuple):
    """A row of responses."""

    round: int
    outcome: str
    detail: str | None
    redirect_url: str | None
    answer: TaskAnswer

    def told(self) -> str:
        more = self.redirect_url or self.detail
        return f"round {self.round}: {self.outcome}" + (f", {more}" if more else "")


def _visits(work: Workspace, url: str) -> Iterator[Visit]:
    """The rows of responses of a URL, the newest first."""
    from gossamer.lookup import Lookup
    from gossamer.parse.task import Answer as TaskAnswer

    told = Visit._fields[:-1]
    for row in Lookup(work).rows("responses", "url", url, [*told, *TaskAnswer._fields]):
        answer = TaskAnswer(*[row[name] for name in TaskAnswer._fields])
        yield Visit(answer=answer, **{name: row[name] for name in told})


async def _fetch(url: str, config: Config) -> Page:
    from gossamer.fetch.exchange import Request
    from gossamer.fetch.schemes import Fetchers
    from gossamer.parse.page import Page

    async with Fetchers.open(config.fetch, config.urls, keep_alive=False) as fetchers:
        for _ in range(config.filter.max_redirects + 1):
            answer = await fetchers.fetch(Request(url, config.fetch.max_body_bytes))
            if answer.redirect_url is None:
                break
            tell(f"{url}: {answer.detail}, to {answer.redirect_url}")
            url = answer.redirect_url
        else:
            raise UsageError(url, f"the last of {config.filter.max_redirects + 1} redirects")
    if answer.outcome != "ok":
        ours = answer.outcome == "forbidden_address"
        remedy = "give --crawl FOLDER, of a crawl that may go there" if ours else ""
        raise UsageError(url, printable(f"{answer.outcome}: {answer.detail}"), remedy)
    if answer.truncated:
        why = answer.detail or "fetch.max_body_bytes"
        tell(f"{url}: cut after {len(answer.body):,} bytes ({why})")
    fetched = datetime.fromtimestamp(answer.started_ms / 1000, UTC)
    return Page(url, _headers(answer), answer.body, fetched)


def _headers(answer: Answer) -> dict[str, str]:
    """What the parse step would read in the archive."""
    from gossamer.warc import head_fields, response_head

    if answer.http_status is None:
        return {"content-type": answer.content_type or ""}
    size = len(answer.body)
    return head_fields(
        response_head(
            answer.http_status, answer.reason, answer.headers, size, decoded=answer.decoded
        )
    )


def _read(name: str, limit: int) -> bytes:
    """At most `limit` bytes."""
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
            "give a crawl's folder, a file, or a URL with its scheme",
        ) from None
    if len(body) > limit:
        tell(f"{name}: cut after {limit:,} bytes (fetch.max_body_bytes)")
    return body[:limit]


def _guessed(name: str, body: bytes) -> dict[str, str]:
    """Headers. Texts of all kinds look alike, and then the name tells."""
    from gossamer.fetch.resource import media_type
    from gossamer.parse.sniff import document_type

    named = media_type(os.fsencode(name)) if document_type("", body) == "text/plain" else None
    return {} if named is None else {"content-type": named}
