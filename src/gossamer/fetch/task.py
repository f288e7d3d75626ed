"""A fetch task: one part of a fetchlist, all of whose hosts are this task's alone."""

from __future__ import annotations

import asyncio
import resource
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import uvloop

from gossamer.fetch.hosts import HostBook
from gossamer.fetch.responses import ResponseWriter, Wanted
from gossamer.fetch.schemes import Fetchers
from gossamer.fetch.visits import Visits
from gossamer.layers import ParquetWriter, Row, counted
from gossamer.monitor import Pulse
from gossamer.tables import HOSTS

if TYPE_CHECKING:
    from gossamer.config import FetchConfig
    from gossamer.urls import UrlRules

SPARE_DESCRIPTORS = 256
"""Left for files, when sockets are kept open."""
PAGES_AT_HAND = 1 << 12
"""As objects: more than are asked for at once, as a rule."""


@dataclass(frozen=True)
class Part:
    """What a task is told. Paths of the fetchlist and of hosts are absolute."""

    root: str
    round: int
    number: int
    fetchlist: tuple[str, ...]
    hosts: tuple[str, ...]
    """What is known of the part's hosts."""
    config: FetchConfig
    rules: UrlRules
    attempts: tuple[str, str, str]
    """Folders of responses, of warc and of hosts."""


class Pages:
    """The rows of a part, best first. Kept as columns: as objects a million takes 600 MB more.

    A row is made an object when its turn comes, and is at hand until its answer does.
    """

    def __init__(self, table: pa.Table) -> None:
        self.columns = {name: table.column(name).combine_chunks() for name in Wanted._fields}
        self._page = lru_cache(maxsize=PAGES_AT_HAND)(self._make)

    def __len__(self) -> int:
        return len(self.columns["url"])

    def __getitem__(self, row: int) -> Wanted:
        return self._page(row)

    def depths(self) -> dict[str, int]:
        """The least of each host's pages."""
        pages = pa.table({name: self.columns[name] for name in ("host", "depth")})
        least = pages.group_by("host").aggregate([("depth", "min")])
        return dict(zip(least["host"].to_pylist(), least["depth_min"].to_pylist(), strict=True))

    def _make(self, row: int) -> Wanted:
        return Wanted(*[column[row].as_py() for column in self.columns.values()])


def fetch_part(part: Part) -> list[Row]:
    """Fetch a part. Returns rows of YIELD: the files written, the pages of each outcome."""
    pages, book = read_part(part), HostBook.read(part.hosts)
    pa.default_memory_pool().release_unused()  # what reading and sorting took: 300 MB a million
    writer = ResponseWriter(part.root, part.attempts[:2], part.round, part.config)
    pulse = Pulse(part.root, "fetch", part.round, str(part.number), len(pages))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        visits = runner.run(_fetch_all(part, pages, book, writer, pulse))
    pulse.finish()
    hosts = ParquetWriter(part.root, HOSTS.name, part.attempts[2])
    for batch in book.rows(visits.hosts(), pages.depths(), time.monotonic()):
        hosts.write(batch)
    return writer.close() + hosts.close() + counted(pulse.counts)


def read_part(part: Part) -> Pages:
    table = pq.read_table(
        list(part.fetchlist),
        columns=list(Wanted._fields),
        filters=[("part", "=", part.number)],
    )
    return Pages(table.sort_by([("score", "descending"), ("url", "ascending")]))


async def _fetch_all(
    part: Part, pages: Pages, book: HostBook, writer: ResponseWriter, pulse: Pulse
) -> Visits:
    hosts = len(pages.columns["host"].unique())
    keep_alive = hosts <= _descriptors() - SPARE_DESCRIPTORS
    async with Fetchers.open(part.config, part.rules, keep_alive=keep_alive) as fetchers:
        visits = Visits(part.root, pages, book, part.config, fetchers, writer, pulse)
        try:
            await visits.run()
        except BaseExceptionGroup as group:  # of the turns; the first one tells what went wrong
            raise group.exceptions[0] from None
    return visits


def _descriptors() -> int:
    """How many files this process may open, raised as far as it may raise it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard if hard != resource.RLIM_INFINITY else 1 << 20
