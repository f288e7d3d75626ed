"""Manners, judged from the server's log."""

from __future__ import annotations

import pytest

from gossamer.fakeweb.request_log import LogEntry, group_by_host
from tests.support import politeness_audit
from tests.support.polite_crawl import Delays, crawl


@pytest.mark.server
@pytest.mark.parametrize(
    ("hosts", "pages", "delays"),
    [
        pytest.param(45, 12, Delays(0.05, 0.08, 0.01), id="short delays"),
        pytest.param(1_100, 100, Delays(), id="100,000 requests", marks=pytest.mark.long),
    ],
)
def test_no_request_is_early_or_forbidden_or_beside_another(
    hosts: int, pages: int, delays: Delays
) -> None:
    requests, *faults, _ = crawl(hosts, pages, delays)
    assert requests > hosts * pages / 2
    assert not any(faults), faults


def entry(at_s: float, host: str = "a", status: int = 200, connection: int = 1) -> LogEntry:
    return LogEntry(at_s, at_s, connection, 1, "127.0.0.1", "GET", host, "/", status, 0)


def test_a_gap_is_early_if_it_is_shorter_than_what_is_owed() -> None:
    log = [entry(0), entry(1), entry(1.5), entry(9, "b")]
    gaps = politeness_audit.gaps(group_by_host(log)["a"], lambda _entry, _failures: 1.0)
    assert [gap.early for gap in gaps] == [False, True]


def test_failures_in_a_row_are_told_to_who_says_what_is_owed() -> None:
    log = [entry(n, status=status) for n, status in enumerate((429, 503, 200, 429, 200))]
    assert [gap.owed_s for gap in politeness_audit.gaps(log, lambda _, failures: failures)] == [
        1,
        2,
        0,
        1,
    ]


def test_two_connections_at_a_time_are_seen() -> None:
    assert (
        politeness_audit.overlapping_connections([entry(n, connection=n) for n in (1, 2, 3)]) == 0
    )
    assert (
        politeness_audit.overlapping_connections([entry(0, connection=c) for c in (1, 2, 1)]) == 1
    )


def test_what_is_permitted_is_bound_by_the_slowest_host_or_by_the_address() -> None:
    hosts = [[entry(0), entry(5)], [entry(1, "b"), entry(2, "b"), entry(3, "b")]]
    assert politeness_audit.permitted_s(hosts, lambda *_: 1.0, address_delay_s=0.1) == 2.0
    assert politeness_audit.permitted_s(hosts, lambda *_: 1.0, address_delay_s=1.0) == 4.0
