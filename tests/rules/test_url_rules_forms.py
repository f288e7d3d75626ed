"""Forms of URLs, and rewriting by rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.rules.url_rules import forms
from gossamer.rules.url_rules.rewriting import ENOUGH, ActiveRule, Rewriter
from gossamer.web.urls import domain_of, host_of, normalize

HOSTS = ("a.test", "www.a.test", "b.test:81", "github.io", "www.github.io", "10.0.0.1")
SEGMENTS = ("", "a", "Ab", "index.html", "INDEX.HTM", "x.pdf", "%C3%84", "default.aspx", "..")
QUERIES = (
    "",
    "a=1",
    "b=2&a=1&b=1",
    "b/&a=1",
    "a=1&b=2",
    "a&a=2&b",
    "a=1&b=2&c=3&d=4&e=5&f=6",
    "=&x=1",
    "a=1;b=2",
)
urls = st.builds(
    lambda scheme, host, path, query: normalize(
        f"{scheme}://{host}/{'/'.join(path)}" + (f"?{query}" if query else "")
    ),
    st.sampled_from(("http", "https")),
    st.sampled_from(HOSTS),
    st.lists(st.sampled_from(SEGMENTS), max_size=4),
    st.sampled_from(QUERIES),
)
NAMES = {
    forms.INDEX: ("index.html", "INDEX.HTM"),
    forms.PARAMETER: ("a", "b", "a&b"),
    forms.HOST: ("a.test", "b.test:81"),
}
rules = st.sampled_from(
    [
        (kind, name, target)
        for kind in (
            *forms.TARGETS,
            forms.INDEX,
            forms.CASE,
            forms.PARAMETER,
            forms.ORDER,
            forms.HOST,
        )
        for name in NAMES.get(kind, ("",))
        for target in forms.TARGETS.get(kind, ("",))
    ]
)


def rule(
    host: str, kind: str, name: str = "", target: str = "", section: str = forms.WHOLE_HOST
) -> ActiveRule:
    target = target or forms.TARGETS.get(kind, ("",))[0]
    return ActiveRule(f"{host} {section} {kind} {name}", host, section, kind, name, target, 30)


def form(url: str) -> set[tuple[str, str, str]]:
    return {(each.kind, each.name, each.url) for each in forms.forms_of_url(url)}


def test_forms_of_a_url() -> None:
    assert form("http://www.a.test/Docs/index.html?b=2&a=1") == {
        ("scheme", "", "https://www.a.test/Docs/index.html?b=2&a=1"),
        ("www", "", "http://a.test/Docs/index.html?b=2&a=1"),
        ("index", "index.html", "http://www.a.test/Docs/?b=2&a=1"),
        ("case", "", "http://www.a.test/docs/index.html?b=2&a=1"),
        ("parameter", "a", "http://www.a.test/Docs/index.html?b=2"),
        ("parameter", "b", "http://www.a.test/Docs/index.html?a=1"),
        ("parameter", "a&b", "http://www.a.test/Docs/index.html"),
        ("order", "", "http://www.a.test/Docs/index.html?a=1&b=2"),
    }


@pytest.mark.parametrize(
    ("query", "ordered"),
    [
        ("b=1&a=2&b=0", "a=2&b=1&b=0"),
        ("thread/1/&page=2", "thread/1/&page=2"),
        ("b=1&a", "b=1&a"),
        ("", ""),
    ],
)
def test_parameters_in_the_order_of_their_names(query: str, ordered: str) -> None:
    """Those of one name keep their order, and what may be a path stays the first."""
    parts = forms.Parts("https", "a.test", "/", query)
    assert forms.apply_form(parts, forms.ORDER, "").query == ordered


def test_a_url_in_each_form_has_no_other() -> None:
    assert form("https://a.test/docs/a") == set()
    assert form("https://a.test/") == set()


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("ftp://a.test/A/", "no rules for other schemes"),
        ("https://www.github.io/", "www is a user there"),
        ("http://a.test:81/", "the other scheme has another port"),
        ("https://a.test/a.pdf/", "looks like a file"),
        ("https://a.test/?a=1&b=1&c=1&d=1&e=1&f=1", "too many parameters"),
        (f"https://a.test/?{'a' * 101}=1", "the name is too long"),
    ],
)
def test_what_has_no_forms(url: str, kept: str) -> None:
    assert form(url) == set(), kept


def test_parameters_are_dropped_together_or_alone() -> None:
    names = {name for kind, name, _ in form("https://a.test/?a=1&b=1&c=1") if kind == "parameter"}
    assert names == {"a", "b", "c", "a&b", "a&c", "b&c", "a&b&c"}


def test_parameters_are_dropped_together_only_if_all_are_there() -> None:
    parts = forms.Parts("https", "a.test", "/", "a=1&c=1")
    for names, left in (("a", "c=1"), ("a&c", ""), ("a&b", "a=1&c=1"), ("b", "a=1&c=1")):
        assert forms.apply_form(parts, forms.PARAMETER, names).query == left


def test_a_name_of_a_hundred_characters_is_not_too_long() -> None:
    assert form(f"https://a.test/?{'a' * 100}=1") == {
        ("parameter", "a" * 100, "https://a.test/"),
    }


@given(urls, rules)
def test_forms_are_projections_in_normal_form(url: str, each: tuple[str, str, str]) -> None:
    parts = forms.split_url(url)
    assert parts is not None
    once = forms.apply_form(parts, *each)
    assert forms.apply_form(once, *each) == once
    if each[0] == forms.HOST:
        return
    assert normalize(once.url) == once.url
    assert domain_of(once.url) == domain_of(url)
    assert each[0] == forms.WWW or host_of(once.url) == host_of(url)


@given(urls, st.lists(st.tuples(st.sampled_from(HOSTS), rules), max_size=8))
def test_rewriting_reaches_a_fixed_point(
    url: str, some: list[tuple[str, tuple[str, str, str]]]
) -> None:
    rewriter = Rewriter(rule(host, *each) for host, each in some)
    found = rewriter.rewrite(url)
    assert rewriter.rewrite(found.url).url == found.url
    assert (found.url == url) == (not found.rules)
    if all(kind not in {forms.HOST, forms.WWW} for _, (kind, *_) in some):
        assert host_of(found.url) == host_of(url)


def test_rules_act_in_their_section_only() -> None:
    rewriter = Rewriter([rule("a.test", "parameter", "sid", section="/news/")])
    assert rewriter.rewrite("https://a.test/news/1?sid=3").url == "https://a.test/news/1"
    assert not rewriter.rewrite("https://a.test/shop/1?sid=3").rules
    assert not rewriter.rewrite("https://b.test/news/1?sid=3").rules


def test_no_rule_leads_into_or_out_of_the_part_of_an_owner() -> None:
    rules = [
        rule("a.test", "case"),
        rule("a.test", "parameter", "sid"),
        rule("b.test", "host", "a.test"),
    ]
    rewriter = Rewriter(rules)
    assert rewriter.rewrite("https://b.test/x/Y?sid=1").url == "https://a.test/x/y"
    for path in ("/~ann/x?sid=1", "/~ann/Y", "/USERS/ann/x", "/user/ann/Y"):
        assert not rewriter.rewrite(f"https://a.test{path}").rules


def test_rules_follow_each_other() -> None:
    some = [rule("a.test", "www"), rule("a.test", "scheme"), rule("a.test", "index", "index.html")]
    found = Rewriter([*some, rule("www.a.test", "scheme")]).rewrite(
        "http://www.a.test/b/index.html"
    )
    assert found.url == "https://a.test/b/"
    assert len(found.rules) == 3


def test_rules_that_chase_a_url_in_a_circle_leave_it() -> None:
    circle = [rule("a.test", "host", "b.test:81"), rule("b.test:81", "host", "a.test")]
    assert Rewriter(circle).rewrite("https://a.test/").url == "https://a.test/"


def test_the_section_of_a_url() -> None:
    sections = {"/": "/", "/a": "/", "/a/": "/a/", "/a/b/c?d=/e/": "/a/", f"/{'a' * 100}/b": "/"}
    assert {path: forms.section_of(f"https://a.test{path}") for path in sections} == sections


def test_the_evidence_for_rules_is_that_of_the_weakest() -> None:
    whole = ActiveRule("w", "a.test", forms.WHOLE_HOST, forms.PARAMETER, "s", "", 30, 2)
    rewriter = Rewriter(
        [
            whole,
            whole._replace(section="/a/", supports=50),
            whole._replace(rule="t", section="/b/", name="t", supports=3, missing=12),
        ]
    )
    assert [rewriter.supports("w", section) for section in ("/a/", "/b/")] == [50, 30]
    assert rewriter.supports("unknown", "/a/") == ENOUGH > 50
    assert rewriter.least_supports(["w", "unknown"], "/a/") == 50
    assert rewriter.least_supports(["w", "t"], "/b/") == 3
    assert rewriter.most_missing(["w", "t", "unknown"]) == 12
    assert rewriter.most_missing(["w"]) == 2
    assert rewriter.most_missing(["unknown"]) == 0


def test_after_a_change_of_host_only_rules_of_that_host_count() -> None:
    rules = [rule("a.test", "host", "b.test"), rule("a.test", "parameter", "sid")]
    assert Rewriter(rules).rewrite("https://a.test/?sid=1").url == "https://b.test/?sid=1"
