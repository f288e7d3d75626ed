"""Nothing is gone for good: hosts that are away keep their pages, and all are asked again."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from gossamer.config import UpdateConfig
from gossamer.fetch.frontier import Frontier, Turn
from gossamer.fetch.host_book import HostBook
from gossamer.fetch.politeness import Politeness
from gossamer.schedule import generate, inject, update
from gossamer.schedule.due import round_length
from gossamer.state import lsm
from gossamer.state.credible_times import longest_page_wait_s
from gossamer.tables import HOSTS, PAGES
from gossamer.tables.outcomes import FAILED, OUTCOMES
from tests.support.rows import by_url, put_all
from tests.support.shared_rounds import SharedRounds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.state.workspace import Workspace
    from tests.support.shared_rounds import Found, Site, Story

HOUR_S, DAY_S = 3_600, 86_400
HOUR_MS, DAY_MS = HOUR_S * 1000, DAY_S * 1000
NOW_MS = 1_800_000_000_000
STORED = {"status": "fetched", "outcome": "ok", "kind": "page", "fetches": 1, "digest": "D"}
STORED |= {"stored_ms": NOW_MS - 40 * DAY_MS, "fetched_ms": NOW_MS - 30 * DAY_MS}

shared = SharedRounds()
strict = SharedRounds(update={"away_days": 0.0})


def failed(site: Site, outcomes: dict[str, str], page: dict[str, Any] | None = None) -> Found:
    """A round in which the stored pages of a host had these outcomes, by their paths."""
    pages = [{"url": site.url(path)} | STORED | (page or {}) for path in outcomes]
    answers = [{"url": site.url(path), "outcome": name} for path, name in outcomes.items()]
    return {"pages": pages, "responses": answers}


def statuses(site: Site) -> dict[str, str]:
    return {url.removeprefix(site.url("")): page["status"] for url, page in site.pages().items()}


ALL_OUTAGES = [name for name in FAILED if not OUTCOMES[name].refuses]


@shared.story
@pytest.mark.parametrize("outcome", ALL_OUTAGES)
def test_pages_of_a_host_that_answers_with_none_stay(site: Site, outcome: str) -> Story:
    tries = {"failures": OUTCOMES[outcome].max_tries, "fetched_ms": NOW_MS - DAY_MS}
    away = {"host": site.host(), "away_ms": NOW_MS - 2 * DAY_MS}
    yield {**failed(site, dict.fromkeys(["/a", "/b"], outcome), tries), "hosts": [away]}
    assert statuses(site) == {"/a": "fetched", "/b": "fetched"}


@shared.story
@pytest.mark.parametrize("outcome", FAILED)
def test_a_page_that_fails_beside_others_is_gone_after_its_tries(site: Site, outcome: str) -> Story:
    tries = {"failures": OUTCOMES[outcome].max_tries - 1}
    found = failed(site, {"/a": outcome, "/b": "unchanged", "/c": outcome}, tries)
    fewer = {"failures": max(0, OUTCOMES[outcome].max_tries - 2)}
    *others, last = found["pages"]
    yield {**found, "pages": [*others, last | fewer]}
    stays = "gone" if OUTCOMES[outcome].max_tries == 1 else "fetched"
    assert statuses(site) == {"/a": "gone", "/b": "fetched", "/c": stays}
    wait_ms = OUTCOMES[outcome].retry_wait_s * 1000 * 2 ** (OUTCOMES[outcome].max_tries - 1)
    assert site.pages()[site.url("/a")]["next_fetch_ms"] == NOW_MS + wait_ms


@shared.story
def test_what_a_host_refuses_it_does_not_want_found(site: Site) -> Story:
    yield failed(site, {"/a": "refused", "/b": "refused"}, {"failures": 1})
    assert statuses(site) == {"/a": "gone", "/b": "gone"}


@shared.story
def test_what_a_host_calls_gone_it_has_removed(site: Site) -> Story:
    found = failed(site, {"/a": "not_found", "/b": "not_found"})
    yield {**found, "responses": [each | {"http_status": 410} for each in found["responses"]]}
    assert statuses(site) == {"/a": "gone", "/b": "gone"}


@shared.story
def test_a_single_page_is_removed_and_the_next_ones_are_those_of_a_host_that_is_away(
    site: Site,
) -> Story:
    yield failed(site, {"/a": "not_found"})
    assert statuses(site) == {"/a": "gone"}
    away = {"host": site.host(), "away_ms": NOW_MS - HOUR_MS}
    yield {**failed(site, {"/b": "not_found"}), "hosts": [away]}
    assert statuses(site) == {"/a": "gone", "/b": "fetched"}


@shared.story
def test_a_home_page_alone_tells_that_its_host_is_away(site: Site) -> Story:
    yield failed(site, {"/": "not_found"})
    assert statuses(site) == {"/": "fetched"}


@shared.story
@pytest.mark.parametrize(("days", "status"), [(29.9, "fetched"), (30, "gone")])
def test_pages_leave_with_their_host_after_a_while(site: Site, days: float, status: str) -> Story:
    away = {"host": site.host(), "away_ms": NOW_MS - int(days * DAY_MS)}
    tries = {"failures": 9, "fetched_ms": NOW_MS - DAY_MS}
    yield {**failed(site, {"/": "unreachable", "/a": "not_found"}, tries), "hosts": [away]}
    assert statuses(site) == {"/": status, "/a": status}


@strict.story
def test_the_setting_says_for_how_long(site: Site) -> Story:
    yield failed(site, {"/": "not_found", "/a": "server_error"}, {"failures": 3})
    assert statuses(site) == {"/": "gone", "/a": "gone"}


@shared.story
def test_pages_stay_while_they_are_not_asked_for(site: Site) -> Story:
    """A fetch postpones pages whose robots.txt cannot be read, until `away_days` have passed."""
    away = {"host": site.host(), "away_ms": NOW_MS - 400 * DAY_MS}
    yield {**failed(site, {"/": "postponed", "/a": "postponed"}), "hosts": [away]}
    assert statuses(site) == {"/": "fetched", "/a": "fetched"}


@shared.story
def test_a_page_that_fails_again_although_its_host_has_answered_is_gone(site: Site) -> Story:
    before = {"failures": 1, "fetched_ms": NOW_MS - DAY_MS}
    away = {"host": site.host(), "away_ms": NOW_MS}
    yield {**failed(site, {"/a": "not_found", "/b": "not_found"}, before), "hosts": [away]}
    assert statuses(site) == {"/a": "gone", "/b": "gone"}


@shared.story
def test_a_page_of_which_nothing_is_stored_is_gone_whatever_its_host_answers(site: Site) -> Story:
    nothing = {"stored_ms": None, "status": "unfetched"}
    yield failed(site, {"/": "not_found", "/a": "not_found"}, nothing)
    assert statuses(site) == {"/": "gone", "/a": "gone"}


@shared.story
def test_a_page_that_was_gone_is_as_before_when_it_answers(site: Site) -> Story:
    gone = {"status": "gone", "outcome": "not_found", "failures": 5}
    yield failed(site, {"/a": "unchanged"}, gone)
    page = site.pages()[site.url("/a")]
    assert (page["status"], page["failures"], page["digest"]) == ("fetched", 0, "D")
    assert page["next_fetch_ms"] == NOW_MS + 30 * DAY_MS


@shared.story
def test_waits_grow_to_those_of_pages_that_never_change_or_to_the_interval(site: Site) -> Story:
    """What leads to other pages is asked for the soonest."""
    leading = {"/": {}, "/feed": {"kind": "feed"}, "/map": {"kind": "sitemap"}}
    pages: dict[str, dict[str, Any]] = {"/a": {}, "/seed": {"source": "seed"}, **leading}
    found = failed(site, dict.fromkeys(pages, "not_found"), {"failures": 40})
    known = [row | pages[row["url"].removeprefix(site.url(""))] for row in found["pages"]]
    yield {**found, "pages": known}
    waits = {
        url.removeprefix(site.url("")): (page["next_fetch_ms"] - NOW_MS) / DAY_MS
        for url, page in site.pages().items()
    }
    longest = longest_page_wait_s(UpdateConfig()) / DAY_S
    assert waits == {path: 30 if path != "/a" else longest for path in pages}


# The simulation: hosts whose pages change nothing, by the clock of the crawl.

PATHS = ("/", "/a", "/b")
TICK_MS = HOUR_MS // 2
"""Rounds begin when the clock is a multiple of this, so they ask together what is due together."""
BEGAN_S = 30 * DAY_S + 2 * TICK_MS // 1000 - 60
"""When the hosts begin to be away: just before the round that asks for their pages again."""


class Web:
    """Hosts that answer with an outcome of their own for a while, and before and after that."""

    def __init__(self, away: dict[str, tuple[str, float]]) -> None:
        """`away`: by host, the outcome, and for how many seconds since BEGAN_S it has it."""
        self.away = away
        self.asked: Counter[str] = Counter()
        """The requests that failed."""

    def answer(self, host: str, at_s: float) -> str:
        outcome, lasts_s = self.away[host]
        if not BEGAN_S <= at_s < BEGAN_S + lasts_s:
            return "unchanged"
        self.asked[host] += 1
        return outcome

    def back_s(self, host: str) -> float:
        return BEGAN_S + self.away[host][1]


def play_round(work: Workspace, web: Web) -> None:
    """A round, with the frontier and the host book of a fetch, by the clock of the crawl."""
    generate.run(work)
    now_ms, book = work.now_ms(), HostBook()
    frontier = Frontier(Politeness(max_delay_s=60.0))
    rows = [row.asDict() for row in work.read("fetchlist", work.round).collect()]
    known = {row["host"]: row for row in by_url(lsm.current(work, HOSTS), "host").values()}
    for host in {row["host"] for row in rows}:
        before = known.get(host, {})
        book.record(host).away_ms = before.get("away_ms")
        frontier.seed_host(host, failures=before.get("failures", 0))
        frontier.release(host)
    for number, row in enumerate(rows):
        frontier.add(row["host"], number, 1.0)
    outcomes = dict.fromkeys((row["url"] for row in rows), "postponed")
    asked_ms: dict[str, int] = {}
    at_s = now_ms / 1000
    while (turn := frontier.next(at_s)) is not None:
        if not isinstance(turn, Turn):
            at_s += turn
            continue
        url = rows[turn.row]["url"]
        outcomes[url] = web.answer(turn.host, at_s - NOW_MS / 1000)
        asked_ms[url] = int(at_s * 1000)
        book.record_outcome(turn.host, outcomes[url], asked_ms[url])
        frontier.finish(turn.host, at_s, outcomes[url])
    hosts = [
        {"host": host.name, "failures": host.failures, "contacted_ms": int(host.ended_s * 1000)}
        | {"ready_ms": int(host.ready_s * 1000), "away_ms": book.record(host.name).away_ms}
        for host in frontier.hosts()
    ]
    if not known:  # the first visit stores the pages
        outcomes = dict.fromkeys(outcomes, "ok")
    answers = [
        {"url": row["url"], "host": row["host"], "round": work.round, "digest": "D"}
        | {"outcome": outcomes[row["url"]], "fetched_ms": asked_ms.get(row["url"], now_ms)}
        for row in rows
    ]
    tables: dict[str, list[dict[str, Any]]] = {"responses": answers, "links": [], "documents": []}
    put_all(work, tables | {"hosts": hosts}, work.round, step="parse")
    work.clock_ms = max(now_ms, int(at_s * 1000))
    update.run(work)


def visit_until(work: Workspace, web: Web, end_s: float) -> Iterator[dict[str, dict[str, Any]]]:
    """Yield the pages after each round, until a time since the crawl began."""
    while True:
        due_ms = round_length.next_due_ms(work, 0)
        work.clock_ms = TICK_MS * (1 + max(work.now_ms(), due_ms or 0) // TICK_MS)
        if work.clock_ms >= NOW_MS + end_s * 1000:
            return
        play_round(work, web)
        yield by_url(lsm.current(work, PAGES))


MOST_OF_HOST = 30
MOST_OF_PAGE = {"server_error": 9, "not_found": 4}
"""Requests in a week, as docs/operating.md promises: of a host that is away, and per page."""


def most_requests(outcome: str) -> int:
    return MOST_OF_PAGE[outcome] * len(PATHS) if outcome in MOST_OF_PAGE else MOST_OF_HOST


@pytest.mark.long
def test_a_site_that_was_away_is_found_again_within_an_interval(work: Workspace) -> None:
    """Within the time that it was away, after few requests, and it was findable all the time."""
    work.is_endless = True
    hosts: dict[str, tuple[str, float]] = {
        "day.example": ("unreachable", DAY_S),
        "week.example": ("timeout", 7 * DAY_S),
        "errors.example": ("server_error", 7 * DAY_S),
        "once.example": ("not_found", 12 * HOUR_S),
        "missing.example": ("not_found", 7 * DAY_S),
        "hour.example": ("server_error", HOUR_S),
    }
    web = Web(hosts)
    inject.run(work, [f"http://{host}{path}" for host in hosts for path in PATHS])
    found_again_s: dict[str, float] = {}
    for pages in visit_until(work, web, BEGAN_S + 16 * DAY_S):
        assert {page["status"] for page in pages.values()} == {"fetched"}
        now_s = (work.now_ms() - NOW_MS) / 1000
        for host in hosts:
            rows = [page for page in pages.values() if page["host"] == host]
            failing = any(page["failures"] for page in rows)
            if now_s >= web.back_s(host) and not failing and host in web.asked:
                found_again_s.setdefault(host, now_s - web.back_s(host))
        if found_again_s.keys() == hosts.keys():
            break
    for host, (outcome, lasts_s) in hosts.items():
        assert web.asked[host] <= most_requests(outcome), host
        assert found_again_s[host] <= max(lasts_s, OUTCOMES[outcome].retry_wait_s) + HOUR_S, host
