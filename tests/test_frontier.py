from __future__ import annotations

import heapq
from collections import defaultdict
from math import inf
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.fetch.frontier import Entry, Frontier

if TYPE_CHECKING:
    import random

DELAY_S = 1.0


def frontier(
    *, delay_s: float = DELAY_S, max_delay_s: float = 60, max_failures: int = 3, ends_s: float = inf
) -> Frontier:
    return Frontier(
        delay_s=delay_s, max_delay_s=max_delay_s, max_failures=max_failures, deadline_s=ends_s
    )


def fill(target: Frontier, host: str, scores: list[float]) -> None:
    for row, score in enumerate(scores):
        target.add(f"http://{host}/{row}", host, score, row)


def taken(target: Frontier, now_s: float) -> Entry:
    entry = target.next(now_s)
    assert isinstance(entry, Entry)
    return entry


def reasons(target: Frontier) -> set[str]:
    return {reason for _, reason in target.postponed}


def test_an_empty_frontier_is_done() -> None:
    assert frontier().next(0) is None


def test_a_host_is_asked_in_falling_order_of_scores_then_by_url() -> None:
    target = frontier(delay_s=0)
    fill(target, "a", [0.5, 2.0, 1.0, 2.0])
    rows = []
    for _ in range(4):
        entry = taken(target, 0)
        rows.append(entry.row)
        target.done("a", 0, "ok")
    assert rows == [1, 3, 2, 0]


def test_a_host_that_is_out_is_not_asked_again() -> None:
    target = frontier(delay_s=0)
    fill(target, "a", [1, 2])
    taken(target, 0)
    assert target.next(1_000) == inf
    target.done("a", 1_000, "ok")
    assert taken(target, 1_000).row == 0


def test_the_delay_begins_when_the_exchange_has_ended() -> None:
    target = frontier()
    fill(target, "a", [1, 2])
    taken(target, 0)
    target.done("a", 7.0, "ok")
    assert target.next(7.25) == pytest.approx(0.75)
    assert taken(target, 8.0).row == 0


def test_other_hosts_do_not_wait() -> None:
    target = frontier()
    fill(target, "a", [1, 1])
    fill(target, "b", [1])
    assert [taken(target, 0).host, taken(target, 0).host] == ["a", "b"]


def test_a_host_stays_slow_after_its_queue_was_empty() -> None:
    target = frontier()
    fill(target, "a", [1])
    taken(target, 0)
    target.done("a", 0, "ok")
    assert target.next(0) is None
    fill(target, "a", [1])
    assert target.next(0) == DELAY_S


def test_a_skipped_entry_costs_no_delay() -> None:
    target = frontier()
    fill(target, "a", [1, 2])
    taken(target, 0)
    target.skip("a")
    assert taken(target, 0).row == 0


def test_an_entry_that_is_put_back_comes_again_after_the_delay() -> None:
    target = frontier()
    fill(target, "a", [1, 2])
    entry = taken(target, 0)
    target.put_back(entry)
    target.done("a", 0, "ok")
    assert target.next(0) == DELAY_S
    assert taken(target, DELAY_S) == entry


def test_a_crawl_delay_can_only_slow_us_down() -> None:
    target = frontier()
    fill(target, "a", [1, 2, 3])
    taken(target, 0)
    target.slow_down("a", 0.1)
    target.done("a", 0, "ok")
    assert target.next(0) == DELAY_S
    taken(target, 1)
    target.slow_down("a", 5)
    target.done("a", 1, "ok")
    assert target.next(1) == 5


def test_a_crawl_delay_beyond_patience_postpones_the_host() -> None:
    target = frontier()
    fill(target, "a", [1, 2, 3])
    entry = taken(target, 0)
    target.put_back(entry)
    target.slow_down("a", 61)
    target.done("a", 0, "ok")
    assert target.next(1e9) is None
    assert [entry.row for entry, _ in target.postponed] == [2, 1, 0]
    assert reasons(target) == {"the host asks for 61 s between requests"}


def test_failures_in_a_row_postpone_the_rest_of_the_host() -> None:
    target = frontier(delay_s=0, max_failures=2)
    fill(target, "a", [5, 4, 3, 2, 1])
    for outcome in ("timeout", "ok", "timeout", "unreachable"):
        assert not target.postponed
        taken(target, 0)
        target.done("a", 0, outcome)
    assert target.next(0) is None
    assert [entry.row for entry, _ in target.postponed] == [4]
    assert reasons(target) == {"2 failures in a row, the last: unreachable"}


def test_a_page_that_fails_says_nothing_of_its_host() -> None:
    target = frontier(delay_s=0, max_failures=1)
    fill(target, "a", [1, 1, 1, 1])
    for outcome in ("not_found", "server_error", "broken"):
        taken(target, 0)
        target.done("a", 0, outcome)
    assert taken(target, 0).row == 3


def test_retry_after_is_waited_for_as_long_as_patience_lasts() -> None:
    target = frontier()
    fill(target, "a", [3, 2, 1])
    taken(target, 0)
    target.done("a", 0, "busy", retry_after_s=30)
    assert target.next(0) == 30
    taken(target, 30)
    target.done("a", 30, "busy", retry_after_s=61)
    assert target.next(1e9) is None
    assert reasons(target) == {"the host asked us to wait 61 s"}


def test_retry_after_is_never_shorter_than_the_delay() -> None:
    target = frontier()
    fill(target, "a", [2, 1])
    taken(target, 0)
    target.done("a", 0, "busy", retry_after_s=0)
    assert target.next(0) == DELAY_S


def test_the_deadline_postpones_all_that_is_left() -> None:
    target = frontier(ends_s=2.5)
    fill(target, "a", [5, 4, 3, 2, 1])
    fill(target, "b", [1])
    taken(target, 0)
    taken(target, 0)
    target.done("a", 2, "ok")
    assert target.next(2) == 0.5  # until the deadline, not until the host is ready
    assert target.next(2.5) == inf  # b is out still
    target.done("b", 9, "ok")
    assert target.next(9) is None
    assert len(target.postponed) == 4
    assert reasons(target) == {"the round's time was over"}


def test_what_is_put_back_after_the_deadline_is_postponed() -> None:
    target = frontier(ends_s=1)
    fill(target, "a", [1])
    target.put_back(taken(target, 0))
    target.done("a", 5, "ok")
    assert target.next(5) is None
    assert len(target.postponed) == 1


@st.composite
def webs(draw: st.DrawFn) -> list[tuple[str, float]]:
    hosts = st.sampled_from([f"h{n}" for n in range(6)])
    scores = st.integers(0, 5).map(float)
    return draw(st.lists(st.tuples(hosts, scores), max_size=60))


@given(
    pages=webs(),
    draws=st.randoms(use_true_random=False),
    delay_s=st.floats(0, 3),
    ends_s=st.sampled_from([inf, 20.0]),
    at_once=st.integers(1, 4),
)
def test_never_two_at_once_never_early_nothing_lost(
    pages: list[tuple[str, float]],
    draws: random.Random,
    delay_s: float,
    ends_s: float,
    at_once: int,
) -> None:
    """A simulation: the clock moves to what happens next; hosts answer after random times."""
    target = frontier(delay_s=delay_s, max_delay_s=10, max_failures=3, ends_s=ends_s)
    for row, (host, score) in enumerate(pages):
        target.add(f"http://{host}/{row}", host, score, row)
    now_s = 0.0
    out: list[tuple[float, Entry]] = []
    earliest: dict[str, float] = defaultdict(float)
    delays: dict[str, float] = defaultdict(lambda: delay_s)
    last_order: dict[str, tuple[float, str]] = {}
    given_rows: list[int] = []
    while True:
        turn = target.next(now_s) if len(out) < at_once else inf
        if turn is None:
            break
        if isinstance(turn, float):
            now_s = min(now_s + turn, out[0][0] if out else inf)
            while out and out[0][0] <= now_s:
                _, entry = heapq.heappop(out)
                outcome = draws.choice(["ok", "ok", "ok", "timeout", "busy", "not_found"])
                wait_s = draws.choice([None, 1, 9, 11]) if outcome == "busy" else None
                target.done(entry.host, now_s, outcome, wait_s)
                earliest[entry.host] = now_s + max(delays[entry.host], wait_s or 0)
            continue
        assert turn.host not in {entry.host for _, entry in out}
        assert now_s >= earliest[turn.host]
        assert now_s < ends_s
        order = (turn.order, turn.url)
        assert order > last_order.get(turn.host, (-inf, ""))
        last_order[turn.host] = order
        given_rows.append(turn.row)
        if draws.random() < 0.1:
            target.skip(turn.host)
            continue
        if draws.random() < 0.1:
            delays[turn.host] = max(delays[turn.host], 2.0)
            target.slow_down(turn.host, 2.0)
        heapq.heappush(out, (now_s + draws.uniform(0, 4), turn))
    assert not out
    left = [entry.row for entry, _ in target.postponed]
    assert sorted(given_rows + left) == list(range(len(pages)))
