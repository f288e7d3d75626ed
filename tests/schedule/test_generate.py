from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gossamer.config import UpdateConfig
from gossamer.links.domains import growth_factor
from gossamer.schedule import generate
from gossamer.schedule.due.due_pages import due_pages
from gossamer.schedule.due.listing_polls import UNHURRIED_S
from gossamer.schedule.limits import part_assignment as dealing
from gossamer.schedule.order.page_scores import score_pages
from gossamer.schedule.order.score_cutoff import Sample
from gossamer.schedule.selection import DuePages, above_cutoff, select_best
from gossamer.state import lsm, table_io
from gossamer.tables import HOSTS
from gossamer.tables.fetching import RHYTHM_S
from gossamer.web.urls import domain_of
from tests.support.rows import NOW_MS, by_url, frame, put

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.state.workspace import Workspace


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
    scores = work.engine.spark.createDataFrame(
        [(row["url"], row["score"]) for row in rows], "url string, score double"
    )
    due = due_pages(frame(work, "pages", rows), now_ms=1, config=UpdateConfig()).join(
        scores, on="url"
    )
    found = by_url(select_best(due, total, per_host))
    assert sorted(found) == sorted(plain_choice(rows, total, per_host))


@pytest.mark.parametrize(
    ("row", "due"),
    [
        ({"status": "unfetched"}, True),
        ({"status": "fetched"}, True),
        ({"status": "redirected"}, True),
        ({"status": "excluded"}, True),
        ({"status": "gone"}, True),
        ({"status": "alias"}, False),
        ({"status": "fetched", "next_fetch_ms": 101}, False),
        ({"status": "unfetched", "next_fetch_ms": 100}, True),
    ],
)
def test_what_is_due(work: Workspace, row: dict[str, Any], due: bool) -> None:
    pages = frame(work, "pages", [{"url": "http://a.example/"} | row])
    assert bool(due_pages(pages, now_ms=100, config=UpdateConfig()).collect()) is due


def test_a_listing_rests_between_visits_only_in_a_crawl_that_ends(work: Workspace) -> None:
    row = {"url": "http://a.example/", "status": "fetched", "interval_s": RHYTHM_S}
    visited_ms = NOW_MS - 1_000
    pages = frame(work, "pages", [row | {"next_fetch_ms": NOW_MS, "fetched_ms": visited_ms}])
    assert due_pages(pages, NOW_MS, UpdateConfig()).count() == 1
    rested_ms = visited_ms + UNHURRIED_S * 1_000
    for now_ms, count in ((NOW_MS, 0), (rested_ms - 1, 0), (rested_ms, 1)):
        assert due_pages(pages, now_ms, UpdateConfig(), is_endless=False).count() == count


LONGEST_MS = 480 * 86_400_000


@pytest.mark.parametrize(
    ("row", "due"),
    [
        ({"next_fetch_ms": NOW_MS + LONGEST_MS, "fetched_ms": NOW_MS}, False),
        ({"next_fetch_ms": NOW_MS + LONGEST_MS + 1, "fetched_ms": NOW_MS}, True),
        ({"next_fetch_ms": NOW_MS + LONGEST_MS + 1}, True),
        ({"next_fetch_ms": NOW_MS + 1}, False),
        ({"next_fetch_ms": NOW_MS + 1, "fetched_ms": NOW_MS + 86_399_999}, False),
        ({"next_fetch_ms": NOW_MS + 1, "fetched_ms": NOW_MS + 86_400_000}, True),
    ],
)
def test_due_times_of_a_clock_that_was_ahead_are_not_believed(
    work: Workspace, row: dict[str, Any], due: bool
) -> None:
    pages = frame(work, "pages", [{"url": "http://a.example/", "status": "fetched"} | row])
    assert bool(due_pages(pages, NOW_MS, UpdateConfig()).collect()) is due


@pytest.mark.parametrize("few", [0, 1_000])
def test_a_domain_has_one_part_and_parts_have_equal_loads(
    work: Workspace, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(table_io, "FEW", few)
    hosts = {"www.big.example": 40, "m.big.example": 20, "b.example": 30, "c.example": 30}
    rows = [
        {"url": f"http://{host}/{i}", "host": host} for host, n in hosts.items() for i in range(n)
    ]
    chosen = due_pages(frame(work, "pages", rows), now_ms=1, config=UpdateConfig())
    parted = dealing.assign_parts(work, chosen, lsm.current(work, HOSTS)).collect()
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
    rows = [{"url": f"http://a.example/{i}", "inlinks": i} for i in range(9)]
    put(work, "pages", rows)
    config = msgspec.structs.replace(work.config.generate, pages_per_host=2)
    work.config = msgspec.structs.replace(work.config, generate=config)
    generate.run(work)
    assert set(by_url(work.read("fetchlist"))) == {"http://a.example/8", "http://a.example/7"}


def hosts(work: Workspace, **ready: dict[str, Any]) -> None:
    rows = [{"host": f"{name}.example"} | columns for name, columns in ready.items()]
    put(work, "hosts", rows, round_=0)


def chosen(work: Workspace, **settings: float) -> list[str]:
    work.config = msgspec.structs.replace(
        work.config, generate=msgspec.structs.replace(work.config.generate, **settings)
    )
    generate.run(work)
    return sorted(row["url"] for row in work.read("fetchlist").collect())


def page(host: str, path: object, score: float = 1, **columns: Any) -> dict[str, Any]:
    """A page with so many inlinks that the scores of pages are in the order of `score`."""
    of_host = {"url": f"http://{host}.example/{path}", "host": f"{host}.example"}
    return of_host | {"inlinks": int(1_000 * score)} | columns


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


def farm(hosts: int, **columns: Any) -> list[dict[str, Any]]:
    """A page on each of the endless hosts of one domain."""
    return [page(f"a{n}.farm", "", **columns) for n in range(hosts)]


def good(domains: int, pages: int, **columns: Any) -> list[dict[str, Any]]:
    return [page(f"good{n}", m, **columns) for n in range(domains) for m in range(pages)]


def of_farm(urls: list[str]) -> int:
    return sum(".farm.example/" in url for url in urls)


def last_counts(work: Workspace) -> dict[str, int]:
    (report,) = [done for done in work.store.manifest.history if done.step == "generate"]
    return report.counts


def test_a_farm_of_host_names_takes_the_share_of_one_domain(work: Workspace) -> None:
    put(work, "pages", [*farm(500, score=9.0), *good(30, 20)], round_=0)
    found = chosen(work, pages=100, domain_share=0.1)
    assert len(found) == 100
    assert of_farm(found) <= 4  # all are alike, and 31 share the round
    assert last_counts(work) == {"pages": 100, "postponed_domain": 100 - of_farm(found)}


def test_what_a_farm_cannot_take_now_is_still_known(work: Workspace) -> None:
    put(work, "pages", [*farm(50, score=9.0), *good(30, 20)], round_=0)
    chosen(work, pages=100)
    assert work.read("pages").count() == 650


def test_a_farm_fills_a_round_that_others_leave_empty(work: Workspace) -> None:
    put(work, "pages", [*farm(500, score=9.0), *good(30, 2)], round_=0)
    found = chosen(work, pages=100)
    assert (len(found), of_farm(found)) == (100, 40)


def test_where_all_is_due_at_once_nothing_is_held_back(work: Workspace) -> None:
    put(work, "pages", [*farm(50), *good(3, 2)], round_=0)
    assert len(chosen(work, pages=56)) == 56
    assert last_counts(work) == {"pages": 56}


def test_a_round_is_filled_from_more_pages_than_it_takes(
    work: Workspace,
) -> None:
    put(work, "pages", good(5, 1), round_=0)
    assert len(chosen(work, pages=3, domain_share=1.0)) == 3


def test_a_crawl_of_one_domain_takes_whole_rounds(work: Workspace) -> None:
    put(work, "pages", farm(500), round_=0)
    assert len(chosen(work, pages=100, domain_share=0.01)) == 100


def test_a_domain_has_the_more_of_a_round_the_more_domains_link_to_it(work: Workspace) -> None:
    def linked(name: str, voters: int) -> dict[str, Any]:
        names = [f"v{n}.example" for n in range(voters)]
        return {"domain": f"{name}.example", "seed": False, "linked_from": names}

    put(work, "domains", [linked("good0", 4), linked("good1", 2), linked("good2", 200)], round_=0)
    put(work, "pages", good(4, 1_000), round_=0)
    found = chosen(work, pages=400, domain_share=0.5)
    shares = [sum(f"//good{n}." in url for url in found) for n in range(4)]
    # Budgets of 8, 4, 200 and 2 pages, grown by 400/214 and rounded up: one page too many.
    assert shares == [15, 8, 374, 3]


@pytest.mark.parametrize("fetched", [True, False])
def test_a_seed_s_domain_has_its_full_share(work: Workspace, fetched: bool) -> None:
    if fetched:
        put(work, "domains", [{"domain": "good0.example", "seed": True, "linked_from": []}], 0)
    seed = [] if fetched else [page("good0", "seed", depth=0, score=9.0)]
    put(work, "pages", [*farm(900, score=9.0), *good(30, 50), *seed], round_=0)
    found = chosen(work, pages=200, domain_share=0.1)
    assert sum("//good0." in url for url in found) >= 20
    assert of_farm(found) <= 20


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 500), st.integers(1, 100)), min_size=1, max_size=30),
    st.integers(1, 3_000),
)
def test_budgets_grow_alike_until_the_round_is_full(
    drawn: list[tuple[int, int]], total: int
) -> None:
    supply, budget = np.array(drawn, np.int64).T
    grown = growth_factor(supply, budget, total)
    if supply.sum() <= total:
        assert grown == np.inf
    elif np.minimum(supply, budget).sum() >= total:
        assert grown == 1
    else:
        assert np.minimum(supply, budget * grown).sum() == pytest.approx(total)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.floats(1e-3, 1e3)),
        max_size=60,
    ),
    st.integers(1, 20),
    st.one_of(st.none(), st.integers(1, 4)),
)
def test_what_is_looked_at_is_enough_for_the_choice(
    new_work: Callable[[], Workspace],
    drawn: list[tuple[str, str, float]],
    total: int,
    every: int | None,
) -> None:
    """Of all due pages, `best` chooses what it chooses of the promising ones.

    Every so many of them are the sample.
    """
    work = new_work()
    rows = [
        page(f"{host}.{domain}", i, score=score) for i, (host, domain, score) in enumerate(drawn)
    ]
    config = msgspec.structs.replace(
        work.config.generate, pages=total, pages_per_host=4, domain_share=0.3
    )
    due = score_pages(work, due_pages(frame(work, "pages", rows), now_ms=1, config=UpdateConfig()))
    some = None
    if every is not None:
        sampled = due_pages(frame(work, "pages", rows[::every]), now_ms=1, config=UpdateConfig())
        some = Sample(score_pages(work, sampled), 1 / every)
    contenders = above_cutoff(work, DuePages([due]), config, some)
    if contenders is None:
        assert not rows
        return
    above, budgets = contenders
    picked = select_best(above, total, 4, budgets).where("chosen")
    of_all = select_best(due, total, 4, budgets).where("chosen")
    assert sorted(by_url(picked)) == sorted(by_url(of_all))
    of_hosts = Counter((host, domain) for host, domain, _ in drawn)
    assert len(by_url(picked)) == min(total, sum(min(4, pages) for pages in of_hosts.values()))


@pytest.mark.parametrize("own", ["docs.example", "*.example", "10.1.2.0/24"])
def test_limits_of_hosts_and_domains_do_not_hold_for_own_hosts(work: Workspace, own: str) -> None:
    fetch = msgspec.structs.replace(work.config.fetch, own_hosts=(own,))
    work.config = msgspec.structs.replace(work.config, fetch=fetch)
    docs = [page("docs", n, score=2.0) for n in range(60)]
    others = [
        row | {"url": row["url"].replace(".example", ".test"), "host": "a.test"}
        for row in (page("a", n) for n in range(60))
    ]
    put(work, "pages", docs + others, round_=0)
    hosts(work, docs={"address": "10.1.2.3", "ready_ms": 0})
    found = chosen(work, pages=70, pages_per_host=5, domain_share=0.01)
    assert [sum(f"//{host}/" in url for url in found) for host in ("docs.example", "a.test")] == [
        60,
        5,
    ]


def test_an_own_host_gets_no_more_pages_in_all_rounds_than_its_limit(work: Workspace) -> None:
    fetch = msgspec.structs.replace(work.config.fetch, own_hosts=("docs.example",))
    work.config = msgspec.structs.replace(work.config, fetch=fetch)
    put(work, "pages", [page("docs", n) for n in range(60)], round_=0)
    assert len(chosen(work, pages=100, pages_per_host=5, pages_per_host_ever=20)) == 20


def test_own_hosts_beside_a_farm_take_what_their_scores_are_worth(work: Workspace) -> None:
    fetch = msgspec.structs.replace(work.config.fetch, own_hosts=("a7.farm.example",))
    work.config = msgspec.structs.replace(work.config, fetch=fetch)
    own = [page("a7.farm", n, score=5.0) for n in range(80)]
    put(work, "pages", [*own, *farm(500, score=3.0), *good(30, 20)], round_=0)
    found = chosen(work, pages=200, pages_per_host=50, domain_share=0.02)
    assert sum("//a7.farm." in url for url in found) == 80 + 1
    assert of_farm(found) - 81 <= 8


DAY_MS = 86_400_000


@pytest.mark.parametrize(("days", "due"), [(30, False), (11, False), (10, True), (1, True)])
def test_an_interval_that_is_changed_takes_effect_on_known_pages(
    work: Workspace, days: int, due: bool
) -> None:
    """Fetched ten days ago, when the interval was 30 days."""
    row = {"url": "http://a.example/", "status": "fetched", "interval_s": 30 * 86_400}
    pages = frame(work, "pages", [row | {"next_fetch_ms": 30 * DAY_MS, "outcome": "ok"}])
    found = due_pages(pages, now_ms=10 * DAY_MS, config=UpdateConfig(interval_days=days))
    assert bool(found.collect()) is due


def test_the_wait_of_a_retry_does_not_depend_on_the_interval(work: Workspace) -> None:
    row = {"url": "http://a.example/", "failures": 1, "next_fetch_ms": 101, "outcome": "timeout"}
    pages = frame(work, "pages", [row])
    assert not due_pages(pages, now_ms=100, config=UpdateConfig(interval_days=1 / 86_400)).collect()


def visited(
    host: str, path: object, days: float, of_days: float = 20, **columns: Any
) -> dict[str, Any]:
    """A stored page that was visited some days ago and is due so many days after its visit."""
    now_ms = 1_800_000_000_000
    at_ms = now_ms - int(days * DAY_MS)
    times = {"fetched_ms": at_ms, "stored_ms": at_ms}
    times["next_fetch_ms"] = at_ms + int(of_days * DAY_MS)
    state = {"status": "fetched", "outcome": "ok", "fetches": 1}
    return page(host, path, **{**state, **times, **columns})


@pytest.mark.parametrize("pages", [3, 9])
def test_pages_that_are_not_due_are_not_chosen(work: Workspace, pages: int) -> None:
    """However many places a round has, and however good they are."""
    due = [visited("a", n, 21) for n in range(3)]
    put(work, "pages", [*due, visited("b", "later", 19, score=1e3)], round_=0)
    assert chosen(work, pages=pages) == [page["url"] for page in due]
