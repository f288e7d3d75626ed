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
from tests.support.shared_rounds import SharedRounds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from gossamer.engine.engine import Engine
    from tests.support.shared_rounds import Found, Site, Story

HOUR_MS, DAY_MS = 3_600_000, 86_400_000
MOST, MOST_QUERIES = 3, 2

shared = SharedRounds(update={"new_urls_per_domain": MOST, "new_queries_per_path": MOST_QUERIES})


def after(
    site: Site,
    page: dict[str, Any] | None = None,
    answer: dict[str, Any] | None = None,
    links: Iterable[dict[str, Any]] = (),
) -> Found:
    """A round: a page that was there, an answer to it, links that were found, on it if not said."""
    known = {"url": site.url()}
    return {
        "pages": [] if page is None else [known | page],
        "responses": [] if answer is None else [known | {"fetched_ms": DAY_MS} | answer],
        "links": [{"src": site.url()} | each for each in links],
    }


def link(dst: str, **more: Any) -> dict[str, Any]:
    return {"dst": dst, "depth": 1} | more


@shared.story
def test_a_link_makes_a_page_known(site: Site) -> Story:
    new = site.url("/x", "b")
    further = link(new, src=site.url("/", "c"), depth=3, hops=2)
    found = (yield after(site, links=[link(new, hops=1), further]))[new]
    assert found["hops"] == 1
    assert found["status"] == "unfetched"
    assert found["source"] == "link"
    assert (found["host"], found["depth"], found["inlinks"]) == (site.host("b"), 1, 2)
    assert found["next_fetch_ms"] == 0
    assert found["found_ms"] == site.work.now_ms()


@shared.story
def test_a_link_brings_a_known_page_nearer_and_leaves_the_rest(site: Site) -> Story:
    was = {"status": "fetched", "depth": 5, "hops": 4, "inlinks": 2}
    was |= {"etag": "e", "fetches": 1, "next_fetch_ms": 77}
    found = (yield after(site, was, links=[link(site.url(), hops=2)]))[site.url()]
    assert (found["depth"], found["hops"]) == (1, 2)
    assert (found["inlinks"], found["etag"]) == (3, "e")
    assert (found["status"], found["fetches"], found["next_fetch_ms"]) == ("fetched", 1, 77)


@shared.story
def test_links_of_a_page_that_was_left_unparsed_count_from_where_it_is_now(site: Site) -> Story:
    new = site.url("/x")
    found = yield after(site, {"depth": 1, "outcome": "ok"}, links=[link(new, round=0, depth=5)])
    assert found[new]["depth"] == 2


@shared.story
def test_a_file_is_on_this_machine(site: Site) -> Story:
    name = f"file:///{site.name}/b"
    found = yield after(site, links=[link(name)])
    assert found[name]["host"] == "localhost"


@shared.story
def test_a_nofollow_link_makes_nothing_known(site: Site) -> Story:
    links = [link(site.url("/x"), nofollow=True), link(site.url("/y"))]
    found = yield after(site, links=links)
    assert found.keys() == {site.url("/y")}


@shared.story
def test_a_page_fetched_again_casts_no_second_vote(site: Site) -> Story:
    found = yield after(site, {"inlinks": 2}, links=[link(site.url(), first=False)])
    assert found[site.url()]["inlinks"] == 2


@shared.story
def test_a_page_keeps_a_spelling_until_a_link_has_its_url(site: Site) -> Story:
    new = site.url("/x")
    first, second = (f"{new}?sid={n}" for n in (1, 2))
    links = [link(new, src=site.url(f"/{each[-1]}"), spelling=each) for each in (second, first)]
    links.append(link(new, src=site.url("/n"), nofollow=True))
    assert (yield after(site, links=links))[new]["spelling"] == first
    assert (yield after(site, links=[link(new, spelling=second)]))[new]["spelling"] == second
    assert (yield after(site, links=[link(site.url("/y"))]))[new]["spelling"] == second
    assert (yield after(site, links=[link(new), links[0]]))[new]["spelling"] is None
    assert (yield after(site, links=links))[new]["spelling"] is None


@shared.story
def test_what_was_announced_as_a_listing_stays_so(site: Site) -> Story:
    new, known = site.url("/x"), site.url("/y")
    links = [link(new, announced=True), link(new, src=site.url("/n")), link(known)]
    pages = yield after(site, links=links)
    assert (pages[new]["announced"], pages[known]["announced"]) == (True, False)
    pages = yield after(site, links=[link(new), link(known, announced=True)])
    assert (pages[new]["announced"], pages[known]["announced"]) == (True, True)
    answer = {"url": known, "outcome": "ok"}
    assert (yield after(site, answer=answer))[known]["announced"]


@shared.story
def test_what_is_announced_after_it_was_read_is_read_again(site: Site) -> Story:
    stored = {"etag": "e", "last_modified": "m", "digest": "d", "headers": "h"}
    was = {"status": "fetched", "kind": "page", "announced": False, **stored}
    announced = link(site.url(), src=site.url("/f"), announced=True)

    def kept(found: Mapping[str, Any]) -> dict[str, Any]:
        return {name: found[site.url()][name] for name in stored}

    forgotten = dict.fromkeys(("etag", "last_modified", "digest"), None) | {"headers": "h"}
    assert kept((yield after(site, was, links=[link(site.url())]))) == stored
    assert kept((yield after(site, was, links=[announced]))) == forgotten
    # it was requested in the round in which the link was found
    ok = {"outcome": "ok", **stored}
    assert kept((yield after(site, was, answer=ok, links=[announced]))) == forgotten
    assert kept((yield after(site, was | {"announced": True}, links=[announced]))) == stored
    assert kept((yield after(site, was | {"kind": "feed"}, links=[announced]))) == stored


@shared.story
def test_others_spell_a_page_only_until_its_own_host_links_to_it(site: Site) -> Story:
    new, far = site.url("/x"), site.url("/", "b")
    exact, tracked = link(new, src=far), link(new, src=far, spelling=f"{new}?utm_source=b")
    own = link(new, spelling=f"{new}?sid=1")
    assert (yield after(site, links=[tracked]))[new]["spelling"] == f"{new}?utm_source=b#"
    assert (yield after(site, links=[tracked, exact]))[new]["spelling"] == "#"
    assert (yield after(site, links=[tracked]))[new]["spelling"] == "#"
    assert (yield after(site, links=[exact, own]))[new]["spelling"] == f"{new}?sid=1"
    assert (yield after(site, links=[exact]))[new]["spelling"] == f"{new}?sid=1"
    assert (yield after(site, links=[tracked, link(new)]))[new]["spelling"] is None


@shared.story
def test_a_page_is_due_when_a_link_has_its_url_instead_of_a_forbidden_one(site: Site) -> Story:
    was = {"status": "excluded", "outcome": "robots", "next_fetch_ms": 77}
    closed = {"url": site.url("/x"), "spelling": site.url("/x?sid=1")} | was
    always = {"url": site.url("/y")} | was
    found = after(site, links=[link(site.url("/x")), link(site.url("/y"))])
    pages = yield {**found, "pages": [closed, always]}
    assert pages[site.url("/x")]["spelling"] is None
    assert [pages[site.url(path)]["next_fetch_ms"] for path in ("/x", "/y")] == [0, 77]


@shared.story
def test_a_redirect_is_how_its_target_was_met(site: Site) -> Story:
    found = yield after(site, links=[link(site.url("/x"), relation="redirect")])
    assert found[site.url("/x")]["source"] == "redirect"


MEANINGS = {
    "ok": ("fetched", 1, 0, 30 * DAY_MS),
    "unchanged": ("fetched", 1, 0, 30 * DAY_MS),
    "redirect": ("redirected", 0, 0, 30 * DAY_MS),
    "robots": ("excluded", 0, 0, 30 * DAY_MS),
    "not_found": ("gone", 0, 1, DAY_MS),
    "forbidden_address": ("gone", 0, 1, DAY_MS),
    "refused": ("unfetched", 0, 1, DAY_MS),
    "busy": ("unfetched", 0, 1, HOUR_MS),
    "server_error": ("unfetched", 0, 1, HOUR_MS),
    "timeout": ("unfetched", 0, 1, HOUR_MS),
    "unreachable": ("unfetched", 0, 1, HOUR_MS),
    "broken": ("unfetched", 0, 1, HOUR_MS),
    "tls": ("unfetched", 0, 1, DAY_MS),
    "bad_redirect": ("gone", 0, 1, DAY_MS),
    "filtered_type": ("excluded", 0, 0, 30 * DAY_MS),
}
"""Status, fetches, failures and the wait in ms that follow from each outcome of a first try."""


def answered(site: Site, pages: Mapping[str, dict[str, Any]], outcomes: Mapping[str, str]) -> Found:
    """A round in which each page had an outcome."""
    answers = [
        {"url": site.url(f"/{name}"), "fetched_ms": DAY_MS, "outcome": outcome}
        for name, outcome in outcomes.items()
    ]
    known = [{"url": site.url(f"/{name}")} | page for name, page in pages.items()]
    return {"pages": known, "responses": answers}


def by_name(site: Site) -> dict[str, dict[str, Any]]:
    return {url.removeprefix(site.url()): page for url, page in site.pages().items()}


@shared.story
def test_what_an_outcome_means(site: Site) -> Story:
    yield answered(site, {name: {} for name in MEANINGS}, {name: name for name in MEANINGS})
    found = by_name(site)
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


@shared.story
def test_postponed_changes_nothing(site: Site) -> Story:
    was = {"status": "fetched", "failures": 2, "next_fetch_ms": 5, "fetches": 1, "fetched_ms": 4}
    found = (yield after(site, was, {"outcome": "postponed"}))[site.url()]
    assert {name: found[name] for name in was} == was


@shared.story
@pytest.mark.parametrize("before", [None, 4])
def test_only_a_request_tells_when_a_page_was_last_asked_for(
    site: Site, before: int | None
) -> Story:
    names = {name: name for name in OUTCOMES}
    yield answered(site, {name: {"fetched_ms": before} for name in names}, names)
    found = by_name(site)
    assert {name for name, page in found.items() if page["fetched_ms"] == DAY_MS} == set(
        OUTCOMES
    ) - {"postponed", "robots"}
    assert {found[name]["fetched_ms"] for name in ("postponed", "robots")} == {before}


@shared.story
def test_waits_double_and_end(site: Site) -> Story:
    found = (yield after(site, {"failures": 2}, {"outcome": "timeout"}))[site.url()]
    assert (found["status"], found["failures"]) == ("unfetched", 3)
    assert found["next_fetch_ms"] == DAY_MS + 4 * HOUR_MS


@shared.story
def test_failures_in_a_row_end_with_an_answer(site: Site) -> Story:
    names = {name: name for name in ("ok", "unchanged", "redirect", "robots")}
    yield answered(site, {name: {"failures": 2} for name in names}, names)
    found = by_name(site)
    assert {name: page["failures"] for name, page in found.items()} == dict.fromkeys(names, 0)


def test_no_temporary_failure_delays_a_page_by_more_than_a_week() -> None:
    """The bound on doubled waits is `max_tries`: the last try is not followed by a wait."""
    waits_s = [each.retry_wait_s * 2 ** max(each.max_tries - 2, 0) for each in OUTCOMES.values()]
    assert max(waits_s) <= 7 * DAY_S


@shared.story
def test_the_last_try_makes_a_page_gone_for_good(site: Site) -> Story:
    was = {"failures": OUTCOMES["timeout"].max_tries - 1, "status": "fetched"}
    found = yield after(site, was, {"outcome": "timeout"})
    assert found[site.url()]["status"] == "gone"


@shared.story
def test_a_failure_of_a_page_that_was_fetched_keeps_it(site: Site) -> Story:
    was = {"status": "fetched", "digest": "D", "etag": "e", "fetches": 3}
    found = (yield after(site, was, {"outcome": "timeout", "digest": None}))[site.url()]
    assert (found["status"], found["digest"], found["etag"], found["fetches"]) == (
        "fetched",
        "D",
        "e",
        3,
    )


@shared.story
def test_retry_after_is_obeyed_where_it_is_longer(site: Site) -> Story:
    found = yield after(site, {}, {"outcome": "busy", "retry_after_s": 7200})
    assert found[site.url()]["next_fetch_ms"] == DAY_MS + 2 * HOUR_MS


@shared.story
def test_an_answer_counts_more_than_a_link(site: Site) -> Story:
    found = yield after(site, {}, {"outcome": "not_found"}, [link(site.url())])
    assert (found[site.url()]["status"], found[site.url()]["inlinks"]) == ("gone", 2)


@shared.story
def test_validators_are_those_of_the_stored_answer(site: Site) -> Story:
    answer = {"outcome": "ok", "etag": "new", "digest": "D"}
    found = (yield after(site, {"etag": "old"}, answer))[site.url()]
    assert (found["etag"], found["digest"]) == ("new", "D")


@shared.story
def test_headers_are_those_of_the_stored_answer(site: Site) -> Story:
    """They may change without the body, which is no change of the page."""
    was = {"digest": "D", "main_text": 1, "headers": "old", "changes": 0.0, "watched_days": 9.0}
    answer = {"outcome": "ok", "digest": "D", "headers": "new"}
    found = (yield after(site, was, answer))[site.url()]
    assert (found["headers"], found["stored_ms"]) == ("new", DAY_MS)
    found = (yield after(site, found, {"outcome": "unchanged", "headers": "sent"}))[site.url()]
    assert found["headers"] == "new"


@shared.story
def test_an_answer_without_a_new_body_may_bring_new_validators(site: Site) -> Story:
    was = {"etag": "e", "last_modified": "m", "digest": "D"}
    found = (yield after(site, was, {"outcome": "unchanged", "etag": "f"}))[site.url()]
    assert (found["etag"], found["last_modified"]) == ("f", "m")


@shared.story
@pytest.mark.parametrize(
    ("header", "sent"),
    [
        ("x-robots-tag: noindex", ""),
        ("x-robots-tag: noindex", "x-robots-tag: noindex"),
        ('link: </l>; rel=license; type="Application/RSL+XML"', ""),
    ],
)
def test_a_304_without_the_header_of_the_page_makes_the_next_request_unconditional(
    site: Site, header: str, sent: str
) -> Story:
    was = {"etag": "e", "headers": header, "digest": "D"}
    answer = {"outcome": "unchanged", "etag": "e", "headers": sent}
    found = (yield after(site, was, answer))[site.url()]
    assert found["etag"] == ("e" if sent else None)
    assert found["headers"] == was["headers"]


@shared.story
def test_a_round_makes_so_many_urls_of_a_host_known(site: Site) -> Story:
    urls = [site.url(f"/{name}") for name in "fedcba"]
    far, near = urls[0], urls[1]
    links = [link(url, depth=5 if url == far else 1 if url == near else 2) for url in urls]
    links.append(link(urls[2], src=site.url("/", "c"), depth=2))
    other = site.url("/x", "c")
    found = yield after(site, links=[*links, link(other)])
    assert sorted(found) == [site.url("/a"), urls[2], near, other]


@shared.story
def test_new_urls_of_all_hosts_of_a_domain_count_together(site: Site) -> Story:
    farm = [site.url(host=f"{name}.b") for name in "abcdef"]
    other = [site.url(host=name) for name in "cdef"]
    found = yield after(site, links=[link(url) for url in farm + other])
    assert sorted(found) == sorted(farm[:MOST] + other)


@shared.story
@pytest.mark.parametrize(
    ("voters", "added"), [(1, MOST), (20, 2 * MOST), (100, 10 * MOST), (500, 10 * MOST)]
)
def test_a_domain_may_grow_the_more_domains_link_to_it(
    site: Site, voters: int, added: int
) -> Story:
    names = [f"v{n}.example" for n in range(min(voters, 100))]
    known = {"domain": site.host(), "seed": False, "linked_from": names}
    links = [link(site.url(f"/{n}")) for n in range(15 * MOST)]
    found = yield {**after(site, links=links), "domains": [known]}
    assert len(found) == added


@shared.story
def test_a_domain_with_a_seed_may_grow_as_much_as_any(site: Site) -> Story:
    links = [link(site.url(f"/{n}")) for n in range(15 * MOST)]
    found = yield after(site, {"depth": 0}, {"outcome": "ok", "depth": 0}, links)
    assert len(found) == 1 + 10 * MOST


@shared.story
def test_what_is_known_does_not_count_as_growth(site: Site) -> Story:
    known = [site.url(f"/{n}") for n in range(5)]
    new = [site.url(f"/x{n}") for n in range(MOST)]
    links = after(site, links=[link(url) for url in known + new])
    found = yield {**links, "pages": [{"url": url, "inlinks": 1} for url in known]}
    assert sorted(found) == sorted(known + new)
    assert {found[url]["inlinks"] for url in known} == {2}


@shared.story
def test_a_page_that_answered_is_never_dropped(site: Site) -> Story:
    urls = [site.url(), *(site.url(f"/{n}") for n in range(MOST + 1))]
    found = yield after(site, {}, {"outcome": "ok"}, map(link, urls))
    assert sorted(found) == urls[:-1]
    assert (found[site.url()]["status"], found[site.url()]["inlinks"]) == ("fetched", 2)


@shared.story
def test_a_round_makes_so_many_queries_of_a_path_known(site: Site) -> Story:
    queries = [site.url(f"/list?page={n}") for n in range(4)]
    others = [site.url("/list", "b"), site.url("/other?a=1", "b"), site.url("/list?page=1", "c")]
    found = yield after(site, links=[link(url) for url in queries + others])
    assert sorted(found) == sorted(queries[:MOST_QUERIES] + others)


@shared.story
def test_dropped_queries_use_up_nothing_of_a_host_s_share(site: Site) -> Story:
    queries = [site.url(f"/a?{n}") for n in range(9)]
    pages = [site.url(f"/z{n}") for n in range(MOST)]
    found = yield after(site, links=[link(url) for url in queries + pages])
    assert sorted(found) == [*queries[:MOST_QUERIES], *pages[: MOST - MOST_QUERIES]]


@shared.story
def test_redirects_count_as_growth_too(site: Site) -> Story:
    targets = [site.url(f"/{n}") for n in range(5)]
    found = yield after(site, links=[link(url, relation="redirect") for url in targets])
    assert sorted(found) == targets[:MOST]


@shared.story
@pytest.mark.parametrize("path", ["/{}", "/list?{}"])
def test_links_of_strangers_displace_none_of_a_host_s_own(site: Site, path: str) -> Story:
    """Attack: pages near a seed link to any number of URLs of a host. Before, its own were lost."""
    own = [site.url(path.format(f"z{n}")) for n in range(MOST_QUERIES)]
    links = [link(url, depth=9) for url in own]
    links.append(link(own[0], src=site.url("/", "evil"), depth=8))
    flood = [site.url(path.format(f"{n}")) for n in range(20)]
    pages = yield after(site, links=[*links, *(link(u, src=site.url("/", "evil")) for u in flood)])
    assert {*own} <= {*pages}


@shared.story
def test_the_hosts_of_a_domain_are_no_strangers(site: Site) -> Story:
    of_evil = [link(site.url(f"/{n}", "a.b"), src=site.url("/", "evil")) for n in range(20)]
    own = site.url("/z", "a.b")
    of_sibling = [link(own, src=site.url("/", "x.b"), depth=9), link(site.url("/y", "x.b"))]
    pages = yield after(site, links=[*of_evil, *of_sibling])
    assert own in pages
    assert len(pages) == MOST


@pytest.mark.spark
def test_rounds_are_alike_on_a_cluster(spark_engine: Engine, tmp_path: Path) -> None:
    store = Store.create(LocalBackend(tmp_path))
    work = Workspace(store, Config(), clock_ms=1_800_000_000_000, _engine=spark_engine)
    assert set(shared.play(work).values()) == {None}


@pytest.fixture(scope="module")
def grown(new_work: Callable[[], Workspace]) -> Workspace:
    """After a round that has dropped URLs of a single host."""
    work, home = new_work(), "http://a.example/"
    limits = msgspec.structs.replace(
        work.config.update, new_urls_per_domain=3, new_queries_per_path=1
    )
    work.config = msgspec.structs.replace(work.config, update=limits)
    known = [f"{home}{n}" for n in range(5)]
    new = [f"{home}{name}" for name in (*(f"a?{n}" for n in range(9)), "z0", "z1", "z2")]
    put(work, "pages", [{"url": url} for url in known], round_=0)
    put(work, "responses", [])
    put(work, "links", [{"src": home, "dst": url} for url in known + new])
    with work.step("parse", 1):
        pass
    update.run(work)
    return work


def test_dropped_urls_are_counted(grown: Workspace) -> None:
    counts = grown.store.manifest.history[-1].counts
    dropped = {name: number for name, number in counts.items() if name.startswith("dropped_")}
    assert dropped == {"dropped_query_growth": 8, "dropped_domain_growth": 1}
    assert counts["touched"] == len(by_url(lsm.current(grown, PAGES))) == 5 + 3


def test_a_round_is_taken_in_once(grown: Workspace) -> None:
    with pytest.raises(UsageError, match="gossamer generate"):
        update.run(grown)


def test_a_round_is_parsed_first(work: Workspace) -> None:
    put(work, "responses", [{"url": "http://a.example/", "outcome": "ok"}])
    with pytest.raises(UsageError, match="gossamer parse"):
        update.run(work)
