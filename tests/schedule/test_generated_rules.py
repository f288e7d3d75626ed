"""Rules that are made of what sections hold, and their proof. See generated_rules/."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import pyarrow as pa
import pytest

from gossamer import Crawl
from gossamer.config import Config
from gossamer.errors import UsageError
from gossamer.links import graph
from gossamer.rules.filter_rules import stored_rules
from gossamer.schedule.focus.generated_rules import step as generated_rules
from gossamer.schedule.focus.generated_rules.section_candidates import (
    LEAST_ASKED,
    MOST,
    choose_candidates,
)
from gossamer.schedule.order.sections import step as sections
from gossamer.schedule.order.sections.step import Section
from gossamer.state.workspace import Workspace
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.store import Store
from tests.support.command_line import gossamer, lent
from tests.support.rows import LATER_MS
from tests.support.stored_web import put_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from gossamer.engine.engine import Engine
    from gossamer.schedule.focus.generated_rules.step import Generated

HOME = "http://site.example/"
FIT = 60
SIZE = 100
"""Pages of a section, more than there are fit ones."""


def section(name: str, known: int, asked: int, fit: int = 0) -> Section:
    path = name.partition("?")[0]
    level = path.count("/") + ("?" in name)
    return Section(name, "site.example", level, known, asked, asked, 0, fit, 0.0, 0.0)


def chosen(*others: Section, refused: Iterable[str] = (), wanted: Iterable[str] = ()) -> list[str]:
    site = [section("site.example/", 1000, 500, FIT), section("site.example/a/", 90, 90, FIT)]
    found = choose_candidates([*site, *others], FIT, [*refused], [*wanted])
    return [each.section.section for each in found.get("site.example", ())]


def test_folders_are_hopeful_whose_smallest_section_has_a_fit_page(work: Workspace) -> None:
    counted = [
        section("site.example/", 100, 100, fit=1),
        section("site.example/a/", 50, 50),
        section("site.example/a/b/", 20, 20, fit=1),
    ]
    folders = ["site.example/", "site.example/a/", "site.example/a/b/", "site.example/a/c/"]
    pages = work.engine.rows(pa.table({"folder": folders}))
    found = generated_rules._folders_with_fit_pages(work, pages, counted)
    assert sorted(row["folder"] for row in found.collect()) == [folders[0], folders[2]]
    unfit = [section("site.example/", 100, 100), counted[1]]
    none = generated_rules._folders_with_fit_pages(work, pages, unfit)
    assert none.collect() == []


def test_sections_without_fit_pages_and_with_more_pages_than_there_are_fit_ones() -> None:
    few, large, larger = (
        section(f"site.example/{name}/", known, LEAST_ASKED)
        for name, known in (("few", FIT), ("large", FIT + 1), ("larger", FIT + 2))
    )
    fit = section("site.example/fit/", SIZE, SIZE, 1)
    unknown = section("site.example/unknown/", SIZE, LEAST_ASKED - 1)
    assert chosen(few, large, larger, fit, unknown) == [larger.section, large.section]
    assert chosen(few, refused=[few.section]) == [few.section]


def test_nothing_in_or_around_a_section_that_the_owner_wants() -> None:
    outer, middle, inner = (
        section(f"site.example/{name}", SIZE, SIZE) for name in ("o/", "o/m/", "o/m/i/")
    )
    other = section("site.example/other/", SIZE, SIZE)
    everything = [outer, middle, inner, other]
    assert chosen(*everything, wanted=[middle.section]) == [other.section]
    assert chosen(*everything, wanted=[other.section]) == [each.section for each in everything[:3]]


def test_a_site_cannot_make_the_proof_long() -> None:
    """It has more folders than anybody could want."""
    many = [section(f"site.example/{n}/", SIZE + n, LEAST_ASKED) for n in range(2 * MOST)]
    assert chosen(*many) == [each.section for each in many[: MOST - 1 : -1]]


def test_a_domain_with_few_fit_pages_has_no_rules() -> None:
    rows = [section("site.example/", 1000, 500, FIT), section("site.example/tag/", SIZE, SIZE)]
    assert choose_candidates(rows, FIT, [])
    assert not choose_candidates(rows, FIT + 1, [])


def test_a_section_with_a_large_part_that_is_unknown_may_be_worth_it() -> None:
    """The crawl has asked for tags, and not yet for the articles beside them."""
    whole = section("site.example/content/", 1000, 80)
    tags = section("site.example/content/tags/", 500, 80)
    articles = section("site.example/content/articles/", 400, 0)
    small = section("site.example/content/small/", 99, 0)
    assert chosen(whole, tags, articles) == [tags.section]
    assert chosen(whole, tags, small) == [whole.section, tags.section]


class Page(NamedTuple):
    url: str
    links: list[str]
    asked: bool = True
    fit: bool = False


def page_row(page: Page) -> dict[str, Any]:
    state = {"status": "fetched", "outcome": "ok", "next_fetch_ms": LATER_MS}
    known = {"url": page.url, "host": urlsplit(page.url).netloc, "source": "link", "fit": page.fit}
    return known | (state if page.asked else {"outcome": None})


def put_site(work: Workspace, pages: Sequence[Page]) -> None:
    rows = [page_row(page) for page in pages]
    put_rows(work, "pages", rows)
    put_rows(work, "virtual_page", [{"pages": len(rows)}])
    links = [(each.url, link) for each in pages if each.asked for link in each.links]
    put_rows(work, "links", [{"src": src, "dst": dst, "nofollow": False} for src, dst in links])
    answers = [{"url": each.url, "outcome": "ok"} for each in pages if each.asked]
    put_rows(work, "responses", answers)


def generated(work: Workspace, *, dry_run: bool = False) -> Generated:
    sections.run(work)
    graph.run(work)
    return generated_rules.run(work, FIT, dry_run=dry_run)


def rules(work: Workspace) -> dict[str, bool]:
    return {each.rule: each.enabled for each in stored_rules.read_rules(work)}


def urls(part: str, count: int = SIZE) -> list[str]:
    return [f"{HOME}{part}{n}" for n in range(count)]


def site(tags: str = "tags/") -> list[Page]:
    """The last half of the articles are only linked from an archive, which tags link to, too."""
    articles, archive, tagged = urls("a/", FIT), urls("archive/"), urls(tags)
    return [
        Page(HOME, [*articles[: FIT // 2], archive[0], tagged[0]]),
        *(Page(url, [], fit=True) for url in articles),
        *(Page(url, [articles[n % FIT], *archive[n + 1 :][:1]]) for n, url in enumerate(archive)),
        *(Page(url, [articles[0], archive[5], *tagged]) for url in tagged),
    ]


def test_a_section_that_alone_leads_to_fit_pages_stays(work: Workspace) -> None:
    put_site(work, site())
    found = generated(work)
    tags, archive = (f"deny prefix {HOME}{part}/" for part in ("tags", "archive"))
    assert {each.rules: each.lost for each in found.judged} == {(tags,): 0, (archive,): FIT // 2}
    assert rules(work) == {tags: True}
    (rule,) = stored_rules.read_rules(work)
    assert rule.evidence == stored_rules.Evidence(SIZE, SIZE, FIT, FIT)


def test_pages_that_may_be_fit_must_be_reached_too(work: Workspace) -> None:
    """What nobody has asked for yet, in a section with fit pages."""
    new = Page(f"{HOME}a/new", [], asked=False)
    listed = [page._replace(links=[*page.links, new.url]) for page in site() if "tags" in page.url]
    others = [page for page in site() if "tags" not in page.url]
    put_site(work, [*others, *listed, new])
    assert [each.lost for each in generated(work).judged] == [FIT // 2, 1]
    assert rules(work) == {}


def test_parameters_and_schemes(work: Workspace) -> None:
    secure = [
        Page(page.url.replace("http:", "https:"), page.links)
        for page in site("tags?id=")
        if "tags" in page.url
    ]
    put_site(work, [*site("tags?id="), *secure])
    generated(work)
    assert rules(work) == {
        "deny prefix http://site.example/tags?id=": True,
        "deny prefix https://site.example/tags?id=": True,
    }


@pytest.mark.slow
def test_rules_are_dropped_disabled_and_owned(work: Workspace) -> None:
    put_site(work, site())
    generated(work)
    (tags,) = rules(work)
    stored_rules.enable_rule(work, tags, enabled=False)
    assert tags not in [rule for each in generated(work).judged for rule in each.rules]
    assert rules(work) == {tags: False}
    stored_rules.enable_rule(work, tags, enabled=True)
    put_rows(work, "pages", [page_row(Page(f"{HOME}tags/7", [], fit=True))])
    assert generated(work, dry_run=True).report is None
    assert rules(work) == {tags: True}
    done = generated(work).report
    assert done is not None
    assert done.counts == {"dropped": 1, "added": 0, "known": 0}
    assert rules(work) == {}
    stored_rules.add_rules(work, [(tags, "RULE")])
    generated(work)
    assert rules(work) == {tags: True}


def test_a_domain_whose_pages_no_home_page_leads_to_has_no_rules(work: Workspace) -> None:
    put_site(work, [page for page in site() if page.url != HOME])
    found = generated(work)
    assert (found.judged, found.unproved) == ([], ["site.example"])
    assert rules(work) == {}


def test_without_a_graph_the_command_to_build_one_is_named(work: Workspace) -> None:
    put_site(work, site())
    sections.run(work)
    with pytest.raises(UsageError, match="graph build"):
        generated_rules.run(work, FIT)


def reached(pages: Iterable[Page], denied: Iterable[str]) -> set[str]:
    """What a walk from the home page meets."""
    links = {page.url: page.links for page in pages if page.asked}
    prefixes = tuple(rule.removeprefix("deny prefix ") for rule in denied)
    met, waiting = {HOME}, [HOME]
    while waiting:
        for link in links.get(waiting.pop(), ()):
            if link not in met and not link.startswith(prefixes):
                met.add(link)
                waiting.append(link)
    return met


@pytest.mark.parametrize("seed", range(3))
def test_fit_pages_are_reached_by_a_walk_that_obeys_the_rules(work: Workspace, seed: int) -> None:
    draw = Random(seed)  # noqa: S311
    articles = urls("a/", FIT)
    parts = [urls(part, SIZE + n) for n, part in enumerate(("b/", "c/", "d/e/", "d/f/", "g?h="))]
    known = [HOME, *articles, *(url for part in parts for url in part)]
    pages = [
        Page(
            url,
            draw.choices(known, k=2 if url in articles else draw.randrange(3)),
            fit=url in articles,
        )
        for url in known
    ]
    pages[0] = Page(HOME, [part[0] for part in parts])
    put_site(work, pages)
    found = generated(work)
    made = list(rules(work))
    wanted = reached(pages, []) & set(articles)
    assert wanted <= reached(pages, made)
    for each in found.judged:
        before = [
            rule
            for other in found.judged[: found.judged.index(each)]
            for rule in other.rules
            if not other.lost
        ]
        assert each.lost == len(wanted - reached(pages, [*before, *each.rules]))


@pytest.mark.spark
def test_a_cluster_makes_the_same_rules(
    work: Workspace, spark_engine: Engine, tmp_path: Path
) -> None:
    store = Store.create(LocalBackend(tmp_path / "spark"))
    on_spark = Workspace(store, Config(), clock_ms=work.clock_ms, _engine=spark_engine)
    for each in (work, on_spark):
        put_site(each, site())
    found, judged = generated(work), generated(on_spark)
    assert (judged.judged, judged.unproved) == (found.judged, found.unproved)
    assert rules(on_spark) == rules(work) != {}


def test_commands(engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    crawl = Crawl.create(str(folder), "", engine)
    put_site(crawl.work, site())
    with lent(engine):
        said = gossamer("filter", "generate", folder, "--dry-run").stdout
        assert rules(crawl.work) == {}
        made = json.loads(gossamer("filter", "generate", folder, "--json").stdout)
        listed = gossamer("filter", "list", folder).stdout
        as_json = json.loads(gossamer("filter", "list", folder, "--json").stdout)
    evidence = (
        "100 pages, none fit of 100 asked for: at most 3.0% are, with 95 % confidence; "
        "60 fit in the domain, 60 to be reached"
    )
    tags, archive = (f"deny prefix {HOME}{part}/" for part in ("tags", "archive"))
    assert said.splitlines() == [
        f"not made: {archive}",
        f"    {evidence}; 30 of them would be cut off",
        tags,
        f"    {evidence}",
        "no rule was stored",
    ]
    assert {rule: each["lost"] for each in made["judged"] for rule in each["rules"]} == {
        archive: 30,
        tags: 0,
    }
    assert listed.splitlines() == [f"{tags}  (the store)", f"    {evidence}"]
    assert as_json[0]["evidence"] == {
        "pages": 100,
        "asked": 100,
        "domain_fit": 60,
        "reached": 60,
        "drawn": 0,
        "most_fit": 0.0295,
    }
