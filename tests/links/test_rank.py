"""PageRank of crawls, beside a dense definition of it and closed forms."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, permutations
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gossamer.errors import ConfigError
from gossamer.links import graph, rank
from gossamer.links.rank import trust
from gossamer.links.rank.extrapolation import KEPT
from gossamer.links.rank.fetched_nodes import NodesByHash, hashes_of
from gossamer.web.public_suffixes import registrable
from gossamer.web.urls import host_of
from tests.support.rank_by_definition import SOME, URLS, configure, crawl, dense, host_links, ranks
from tests.support.rows import by_url, put

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gossamer.state.workspace import Workspace

LINKS = st.sets(st.tuples(st.sampled_from(URLS), st.sampled_from(URLS)), max_size=80).map(
    lambda links: {(src, dst) for src, dst in links if src != dst}
)


def shown(work: Workspace, form: str) -> tuple[dict[str, float], dict[str, float]]:
    """The ranks of pages and of hosts, by one of both forms, from their start."""
    with work.step("test", work.round) as draft:
        draft.replace |= {"ranks": (), "host_ranks": ()}
    if form == "arrays":
        graph.run(work)
    rank.run(work)
    check_host_sizes(work)
    return ranks(work), ranks(work, "host_ranks", "host")


def check_host_sizes(work: Workspace) -> None:
    sizes = Counter(host_of(url) for url, rank in ranks(work).items() if rank is not None)
    found = by_url(work.read("host_sizes"), "host")
    assert {host: row["pages"] for host, row in found.items()} == sizes


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(LINKS, st.sets(st.sampled_from(URLS), min_size=1))
def test_ranks_solve_the_linear_system(
    new_work: Callable[[], Workspace], links: set[tuple[str, str]], fetched: set[str]
) -> None:
    work = new_work()
    configure(work, tolerance=1e-12)
    crawl(work, links, fetched)
    of_pages, of_hosts = shown(work, "arrays")
    assert of_pages == pytest.approx(dense(links, fetched), abs=1e-9)
    expected = dense(host_links(links), set(map(host_of, fetched)), domain_of=registrable)
    assert expected == pytest.approx({host: of_hosts.get(host, 0.0) for host in expected}, abs=1e-9)
    assert sum(of_hosts.values()) == pytest.approx(1)


FEW_ITERATIONS = 0.2
"""A damping with which the ranks of small graphs converge soon: joins take 20 ms per iteration."""
PAGES = [f"http://{letter}.org/" for letter in "abcdefgh"]
"""Pages on domains of their own."""


def cliques(*members: Sequence[str]) -> set[tuple[str, str]]:
    return {pair for each in members for pair in permutations(each, 2)}


def test_in_a_cycle_and_in_a_clique_all_are_equal(work: Workspace) -> None:
    configure(work, tolerance=1e-12)
    links = {*zip(PAGES[:5], PAGES[1:5] + PAGES[:1], strict=True), *cliques(PAGES[5:])}
    crawl(work, links, PAGES)
    assert shown(work, "arrays")[0] == pytest.approx(dict.fromkeys(PAGES, 1 / 8), abs=1e-12)


def test_a_star_and_a_bridge(work: Workspace) -> None:
    """The centre c of a star with k leaves: each leaf has (1 - α + α·c)/n, c has a leaf more."""
    configure(work, tolerance=1e-12)
    centre, *leaves = PAGES
    crawl(work, {(leaf, centre) for leaf in leaves}, PAGES)
    found = shown(work, "arrays")[0]
    leaf = 1 / (8 + 0.85 * 7)
    assert found == pytest.approx(dict.fromkeys(leaves, leaf) | {centre: 1 - 7 * leaf}, abs=1e-12)
    links = cliques(PAGES[:4], PAGES[4:]) | {(PAGES[0], PAGES[4]), (PAGES[4], PAGES[0])}
    put(work, "links", [{"src": src, "dst": dst, "round": 2} for src, dst in links], 2)
    put(work, "responses", [{"url": url, "outcome": "ok", "round": 2} for url in PAGES], 2)
    found = shown(work, "arrays")[0]
    assert found == pytest.approx(dense(links, PAGES), abs=1e-9)
    assert found[PAGES[0]] == pytest.approx(found[PAGES[4]], abs=1e-12)


def test_ranks_flow_from_fetched_pages_and_reach_others(work: Workspace) -> None:
    configure(work, tolerance=1e-12)
    links = {(PAGES[0], PAGES[1]), (PAGES[1], PAGES[2])}
    crawl(work, links, (PAGES[0], PAGES[5]))
    assert shown(work, "arrays")[0] == pytest.approx(dense(links, (PAGES[0], PAGES[5])), abs=1e-9)
    configure(work, trusted=(PAGES[5],))
    expected = dict.fromkeys(PAGES[:3], 0.0) | {PAGES[5]: 1.0}
    assert shown(work, "arrays")[0] == pytest.approx(expected, abs=1e-9), "trusted, without links"


def test_an_imported_graph_has_ranks_without_a_fetched_page(work: Workspace) -> None:
    configure(work, damping=FEW_ITERATIONS)
    crawl(work, {(PAGES[0], PAGES[1])}, ())
    put(work, "responses", [{"url": PAGES[0], "outcome": "ok"}])
    expected = dense({(PAGES[0], PAGES[1])}, PAGES[:2], damping=FEW_ITERATIONS)
    for form in ("joins", "arrays"):
        assert shown(work, form)[0] == pytest.approx(expected, abs=1e-6)


def test_links_marked_nofollow_are_votes_only_by_a_setting(work: Workspace) -> None:
    crawl(work, {(PAGES[0], PAGES[1])}, PAGES[:3])
    put(work, "links", [{"src": PAGES[0], "dst": PAGES[2], "nofollow": True}])
    for nofollow in (False, True):
        configure(work, nofollow=nofollow, damping=FEW_ITERATIONS)
        links = {(PAGES[0], PAGES[1 + n]) for n in range(1 + nofollow)}
        expected = dense(links, PAGES[:3], damping=FEW_ITERATIONS)
        with work.step("test", work.round) as draft:
            draft.replace["graph"] = ()
        for form in ("joins", "arrays"):
            assert shown(work, form)[0] == pytest.approx(expected, abs=1e-6)


def test_the_last_ranks_are_where_iterations_begin(work: Workspace) -> None:
    crawl(work, SOME, URLS[:14])
    configure(work, tolerance=1e-9)
    before, _ = shown(work, "arrays")
    again = rank.run(work).counts
    assert again["page_iterations"] == again["host_iterations"] == 1
    assert ranks(work) == pytest.approx(before, abs=2e-9)
    with work.step("test", work.round) as draft:
        draft.replace["graph"] = ()
    assert rank.run(work).counts == again
    assert ranks(work) == pytest.approx(before, abs=2e-9)


def test_nodes_are_found_by_hashes_of_their_keys() -> None:
    """The hashes are those of the authors of FNV-1a for these strings."""
    keys = pa.array(["before", "", "a", "foobar", "after"], pa.large_string())
    hashes = hashes_of(keys.slice(1, 3))
    assert hashes.tolist() == [0xCBF29CE484222325, 0xAF63DC4C8601EC8C, 0x85944171F73967E8]
    assert NodesByHash(hashes).find(keys).tolist() == [-1, 0, 1, 2, -1]
    assert NodesByHash(hashes[:0]).find(keys).tolist() == [-1] * 5


@pytest.mark.slow
def test_crawls_of_one_host_and_of_one_page_have_ranks_by_joins(work: Workspace) -> None:
    """Where all values of a column are equal, the engine may fold it into one."""
    configure(work, damping=FEW_ITERATIONS)
    links = {(URLS[0], URLS[1]), (URLS[0], URLS[2])}
    for found, fetched in ((links, URLS[:3]), ((), URLS[:1])):
        with work.step("test", work.round) as draft:
            draft.replace |= {"links": (), "pages": (), "responses": ()}
        crawl(work, found, fetched)
        of_pages, of_hosts = shown(work, "joins")
        expected = dense(found, fetched, damping=FEW_ITERATIONS)
        assert of_pages == pytest.approx(expected, abs=1e-6)
        assert of_hosts == {host_of(URLS[0]): pytest.approx(1)}
        assert rank.run(work).counts["page_iterations"] == 1


@pytest.mark.parametrize("tolerance", [1e-2, 1e-5])
def test_the_error_is_within_the_tolerance(work: Workspace, tolerance: float) -> None:
    configure(work, tolerance=tolerance)
    crawl(work, SOME, URLS[:14])
    found, _ = shown(work, "arrays")
    expected = dense(SOME, URLS[:14])
    assert sum(abs(found[url] - expected[url]) for url in expected) <= tolerance


def test_iterations_are_bounded(work: Workspace) -> None:
    configure(work, iterations=2, tolerance=1e-12)
    crawl(work, SOME, URLS[:14])
    assert rank.run(work).counts["page_iterations"] == 2
    graph.run(work)
    assert rank.run(work).counts["page_iterations"] == 2


def test_ranks_that_do_not_fit_into_memory_are_computed_by_joins(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl(work, SOME, URLS[:14])
    configure(work, memory_gb=1e-9, damping=FEW_ITERATIONS)
    graph.run(work)
    monkeypatch.delattr("gossamer.links.rank.arrays.rank_in_arrays")
    rank.run(work)
    expected = dense(SOME, URLS[:14], damping=FEW_ITERATIONS)
    assert ranks(work) == pytest.approx(expected, abs=1e-6)


def test_links_that_do_not_fit_into_memory_stay_compressed(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl(work, SOME, URLS[:14])
    monkeypatch.setattr("gossamer.links.rank.vote_rows.BYTES_PER_NODE", 1 << 40)
    monkeypatch.delattr("gossamer.links.rank.vote_rows.Votes._decode_all")
    assert shown(work, "arrays")[0] == pytest.approx(dense(SOME, URLS[:14]), abs=1e-6)


def test_without_pages_there_are_no_ranks(work: Workspace) -> None:
    nothing = {"pages": 0, "page_iterations": 0, "hosts": 0, "host_iterations": 0}
    assert rank.run(work).counts == nothing
    graph.run(work)
    assert rank.run(work).counts == nothing


def test_ranks_are_of_a_graph_and_its_changes(work: Workspace) -> None:
    links = {*pairwise(URLS)}
    crawl(work, links, URLS[:-1])
    graph.run(work)
    more = {(URLS[3], URLS[9]), ("https://new.example.org/", URLS[2]), (URLS[3], "http://z.net/")}
    changed = {link for link in links if link[0] != URLS[3]} | more
    sources = {src for src, _ in more}
    put(work, "pages", [{"url": url, "status": "fetched"} for url in sources], 2)
    put(work, "links", [{"src": src, "dst": dst, "round": 2} for src, dst in more], 2)
    put(work, "responses", [{"url": url, "outcome": "ok", "round": 2} for url in sources], 2)
    found, of_hosts = shown(work, "arrays")
    fetched = {*URLS[:-1], *sources}
    assert found == pytest.approx(dense(changed, fetched), abs=1e-6)
    expected = dense(host_links(changed), set(map(host_of, fetched)), domain_of=registrable)
    assert of_hosts == pytest.approx(expected, abs=1e-6)


def test_a_page_that_loses_its_last_link_has_no_rank_until_it_has_one_again(
    work: Workspace,
) -> None:
    """As in a graph of now, which would lack it. Its node stays until the graph is built again."""
    lost, page, fetched = "http://z.net/", URLS[0], URLS[:-1]
    less = {*pairwise(URLS)}
    more = {*less, (page, lost)}
    crawl(work, more, fetched)
    graph.run(work)
    rank.run(work)
    for round_, links in ((2, less), (3, less), (4, more)):
        targets = [dst for src, dst in links if src == page]
        put(work, "pages", [{"url": page, "status": "fetched"}], round_)
        put(work, "links", [{"src": page, "dst": dst, "round": round_} for dst in targets], round_)
        put(work, "responses", [{"url": page, "outcome": "ok", "round": round_}], round_)
        graph.run(work)
        rank.run(work)
        found, of_hosts = ranks(work), ranks(work, "host_ranks", "host")
        if links == less:
            no_ranks: list[float | None] = [found.pop(lost), of_hosts.pop("z.net")]
            assert no_ranks == [None, None]
        check_host_sizes(work)
        assert found == pytest.approx(dense(links, set(fetched)), abs=1e-6)
        of_fetched = set(map(host_of, fetched))
        expected = dense(host_links(links), of_fetched, domain_of=registrable)
        assert of_hosts == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("form", ["joins", "arrays"])
def test_trust_and_distrust_are_those_of_the_papers(work: Workspace, form: str) -> None:
    crawl(work, SOME, URLS[:14])
    configure(work, trusted=("other.net",), tolerance=1e-10, damping=FEW_ITERATIONS)
    chosen = [url for url in URLS if host_of(url) == "other.net"]
    expected = dense(SOME, chosen, damping=FEW_ITERATIONS)
    known = dict.fromkeys({end for link in SOME for end in link} | {*URLS[:14]}, 0.0)
    assert shown(work, form)[0] == pytest.approx(known | expected, abs=1e-9)
    refused = [URLS[13], URLS[4]]
    configure(work, trusted=(), distrusted=tuple(refused))
    against = {(dst, src) for src, dst in SOME}
    distrust = dense(against, refused, damping=FEW_ITERATIONS, same_domain=1)
    nodes = len(known)
    expected = dense(
        SOME,
        set(URLS[:14]).difference(refused),
        damping=FEW_ITERATIONS,
        factor=lambda url: 0 if url in refused else 1 / (1 + nodes * distrust[url]),
    )
    assert shown(work, form)[0] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("form", ["joins", "arrays"])
def test_hosts_of_farms_cast_a_part_of_their_votes(work: Workspace, form: str) -> None:
    configure(work, tolerance=1e-10, damping=FEW_ITERATIONS)
    crawl(work, SOME, URLS[:14])
    evidence = [(host_of(URLS[0]), "host", 0.5), (host_of(URLS[0]), "host", 0.25)]
    evidence += [(URLS[4], "page", 0.0), (host_of(URLS[12]), "host", 0.0)]
    rows = [{"kind": kind, "name": name, "factor": factor} for name, kind, factor in evidence]
    put(work, "farms", rows)
    factors = {host_of(URLS[0]): 0.25, host_of(URLS[12]): 0.0}
    expected = dense(
        SOME, URLS[:14], damping=FEW_ITERATIONS, factor=lambda url: factors.get(host_of(url), 1)
    )
    assert shown(work, form)[0] == pytest.approx(expected, abs=1e-9)
    configure(work, farms=False)
    assert not trust.farm_factors(work).count()
    if form == "arrays":  # both forms read these factors
        expected = dense(SOME, URLS[:14], damping=FEW_ITERATIONS)
        assert shown(work, form)[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.folder
def test_lists_may_be_in_files_and_errors_name_the_setting(work: Workspace) -> None:
    crawl(work, SOME, URLS[:14])
    Path(work.root, "trusted.txt").write_text(f"# those we know\n\n{URLS[0]}\nOTHER.net\n")
    configure(work, trusted_file="trusted.txt")
    assert trust.read_lists(work, "page").trusted == trust.Listed(
        frozenset({URLS[0]}), frozenset({"other.net"})
    )
    hosts = frozenset({"other.net", host_of(URLS[0])})
    assert trust.read_lists(work, "host").trusted == trust.Listed(frozenset(), hosts)
    for values, message in (
        ({"trusted_file": "", "trusted": ("no host!/",)}, "rank.trusted: 'no host!/' is neither"),
        ({"trusted": ("http://unknown.org/",)}, "rank.trusted: the crawl knows none"),
        ({"trusted": (), "distrusted_file": "nowhere"}, "nowhere"),
    ):
        configure(work, **values)
        with pytest.raises(ConfigError, match=message):
            rank.run(work)


@pytest.mark.parametrize(
    "values",
    [
        {"trusted": ("other.net", URLS[12])},
        *(
            pytest.param(values, marks=pytest.mark.slow)
            for values in (
                {},
                {"same_domain": 0.0, "damping": 0.85},
                {"distrusted": (URLS[17], "third.co.uk")},
            )
        ),
    ],
)
def test_both_forms_agree(work: Workspace, values: dict[str, object]) -> None:
    crawl(work, SOME, URLS[:14])
    configure(work, **{"tolerance": 1e-11, "damping": FEW_ITERATIONS} | values)
    found = [shown(work, form) for form in ("joins", "arrays")]
    for by_joins, in_arrays in zip(*found, strict=True):
        assert by_joins == pytest.approx(in_arrays, abs=1e-9)
        assert sum(in_arrays.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("links", "tolerance"),
    [(SOME, 1e-5), ({*pairwise([*URLS, URLS[0]])}, 1e-2)],
    ids=["some", "a cycle"],
)
def test_both_forms_take_as_many_iterations(
    work: Workspace, links: set[tuple[str, str]], tolerance: float
) -> None:
    """In the cycle, an extrapolation is undone."""
    crawl(work, links, URLS[:14])
    configure(work, tolerance=tolerance, damping=0.7)
    by_joins = rank.run(work).counts
    assert by_joins["page_iterations"] > 2 * KEPT
    with work.step("test", work.round) as draft:
        draft.replace |= {"ranks": (), "host_ranks": ()}
    graph.run(work)
    assert rank.run(work).counts == by_joins
