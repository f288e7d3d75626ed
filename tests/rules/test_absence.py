"""Why a URL is not in `pages`, from settings, seeds and the links to it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs

from gossamer.rules.absence import EXCEEDED, MAX_SOURCES, NOFOLLOW, REASONS, UNLINKED, Absence
from gossamer.rules.filter_rules import crawl_rules
from gossamer.rules.filters import Filters
from gossamer.state.lookup import Lookup
from tests.support.small_index import crawl
from tests.support.stored_web import put_inlinks, put_rows

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.rules.filter_rules.crawl_rules import RulesInForce
    from gossamer.state.workspace import Workspace

URL = "http://a.test/x"
SOURCES = [f"http://b.test/{number}" for number in range(MAX_SOURCES + 1)]


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    """A crawl of a.test, whose pages beside the seed are of other hosts."""
    work = crawl(tmp_path)
    pages = [{"url": "http://a.test/", "host": "a.test", "source": "seed"}]
    pages += [{"url": url, "host": "b.test"} for url in SOURCES]
    put_rows(work, "pages", pages, files=2, group_rows=2)
    return work


def with_filter(work: Workspace, **settings: Any) -> Absence:
    config = structs.replace(work.config, filter=structs.replace(work.config.filter, **settings))
    changed = replace(work, config=config)
    return Absence(changed, Lookup(changed))


def why(work: Workspace, url: str = URL, **settings: Any) -> str:
    return with_filter(work, **settings).why(url)


def put_links(work: Workspace, *nofollow: bool) -> None:
    for source, each in zip(SOURCES, nofollow, strict=False):
        put_rows(
            work,
            "links",
            [
                {"src": source, "dst": "http://a.test/other", "nofollow": not each},
                {"src": source, "dst": URL, "nofollow": each},
            ],
        )
    put_inlinks(work, URL, [(source, "") for source in SOURCES[: len(nofollow)]], len(nofollow))


def test_a_url_that_nothing_links_to(work: Workspace) -> None:
    assert why(work) == UNLINKED
    put_inlinks(work, URL, [], 0)
    assert why(work) == UNLINKED


@pytest.mark.parametrize(
    ("nofollow", "reason"),
    [
        ([True], NOFOLLOW),
        ([False], EXCEEDED),
        ([True, False], EXCEEDED),
        ([True] * MAX_SOURCES + [False], NOFOLLOW),  # of more links, the first are looked at
        ([True] * (MAX_SOURCES - 1) + [False], EXCEEDED),
    ],
)
def test_a_url_with_links(work: Workspace, nofollow: list[bool], reason: str) -> None:
    put_links(work, *nofollow)
    assert why(work) == f"{reason}; one link is on {SOURCES[0]}"


def test_a_link_that_is_not_known_any_more_may_have_been_followed(work: Workspace) -> None:
    put_inlinks(work, URL, [(SOURCES[0], "")], 1)
    assert why(work).startswith(EXCEEDED)


def test_a_url_outside_of_the_scope_of_the_seeds(work: Workspace) -> None:
    assert "filter.scope" in why(work, "http://b.test/")
    assert "filter.scope" in why(work, "http://c.a.test/", scope="host")
    assert why(work, "http://c.a.test/") == UNLINKED
    assert why(work, "http://b.test/", scope="any") == UNLINKED


def test_seeds_that_came_later_widen_the_scope(work: Workspace) -> None:
    absence = Absence(work, Lookup(work))
    assert "filter.scope" in absence.why("http://c.test/")
    put_rows(work, "pages", [{"url": "http://c.test/", "host": "c.test", "source": "seed"}])
    assert absence.why("http://c.test/x") == UNLINKED
    assert "filter.scope" in absence.why("http://d.test/")


def test_a_setting_or_a_rule_that_refuses_it_is_named(work: Workspace) -> None:
    assert "filter.skip_extensions" in why(work, "http://a.test/x.zip")
    rules = ("allow prefix http://a.test/x/", "deny prefix http://a.test/x")
    assert why(work, rules=rules) == (
        "a filter rule refuses it: deny prefix http://a.test/x (filter.rules, rule 2)"
    )
    assert why(work, f"{URL}/y", rules=rules) == UNLINKED
    absence = with_filter(work, rules=rules)
    found = [absence.rule(url) for url in (URL, f"{URL}/y", "http://a.test/")]
    assert [each and each[0].text for each in found] == [*reversed(rules), None]


def test_how_far_it_is_from_a_seed_counts(work: Workspace) -> None:
    absence = with_filter(work, max_depth=2, max_redirects=1)
    assert absence.filter_reason(URL, depth=2, hops=1) is None
    assert "filter.max_depth" in (absence.filter_reason(URL, depth=3) or "")
    assert "filter.max_redirects" in (absence.filter_reason(URL, hops=2) or "")


def test_rules_and_filters_are_made_once_until_they_change(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    in_force, from_config = crawl_rules.rules_in_force, Filters.from_config

    def rules_in_force(*given: Any) -> RulesInForce:
        made.append("rules")
        return in_force(*given)

    def filters(*given: Any, **named: Any) -> Filters:
        made.append("filters")
        return from_config(*given, **named)

    monkeypatch.setattr(crawl_rules, "rules_in_force", rules_in_force)
    monkeypatch.setattr(Filters, "from_config", filters)
    absence = with_filter(work)
    assert [absence.why(URL), absence.why(URL)] == [UNLINKED] * 2
    assert made == ["rules", "filters"]
    given = structs.replace(absence._work.config.filter, rules=("deny prefix http://a.test/",))
    absence._work.config = structs.replace(absence._work.config, filter=given)
    assert {absence.why(URL), absence.why(URL)} == {
        f"{REASONS['rule_prefix']}: deny prefix http://a.test/ (filter.rules, rule 1)"
    }
    assert made == ["rules", "filters"] * 2
    seed = {"url": "http://c.test/", "host": "c.test", "source": "seed"}
    assert absence.why("http://c.test/y") == REASONS["scope"]
    put_rows(absence._work, "pages", [seed])
    assert absence.why("http://c.test/y") == UNLINKED
    assert made == [*["rules", "filters"] * 2, "filters"]


@pytest.mark.parametrize("place", [0, 2, 3])
def test_a_seed_counts_wherever_its_row_is(tmp_path: Path, place: int) -> None:
    work = crawl(tmp_path)
    pages = [{"url": url, "host": "b.test", "source": "link"} for url in SOURCES[:3]]
    pages.insert(place, {"url": "http://a.test/", "host": "a.test", "source": "seed"})
    put_rows(work, "pages", pages, group_rows=2)
    assert why(work) == UNLINKED
    assert why(work, "http://b.test/y") == REASONS["scope"]
