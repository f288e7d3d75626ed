"""A fetch task: one part of a fetchlist, all of whose hosts are this task's alone."""

from __future__ import annotations

import asyncio
import resource
import time
from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING, NamedTuple

import pyarrow.parquet as pq
import uvloop

from gossamer.fetch import robots
from gossamer.fetch.exchange import Answer, Request
from gossamer.fetch.frontier import Entry, Frontier
from gossamer.fetch.http import HttpFetcher
from gossamer.fetch.responses import ResponseWriter, Wanted
from gossamer.fetch.robots import Refusal, Robots
from gossamer.layers import Row, counted
from gossamer.monitor import Pulse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.config import FetchConfig
    from gossamer.fetch.exchange import Fetcher
    from gossamer.urls import UrlRules

TIMER_S = 0.001
"""Resolution of uvloop's timers. Its clock is as coarse, and stands still while Python runs, so
that delays are measured with `time.monotonic`."""
SPARE_DESCRIPTORS = 256
"""Left for files, when sockets are kept open."""


@dataclass(frozen=True)
class Part:
    """What a task is told. Paths of the fetchlist are absolute."""

    root: str
    round: int
    number: int
    fetchlist: tuple[str, ...]
    config: FetchConfig
    rules: UrlRules
    attempts: tuple[str, str]
    """Folders of responses and of warc."""


class _Hop(NamedTuple):
    """A robots.txt that is still to be asked for, `redirects` away from where it should be."""

    url: str
    redirects: int


def fetch_part(part: Part) -> list[Row]:
    """Fetch a part. Returns rows of YIELD: the files written, the pages of each outcome."""
    pages = read_part(part)
    writer = ResponseWriter(part.root, part.attempts, part.round, part.config)
    pulse = Pulse(part.root, "fetch", part.round, str(part.number), len(pages))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_fetch_all(part, pages, writer, pulse))
    pulse.finish()
    return writer.close() + counted(pulse.counts)


def read_part(part: Part) -> list[Wanted]:
    table = pq.read_table(
        list(part.fetchlist),
        columns=list(Wanted._fields),
        filters=[("part", "=", part.number)],
    )
    columns = [table.column(name).to_pylist() for name in Wanted._fields]
    return [Wanted(*row) for row in zip(*columns, strict=True)]


async def _fetch_all(
    part: Part, pages: Sequence[Wanted], writer: ResponseWriter, pulse: Pulse
) -> None:
    hosts = len({page.host for page in pages})
    keep_alive = hosts <= _descriptors() - SPARE_DESCRIPTORS
    async with HttpFetcher(part.config, part.rules, keep_alive=keep_alive) as fetcher:
        try:
            await PartFetch(pages, part.config, fetcher, writer, pulse).run()
        except BaseExceptionGroup as group:  # of the turns; the first one tells what went wrong
            raise group.exceptions[0] from None


class PartFetch:
    """Drives a frontier: a turn is one request to one host.

    Invariants
      * Each turn is ended by exactly one `done` or `skip` of the frontier.
      * Each page is recorded exactly once.
      * At most `hosts_at_once` turns are open.
      * No page is asked for before its origin's robots.txt has been judged.
    """

    def __init__(
        self,
        pages: Sequence[Wanted],
        config: FetchConfig,
        fetcher: Fetcher,
        writer: ResponseWriter,
        pulse: Pulse,
    ) -> None:
        self._pages = pages
        self._config = config
        self._fetcher = fetcher
        self._writer = writer
        self._pulse = pulse
        self._open_turns = 0
        self._turn_ended = asyncio.Event()
        self._robots: dict[str, Robots | Refusal | _Hop] = {}
        round_s = config.round_minutes * 60 or inf
        self._frontier = Frontier(
            delay_s=config.delay_s,
            max_delay_s=max(config.max_delay_s, config.delay_s),
            max_failures=config.max_failures_per_host,
            deadline_s=time.monotonic() + round_s,
        )
        for row, page in enumerate(pages):
            self._frontier.add(page.url, page.host, page.score, row)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as turns:
            while (entry := self._frontier.next(time.monotonic())) is not None:
                if isinstance(entry, float):
                    await self._wait(entry)
                elif self._settle(entry):
                    await asyncio.sleep(0)  # the open turns go on between thousands of these
                else:
                    self._open_turns += 1
                    turns.create_task(self._turn(entry))
                    while self._open_turns >= self._config.hosts_at_once:
                        await self._wait(inf)
                self._record_postponed()
        self._record_postponed()

    async def _wait(self, seconds: float) -> None:
        """Wait for so long, or until a turn ends."""
        self._turn_ended.clear()
        timer = None
        if isfinite(seconds):
            timer = asyncio.get_running_loop().call_later(
                max(seconds, TIMER_S), self._turn_ended.set
            )
        await self._turn_ended.wait()
        if timer is not None:
            timer.cancel()

    def _settle(self, entry: Entry) -> bool:
        """Record what robots.txt decides without a request; whether it did."""
        rules = self._robots.get(_origin(entry.url))
        if isinstance(rules, Refusal):
            outcome, detail = rules
        elif isinstance(rules, Robots) and not rules.allows(entry.url):
            outcome, detail = "robots", None
        else:
            return False
        self._record(entry, Answer(outcome, _now_ms(), detail=detail))
        self._frontier.skip(entry.host)
        return True

    async def _turn(self, entry: Entry) -> None:
        origin = _origin(entry.url)
        rules = self._robots.get(origin) or _Hop(f"{origin}/robots.txt", 0)
        if isinstance(rules, _Hop):
            answer = await self._fetcher.fetch(Request(rules.url, robots.MAX_BYTES))
            self._robots[origin] = verdict = _judge(rules, answer, self._config.agent)
            self._frontier.put_back(entry)
            if isinstance(verdict, Robots) and verdict.crawl_delay_s is not None:
                self._frontier.slow_down(entry.host, verdict.crawl_delay_s)
        else:
            page = self._pages[entry.row]
            answer = await self._fetcher.fetch(
                Request(page.url, self._config.max_body_bytes, page.etag, page.last_modified)
            )
            self._record(entry, answer)
        self._frontier.done(entry.host, time.monotonic(), answer.outcome, answer.retry_after_s)
        self._open_turns -= 1
        self._turn_ended.set()

    def _record(self, entry: Entry, answer: Answer) -> None:
        self._pulse.beat(1, self._writer.add(self._pages[entry.row], answer))

    def _record_postponed(self) -> None:
        for entry, reason in self._frontier.postponed:
            self._record(entry, Answer("postponed", _now_ms(), detail=reason))
        self._frontier.postponed.clear()


def _judge(hop: _Hop, answer: Answer, agent: str) -> Robots | Refusal | _Hop:
    if answer.outcome != "redirect":
        return robots.judge(answer, agent, redirected=hop.redirects > 0)
    if hop.redirects == robots.MAX_REDIRECTS or answer.redirect_url is None:
        return robots.ALLOW_ALL  # RFC 9309 §2.3.1.2: as if there were no file
    return _Hop(answer.redirect_url, hop.redirects + 1)


def _origin(url: str) -> str:
    """Scheme and authority: what a robots.txt is for (RFC 9309 §2.3)."""
    return url[: url.index("/", len("https://"))]


def _now_ms() -> int:
    return int(time.time() * 1000)


def _descriptors() -> int:
    """How many files this process may open, raised as far as it may raise it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard if hard != resource.RLIM_INFINITY else 1 << 20
