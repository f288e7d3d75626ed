"""Parsing stored pages again under other settings: `rounds.reparse`."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from msgspec import structs

from gossamer import Crawl, parse
from gossamer.errors import MissingFile, UsageError
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.flow import rounds
from gossamer.schedule import update
from gossamer.state import lsm
from gossamer.status.overview import overview
from gossamer.storage.store import StepReport
from gossamer.tables import PAGES
from tests.support.command_line import gossamer, lent
from tests.support.crawl_settings import loopback_settings
from tests.support.rows import by_url, put
from tests.support.stored_rounds import HOME, Fetched, archive_of, skip_update, store_round, table

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.engine.engine import Engine
    from gossamer.state.workspace import Workspace

pytestmark = pytest.mark.folder

PICTURE = "https://example.org/p.webp"
FIRST = [Fetched(HOME, b"<title>Home</title><p>one two three<a href=/a>A</a><img src=/p.webp>")]
SECOND = [Fetched(HOME + "a", b"<p>four five six<a href=/b>B</a><img src=/p.webp>", depth=1)]


def end_round(work: Workspace) -> None:
    parse.run(work)
    update.run(work)


def parse_two_rounds(work: Workspace) -> None:
    store_round(work, FIRST)
    end_round(work)
    store_round(work, SECOND, round_=2)
    end_round(work)


@pytest.fixture(scope="module")
def original(new_work: Callable[[], Workspace]) -> Workspace:
    """A crawl whose two rounds are parsed."""
    work = new_work()
    reset(work, filter={"skip_extensions": ()})
    parse_two_rounds(work)
    return work


@pytest.fixture
def parsed(original: Workspace, work: Workspace) -> Workspace:
    """A copy of `original`."""
    shutil.copytree(original.root, work.root, dirs_exist_ok=True)
    work.store.refresh()
    work.config = original.config
    return work


def reset(work: Workspace, **tables: dict[str, Any]) -> None:
    """Other settings, by the table that they are in."""
    changed = {
        name: structs.replace(getattr(work.config, name), **keys) for name, keys in tables.items()
    }
    work.config = structs.replace(work.config, **changed)


def pages(work: Workspace) -> dict[str, dict[str, Any]]:
    return by_url(lsm.current(work, PAGES))


def test_each_round_is_replaced_by_what_today_s_settings_make_of_it(parsed: Workspace) -> None:
    before = {path for name in ("documents", "links") for path in parsed.paths(name)}
    reset(parsed, parse={"max_text_chars": 7, "media": True})
    report = rounds.reparse(parsed)
    assert report.counts == {
        "documents": 2,
        "parsed": 2,
        "truncated": 2,
        "links": 4,
        "new_urls": 1,
    }
    assert [row["text"] for n in (1, 2) for row in table(parsed, "documents", n)] == [
        "one two",
        "four fi",
    ]
    links = [(row["src"], row["dst"]) for n in (1, 2) for row in table(parsed, "links", n)]
    assert links == [
        (HOME, HOME + "a"),
        (HOME, PICTURE),
        (HOME + "a", HOME + "b"),
        (HOME + "a", PICTURE),
    ]
    for name in ("documents", "links"):
        assert [layer.round for layer in parsed.store.manifest.layers(name)] == [1, 2]
        assert before.isdisjoint(parsed.paths(name))
        assert {row["round"] for row in table(parsed, name, 2)} == {2}


def test_rules_for_sites_hold_for_what_is_parsed_again(parsed: Workspace) -> None:
    rule = '[[rule]]\nname = "r"\nurl = "https://example.org/*"\ntitle = "a"\ndate = "time"'
    Path(parsed.root, "rules.toml").write_text(rule)
    reset(parsed, parse={"site_rules": "rules.toml"})
    assert rounds.reparse(parsed).counts["unmatched_r_date"] == 2
    assert [row["title"] for n in (1, 2) for row in table(parsed, "documents", n)] == ["A", "B"]


def test_nothing_changes_where_nothing_is_parsed_otherwise(parsed: Workspace) -> None:
    names = ("documents", "links")
    was = [table(parsed, name, n) for name in names for n in (1, 2)], pages(parsed)
    assert rounds.reparse(parsed).counts["new_urls"] == 0
    assert ([table(parsed, name, n) for name in names for n in (1, 2)], pages(parsed)) == was


def test_what_is_found_now_becomes_known_and_what_is_known_stays(parsed: Workspace) -> None:
    was = pages(parsed)
    reset(parsed, parse={"media": True})
    rounds.reparse(parsed)
    found = pages(parsed)
    new = found.pop(PICTURE)
    assert found == was
    assert (new["status"], new["source"], new["host"]) == ("unfetched", "link", "example.org")
    assert (new["depth"], new["found_ms"], new["next_fetch_ms"]) == (1, parsed.now_ms(), 0)


def test_a_page_that_becomes_known_has_the_votes_of_all_rounds(work: Workspace) -> None:
    deny = {"deny": ("/new$",)}
    reset(work, filter=deny)
    link = b"<p>x<a href=/new>n</a>"
    again, other = Fetched(HOME, link, fetches=1), Fetched(HOME + "b", link, depth=1)
    for number, found in enumerate(([Fetched(HOME, link)], [again, other]), 1):
        store_round(work, found, round_=number)
        parse.run(work)
        assert table(work, "links", number) == []
        skip_update(work)
    reset(work, filter={"deny": ()})
    rounds.reparse(work)
    assert pages(work)[HOME + "new"]["inlinks"] == 2
    assert rounds.reparse(work).counts["new_urls"] == 0
    assert pages(work)[HOME + "new"]["inlinks"] == 2


def test_growth_is_bounded_as_in_a_round(work: Workspace) -> None:
    reset(work, filter={"deny": ("/list",)}, update={"new_urls_per_domain": 3})
    links = b"".join(b"<a href=/list/%d>%d</a>" % (n, n) for n in range(35))
    store_round(work, [Fetched(HOME, b"<p>x<a href=/a>a</a>" + links)])
    end_round(work)
    reset(work, filter={"deny": ()})
    counts = rounds.reparse(work).counts
    assert (counts["new_urls"], counts["dropped_domain_growth"]) == (30, 5)
    assert len(pages(work)) == 32


def test_where_all_links_are_dropped_now_none_are_left(parsed: Workspace) -> None:
    was = pages(parsed)
    reset(parsed, filter={"deny": (".",)})
    assert rounds.reparse(parsed).counts["dropped_deny"] == 2
    assert parsed.store.manifest.layers("links") == ()
    assert pages(parsed) == was


def test_a_round_of_redirects_that_were_all_dropped_is_parsed_again(work: Workspace) -> None:
    reset(work, filter={"deny": ("/new",)})
    store_round(work, [Fetched(HOME, outcome="redirect", redirect_url=HOME + "new")])
    parse.run(work)
    skip_update(work)
    assert work.store.manifest.layers("links") == ()
    reset(work, filter={"deny": ()})
    assert rounds.reparse(work).counts == {"links": 1, "new_urls": 1}
    assert pages(work)[HOME + "new"]["source"] == "redirect"


def test_a_round_is_at_its_end_first(work: Workspace) -> None:
    store_round(work, FIRST)
    with pytest.raises(UsageError, match=r"round 1 is not finished\n.*gossamer parse"):
        rounds.reparse(work)
    parse.run(work)
    with pytest.raises(UsageError, match=r"round 1 is not finished\n.*gossamer update"):
        rounds.reparse(work)
    skip_update(work)
    assert rounds.reparse(work).counts["documents"] == 1


def test_a_round_that_is_only_planned_goes_on_afterwards(parsed: Workspace) -> None:
    with parsed.step("generate", 3):
        put(parsed, "fetchlist", [{"url": HOME, "round": 3}], round_=3)
    with parsed.step("generate", 3):
        pass
    left = rounds.pending(parsed.store.manifest)
    assert left == ["fetch", "parse", "update"]
    assert rounds.reparse(parsed).round == 3
    assert rounds.pending(parsed.store.manifest) == left


def test_a_round_that_was_never_parsed_is_left_alone(parsed: Workspace) -> None:
    store_round(parsed, [Fetched(HOME + "c", b"<p>given up")], round_=3)
    with parsed.step("generate", 4):
        pass
    assert rounds.reparse(parsed).counts["documents"] == 2
    assert table(parsed, "documents", 3) == []


def test_a_crawl_in_which_nothing_is_parsed(work: Workspace) -> None:
    with pytest.raises(UsageError, match="nothing is parsed yet"):
        rounds.reparse(work)


def test_a_lost_warc_file_leaves_all_as_it_was(parsed: Workspace) -> None:
    lost = archive_of(parsed, 2)
    Path(lost).unlink()
    before = parsed.store.manifest
    with pytest.raises(MissingFile, match=lost):
        rounds.reparse(parsed)
    assert parsed.store.refresh() == before


def damage(path: str) -> None:
    """All bytes are others, as many as before."""
    Path(path).write_bytes(bytes(Path(path).stat().st_size))


def test_what_cannot_be_read_again_stays_as_it_was_and_is_counted(parsed: Workspace) -> None:
    was = [table(parsed, name, 2) for name in ("documents", "links")]
    known = pages(parsed)
    damage(archive_of(parsed, 2))
    reset(parsed, parse={"max_text_chars": 7})
    counts = rounds.reparse(parsed).counts
    assert (counts["unreadable"], counts["documents"], counts["new_urls"]) == (1, 1, 0)
    assert [table(parsed, name, 2) for name in ("documents", "links")] == was
    assert [row["text"] for row in table(parsed, "documents", 1)] == ["one two"]
    assert pages(parsed) == known
    assert rounds.reparse(parsed).counts["unreadable"] == 1
    assert [table(parsed, name, 2) for name in ("documents", "links")] == was


def test_a_robots_file_that_cannot_be_read_again_is_listed_once(work: Workspace) -> None:
    robots = Fetched(HOME + "robots.txt", b"Sitemap: /s.xml", content_type="text/plain")
    store_round(work, [*FIRST, robots])
    parse.run(work)
    skip_update(work)
    was = [table(work, name) for name in ("documents", "links")]
    damage(archive_of(work))
    assert rounds.reparse(work).counts["unreadable"] == 2
    assert [table(work, name) for name in ("documents", "links")] == was


def test_a_damaged_archive_ends_reparse_with_an_error(parsed: Workspace, engine: Engine) -> None:
    damage(archive_of(parsed, 2))
    with lent(engine):
        said = gossamer("reparse", parsed.root, code=1)
    assert "1 unreadable" in said.stdout
    assert "1 stored pages could not be read: their records in warc/ are damaged" in said.stderr
    assert f"gossamer check {parsed.root} names the files" in said.stderr
    assert archive_of(parsed, 2) in gossamer("check", parsed.root, code=1).stderr


def test_what_was_refused_is_not_counted_twice(work: Workspace) -> None:
    reset(work, filter={"deny": ("/a$",)})
    for number, found in ((1, FIRST), (2, SECOND)):
        store_round(work, found, round_=number)
        parse.run(work)
        skip_update(work)
    assert overview(work)["refused"] == {"deny": 1}
    rounds.reparse(work)
    assert overview(work)["refused"] == {"deny": 1}
    store_round(work, [Fetched(HOME + "z", b"<p>z<a href=/a>A</a>")], round_=3)
    parse.run(work)
    skip_update(work)
    assert overview(work)["refused"] == {"deny": 2}


def test_each_round_is_announced(parsed: Workspace) -> None:
    told: list[tuple[str, int]] = []
    rounds.reparse(parsed, lambda step, number: told.append((step, number)))
    assert told == [("parse", 1), ("parse", 2), ("update", 2)]


BLIND = """
parse.max_links = 2
parse.max_text_chars = 30
"""


@pytest.mark.slow
def test_a_crawl_that_saw_little_becomes_one_that_saw_all(engine: Engine, tmp_path: Path) -> None:
    """Settings are changed, all is parsed again, and what that finds is fetched."""
    with FakeWeb(Web(hosts=1, pages_per_host=8, mix=Mix.plain())) as fake:
        seeing = loopback_settings(fake.address)
        all_along = Crawl.create(str(tmp_path / "all along"), seeing, engine)
        blind = Crawl.create(str(tmp_path / "blind"), seeing + BLIND, engine)
        for crawl in (all_along, blind):
            crawl.inject(fake.web.seeds())
            crawl.run()
        words = words_within(all_along)
        assert all_along.search(words).total > 0
        assert blind.search(words).total == 0
        assert fetched(blind) < fetched(all_along)

        (tmp_path / "blind" / "gossamer.toml").write_text(seeing)
        with lent(engine):
            said = gossamer("reparse", blind.path, "--json")
        done = msgspec.json.decode(said.stdout, type=StepReport)
        sighted = Crawl.open(blind.path, engine)
        assert done.counts["new_urls"] > 0
        sighted.run()
    assert fetched(sighted) == fetched(all_along)
    assert texts(sighted) == texts(all_along)
    expected, found = all_along.search(words), sighted.search(words)
    assert {hit.url for hit in found.hits} == {hit.url for hit in expected.hits}


def words_within(crawl: Crawl) -> str:
    """A phrase from the middle of a page's text."""
    longest = max((row["text"] for row in crawl.dataset("documents").collect()), key=len)
    words = re.findall(r"\w+", longest)
    return f'"{" ".join(words[len(words) // 2 :][:4])}"'


def fetched(crawl: Crawl) -> set[str]:
    return {row["url"] for row in crawl.pages().where("status = 'fetched'").collect()}


def texts(crawl: Crawl) -> dict[str, str]:
    return {row["url"]: row["text"] for row in crawl.dataset("documents").collect()}
