"""A task's output: rows of `responses`, and the WARC files that they name.

There is a row for each page. The archive holds every exchange whose response had a head: pages,
redirects, errors, robots.txt files. A body that is already stored, by an earlier round or for
another URL of the same file, is not stored again: its exchange becomes a `revisit`, and the page's
row names the record that holds the body. An equal body with other headers that parsers read
(`parsed_headers.py`) is another page, and is stored again.

If a 304 changes such headers, the page has to be parsed again, from the body that is stored. A task
does not know where that is. It writes the row to a scratch file, and the step adds the place
(`revised_pages.py`).

Both kinds of file are closed together. So each file of `responses` refers to one WARC file, and
`parse` can distribute a round over tasks by these files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from gossamer.fetch.http.fetcher import user_agent
from gossamer.fetch.parsed_headers import (
    CONTENT_TYPE,
    are_same_headers,
    header_value,
    parsed_headers,
    update_headers,
)
from gossamer.storage.names import SCRATCH
from gossamer.storage.task_output import ParquetWriter, Row
from gossamer.storage.warc import (
    Capture,
    Known,
    WarcWriter,
    payload_digest,
    request_head,
    response_head,
)
from gossamer.tables import RESPONSES

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from gossamer.config import FetchConfig
    from gossamer.fetch.exchange import FetchResult
    from gossamer.fetch.fetch_part import FetchRow
    from gossamer.state.finished_files import Handover

PAGES_PER_FILE = 1_000
"""Stored pages per file: about as many as a parse task processes at once."""
SHARE_PER_FILE = 4
"""Files that are handed over hold at most a quarter of the pages that are left, so that parsing
begins early, and few pages are left when the fetch ends."""
MIN_PAGES_PER_FILE = 100
"""But at least so many: a crawl keeps the files."""
ROWS_PER_FILE = 20_000
"""Rows of any outcome per file. They are kept in memory, at 1 KB each with their CDXJ lines."""


class ResponseRow(NamedTuple):
    """The columns of responses, in their order."""

    round: int
    url: str
    host: str
    depth: int
    hops: int
    fetches: int
    outcome: str
    detail: str | None
    http_status: int | None
    fetched_ms: int
    elapsed_ms: int
    content_type: str | None
    body_bytes: int | None
    truncated: bool
    digest: str | None
    redirect_url: str | None
    redirect_spelling: str | None
    retry_after_s: int | None
    etag: str | None
    last_modified: str | None
    headers: str | None
    warc_file: str | None
    warc_offset: int | None
    announced: bool | None


class ResponseWriter:
    """Writes the results of one task.

    Invariants
      * Every row in `_rows` names either no WARC file or that of `_warc`, so both are closed
        together.
      * A row is added only after its exchange was archived, so they agree even after StoreFull.
    """

    def __init__(
        self,
        root: str,
        attempts: tuple[str, str, str],
        round_: int,
        config: FetchConfig,
        handover: Handover | None = None,
    ) -> None:
        """`attempts`: the folders of responses, warc and scratch."""
        self._root = root
        self._attempt, self._warc_attempt, scratch = attempts
        self._round = round_
        self._max_bytes = int(config.warc_mb * (1 << 20))
        self._info = {"robots": "obey", "http-header-user-agent": user_agent(config)}
        self._files: list[Row] = []
        self._rows: list[ResponseRow] = []
        self._revised: list[ResponseRow] = []
        self._revised_file = ParquetWriter(root, SCRATCH, scratch, schema=RESPONSES.schema)
        self._pages = 0
        self._handover = handover
        self._left = 0 if handover is None else handover.pages
        self._warc = self._new_warc()

    def add(self, page: FetchRow, answer: FetchResult, statements: Sequence[str] = ()) -> str:
        """Archive an exchange, add its row, and return the outcome in that row.

        `statements`: what robots.txt says about uses of the page. The outcome is `unchanged`
        instead of `ok` if the page's body is already stored, and would be parsed as it was. Raises
        StoreFull.
        """
        outcome, digest = answer.outcome, page.digest
        headers, known = parsed_headers(answer, statements), page.headers or ""
        warc_file: str | None = None
        warc_offset: int | None = None
        is_revised = False
        if outcome == "ok":
            digest = payload_digest(answer.body)
            if digest == page.digest and are_same_headers(headers, known):
                outcome = "unchanged"
        elif outcome == "unchanged":
            updated = update_headers(known, headers)
            is_revised = not are_same_headers(updated, known)
        else:
            digest = None
        if is_archived(answer):
            notes = {"depth": page.depth, "redirects": page.hops, "outcome": outcome}
            capture = make_capture(page.url, answer, digest, notes)
            if outcome == "unchanged":
                not_modified = answer.outcome == "unchanged"
                self._warc.revisit(capture, Known(page.url, page.stored_ms, not_modified))
            else:
                offset = self._warc.write(capture, likeness(answer, headers))
                if outcome == "ok":
                    warc_file, warc_offset = self._warc.path, offset
                    self._pages += 1
        row = ResponseRow(
            self._round,
            page.url,
            page.host,
            page.depth,
            page.hops,
            page.fetches,
            outcome,
            answer.detail,
            answer.http_status,
            answer.started_ms,
            answer.elapsed_ms,
            answer.content_type,
            len(answer.body) if answer.outcome == "ok" else None,
            answer.truncated,
            digest,
            answer.redirect_url,
            answer.redirect_spelling,
            answer.retry_after_s,
            answer.etag,
            answer.last_modified,
            headers if outcome in ("ok", "unchanged") else None,
            warc_file,
            warc_offset,
            page.announced,
        )
        if is_revised:
            self._revised.append(
                row._replace(
                    detail="other headers for the stored body",
                    content_type=header_value(updated, CONTENT_TYPE),
                    etag=answer.etag or page.etag,
                    last_modified=answer.last_modified or page.last_modified,
                    headers=updated,
                )
            )
        else:
            self._rows.append(row)
        self._roll_when_full()
        return outcome

    def add_hop(self, url: str, answer: FetchResult) -> None:
        """Archive an exchange that has no row: of a robots.txt, or before that of a page.

        Raises StoreFull.
        """
        if is_archived(answer):
            capture = make_capture(url, answer, None, {"outcome": answer.outcome})
            self._warc.write(capture, likeness(answer, parsed_headers(answer)))
            self._roll_when_full()

    def close(self) -> list[Row]:
        """Close the files and return all that were written, as rows of YIELD."""
        self._roll()
        return self._files + self._revised_file.close()

    def _roll_when_full(self) -> None:
        if (
            self._pages >= self._pages_per_file()
            or len(self._rows) + len(self._revised) >= ROWS_PER_FILE
            or self._warc.size >= self._max_bytes
        ):
            self._roll()

    def _roll(self) -> None:
        self._files += self._warc.close()
        if self._revised:
            self._revised_file.write(_batch_of(self._revised))
        if self._rows:
            writer = ParquetWriter(self._root, "responses", self._attempt)
            writer.write(_batch_of(self._rows))
            closed = writer.close()
            self._files += closed
            self._left -= len(self._rows) + len(self._revised)
            if self._handover is not None:
                self._handover.leave(self._root, closed[0])
        self._rows, self._revised, self._pages = [], [], 0
        self._warc = self._new_warc()

    def _pages_per_file(self) -> int:
        if self._handover is None:
            return PAGES_PER_FILE
        return min(max(self._left // SHARE_PER_FILE, MIN_PAGES_PER_FILE), PAGES_PER_FILE)

    def _new_warc(self) -> WarcWriter:
        return WarcWriter(self._root, self._warc_attempt, self._info)


def _batch_of(rows: Sequence[ResponseRow]) -> pa.RecordBatch:
    columns = [
        pa.array(values, kind)
        for values, kind in zip(zip(*rows, strict=True), RESPONSES.schema.types, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=RESPONSES.schema)


def is_archived(answer: FetchResult) -> bool:
    """Whether to archive an exchange: every page, and every response with a head."""
    return bool(answer.headers) or answer.outcome == "ok"


def make_capture(
    url: str, answer: FetchResult, digest: str | None, notes: Mapping[str, object]
) -> Capture:
    """Convert an exchange for the archive. `digest` is that of the body, if it is known."""
    is_http = answer.http_status is not None
    unmodified = answer.outcome == "unchanged"
    head = request = b""
    if is_http:
        body_bytes = None if unmodified else len(answer.body)
        head = response_head(
            answer.http_status or 0,
            answer.reason,
            answer.headers,
            body_bytes,
            decoded=answer.decoded,
        )
        request = request_head(answer.target, answer.request_headers)
    return Capture(
        url,
        answer.started_ms,
        answer.body,
        digest if digest is not None or unmodified else payload_digest(answer.body),
        head,
        request,
        answer.http_status,
        answer.content_type or "",
        answer.address,
        truncation(answer),
        {"fetchTimeMs": answer.elapsed_ms, **notes},
    )


def truncation(answer: FetchResult) -> str | None:
    """The value of WARC-Truncated (ISO 28500 §5.13): why a body is incomplete."""
    if not answer.truncated:
        return None
    if answer.outcome == "timeout":
        return "time"
    if answer.outcome == "ok":  # it has a detail only if the body broke off
        return "length" if answer.detail is None else "disconnect"
    return "unspecified"


def likeness(answer: FetchResult, headers: str) -> Hashable:
    """What two responses with the same body must have in common to be stored only once.

    `headers`: those that parsers read.
    """
    return answer.http_status, headers
