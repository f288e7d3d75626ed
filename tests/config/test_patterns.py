from __future__ import annotations

import re

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from gossamer.config import FilterConfig, patterns
from gossamer.config.patterns import Patterns
from gossamer.errors import ConfigError
from gossamer.rules.filters import Filters, check

EXPONENTIAL = [r"(a+)+$", r"(a|aa)+$", r"(.*a){40}$", r"^(([a-z])+.)+[A-Z]([a-z])+$"]
"""With `re` the last letter of the text below doubles the time for each letter before."""


@pytest.mark.parametrize("pattern", EXPONENTIAL)
def test_a_pattern_that_explodes_takes_linear_time(pattern: str) -> None:
    made = Patterns("filter.deny", [pattern])
    assert type(made._set) is re2.Set
    assert not made.found_in("https://e.org/" + "a" * 2_000 + "!")


@pytest.mark.parametrize("key", ["allow", "deny"])
@pytest.mark.parametrize("pattern", EXPONENTIAL)
def test_filters_survive_a_pattern_that_explodes(key: str, pattern: str) -> None:
    config = FilterConfig(allow=(pattern,)) if key == "allow" else FilterConfig(deny=(pattern,))
    made = Filters.from_config(config, ["e.org"], plugins={})
    url = "https://e.org/" + "a" * 2_000 + "!"
    assert made.reject(url, 1) == ("allow" if key == "allow" else None)


@pytest.mark.parametrize(
    "pattern",
    ["(?=x)y", "(?!x)y", "(?<=x)y", "(?<!x)y", r"(a)\1", "(?P<n>a)(?P=n)", "(?>a)", "a++", r"a\Z"],
)
@pytest.mark.parametrize("key", ["allow", "deny"])
def test_what_re2_lacks_is_refused_with_the_remedy(key: str, pattern: str) -> None:
    re.compile(pattern)  # Python would take it
    config = FilterConfig(allow=(pattern,)) if key == "allow" else FilterConfig(deny=(pattern,))
    with pytest.raises(ConfigError) as raised:
        check(config)
    assert raised.value.subject == f"filter.{key}"
    assert repr(pattern) in raised.value.what
    assert "lacks look-around" in raised.value.what
    assert "back-references" in raised.value.what
    assert raised.value.remedy.startswith("rewrite it")


@pytest.mark.parametrize("pattern", ["(", "[", "a{1001}", "x)", "\udcff"])
def test_a_pattern_that_is_wrong_anywhere_is_refused_with_a_link(pattern: str) -> None:
    with pytest.raises(ConfigError, match="cannot be used as a regular expression") as raised:
        Patterns("filter.deny", ["fine", pattern])
    assert "look-around" not in raised.value.what
    assert patterns.SYNTAX in raised.value.remedy


def test_patterns_that_need_too_much_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "MAX_MEMORY_BYTES", 1 << 20)
    with pytest.raises(ConfigError, match="automaton of more than 1 MB"):
        Patterns("filter.deny", [f"//host-{n}-{'x' * 50}/" for n in range(2_000)])


def test_a_blocklist_of_ten_thousand_hosts_fits() -> None:
    made = Patterns("filter.deny", [rf"^https?://(www\.)?host{n}\.example/" for n in range(10_000)])
    assert made.found_in("https://www.host9999.example/x")
    assert not made.found_in("https://host10000.example/x")


def test_refusals_are_not_printed(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ConfigError):
        Patterns("filter.deny", ["(?=x)"])
    assert capfd.readouterr().err == ""


def test_no_patterns_find_nothing() -> None:
    assert not Patterns("filter.deny", []).found_in("https://e.org/")


@given(
    st.lists(st.sampled_from(["/docs/", r"\.html$", "^http:", "(?i)PAGE", "[?&]sort=", ""])),
    st.from_regex(r"https?://e\.org/(docs|page|x\.html|\?sort=1){0,3}", fullmatch=True),
)
def test_patterns_that_both_know_find_what_re_finds(chosen: list[str], url: str) -> None:
    expected = any(re.search(pattern, url) for pattern in chosen)
    assert Patterns("filter.deny", chosen).found_in(url) == expected
