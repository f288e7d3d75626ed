"""Sitemaps that no page links to, from a robots.txt to the pages that they list."""

from __future__ import annotations

import shutil
from dataclasses import replace
from mimetypes import guess_type
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pytest
from msgspec import structs

from gossamer import Crawl, parse
from gossamer.parse.step.sitemap_discovery import Announced, is_robots, read_robots_sitemaps
from gossamer.storage.task_output import ParquetWriter, layers_of
from gossamer.tables import HOSTS
from gossamer.web.urls import UrlRules
from tests.support.crawl_settings import loopback_settings
from tests.support.fetched_parts import known_host, robots_file, write_rows
from tests.support.listed_web import WELLKNOWN, listed_site, unlisted_site
from tests.support.loopback import loopback, page
from tests.support.stored_rounds import HOME, Fetched, store_round, table, with_filter

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from gossamer.engine.engine import Engine
    from gossamer.state.workspace import Workspace
    from tests.support.fetched_parts import Row

A = "https://a.test"
NOW_MS = 1 << 50
"""Later than any fetch."""
SITEMAP = b"Sitemap: https://a.test/s.xml"
SETTINGS = f"""
filter.scope = "host"
parse.wellknown_paths = ["{WELLKNOWN}", "/feed"]
"""


def found_in(folder: Path, rows: Sequence[Row], wellknown: Sequence[str] = ()) -> list[Announced]:
    path = write_rows(folder / "hosts.parquet", HOSTS.schema, rows)
    return list(read_robots_sitemaps([path], 1_000, wellknown, UrlRules()))


def targets(found: Sequence[Announced]) -> list[tuple[str, list[str]]]:
    return [(each.src, [link.dst for link in each.links]) for each in found]


def test_sitemaps_of_a_robots_txt(tmp_path: Path) -> None:
    body = b"Sitemap: /1.xml\nSitemap: http://a.test/2.xml#x\nSitemap: ftp://a.test/3\n" + SITEMAP
    robots = [robots_file(A, body), robots_file("http://a.test", b"Sitemap: /1.xml")]
    secure, plain = found_in(tmp_path, [known_host("a.test", depth=2, robots=robots)])
    dsts = [f"{A}/1.xml", "http://a.test/2.xml", f"{A}/s.xml"]
    assert [(link.dst, link.relation) for link in secure.links] == [(d, "sitemap") for d in dsts]
    assert (secure.src, secure.depth, secure.refused) == (f"{A}/robots.txt", 2, {"scheme": 1})
    assert targets([plain]) == [("http://a.test/robots.txt", ["http://a.test/1.xml"])]


def test_what_was_read_in_an_earlier_round_is_passed_over(tmp_path: Path) -> None:
    hosts = [
        known_host("a.test", robots=[robots_file(A, SITEMAP, 999), robots_file(A + ":8", SITEMAP)]),
        known_host("none.test"),
        known_host("old.test", robots=[robots_file("https://old.test", b"", 0)]),
        known_host("b.test", robots=[robots_file("https://b.test", SITEMAP)]),
    ]
    assert targets(found_in(tmp_path, hosts, ["/s"])) == [
        ("https://a.test:8/robots.txt", ["https://a.test/s.xml"]),
        ("https://b.test/robots.txt", ["https://a.test/s.xml"]),
    ]


@pytest.mark.parametrize(
    ("file", "dsts"),
    [
        (robots_file(A, b"", status=404), ["/s.xml", "/feed"]),
        (robots_file(A, b"Disallow: /x"), ["/s.xml", "/feed"]),
        (robots_file(A, b"Sitemap: none"), ["/s.xml", "/feed"]),
        (robots_file(A, b"Sitemap: /mine"), ["/mine"]),
        (robots_file(A, b"Sitemap: /mine", status=403), ["/s.xml", "/feed"]),
        (robots_file(A, b"Sitemap: /mine", status=503), []),
    ],
)
def test_wellknown_paths_stand_for_sitemaps_that_are_not_named(
    tmp_path: Path, file: Row, dsts: Sequence[str]
) -> None:
    found = found_in(tmp_path, [known_host("a.test", robots=[file])], ["/s.xml", "/feed"])
    assert targets(found) == ([(f"{A}/robots.txt", [A + dst for dst in dsts])] if dsts else [])
    assert all(each.depth == 0 for each in found), "of a host whose depth nobody knows"


@pytest.mark.parametrize(
    ("url", "is_it"),
    [
        ("https://a.test/robots.txt", True),
        ("https://a.test:8/robots.txt", True),
        ("https://a.test/robots.txt?x", False),
        ("https://a.test/x/robots.txt", False),
        ("https://a.test/", False),
    ],
)
def test_which_urls_are_robots_txt(url: str, is_it: bool) -> None:
    assert is_robots(url) == is_it


def store_hosts(work: Workspace, round_: int, *shares: Sequence[Row]) -> None:
    """Commit a layer of hosts with one file per share."""
    files = []
    for rows in shares:
        hosts = ParquetWriter(work.root, "hosts", work.store.attempt("hosts"))
        hosts.write(pa.Table.from_pylist(list(rows), schema=HOSTS.schema))
        files += hosts.close()
    with work.step("test", round_) as draft:
        draft.append = layers_of(files, round_)


def test_a_round_s_robots_txt_become_links(work: Workspace) -> None:
    parsing = structs.replace(work.config.parse, wellknown_paths=("/sitemap.xml",))
    work = replace(work, config=structs.replace(work.config, parse=parsing))
    bodies = {
        "old.example.org": b"Sitemap: /old.xml",
        "example.org": b"Sitemap: /s.xml.gz\nSitemap: /s.zip\nSitemap: //cdn.test/s\nSitemap: x://y",
        "b.example.org": b"",
    }
    old, named, unnamed = (
        known_host(host, depth=3, robots=[robots_file(f"https://{host}", body, NOW_MS)])
        for host, body in bodies.items()
    )
    store_hosts(work, 0, [old])
    store_round(work, [Fetched(HOME, b"<a href=/x>x</a>")])
    store_hosts(work, 1, [named], [unnamed])
    counts = parse.run(work).counts
    dropped = {name: n for name, n in counts.items() if name.startswith("dropped_")}
    assert dropped == {"dropped_scope": 1, "dropped_extension": 1, "dropped_scheme": 1}
    assert counts["links"] == 3
    rows = {row["src"]: row for row in table(work, "links")}
    assert rows.keys() == {HOME, HOME + "robots.txt", "https://b.example.org/robots.txt"}
    assert rows["https://b.example.org/robots.txt"]["dst"] == "https://b.example.org/sitemap.xml"
    assert rows[HOME + "robots.txt"] == {
        "round": 1,
        "src": HOME + "robots.txt",
        "dst": HOME + "s.xml.gz",
        "anchor": "",
        "relation": "sitemap",
        "nofollow": False,
        "dated_ms": None,
        "depth": 4,
        "hops": 0,
        "first": False,
        "spelling": None,
        "announced": True,
    }


def test_a_robots_txt_that_is_a_page_leads_nowhere_as_a_page(work: Workspace) -> None:
    work = with_filter(work, structs.replace(work.config.filter, scope="any"))
    body = b"<a href=/s>s</a> <pre>\nSitemap: /s\n"
    moved = Fetched("https://b.test/robots.txt", outcome="redirect", redirect_url=HOME + "s")
    store_round(work, [Fetched(HOME + "robots.txt", body), moved])
    read = [robots_file(HOME[:-1], body, NOW_MS)]
    other = [robots_file("https://b.test", b"Sitemap: %ss" % HOME.encode(), NOW_MS)]
    hosts = [known_host("example.org", robots=read), known_host("b.test", robots=other)]
    store_hosts(work, 1, hosts)
    parse.run(work)
    assert [(row["src"], row["dst"], row["relation"]) for row in table(work, "links")] == [
        ("https://b.test/robots.txt", HOME + "s", "sitemap"),
        (HOME + "robots.txt", HOME + "s", "sitemap"),
    ]


def test_rounds_without_new_robots_txt(work: Workspace) -> None:
    """robots.txt files are new if they were fetched after the start in fetch's report."""
    store_round(work, [Fetched(HOME)])
    store_hosts(work, 1, [known_host("a.test", robots=[robots_file(A, SITEMAP)])])
    assert parse.run(work).counts == {"documents": 1, "empty": 1, "links": 0}


BARE = {"/maps/bare.php": b"a.test/bare.html\n", "/bare.html": b"<title>Bare</title><p>Unlinked."}
"""A sitemap that is one only because it was announced, and the page that it lists."""


class Crawled(NamedTuple):
    crawl: Crawl
    asked: list[str]
    """Paths, in the order in which the server was asked for them."""


@pytest.fixture(scope="module")
def crawled(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    """Five rounds of two sites. Tests that change it copy it."""
    folder = str(tmp_path_factory.mktemp("listed") / "crawl")
    with loopback() as server:
        for host, site in ("a.test", listed_site("http://a.test")), ("b.test", unlisted_site()):
            for path, body in site.items():
                kind, packed = guess_type(path)
                kind = "application/gzip" if packed else kind or "text/html"
                server.answers[host + path] = page(body, [f"Content-Type: {kind}"])
        robots = listed_site("http://a.test")["/robots.txt"] + b"\nSitemap: /maps"
        server.answers["a.test/robots.txt"] = page(robots)
        moved = b"HTTP/1.1 302 Found\r\nLocation: /maps/bare.php\r\nContent-Length: 0\r\n\r\n"
        server.answers["a.test/maps"] = moved
        for path, body in BARE.items():
            server.answers["a.test" + path] = page(body, ["Content-Type: text/html"])
        crawl = Crawl.create(folder, loopback_settings(server.address, SETTINGS), engine)
        crawl.inject(["http://a.test/", "http://b.test/"])
        crawl.run(rounds=5)
        return Crawled(crawl, server.paths)


def test_pages_that_no_page_links_to_are_found(crawled: Crawled) -> None:
    crawl, asked = crawled
    rounds = {
        row["url"]: (row["round"], row["depth"]) for row in crawl.dataset("responses").collect()
    }
    assert rounds == {
        "http://a.test/": (1, 0),
        "http://a.test/about.html": (2, 1),
        "http://a.test/index.xml": (2, 1),
        "http://a.test/feed.xml": (2, 1),
        "http://a.test/news.html": (3, 2),
        "http://a.test/maps": (2, 1),
        "http://a.test/maps/bare.php": (3, 1),
        "http://a.test/bare.html": (4, 2),
        "http://a.test/maps/1.xml.gz": (3, 2),
        "http://a.test/hidden.html": (4, 3),
        "http://b.test/": (1, 0),
        "http://b.test/sitemap.xml": (2, 1),
        "http://b.test/feed": (2, 1),
        "http://b.test/deep.html": (3, 2),
    }
    assert asked.count("/robots.txt") == 2
    assert [hit.url for hit in crawl.search("treasure").hits] == ["http://a.test/hidden.html"]
    assert not [hit for hit in crawl.search("News").hits if hit.url.endswith("xml")]


def test_how_they_were_found(crawled: Crawled) -> None:
    crawl = crawled.crawl
    links = {row["dst"]: row for row in crawl.links().collect()}
    assert {dst: (row["src"], row["relation"]) for dst, row in links.items()} == {
        "http://a.test/about.html": ("http://a.test/", "a"),
        "http://a.test/feed.xml": ("http://a.test/", "feed"),
        "http://a.test/index.xml": ("http://a.test/robots.txt", "sitemap"),
        "http://a.test/maps": ("http://a.test/robots.txt", "sitemap"),
        "http://a.test/maps/bare.php": ("http://a.test/maps", "redirect"),
        "http://a.test/bare.html": ("http://a.test/maps/bare.php", "entry"),
        "http://a.test/maps/1.xml.gz": ("http://a.test/index.xml", "sitemap"),
        "http://a.test/hidden.html": ("http://a.test/maps/1.xml.gz", "entry"),
        "http://a.test/news.html": ("http://a.test/feed.xml", "entry"),
        "http://b.test/sitemap.xml": ("http://b.test/robots.txt", "sitemap"),
        "http://b.test/feed": ("http://b.test/robots.txt", "sitemap"),
        "http://b.test/deep.html": ("http://b.test/sitemap.xml", "entry"),
    }
    assert links["http://a.test/hidden.html"]["dated_ms"] == 1_714_521_600_000
    inlinks = {row["url"]: row["inlinks"] for row in crawl.pages().collect()}
    linked = {"http://a.test/about.html", "http://a.test/maps/bare.php"}  # the latter by a redirect
    assert {url for url, n in inlinks.items() if n} == linked


def test_parsing_again_keeps_what_robots_txt_files_said(
    crawled: Crawled, engine: Engine, tmp_path: Path
) -> None:
    folder = shutil.copytree(crawled.crawl.path, tmp_path / "copy")
    crawl = Crawl.open(str(folder), engine)

    def links() -> list[dict[str, object]]:
        rows = crawl.dataset("links").collect()
        return sorted((row.asDict() for row in rows), key=lambda row: str(row["dst"]))

    before = links()
    assert crawl.reparse().counts["new_urls"] == 0
    assert links() == before
    filters = structs.replace(crawl.work.config.filter, deny=("/index.xml$",))
    crawl.work.config = structs.replace(crawl.work.config, filter=filters)
    assert crawl.reparse().counts["dropped_deny"] == 1
    assert links() == [row for row in before if row["dst"] != "http://a.test/index.xml"]
