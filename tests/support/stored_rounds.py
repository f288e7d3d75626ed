"""Rounds as a fetch leaves them, for tests of parsing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import structs

from gossamer.storage.task_output import ParquetWriter, layers_of
from gossamer.storage.warc import WarcWriter
from gossamer.tables import PAGES, RESPONSES
from tests.support.captures import http_capture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.config import FilterConfig
    from gossamer.state.workspace import Workspace
    from gossamer.storage.task_output import Row

HTML = "text/html; charset=utf-8"
HOME = "https://example.org/"


@dataclass(frozen=True)
class Fetched:
    """A page that a round has fetched."""

    url: str
    body: bytes = b""
    content_type: str | None = HTML
    outcome: str = "ok"
    depth: int = 0
    hops: int = 0
    fetches: int = 0
    headers: tuple[tuple[bytes, bytes], ...] = ()
    redirect_url: str | None = None
    redirect_spelling: str | None = None
    truncated: bool = False
    updated: str | None = None
    """The column `headers`."""
    announced: bool | None = None


def rows_of(columns: pa.Schema, rows: Sequence[dict[str, Any]]) -> pa.Table:
    empty = dict.fromkeys(columns.names)
    return pa.Table.from_pylist([{**empty, **row} for row in rows], schema=columns)


def store_round(
    work: Workspace, *shares: Sequence[Fetched], seeds: Sequence[str] = (HOME,), round_: int = 1
) -> None:
    """Commit seeds and what a fetch of the round would leave; a file for each share."""
    if round_ == 1:
        store_seeds(work, seeds)
    commit_fetch(work, write_shares(work, *shares, round_=round_), round_)


def commit_fetch(work: Workspace, written: Sequence[Row], round_: int = 1) -> None:
    with work.step("fetch", round_) as draft:
        draft.append = layers_of(written, round_)


def write_shares(work: Workspace, *shares: Sequence[Fetched], round_: int = 1) -> list[Row]:
    """Write what a fetch of the round would leave; a file for each share."""
    written = []
    for share in shares:
        warc = WarcWriter(work.root, work.store.attempt("warc"), {})
        responses = ParquetWriter(work.root, "responses", work.store.attempt("responses"))
        rows = [response(warc, page, round_) for page in share]
        responses.write(rows_of(RESPONSES.schema, rows))
        written += warc.close() + responses.close()
    return written


def store_seeds(work: Workspace, seeds: Sequence[str]) -> None:
    pages = ParquetWriter(work.root, "pages", work.store.attempt("pages"))
    pages.write(
        rows_of(
            PAGES.schema,
            [{"url": url, "host": url.split("/")[2], "source": "seed"} for url in seeds],
        )
    )
    with work.step("inject", 0) as draft:
        draft.append = layers_of(pages.close(), 0)


def response(warc: WarcWriter, page: Fetched, round_: int) -> dict[str, Any]:
    row = {
        "round": round_,
        "url": page.url,
        "host": page.url.split("/")[2],
        "depth": page.depth,
        "hops": page.hops,
        "fetches": page.fetches,
        "outcome": page.outcome,
        "redirect_url": page.redirect_url,
        "redirect_spelling": page.redirect_spelling,
        "fetched_ms": 1_700_000_000_000,
        "content_type": page.content_type,
        "truncated": page.truncated,
        "headers": page.updated,
        "announced": page.announced,
    }
    if page.outcome != "ok":
        return row
    headers = list(page.headers)
    if page.content_type is not None:
        headers.append((b"Content-Type", page.content_type.encode()))
    capture = http_capture(page.url, page.body, headers)
    offset = warc.write(capture, tuple(headers))
    return row | {
        "http_status": 200,
        "body_bytes": len(page.body),
        "digest": capture.digest,
        "warc_file": warc.path,
        "warc_offset": offset,
    }


def skip_update(work: Workspace) -> None:
    """Let the round end as with `update`, but no page becomes known: that takes half a second."""
    with work.step("update", work.round):
        pass


def archive_of(work: Workspace, round_: int = 1) -> str:
    (path,) = (path for path in work.paths("warc", round_) if path.endswith(".warc.gz"))
    return path


def with_filter(work: Workspace, config: FilterConfig) -> Workspace:
    return replace(work, config=structs.replace(work.config, filter=config))


def table(work: Workspace, dataset: str, round_: int = 1) -> list[dict[str, Any]]:
    """The rows of a round, in the order of their keys."""
    key = "src" if dataset == "links" else "url"
    paths = work.paths(dataset, round_)
    rows = pa.concat_tables([pq.read_table(path) for path in paths]).to_pylist() if paths else []
    return sorted(rows, key=lambda row: (row[key], row.get("dst", "")))
