from __future__ import annotations

import asyncio
import ipaddress
import socket
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer import config
from gossamer.config import egress
from gossamer.config.egress import ADDRESSES, GROUPS, Egress
from gossamer.errors import ConfigError
from gossamer.fetch.network.allowed_networks import Networks
from gossamer.fetch.network.streams import connect_address
from tests.support.fetched_parts import Fetched, settings, wanted
from tests.support.loopback import page

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.loopback import Loopback

SETTING = {
    "eu": ["*.de", "192.0.2.0/24", "2001:db8::/32"],
    "uni": ["*.EXAMPLE.edu", "example.edu", "192.0.2.7", "198.51.100.0/24"],
}


@pytest.mark.parametrize(
    ("host", "address", "group"),
    [
        ("www.example.de", None, 0),
        ("www.example.de:8080", None, 0),
        ("de", None, None),
        ("a.example.edu", None, 1),
        ("example.edu", None, 1),
        ("192.0.2.7", None, 0),
        ("192.0.2.7:81", None, 0),
        ("[2001:db8::1]:81", None, 0),
        ("[2001:db9::1]", None, None),
        ("[::ffff:198.51.100.1]", None, 1),
        ("a.example", "198.51.100.255", 1),
        ("a.example", "198.51.101.0", None),
        ("a.example.edu", "192.0.2.1", 0),
        ("a.example", "", None),
    ],
)
def test_a_host_belongs_to_the_first_group_that_matches(
    host: str, address: str | None, group: int | None
) -> None:
    assert Egress(SETTING).group(host, address) == group


some_hosts = st.sampled_from(
    ["a.de", "b.de", "a.fr", "x.a.fr", "10.0.0.1", "10.0.3.9", "[fd00::1]"]
)
some_networks = st.builds(
    lambda start, bits: str(
        ipaddress.ip_network((start & (1 << 12) - 1 | 10 << 24, bits), strict=False)
    ),
    st.integers(0, 1 << 12),
    st.integers(20, 32),
)
some_entries = st.one_of(
    st.sampled_from(["*.de", "a.*", "*", "*.fr", "fd00::/64", "fd00::/8"]), some_networks
)


@given(
    st.dictionaries(st.sampled_from("abc"), st.lists(some_entries, max_size=8)),
    some_hosts,
    st.none() | st.sampled_from(["10.0.0.200", "10.0.8.1", "fd00::2"]),
)
def test_groups_are_found_as_by_asking_each_entry(
    setting: dict[str, list[str]], host: str, address: str | None
) -> None:
    def matches(entry: str) -> bool:
        try:
            network = ipaddress.ip_network(entry)
        except ValueError:
            return fnmatchcase(host, entry)
        for text in (host.strip("[]"), address or ""):
            try:
                return ipaddress.ip_address(text) in network
            except ValueError:
                continue
        return False

    plain = (n for n, entries in enumerate(setting.values()) if any(map(matches, entries)))
    assert Egress(setting).group(host, address) == next(plain, None)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('"e u" = []', "egress: a group cannot be named 'e u': use letters, digits"),
        ('eu = ["https://a.de/"]', "egress.eu: 'https://a.de/' is neither a pattern of host names"),
        ('eu = ["a.de:80"]', "egress.eu: 'a.de:80' is neither"),
        (
            'eu = ["10.0.0.1/8"]',
            "'10.0.0.1/8' is neither a pattern of host names, such as *.de, nor",
        ),
        ('eu = ["10.0.0.1/8"]', "10.0.0.1/8 has host bits set"),
        ('eu = [""]', "egress.eu: '' is neither"),
        ("eu = 1", "fetch.egress"),
    ],
)
def test_an_invalid_group_is_refused_when_settings_are_read(text: str, named: str) -> None:
    with pytest.raises(ConfigError) as raised:
        config.loads(f"[fetch.egress]\n{text}", "gossamer.toml")
    assert named in str(raised.value)


def test_the_environment_names_the_groups_of_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(GROUPS, raising=False)
    assert egress.groups_here() == frozenset()
    monkeypatch.setenv(GROUPS, " eu, uni,")
    assert egress.groups_here() == {"eu", "uni"}


@pytest.mark.parametrize(
    ("given_", "what"),
    [
        ("127.0.0.2,127.0.0.3", "second address of its family"),
        ("localhost", "does not appear to be an IPv4 or IPv6 address"),
        ("192.0.2.1", "cannot assign requested address"),
    ],
)
def test_an_address_that_cannot_be_used_ends_the_task(
    tmp_path: Path, server: Loopback, monkeypatch: pytest.MonkeyPatch, given_: str, what: str
) -> None:
    monkeypatch.setenv(ADDRESSES, given_)
    with pytest.raises(ConfigError, match=what) as raised:
        Fetched(tmp_path, [wanted("http://a.test/")], settings(server))
    assert raised.value.subject.startswith(ADDRESSES)
    assert server.asked == []


def test_hosts_are_asked_from_the_address_of_the_worker(
    tmp_path: Path, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ADDRESSES, "127.0.0.9")
    server.answers = {"/": page(b"<p>hello")}
    assert Fetched(tmp_path, [wanted("http://a.test/")], settings(server)).outcomes() == ["ok"]
    assert {asked.client for asked in server.asked} == {"127.0.0.9"}


async def own_address(family: socket.AddressFamily, to: str, **given_: Any) -> str:
    """The address from which an address of this machine is contacted."""
    with socket.socket(family) as listening:
        listening.bind((to, 0))
        listening.listen()
        port = listening.getsockname()[1]
        networks = Networks(["127.0.0.0/8", "::1/128"], **given_)
        async with connect_address(to, port, networks, 5) as stream:
            return str(stream.writer.get_extra_info("sockname")[0])


@pytest.mark.server
def test_a_family_without_an_address_is_left_to_the_system() -> None:
    given_ = {"sources": {socket.AF_INET: "127.0.0.9"}}
    assert asyncio.run(own_address(socket.AF_INET, "127.0.0.1", **given_)) == "127.0.0.9"
    assert asyncio.run(own_address(socket.AF_INET6, "::1", **given_)) == "::1"
    both = {"sources": given_["sources"] | {socket.AF_INET6: "::1"}}
    assert asyncio.run(own_address(socket.AF_INET6, "::1", **both)) == "::1"
