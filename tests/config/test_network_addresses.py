"""Addresses in settings."""

from __future__ import annotations

import ipaddress

import pytest

from gossamer.config.network_addresses import nameserver, network, override_target


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("127.0.0.1:81", ("127.0.0.1", 81)),
        ("[::1]:65535", ("::1", 65_535)),
    ],
)
def test_an_override_has_an_address_and_a_port(target: str, expected: tuple[str, int]) -> None:
    assert override_target("*.test", target) == expected


@pytest.mark.parametrize(
    "target",
    ["", "a.test:80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:٥٣", "127.0.0.1:0",
     "127.0.0.1:65536", "127.1:80", f"127.0.0.1:{'9' * 5_000}"],
)  # fmt: skip
def test_an_override_without_them_is_refused(target: str) -> None:
    with pytest.raises(ValueError, match=r"'\*\.test'.*127\.0\.0\.1:8080"):
        override_target("*.test", target)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("9.9.9.9", "9.9.9.9"),
        ("127.0.0.1:5353", "127.0.0.1:5353"),
        ("::1", "::1"),
        ("[::1]", "::1"),
        ("[2620:fe::9]:53", "[2620:fe::9]:53"),
    ],
)
def test_a_nameserver_may_have_a_port(text: str, expected: str) -> None:
    assert nameserver(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "ns.test", "9.9.9.9:", "9.9.9.9:0", "9.9.9.9:65536", "9.9.9.9:x", "9.9.9.9:٥٣", "[::1]:",
     "[::1:53", "1.1.1.1,9.9.9.9", "127.1"],
)  # fmt: skip
def test_a_nameserver_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not an address, with or without a port"):
        nameserver(text)


def test_a_network_is_in_cidr_notation() -> None:
    assert network("10.0.0.0/8") == ipaddress.ip_network("10.0.0.0/8")
    assert network("::1") == ipaddress.ip_network("::1/128")
    for text in ("10.0.0.1/8", "10.0.0.0/33", "example.org", ""):
        with pytest.raises(ValueError, match=r"allow_networks: .*10\.0\.0\.0/8"):
            network(text)
