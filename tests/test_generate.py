from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gossamer import generate
from gossamer.urls import domain_of
from rows import by_url, frame, put

if TYPE_CHECKING:
    from gossamer.workspace import Workspace


def plain_choice(rows: list[dict[str, Any]], total: int, per_host: int) -> list[str]:
    """The definition, one row at a time."""
    taken: dict[str, int] = defaultdict(int)
    chosen: list[str] = []
    for row in sorted(rows, key=lambda row: (-row["score"], row["url"])):
        if taken[row["host"]] < per_host and len(chosen) < total:
            taken[row["host"]] += 1
            chosen.append(row["url"])
    return chosen


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.floats(1e-6, 1e6)), max_size=60),
    st.integers(1, 20),
    st.integers(1, 8),
)
def test_best_is_the_plain_choice(
    work: Workspace, drawn: list[tuple[str, float]], total: int, per_host: int
) -> None:
    rows = [
        {"url": f"http://{host}.example/{i}", "host": host, "score": score}
        for i, (host, score) in enumerate(drawn)
    ]
    due = generate.due_pages(frame(work, "pages", rows), now_ms=1)
    found = by_url(generate.best(due, total, per_host))
    assert sorted(found) == sorted(plain_choice(rows, total, per_host))


@pytest.mark.parametrize(
    ("row", "due"),
    [
        ({"status": "unfetched"}, True),
        ({"status": "fetched"}, True),
        ({"status": "redirected"}, True),
        ({"status": "excluded"}, True),
        ({"status": "gone"}, False),
        ({"status": "fetched", "next_fetch_ms": 101}, False),
        ({"status": "unfetched", "next_fetch_ms": 100}, True),
    ],
)
def test_what_is_due(work: Workspace, row: dict[str, Any], due: bool) -> None:
    pages = frame(work, "pages", [{"url": "http://a.example/"} | row])
    assert bool(generate.due_pages(pages, now_ms=100).collect()) is due


def test_a_domain_has_one_part_and_parts_have_equal_loads(work: Workspace) -> None:
    hosts = {"www.big.example": 40, "m.big.example": 20, "b.example": 30, "c.example": 30}
    rows = [
        {"url": f"http://{host}/{i}", "host": host} for host, n in hosts.items() for i in range(n)
    ]
    chosen = generate.due_pages(frame(work, "pages", rows), now_ms=1)
    parted = generate.with_parts(work.engine, chosen, 2).collect()
    assert len(parted) == 120
    parts = defaultdict(set)
    loads: dict[int, int] = defaultdict(int)
    for row in parted:
        parts[domain_of(row["url"])].add(row["part"])
        loads[row["part"]] += 1
    assert all(len(of_domain) == 1 for of_domain in parts.values())
    assert dict(loads) == {0: 60, 1: 60}


def test_run_starts_the_next_round(work: Workspace) -> None:
    put(work, "pages", [{"url": "http://a.example/", "depth": 3, "etag": '"e"'}], round_=4)
    report = generate.run(work)
    assert (report.round, report.counts) == (5, {"pages": 1})
    (row,) = work.read("fetchlist").collect()
    assert (row["round"], row["url"], row["depth"], row["etag"]) == (
        5,
        "http://a.example/",
        3,
        '"e"',
    )


def test_nothing_due_is_an_empty_fetchlist(work: Workspace) -> None:
    assert generate.run(work).counts == {"pages": 0}
    assert work.read("fetchlist").collect() == []


def test_settings_bound_the_round(work: Workspace) -> None:
    rows = [{"url": f"http://a.example/{i}", "score": float(i + 1)} for i in range(9)]
    put(work, "pages", rows)
    config = msgspec.structs.replace(work.config.generate, pages_per_host=2)
    work.config = msgspec.structs.replace(work.config, generate=config)
    generate.run(work)
    assert set(by_url(work.read("fetchlist"))) == {"http://a.example/8", "http://a.example/7"}


def hosts(work: Workspace, **ready: dict[str, Any]) -> None:
    rows = [{"host": f"{name}.example"} | columns for name, columns in ready.items()]
    put(work, "hosts", rows, round_=0)


def chosen(work: Workspace, **settings: int) -> list[str]:
    work.config = msgspec.structs.replace(
        work.config, generate=msgspec.structs.replace(work.config.generate, **settings)
    )
    generate.run(work)
    return sorted(row["url"] for row in work.read("fetchlist").collect())


def page(host: str, path: object, **columns: Any) -> dict[str, Any]:
    return {"url": f"http://{host}.example/{path}", "host": f"{host}.example"} | columns


def test_hosts_that_must_be_left_alone_wait_for_a_later_round(work: Workspace) -> None:
    now_ms = work.now_ms()
    patience_ms = int(work.config.fetch.max_delay_s * 1000)
    put(work, "pages", [page(host, "") for host in "abc"], round_=0)
    hosts(work, a={"ready_ms": now_ms + patience_ms}, b={"ready_ms": now_ms + patience_ms + 1})
    assert chosen(work) == ["http://a.example/", "http://c.example/"]


def test_a_budget_for_all_rounds_is_exact_to_the_page(work: Workspace) -> None:
    known = [page("a", n, score=float(n)) for n in range(9)]
    asked = [page("a", f"old{n}", score=0.5, fetched_ms=1) for n in range(2)]
    put(work, "pages", [*known, *asked, *(page("b", n) for n in range(3))], round_=0)
    hosts(work, a={"pages": 7}, b={"pages": 99})
    found = chosen(work, pages_per_host_ever=10)
    assert found == [f"http://a.example/{path}" for path in (6, 7, 8, "old0", "old1")]
    (report,) = [done for done in work.store.manifest.history if done.step == "generate"]
    assert report.counts == {"pages": 5, "dropped_budget": 9}


def test_a_budget_holds_for_hosts_that_were_never_met(work: Workspace) -> None:
    put(work, "pages", [page("a", n) for n in range(9)], round_=0)
    assert len(chosen(work, pages_per_host_ever=4)) == 4


def test_both_budgets_hold(work: Workspace) -> None:
    put(work, "pages", [page(host, n) for host in "ab" for n in range(9)], round_=0)
    hosts(work, a={"pages": 8})
    found = chosen(work, pages_per_host_ever=10, pages_per_host=3)
    assert [sum(f"//{host}." in url for url in found) for host in "ab"] == [2, 3]
