"""The tree of sections beside its definition, and rules that refuse a section beside its pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import StoreError
from gossamer.rules.filter_rules.rule_index import NONE, RuleIndex
from gossamer.rules.filter_rules.rule_syntax import parse_rule
from gossamer.schedule.order.sections import section_refusal, section_tree
from gossamer.schedule.order.sections.section_names import enclosing_sections
from gossamer.schedule.order.sections.section_tree import Counts, SectionCounts
from gossamer.web.urls import normalize
from tests.support.section_rows import URLS, count_now, folder_of, page, put_pages
from tests.support.stored_web import put_rows

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

SITE = [
    *(f"http://a.org/x/{folder}/{n}" for folder in "uvw" for n in range(12)),
    *(f"http://a.org/x/{n}" for n in range(7)),
    *(f"https://a.org/view?id={n}" for n in range(11)),
    *(f"http://a.org/{n}" for n in range(3)),
    *(f"http://b.a.org/y/{n}" for n in range(14)),
    *(f"http://ba.org/x/{n}" for n in range(13)),
]


@pytest.fixture
def counted(work: Workspace) -> Workspace:
    put_pages(work, [page(url, asked=n % 2 == 0, fit=n % 3 == 0) for n, url in enumerate(SITE)])
    count_now(work)
    return work


def by_definition(beginning: str) -> Counts:
    """What begins so after ://."""
    inside = [n for n, url in enumerate(SITE) if url.partition("://")[2].startswith(beginning)]
    asked = [n for n in inside if n % 2 == 0]
    fit = sum(n % 3 == 0 for n in asked)
    return Counts(len(inside), len(asked), len(asked), 0, fit)


def test_a_section_is_opened_step_by_step(counted: Workspace) -> None:
    domain = section_tree.open_section(counted, "A.org", "")
    assert domain is not None
    assert (domain.domain, domain.section, domain.hosts, domain.around) == ("a.org", "", 2, [])
    hosts = [SectionCounts(name, by_definition(name)) for name in ("a.org/", "b.a.org/")]
    assert domain.parts.page(9) == hosts
    assert domain.counts.known == sum(part.counts.known for part in hosts)
    assert domain.rest == Counts(0, 0, 0, 0, 0)

    host = section_tree.open_section(counted, "a.org", "a.org/")
    assert host is not None
    assert (host.counts, host.around) == (by_definition("a.org/"), [])
    parts = [SectionCounts(name, by_definition(name)) for name in ("a.org/x/", "a.org/view?id")]
    assert host.parts.page(9) == parts
    assert host.parts.page(1, 1) == parts[1:]
    assert host.rest.known == 3
    folders = [
        SectionCounts(f"a.org/x/{name}/", by_definition(f"a.org/x/{name}/")) for name in "uvw"
    ]
    assert host.inner.in_section("a.org/x/").page(9) == folders
    assert host.inner.in_section("a.org/view?id").total == 0

    folder = section_tree.open_section(counted, "a.org", "a.org/x/")
    assert folder is not None
    assert (folder.parts.page(9), folder.around) == (folders, ["a.org/"])
    assert (folder.rest.known, folder.inner.total) == (7, 0)


def test_a_domain_with_one_host_is_that_host(counted: Workspace) -> None:
    for name, host in (("ba.org", "ba.org/"), ("b.a.org", "b.a.org/"), ("*", "*/")):
        opened = section_tree.open_section(counted, name, "")
        assert opened is not None
        assert (opened.section, opened.hosts) == (host, 1)
    everywhere = section_tree.open_section(counted, "*", "")
    assert everywhere is not None
    assert [part.section for part in everywhere.parts.page(2)] == ["*/x/", "*/y/"]
    within = section_tree.open_section(counted, "*", "*/x/u/")
    assert within is not None
    assert within.around == ["*/", "*/x/"]


@pytest.mark.parametrize(
    ("domain", "section"),
    [
        ("c.org", ""),
        ("", ""),
        ("a.org", "a.org"),
        ("a.org", "a.org/x/u"),
        ("a.org", "a.org/none/"),
        ("a.org", "ba.org/x/"),
        ("ba.org", "a.org/x/"),
        ("a.org/x", "a.org/x/u/"),
        ("a.org", "/" * 99),
    ],
)
def test_what_is_not_a_section_of_the_domain(counted: Workspace, domain: str, section: str) -> None:
    assert section_tree.open_section(counted, domain, section) is None


def test_domains_are_found_by_a_part_of_their_names(counted: Workspace) -> None:
    total, (first, second) = section_tree.find_domains(counted, "", 9, 0)
    assert (total, first.domain, first.hosts, second.domain) == (2, "a.org", 2, "ba.org")
    assert first.counts.known == len([url for url in SITE if "ba.org" not in url])
    assert section_tree.find_domains(counted, "", 9, 1) == (2, [second])
    assert section_tree.find_domains(counted, "BA.", 9, 0) == (1, [second])
    assert section_tree.find_domains(counted, "*", 9, 0) == (0, [])


def test_sections_that_were_never_counted(work: Workspace) -> None:
    with pytest.raises(StoreError, match="gossamer sections"):
        section_tree.open_section(work, "a.org", "")
    with pytest.raises(StoreError, match="gossamer sections"):
        section_tree.find_domains(work, "", 9, 0)


def test_failed_pages_were_asked_for_and_not_fetched(work: Workspace) -> None:
    counts = {"known": 20, "fetched": 11, "asked": 15, "changed": 1, "fit": 2}
    put_rows(work, "sections", [{"section": "a.org/", "domain": "a.org", "level": 1, **counts}])
    opened = section_tree.open_section(work, "a.org", "")
    assert opened is not None
    assert (opened.counts.failed, opened.rest) == (4, opened.counts)


HOSTS = st.sampled_from(["a.example", "b.a.example", "a.example:8080", "*"])
SEGMENTS = st.text("abAB.*+()[]{}|^$\\&= %<>\"'שä-~", min_size=1, max_size=6)


@st.composite
def urls(draw: st.DrawFn) -> str:
    path = "/".join(["", *draw(st.lists(SEGMENTS, max_size=3)), draw(st.text("ab1", max_size=2))])
    query = draw(st.sampled_from(["", "?id=1", "?i=&id=2", "?a[]=1", "?a.b=/?x", "?id", "?"]))
    host = draw(HOSTS).replace("*", "c.example")
    return normalize(f"{draw(st.sampled_from(['http', 'https']))}://{host}{path}{query}") or URLS[0]


@given(urls(), st.lists(urls(), min_size=1, max_size=8))
def test_rules_refuse_the_pages_of_a_section_and_no_others(url: str, others: list[str]) -> None:
    for section in enclosing_sections(folder_of(url)):
        rules = section_refusal.rules_against_section(section)
        for rule in rules:
            assert parse_rule(rule.text, "a rule") == rule
        index = RuleIndex(rules)
        for other in (url, *others):
            inside = section in enclosing_sections(folder_of(other)) and bool(rules)
            if other.endswith("?id") and section.endswith("?id"):
                inside = False  # the rule is for parameters with a value
            assert (index.first(other) != NONE) == inside, (section, other)


def test_rules_for_files_and_domains() -> None:
    assert [rule.text for rule in section_refusal.rules_against_section("/usr/share/")] == [
        "deny prefix file:///usr/share/"
    ]
    assert [rule.text for rule in section_refusal.rules_against_domain("a.org")] == [
        "deny domain a.org"
    ]
    assert section_refusal.rules_against_domain("[::1]") == []
    assert section_refusal.rules_against_section("*/") == []


def test_a_parameter_ends_unless_its_name_was_cut() -> None:
    names = ("view?id", f"view?{'i' * 50}", "?")
    ends = [section_refusal.url_prefixes(f"a.org/{name}", ["http"]) for name in names]
    assert ends == [[f"http://a.org/{names[0]}="], [f"http://a.org/{names[1]}"], ["http://a.org/?"]]
