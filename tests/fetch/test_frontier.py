from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from math import inf
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.fetch.back_queue import Reason
from gossamer.fetch.frontier import FRONT_QUEUES, Frontier, Turn, _level
from gossamer.fetch.politeness import Politeness
from gossamer.tables.outcomes import OUTCOMES

if TYPE_CHECKING:
    import random

DELAY_S = 1.0
STOP = Reason("time", "the round's time was over")


def frontier(back_queues: int = 100, **owed: Any) -> Frontier:
    politeness = {"delay_s": DELAY_S, "max_delay_s": 60.0, "max_failures": 3} | owed
    return Frontier(Politeness(**politeness), back_queues=back_queues)


def fill(target: Frontier, host: str, scores: list[float], first: int = 0) -> None:
    for row, score in enumerate(scores, first):
        target.add(host, row, score)


def locate(target: Frontier, now_s: float, address: str | None = None) -> Turn | float | None:
    """The next turn, when hosts that wait for their addresses have been given one."""
    found = target.next(now_s)
    while target.awaiting_address:
        target.release(target.awaiting_address.pop(0), address)
        found = target.next(now_s) if not isinstance(found, Turn) else found
    return found


def taken(target: Frontier, now_s: float, address: str | None = None) -> Turn:
    turn = locate(target, now_s, address)
    assert isinstance(turn, Turn)
    return turn


def given_back(target: Frontier) -> list[int]:
    return [row for row, _ in target.given_back]


def words(target: Frontier) -> set[str]:
    return {reason.word for _, reason in target.given_back}


def test_an_empty_frontier_is_done() -> None:
    assert frontier().next(0) is None


def test_a_host_is_asked_for_high_scores_first_and_equal_ones_in_turn() -> None:
    target = frontier(delay_s=0)
    fill(target, "a", [0.5, 2.0, 1.0, 2.0])
    rows = []
    for _ in range(4):
        rows.append(taken(target, 0).row)
        target.finish("a", 0, "ok")
    assert rows == [1, 3, 2, 0]


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_higher_scores_stand_in_no_later_queue(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 0 <= _level(high) <= _level(low) < FRONT_QUEUES


def test_the_best_hosts_are_in_turn_first_when_not_all_can_be() -> None:
    target = frontier(back_queues=2)
    for number, host in enumerate("abcd"):
        fill(target, host, [2.0**number], number)
    assert [taken(target, 0).host, taken(target, 0).host] == ["d", "c"]
    assert target.next(0) == inf
    target.finish("d", 0, "ok")
    assert taken(target, 0).host == "b"


def test_a_host_is_held_until_its_address_is_known() -> None:
    target = frontier()
    fill(target, "a", [1])
    assert target.next(0) == inf
    assert target.awaiting_address == ["a"]
    target.release("a")
    assert target.next(0) == Turn("a", 0)


def test_a_host_that_is_out_is_not_asked_again() -> None:
    target = frontier(delay_s=0)
    fill(target, "a", [2, 1])
    taken(target, 0)
    assert target.next(1_000) == inf
    target.finish("a", 1_000, "ok")
    assert taken(target, 1_000).row == 1


def test_the_delay_begins_when_the_exchange_has_ended() -> None:
    target = frontier()
    fill(target, "a", [2, 1])
    taken(target, 0)
    target.finish("a", 7.0, "ok")
    assert target.next(7.25) == pytest.approx(0.75)
    assert taken(target, 8.0).row == 1


def test_a_slow_host_is_left_alone_for_longer_but_not_beyond_patience() -> None:
    target = frontier(delay_factor=5)
    fill(target, "a", [3, 2, 1])
    taken(target, 0)
    target.finish("a", 2, "ok", elapsed_s=2)
    assert target.next(2) == 10
    taken(target, 12)
    target.finish("a", 32, "ok", elapsed_s=20)
    assert target.next(32) == 60
    assert taken(target, 92).row == 2


def test_other_hosts_do_not_wait() -> None:
    target = frontier()
    fill(target, "a", [1, 1])
    fill(target, "b", [1])
    assert [taken(target, 0).host, taken(target, 0).host] == ["a", "b"]


def test_what_is_known_of_a_host_is_minded() -> None:
    target = frontier()
    target.seed_host("a", ready_s=5, failures=2)
    target.seed_host("b", delay_s=0.25)
    fill(target, "a", [2, 1])
    fill(target, "b", [1, 1])
    assert taken(target, 0).host == "b"
    target.finish("b", 0, "ok")
    assert target.next(0) == 0.25
    assert taken(target, 0.25).host == "b"
    assert target.next(0.25) == 4.75
    taken(target, 5)
    target.finish("a", 5, "unreachable")
    assert words(target) == {"failing"}


def test_a_host_stays_slow_after_its_queue_was_empty() -> None:
    target = frontier()
    fill(target, "a", [1])
    taken(target, 0)
    target.finish("a", 0, "ok")
    assert target.next(0) is None
    fill(target, "a", [1])
    assert target.next(0) == DELAY_S


def test_a_skipped_row_costs_no_delay() -> None:
    target = frontier(address_delay_s=9)
    fill(target, "a", [2, 1])
    taken(target, 0, "192.0.2.1")
    target.skip("a")
    assert taken(target, 0).row == 1


def test_a_row_that_is_put_back_comes_again_after_the_delay() -> None:
    target = frontier()
    fill(target, "a", [2, 1])
    turn = taken(target, 0)
    target.put_back(turn)
    target.finish("a", 0, "ok")
    assert target.next(0) == DELAY_S
    assert taken(target, DELAY_S) == turn


def test_a_host_on_hold_waits_for_its_release() -> None:
    target = frontier()
    fill(target, "a", [1])
    turn = taken(target, 0)
    target.put_back(turn)
    target.hold("a")
    target.finish("a", 0, "redirect")
    assert target.next(100) == inf
    target.release("a")
    assert taken(target, 100) == turn


def test_a_crawl_delay_can_only_slow_us_down() -> None:
    target = frontier()
    fill(target, "a", [3, 2, 1])
    taken(target, 0)
    target.slow_down("a", 0.1)
    target.finish("a", 0, "ok")
    assert target.next(0) == DELAY_S
    taken(target, 1)
    target.slow_down("a", 5)
    target.finish("a", 1, "ok")
    assert target.next(1) == 5


def test_a_crawl_delay_beyond_patience_gives_the_host_back() -> None:
    target = frontier(back_queues=1)
    fill(target, "a", [3, 2, 1])
    turn = taken(target, 0)
    target.put_back(turn)
    target.slow_down("a", 61)
    target.finish("a", 0, "ok")
    fill(target, "a", [1], first=3)
    assert target.next(1e9) is None
    assert given_back(target) == [0, 1, 2, 3]
    assert words(target) == {"crawl_delay"}


def test_a_crawl_delay_counts_from_the_exchange_that_is_over() -> None:
    """As when a robots.txt was found on another host: its owner is on hold meanwhile."""
    target = frontier()
    fill(target, "a", [1])
    target.put_back(taken(target, 0))
    target.hold("a")
    target.finish("a", 0, "redirect")
    target.slow_down("a", 5)
    target.release("a")
    assert target.next(2) == 3


def test_failures_in_a_row_give_the_rest_of_the_host_back() -> None:
    target = frontier(max_failures=2)
    fill(target, "a", [16, 8, 4, 2, 1])
    now_s = 0.0
    for outcome in ("timeout", "ok", "timeout", "unreachable"):
        assert not target.given_back
        taken(target, now_s)
        target.finish("a", now_s, outcome)
        now_s += 60
    assert target.next(now_s) is None
    assert given_back(target) == [4]
    reason = "2 failures in a row, the last: unreachable"
    assert target.given_back == [(4, Reason("failing", reason))]


def test_a_host_that_fails_is_left_alone_twice_as_long_each_time() -> None:
    target = frontier(max_failures=10)
    fill(target, "a", [1] * 5)
    now_s, first_s = 0.0, OUTCOMES["busy"].host_wait_s
    for wait_s in (first_s, 2 * first_s, 4 * first_s):
        taken(target, now_s)
        target.finish("a", now_s, "busy")
        assert target.next(now_s) == wait_s
        now_s += wait_s
    taken(target, now_s)
    target.finish("a", now_s, "busy")
    assert given_back(target) == [4]
    (host,) = target.hosts()
    assert (host.failures, host.ready_s) == (4, now_s + 8 * first_s)


def test_no_host_is_left_alone_for_longer_than_a_day_for_its_failures() -> None:
    owed = Politeness()
    waits_s = [owed.wait_s("busy", 1.0, failures) for failures in range(1, 40)]
    assert waits_s == sorted(waits_s)
    assert (waits_s[0], waits_s[-1]) == (OUTCOMES["busy"].host_wait_s, 86_400)
    assert owed.wait_s("busy", 1.0, 40, retry_after_s=100_000) == 100_000


def test_a_page_that_fails_says_nothing_of_its_host() -> None:
    target = frontier(delay_s=0, max_failures=1)
    fill(target, "a", [1, 1, 1, 1])
    for outcome in ("not_found", "server_error", "broken"):
        taken(target, 0)
        target.finish("a", 0, outcome)
    assert taken(target, 0).row == 3


def test_retry_after_is_waited_for_as_long_as_patience_lasts() -> None:
    target = frontier()
    fill(target, "a", [4, 2, 1])
    taken(target, 0)
    target.finish("a", 0, "busy", retry_after_s=30)
    assert target.next(0) == 30
    taken(target, 30)
    target.finish("a", 30, "busy", retry_after_s=61)
    assert target.next(1e9) is None
    assert words(target) == {"busy"}


def test_retry_after_is_believed_until_it_does_not_help() -> None:
    target = frontier(max_failures=3)
    fill(target, "a", [1] * 4)
    for now_s in (0, 2, 4):
        assert taken(target, now_s)
        target.finish("a", now_s, "busy", retry_after_s=2)
    (host,) = target.hosts()
    assert host.ready_s == 4 + 4 * OUTCOMES["busy"].host_wait_s
    assert words(target) == {"failing"}


def test_retry_after_is_never_shorter_than_the_delay() -> None:
    target = frontier()
    fill(target, "a", [2, 1])
    taken(target, 0)
    target.finish("a", 0, "ok", retry_after_s=0)
    assert target.next(0) == DELAY_S


def test_hosts_of_an_address_take_turns() -> None:
    target = frontier(address_delay_s=0.5, connections_per_address=2)
    for number, host in enumerate("abc"):
        fill(target, host, [1], number)
    assert taken(target, 0, "192.0.2.1").host == "a"
    assert target.next(0) == 0.5
    assert taken(target, 0.5).host == "b"
    assert target.next(9) == inf  # both of its connections are open
    target.finish("a", 9, "ok")
    assert taken(target, 9).host == "c"


def test_the_only_connection_of_an_address_is_spared_from_its_end_on() -> None:
    target = frontier(address_delay_s=0.5, connections_per_address=1)
    fill(target, "a", [1])
    fill(target, "b", [1], 1)
    taken(target, 0, "192.0.2.1")
    target.finish("a", 3, "ok")
    assert target.next(3) == 0.5


def test_addresses_do_not_wait_for_each_other() -> None:
    target = frontier(address_delay_s=5)
    fill(target, "a", [1])
    fill(target, "b", [1])
    assert target.next(0) == inf
    target.release("a", "192.0.2.1")
    target.release("b", "192.0.2.2")
    assert [taken(target, 0).host, taken(target, 0).host] == ["a", "b"]


def test_a_stop_gives_back_all_that_is_left() -> None:
    target = frontier(back_queues=2)
    fill(target, "a", [4, 2, 1])
    fill(target, "b", [3], 3)
    fill(target, "c", [1, 1], 4)
    out = taken(target, 0)
    target.stop(STOP)
    target.put_back(out)
    target.finish(out.host, 9, "ok")
    fill(target, "d", [1], 6)
    assert target.next(9) is None
    assert sorted(given_back(target)) == list(range(7))
    assert words(target) == {"time"}


def test_a_host_that_is_closed_is_asked_nothing_more() -> None:
    target = frontier(back_queues=1)
    fill(target, "a", [2, 1])
    taken(target, 0)
    target.finish("a", 0, "ok")
    target.close("a", Reason("no_robots", "robots.txt: HTTP 503"))
    fill(target, "b", [1], 2)
    assert taken(target, 5).host == "b"
    assert target.given_back == [(1, Reason("no_robots", "robots.txt: HTTP 503"))]


def own_frontier(connections: int, rows: int) -> Frontier:
    """One whose only host is the user's own, and is located."""
    target = frontier()
    target.seed_host("a", owed=Politeness(0, max_delay_s=60, connections=connections))
    fill(target, "a", [1.0] * rows)
    target.next(0)
    target.release("a")
    return target


def test_a_closed_host_leaves_its_back_queue_to_another() -> None:
    target = frontier(back_queues=2)
    fill(target, "a", [5, 4])
    for row, host in enumerate("bcd", 2):
        fill(target, host, [1], row)
    taken(target, 0)
    target.finish("a", 0, "ok")  # it waits for its delay
    target.close("a", STOP)
    assert given_back(target) == [1]
    assert [taken(target, DELAY_S).host, taken(target, DELAY_S).host] == ["b", "c"]
    assert target.next(DELAY_S) == inf, "there is no queue for d"


def test_a_host_that_comes_again_takes_a_back_queue_again() -> None:
    target = frontier(back_queues=1, delay_s=0)
    fill(target, "a", [1])
    taken(target, 0)
    target.finish("a", 0, "ok")
    fill(target, "a", [2], first=1)
    fill(target, "b", [1], first=2)
    assert taken(target, 0) == Turn("a", 1)
    assert target.next(0) == inf, "b waits for the only back queue"


def test_a_host_without_rows_that_is_closed_makes_no_room() -> None:
    target = frontier(back_queues=1)
    fill(target, "a", [3])
    taken(target, 0)
    target.finish("a", 0, "ok")
    target.close("a", STOP)
    fill(target, "b", [2, 2], first=1)
    fill(target, "c", [1], first=3)
    assert taken(target, 0) == Turn("b", 1)
    assert target.next(0) == inf, "c waits for the only back queue"


def test_an_own_host_has_as_many_requests_open_as_it_has_connections() -> None:
    target = own_frontier(3, rows=5)
    assert [taken(target, 0).row for _ in range(3)] == [0, 1, 2]
    assert target.next(0) == inf
    target.finish("a", 0, "ok")
    assert taken(target, 0).row == 3
    assert target.next(0) == inf


def test_rows_that_come_while_requests_are_open_need_not_wait_for_them() -> None:
    target = own_frontier(2, rows=1)
    taken(target, 0)
    fill(target, "a", [1.0], 1)
    assert taken(target, 0).row == 1


def test_an_own_host_that_is_busy_is_left_alone_by_all_its_connections() -> None:
    target = own_frontier(3, rows=9)
    for _ in range(3):
        taken(target, 0)
    target.finish("a", 0, "ok")
    target.finish("a", 0, "busy", retry_after_s=7)
    assert target.next(0) == 7
    assert taken(target, 7).row == 3


def test_requests_that_fail_side_by_side_are_one_failure() -> None:
    target = own_frontier(3, rows=9)
    for _ in range(3):
        taken(target, 0)
    for now_s in (1.0, 1.1, 1.2):
        target.finish("a", now_s, "timeout", elapsed_s=now_s)
    assert next(target.hosts()).failures == 1
    taken(target, 20)
    target.finish("a", 21, "timeout", elapsed_s=1)
    assert next(target.hosts()).failures == 2


def test_an_own_host_that_is_held_is_asked_nothing_more_until_it_is_released() -> None:
    target = own_frontier(3, rows=3)
    turn = taken(target, 0)
    target.hold("a")
    assert target.next(0) == inf
    target.put_back(turn)
    target.release("a")
    target.finish("a", 0, "ok")
    assert [taken(target, 0).row for _ in range(3)] == [0, 1, 2]


@st.composite
def webs(draw: st.DrawFn) -> list[tuple[str, float]]:
    hosts = st.sampled_from([f"h{n}" for n in range(6)])
    scores = st.integers(0, 5).map(float)
    return draw(st.lists(st.tuples(hosts, scores), max_size=60))


class World:
    """Hosts that answer after random times; its clock moves to what happens next."""

    def __init__(
        self, draws: random.Random, addresses: int, at_once: int, own: dict[str, int], **owed: Any
    ) -> None:
        """`own`: connections of the hosts that may have several."""
        self.draws, self.addresses, self.at_once, self.own = draws, addresses, at_once, own
        self.per_address = owed["connections_per_address"]
        self.target = frontier(max_delay_s=10, address_delay_s=0.25, **owed)
        self.now_s = 0.0
        self.out: list[tuple[float, Turn]] = []
        self.ready_s: defaultdict[str, float] = defaultdict(float)
        self.delay_s: defaultdict[str, float] = defaultdict(lambda: owed["delay_s"])
        self.address_of: dict[str, str] = {}
        self.given: Counter[int] = Counter()
        self.put_back: Counter[int] = Counter()
        self.held: set[str] = set()
        for host, connections in own.items():
            owed_to_own = Politeness(0, max_delay_s=10, max_failures=3, connections=connections)
            self.target.seed_host(host, owed=owed_to_own)
            self.delay_s[host] = 0

    def run(self, stop_s: float) -> None:
        while True:
            if self.now_s >= stop_s:
                self.target.stop(STOP)
            turn = self.target.next(self.now_s) if len(self.out) < self.at_once else inf
            located = self.locate_one()
            if isinstance(turn, Turn):
                assert self.now_s < stop_s
                self.ask(turn)
            elif not located:
                if turn is None:
                    return
                self.wait(turn, stop_s)

    def locate_one(self) -> bool:
        if not self.target.awaiting_address:
            return False
        host = self.target.awaiting_address.pop(
            self.draws.randrange(len(self.target.awaiting_address))
        )
        if self.addresses and host not in self.own:
            self.address_of[host] = f"192.0.2.{self.draws.randrange(self.addresses)}"
        self.target.release(host, self.address_of.get(host))
        return True

    def wait(self, wait_s: float, stop_s: float) -> None:
        ends_s = self.out[0][0] if self.out else inf
        self.now_s = min(self.now_s + wait_s, ends_s, max(stop_s, self.now_s))
        assert self.now_s < inf, "it would wait for ever"
        while self.out and self.out[0][0] <= self.now_s:
            _, turn = heapq.heappop(self.out)
            outcome = self.draws.choice(["ok", "ok", "ok", "timeout", "busy", "not_found"])
            wait = self.draws.choice([None, 1, 9, 11]) if outcome == "busy" else None
            if turn.host in self.held:
                self.held.discard(turn.host)
                self.target.release(turn.host)
            self.target.finish(turn.host, self.now_s, outcome, 0.0, wait)
            ready_s = self.now_s + max(self.delay_s[turn.host], wait or 0)
            self.ready_s[turn.host] = max(self.ready_s[turn.host], ready_s)

    def ask(self, turn: Turn) -> None:
        beside_it = sum(open_.host == turn.host for _, open_ in self.out)
        assert beside_it < self.own.get(turn.host, 1)
        assert turn.host not in self.held
        assert self.now_s >= self.ready_s[turn.host]
        address = self.address_of.get(turn.host, "")
        if address:
            assert self.now_s >= self.ready_s[address]
            beside = sum(self.address_of.get(open_.host) == address for _, open_ in self.out)
            assert beside < self.per_address
        self.given[turn.row] += 1
        if self.draws.random() < 0.1:
            self.target.skip(turn.host)
            return
        self.ready_s[address] = self.now_s + 0.25
        if turn.host not in self.own and self.draws.random() < 0.1:
            self.delay_s[turn.host] = max(self.delay_s[turn.host], 2.0)
            self.target.slow_down(turn.host, 2.0)
        if self.draws.random() < 0.1:
            self.target.put_back(turn)
            self.put_back[turn.row] += 1
        if self.draws.random() < 0.2:
            self.target.hold(turn.host)
            self.held.add(turn.host)
        heapq.heappush(self.out, (self.now_s + self.draws.uniform(0, 4), turn))


@given(
    pages=webs(),
    draws=st.randoms(use_true_random=False),
    delay_s=st.floats(0, 3),
    stop_s=st.sampled_from([inf, 20.0]),
    at_once=st.integers(1, 4),
    own=st.dictionaries(st.sampled_from(["h0", "h1", "h2"]), st.integers(1, 3)),
    back_queues=st.integers(1, 8),
    addresses=st.integers(0, 3),
    per_address=st.integers(1, 2),
)
def test_never_too_many_at_once_never_early_nothing_lost(
    pages: list[tuple[str, float]],
    draws: random.Random,
    delay_s: float,
    stop_s: float,
    at_once: int,
    own: dict[str, int],
    back_queues: int,
    addresses: int,
    per_address: int,
) -> None:
    world = World(
        draws,
        addresses,
        at_once,
        own,
        back_queues=back_queues,
        delay_s=delay_s,
        connections_per_address=per_address,
    )
    for row, (host, score) in enumerate(pages):
        world.target.add(host, row, score)
    world.run(stop_s)
    assert not world.out
    given_out = world.given + Counter(given_back(world.target))
    assert given_out == Counter(range(len(pages))) + world.put_back
