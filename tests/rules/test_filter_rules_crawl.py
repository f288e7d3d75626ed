"""Crawls of a small site with filter rules from the settings, from a file and from the store."""

from __future__ import annotations

import json
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from msgspec import structs

from gossamer import Crawl
from gossamer.errors import ConfigError, UsageError
from gossamer.fakeweb import FakeWeb, Web
from gossamer.rules.absence import REASONS, Absence
from gossamer.schedule import refilter, refresh
from gossamer.state.lookup import Lookup
from tests.support.command_line import gossamer
from tests.support.crawl_settings import loopback_settings
from tests.support.planted_duplicates import prose
from tests.support.rows import by_url, put

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gossamer.engine.engine import Engine
    from gossamer.state.workspace import Workspace

HOME = "http://site.test/"
SETTINGS = """
filter.rules = ["allow prefix http://site.test/tags/kept", "deny prefix http://site.test/tags/"]
filter.files = ["rules/files.txt"]
parse.wellknown_paths = []
"""
FILE = "# files that nobody reads\n\ndeny suffix .ics  # calendars\n"
STORED = "deny pattern [?&]print=1"
PAGES = ("a", "b", "c", "tags/x", "tags/kept", "d.ics", "e?print=1")
LET_IN = {"", "a", "b", "c", "tags/kept"}
NEWS = "deny pattern /[bc]$"


@contextmanager
def served(folder: Path) -> Iterator[FakeWeb]:
    """The site, whose pages are files of the folder."""
    (folder / "tags").mkdir(parents=True)
    links = "".join(f"<a href='/{name}'>{name}</a> " for name in PAGES)
    for seed, name in enumerate(("index.html", *(name.partition("?")[0] for name in PAGES))):
        text = f"<!doctype html><title>{name}</title><p>{' '.join(prose(seed, 120))}{links}"
        (folder / name).write_text(text, encoding="utf-8")
    with FakeWeb(Web(hosts=0, docs={"site.test": folder})) as fake:
        yield fake


def begun(folder: Path, site: FakeWeb, engine: Engine) -> Crawl:
    """A crawl of the site that has not fetched anything."""
    (folder / "rules").mkdir(parents=True)
    (folder / "rules" / "files.txt").write_text(FILE)
    made = Crawl.create(str(folder), loopback_settings(site.address, SETTINGS), engine)
    made.filters.add([STORED])
    made.inject([HOME])
    return made


@pytest.fixture
def site(tmp_path: Path) -> Iterator[FakeWeb]:
    with served(tmp_path / "site") as fake:
        yield fake


@pytest.fixture
def crawl(site: FakeWeb, engine: Engine, tmp_path: Path) -> Crawl:
    return begun(tmp_path / "crawl", site, engine)


@pytest.fixture(scope="module")
def whole(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl that has ended; its site is gone."""
    folder = tmp_path_factory.mktemp("crawled")
    with served(folder / "site") as fake:
        begun(folder / "crawl", fake, engine).run()
    return folder / "crawl"


@pytest.fixture
def crawled(whole: Path, engine: Engine, tmp_path: Path) -> Crawl:
    return Crawl.open(str(shutil.copytree(whole, tmp_path / "crawl")), engine)


def known(crawl: Crawl) -> dict[str, dict[str, Any]]:
    return {url.removeprefix(HOME): row for url, row in by_url(crawl.pages()).items()}


def findable(crawl: Crawl) -> set[str]:
    rows = by_url(crawl.dataset("indexed").select("url").distinct())
    return {url.removeprefix(HOME) for url in rows}


def test_links_are_dropped_by_rules_and_counted(crawl: Crawl) -> None:
    reports = crawl.run()
    parsed = next(each.counts for each in reports if each.step == "parse" and each.round == 1)
    dropped = {name: n for name, n in parsed.items() if name.startswith("dropped_rule")}
    assert dropped == {
        "dropped_rule_prefix": 1,
        "dropped_rule_suffix": 1,
        "dropped_rule_pattern": 1,
    }
    assert known(crawl).keys() == LET_IN
    fact = next(f.text for f in crawl.explain(f"{HOME}d.ics").facts if f.topic == "found")
    assert fact.endswith("refuses it: deny suffix .ics (rules/files.txt, line 3)")


@pytest.mark.slow
def test_refused_pages_leave_the_index_and_come_back(crawl: Crawl) -> None:
    crawl.run()
    crawl.inject([f"{HOME}c"])
    crawl.filters.add([NEWS])
    before = known(crawl)

    looked = crawl.filters.apply(dry_run=True, samples=1)
    (group,) = looked.refused
    assert looked.report is None
    assert (group.reason, group.pages, group.samples) == ("rule_pattern", 1, [f"{HOME}b"])
    assert group.rule is not None
    assert group.rule.rule.text == NEWS
    nothing = dict.fromkeys(looked.counts, 0)
    assert looked.counts == nothing | {"refused": 1, "seeds_kept": 1}
    assert known(crawl) == before

    done = crawl.filters.apply()
    assert done.report is not None
    assert done.report.counts == looked.counts
    after = known(crawl)
    assert (after["b"]["status"], after["b"]["outcome"]) == ("excluded", "filtered")
    assert {name: row for name, row in after.items() if name != "b"} == {
        name: row for name, row in before.items() if name != "b"
    }
    facts = {fact.topic: fact.text for fact in crawl.explain(f"{HOME}b").facts}
    assert NEWS in facts["filters"]
    assert "never" in facts["due"]
    crawl.harvest()
    assert findable(crawl) == LET_IN - {"b"}
    crawl.refresh("/b$")
    crawl.run()
    assert known(crawl)["b"]["outcome"] == "filtered"

    assert crawl.filters.apply().counts == nothing | {"still_refused": 1, "seeds_kept": 1}
    crawl.filters.remove([NEWS])
    assert crawl.filters.apply().counts == nothing | {"restored": 1}
    assert known(crawl)["b"]["next_fetch_ms"] == 0
    crawl.harvest()
    assert findable(crawl) == LET_IN
    crawl.run()
    assert known(crawl)["b"]["outcome"] == "unchanged"
    assert crawl.filters.apply().counts == nothing


def test_what_depends_on_due_pages_and_cash_follows(crawled: Crawl) -> None:
    crawled.filters.add([NEWS])
    crawled.filters.apply()
    due = sum(row.pages for row in crawled.dataset("due_times").collect())
    assert due == len(LET_IN) - 2
    (virtual,) = crawled.dataset("virtual_page").collect()
    held = sum(row["cash"] + virtual.given for row in known(crawled).values())
    assert held + virtual.kept == virtual.brought


def test_a_page_that_is_refused_while_it_is_fetched_stays_excluded(work: Workspace) -> None:
    from gossamer.schedule import update

    page = {"url": f"{HOME}b", "status": "excluded", "outcome": "filtered"}
    put(work, "pages", [page], 0)
    put(work, "responses", [{"url": f"{HOME}b", "outcome": "ok", "fetched_ms": 1}], 1)
    with work.step("parse", 1):
        pass
    update.run(work)
    (row,) = work.read("pages").collect()
    assert (row.status, row.outcome) == ("excluded", "filtered")


def test_rules_of_the_store_are_listed_disabled_and_enabled(crawl: Crawl) -> None:
    report = crawl.filters.add([f"{STORED} # again", "deny language de"])
    assert report.counts == {"added": 1, "known": 1}
    crawl.filters.disable(STORED)
    listed = [(each.rule.text, each.place, each.enabled) for each in crawl.filters.rules()]
    assert listed == [
        ("allow prefix http://site.test/tags/kept", "filter.rules, rule 1", True),
        ("deny prefix http://site.test/tags/", "filter.rules, rule 2", True),
        ("deny suffix .ics", "rules/files.txt, line 3", True),
        (STORED, "the store", False),
        ("deny language de", "the store", True),
    ]
    assert crawl.filters.test(f"{HOME}e?print=1").reason is None
    assert crawl.filters.add([STORED]).counts == {"added": 0, "known": 1}
    assert not crawl.filters.rules()[3].enabled
    crawl.filters.enable(STORED)
    assert crawl.filters.test(f"{HOME}e?print=1").reason == "rule_pattern"
    crawl.filters.remove([STORED, "deny language de"])
    assert len(crawl.filters.rules()) == 3
    for change in (crawl.filters.disable, crawl.filters.enable):
        with pytest.raises(UsageError, match="is not a rule in the store"):
            change(STORED)
    with pytest.raises(UsageError, match="is not a rule in the store"):
        crawl.filters.remove(["deny suffix .ics"])


def test_a_server_follows_rules_that_change(crawl: Crawl, tmp_path: Path) -> None:
    left_out = Absence(crawl.work, Lookup(crawl.work))
    url = f"{HOME}d.ics"
    assert "rules/files.txt, line 3" in (left_out.filter_reason(url) or "")
    path = tmp_path / "crawl" / "rules" / "files.txt"
    path.write_text("deny suffix .other\n")
    assert left_out.filter_reason(url) is None
    crawl.filters.add(["deny suffix .ics"])
    assert "(the store)" in (left_out.filter_reason(url) or "")


class Bad(NamedTuple):
    """A file of rules, and what an error says."""

    data: bytes | None
    says: str


@pytest.mark.parametrize(
    "bad",
    [
        Bad(None, "rules/files.txt: cannot be read"),
        Bad(b"\xff", "not UTF-8"),
        Bad(b"deny all\nallow\n", "rules/files.txt, line 2: '' is not a kind of rule"),
        Bad(b"deny pattern (", "rules/files.txt, line 1: '\\('"),
    ],
)
def test_a_bad_file_is_named_before_anything_is_parsed(
    crawled: Crawl, tmp_path: Path, bad: Bad
) -> None:
    path = tmp_path / "crawl" / "rules" / "files.txt"
    path.unlink()
    if bad.data is not None:
        path.write_bytes(bad.data)
    version = crawled.work.store.manifest.version
    for use in (crawled.filters.rules, crawled.filters.apply):
        with pytest.raises(ConfigError, match=bad.says):
            use()
    with pytest.raises(ConfigError, match=bad.says):
        crawled.reparse()
    assert crawled.work.store.manifest.version == version


def test_an_invalid_rule_adds_none(crawl: Crawl) -> None:
    with pytest.raises(ConfigError, match="rule 2: 'nope'"):
        crawl.filters.add(["deny suffix .x", "nope"])
    assert len(crawl.filters.rules()) == 4


@pytest.mark.usefixtures("shared_engine")
def test_commands(crawled: Crawl, tmp_path: Path) -> None:
    path = crawled.path
    (tmp_path / "more").write_text(f"{NEWS}\n# no rule\ndeny domain other.example\n")
    assert "added, 0 known" in gossamer("filter", "add", path, "--file", tmp_path / "more").stdout
    listed = gossamer("filter", "list", path).stdout.splitlines()
    assert listed[2] == "deny suffix .ics  (rules/files.txt, line 3)"
    assert listed[-1] == "deny domain other.example  (the store)"
    asked = [f"{HOME}b", f"{HOME}tags/kept", HOME, "http://other.test/x.png"]
    assert gossamer("filter", "test", path, *asked).stdout.splitlines() == [
        f"{HOME}b",
        f"  refused: {NEWS} (the store)",
        f"{HOME}tags/kept",
        "  let in: allow prefix http://site.test/tags/kept (filter.rules, rule 1)",
        HOME,
        "  let in: no rule matches",
        "http://other.test/x.png",
        f"  refused before any rule: {REASONS['extension']}",
    ]
    tested = json.loads(gossamer("filter", "test", path, asked[0], "--json").stdout)
    assert tested == [{"url": asked[0], "reason": "rule_pattern", "rule": f"{NEWS} (the store)"}]
    looked = gossamer("filter", "apply", path, "--dry-run", "--samples", "1")
    assert looked.stdout.splitlines() == [
        f"         2  {NEWS} (the store)",
        f"            {HOME}b",
        "2 pages would be excluded, 0 were already; 0 would be let in again",
    ]
    applied = json.loads(gossamer("filter", "apply", path, "--json").stdout)
    assert applied["counts"]["refused"] == 2
    assert applied["refused"][0]["samples"] == [f"{HOME}b", f"{HOME}c"]
    gossamer("filter", "disable", path, NEWS)
    assert "disabled)" in gossamer("filter", "list", path).stdout
    gossamer("filter", "enable", path, NEWS)
    gossamer("filter", "remove", path, NEWS)
    listed = json.loads(gossamer("filter", "list", path, "--json").stdout)
    assert NEWS not in {each["rule"] for each in listed}
    assert "--file" in gossamer("filter", "add", path, code=2).stderr


def test_refresh_leaves_refused_pages(work: Workspace) -> None:
    page = {"url": f"{HOME}b", "status": "excluded", "outcome": "filtered"}
    put(work, "pages", [page, {"url": f"{HOME}c", "status": "excluded", "outcome": "robots"}])
    assert refresh.run(work, "test").counts == {"pages": 1}


def test_built_in_filters_apply_to_known_pages_too(work: Workspace) -> None:
    pages: dict[str, dict[str, Any]] = {
        "far": {"depth": 99},
        "x.png": {},
        "gone.png": {"status": "gone"},
        "seed.png": {"source": "seed"},
    }
    put(work, "pages", [{"url": f"{HOME}{n}", "host": "site.test"} | p for n, p in pages.items()])
    found = refilter.run(work)
    assert {each.reason: each.pages for each in found.refused} == {"depth": 1, "extension": 1}
    assert found.counts == {"refused": 2, "still_refused": 0, "seeds_kept": 1, "restored": 0}


TYPED = """
filter.rules = ["deny type text/plain", "deny language de"]
parse.wellknown_paths = []
"""
GERMAN = (
    "Der schnelle braune Fuchs springt über den faulen Hund, während die Katze am Fenster sitzt "
    "und den Vögeln im Garten zusieht. Niemand weiß, wohin sie am Abend gehen wird. "
)


@pytest.fixture
def typed(site: FakeWeb, engine: Engine, tmp_path: Path) -> Crawl:
    """A crawl of the site, in which `b` is German, and links to a further page."""
    page = tmp_path / "site" / "b"
    page.write_text(
        f"<!doctype html><title>b</title><p>{GERMAN * 4}<a href='/n'>n</a> <a href='/n.txt'>t</a>"
    )
    for seed, name in enumerate(("n", "n.txt"), 100):
        (tmp_path / "site" / name).write_text(f"<title>n</title><p>{' '.join(prose(seed, 120))}")
    settings = loopback_settings(site.address, TYPED)
    made = Crawl.create(str(tmp_path / "typed"), settings, engine)
    made.inject([HOME])
    return made


def test_a_refused_language_is_not_indexed_and_its_links_are_followed(typed: Crawl) -> None:
    reports = typed.run()
    assert sum(each.counts.get("filtered", 0) for each in reports if each.step == "parse") == 1
    documents = by_url(typed.dataset("documents"))
    refused = documents[f"{HOME}b"]
    assert (refused["outcome"], refused["detail"]) == ("filtered", "deny language de")
    assert documents[f"{HOME}n"]["outcome"] == "parsed"
    assert "b" not in findable(typed)
    assert {"a", "n"} <= findable(typed)
    facts = {fact.topic: fact.text for fact in typed.explain(f"{HOME}b").facts}
    assert facts["index"].endswith("refuses its language: deny language de")


def test_a_refused_type_is_not_downloaded(typed: Crawl) -> None:
    typed.run()
    (answer,) = typed.dataset("responses").where("url LIKE '%n.txt'").collect()
    assert (answer.outcome, answer.detail) == ("filtered_type", "deny type text/plain")
    assert (answer.http_status, answer.body_bytes, answer.warc_file) == (200, None, None)
    row = known(typed)["n.txt"]
    assert (row["status"], row["outcome"], row["stored_ms"]) == ("excluded", "filtered_type", None)
    assert row["next_fetch_ms"] > row["fetched_ms"]


@pytest.mark.slow
def test_a_type_that_is_refused_later_leaves_the_index_and_comes_back(typed: Crawl) -> None:
    no_rules = structs.replace(typed.work.config.filter, rules=())
    typed.work.config = structs.replace(typed.work.config, filter=no_rules)
    typed.run()
    everything = findable(typed)
    assert everything == {"", "n.txt", "n", *PAGES}
    typed.filters.add(["deny type application/"])
    assert typed.filters.apply().counts["refused"] == len(everything) - 2
    pages = known(typed)
    html = {"", "n.txt"}
    assert {row["outcome"] for name, row in pages.items() if name not in html} == {"filtered_type"}
    assert (pages["a"]["status"], pages["a"]["etag"]) == ("excluded", None)
    typed.refresh()
    typed.run()
    assert {row["outcome"] for row in known(typed).values()} == {"filtered_type", "unchanged"}
    assert findable(typed) == html
    again = typed.filters.apply().counts
    assert (again["refused"], again["still_refused"]) == (0, len(everything) - 2)
    typed.filters.remove(["deny type application/"])
    assert typed.filters.apply().counts["restored"] == len(everything) - 2
    typed.run()
    assert findable(typed) == everything
