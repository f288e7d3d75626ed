"""A fetch task: one part of a fetchlist, whose hosts no other task fetches."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pyarrow as pa
import uvloop

from gossamer.engine.open_files import raise_file_limit
from gossamer.fetch.cluster.fetch_lease import PartLease
from gossamer.fetch.fetch_loop import FetchLoop
from gossamer.fetch.fetch_part import FetchRow, PageRows
from gossamer.fetch.host_book import HostBook
from gossamer.fetch.response_writer import ResponseWriter
from gossamer.fetch.scheme_fetchers import Fetchers
from gossamer.rules.filter_rules.filter_recipe import index_of
from gossamer.state.finished_files import Handover
from gossamer.state.heartbeats import Heartbeat
from gossamer.storage import parquet
from gossamer.storage.task_output import ParquetWriter, Row, count_rows
from gossamer.tables import FETCHLIST, HOSTS

if TYPE_CHECKING:
    from gossamer.fetch.fetch_part import FetchPart

SPARE_DESCRIPTORS = 256
"""File descriptors reserved for files when connections are kept open."""


def fetch_part(part: FetchPart, lease: PartLease | None = None) -> list[Row]:
    """Fetch a part. Return rows of YIELD: the files written, and the pages per outcome.

    `lease`: the claim to the part, if the task has one already.
    """
    if lease is None and part.run is not None:
        lease = PartLease(part.root, part.run, part.number)
    pages, book = read_part(part), HostBook.read(part.hosts)
    pa.default_memory_pool().release_unused()  # reading and sorting took 300 MB per million rows
    handover = None if part.notes is None else Handover(part.notes, len(pages))
    writer = ResponseWriter(part.root, part.attempts[:3], part.round, part.config, handover)
    heartbeat = Heartbeat(part.root, "fetch", part.round, str(part.number), len(pages))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        if lease is not None:
            lease.begin()
        visits = runner.run(_fetch_all(part, pages, book, writer, heartbeat, lease))
    heartbeat.finish()
    hosts = ParquetWriter(part.root, HOSTS.name, part.attempts[3])
    for batch in book.rows(visits.hosts(), pages.depths(), time.monotonic()):
        hosts.write(batch)
    return writer.close() + hosts.close() + count_rows(heartbeat.counts)


def read_part(part: FetchPart) -> PageRows:
    names, schema = list(FetchRow._fields), FETCHLIST.schema  # older files lack a column: nulls
    only = [("part", "=", part.number)]
    table = parquet.read_table(list(part.fetchlist), columns=names, filters=only, schema=schema)
    return PageRows(table.sort_by([("score", "descending"), ("url", "ascending")]))


async def _fetch_all(
    part: FetchPart,
    pages: PageRows,
    book: HostBook,
    writer: ResponseWriter,
    heartbeat: Heartbeat,
    lease: PartLease | None,
) -> FetchLoop:
    hosts = len(pages.columns["host"].unique())
    keep_alive = hosts <= raise_file_limit() - SPARE_DESCRIPTORS
    async with Fetchers.open(part.config, part.rules, keep_alive=keep_alive) as fetchers:
        visits = FetchLoop(
            part.root,
            pages,
            book,
            part.config,
            fetchers,
            writer,
            heartbeat,
            min_free_gb=part.min_free_gb,
            away_days=part.away_days,
            rules=None if part.filter_rules is None else index_of(part.filter_rules),
            lease=lease,
            wish_files=part.wish_files,
        )
        try:
            await visits.run()
        except BaseExceptionGroup as group:  # from the turns; the first is the cause
            raise group.exceptions[0] from None
    return visits
