"""Filter rules: their language, and the index beside a list that is walked in order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gossamer.config import patterns
from gossamer.errors import ConfigError
from gossamer.rules.filter_rules.rule_index import NONE, PrefixIndex, RuleIndex, _start_of
from gossamer.rules.filter_rules.rule_syntax import (
    MAX_LINE_CHARS,
    Rule,
    number_lines,
    parse_all,
    parse_rule,
    read_rule_lines,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("deny   prefix    https://example.org/tags/", "deny prefix https://example.org/tags/"),
        ("allow domain Example.ORG.  # a comment", "allow domain example.org"),
        ("deny domain bücher.example", "deny domain xn--bcher-kva.example"),
        ("deny domain 127.1", "deny domain 127.0.0.1"),
        ("\tdeny\tsuffix\t.ics\r", "deny suffix .ics"),
        ("deny pattern [?&]print=1", "deny pattern [?&]print=1"),
        ("deny pattern a b#c", "deny pattern a b#c"),
        ("deny type Image/", "deny type image/"),
        ("deny language DE", "deny language de"),
        ("deny prefix HTTPS://A.Example", "deny prefix https://a.example"),
        ("deny prefix https://A.example/B#c", "deny prefix https://a.example/B#c"),
        ("deny all", "deny all"),
        ("   ", None),
        ("# deny all", None),
        ("  # deny all", None),
    ],
)
def test_a_line_has_one_spelling(line: str, text: str | None) -> None:
    rule = parse_rule(line, "here")
    assert (rule and rule.text) == text
    if text is not None:
        assert parse_rule(text, "here") == rule == parse_rule(text, "here", known=True)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("refuse all", "'refuse' is neither allow nor deny"),
        ("deny", "'' is not a kind"),
        ("deny everything", "'everything' is not a kind"),
        ("deny all of it", "`all` has a value: 'of it'"),
        ("deny prefix", "`prefix` has no value"),
        ("deny prefix # a comment", "`prefix` has no value"),
        ("deny prefix /tags/", "does not begin like a URL"),
        ("deny prefix https://a.example/ü", "characters that no URL has"),
        ("deny suffix .a b", "characters that no URL has"),
        ("deny domain a.example/x", "is not a host name"),
        ("deny domain a.example:80", "is not a host name"),
        ("deny domain a..b", "is not a host name"),
        ("deny type text html", "is not a type"),
        ("deny language german", "is not a language"),
        ("deny pattern (", "cannot be used as a regular expression"),
        ("deny pattern (?=x)", "look-around"),
        ("deny suffix " + "x" * MAX_LINE_CHARS, "more than 4,000 characters"),
    ],
)
def test_a_bad_line_is_named_with_the_remedy(line: str, what: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parse_all([("deny all", "x.txt, line 1"), (line, "x.txt, line 2")])
    assert raised.value.subject == "x.txt, line 2"
    assert what in raised.value.what
    assert raised.value.remedy


def test_a_file_has_numbered_lines(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\xef\xbb\xbf# first\r\n\r\ndeny all\r\n")
    found = parse_all(number_lines(read_rule_lines(tmp_path / "x", "-"), "x, line"))
    assert found == [(Rule("deny", "all", ""), "x, line 3")]


def test_a_file_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.rules.filter_rules.rule_syntax.MAX_FILE_BYTES", 9)
    (tmp_path / "x").write_text("deny all\n")
    assert read_rule_lines(tmp_path / "x", "-")
    (tmp_path / "x").write_text("deny all\n\n")
    with pytest.raises(ConfigError, match="longer than 9 bytes"):
        read_rule_lines(tmp_path / "x", "-")


HOSTS = ("a.example", "b.a.example", "c.b.a.example", "xa.example", "127.0.0.1", "[::1]", "org")
PATHS = ("", "t", "t/", "t/x", "t/x.ics", "t/x.ics?a=1", "?print=1&b=t/", "x.icsx", "T/")
URLS = st.builds(
    lambda scheme, host, port, path: f"{scheme}://{host}{port}/{path}",
    st.sampled_from(["http", "https"]),
    st.sampled_from(HOSTS),
    st.sampled_from(["", ":8080"]),
    st.sampled_from(PATHS),
)
PREFIXES = st.builds(lambda url, end: url[: len("http://") + end], URLS, st.integers(0, 25))
VALUES = {
    "prefix": PREFIXES,
    "domain": st.sampled_from([*HOSTS, "example"]),
    "suffix": st.sampled_from(["s", "ics", ".ics", "x.ics", "/x.ics", "/t/x", "/", "/T/", "t/"]),
    "pattern": st.sampled_from([r"[?&]print=1", r"^https:", r"\.ics", "t/x", "a.example"]),
    "all": st.just(""),
    "type": st.sampled_from(["text/", "text/html", "text/htm", "image/", "application/pdf"]),
    "language": st.sampled_from(["de", "en"]),
}
RULES = st.sampled_from([*VALUES, *VALUES, "prefix", "prefix"]).flatmap(
    lambda kind: st.builds(Rule, st.sampled_from(["allow", "deny"]), st.just(kind), VALUES[kind])
)
TYPES = st.sampled_from([None, "text/html", "TEXT/HTML; charset=utf-8", "image/png", ""])
LANGUAGES = st.sampled_from([None, "de", "fr"])


def holds(  # noqa: PLR0911  # a case for each kind
    rule: Rule, url: str, content_type: str | None, language: str | None
) -> bool:
    """Whether a rule matches, by definition."""
    scheme, _, rest = url.partition("://")
    authority, _, path = rest.partition("/")
    host = re.sub(r":\d+$", "", authority)
    match rule.kind:
        case "prefix":
            return url.startswith(rule.value)
        case "domain":
            return host == rule.value or host.endswith(f".{rule.value}")
        case "suffix":
            return f"/{path}".partition("?")[0].endswith(rule.value)
        case "pattern":
            return re.search(rule.value, url) is not None
        case "type":
            essence = (content_type or "\n").partition(";")[0].strip().lower()
            return essence.startswith(rule.value)
        case "language":
            return language == rule.value
        case _:
            return bool(scheme)


@given(st.lists(RULES, max_size=30), st.lists(URLS, min_size=1, max_size=8), TYPES, LANGUAGES)
def test_the_index_equals_a_walk_through_the_rules(
    rules: list[Rule], urls: list[str], content_type: str | None, language: str | None
) -> None:
    index = RuleIndex(rules)
    for url in urls:
        matches = (n for n, rule in enumerate(rules) if holds(rule, url, content_type, language))
        expected = next(matches, NONE)
        assert index.first(url, content_type, language) == expected


OPEN = (("type", "language"), ("language",), ())
"""Kinds that are not known yet, after each stage."""


def naive_refusal(
    rules: list[Rule], url: str, known: int, content_type: str | None, language: str | None
) -> Rule | None:
    for rule in rules:
        if rule.kind in OPEN[known]:
            if not rule.denies:
                return None
        elif holds(rule, url, content_type, language):
            return rule if rule.denies else None
    return None


@given(st.lists(RULES, max_size=20), URLS, TYPES, LANGUAGES)
@example([Rule("allow", "type", "text/html"), Rule("deny", "all", "")], "http://org/", "", None)
def test_a_rule_refuses_only_what_no_earlier_rule_may_still_allow(
    rules: list[Rule], url: str, content_type: str | None, language: str | None
) -> None:
    index = RuleIndex(rules)
    for known, facts in enumerate([(None, None), (content_type, None), (content_type, language)]):
        assert index.refusing(url, *facts, known=known) == naive_refusal(rules, url, known, *facts)


def test_only_html_is_wanted() -> None:
    index = RuleIndex([Rule("allow", "type", "text/html"), Rule("deny", "all", "")])
    url = "https://a.example/"
    assert index.refusing(url) is None
    assert index.refusing(url, "text/html; charset=x", known=1) is None
    assert index.refusing(url, "text/plain", known=1) == Rule("deny", "all", "")
    assert index.refusing(url, None, known=1) == Rule("deny", "all", "")


def test_what_was_refused_before_is_not_refused_again() -> None:
    """A seed is fetched and indexed although its URL is refused: types and languages may not."""
    deny, german = Rule("deny", "prefix", "https://a.example/"), Rule("deny", "language", "de")
    index = RuleIndex([deny, Rule("deny", "type", "image/"), german])
    seed, other = "https://a.example/", "https://b.example/"
    assert index.refusing_type(seed, "image/png") is None
    assert index.refusing_language(seed, "text/html", "de") is None
    assert index.refusing_type(other, "image/png") == Rule("deny", "type", "image/")
    assert index.refusing_language(other, "image/png", "de") is None
    assert index.refusing_language(other, "text/html", "de") == german
    assert index.refusing_language(other, "text/html", None) is None


def test_files_have_the_domain_localhost() -> None:
    index = RuleIndex([Rule("deny", "domain", "localhost"), Rule("deny", "prefix", "file:///a")])
    assert index.first("file:///a/b") == 0


@given(st.lists(st.text("ab", max_size=6), max_size=40), st.lists(st.text("ab", max_size=8)))
def test_prefixes_within_prefixes(prefixes: list[str], texts: list[str]) -> None:
    index = PrefixIndex((prefix, n) for n, prefix in enumerate(prefixes))
    for text in texts:
        first = next((n for n, prefix in enumerate(prefixes) if text.startswith(prefix)), NONE)
        assert index.first(text) == first


def test_too_many_patterns_are_refused_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "MAX_MEMORY_BYTES", 1 << 20)
    rules = [Rule("deny", "pattern", f"//h{n}-{'x' * 50}/") for n in range(2_000)]
    with pytest.raises(ConfigError, match="automaton of more than 1 MB") as raised:
        RuleIndex(rules)
    assert "use domain, prefix and suffix rules" in raised.value.remedy


@pytest.mark.parametrize(
    ("prefix", "start"),
    [
        ("https://a.example/", "https://a.example/"),
        ("https://a.example/b/c", "https://a.example/"),
        ("https://a.example", ""),
        ("https:/", ""),
    ],
)
def test_prefixes_are_indexed_by_whole_hosts(prefix: str, start: str) -> None:
    assert _start_of(prefix) == start
