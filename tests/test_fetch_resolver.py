from __future__ import annotations

import asyncio
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.config import FetchConfig
from gossamer.errors import ConfigError
from gossamer.fetch.resolver import ForbiddenAddress, Networks, Resolver

INSIDE = [
    "127.0.0.1",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",  # the metadata service of clouds
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "239.1.1.1",
    "255.255.255.255",
    "240.0.0.1",
    "::",
    "::1",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "fec0::1",
    "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::a00:1",
    "2002:7f00:1::",
    "not an address",
    "",
]


@pytest.mark.parametrize("address", INSIDE)
def test_what_is_not_global_is_refused(address: str) -> None:
    assert not Networks().allows(address)
    with pytest.raises(ForbiddenAddress):
        Networks().socket((socket.AF_INET, socket.SOCK_STREAM, 0, "", (address, 80)))


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "2606:4700::1", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_what_is_global_is_allowed(address: str) -> None:
    assert Networks().allows(address)


def test_allowed_networks() -> None:
    networks = Networks(["10.0.0.0/8", "::1/128"])
    assert networks.allows("10.1.2.3")
    assert networks.allows("::ffff:10.1.2.3")
    assert networks.allows("::1")
    assert not networks.allows("127.0.0.1")


@given(st.ip_addresses(v=4, network="10.0.0.0/8"))
def test_no_spelling_of_a_private_address_passes(address: object) -> None:
    assert not Networks().allows(str(address))
    assert not Networks().allows(f"::ffff:{address}")


def resolve(config: FetchConfig, host: str) -> list[tuple[str, int]]:
    async def run() -> list[tuple[str, int]]:
        resolver = Resolver(config, Networks(config.allow_networks))
        try:
            found = await resolver.resolve(host, 80)
        finally:
            await resolver.close()
        return [(result["host"], result["port"]) for result in found]

    return asyncio.run(run())


def test_the_config_routes_hosts() -> None:
    config = FetchConfig(resolve={"*.test": "127.0.0.1:81", "*": "[::1]:82"})
    assert resolve(config, "a.test") == [("127.0.0.1", 81)]
    assert resolve(config, "a.example") == [("::1", 82)]


def test_a_name_that_leads_inside_is_refused() -> None:
    with pytest.raises(ForbiddenAddress):
        resolve(FetchConfig(), "localhost")


def test_a_name_that_leads_inside_is_resolved_where_that_is_allowed() -> None:
    config = FetchConfig(allow_networks=("127.0.0.0/8",))
    assert resolve(config, "localhost") == [("127.0.0.1", 80)]


@pytest.mark.parametrize("target", ["a.test:80", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:65536"])
def test_a_route_that_is_no_address_and_port(target: str) -> None:
    with pytest.raises(ConfigError, match=r"fetch\.resolve"):
        resolve(FetchConfig(resolve={"*.test": target}), "a.test")


def test_a_network_that_is_none() -> None:
    with pytest.raises(ConfigError, match=r"fetch\.allow_networks"):
        Networks(["10.0.0.1/8"])
