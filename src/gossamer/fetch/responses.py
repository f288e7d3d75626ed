"""What a task writes: rows of responses, and beside them the WARC files that they name.

Both are rolled together, so that `parse` can spread a round over tasks by its files of
responses, and each of them leads to one WARC file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from gossamer.fetch.http import user_agent
from gossamer.layers import ParquetWriter, Row
from gossamer.tables import RESPONSES
from gossamer.warc import WarcWriter, payload_digest, request_head, response_head

if TYPE_CHECKING:
    from gossamer.config import FetchConfig
    from gossamer.fetch.exchange import Answer

PAGES_PER_FILE = 1_000
"""Stored pages. About what a parse task works on at a time."""
ROWS_PER_FILE = 50_000
"""Rows of any outcome: they wait in memory for their file."""


class Wanted(NamedTuple):
    """A row of the fetchlist, as far as a task needs it."""

    url: str
    host: str
    score: float
    depth: int
    hops: int
    fetches: int
    asked: bool
    etag: str | None
    last_modified: str | None
    digest: str | None
    stored_ms: int | None


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
    retry_after_s: int | None
    etag: str | None
    last_modified: str | None
    warc_file: str | None
    warc_offset: int | None


class ResponseWriter:
    """Writes the answers of one task.

    Invariant: every row that `_rows` holds names no WARC file, or that of `_warc`.
    """

    def __init__(
        self, root: str, attempts: tuple[str, str], round_: int, config: FetchConfig
    ) -> None:
        self._root = root
        self._attempt, self._warc_attempt = attempts
        self._round = round_
        self._max_bytes = int(config.warc_mb * (1 << 20))
        self._info = {"robots": "obey", "http-header-user-agent": user_agent(config)}
        self._files: list[Row] = []
        self._rows: list[ResponseRow] = []
        self._pages = 0
        self._warc = self._new_warc()

    def add(self, page: Wanted, answer: Answer) -> str:
        """Record an answer, and store its body if it is new; the outcome as it was recorded."""
        outcome, digest = answer.outcome, page.digest
        warc_file: str | None = None
        warc_offset: int | None = None
        if outcome == "ok":
            digest = payload_digest(answer.body)
            if digest == page.digest:
                outcome = "unchanged"
            else:
                warc_file, warc_offset = self._warc.path, self._store(page.url, answer, digest)
        elif outcome != "unchanged":
            digest = None
        self._rows.append(
            ResponseRow(
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
                answer.retry_after_s,
                answer.etag,
                answer.last_modified,
                warc_file,
                warc_offset,
            )
        )
        if (
            self._pages >= PAGES_PER_FILE
            or len(self._rows) >= ROWS_PER_FILE
            or self._warc.size >= self._max_bytes
        ):
            self._roll()
        return outcome

    def close(self) -> list[Row]:
        """All files, as rows of YIELD."""
        self._roll()
        return self._files

    def _store(self, url: str, answer: Answer, digest: str) -> int:
        self._pages += 1
        return self._warc.write(
            url,
            answer.started_ms,
            request_head(answer.target, answer.request_headers),
            response_head(
                answer.http_status or 0,
                answer.reason,
                answer.headers,
                len(answer.body),
                decoded=answer.decoded,
            ),
            answer.body,
            digest,
            truncated=answer.truncated,
        )

    def _roll(self) -> None:
        self._files += self._warc.close()
        if self._rows:
            columns = [
                pa.array(values, kind)
                for values, kind in zip(
                    zip(*self._rows, strict=True), RESPONSES.schema.types, strict=True
                )
            ]
            writer = ParquetWriter(self._root, "responses", self._attempt)
            writer.write(pa.RecordBatch.from_arrays(columns, schema=RESPONSES.schema))
            self._files += writer.close()
        self._rows, self._pages = [], 0
        self._warc = self._new_warc()

    def _new_warc(self) -> WarcWriter:
        return WarcWriter(self._root, self._warc_attempt, self._info)
