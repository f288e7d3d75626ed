from __future__ import annotations

import ipaddress
import socket
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.fetch.network.allowed_networks import (
    REFRESH_S,
    ForbiddenAddress,
    Networks,
    interface_networks,
    is_global,
    network_of,
)
from gossamer.web.ip_addresses import NAT64, parse_address

INSIDE = [
    "0.0.0.0",
    "0.1.2.3",
    "10.1.2.3",
    "100.64.0.1",
    "100.100.100.200",  # Alibaba's metadata
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",  # Azure's
    "169.254.169.254",  # most other clouds'
    "169.254.170.2",  # Amazon's, of containers
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",  # Oracle's
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.1.1.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::1%lo",
    "100::1",
    "2001:db8::1",
    "2001:10::1",
    "3fff::1",
    "4000::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",  # Amazon's metadata
    "fe80::1",
    "fe80::1%eth0",
    "fe80::a9fe:a9fe",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
    # IPv4 inside
    "::127.0.0.1",  # compatible
    "::8.8.8.8",
    "::ffff:127.0.0.1",  # mapped
    "::ffff:127.0.0.1%eth0",
    "::ffff:7f00:1",
    "0:0:0:0:0:ffff:a9fe:a9fe",
    "::ffff:0.0.0.0",
    "::ffff:0:127.0.0.1",  # translated (RFC 2765)
    "64:ff9b::7f00:1",  # NAT64
    "64:ff9b::169.254.169.254",
    "64:ff9b:1::8.8.8.8",  # of a local NAT64, which knows where that leads
    "2002:7f00:1::",  # 6to4
    "2002:a9fe:a9fe::1",
    "2001:0:7f00:1::",  # Teredo: server, and client (inverted)
    "2001:0:808:808::80ff:fffe",
    "2600::5efe:127.0.0.1",  # ISATAP
    "2600::200:5efe:10.0.0.1",
    # Spellings that the C library takes for addresses
    "0177.0.0.1",
    "0x7f.0.0.1",
    "0x7f000001",
    "2130706433",
    "127.1",
    "127.0.1",
    "010.0.0.1",
    "8.8.8.8 ",
    "8.8.8.8\0",
    "1.2.3.4.5",
    "١٢٧.0.0.1",
    "localhost",
    "not an address",
    "",
]
OUTSIDE = [
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "168.63.129.15",
    "172.15.255.255",
    "172.32.0.0",
    "191.255.255.255",
    "192.0.1.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2001:200::1",
    "2606:4700::1",
    "2a00:1450:4001:80e::200e",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
    "2002:808:808::1",
]


def info(address: str) -> tuple[object, ...]:
    if ":" in address:
        return (socket.AF_INET6, socket.SOCK_STREAM, 0, "", (address, 80, 0, 0))
    return (socket.AF_INET, socket.SOCK_STREAM, 0, "", (address, 80))


@pytest.mark.parametrize("address", INSIDE)
def test_what_is_not_global_is_refused(address: str) -> None:
    assert not Networks().allows(address)
    with pytest.raises(ForbiddenAddress):
        Networks().socket(info(address))


@pytest.mark.parametrize("address", OUTSIDE)
def test_what_is_global_is_allowed(address: str) -> None:
    assert Networks().allows(address)
    Networks().socket(info(address)).close()


def test_allowed_networks() -> None:
    networks = Networks(["10.0.0.0/8", "::1/128", "fe80::/10"])
    assert networks.allows("10.1.2.3")
    assert networks.allows("::ffff:10.1.2.3")
    assert networks.allows("::1")
    assert networks.allows("fe80::1%eth0")
    assert not networks.allows("127.0.0.1")


def test_all_of_ipv6_is_not_ipv4() -> None:
    networks = Networks(["::/0"])
    assert networks.allows("fc00::1")
    assert not networks.allows("::ffff:127.0.0.1")
    assert not networks.allows("64:ff9b::7f00:1")


@given(st.ip_addresses(v=4))
def test_an_address_is_judged_alike_in_all_its_forms(address: ipaddress.IPv4Address) -> None:
    number = int(address)
    forms = [
        f"::ffff:{address}",
        str(ipaddress.IPv6Address((0xFFFF << 32) | number)),
        str(NAT64[number]),
        str(ipaddress.IPv6Address((0x2002 << 112) | (number << 80))),
    ]
    assert {parse_address(form) for form in forms} == {address}
    assert {Networks().allows(form) for form in forms} == {is_global(address)}


@given(st.ip_addresses())
def test_nothing_passes_that_python_calls_private(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    if is_global(address) and parse_address(str(address)) == address:  # none that holds another
        assert address.is_global or address.is_private is False
        assert not address.is_multicast
        assert not address.is_reserved


NEAR = frozenset(
    {
        network_of("2a01:4f8:1:2::7%eth0", "ffff:ffff:ffff:ffff::"),
        network_of("5.9.8.7", "255.255.255.192"),
    }
)


@pytest.mark.parametrize(
    ("address", "allowed"),
    [
        ("2a01:4f8:1:2::7", False),  # this machine
        ("2a01:4f8:1:2:aaaa::1", False),  # a neighbour
        ("2a01:4f8:1:3::1", True),
        ("5.9.8.7", False),
        ("5.9.8.1", False),
        ("::ffff:5.9.8.1", False),
        ("64:ff9b::509:801", False),
        ("5.9.8.64", True),
    ],
)
def test_networks_of_our_own_interfaces_are_private(address: str, allowed: bool) -> None:
    assert Networks(interfaces=lambda: NEAR).allows(address) is allowed
    opened = Networks(["2a01:4f8:1:2::/64", "5.9.8.0/26"], interfaces=lambda: NEAR)
    assert opened.allows(address)


def test_no_socket_is_made_for_a_neighbour() -> None:
    with pytest.raises(ForbiddenAddress):
        Networks(interfaces=lambda: NEAR).socket(info("2a01:4f8:1:2::1"))


def test_networks_that_come_and_go_are_noticed() -> None:
    now_s, near = [0.0], [NEAR]
    networks = Networks(interfaces=lambda: near[0], clock=lambda: now_s[0])
    assert not networks.allows("5.9.8.1")
    near[0] = frozenset()
    now_s[0] = REFRESH_S - 1
    assert not networks.allows("5.9.8.1")
    now_s[0] = REFRESH_S
    assert networks.allows("5.9.8.1")
    near[0] = NEAR
    now_s[0] = 2 * REFRESH_S - 1
    assert networks.allows("5.9.8.1")
    now_s[0] = 2 * REFRESH_S
    assert not networks.allows("5.9.8.1")


def test_addresses_of_a_host_of_our_own_are_allowed_although_they_were_refused_before() -> None:
    networks = Networks()
    assert not networks.allows("10.0.0.1")
    networks.admit(["10.0.0.1", "10.0.0.2"])
    assert networks.allows("10.0.0.1")
    assert not networks.allows("10.0.0.3")
    networks.admit(["10.0.0.3"])
    assert networks.allows("10.0.0.2")
    assert networks.allows("10.0.0.3")


@pytest.mark.parametrize(
    ("address", "netmask", "network"),
    [
        ("192.0.2.2", "255.255.255.0", "192.0.2.0/24"),
        ("5.9.8.7", "255.255.255.255", "5.9.8.7/32"),
        ("5.9.8.7", None, "5.9.8.7/32"),
        ("5.9.8.7", "0.0.0.0", "5.9.8.7/32"),  # all of the Internet is not ours
        ("5.9.8.7", "128.0.0.0", "5.9.8.7/32"),
        ("fe80::1%eth0", "ffff:ffff:ffff:ffff::", "fe80::/64"),
        ("2a01:4f8:1:2::7", "ffff::", "2a01:4f8:1:2::7/128"),
    ],
)
def test_the_network_of_an_interface(address: str, netmask: str | None, network: str) -> None:
    assert str(network_of(address, netmask)) == network


def test_the_kernel_tells_of_loopback() -> None:
    assert ipaddress.ip_network("127.0.0.0/8") in interface_networks()


@pytest.mark.server
@pytest.mark.parametrize("system", ["linux", "darwin"])
def test_connections_come_from_a_source_address(
    system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    if system != "linux":
        monkeypatch.delattr(socket, "IP_BIND_ADDRESS_NO_PORT")
    networks = Networks(["127.0.0.0/8"], sources={socket.AF_INET: "127.0.0.2"})
    with networks.socket(info("127.0.0.1")) as opened:
        address, port = opened.getsockname()
    assert address == "127.0.0.2"
    assert bool(port) is (system != "linux")
