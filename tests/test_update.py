from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from gossamer import states, update
from gossamer.backends import LocalBackend
from gossamer.config import Config
from gossamer.errors import UsageError
from gossamer.outcomes import OUTCOMES
from gossamer.store import Store
from gossamer.tables import PAGES
from gossamer.workspace import Workspace
from rows import by_url, put

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gossamer.engine import Engine

HOUR_MS, DAY_MS = 3_600_000, 86_400_000
A, B = "http://a.example/", "http://b.example/x"


def after(
    work: Workspace,
    page: dict[str, Any] | None = None,
    answer: dict[str, Any] | None = None,
    links: list[dict[str, Any]] | None = None,
) -> dict[str, dict[str, Any]]:
    """Pages after a round: a page A that was there, an answer to it, links that were found."""
    if page is not None:
        put(work, "pages", [{"url": A} | page], round_=0)
    answers = [] if answer is None else [{"url": A, "fetched_ms": DAY_MS} | answer]
    put(work, "responses", answers)
    put(work, "links", links or [])
    with work.step("parse", 1):
        pass
    update.run(work)
    return by_url(states.current(work, PAGES))


def link(dst: str = B, **more: Any) -> dict[str, Any]:
    return {"src": A, "dst": dst, "depth": 1} | more


def test_a_link_makes_a_page_known(work: Workspace) -> None:
    found = after(work, links=[link(), link(src="http://c.example/", depth=3)])[B]
    assert found["status"] == "unfetched"
    assert found["source"] == "link"
    assert (found["host"], found["depth"], found["inlinks"]) == ("b.example", 1, 2)
    assert found["next_fetch_ms"] == 0
    assert found["found_ms"] == work.now_ms()


def test_a_link_brings_a_known_page_nearer_and_leaves_the_rest(work: Workspace) -> None:
    was = {"url": B, "status": "fetched", "depth": 5, "inlinks": 2, "etag": "e", "fetches": 1}
    put(work, "pages", [was | {"next_fetch_ms": 77, "host": "b.example"}], round_=0)
    found = after(work, links=[link()])[B]
    assert (found["depth"], found["inlinks"], found["etag"]) == (1, 3, "e")
    assert (found["status"], found["fetches"], found["next_fetch_ms"]) == ("fetched", 1, 77)


def test_a_file_is_on_this_machine(work: Workspace) -> None:
    assert after(work, links=[link("file:///a/b")])["file:///a/b"]["host"] == "localhost"


def test_a_nofollow_link_makes_nothing_known(work: Workspace) -> None:
    assert B not in after(work, links=[link(nofollow=True)])


def test_a_page_fetched_again_casts_no_second_vote(work: Workspace) -> None:
    put(work, "pages", [{"url": B, "inlinks": 2}], round_=0)
    assert after(work, links=[link(first=False)])[B]["inlinks"] == 2


def test_a_redirect_is_how_its_target_was_met(work: Workspace) -> None:
    assert after(work, links=[link(relation="redirect")])[B]["source"] == "redirect"


@pytest.mark.parametrize(
    ("outcome", "status", "fetches", "failures", "wait_ms"),
    [
        ("ok", "fetched", 1, 0, 30 * DAY_MS),
        ("unchanged", "fetched", 1, 0, 30 * DAY_MS),
        ("redirect", "redirected", 0, 0, 30 * DAY_MS),
        ("robots", "excluded", 0, 0, 30 * DAY_MS),
        ("not_found", "gone", 0, 0, 30 * DAY_MS),
        ("forbidden_address", "gone", 0, 0, 30 * DAY_MS),
        ("refused", "unfetched", 0, 1, DAY_MS),
        ("busy", "unfetched", 0, 1, HOUR_MS),
        ("server_error", "unfetched", 0, 1, HOUR_MS),
        ("timeout", "unfetched", 0, 1, HOUR_MS),
        ("unreachable", "unfetched", 0, 1, HOUR_MS),
        ("broken", "unfetched", 0, 1, HOUR_MS),
        ("tls", "unfetched", 0, 1, DAY_MS),
        ("bad_redirect", "gone", 0, 0, 30 * DAY_MS),
    ],
)
def test_what_an_outcome_means(
    work: Workspace, outcome: str, status: str, fetches: int, failures: int, wait_ms: int
) -> None:
    found = after(work, {}, {"outcome": outcome})[A]
    assert (found["status"], found["outcome"]) == (status, outcome)
    assert (found["fetches"], found["failures"]) == (fetches, failures)
    assert found["next_fetch_ms"] == DAY_MS + wait_ms


def test_the_table_above_knows_every_outcome() -> None:
    (mark,) = test_what_an_outcome_means.pytestmark  # type: ignore[attr-defined]
    assert {row[0] for row in mark.args[1]} == set(OUTCOMES) - {"postponed"}


def test_postponed_changes_nothing(work: Workspace) -> None:
    was = {"status": "fetched", "failures": 2, "next_fetch_ms": 5, "fetches": 1, "fetched_ms": 4}
    found = after(work, was, {"outcome": "postponed"})[A]
    assert {name: found[name] for name in was} == was


@pytest.mark.parametrize("before", [None, 4])
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_only_a_request_tells_when_a_page_was_last_asked_for(
    work: Workspace, outcome: str, before: int | None
) -> None:
    found = after(work, {"fetched_ms": before}, {"outcome": outcome})[A]
    not_asked = outcome in ("postponed", "robots")
    assert found["fetched_ms"] == (before if not_asked else DAY_MS)


def test_waits_double_and_end(work: Workspace) -> None:
    found = after(work, {"failures": 2}, {"outcome": "timeout"})[A]
    assert (found["status"], found["failures"]) == ("unfetched", 3)
    assert found["next_fetch_ms"] == DAY_MS + 4 * HOUR_MS


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
    capped(work, new_urls_per_host=3)
    urls = [f"http://b.example/{name}" for name in "fedcba"]
    far, near = urls[0], urls[1]
    links = [link(url, depth=5 if url == far else 1 if url == near else 2) for url in urls]
    links.append(link(urls[2], src="http://c.example/", depth=2))
    found = after(work, links=[*links, link("http://c.example/x")])
    assert sorted(found) == ["http://b.example/a", urls[2], near, "http://c.example/x"]
    assert drops(work) == {"dropped_host_growth": 3}
    assert work.store.manifest.history[-1].counts["touched"] == 4


def test_what_is_known_does_not_count_as_growth(work: Workspace) -> None:
    capped(work, new_urls_per_host=2)
    known = [f"http://b.example/{n}" for n in range(5)]
    put(work, "pages", [{"url": url, "inlinks": 1} for url in known], round_=0)
    new = ["http://b.example/x", "http://b.example/y"]
    found = after(work, links=[link(url) for url in known + new])
    assert sorted(found) == sorted(known + new)
    assert {found[url]["inlinks"] for url in known} == {2}
    assert drops(work) == {}


def test_a_page_that_answered_is_never_dropped(work: Workspace) -> None:
    capped(work, new_urls_per_host=1)
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
    capped(work, new_queries_per_path=1, new_urls_per_host=3)
    queries = [f"http://b.example/a?{n}" for n in range(9)]
    pages_ = [f"http://b.example/z{n}" for n in range(3)]
    found = after(work, links=[link(url) for url in queries + pages_])
    assert sorted(found) == [queries[0], *pages_[:2]]
    assert drops(work) == {"dropped_query_growth": 8, "dropped_host_growth": 1}


def test_redirects_count_as_growth_too(work: Workspace) -> None:
    capped(work, new_urls_per_host=1)
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
