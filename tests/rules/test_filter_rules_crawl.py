"""Crawls of a small site with filter rules from the settings, from a file and from the store."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from gossamer import Crawl
from gossamer.errors import ConfigError, UsageError
from gossamer.fakeweb import FakeWeb, Web
from gossamer.rules.absence import REASONS, Absence
from gossamer.schedule import refilter, refresh
from gossamer.state.lookup import Lookup
from tests.support.bare_rounds import run_rounds
from tests.support.command_line import gossamer
from tests.support.crawl_settings import loopback_settings
from tests.support.planted_duplicates import prose
from tests.support.rows import by_url, put

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gossamer.engine.engine import Engine
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport

pytestmark = pytest.mark.slow

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

Pages = dict[str, tuple[str, Iterable[str]]]
"""Texts and links by path."""


def write_pages(folder: Path, pages: Pages) -> None:
    """A site of files."""
    for name, (text, links) in pages.items():
        path = folder / (name.partition("?")[0] or "index.html")
        path.parent.mkdir(parents=True, exist_ok=True)
        anchors = " ".join(f"<a href='/{link}'>{link}</a>" for link in links)
        page = f"<!doctype html><title>{name}</title><p>{text}{anchors}"
        path.write_text(page, encoding="utf-8")


def site_pages() -> Pages:
    """All pages link to all."""
    texts = [" ".join(prose(seed, 120)) for seed in range(len(PAGES) + 1)]
    return {name: (text, PAGES) for name, text in zip(("", *PAGES), texts, strict=True)}


def begun(folder: Path, address: str, engine: Engine) -> Crawl:
    """A crawl of the site that has not fetched anything."""
    (folder / "rules").mkdir(parents=True)
    (folder / "rules" / "files.txt").write_text(FILE)
    made = Crawl.create(str(folder), loopback_settings(address, SETTINGS), engine)
    made.filters.add([STORED])
    made.inject([HOME])
    return made


TYPED_HOME = "http://typed.test/"
TYPED = ("deny type text/plain", "deny language de")
GERMAN = 4 * (
    "Der schnelle braune Fuchs springt über den faulen Hund, während die Katze am Fenster sitzt "
    "und den Vögeln im Garten zusieht. Niemand weiß, wohin sie am Abend gehen wird. "
)


def typed_pages() -> Pages:
    """A German page is the only one that links to the last two."""
    english = [" ".join(prose(seed, 120)) for seed in range(100, 104)]
    return {
        "": (english[0], ("a", "german")),
        "a": (english[1], ()),
        "german": (GERMAN, ("n", "n.txt")),
        "n": (english[2], ()),
        "n.txt": (english[3], ()),
    }


@pytest.fixture
def site(tmp_path: Path) -> Iterator[FakeWeb]:
    write_pages(tmp_path / "site", site_pages())
    with FakeWeb(Web(hosts=0, docs={"site.test": tmp_path / "site"})) as fake:
        yield fake


@pytest.fixture
def crawl(engine: Engine, tmp_path: Path) -> Crawl:
    """A crawl of the site, which is not there."""
    return begun(tmp_path / "crawl", "127.0.0.1:1", engine)


class Whole(NamedTuple):
    """A crawl that has ended; its sites are gone."""

    crawl: Crawl
    reports: list[StepReport]


@pytest.fixture(scope="module")
def whole(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """Of the site, and of another one with a German page, whose language and type are refused."""
    folder = tmp_path_factory.mktemp("crawled")
    write_pages(folder / "site", site_pages())
    write_pages(folder / "typed", typed_pages())
    with FakeWeb(Web(hosts=0, docs={f"{n}.test": folder / n for n in ("site", "typed")})) as fake:
        made = begun(folder / "crawl", fake.address, engine)
        made.filters.add(TYPED)
        made.inject([TYPED_HOME])
        return Whole(made, list(made.run()))


@pytest.fixture
def crawled(whole: Whole, engine: Engine, tmp_path: Path) -> Crawl:
    """A copy of that crawl."""
    return Crawl.open(str(shutil.copytree(whole.crawl.path, tmp_path / "crawl")), engine)


def known(crawl: Crawl) -> dict[str, dict[str, Any]]:
    """The pages of the site by path."""
    rows = by_url(crawl.pages())
    return {url.removeprefix(HOME): row for url, row in rows.items() if url.startswith(HOME)}


def findable(crawl: Crawl, home: str = HOME) -> set[str]:
    urls = by_url(crawl.dataset("indexed").select("url").distinct())
    return {url.removeprefix(home) for url in urls if url.startswith(home)}


def test_links_are_dropped_by_rules_and_counted(whole: Whole) -> None:
    crawl = whole.crawl
    reports = [done for done in whole.reports if (done.step, done.round) == ("parse", 1)]
    (parsed,) = (done.counts for done in reports)
    dropped = {name: n for name, n in parsed.items() if name.startswith("dropped_rule")}
    assert dropped == {
        "dropped_rule_prefix": 1,
        "dropped_rule_suffix": 1,
        "dropped_rule_pattern": 1,
    }
    assert known(crawl).keys() == LET_IN
    fact = next(f.text for f in crawl.explain(f"{HOME}d.ics").facts if f.topic == "found")
    assert fact.endswith("refuses it: deny suffix .ics (rules/files.txt, line 3)")


def test_refused_pages_leave_the_index_and_come_back(
    site: FakeWeb, engine: Engine, tmp_path: Path
) -> None:
    crawl = begun(tmp_path / "crawl", site.address, engine)
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
    run_rounds(crawl)
    assert known(crawl)["b"]["outcome"] == "filtered"

    assert crawl.filters.apply().counts == nothing | {"still_refused": 1, "seeds_kept": 1}
    crawl.filters.remove([NEWS])
    assert crawl.filters.apply().counts == nothing | {"restored": 1}
    assert known(crawl)["b"]["next_fetch_ms"] == 0
    crawl.harvest()
    assert findable(crawl) == LET_IN
    run_rounds(crawl)
    assert known(crawl)["b"]["outcome"] == "unchanged"
    assert crawl.filters.apply().counts == nothing


def test_what_depends_on_due_pages_and_cash_follows(crawled: Crawl) -> None:
    crawled.filters.add([NEWS])
    crawled.filters.apply()
    due = sum(row.pages for row in crawled.dataset("due_times").collect())
    pages = by_url(crawled.pages()).values()
    assert due == len(pages) - 2 > len(LET_IN) - 2
    (virtual,) = crawled.dataset("virtual_page").collect()
    held = sum(row["cash"] + virtual.given for row in pages)
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
        "         1  deny type text/plain (the store)",
        f"            {TYPED_HOME}n.txt",
        "2 pages would be excluded, 1 were already; 0 would be let in again",
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
        "alias.png": {"status": "alias"},
        "seed.png": {"source": "seed"},
    }
    put(work, "pages", [{"url": f"{HOME}{n}", "host": "site.test"} | p for n, p in pages.items()])
    found = refilter.run(work)
    assert {each.reason: each.pages for each in found.refused} == {"depth": 1, "extension": 2}
    assert found.counts == {"refused": 3, "still_refused": 0, "seeds_kept": 1, "restored": 0}


def test_a_refused_language_is_not_indexed_and_its_links_are_followed(whole: Whole) -> None:
    counts = [each.counts for each in whole.reports if each.step == "parse"]
    assert sum(each.get("filtered", 0) for each in counts) == 1
    documents = by_url(whole.crawl.dataset("documents"))
    refused = documents[f"{TYPED_HOME}german"]
    assert (refused["outcome"], refused["detail"]) == ("filtered", "deny language de")
    assert documents[f"{TYPED_HOME}n"]["outcome"] == "parsed"
    assert findable(whole.crawl, TYPED_HOME) == {"", "a", "n"}
    facts = {fact.topic: fact.text for fact in whole.crawl.explain(f"{TYPED_HOME}german").facts}
    assert facts["index"].endswith("refuses its language: deny language de")


def test_a_refused_type_is_not_downloaded(whole: Whole) -> None:
    (answer,) = whole.crawl.dataset("responses").where("url LIKE '%n.txt'").collect()
    assert (answer.outcome, answer.detail) == ("filtered_type", "deny type text/plain")
    assert (answer.http_status, answer.body_bytes, answer.warc_file) == (200, None, None)
    row = by_url(whole.crawl.pages())[f"{TYPED_HOME}n.txt"]
    assert (row["status"], row["outcome"], row["stored_ms"]) == ("excluded", "filtered_type", None)
    assert row["next_fetch_ms"] > row["fetched_ms"]


def test_a_type_that_is_refused_later_leaves_the_index_and_comes_back(
    site: FakeWeb, engine: Engine, tmp_path: Path
) -> None:
    german = typed_pages()
    added = {"b": german["german"], "n": german["n"], "n.txt": german["n.txt"]}
    write_pages(tmp_path / "site", added)
    settings = loopback_settings(site.address, "parse.wellknown_paths = []")
    typed = Crawl.create(str(tmp_path / "typed"), settings, engine)
    typed.inject([HOME])
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
