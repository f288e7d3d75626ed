"""The user's own hosts: several connections, no delay, and private addresses that they name."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from gossamer.config import FetchConfig
from gossamer.config.own_hosts import Own
from gossamer.fetch.network.allowed_networks import ForbiddenAddress, Networks
from gossamer.fetch.network.cached_resolver import Resolver
from gossamer.fetch.network.foreign_hosts import first_foreign_host
from tests.support.fetched_parts import Fetched, settings, wanted
from tests.support.loopback import page

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from pathlib import Path

    from tests.support.loopback import Loopback

CONNECTIONS = 4
HURRIED = {"delay_s": 60.0, "delay_factor": 5.0, "address_delay_s": 60.0}
"""What strangers would be owed: a test that waited for it would not end."""
SLOW_ROBOTS = page(
    b"User-agent: *\nCrawl-delay: 60\nDisallow: /private", ("Content-Type: text/plain",)
)


def test_pages_of_an_own_host_are_fetched_side_by_side_without_a_delay(
    tmp_path: Path, server: Loopback
) -> None:
    together = asyncio.Barrier(CONNECTIONS)

    async def answer(_reader: StreamReader, writer: StreamWriter) -> None:
        await together.wait()  # for ever, unless as many are open
        writer.write(page(b"<p>x", ("Connection: close",)))

    urls = [f"http://a.test/{n}" for n in range(3 * CONNECTIONS)]
    server.answers = {f"/{n}": answer for n in range(3 * CONNECTIONS)}
    server.answers["/robots.txt"] = SLOW_ROBOTS
    config = settings(server, own_hosts=("a.test",), own_connections=CONNECTIONS, **HURRIED)
    fetched = Fetched(tmp_path, [wanted(url) for url in urls], config)
    assert fetched.outcomes() == ["ok"] * len(urls)
    assert server.paths.count("/robots.txt") == 1
    assert fetched.hosts["a.test"]["crawl_delay_s"] == 60


@pytest.mark.parametrize(("obeyed", "outcomes"), [(True, ["robots"]), (False, ["ok"])])
def test_robots_txt_of_an_own_host_is_obeyed_unless_the_setting_says_otherwise(
    tmp_path: Path, server: Loopback, obeyed: bool, outcomes: list[str]
) -> None:
    server.answers = {"/robots.txt": SLOW_ROBOTS, "/private": page(b"<p>x")}
    config = settings(server, own_hosts=("a.test",), own_robots=obeyed)
    assert Fetched(tmp_path, [wanted("http://a.test/private")], config).outcomes() == outcomes
    assert ("/robots.txt" in server.paths) == obeyed


@pytest.mark.parametrize("own", ["127.0.0.1", "127.0.0.0/8", "localhost"])
def test_an_own_address_needs_no_other_setting(tmp_path: Path, server: Loopback, own: str) -> None:
    server.answers = {"/a": page(b"<p>x"), "/b": page(b"<p>x")}
    urls = [f"http://{server.address}/{name}" for name in "ab"]
    config = FetchConfig(own_hosts=(own,), delay_s=60)
    assert Fetched(tmp_path, [wanted(url) for url in urls], config).outcomes() == ["ok", "ok"]


def test_other_hosts_beside_an_own_one_are_still_spared(tmp_path: Path, server: Loopback) -> None:
    server.answers = {f"/{n}": page(b"<p>x") for n in range(3)}
    rows = [wanted(f"http://{host}.test/{n}") for host in "ab" for n in range(3)]
    Fetched(tmp_path, rows, settings(server, own_hosts=("a.test",), delay_s=0.05))
    begun_s = [request.begun_s for request in server.asked if request.host == "b.test"]
    assert len(begun_s) == 4
    assert all(later - sooner >= 0.05 for sooner, later in pairwise(begun_s))


def test_an_own_host_that_is_busy_is_left_alone(tmp_path: Path, server: Loopback) -> None:
    busy = page(b"", ("Retry-After: 3600",), status="503 Service Unavailable")
    server.answers = {f"/{n}": busy for n in range(20)}
    rows = [wanted(f"http://a.test/{n}") for n in range(20)]
    fetched = Fetched(tmp_path, rows, settings(server, own_hosts=("a.test",), own_connections=2))
    assert fetched.counts["busy"] <= 2
    assert fetched.counts["postponed_busy"] == 20 - fetched.counts["busy"]
    assert fetched.hosts["a.test"]["ready_ms"] > time.time() * 1000 + 3_000_000


@pytest.mark.parametrize(
    ("host", "address", "is_own"),
    [
        ("docs.example.org", None, True),
        ("docs.example.org:8080", None, True),
        ("a.intra.example", None, True),
        ("10.1.2.3:80", None, True),
        ("[fd00::1]:80", None, True),
        ("other.example.org", "10.1.2.3", True),
        ("other.example.org", "11.1.2.3", False),
        ("other.example.org", None, False),
        ("evil-docs.example.org", None, False),
    ],
)
def test_what_is_an_own_host(host: str, address: str | None, is_own: bool) -> None:
    config = FetchConfig(own_hosts=("docs.example.org", "*.intra.example", "10.0.0.0/8", "fd00::1"))
    assert Own(config).has(host, address) == is_own


def test_own_hosts_need_no_contact() -> None:
    config = FetchConfig(own_hosts=("docs.example.org",))
    assert first_foreign_host(["docs.example.org:8080"], config) is None
    assert first_foreign_host(["www.example.org"], config) == "www.example.org"


def test_an_own_host_named_in_full_may_have_a_private_address_and_a_pattern_may_not() -> None:
    config = FetchConfig(own_hosts=("10.0.0.1.docs.test", "*.test"))
    networks = Networks(Own(config).networks)

    async def both() -> tuple[bool, bool]:
        resolver = Resolver(config, networks)
        private = resolver._known  # what DNS is to have said
        from gossamer.fetch.network.cached_resolver import _CachedName
        from gossamer.fetch.network.dns_client import DnsResult

        for name in ("10.0.0.1.docs.test", "b.test"):
            private[name] = _CachedName(DnsResult((f"10.0.0.{len(private)}",), 1e9), float("inf"))
        full = await resolver.resolve("10.0.0.1.docs.test")
        with pytest.raises(ForbiddenAddress):
            await resolver.resolve("b.test")
        await resolver.close()
        return networks.allows(full[0]["host"]), networks.allows("10.0.0.1")

    assert asyncio.run(both()) == (True, False)
