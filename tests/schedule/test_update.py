from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from gossamer.config import Config
from gossamer.errors import UsageError
from gossamer.schedule import update
from gossamer.state import lsm
from gossamer.state.workspace import Workspace
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.store import Store
from gossamer.tables import PAGES
from gossamer.tables.outcomes import DAY_S, OUTCOMES
from tests.support.rows import by_url, put

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gossamer.engine.engine import Engine

HOUR_MS, DAY_MS = 3_600_000, 86_400_000
A, B = "http://a.example/", "http://b.example/x"


def after(
    work: Workspace,
    page: dict[str, Any] | None = None,
    answer: dict[str, Any] | None = None,
    links: list[dict[str, Any]] | None = None,
    answers: list[dict[str, Any]] | None = None,
) -> dict[str, dict[str, Any]]:
    """Pages after a round: a page A that was there, an answer to it, links that were found."""
    if page is not None:
        put(work, "pages", [{"url": A} | page], round_=0)
    to_a = [] if answer is None else [{"url": A, "fetched_ms": DAY_MS} | answer]
    put(work, "responses", [*(answers or []), *to_a])
    put(work, "links", links or [])
    with work.step("parse", 1):
        pass
    update.run(work)
    return by_url(lsm.current(work, PAGES))


def link(dst: str = B, **more: Any) -> dict[str, Any]:
    return {"src": A, "dst": dst, "depth": 1} | more


def test_a_link_makes_a_page_known(work: Workspace) -> None:
    further = link(src="http://c.example/", depth=3, hops=2)
    found = after(work, links=[link(hops=1), further])[B]
    assert found["hops"] == 1
    assert found["status"] == "unfetched"
    assert found["source"] == "link"
    assert (found["host"], found["depth"], found["inlinks"]) == ("b.example", 1, 2)
    assert found["next_fetch_ms"] == 0
    assert found["found_ms"] == work.now_ms()


def test_a_link_brings_a_known_page_nearer_and_leaves_the_rest(work: Workspace) -> None:
    was = {"url": B, "status": "fetched", "depth": 5, "hops": 4, "inlinks": 2}
    was |= {"etag": "e", "fetches": 1}
    put(work, "pages", [was | {"next_fetch_ms": 77, "host": "b.example"}], round_=0)
    found = after(work, links=[link(hops=2)])[B]
    assert (found["depth"], found["hops"]) == (1, 2)
    assert (found["inlinks"], found["etag"]) == (3, "e")
    assert (found["status"], found["fetches"], found["next_fetch_ms"]) == ("fetched", 1, 77)


def test_links_of_a_page_that_was_left_unparsed_count_from_where_it_is_now(work: Workspace) -> None:
    found = after(work, {"depth": 1, "outcome": "ok"}, links=[link(round=0, depth=5)])
    assert found[B]["depth"] == 2


def test_a_file_is_on_this_machine(work: Workspace) -> None:
    assert after(work, links=[link("file:///a/b")])["file:///a/b"]["host"] == "localhost"


def test_a_nofollow_link_makes_nothing_known(work: Workspace) -> None:
    assert B not in after(work, links=[link(nofollow=True)])


def test_a_page_fetched_again_casts_no_second_vote(work: Workspace) -> None:
    put(work, "pages", [{"url": B, "inlinks": 2}], round_=0)
    assert after(work, links=[link(first=False)])[B]["inlinks"] == 2


def test_a_redirect_is_how_its_target_was_met(work: Workspace) -> None:
    assert after(work, links=[link(relation="redirect")])[B]["source"] == "redirect"


MEANINGS = {
    "ok": ("fetched", 1, 0, 30 * DAY_MS),
    "unchanged": ("fetched", 1, 0, 30 * DAY_MS),
    "redirect": ("redirected", 0, 0, 30 * DAY_MS),
    "robots": ("excluded", 0, 0, 30 * DAY_MS),
    "not_found": ("gone", 0, 0, 30 * DAY_MS),
    "forbidden_address": ("gone", 0, 0, 30 * DAY_MS),
    "refused": ("unfetched", 0, 1, DAY_MS),
    "busy": ("unfetched", 0, 1, HOUR_MS),
    "server_error": ("unfetched", 0, 1, HOUR_MS),
    "timeout": ("unfetched", 0, 1, HOUR_MS),
    "unreachable": ("unfetched", 0, 1, HOUR_MS),
    "broken": ("unfetched", 0, 1, HOUR_MS),
    "tls": ("unfetched", 0, 1, DAY_MS),
    "bad_redirect": ("gone", 0, 0, 30 * DAY_MS),
    "filtered_type": ("excluded", 0, 0, 30 * DAY_MS),
}
"""Status, fetches, failures and the wait in ms that follow from each outcome of a first try."""


def answered(
    work: Workspace, pages: dict[str, dict[str, Any]], outcomes: dict[str, str]
) -> dict[str, dict[str, Any]]:
    """Pages by name, after a round in which each had an outcome."""
    put(work, "pages", [{"url": A + name} | page for name, page in pages.items()], round_=0)
    answers = [
        {"url": A + name, "fetched_ms": DAY_MS, "outcome": outcome}
        for name, outcome in outcomes.items()
    ]
    found = after(work, answers=answers)
    return {name: found[A + name] for name in pages}


def test_what_an_outcome_means(work: Workspace) -> None:
    found = answered(work, {name: {} for name in MEANINGS}, {name: name for name in MEANINGS})
    assert {name: page["outcome"] for name, page in found.items()} == {n: n for n in MEANINGS}
    assert {
        name: (
            page["status"],
            page["fetches"],
            page["failures"],
            page["next_fetch_ms"] - DAY_MS,
        )
        for name, page in found.items()
    } == MEANINGS


def test_the_table_above_knows_every_outcome() -> None:
    assert set(MEANINGS) == set(OUTCOMES) - {"postponed", "filtered"}  # which no fetch has


def test_postponed_changes_nothing(work: Workspace) -> None:
    was = {"status": "fetched", "failures": 2, "next_fetch_ms": 5, "fetches": 1, "fetched_ms": 4}
    found = after(work, was, {"outcome": "postponed"})[A]
    assert {name: found[name] for name in was} == was


@pytest.mark.parametrize("before", [None, 4])
def test_only_a_request_tells_when_a_page_was_last_asked_for(
    work: Workspace, before: int | None
) -> None:
    names = {name: name for name in OUTCOMES}
    found = answered(work, {name: {"fetched_ms": before} for name in names}, names)
    assert {name for name, page in found.items() if page["fetched_ms"] == DAY_MS} == set(
        OUTCOMES
    ) - {"postponed", "robots"}
    assert {found[name]["fetched_ms"] for name in ("postponed", "robots")} == {before}


def test_waits_double_and_end(work: Workspace) -> None:
    found = after(work, {"failures": 2}, {"outcome": "timeout"})[A]
    assert (found["status"], found["failures"]) == ("unfetched", 3)
    assert found["next_fetch_ms"] == DAY_MS + 4 * HOUR_MS


def test_failures_in_a_row_end_with_an_answer(work: Workspace) -> None:
    names = {name: name for name in ("ok", "unchanged", "redirect", "robots", "not_found")}
    found = answered(work, {name: {"failures": 2} for name in names}, names)
    assert {name: page["failures"] for name, page in found.items()} == dict.fromkeys(names, 0)


def test_no_temporary_failure_delays_a_page_by_more_than_a_week() -> None:
    """The bound on doubled waits is `max_tries`: the last try is not followed by a wait."""
    waits_s = [each.retry_wait_s * 2 ** max(each.max_tries - 2, 0) for each in OUTCOMES.values()]
    assert max(waits_s) <= 7 * DAY_S


def test_the_last_try_makes_a_page_gone_for_good(work: Workspace) -> None:
    tries = OUTCOMES["timeout"].max_tries
    found = after(work, {"failures": tries - 1, "status": "fetched"}, {"outcome": "timeout"})[A]
    assert found["status"] == "gone"


def test_a_failure_of_a_page_that_was_fetched_keeps_it(work: Workspace) -> None:
    was = {"status": "fetched", "digest": "D", "etag": "e", "fetches": 3}
    found = after(work, was, {"outcome": "timeout", "digest": None})[A]
    assert (found["status"], found["digest"], found["etag"], found["fetches"]) == (
        "fetched",
        "D",
        "e",
        3,
    )


def test_retry_after_is_obeyed_where_it_is_longer(work: Workspace) -> None:
    found = after(work, {}, {"outcome": "busy", "retry_after_s": 7200})[A]
    assert found["next_fetch_ms"] == DAY_MS + 2 * HOUR_MS


def test_an_answer_counts_more_than_a_link(work: Workspace) -> None:
    found = after(work, {}, {"outcome": "not_found"}, [link(A)])[A]
    assert (found["status"], found["inlinks"]) == ("gone", 2)


def test_validators_are_those_of_the_stored_answer(work: Workspace) -> None:
    found = after(work, {"etag": "old"}, {"outcome": "ok", "etag": "new", "digest": "D"})[A]
    assert (found["etag"], found["digest"]) == ("new", "D")


def capped(work: Workspace, **caps: int) -> None:
    update_config = msgspec.structs.replace(work.config.update, **caps)
    work.config = msgspec.structs.replace(work.config, update=update_config)


def drops(work: Workspace) -> dict[str, int]:
    counts = work.store.manifest.history[-1].counts
    return {name: n for name, n in counts.items() if name.startswith("dropped_")}


def test_a_round_makes_so_many_urls_of_a_host_known(work: Workspace) -> None:
    capped(work, new_urls_per_domain=3)
    urls = [f"http://b.example/{name}" for name in "fedcba"]
    far, near = urls[0], urls[1]
    links = [link(url, depth=5 if url == far else 1 if url == near else 2) for url in urls]
    links.append(link(urls[2], src="http://c.example/", depth=2))
    found = after(work, links=[*links, link("http://c.example/x")])
    assert sorted(found) == ["http://b.example/a", urls[2], near, "http://c.example/x"]
    assert drops(work) == {"dropped_domain_growth": 3}
    assert work.store.manifest.history[-1].counts["touched"] == 4


def test_new_urls_of_all_hosts_of_a_domain_count_together(work: Workspace) -> None:
    capped(work, new_urls_per_domain=3)
    farm = [f"http://{name}.b.example/" for name in "abcdef"]
    other = [f"http://{name}.example/" for name in "cdef"]
    found = after(work, links=[link(url) for url in farm + other])
    assert sorted(found) == sorted(farm[:3] + other)
    assert drops(work) == {"dropped_domain_growth": 3}


@pytest.mark.parametrize(("voters", "added"), [(1, 2), (20, 4), (100, 20), (500, 20)])
def test_a_domain_may_grow_the_more_domains_link_to_it(
    work: Workspace, voters: int, added: int
) -> None:
    capped(work, new_urls_per_domain=2)
    names = [f"v{n}.example" for n in range(min(voters, 100))]
    put(work, "domains", [{"domain": "b.example", "seed": False, "linked_from": names}], round_=0)
    found = after(work, links=[link(f"http://b.example/{n}") for n in range(30)])
    assert len(found) == added


def test_a_domain_with_a_seed_may_grow_as_much_as_any(work: Workspace) -> None:
    capped(work, new_urls_per_domain=2)
    answer = {"outcome": "ok", "depth": 0, "host": "a.example"}
    found = after(work, {"depth": 0}, answer, [link(A + str(n)) for n in range(30)])
    assert len(found) == 1 + 20
    assert drops(work) == {"dropped_domain_growth": 10}


def test_what_is_known_does_not_count_as_growth(work: Workspace) -> None:
    capped(work, new_urls_per_domain=2)
    known = [f"http://b.example/{n}" for n in range(5)]
    put(work, "pages", [{"url": url, "inlinks": 1} for url in known], round_=0)
    new = ["http://b.example/x", "http://b.example/y"]
    found = after(work, links=[link(url) for url in known + new])
    assert sorted(found) == sorted(known + new)
    assert {found[url]["inlinks"] for url in known} == {2}
    assert drops(work) == {}


def test_a_page_that_answered_is_never_dropped(work: Workspace) -> None:
    capped(work, new_urls_per_domain=1)
    found = after(work, {}, {"outcome": "ok"}, [link(A), link(A + "x"), link(A + "y")])
    assert sorted(found) == [A, A + "x"]
    assert (found[A]["status"], found[A]["inlinks"]) == ("fetched", 2)


def test_a_round_makes_so_many_queries_of_a_path_known(work: Workspace) -> None:
    capped(work, new_queries_per_path=2)
    queries = [f"http://b.example/list?page={n}" for n in range(4)]
    others = ["http://b.example/list", "http://b.example/other?a=1", "http://c.example/list?page=1"]
    found = after(work, links=[link(url) for url in queries + others])
    assert sorted(found) == sorted(queries[:2] + others)
    assert drops(work) == {"dropped_query_growth": 2}


def test_dropped_queries_use_up_nothing_of_a_host_s_share(work: Workspace) -> None:
    capped(work, new_queries_per_path=1, new_urls_per_domain=3)
    queries = [f"http://b.example/a?{n}" for n in range(9)]
    pages_ = [f"http://b.example/z{n}" for n in range(3)]
    found = after(work, links=[link(url) for url in queries + pages_])
    assert sorted(found) == [queries[0], *pages_[:2]]
    assert drops(work) == {"dropped_query_growth": 8, "dropped_domain_growth": 1}


def test_redirects_count_as_growth_too(work: Workspace) -> None:
    capped(work, new_urls_per_domain=1)
    targets = [f"http://b.example/{n}" for n in range(3)]
    found = after(work, links=[link(url, relation="redirect") for url in targets])
    assert list(found) == targets[:1]


@pytest.mark.spark
@pytest.mark.parametrize(
    "bounded",
    [
        test_a_round_makes_so_many_urls_of_a_host_known,
        test_what_is_known_does_not_count_as_growth,
        test_dropped_queries_use_up_nothing_of_a_host_s_share,
    ],
)
def test_growth_is_bounded_alike_on_a_cluster(
    bounded: Callable[[Workspace], None], spark_engine: Engine, tmp_path: Path
) -> None:
    store = Store.create(LocalBackend(tmp_path))
    bounded(Workspace(store, Config(), clock_ms=1_800_000_000_000, _engine=spark_engine))


def test_a_round_is_taken_in_once(work: Workspace) -> None:
    after(work, {}, {"outcome": "ok"})
    with pytest.raises(UsageError, match="gossamer generate"):
        update.run(work)


def test_a_round_is_parsed_first(work: Workspace) -> None:
    put(work, "responses", [{"url": A, "outcome": "ok"}])
    with pytest.raises(UsageError, match="gossamer parse"):
        update.run(work)
