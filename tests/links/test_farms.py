"""Link farms: what is one, what only looks like one."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from msgspec import structs
from typer.testing import CliRunner

from gossamer.cli import app
from gossamer.config import RankConfig
from gossamer.links import farms, graph
from tests.support.rows import put

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gossamer.state.workspace import Workspace

Links = set[tuple[str, str]]


def page(host: str, name: str = "") -> str:
    return f"http://{host}/{name}"


def clique(hosts: Iterable[str]) -> Links:
    """The home page of each host links to those of the others."""
    return {(page(one), page(other)) for one, other in permutations(hosts, 2)}


def crawl(work: Workspace, links: Links, addresses: Mapping[str, str] | None = None) -> None:
    put(work, "links", [{"src": src, "dst": dst} for src, dst in links])
    put(work, "responses", [{"url": src, "outcome": "ok"} for src in {src for src, _ in links}])
    rows = [{"host": host, "address": address} for host, address in (addresses or {}).items()]
    if rows:
        put(work, "hosts", rows)


def found(work: Workspace) -> dict[tuple[str, str], dict[str, Any]]:
    farms.run(work)
    rows = [row.asDict() for row in work.read("farms").collect()]
    return {(row["name"], row["reason"]): row for row in rows}


SUBDOMAINS = [f"x{n}.farm.example" for n in range(25)]
DOMAINS = [f"shop-{n}.example" for n in range(12)]
ADDRESS, PRIVATE = "93.184.216.34", "10.0.0.7"
SUPPORT = {(page("portal.example"), page(host)) for host in SUBDOMAINS}


def test_hosts_of_a_domain_that_recommend_each_other(work: Workspace) -> None:
    target = page("casino.test", "win")
    links = clique(SUBDOMAINS) | SUPPORT | {(page(host), target) for host in SUBDOMAINS}
    crawl(work, links)
    rows = found(work)
    assert farms.run(work).counts == {"hosts": 25, "pages": 1}
    assert {key for key in rows if key[1] == "domain"} == {(h, "domain") for h in SUBDOMAINS}
    assert rows["x7.farm.example", "domain"] == {
        "kind": "host",
        "name": "x7.farm.example",
        "reason": "domain",
        "owner": "farm.example",
        "members": 25,
        "supporters": 1,
        "links": 24,
        "of_links": 25,
        "factor": pytest.approx(2 / 25),
    }
    boosted = rows[target, "boosted"]
    assert (boosted["kind"], boosted["owner"], boosted["factor"]) == ("page", "farm.example", 1)
    assert (boosted["links"], boosted["of_links"]) == (25, 25)


def test_a_page_that_others_link_to_as_well_is_not_boosted(work: Workspace) -> None:
    target = page("news.test")
    links = clique(SUBDOMAINS) | {(page(host), target) for host in SUBDOMAINS}
    links |= {(page(f"reader-{n}.test"), target) for n in range(4)}
    crawl(work, links)
    assert {reason for _, reason in found(work)} == {"domain"}


@pytest.mark.parametrize("kind", ["few", "supported", "seed", "apart"])
def test_many_hosts_of_a_domain_are_no_farm(work: Workspace, kind: str) -> None:
    hosts = SUBDOMAINS[: farms.MIN_HOSTS - 1] if kind == "few" else SUBDOMAINS
    links = clique(hosts)
    if kind == "supported":  # a university: other domains link to some of its hosts
        links |= {(page("other.test"), page(hosts[0])), (page("third.test"), page(hosts[3]))}
    if kind == "apart":  # blogs that only their host's portal lists
        links = {(page("www.farm.example"), page(host)) for host in hosts}
    if kind == "seed":
        put(work, "domains", [{"domain": "farm.example", "seed": True, "linked_from": []}])
    crawl(work, links)
    assert not found(work)


def test_domains_at_one_address_that_recommend_each_other(work: Workspace) -> None:
    crawl(
        work,
        clique(DOMAINS) | {(page("p.test"), page(DOMAINS[0]))},
        dict.fromkeys(DOMAINS, ADDRESS),
    )
    rows = found(work)
    assert rows.keys() == {(host, "address") for host in DOMAINS}
    row = rows[DOMAINS[3], "address"]
    assert (row["owner"], row["members"], row["supporters"]) == (ADDRESS, 12, 1)
    assert row["factor"] == pytest.approx(2 / 12)


@pytest.mark.parametrize("kind", ["hosting", "private", "unknown", "seeds", "one domain"])
def test_many_domains_at_one_address_are_no_farm(work: Workspace, kind: str) -> None:
    hosts = DOMAINS
    addresses = dict.fromkeys(hosts, PRIVATE if kind == "private" else ADDRESS)
    links = clique(hosts)
    if kind == "hosting":  # sites of strangers, with some links to neighbours, and supporters
        links = set(zip(map(page, hosts), map(page, hosts[1:]), strict=False))
        links |= {(page(f"friend-{n}.test"), page(host)) for n, host in enumerate(hosts)}
    if kind == "unknown":
        addresses = {}
    if kind == "seeds":
        put(work, "domains", [{"domain": h, "seed": True, "linked_from": []} for h in hosts[:3]])
    if kind == "one domain":
        hosts = SUBDOMAINS[: len(DOMAINS)]
        links, addresses = clique(hosts), dict.fromkeys(hosts, ADDRESS)
    crawl(work, links, addresses)
    assert not found(work)


def test_a_seed_supports_the_others_of_its_address_and_is_no_member(work: Workspace) -> None:
    put(work, "domains", [{"domain": DOMAINS[0], "seed": True, "linked_from": []}])
    crawl(work, clique(DOMAINS), dict.fromkeys(DOMAINS, ADDRESS))
    rows = found(work)
    assert rows.keys() == {(host, "address") for host in DOMAINS[1:]}
    assert {row["supporters"] for row in rows.values()} == {1}


def exchange(one: str, other: str, links: int = farms.MIN_EXCHANGED) -> Links:
    both = ((one, other), (other, one))
    return {(page(src, str(n)), page(dst, str(n))) for src, dst in both for n in range(links)}


def test_hosts_that_exchange_nearly_all_their_links(work: Workspace) -> None:
    links = exchange("a.test", "b.example") | {(page("c.test"), page("a.test"))}
    crawl(work, links | {(page("b.example"), page("d.test"))})
    rows = found(work)
    assert {(name, row["owner"]) for (name, _), row in rows.items()} == {
        ("a.test", "b.example"),
        ("b.example", "a.test"),
    }
    row = rows["b.example", "exchange"]
    assert (row["links"], row["of_links"], row["supporters"]) == (100, 101, 1)
    assert row["factor"] == farms.EXCHANGE_FACTOR


@pytest.mark.parametrize("kind", ["one domain", "few", "seed", "read", "one way", "elsewhere"])
def test_hosts_that_link_to_each_other_are_no_exchange(work: Workspace, kind: str) -> None:
    one, other = "www.uni.test", "cs.uni.test" if kind == "one domain" else "institute.example"
    links = exchange(one, other, farms.MIN_EXCHANGED - (kind == "few"))
    if kind == "read":  # two other domains link to it
        links |= {(page(f"reader-{n}.test"), page(one)) for n in range(2)}
    if kind == "one way":
        links = {(src, dst) for src, dst in links if page(one) in src}
    if kind == "elsewhere":
        links |= {(page(one, str(n)), page("more.test")) for n in range(20)}
    if kind == "seed":
        put(work, "domains", [{"domain": "uni.test", "seed": True, "linked_from": []}])
    crawl(work, links)
    assert not found(work)


def test_documentation_that_only_links_to_itself_is_no_farm(work: Workspace) -> None:
    pages = [page("docs.test", str(n)) for n in range(200)]
    crawl(work, set(permutations(pages[:30], 2)) | {(page("home.test"), pages[0])})
    assert not found(work)
    assert farms.run(work).counts == {"hosts": 0, "pages": 0}


def test_an_empty_crawl_has_no_farms(work: Workspace) -> None:
    assert farms.run(work).counts == {"hosts": 0, "pages": 0}
    assert work.read("farms").count() == 0


def test_they_are_shown(work: Workspace) -> None:
    crawl(work, clique(SUBDOMAINS) | SUPPORT | exchange("a.test", "b.example"))
    farms.run(work)

    def run(*options: str) -> str:
        ended = CliRunner().invoke(app, ["graph", "farms", work.root, *options])
        assert ended.exit_code == 0, ended.output
        return ended.output

    shown = run("--limit", "1")
    assert shown.startswith("  8%  x0.farm.example\n      25 hosts of farm.example link to each")
    assert "and 26 more: --limit" in shown
    found = msgspec.json.decode(run("--json", "--limit", "100"))
    assert found["total"] == len(found["farms"]) == 27
    assert found["farms"][-1]["owner"] == "a.test"


@pytest.mark.parametrize("nofollow", [False, True])
def test_farms_are_the_same_if_the_graph_counts_the_links(work: Workspace, nofollow: bool) -> None:
    target = page("casino.test", "win")
    links = clique(SUBDOMAINS) | SUPPORT | exchange("a.test", "b.example")
    links |= {(page(host), target) for host in SUBDOMAINS} | clique(DOMAINS)
    crawl(work, links, dict.fromkeys(DOMAINS, ADDRESS))
    put(work, "links", [{"src": page("c.test"), "dst": target, "nofollow": True}])
    put(work, "responses", [{"url": page("c.test"), "outcome": "ok"}])
    work.config = structs.replace(work.config, rank=RankConfig(nofollow=nofollow))
    rows = found(work)
    assert {"domain", "address", "exchange", "boosted"} == {reason for _, reason in rows}
    graph.run(work)
    assert found(work) == rows
    put(work, "links", [{"src": page(SUBDOMAINS[0]), "dst": page("d.test"), "round": 2}], 2)
    put(work, "responses", [{"url": page(SUBDOMAINS[0]), "outcome": "ok", "round": 2}], 2)
    rows = found(work)
    graph.run(work)
    assert found(work) == rows


def test_farms_that_are_gone_are_forgotten(work: Workspace) -> None:
    crawl(work, clique(SUBDOMAINS))
    assert len(found(work)) == len(SUBDOMAINS)
    supporters = {(page(f"s{n}.test"), page(SUBDOMAINS[n])) for n in range(9)}
    crawl(work, supporters)
    assert not found(work)
