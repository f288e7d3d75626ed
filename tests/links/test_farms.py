"""Link farms: what is one, what only looks like one."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import pytest
from msgspec import structs
from typer.testing import CliRunner

from gossamer.cli import app
from gossamer.config import RankConfig
from gossamer.links import farms, graph
from gossamer.web.urls import host_of
from tests.support.earlier_states import returning
from tests.support.rows import frame, put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from gossamer.state.workspace import Workspace

Links = set[tuple[str, str]]
Rows = dict[tuple[str, str], dict[str, Any]]


def page(host: str, name: str = "") -> str:
    return f"http://{host}/{name}"


def clique(hosts: Iterable[str]) -> Links:
    """The home page of each host links to those of the others."""
    return {(page(one), page(other)) for one, other in permutations(hosts, 2)}


def subdomains(domain: str, number: int = 25) -> list[str]:
    return [f"x{n}.{domain}" for n in range(number)]


def sites(name: str) -> list[str]:
    """Twelve registrable domains."""
    return [f"{name}-{n}.example" for n in range(12)]


def exchange(one: str, other: str, links: int = farms.MIN_EXCHANGED) -> Links:
    both = ((one, other), (other, one))
    return {(page(src, str(n)), page(dst, str(n))) for src, dst in both for n in range(links)}


class Part:
    """Some hosts of a crawl. No other part has any of them, nor their domains and addresses."""

    def __init__(
        self, links: Links, addresses: Mapping[str, str] | None = None, seeds: Iterable[str] = ()
    ) -> None:
        self.links = links
        self.addresses = addresses or {}
        self.seeds = list(seeds)


def at_address(number: int, hosts: Iterable[str]) -> dict[str, str]:
    return dict.fromkeys(hosts, f"93.184.216.{number}")


FARM, TARGET = subdomains("farm.example"), page("casino.test", "win")
SHOPS, SEEDED = sites("shop"), sites("seeded")
FARMS = {
    "domain": Part(
        clique(FARM)
        | {(page("portal.example"), page(host)) for host in FARM}
        | {(page(host), TARGET) for host in FARM}
    ),
    "read target": Part(
        clique(subdomains("spam.example"))
        | {(page(host), page("news.test")) for host in subdomains("spam.example")}
        | {(page(f"reader-{n}.test"), page("news.test")) for n in range(4)}
    ),
    "address": Part(clique(SHOPS) | {(page("p.test"), page(SHOPS[0]))}, at_address(34, SHOPS)),
    "seeded address": Part(clique(SEEDED), at_address(35, SEEDED), SEEDED[:1]),
    "exchange": Part(
        exchange("a.test", "b.example")
        | {(page("c.test"), page("a.test")), (page("b.example"), page("d.test"))}
    ),
}
FEW, UNIVERSITY = subdomains("few.example", farms.MIN_HOSTS - 1), subdomains("university.example")
BLOGS, OWN = subdomains("blogs.example"), subdomains("own.example")
HOSTED, PRIVATE, UNKNOWN, CHOSEN = map(sites, ("hosted", "private", "unknown", "chosen"))
ONE_DOMAIN = subdomains("one.example", 12)
HONEST = {
    "few hosts": Part(clique(FEW)),
    "university": Part(  # other domains link to some of its hosts
        clique(UNIVERSITY)
        | {(page("other.test"), page(UNIVERSITY[0])), (page("third.test"), page(UNIVERSITY[3]))}
    ),
    "blogs that only their host's portal lists": Part(
        {(page("www.blogs.example"), page(host)) for host in BLOGS}
    ),
    "hosts of a seed": Part(clique(OWN), seeds=["own.example"]),
    "shared hosting": Part(  # sites of strangers, with some links to neighbours, and supporters
        set(zip(map(page, HOSTED), map(page, HOSTED[1:]), strict=False))
        | {(page(f"friend-{n}.test"), page(host)) for n, host in enumerate(HOSTED)},
        at_address(36, HOSTED),
    ),
    "a private address": Part(clique(PRIVATE), dict.fromkeys(PRIVATE, "10.0.0.7")),
    "unknown addresses": Part(clique(UNKNOWN)),
    "seeds at one address": Part(clique(CHOSEN), at_address(37, CHOSEN), CHOSEN[:3]),
    "one domain at one address": Part(clique(ONE_DOMAIN), at_address(38, ONE_DOMAIN)),
    "an exchange within a domain": Part(exchange("www.uni.test", "cs.uni.test")),
    "few exchanged links": Part(exchange("f1.test", "f2.test", farms.MIN_EXCHANGED - 1)),
    "an exchange of a seed": Part(exchange("s1.test", "s2.test"), seeds=["s1.test"]),
    "an exchange that others read": Part(
        exchange("r1.test", "r2.test")
        | {(page(f"subscriber-{n}.test"), page("r1.test")) for n in range(2)}
    ),
    "links one way": Part(
        {(src, dst) for src, dst in exchange("w1.test", "w2.test") if page("w1.test") in src}
    ),
    "links elsewhere": Part(
        exchange("e1.test", "e2.test")
        | {(page("e1.test", str(n)), page("more.test")) for n in range(20)}
    ),
}


def crawl(work: Workspace, *parts: Part) -> None:
    links = set().union(*(part.links for part in parts))
    put(work, "links", [{"src": src, "dst": dst} for src, dst in links])
    put(work, "responses", [{"url": src, "outcome": "ok"} for src in {src for src, _ in links}])
    hosts = {host: address for part in parts for host, address in part.addresses.items()}
    if hosts:
        put(work, "hosts", [{"host": host, "address": hosts[host]} for host in hosts])
    seeds = [seed for part in parts for seed in part.seeds]
    if seeds:
        put(work, "domains", [{"domain": s, "seed": True, "linked_from": []} for s in seeds])


def found(work: Workspace) -> Rows:
    farms.run(work)
    rows = [row.asDict() for row in work.read("farms").collect()]
    return {(row["name"], row["reason"]): row for row in rows}


class Examined(NamedTuple):
    """A crawl of all parts, and the rows that `farms` finds in it."""

    work: Workspace
    counts: Mapping[str, int]
    rows: Rows
    returned: Callable[[], Workspace]


@pytest.fixture(scope="module")
def examined(new_work: Callable[[], Workspace]) -> Examined:
    work = new_work()
    crawl(work, *FARMS.values(), *HONEST.values())
    counts = farms.run(work).counts
    rows = [row.asDict() for row in work.read("farms").collect()]
    assert len(rows) == sum(counts.values())
    return Examined(
        work, counts, {(row["name"], row["reason"]): row for row in rows}, returning(work)
    )


def rows_of(examined: Examined, part: Part) -> Rows:
    urls = {end for link in part.links for end in link}
    names = urls | set(map(host_of, urls))
    return {key: row for key, row in examined.rows.items() if key[0] in names}


def test_hosts_of_a_domain_that_recommend_each_other(examined: Examined) -> None:
    rows = rows_of(examined, FARMS["domain"])
    assert rows.keys() == {(host, "domain") for host in FARM} | {(TARGET, "boosted")}
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
    boosted = rows[TARGET, "boosted"]
    assert (boosted["kind"], boosted["owner"], boosted["factor"]) == ("page", "farm.example", 1)
    assert (boosted["links"], boosted["of_links"]) == (25, 25)


def test_a_page_that_others_link_to_as_well_is_not_boosted(examined: Examined) -> None:
    rows = rows_of(examined, FARMS["read target"])
    assert rows.keys() == {(host, "domain") for host in subdomains("spam.example")}


def test_domains_at_one_address_that_recommend_each_other(examined: Examined) -> None:
    rows = rows_of(examined, FARMS["address"])
    assert rows.keys() == {(host, "address") for host in SHOPS}
    row = rows[SHOPS[3], "address"]
    assert (row["owner"], row["members"], row["supporters"]) == ("93.184.216.34", 12, 1)
    assert row["factor"] == pytest.approx(2 / 12)


def test_a_seed_supports_the_others_of_its_address_and_is_no_member(examined: Examined) -> None:
    rows = rows_of(examined, FARMS["seeded address"])
    assert rows.keys() == {(host, "address") for host in SEEDED[1:]}
    assert {row["supporters"] for row in rows.values()} == {1}


def test_hosts_that_exchange_nearly_all_their_links(examined: Examined) -> None:
    rows = rows_of(examined, FARMS["exchange"])
    assert {(name, row["owner"]) for (name, _), row in rows.items()} == {
        ("a.test", "b.example"),
        ("b.example", "a.test"),
    }
    row = rows["b.example", "exchange"]
    assert (row["links"], row["of_links"], row["supporters"]) == (100, 101, 1)
    assert row["members"] == 2
    assert row["factor"] == farms.EXCHANGE_FACTOR


@pytest.mark.parametrize("part", HONEST)
def test_what_only_looks_like_a_farm(examined: Examined, part: str) -> None:
    assert not rows_of(examined, HONEST[part])


def test_all_farms_are_counted(examined: Examined) -> None:
    assert examined.counts == {"hosts": 25 + 25 + 12 + 11 + 2, "pages": 1}


@pytest.mark.parametrize("part", ["exchange", "seeded address"])
def test_one_small_farm_is_found_without_others(work: Workspace, part: str) -> None:
    """Most of the work is not done for crawls that are too small for any farm."""
    crawl(work, FARMS[part])
    assert {reason for _, reason in found(work)} == {part.rpartition(" ")[2]}


def test_documentation_that_only_links_to_itself_is_no_farm(work: Workspace) -> None:
    pages = [page("docs.test", str(n)) for n in range(200)]
    crawl(work, Part(set(permutations(pages[:30], 2)) | {(page("home.test"), pages[0])}))
    assert not found(work)
    assert farms.run(work).counts == {"hosts": 0, "pages": 0}


def test_an_empty_crawl_has_no_farms(work: Workspace) -> None:
    assert farms.run(work).counts == {"hosts": 0, "pages": 0}
    assert work.read("farms").count() == 0


def test_they_are_shown(examined: Examined) -> None:
    root = examined.returned().root

    def run(*options: str) -> str:
        ended = CliRunner().invoke(app, ["graph", "farms", root, *options])
        assert ended.exit_code == 0, ended.output
        return ended.output

    shown = run("--limit", "1")
    assert shown.startswith("  4%  x0.spam.example\n      25 hosts of spam.example link to each")
    assert f"and {len(examined.rows) - 1} more: --limit" in shown
    shown = msgspec.json.decode(run("--json", "--limit", "100"))
    assert shown["total"] == len(shown["farms"]) == len(examined.rows)
    assert [row["reason"] for row in shown["farms"][-3:]] == ["exchange", "exchange", "boosted"]
    assert shown["farms"][-2]["owner"] == "a.test"


def test_farms_are_the_same_if_the_graph_counts_the_links(examined: Examined) -> None:
    work = examined.returned()
    put(work, "links", [{"src": page("n.test"), "dst": TARGET, "nofollow": True}])
    put(work, "responses", [{"url": page("n.test"), "outcome": "ok"}])
    graph.run(work)
    assert found(work) == examined.rows
    put(work, "links", [{"src": page(FARM[0]), "dst": page("d.test"), "round": 2}], 2)
    put(work, "responses", [{"url": page(FARM[0]), "outcome": "ok", "round": 2}], 2)
    rows = found(work)
    assert rows != examined.rows
    graph.run(work)
    assert found(work) == rows


def test_links_marked_nofollow_make_no_farms_even_if_they_are_votes(examined: Examined) -> None:
    """The graph counts them then."""
    work = examined.returned()
    work.config = structs.replace(work.config, rank=RankConfig(nofollow=True))
    readers = [page(f"n{n}.test") for n in range(9)]
    put(work, "links", [{"src": src, "dst": TARGET, "nofollow": True} for src in readers])
    put(work, "responses", [{"url": src, "outcome": "ok"} for src in readers])
    graph.run(work)
    assert found(work) == examined.rows


def test_farms_that_are_gone_are_forgotten(work: Workspace) -> None:
    crawl(work, Part(clique(FARM)))
    assert len(found(work)) == len(FARM)
    crawl(work, Part({(page(f"s{n}.test"), page(FARM[n])) for n in range(9)}))
    assert not found(work)


@pytest.mark.parametrize(
    ("boosters", "others", "is_boosted"),
    [
        (farms.MIN_BOOSTERS - 1, 0, False),
        (farms.MIN_BOOSTERS, 0, True),
        (farms.MIN_BOOSTERS, 1, True),
        (farms.MIN_BOOSTERS, 2, False),
        (18, 2, True),
        (17, 2, False),
    ],
)
def test_a_page_is_boosted_by_so_many_hosts_of_a_farm(
    work: Workspace, boosters: int, others: int, is_boosted: bool
) -> None:
    """And by nearly no others: at least 90 in 100 hosts are of the farm."""
    members = [f"x{n}.farm.test" for n in range(boosters)]
    linking = members + [f"other{n}.test" for n in range(others)]
    links = work.engine.spark.createDataFrame(
        [(host, "page.test", "http://page.test/") for host in [*linking, *linking]],
        "src_host string, dst_host string, dst string",
    )
    known = [(host, "farm.test" if host in members else host, False) for host in linking]
    owners = work.engine.spark.createDataFrame(
        [*known, ("page.test", "page.test", False)], "host string, domain string, seed boolean"
    )
    plain = {"kind": "host", "reason": "domain", "owner": "farm.test", "factor": 0.0}
    rows = [plain | {"name": host, "members": 25, "supporters": 0} for host in members]
    found = farms._boosted_pages(links, owners, frame(work, "farms", rows)).collect()
    assert [(row.kind, row.name, row.reason, row.links, row.of_links) for row in found] == (
        [("page", "http://page.test/", "boosted", boosters, len(linking))] if is_boosted else []
    )
