from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from gossamer import parse
from gossamer.config import FilterConfig
from gossamer.errors import ConfigError, MissingFile, UsageError
from gossamer.parse import Rules
from gossamer.parse.step import page_writer
from gossamer.parse.step.job import Job, Share
from gossamer.parse.step.parse_task import parse_share
from gossamer.parse.step.stored_responses import Piece
from gossamer.rules.filter_rules import crawl_rules
from gossamer.rules.filter_rules.filter_recipe import FilterRecipe
from gossamer.state.heartbeats import heartbeats
from gossamer.status.overview import overview
from gossamer.web.sketches import hash_and_sketch
from tests.support.binary_files import docx
from tests.support.stored_rounds import HOME, Fetched, archive_of, store_round, table, with_filter

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace


def test_a_redirect_is_a_link_that_costs_no_depth_but_a_hop(work: Workspace) -> None:
    moved = [
        Fetched(HOME + "a", outcome="redirect", redirect_url=HOME + "b", depth=3, hops=1),
        Fetched(HOME + "nowhere", outcome="redirect"),
        Fetched(HOME + "in circles", outcome="redirect", redirect_url=HOME + "c", hops=10),
    ]
    store_round(work, moved)
    assert parse.run(work).counts == {"links": 1, "dropped_redirects": 1}
    (row,) = table(work, "links")
    assert (row["src"], row["dst"], row["relation"]) == (HOME + "a", HOME + "b", "redirect")
    assert (row["depth"], row["hops"]) == (3, 2)


def test_whose_announcements_of_feeds_and_sitemaps_are_believed(work: Workspace) -> None:
    """Those of the same registrable domain: nobody says what somebody else's page is."""
    work = with_filter(work, FilterConfig(scope="any"))
    feed = '<link rel=alternate type="application/%s" href=%s>'
    hrefs = "/1", "//example.org/2", "//www.example.org/3", "//example.com/4", "//e.github.io/5"
    body = "".join(feed % ("rss+xml; charset=utf-8", href) for href in hrefs)
    body += '<a href=/1>both</a><a href=/6>x</a><link rel="Sitemap" href=/7>'
    body += feed % ("atom+xml", "/8") + feed % ("feed+json", "/9") + feed % ("pdf", "/10")
    header = b'</11>; rel=alternate; type="application/rss+xml", </6>; rel=sitemap, </12>; rel=next'
    moved = [
        Fetched(HOME + "m", outcome="redirect", redirect_url=url, announced=announced)
        for url, announced in ((HOME + "13", True), ("https://example.com/14", True), (HOME, None))
    ]
    moved = [replace(each, url=f"{each.url}{n}") for n, each in enumerate(moved)]
    index = b"<sitemapindex><sitemap><loc>/15</loc></sitemap><sitemap><loc>//example.com/16</loc>"
    maps = Fetched(HOME + "maps", index, content_type="text/xml")
    store_round(work, [Fetched(HOME, body.encode(), headers=((b"Link", header),)), *moved, maps])
    parse.run(work)
    rows = table(work, "links")
    believed = {row["dst"].rpartition("/")[2] for row in rows if row["announced"]}
    assert believed == {"1", "2", "3", "6", "7", "8", "9", "11", "13", "15"}
    others = {row["dst"].rpartition("/")[2] for row in rows} - believed
    assert others == {"4", "5", "12", "14", "", "16"}


def test_links_keep_what_robots_txt_may_tell_from_their_targets(work: Workspace) -> None:
    hrefs = "/a?sid=%s", "/b?utm_source=x", "/b", "/c?x=1&sort=y", "/d?PHPSESSID=1", "/d?gclid=2"
    body = "".join(f"<a href={href}>x</a>" for href in hrefs) % ("0f" * 16)
    target, written = HOME + "t", HOME + "t;jsessionid=1"
    moved = Fetched(HOME + "m", outcome="redirect", redirect_url=target, redirect_spelling=written)
    store_round(work, [Fetched(HOME, body.encode()), moved])
    parse.run(work)
    assert {row["dst"].removeprefix(HOME): row["spelling"] for row in table(work, "links")} == {
        "a": HOME + "a?sid=" + "0f" * 16,
        "b": None,
        "c?x=1&sort=y": None,
        "d": HOME + "d?PHPSESSID=1",
        "t": written,
    }


def test_a_round_becomes_documents_and_links(work: Workspace) -> None:
    store_round(
        work,
        [
            Fetched(HOME, b"<title>Home</title><a href=/a>to A</a><a href=//b.example.org/>B</a>"),
            Fetched(HOME + "moved", outcome="redirect"),
            Fetched(HOME + "gone", outcome="not_found"),
        ],
        [
            Fetched(HOME + "a", b"<p>Page A<a rel=nofollow href=/>home", depth=1, fetches=3),
            Fetched(HOME + "paper", b"%PDF-1.7 \0\1", content_type="application/pdf"),
            Fetched(HOME + "blank", b" ", content_type="text/plain"),
        ],
    )
    report = parse.run(work)
    assert report.counts == {
        "documents": 4,
        "links": 3,
        "parsed": 2,
        "failed": 1,
        "empty": 1,
    }
    documents = {row["url"]: row for row in table(work, "documents")}
    assert list(documents) == [HOME, HOME + "a", HOME + "blank", HOME + "paper"]
    assert documents[HOME] == {
        "round": 1,
        "url": HOME,
        "host": "example.org",
        "outcome": "parsed",
        "detail": None,
        "fetched_ms": 1_700_000_000_000,
        "content_type": "text/html",
        "charset": "utf-8",
        "truncated": False,
        "title": "Home",
        "headline": None,
        "description": None,
        "headings": [],
        "text": "to AB",
        "main_text": "to AB",
        "boilerplate": "",
        "is_doubtful": True,
        "text_hash": hash_and_sketch("to AB", "Home")[0],
        "sketch": None,
        "language": None,
        "language_hint": None,
        "authors": [],
        "published_ms": None,
        "modified_ms": None,
        "image": None,
        "site_name": None,
        "page_type": None,
        "canonical": None,
        "alternates": [],
        "noindex": False,
        "nofollow": False,
        "noarchive": False,
        "nosnippet": False,
        "unavailable_after_ms": None,
        "links": 2,
        "body_bytes": 68,
        "digest": documents[HOME]["digest"],
        "wishes": None,
        "wishes_said": None,
    }
    assert documents[HOME + "paper"]["outcome"] == "failed"
    assert documents[HOME + "paper"]["content_type"] == "application/pdf"
    assert documents[HOME + "blank"]["outcome"] == "empty"
    keys = ("src", "dst", "anchor", "relation", "nofollow", "depth", "first")
    assert [tuple(row[key] for key in keys) for row in table(work, "links")] == [
        (HOME, "https://b.example.org/", "B", "a", False, 1, True),
        (HOME, HOME + "a", "to A", "a", False, 1, True),
        (HOME + "a", HOME, "home", "a", True, 2, False),
    ]


@pytest.mark.parametrize(
    ("text", "main", "row"),
    [
        ("menu\nmain\nmenu\n\nend", "main", ("main", "menu\nend")),
        ("main", "main", ("main", "")),
        ("blank\nblank", "", ("", "blank")),
        ("whole\nwhole", None, ("whole\nwhole", None)),
        (None, "by a rule", ("by a rule", "")),
        (None, None, (None, None)),
    ],
)
def test_the_lines_around_the_main_text_are_told_once(
    text: str | None, main: str | None, row: tuple[str | None, str | None]
) -> None:
    assert page_writer.main_and_boilerplate(text, main) == row


def test_all_text_of_a_long_page_is_kept_and_a_cut_one_is_marked_truncated(work: Workspace) -> None:
    long = b"<p>" + b"registering native routines " * 40_000 + b"the last word"
    fetched = [Fetched(HOME, long), Fetched(HOME + "cut", b"<p>cut", truncated=True)]
    store_round(work, fetched)
    assert parse.run(work).counts["truncated"] == 1
    whole, cut = table(work, "documents")
    assert (whole["truncated"], cut["truncated"]) == (False, True)
    assert len(whole["text"]) > 1_000_000
    assert whole["main_text"].endswith("the last word")
    assert overview(work)["truncated"] == 1


def test_what_the_filters_drop_is_counted_by_reason(work: Workspace) -> None:
    work = with_filter(work, FilterConfig(deny=("/private",), max_depth=3))
    links = b"<a href=/a.png>1</a><a href=/private>2</a><a href=https://elsewhere.com/>3</a>"
    store_round(
        work,
        [
            Fetched(HOME, links + b"<a href=/ok>4</a>"),
            Fetched(HOME + "deep", b"<a href=/deeper>5</a>", depth=3),
        ],
    )
    counts = parse.run(work).counts
    dropped = {name: n for name, n in counts.items() if name.startswith("dropped_")}
    assert dropped == {
        "dropped_scope": 1,
        "dropped_extension": 1,
        "dropped_deny": 1,
        "dropped_depth": 1,
    }
    assert [row["dst"] for row in table(work, "links")] == [HOME + "ok"]
    assert {row["url"]: row["links"] for row in table(work, "documents")} == {
        HOME: 1,
        HOME + "deep": 0,
    }


def test_references_that_are_no_urls_are_counted_by_reason(work: Workspace) -> None:
    mail = b"<a href=mailto:a@b.example>mail</a>"
    long_ = b"<a href=/%b>long</a>" % (b"a" * 3_000)
    pages = [Fetched(HOME, mail + long_), Fetched(HOME + "a", mail + b"<a href='http://['>x</a>")]
    store_round(work, pages)
    counts = parse.run(work).counts
    assert {name: n for name, n in counts.items() if name.startswith("dropped_")} == {
        "dropped_scheme": 2,
        "dropped_long_url": 1,
        "dropped_no_url": 1,
    }


def test_headers_come_from_warc(work: Workspace) -> None:
    headers = ((b"X-Robots-Tag", b"noindex"), (b"Content-Language", b"fr, en"))
    store_round(work, [Fetched(HOME, "<p>déjà".encode("latin-1"), "text/html", headers=headers)])
    parse.run(work)
    (document,) = table(work, "documents")
    assert document["noindex"]
    assert (document["language"], document["language_hint"]) == (None, "fr")


def test_headers_that_a_304_has_changed_replace_those_in_warc(work: Workspace) -> None:
    headers = ((b"X-Robots-Tag", b"noindex"), (b"Content-Language", b"fr"))
    tags = "x-robots-tag: other: none\nx-robots-tag: nosnippet"
    updated = f"content-type: text/html; charset=koi8-r\n{tags}"
    page = Fetched(HOME, b"<p>\xf0\xf2", headers=headers, updated=updated)
    store_round(work, [page])
    parse.run(work)
    (document,) = table(work, "documents")
    assert (document["charset"], document["text"]) == ("koi8-r", "ПР")
    assert (document["noindex"], document["nosnippet"]) == (False, True)
    assert document["language_hint"] == "fr"


@pytest.mark.folder
def test_a_damaged_record_costs_the_pages_it_holds(work: Workspace) -> None:
    pages = [Fetched(f"{HOME}{n}", b"<p>page %d" % n * 50) for n in range(5)]
    store_round(work, pages)
    path = archive_of(work)
    offsets = pq.read_table(work.paths("responses", 1)[0])["warc_offset"].to_pylist()
    with Path(path).open("r+b") as file:
        file.seek(offsets[2] + 30)
        file.write(b"\xff" * 40)
    report = parse.run(work)
    outcomes = {row["url"]: row["outcome"] for row in table(work, "documents")}
    assert outcomes == {
        HOME + "0": "parsed",
        HOME + "1": "parsed",
        HOME + "2": "failed",
        HOME + "3": "parsed",
        HOME + "4": "parsed",
    }
    assert report.counts["failed"] == 1


def test_what_cannot_be_parsed_is_a_row_with_its_reason(work: Workspace) -> None:
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
    expected = {
        "application/pdf": (b"%PDF-1.7 \0", "failed", "not a PDF"),
        "application/json": (b'{"a": ', "failed", "not JSON"),
        "application/msword": (ole, "unsupported", "OLE"),
        "application/zip": (docx("<w:p>")[:-30], "failed", "not a zip file"),
        "text/xml": (b"<a><b></a>", "failed", "not XML"),
        "video/mp4": (b"\0", "unsupported", "video/mp4"),
    }
    pages = [Fetched(HOME + mime, body, mime) for mime, (body, _, _) in expected.items()]
    store_round(work, [*pages, Fetched(HOME + "z", b"<p>after them")])
    counts = parse.run(work).counts
    assert (counts["failed"], counts["unsupported"], counts["parsed"]) == (4, 2, 1)
    documents = {row["url"]: row for row in table(work, "documents")}
    for mime, (body, outcome, detail) in expected.items():
        row = documents[HOME + mime]
        assert (row["outcome"], row["body_bytes"]) == (outcome, len(body))
        assert row["detail"].startswith(detail)


@pytest.mark.folder
def test_a_lost_warc_file_is_an_error_that_names_it(work: Workspace) -> None:
    store_round(work, [Fetched(HOME, b"<p>x")])
    path = archive_of(work)
    before = work.store.manifest
    Path(path).unlink()
    with pytest.raises(MissingFile, match=path):
        parse.run(work)
    assert work.store.manifest == before


def test_a_round_without_responses_and_a_round_that_is_parsed(work: Workspace) -> None:
    with pytest.raises(UsageError, match="gossamer fetch"):
        parse.run(work)
    store_round(work, [Fetched(HOME, b"<p>x")])
    parse.run(work)
    with pytest.raises(UsageError, match="gossamer update"):
        parse.run(work)


def test_a_round_in_which_every_page_failed(work: Workspace) -> None:
    store_round(work, [Fetched(HOME, outcome="timeout")])
    assert parse.run(work).counts == {}
    assert work.store.manifest.layers("documents") == ()


def test_a_bad_pattern_is_told_before_anything_runs(work: Workspace) -> None:
    work = with_filter(work, FilterConfig(deny=("(",)))
    store_round(work, [Fetched(HOME, b"<p>x")])
    with pytest.raises(ConfigError, match=r"filter\.deny"):
        parse.run(work)


def test_too_many_seed_hosts(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crawl_rules, "MAX_SEED_HOSTS", 2)
    store_round(work, [Fetched(HOME)], seeds=[f"https://{n}.org/" for n in "abc"])
    with pytest.raises(UsageError, match=r"filter\.scope"):
        parse.run(work)
    work = with_filter(work, FilterConfig(scope="any"))
    assert parse.run(work).counts["documents"] == 1


@pytest.mark.folder
def test_heartbeats_tell_of_every_page(work: Workspace) -> None:
    store_round(work, [Fetched(HOME, b"<p>x"), Fetched(HOME + "y", b"<p>y")])
    parse.run(work)
    (beat,) = heartbeats(work.root)
    assert (beat.step, beat.round, beat.done, beat.total) == ("parse", 1, 2, 2)
    assert beat.counts == {"parsed": 2}


def test_rows_are_written_in_batches(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_writer, "FLUSH_PAGES", 2)
    store_round(work, [Fetched(f"{HOME}{n}", b"<p>x<a href=/l>l") for n in range(5)])
    (file,) = work.store.files("responses", 1)
    job = Job(
        *(work.root, 1, work.config, Rules()),
        *(FilterRecipe(work.config.filter, ("example.org",), 2026, None), 0),
        ("documents/t", "links/t", "unparsed/t", "scratch/t"),
    )
    rows = parse_share(job, Share(0, (Piece(file.path, 0, 1, file.bytes),)))
    files = {row["name"]: row for row in rows if row["path"]}
    written = pq.ParquetFile(f"{work.root}/{files['documents']['path']}")
    assert written.metadata.num_row_groups == 3
    assert written.read().num_rows == files["documents"]["rows"] == 5
    assert files["links"]["rows"] == 5
