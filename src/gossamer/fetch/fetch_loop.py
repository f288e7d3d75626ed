"""The loop of a fetch task: turns of the frontier become requests, and their results rows.

A turn is one request to one host, for a page, a robots.txt or a wish file (`wish_files.py`). Each
redirect of a robots.txt takes a turn of the host it leads to, while the host that the file belongs
to waits for the verdict. Wish files are redirected within their host only.
"""

from __future__ import annotations

import asyncio
import time
from itertools import count
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from gossamer.config.own_hosts import Own
from gossamer.fetch.back_queue import Reason
from gossamer.fetch.exchange import FetchResult, Request, clip_detail, refuse_type
from gossamer.fetch.frontier import Frontier, Turn
from gossamer.fetch.host_book import RobotsFile
from gossamer.fetch.network.foreign_hosts import first_foreign_host
from gossamer.fetch.politeness import Politeness
from gossamer.fetch.wish_files import MAX_BYTES as MAX_WISH_BYTES
from gossamer.rules.spellings import first_forbidden
from gossamer.state import credible_times, pausing, stopping
from gossamer.tables.outcomes import FAILED
from gossamer.web import robots_txt
from gossamer.web.urls import WEB, host_of, origin_of

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

    from gossamer.config import FetchConfig
    from gossamer.fetch.back_queue import Host
    from gossamer.fetch.cluster.fetch_lease import PartLease
    from gossamer.fetch.fetch_part import PageRows
    from gossamer.fetch.host_book import HostBook
    from gossamer.fetch.response_writer import ResponseWriter
    from gossamer.fetch.scheme_fetchers import Fetchers
    from gossamer.rules.filter_rules.rule_index import RuleIndex
    from gossamer.state.heartbeats import Heartbeat
    from gossamer.web.robots_txt import Robots

    _Task = asyncio.Task[None]

TIMER_S = 0.001
"""Resolution of uvloop's timers, in seconds. Its clock is as coarse and stands still while Python
runs, so delays are measured with `time.monotonic`."""
LOOK_S = 0.5
"""Seconds between two checks whether to stop or to pause."""
GRACE_S = 4.0
"""Seconds that open requests get when the fetch must stop."""
MAX_RESPELLINGS = 5
"""Redirects that are followed from a page to other spellings of it."""
HAVE_ROBOTS = tuple(f"{scheme}://" for scheme in WEB)
"""RFC 9309 §2.3 mentions ftp as well, but its servers have no robots.txt."""
NOT_REACHED = frozenset(("unreachable", "timeout", "tls", "forbidden_address"))
"""Outcomes without a response; `broken` without a head is another: the peer does not speak HTTP."""
TIME_OVER = Reason("time", "the round's time was over")
WAITING = Reason("waiting", "since an earlier round the host must not be contacted yet")
STOPPED = Reason("stopped", "the fetch was stopped")
NO_ROBOTS = "no_robots"
"""The word of the reason for which a host is closed whose robots.txt is unavailable."""


class Hop(NamedTuple):
    """A request for the robots.txt of `origin`, after this many redirects."""

    origin: str
    url: str
    redirects: int
    wish_file: str | None = None
    """The URL of the wish file that is requested instead, before any redirect."""

    @property
    def owner(self) -> str:
        """The host that the file belongs to."""
        return host_of(f"{self.origin}/")


class Refusal(NamedTuple):
    """The outcome and detail of all pages of an origin that could not be reached."""

    outcome: str
    detail: str


class FetchLoop:
    """Drives a frontier.

    Invariants
      * Exactly one `finish` or `skip` of the frontier ends each turn.
      * Each page is recorded exactly once.
      * At most `hosts_at_once` requests are open.
      * No page is requested before its origin's robots.txt has been judged, if that is obeyed.
    """

    def __init__(
        self,
        root: str,
        pages: PageRows,
        book: HostBook,
        config: FetchConfig,
        fetchers: Fetchers,
        writer: ResponseWriter,
        heartbeat: Heartbeat,
        *,
        min_free_gb: float,
        away_days: float = inf,
        rules: RuleIndex | None = None,
        lease: PartLease | None = None,
        wish_files: bool = False,
    ) -> None:
        """`wish_files`: whether they are requested."""
        self._reads_wish_files = wish_files
        self._root = root
        self._min_free_gb = min_free_gb
        self._away_s = away_days * credible_times.DAY_S
        self._pages = pages
        self._rules = rules
        self._lease = lease
        self._book = book
        self._config = config
        self._fetchers = fetchers
        self._writer = writer
        self._heartbeat = heartbeat
        self._requests: set[_Task] = set()
        self._lookups: set[_Task] = set()
        self._something_ended = asyncio.Event()
        self._answers: list[tuple[int, FetchResult]] = []
        """Pages that are recorded when the next request is out: a row and its answer."""
        self._hops: dict[int, Hop] = {}
        """Requests for a robots.txt on other hosts, by the negative rows that represent them."""
        self._hop_numbers = count(1)
        self._moved: dict[int, list[str]] = {}
        """By row: the URLs to request, of which each but the first is where its server sent us from
        the one before. All have the page's URL as normal form."""
        self._next_hop: dict[str, Hop] = {}
        """By origin: the next request for its robots.txt on its own host."""
        self._next_wish_hop: dict[str, Hop] = {}
        """By origin: the next request for one of its wish files."""
        self._statements: dict[int, list[str]] = {}
        """By row: what robots.txt says about uses of a page that is requested, if anything."""
        self._refused: dict[str, Refusal] = {}
        self._lost: dict[str, str] = {}
        """Hosts whose robots.txt was unavailable for too long, with the outcome of their pages."""
        self._own = Own(config)
        self._own_hosts: set[str] = set()
        """Own hosts among those whose addresses were looked up."""
        self._slowed: set[str] = set()
        """Origins whose Crawl-delay was passed to the frontier."""
        self._look_s = self._started_s = time.monotonic()
        self._ends_s = self._started_s + (config.round_minutes * 60 or inf)
        self._cancel_s = inf
        self._paused = self._must_pause()
        self._frontier = self._new_frontier()

    def _new_frontier(self) -> Frontier:
        config, now_ms = self._config, _now_ms()
        politeness = Politeness.from_config(config)
        frontier = Frontier(politeness)
        for host, record in self._book.records():
            waits = credible_times.host_waits(record.ready_ms, record.contacted_ms, now_ms)
            wait_s = (record.ready_ms - now_ms) / 1000 if waits else 0
            ready_s = self._started_s + wait_s
            frontier.seed_host(host, ready_s=ready_s, failures=record.failures)
            if wait_s > politeness.patience_s:
                frontier.close(host, WAITING)
        hosts = self._pages.columns["host"].dictionary_encode()
        names = hosts.dictionary.to_pylist()
        for host in names if config.sites else ():
            frontier.seed_host(host, delay_s=self._fetchers.delay_s(host))
        numbers, scores = hosts.indices.to_pylist(), self._pages.columns["score"].to_pylist()
        for row, (number, score) in enumerate(zip(numbers, scores, strict=True)):
            frontier.add(names[number], row, score)
        return frontier

    def hosts(self) -> Iterator[Host]:
        return self._frontier.hosts()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            while (turn := await self._next()) is not None:
                for host in self._frontier.awaiting_address:
                    self._spawn(group, self._locate(host), self._lookups)
                self._frontier.awaiting_address.clear()
                if not isinstance(turn, Turn):
                    await self._wait(turn)
                elif (planned := self._plan_turn(turn)) is None:
                    self._frontier.skip(turn.host)
                    await asyncio.sleep(0)  # lets requests proceed between thousands of these
                else:
                    self._spawn(group, self._fetch_turn(turn, planned), self._requests)
                    while len(self._requests) >= self._config.hosts_at_once:
                        await self._wait(inf)
                    if self._answers:
                        await asyncio.sleep(0)  # sends the request
                        self._record_answers()
                self._look_whether_to_stop()
                self._record_given_back()
            for lookup in self._lookups:
                lookup.cancel()
        self._record_answers()
        self._record_given_back()

    async def _next(self) -> Turn | float | None:
        """As the frontier's `next`, when the crawl is not paused. The round's time runs on."""
        while self._paused and self._cancel_s == inf:
            await self._wait(inf)
        return self._frontier.next(time.monotonic())

    def _must_pause(self) -> bool:
        return pausing.pause_reason(self._root, self._min_free_gb) is not None

    def _spawn(
        self, group: asyncio.TaskGroup, work: Coroutine[Any, Any, None], beside: set[_Task]
    ) -> None:
        def forget(task: _Task) -> None:
            beside.discard(task)
            self._something_ended.set()

        beside.add(task := group.create_task(work))
        task.add_done_callback(forget)

    async def _wait(self, seconds: float) -> None:
        """Wait this long, or until a request or an address look-up ends."""
        self._record_answers()
        self._something_ended.clear()
        wait_s = min(max(seconds, TIMER_S), LOOK_S)
        timer = asyncio.get_running_loop().call_later(wait_s, self._something_ended.set)
        await self._something_ended.wait()
        timer.cancel()
        self._look_whether_to_stop()

    def _look_whether_to_stop(self) -> None:
        now_s = time.monotonic()
        if now_s < self._look_s:
            return
        self._look_s = now_s + LOOK_S
        if self._lease is not None:
            self._lease.check()
        self._paused = self._must_pause()
        if now_s >= self._cancel_s:
            for request in self._requests:
                request.cancel()
        elif self._cancel_s == inf and (now_s >= self._ends_s or stopping.requested(self._root)):
            self._cancel_s = now_s + GRACE_S
            self._frontier.stop(TIME_OVER if now_s >= self._ends_s else STOPPED)

    async def _locate(self, host: str) -> None:
        address = await self._fetchers.locate(host)
        if self._own.has(host, address):
            self._own_hosts.add(host)
            owed = Politeness.for_own_hosts(self._config)
            self._frontier.seed_host(host, owed=owed, delay_s=self._fetchers.delay_s(host))
            address = None  # no limits per address apply to an own host
        self._frontier.release(host, address)

    def _plan_turn(self, turn: Turn) -> Request | Hop | None:
        """The request of this turn; None if the page was recorded or put back without one."""
        return self._plan_page(turn, turn.row) if turn.row >= 0 else self._hops[turn.row]

    def _plan_page(self, turn: Turn, row: int) -> Request | Hop | None:
        page = self._pages[row]
        url = self._moved.get(row, [page.url])[-1]
        if url.startswith(HAVE_ROBOTS) and self._obeys(turn.host):
            origin = origin_of(url)
            if (refused := self._refused.get(origin)) is not None:
                self._record(row, FetchResult(refused.outcome, _now_ms(), detail=refused.detail))
                return None
            rules = self._book.robots(origin, _now_ms())
            if rules is None:
                self._frontier.hold(turn.host)
                return self._next_hop.pop(origin, None) or Hop(origin, f"{origin}/robots.txt", 0)
            spellings = page.url, page.spelling, url
            forbidden = first_forbidden(rules, self._config.agent, spellings)
            if forbidden is not None:
                detail = None if forbidden == page.url else clip_detail(f"as {forbidden}")
                self._record(row, FetchResult("robots", _now_ms(), detail=detail))
                return None
            if origin not in self._slowed and self._slow_down(turn.host, origin, rules):
                self._frontier.put_back(turn)
                return None
            if (hop := self._wish_hop(turn.host, origin, rules)) is not None:
                self._frontier.hold(turn.host)
                return hop
            if statements := self._said_about(url, rules):
                self._statements[row] = statements
        config = self._config
        limits = config.max_body_bytes, config.max_file_bytes
        return Request(url, limits[0], page.etag, page.last_modified, limits[1], self._rules)

    def _wish_hop(self, host: str, origin: str, rules: Robots) -> Hop | None:
        """The request for a wish file that is needed before the next page of an origin, if any."""
        if not self._reads_wish_files or host in self._own_hosts:
            return None
        if (hop := self._next_wish_hop.pop(origin, None)) is not None:
            return hop
        url = self._book.wish_files.due(self._config.agent, origin, rules, _now_ms())
        return None if url is None else Hop(origin, url, 0, url)

    def _said_about(self, url: str, rules: Robots) -> list[str]:
        """What robots.txt and wish files say about uses of a page."""
        said = rules.statements(self._config.agent, url)
        return (
            self._book.wish_files.statements(url, rules, said) if self._reads_wish_files else said
        )

    def _slow_down(self, host: str, origin: str, rules: Robots) -> bool:
        """Pass an origin's Crawl-delay to the frontier; return whether it is too long."""
        self._slowed.add(origin)
        delay_s = self._book.record(host).crawl_delay_s = rules.crawl_delay_s(self._config.agent)
        if delay_s is None or host in self._own_hosts:
            return False
        return not self._frontier.slow_down(host, delay_s)

    def _obeys(self, host: str) -> bool:
        """Whether the robots.txt of a host is obeyed."""
        return self._config.own_robots or host not in self._own_hosts

    async def _fetch_turn(self, turn: Turn, planned: Request | Hop) -> None:
        try:
            if isinstance(planned, Hop):
                most = MAX_WISH_BYTES if planned.wish_file else robots_txt.MAX_BYTES
                answer = await self._fetchers.fetch(Request(planned.url, most))
            else:
                answer = await self._fetchers.fetch(planned)
                refuse_type(planned, answer)  # of schemes whose fetchers know the type last
        except asyncio.CancelledError:
            self._frontier.put_back(turn)
            self._frontier.skip(turn.host)
            raise
        self._book.record_contact(turn.host, answer)
        if isinstance(planned, Hop):
            self._writer.add_hop(planned.url, answer)
            if self._hops.pop(turn.row, None) is None:
                self._frontier.put_back(turn)
            if planned.wish_file is None:
                self._follow(planned, answer)
            else:
                self._follow_wish_hop(planned, planned.wish_file, answer)
        elif self._stays(turn.row, planned.url, answer):
            self._writer.add_hop(planned.url, answer)
            self._frontier.put_back(turn)
        else:
            self._moved.pop(turn.row, None)
            self._answers.append((turn.row, answer))
        elapsed_s = answer.elapsed_ms / 1000
        self._frontier.finish(
            turn.host, time.monotonic(), answer.outcome, elapsed_s, answer.retry_after_s
        )

    def _stays(self, row: int, requested: str, answer: FetchResult) -> bool:
        """Whether an answer redirects to another spelling of the page, which is requested next.

        Servers add a session id, or insist on an encoding or an empty query.
        """
        page = self._pages[row]
        if answer.outcome != "redirect" or answer.redirect_url != page.url:
            return False
        target, seen = answer.redirect_spelling or page.url, self._moved.get(row, [requested])
        if target in seen or len(seen) > MAX_RESPELLINGS:
            return False
        self._moved[row] = [*seen, target]
        return True

    def _follow(self, hop: Hop, answer: FetchResult) -> None:
        """Act on the result of a request for a robots.txt: redirect, refuse or judge."""
        target = answer.redirect_spelling or answer.redirect_url
        if answer.outcome == "redirect" and target and hop.redirects < robots_txt.MAX_REDIRECTS:
            self._follow_robots_hop(Hop(hop.origin, target, hop.redirects + 1))
            return
        if not _is_reached(answer) and not hop.redirects:
            self._refuse_origin(hop, Refusal(answer.outcome, f"robots.txt: {answer.detail}"))
        else:
            self._judge_robots_hop(hop, answer)
        self._frontier.release(hop.owner)

    def _follow_wish_hop(self, hop: Hop, url: str, answer: FetchResult) -> None:
        """Follow a redirect of a wish file if robots.txt allows it, or keep what was answered."""
        target = answer.redirect_spelling or answer.redirect_url
        rules = self._book.robots(hop.origin, _now_ms())
        follows = answer.outcome == "redirect" and hop.redirects < robots_txt.MAX_REDIRECTS
        stays = follows and target is not None and host_of(target) == hop.owner
        if stays and target and rules is not None and rules.allows(self._config.agent, target):
            self._next_wish_hop[hop.origin] = Hop(hop.origin, target, hop.redirects + 1, url)
        else:
            self._book.wish_files.keep(url, _status(answer), answer.body, _now_ms())
        self._frontier.release(hop.owner)

    def _refuse_origin(self, hop: Hop, refusal: Refusal) -> None:
        """Record an unreachable origin's pages at once, instead of trying each of them."""
        self._refused[hop.origin] = refusal
        for row in self._frontier.withdraw(hop.owner):
            if origin_of(self._pages[row].url) == hop.origin:
                self._record(row, FetchResult(refusal.outcome, _now_ms(), detail=refusal.detail))
            else:
                self._frontier.add(hop.owner, row, inf)

    def _follow_robots_hop(self, hop: Hop) -> None:
        where = host_of(hop.url)
        if where == hop.owner:
            self._next_hop[hop.origin] = hop
            self._frontier.release(hop.owner)
            return
        if not self._config.contact and first_foreign_host([where], self._config) is not None:
            self._close(hop, f"it is on {where}, a host of others, and fetch.contact is not set")
            self._frontier.release(hop.owner)
            return
        self._hops[row := -next(self._hop_numbers)] = hop
        self._frontier.add(where, row, inf)

    def _judge_robots_hop(self, hop: Hop, answer: FetchResult) -> None:
        """Keep the robots.txt, or close its host for now if the file was not available."""
        status = _status(answer)
        rules = robots_txt.judge_robots_txt(status, answer.body)
        if rules is None:
            why = f"HTTP {status}" if status else answer.detail or answer.outcome
            self._close(hop, why, answer.outcome if answer.outcome in FAILED else "unreachable")
        else:
            self._book.keep_robots(hop.origin, RobotsFile(_now_ms(), status, answer.body))
            self._slow_down(hop.owner, hop.origin, rules)

    def _close(self, hop: Hop, why: str, outcome: str = "unreachable") -> None:
        """Close a host for an hour, or for as long as it has been away, up to a day.

        Its pages are postponed. After `update.away_days`, they fail with this outcome instead.
        """
        away_s = self._book.record_silence(hop.owner, _now_ms()) / 1000
        wait_s = min(max(away_s, robots_txt.NO_ANSWER_KEPT_S), robots_txt.ANSWER_KEPT_S)
        ready_s = time.monotonic() + wait_s
        if away_s >= self._away_s:
            self._lost[hop.owner] = outcome
        self._frontier.seed_host(hop.owner, ready_s=ready_s)
        self._frontier.close(hop.owner, Reason(NO_ROBOTS, f"robots.txt: {why}"))

    def _record(self, row: int, answer: FetchResult) -> None:
        page = self._pages[row]
        outcome = self._writer.add(page, answer, self._statements.pop(row, ()))
        self._book.record_outcome(page.host, outcome, answer.started_ms)
        if not page.asked and outcome != "robots":
            self._book.record(page.host).pages += 1
        self._heartbeat.beat(1, outcome)

    def _record_answers(self) -> None:
        """Record what was answered.

        It takes half a millisecond per page. Meanwhile, the host works on its next answer.
        """
        for row, answer in self._answers:
            self._record(row, answer)
        self._answers.clear()

    def _record_given_back(self) -> None:
        for row, reason in self._frontier.given_back:
            if row < 0:
                self._close(self._hops.pop(row), f"{reason.text} of the host it redirects to")
                continue
            page = self._pages[row]
            if reason.word == NO_ROBOTS and (outcome := self._lost.get(page.host)):
                self._record(row, FetchResult(outcome, _now_ms(), detail=reason.text))
            else:
                self._writer.add(page, FetchResult("postponed", _now_ms(), detail=reason.text))
                self._heartbeat.beat(1, f"postponed_{reason.word}")
        self._frontier.given_back.clear()


def _is_reached(answer: FetchResult) -> bool:
    spoke = answer.outcome != "broken" or answer.http_status is not None
    return spoke and answer.outcome not in NOT_REACHED


def _status(answer: FetchResult) -> int:
    """HTTP's status of an answer with a whole head; 0: there is none."""
    read = _is_reached(answer) and answer.outcome != "broken"
    return answer.http_status if read and answer.http_status else 0


def _now_ms() -> int:
    return int(time.time() * 1000)
