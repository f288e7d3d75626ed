"""Brief rounds choose among the newest rows; at times, a round looks at all pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gossamer.schedule import generate
from gossamer.schedule.due import round_length
from gossamer.storage.store import StepReport
from gossamer.tables import FETCHLIST
from gossamer.tables.fetching import RHYTHM_S
from tests.support.rows import put

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

NOW_MS = 1_800_000_000_000
TOOK_S = 2.0
"""The seconds of the last round that looked at all pages."""
WAIT_MS = int(1000 * TOOK_S * (round_length.PARTS - 1))
A, B, C = (f"http://{name}.example/" for name in "abc")


@pytest.fixture
def busy(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A crawl without end with a page in its base, one in a newer layer, and a feed."""
    monkeypatch.setattr(round_length, "LEAST_ROWS", 1)
    begun(work, {A}, {B})
    return work


def begun(work: Workspace, *layers: set[str]) -> None:
    for number, urls in enumerate(layers):
        put(work, "pages", [{"url": url} for url in urls], number)
    feed = {"from_ms": NOW_MS, "interval_s": RHYTHM_S, "fetched": True, "pages": 1}
    put(work, "due_times", [feed], 2)
    work.is_endless = True
    work.clock_ms = NOW_MS


def looked(work: Workspace, round_: int = 1, **counts: int) -> None:
    """Report that `generate` has just ended."""
    began_ms = work.now_ms() - int(1000 * TOOK_S)
    work.store.commit(StepReport("generate", round_, began_ms, TOOK_S, counts))


def chosen(work: Workspace) -> set[str]:
    generate.run(work)
    return {row.url for row in work.read(FETCHLIST.name).select("url").collect()}


def left_alone(work: Workspace) -> int:
    return work.store.manifest.history[-1].counts.get(round_length.LEFT_ALONE, 0)


def test_the_first_round_looks_at_all_pages(busy: Workspace) -> None:
    assert chosen(busy) == {A, B}
    assert not left_alone(busy)


def test_a_brief_round_leaves_the_base_alone(busy: Workspace) -> None:
    looked(busy)
    assert chosen(busy) == {B}
    assert left_alone(busy) == 1


def test_a_row_in_the_base_that_was_replaced_is_not_chosen(busy: Workspace) -> None:
    put(busy, "pages", [{"url": A, "status": "alias"}], 3)
    looked(busy)
    assert chosen(busy) == {B}


@pytest.mark.parametrize(("early_ms", "found"), [(1, {B}), (0, {A, B})])
def test_all_pages_are_looked_at_again_after_a_while(
    busy: Workspace, early_ms: int, found: set[str]
) -> None:
    looked(busy)
    busy.clock_ms = NOW_MS + WAIT_MS // 2
    looked(busy, left_alone=1)
    busy.clock_ms = NOW_MS + WAIT_MS - early_ms
    assert chosen(busy) == found


def test_a_look_by_a_clock_that_was_ahead_does_not_count(busy: Workspace) -> None:
    busy.clock_ms = NOW_MS + 1000 * WAIT_MS + 86_400_000
    looked(busy)
    busy.clock_ms = NOW_MS
    assert chosen(busy) == {A, B}


def test_a_round_that_is_not_brief_looks_at_all_pages(busy: Workspace) -> None:
    busy.is_endless = False
    looked(busy)
    assert chosen(busy) == {A, B}


def test_a_small_base_is_not_left_alone(work: Workspace) -> None:
    begun(work, {A}, {B})
    looked(work)
    assert chosen(work) == {A, B}


def test_a_base_is_not_left_alone_without_newer_layers(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(round_length, "LEAST_ROWS", 1)
    begun(work, {A})
    looked(work)
    assert chosen(work) == {A}


def test_a_base_that_is_newer_than_the_last_look_is_looked_at(busy: Workspace) -> None:
    looked(busy, round_=0)
    assert chosen(busy) == {A, B}


@pytest.mark.parametrize(
    ("newer", "due_ms"),
    [
        ({"next_fetch_ms": NOW_MS + 5_000}, NOW_MS + 5_000),
        ({"next_fetch_ms": NOW_MS + 2 * WAIT_MS}, NOW_MS + WAIT_MS),
        ({"status": "alias"}, NOW_MS + WAIT_MS),
    ],
)
def test_the_next_page_is_due_at_the_next_look_at_the_latest(
    busy: Workspace, newer: dict[str, Any], due_ms: int
) -> None:
    put(busy, "pages", [{"url": B} | newer], 3)
    looked(busy)
    assert round_length.next_due_ms(busy, NOW_MS) == due_ms


def test_a_look_at_all_pages_finds_when_one_is_due(busy: Workspace) -> None:
    put(busy, "pages", [{"url": C, "next_fetch_ms": NOW_MS + 7_000}], 3)
    assert round_length.next_due_ms(busy, NOW_MS) == NOW_MS + 7_000


@pytest.mark.parametrize(
    ("host", "due_ms"),
    [
        ({"ready_ms": NOW_MS + 90_000}, NOW_MS + 88_000),
        ({"ready_ms": NOW_MS + 1_000}, NOW_MS + 500),
        ({"ready_ms": NOW_MS - 1}, NOW_MS + 500),
        ({"ready_ms": NOW_MS + 90_000, "host": "other.example"}, NOW_MS + 500),
    ],
)
def test_a_page_is_due_when_a_round_would_wait_for_its_host(
    work: Workspace, host: dict[str, Any], due_ms: int
) -> None:
    """A brief round waits for BRISK_S, if no other step took any time."""
    begun(work, {A})
    put(work, "pages", [{"url": A, "next_fetch_ms": NOW_MS + 500}], 2)
    contacted = {"host": "a.example", "contacted_ms": NOW_MS - 1_000}
    put(work, "hosts", [contacted | host], 2)
    assert round_length.patience_ms(work) == 2_000
    assert round_length.next_due_ms(work, NOW_MS) == due_ms
