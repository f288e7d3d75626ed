from __future__ import annotations

import pytest
from publicsuffixlist import PublicSuffixList

from gossamer.web.public_suffixes import is_public, registrable


@pytest.mark.parametrize("only_icann", [False, True])
def test_registrable_names_are_those_of_the_whole_list(only_icann: bool) -> None:
    """Hosts at, above and below the suffix of each rule, and at both of its neighbours."""
    suffixes = PublicSuffixList(only_icann=only_icann)
    rules = PublicSuffixList()._publicsuffix
    assert len(rules) > 5_000
    for rule in rules:
        suffix = rule.lstrip("!").replace("*", "x")
        for host in (suffix, f"a.{suffix}", f"b.a.{suffix}", f"c.b.a.{suffix}", f"a-{suffix}"):
            expected = suffixes.privatesuffix(host) or host
            assert registrable(host, only_icann=only_icann) == expected


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("www.example.org:8080", "example.org"),
        ("localhost:80", "localhost"),
        ("127.0.0.1:80", "127.0.0.1"),
        ("[::1]:81", "[::1]"),
        ("[::ffff:1.2.3.4]", "[::ffff:1.2.3.4]"),
        ("a.b.unknown-suffix", "b.unknown-suffix"),
    ],
)
def test_ports_addresses_and_unknown_suffixes(host: str, name: str) -> None:
    assert registrable(host) == name


def test_what_is_public() -> None:
    assert is_public("example.org")
    assert not is_public("org")
    assert not is_public("127.0.0.1")
    assert not is_public("printer.unknown-suffix")
