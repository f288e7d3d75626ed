"""Every setting has a range; an error names the key, the value and the remedy."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

import msgspec
import pytest

from gossamer import config
from gossamer.config import Config
from gossamer.config.settings_table import Table
from gossamer.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator


def kinds(hint: Any) -> set[type]:
    """The types that a value may have, without containers."""
    parts = [part for part in get_args(hint) if not isinstance(part, msgspec.Meta)]
    found = set().union(*map(kinds, parts)) if parts else {hint}
    return {kind for kind in found if isinstance(kind, type)}


def settings() -> Iterator[tuple[str, set[type]]]:
    for table, kind in get_type_hints(Config).items():
        for name, hint in get_type_hints(kind).items():
            yield f"{table}.{name}", kinds(hint)


NUMBERS = [key for key, found in settings() if found & {int, float}]
TEXTS = [key for key, found in settings() if str in found and key != "ranking.profile"]
PATTERNS = {"filter.allow", "filter.deny", "filter.skip_extensions", "urls.drop_parameters"}
"""Texts that may contain a line feed; they are compared with URLs, which never contain one."""
PLAIN = {"filter.scope"}


def refused(text: str) -> str:
    with pytest.raises(ConfigError) as raised:
        config.loads(text, "gossamer.toml")
    assert raised.value.subject == "gossamer.toml"
    assert raised.value.remedy
    return raised.value.what


@pytest.mark.parametrize("value", ["inf", "-inf", "nan", "-1", str(1 << 64), "1" * 4000, "1e300"])
def test_numbers_out_of_range_are_refused_with_key_and_value(value: str) -> None:
    for key in NUMBERS:
        what = refused(f"{key} = {value}")
        assert key in what
        if len(value) < 30:
            assert f"= {value}" in what.replace("1e+300", "1e300")


def test_numbers_too_long_to_be_read_are_refused() -> None:
    assert "not TOML" in refused("fetch.delay_s = " + "1" * 5000)


@pytest.mark.parametrize("key", [key for key in TEXTS if key not in PATTERNS | PLAIN])
def test_control_characters_are_refused(key: str) -> None:
    kind = get_type_hints(get_type_hints(Config)[key.partition(".")[0]])[key.partition(".")[2]]
    origin = getattr(kind, "__origin__", None)
    for value in ("a\\nb", "a\\r", "\\u0000", "http://a\\u001b"):
        text = {None: f'"{value}"', tuple: f'["{value}"]', dict: f'{{ "{value}" = "1.1.1.1:1" }}'}
        if key == "serve.nodes":
            text[tuple] = f'["{value}:1"]'
        assert key in refused(f"{key} = {text[origin]}")


@pytest.mark.parametrize("text", ["[" * 3000, "x = " + "[" * 3000, "x = 2020-13-01", "x = '\x00'"])
def test_what_is_not_toml_is_refused(text: str) -> None:
    assert "not TOML" in refused(text)


def test_a_date_is_not_a_valid_value() -> None:
    assert "fetch.delay_s" in refused(f"fetch.delay_s = {dt.date(2020, 1, 1)}")


def test_long_values_are_shortened() -> None:
    assert len(refused(f'fetch.contact = "{"x" * 5000}"')) < 200


def test_each_table_refuses_unknown_keys() -> None:
    for table in get_type_hints(Config):
        assert issubclass(get_type_hints(Config)[table], Table | msgspec.Struct)
        assert refused(f"{table}.unheard = 1") == f"unknown key `unheard` in {table}"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("fetch.contct = 'a'", "unknown key `contct` in fetch: did you mean `contact`?"),
        ("fetsh.delay_s = 1", "unknown key `fetsh`: did you mean `fetch`?"),
        ("contact = 'a'", "unknown key `contact`: did you mean `contact` in [fetch]?"),
        (
            "scope = 'host'",
            "unknown key `scope`: did you mean `scope` in [filter] or `scope` in [dedup]?",
        ),
        ("filter.scope = 'all'", "filter.scope = 'all': expected one of 'any', 'domain', 'host'"),
    ],
)
def test_what_was_probably_meant_is_named(text: str, meant: str) -> None:
    assert refused(text) == meant


@pytest.mark.parametrize("entry", ["http://a.example/", "a.example:80", "10.1.2.3/8", "a b", "a/b"])
def test_own_hosts_that_would_match_nothing_are_refused(entry: str) -> None:
    assert f"own_hosts: {entry!r} is neither" in refused(f'fetch.own_hosts = ["{entry}"]')


def test_own_hosts_may_be_names_patterns_addresses_and_networks() -> None:
    names, networks = ["localhost", "*.a.example", "b-[12].example"], ["10.0.0.0/8", "fd00::/8"]
    own = [*names, *networks, "10.1.2.3", "[::1]"]
    assert config.loads(f"fetch.own_hosts = {own}", "gossamer.toml").fetch.own_hosts == tuple(own)
