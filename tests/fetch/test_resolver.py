from __future__ import annotations

import asyncio
import gc
import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.config import FetchConfig
from gossamer.fetch.network import cached_resolver as module
from gossamer.fetch.network import dns_client
from gossamer.fetch.network.allowed_networks import ForbiddenAddress, Networks
from gossamer.fetch.network.cached_resolver import LOOKUPS, PREFETCHES, Resolver
from tests.support.dns_server import (
    AAAA,
    NODATA,
    NXDOMAIN,
    REFUSED,
    SERVFAIL,
    SILENCE,
    TRUNCATED,
    A,
    DnsServer,
    Reply,
    Zone,
    addresses,
    serve,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.loopback import Loopback

pytestmark = pytest.mark.server

ONE, OTHER, SIXTH = "8.8.8.8", "1.1.1.1", "2606:4700::1"
NONSENSE = "the DNS server's answer is malformed"


class Clock:
    def __init__(self) -> None:
        self.now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


@asynccontextmanager
async def resolving(
    zone: Zone, clock: Clock | None = None, **settings: Any
) -> AsyncIterator[tuple[Resolver, DnsServer]]:
    async with serve(zone) as server:
        config = FetchConfig(nameservers=(server.address,), **settings)
        networks = Networks(config.allow_networks)
        resolver = Resolver(config, networks, clock=clock or Clock())
        try:
            yield resolver, server
        finally:
            await resolver.close()


async def find(resolver: Resolver, host: str) -> list[str]:
    return [result["host"] for result in await resolver.resolve(host, 80)]


def resolve(zone: Zone, host: str, **settings: Any) -> list[tuple[str, int]]:
    async def run() -> list[tuple[str, int]]:
        async with resolving(zone, **settings) as (resolver, _), asyncio.timeout(30):
            found = await resolver.resolve(host, 80)
        return [(result["host"], result["port"]) for result in found]

    return asyncio.run(run())


def locate(zone: Zone, host: str, **settings: Any) -> str | None:
    async def run() -> str | None:
        async with resolving(zone, **settings) as (resolver, _):
            return await resolver.locate(host)

    return asyncio.run(run())


# What is found


def test_ipv4_comes_first() -> None:
    zone = {"a.test": addresses(SIXTH, ONE, OTHER), "six.test": addresses(SIXTH)}
    found = resolve(zone, "a.test")
    assert sorted(found[:2]) == [(OTHER, 80), (ONE, 80)]
    assert found[2:] == [(SIXTH, 80)]
    assert resolve(zone, "six.test") == [(SIXTH, 80)]


def test_a_server_that_only_knows_ipv4(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dns_client, "QUERY_S", 0.25)
    assert resolve({"a.test": Reply((ONE,), silent_for=(AAAA,))}, "a.test") == [(ONE, 80)]


def test_aliases_are_followed() -> None:
    zone = {
        "a.test": Reply(alias="b.test"),
        "b.test": Reply(alias="c.test"),
        "c.test": addresses(ONE),
    }
    assert resolve(zone, "a.test") == [(ONE, 80)]


def test_of_thousands_of_addresses_some_are_kept() -> None:
    many = [f"9.0.{number // 250}.{number % 250}" for number in range(2_000)]
    assert len(resolve({"a.test": addresses(*many)}, "a.test")) == dns_client.MAX_ADDRESSES


def test_a_family_may_be_asked_for() -> None:
    async def run() -> None:
        async with resolving({"a.test": addresses(ONE, SIXTH), "b.test": addresses(ONE)}) as (
            resolver,
            _,
        ):
            for family, address in ((socket.AF_INET, ONE), (socket.AF_INET6, SIXTH)):
                (result,) = await resolver.resolve("a.test", 80, family)
                assert (result["host"], result["family"]) == (address, family)
            with pytest.raises(OSError, match=r"b\.test: no address of this family"):
                await resolver.resolve("b.test", 80, socket.AF_INET6)

    asyncio.run(run())


def test_the_config_routes_hosts() -> None:
    routes = {"*.test": "127.0.0.1:81", "*": "[::1]:82"}
    assert resolve({}, "a.test", host_overrides=routes) == [("127.0.0.1", 81)]
    assert resolve({}, "a.example", host_overrides=routes) == [("::1", 82)]


@pytest.mark.parametrize(
    "text", ["9.9.9.9", "127.0.0.1:5353", "::1", "[::1]", "[2620:fe::9]:53", "2620:fe::9"]
)
def test_nameservers(text: str) -> None:
    async def run() -> dns_client.DnsResult:
        resolver = dns_client.Dns([text], Clock())
        try:
            return await resolver.look_up("localhost")  # opens a channel; needs no server
        finally:
            await resolver.close()

    assert "127.0.0.1" in asyncio.run(run()).addresses


def test_localhost_needs_no_server() -> None:
    assert resolve({}, "localhost", allow_networks=("127.0.0.0/8",)) == [("127.0.0.1", 80)]


def test_search_domains_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCALDOMAIN", "inside.test")
    with pytest.raises(OSError, match="no such name"):
        resolve({"wiki.inside.test": addresses(ONE)}, "wiki")


def test_spellings_of_a_name_are_one_name() -> None:
    async def run() -> None:
        async with resolving({"a.test": addresses(ONE)}) as (resolver, server):
            for host in ("a.test", "A.Test", "a.test."):
                assert await find(resolver, host) == [ONE]
            assert server.asked("a.test") == 1

    asyncio.run(run())


# What fails


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (NXDOMAIN, "no such name (NXDOMAIN)"),
        (NODATA, "the name has no address"),
        (Reply(alias="a.test"), "the name has no address"),
        (Reply(alias="nowhere.test"), "no such name (NXDOMAIN)"),
        (SERVFAIL, "the DNS server failed (SERVFAIL)"),
        (REFUSED, "the DNS server refused to answer (REFUSED)"),
        (Reply(code=4), "DNS failed (DNS server does not implement requested operation)"),
        (Reply(garbage=b""), NONSENSE),
        (Reply(garbage=b"\x81\x80\0\1"), NONSENSE),
        (Reply(garbage=b"\x81\x80\0\1\0\xff\0\0\0\0\xc0\x0c"), NONSENSE),
        (TRUNCATED, "no DNS server can be reached"),  # by TCP
    ],
)
def test_a_failure_says_why(reply: Reply, text: str) -> None:
    with pytest.raises(OSError, match=r"a\.test") as raised:
        resolve({"a.test": reply}, "a.test")
    assert raised.value.strerror == f"a.test: {text}"
    assert locate({"a.test": reply}, "a.test") is None


@pytest.mark.parametrize("reply", [SILENCE, Reply((ONE,), wrong_id=True)])
@pytest.mark.parametrize(
    "limits", [{"LOOKUP_S": 0.05}, {"QUERY_S": 0.25, "TRIES": 1}], ids=["ours", "of c-ares"]
)
def test_silence_and_forgeries_time_out(
    reply: Reply, limits: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in limits.items():
        monkeypatch.setattr(dns_client, name, value)
    with pytest.raises(OSError, match=r"a\.test: DNS timed out"):
        resolve({"a.test": reply}, "a.test")


def test_a_malformed_answer_harms_its_own_name_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """c-ares drops the queries of all names that wait on the same connection."""
    monkeypatch.setattr(dns_client, "TRIES", 1)
    names = [f"{number}.test" for number in range(5)]
    zone: Zone = {
        "bad.test": Reply(garbage=b""),
        "void.test": (SILENCE, NXDOMAIN),
        "*.test": (SILENCE, addresses(ONE)),
    }

    async def run() -> None:
        async with resolving(zone) as (resolver, _):
            asked = [*names, "void.test", "bad.test"]
            found = await asyncio.gather(*map(resolver._dns.look_up, asked))
            assert [each.addresses for each in found[:-2]] == [(ONE,)] * len(names)
            reasons = [each.failure.text for each in found if each.failure]
            assert reasons == ["no such name (NXDOMAIN)", NONSENSE]
            assert len(resolver._dns._open) == 1

    asyncio.run(run())


def test_no_server_at_all() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    config = FetchConfig(nameservers=(f"127.0.0.1:{port}",))

    async def run() -> None:
        resolver = Resolver(config, Networks())
        try:
            with pytest.raises(OSError, match="no DNS server can be reached"):
                await resolver.resolve("a.test")
        finally:
            await resolver.close()

    asyncio.run(run())


@pytest.mark.parametrize(
    "host",
    ["", ".", "a..b", ".a", "x" * 64 + ".test", "x." * 127 + "xx", "a b.test", "a\0.test",
     "bücher.test", "a.test\n", "0177.0.0.1", "0x7f.1",
     "2130706433", "127.1", "1.2.3.4.5", "a.0x7f"],
)  # fmt: skip
def test_what_is_no_name_is_not_asked_for(host: str) -> None:
    async def run() -> None:
        async with resolving({"*": addresses(ONE)}) as (resolver, server):
            with pytest.raises(OSError, match="not a valid DNS name"):
                await resolver.resolve(host)
            assert server.queries == []

    asyncio.run(run())


# The cache


@pytest.mark.parametrize(
    ("reply", "kept_s"),
    [
        (addresses(ONE, ttl_s=60), 60),
        (addresses(ONE, ttl_s=0), module.MIN_TTL_S),
        (addresses(ONE, ttl_s=86_400), module.MAX_TTL_S),
        (Reply(alias="b.test", ttl_s=40), 40),
        (NXDOMAIN, dns_client.NEGATIVE_TTL_S),
        (NODATA, dns_client.NEGATIVE_TTL_S),
        (SERVFAIL, dns_client.FAILURE_TTL_S),
        (REFUSED, dns_client.FAILURE_TTL_S),
    ],
)
def test_an_answer_is_kept_for_its_time(reply: Reply, kept_s: int) -> None:
    async def run() -> None:
        clock = Clock()
        zone: Zone = {"a.test": reply, "b.test": addresses(ONE, ttl_s=600)}
        async with resolving(zone, clock) as (resolver, server):
            first = await resolver.locate("a.test")
            asked = server.asked("a.test")
            clock.now_s += kept_s - 0.5
            assert await resolver.locate("a.test") == first
            assert server.asked("a.test") == asked
            clock.now_s += 0.5
            assert await resolver.locate("a.test") == first
            assert server.asked("a.test") == 2 * asked

    asyncio.run(run())


def test_a_name_may_come_back() -> None:
    async def run() -> None:
        clock = Clock()
        async with resolving({"a.test": (SERVFAIL, SERVFAIL, addresses(ONE))}, clock) as (
            resolver,
            _,
        ):
            # The first two replies fail one look-up if c-ares tries again; any more are answers.
            while await resolver.locate("a.test") is None:
                clock.now_s += dns_client.FAILURE_TTL_S
            assert await find(resolver, "a.test") == [ONE]

    asyncio.run(run())


def test_what_was_not_asked_for_longest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_NAMES", 8)

    async def run() -> None:
        clock = Clock()
        async with resolving({"*.test": addresses(ONE, ttl_s=0)}, clock) as (resolver, server):
            for number in range(100):
                await resolver.locate(f"{number}.test")
                await resolver.locate("0.test")
                assert len(resolver._known) <= 8
            assert server.asked("0.test") == 1
            await resolver.locate("90.test")
            assert server.asked("90.test") == 2

    asyncio.run(run())


def test_a_name_that_was_looked_up_again_is_not_the_oldest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX_NAMES", 2)

    async def run() -> None:
        clock = Clock()
        async with resolving({"*.test": addresses(ONE, ttl_s=0)}, clock) as (resolver, server):
            await resolver.locate("a.test")
            await resolver.locate("b.test")
            clock.now_s += module.MIN_TTL_S
            for name in ("a.test", "c.test", "a.test"):
                await resolver.locate(name)
            assert server.asked("a.test") == 2

    asyncio.run(run())


def test_channels_of_c_ares_come_and_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """… and one that still waits for an answer stays until then."""
    monkeypatch.setattr(dns_client, "CHANNEL_NAMES", 4)
    monkeypatch.setattr(dns_client, "QUERY_S", 1)

    async def run() -> None:
        zone: Zone = {"slow.test": (SILENCE, addresses(ONE)), "*.test": addresses(OTHER)}
        async with resolving(zone) as (resolver, _):
            slow = asyncio.create_task(find(resolver, "slow.test"))
            for number in range(10):
                await resolver.locate(f"{number}.test")
            assert len(resolver._dns._open) == 2
            assert await slow == [ONE]
            assert len(resolver._dns._open) == 1

    asyncio.run(run())


# Many at once


def test_a_look_up_is_shared() -> None:
    async def run() -> None:
        async with resolving({"a.test": addresses(ONE)}) as (resolver, server):
            found = await asyncio.gather(*(find(resolver, "a.test") for _ in range(100)))
            assert found == [[ONE]] * 100
            assert (server.asked("a.test", A), server.asked("a.test", AAAA)) == (1, 1)

    asyncio.run(run())


@pytest.mark.parametrize("cancelled", [1, 3])
def test_who_gives_up_takes_nothing_from_the_others(cancelled: int) -> None:
    async def run() -> None:
        async with resolving({"a.test": addresses(ONE)}) as (resolver, server):
            callers = [asyncio.create_task(find(resolver, "a.test")) for _ in range(3)]
            await asyncio.sleep(0)
            for caller in callers[:cancelled]:
                caller.cancel()
            ended = await asyncio.gather(*callers, return_exceptions=True)
            assert [isinstance(end, asyncio.CancelledError) for end in ended] == [
                number < cancelled for number in range(3)
            ]
            assert ended[cancelled:] == [[ONE]] * (3 - cancelled)
            assert await find(resolver, "a.test") == [ONE]
            assert server.asked("a.test") == 1

    asyncio.run(run())


async def asked(server: DnsServer, names: int) -> int:
    """Wait until so many names were asked for. Returns how many were when all sent is received."""
    while len({query.name for query in server.queries}) < names:  # noqa: ASYNC110  # of c-ares's thread
        await asyncio.sleep(0)
    last = dns_client.Dns([server.address], Clock())
    assert (await last.look_up("last-of-all.test")).addresses
    await last.close()
    return len({query.name for query in server.queries} - {"last-of-all.test"})


def test_look_ups_are_bounded_and_prefetching_leaves_room() -> None:
    async def run() -> None:
        zone = {"silent-*": SILENCE, "*": addresses(ONE)}
        async with resolving(zone) as (resolver, server), asyncio.timeout(60):
            located = [
                asyncio.create_task(resolver.locate(f"silent-{number}.test"))
                for number in range(1_000)
            ]
            assert await asked(server, PREFETCHES) == PREFETCHES
            assert await find(resolver, "urgent.test") == [ONE]

            found = [
                asyncio.create_task(find(resolver, f"silent-now-{number}.test"))
                for number in range(1_000)
            ]
            assert await asked(server, LOOKUPS + 1) == LOOKUPS + 1
            assert await resolver.locate("urgent.test") == ONE  # is at hand

            await resolver.close()
            assert await asyncio.gather(*located) == [None] * 1_000
            ended = await asyncio.gather(*found, return_exceptions=True)
            assert all(isinstance(end, OSError) for end in ended)

    asyncio.run(run())


def test_closing_while_look_ups_are_under_way(caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> None:
        zone = {"last-of-all.test": addresses(ONE), "*": SILENCE}
        async with resolving(zone) as (resolver, server):
            callers = [asyncio.create_task(find(resolver, f"{n}.test")) for n in range(100)]
            given_up = asyncio.create_task(find(resolver, "0.test"))
            await asked(server, LOOKUPS)
            given_up.cancel()
            await resolver.close()
            assert not resolver._pending
            assert not resolver._dns._open
            ended = await asyncio.gather(*callers, return_exceptions=True)
            assert {str(end).partition(": ")[2] for end in ended} == {"the look-up was cancelled"}
            assert given_up.cancelled()
            with pytest.raises(OSError, match="cancelled"):
                await resolver.resolve("late.test")

    asyncio.run(run(), debug=True)
    gc.collect()
    assert not [record for record in caplog.records if "took" not in record.getMessage()]


# Where hosts are


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("a.test", ONE),
        ("a.test:8080", ONE),
        ("six.test", SIXTH),
        ("9.9.9.9", "9.9.9.9"),
        ("9.9.9.9:8080", "9.9.9.9"),
        ("[2620:fe::9]", "2620:fe::9"),
        ("[2620:fe::9]:8080", "2620:fe::9"),
        ("routed.test", "127.0.0.2"),
        ("routed.test:8080", "127.0.0.2"),
        ("both.test", ONE),
        ("inside.test", None),
        ("10.0.0.1", None),
        ("127.0.0.1", None),
        ("[::1]:80", None),
        ("[::ffff:127.0.0.1]:80", None),
        ("misrouted.test", None),
        ("gone.test", None),
        ("", None),
        (":80", None),
        ("[", None),
        ("[::1", None),
    ],
)
def test_the_address_of_a_host(host: str, address: str | None) -> None:
    zone = {
        "a.test": addresses(ONE),
        "six.test": addresses(SIXTH),
        "both.test": addresses("127.0.0.1", ONE, "::1"),
        "inside.test": addresses("127.0.0.1", "10.0.0.1", "::1"),
    }
    routes = {"routed.test": "127.0.0.2:81", "misrouted.test": "10.0.0.1:81"}
    assert locate(zone, host, host_overrides=routes, allow_networks=("127.0.0.2/32",)) == address


@settings(max_examples=50)
@given(st.text() | st.text("0123456789abcfx.:[]%"))
def test_locating_never_raises(host: str) -> None:
    assert locate({}, host) is None or host[:1] in "[0123456789abcf"


def test_what_was_located_is_at_hand() -> None:
    """Once the DNS server is gone. Its queries are not counted: c-ares repeats those of a busy
    machine.
    """

    async def run() -> None:
        async with serve({"*.test": addresses(ONE)}) as server:
            config = FetchConfig(nameservers=(server.address,))
            resolver = Resolver(config, Networks(), clock=Clock())
            located = [resolver.locate(f"{n % 200}.test:80") for n in range(1_000)]
            assert set(await asyncio.gather(*located)) == {ONE}
        for number in range(200):
            assert await find(resolver, f"{number}.test") == [ONE]
        await resolver.close()

    asyncio.run(run())


# Strangers who lead inside


def test_a_name_that_leads_inside_is_refused() -> None:
    for host in ("localhost", "a.test"):
        with pytest.raises(ForbiddenAddress):
            resolve({"a.test": addresses("10.0.0.1", "::ffff:127.0.0.1")}, host)


def test_of_a_name_s_addresses_those_inside_are_dropped() -> None:
    assert resolve({"a.test": addresses("127.0.0.1", ONE, "::1")}, "a.test") == [(ONE, 80)]


@asynccontextmanager
async def get(
    url: str, resolver: Resolver, networks: Networks
) -> AsyncIterator[aiohttp.ClientResponse]:
    """A request as the fetcher makes it."""
    connector = aiohttp.TCPConnector(
        resolver=resolver, socket_factory=networks.socket, use_dns_cache=False
    )
    async with aiohttp.ClientSession(connector=connector) as session, session.get(url) as response:
        yield response


def test_a_rebound_name_is_refused(server: Loopback) -> None:
    """DNS rebinding: a global address when the name is looked up first, loopback later."""

    async def run() -> None:
        clock = Clock()
        zone = {"a.test": (addresses(ONE, ttl_s=0), addresses("127.0.0.1", ttl_s=0))}
        async with resolving(zone, clock) as (resolver, asked):
            assert await resolver.locate("a.test") == ONE
            clock.now_s += module.MIN_TTL_S
            with pytest.raises(aiohttp.ClientConnectorError) as raised:
                async with get(f"http://a.test:{server.port}/", resolver, Networks()):
                    pass
            assert isinstance(raised.value.__cause__, ForbiddenAddress)
            assert asked.asked("a.test") == 2

    asyncio.run(run())
    assert server.asked == []


def test_what_a_resolver_lets_pass_is_refused_at_connect(server: Loopback) -> None:
    async def run() -> None:
        zone = {"a.test": addresses("127.0.0.1")}
        async with resolving(zone, allow_networks=("127.0.0.0/8",)) as (lenient, _):
            assert await lenient.locate("a.test") == "127.0.0.1"
            with pytest.raises(aiohttp.ClientConnectorError) as raised:
                async with get(f"http://a.test:{server.port}/", lenient, Networks()):
                    pass
            assert "is not in fetch.allow_networks" in str(raised.value)
            async with get(
                f"http://a.test:{server.port}/", lenient, Networks(["127.0.0.0/8"])
            ) as response:
                assert response.status == 404  # the request itself is sound

    asyncio.run(run())
    assert [request.path for request in server.asked] == ["/"]
