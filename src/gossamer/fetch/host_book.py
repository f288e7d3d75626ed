"""A fetch task's records of hosts, which it passes on to later rounds as rows of `hosts`.

Each robots.txt is kept as bytes, as are wish files (`wish_files.py`): `parse_robots_txt` caches the
latest few thousand parsed files, and many hosts send the same file.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
from cachetools import FIFOCache

from gossamer.fetch.wish_files import WishFiles
from gossamer.storage import parquet
from gossamer.tables import HOSTS
from gossamer.tables.outcomes import FAILED, HEARD
from gossamer.web import robots_txt
from gossamer.web.urls import host_of, normalize_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Self

    from gossamer.fetch.back_queue import Host
    from gossamer.fetch.exchange import FetchResult
    from gossamer.web.robots_txt import Robots

MAX_ROBOTS_BYTES = 256 << 20
"""For all robots.txt of a task; beyond it the oldest are dropped, and fetched again if needed."""
ROWS_PER_BATCH = 1_000


class RobotsFile(NamedTuple):
    """A robots.txt as it was fetched."""

    fetched_ms: int
    status: int
    body: bytes


@dataclass(slots=True)
class HostRecord:
    """The columns of `hosts` that this module keeps; `rows` adds those of the frontier."""

    depth: int | None = None
    address: str | None = None
    crawl_delay_s: float | None = None
    outcome: str | None = None
    contacted_ms: int = 0
    latency_ms: int = 0
    requests: int = 0
    pages: int = 0
    bytes: int = 0
    ready_ms: int = 0
    failures: int = 0
    sitemaps: list[str] | None = None
    away_ms: int | None = None
    touched: bool = False


class HostBook:
    """The records of one task's hosts, and their robots.txt."""

    def __init__(self) -> None:
        self._records: dict[str, HostRecord] = {}
        self._robots: FIFOCache[str, RobotsFile] = FIFOCache(
            MAX_ROBOTS_BYTES, lambda file: len(file.body)
        )
        self.wish_files = WishFiles()

    @classmethod
    def read(cls, paths: Sequence[str]) -> Self:
        """Read from Parquet files with the columns of `hosts` and one row per host."""
        book = cls()
        for path in paths:
            for batch in parquet.open_parquet(path).iter_batches(columns=HOSTS.column_names):
                for row in batch.to_pylist():
                    book._take(row)
        return book

    def _take(self, row: dict[str, Any]) -> None:
        for kept in row["robots"] or ():
            file = RobotsFile(kept["fetched_ms"], kept["status"], kept["body"] or b"")
            self.keep_robots(kept["origin"], file)
        self.wish_files.take(row.get("wish_files") or ())
        names = HostRecord.__dataclass_fields__.keys() & row.keys()
        self._records[row["host"]] = HostRecord(**{name: row[name] for name in names})

    def record(self, host: str) -> HostRecord:
        if host not in self._records:
            self._records[host] = HostRecord()
        return self._records[host]

    def records(self) -> Iterable[tuple[str, HostRecord]]:
        return self._records.items()

    def keep_robots(self, origin: str, file: RobotsFile) -> None:
        self._robots[origin] = file

    def robots(self, origin: str, now_ms: int) -> Robots | None:
        """The rules of an origin, or None if its robots.txt is unknown or too old."""
        file = self._robots.get(origin)
        if file is None:
            return None
        if not 0 <= now_ms - file.fetched_ms < robots_txt.keep_robots_s(file.status) * 1000:
            del self._robots[origin]
            return None
        return robots_txt.judge_robots_txt(file.status, file.body)

    def record_contact(self, host: str, answer: FetchResult) -> None:
        """Record a request to a host that has ended."""
        record = self.record(host)
        record.touched = True
        record.address = answer.address or record.address
        record.outcome = answer.outcome
        record.contacted_ms = answer.started_ms + answer.elapsed_ms
        record.latency_ms = answer.elapsed_ms
        record.requests += 1
        record.bytes += len(answer.body)

    def record_outcome(self, host: str, outcome: str, asked_ms: int) -> None:
        """Record what became of a page: since when the host is away, if it is."""
        if outcome in FAILED:
            self.record_silence(host, asked_ms)
        elif outcome in HEARD:
            self.record(host).away_ms = None

    def record_silence(self, host: str, now_ms: int) -> int:
        """Record that a host did not answer with what was asked for.

        Returns for how many milliseconds it has not.
        """
        record = self.record(host)
        if record.away_ms is None or record.away_ms > now_ms:  # the clock was set back
            record.away_ms = now_ms
        return now_ms - record.away_ms

    def rows(
        self, hosts: Iterable[Host], depths: Mapping[str, int], now_s: float
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the hosts that were contacted.

        `depths` holds the task's hosts with the smallest depth among their pages. A host that is
        already known keeps its depth: `update` lowers it, and the depths of its sitemaps with it.
        Other hosts, contacted because a robots.txt redirected to them, get no row here: if another
        task fetches them, it writes their row. `now_s` is on the frontier's clock.
        """
        now_ms = int(time.time() * 1000)
        files: dict[str, list[dict[str, Any]]] = {}
        for origin, file in self._robots.items():
            files.setdefault(host_of(f"{origin}/"), []).append({"origin": origin} | file._asdict())
        wish_files = self.wish_files.rows()
        rows = []
        for host in hosts:
            record = self._records.get(host.name)
            if record is None or not record.touched or host.name not in depths:
                continue
            depth = depths[host.name]
            wait_s = host.ready_s - now_s if isfinite(host.ready_s) else 0
            row = {name: getattr(record, name) for name in HostRecord.__slots__}
            kept = files.get(host.name, [])
            row |= {"host": host.name, "robots": kept}
            row |= {"wish_files": wish_files.get(host.name, [])}
            row |= {"sitemaps": _sitemaps_elsewhere(host.name, kept) if kept else record.sitemaps}
            row |= {"depth": depth if record.depth is None else record.depth}
            row |= {"failures": host.failures, "ready_ms": now_ms + int(max(wait_s, 0) * 1000)}
            rows.append(row)
            if len(rows) >= ROWS_PER_BATCH:
                yield pa.RecordBatch.from_pylist(rows, schema=HOSTS.schema)
                rows.clear()
        if rows:
            yield pa.RecordBatch.from_pylist(rows, schema=HOSTS.schema)


def _sitemaps_elsewhere(host: str, files: Iterable[Mapping[str, Any]]) -> list[str]:
    """The sitemaps on other hosts that the robots.txt files of a host name, normalised."""
    found: set[str] = set()
    for file in files:
        rules = robots_txt.judge_robots_txt(file["status"], file["body"])
        if rules is not None and rules.sitemaps:
            found.update(filter(None, normalize_all(rules.sitemaps, f"{file['origin']}/")))
    return sorted(url for url in found if host_of(url) != host)
