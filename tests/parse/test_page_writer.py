"""The rows that a parse task writes of the pages, redirects and sitemaps that it is given."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gossamer.config import Config, FetchConfig, FilterConfig
from gossamer.parse.parsed_page import Link, ParsedPage, Rules
from gossamer.parse.reading.directives import Wishes
from gossamer.parse.step import page_writer
from gossamer.parse.step.job import Job
from gossamer.parse.step.page_writer import PageWriter
from gossamer.parse.step.sitemap_discovery import Announced
from gossamer.parse.step.stored_responses import Redirect, ResponseRow
from gossamer.rules.filter_rules.filter_recipe import FilterRecipe
from gossamer.rules.filters import filters_of
from gossamer.rules.url_rules import forms
from gossamer.rules.url_rules.rewriting import ActiveRule
from gossamer.storage import parquet

if TYPE_CHECKING:
    from pathlib import Path

URL = "https://a.test/"
FETCH = FetchConfig()
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
NOON_MS = 1_795_262_400_000
ANSWER = ResponseRow(3, URL, "a.test", 2, 0, 9, "Text/HTML; x=y", 99, None, "digest", "warc", 0)


class Writer(PageWriter):
    """A writer that returns what it wrote."""

    def __init__(
        self, root: Path, fetch: FetchConfig = FETCH, url_rules: tuple[str, ...] = ()
    ) -> None:
        recipe = FilterRecipe(FilterConfig(scope="any"), (), 2026, None)
        attempts = ("documents/1", "links/1", "unparsed/1", "scratch/1")
        job = Job(str(root), 3, Config(fetch=fetch), Rules(), recipe, 0, attempts)
        job = replace(job, url_rules=url_rules, rewritten="rewritten/1")
        super().__init__(job, filters_of(recipe))
        self._folder = root

    def written(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, int]]:
        """Documents, links and counts."""
        rows: dict[str, list[dict[str, Any]]] = {"documents": [], "links": []}
        made = self.close()
        for row in made:
            if row["path"] and row["name"] in rows:
                rows[str(row["name"])] += parquet.read_table(
                    f"{self._folder}/{row['path']}"
                ).to_pylist()
        counts = {str(row["name"]): int(row["rows"] or 0) for row in made if not row["path"]}
        return rows["documents"], rows["links"], counts


@pytest.fixture
def writer(tmp_path: Path) -> Writer:
    return Writer(tmp_path)


def page(*links: Link, **columns: Any) -> ParsedPage:
    return ParsedPage(outcome="parsed", links=links, **columns)


def rows(found: list[dict[str, Any]], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in found]


def test_a_page_becomes_a_document_and_a_link_for_each_that_passes_the_filters(
    writer: Writer,
) -> None:
    links = (
        Link("https://b.test/", "to b", "a", dated=NOON, spelling="https://b.test/."),
        Link("https://b.test/x.zip", "a file", "a"),
        Link("https://c.test/", "", "img", nofollow=True),
    )
    writer.add(ANSWER, page(*links, text="one\ntwo\none", main_text="two", refused={"scheme": 2}))
    (document,), found, counts = writer.written()
    texts = [document[name] for name in ("text", "main_text", "boilerplate")]
    assert texts == ["one\ntwo\none", "two", "one"]
    assert rows(found, "round", "src", "depth", "hops", "first") == [(3, URL, 3, 0, True)] * 2
    assert rows(found, "dst", "anchor", "relation", "nofollow", "dated_ms", "spelling") == [
        ("https://b.test/", "to b", "a", False, NOON_MS, "https://b.test/."),
        ("https://c.test/", "", "img", True, None, None),
    ]
    assert document["links"] == 2
    assert counts == {"documents": 1, "links": 2, "dropped_scheme": 2, "dropped_extension": 1}


def test_a_document_says_what_the_page_asks_and_when(writer: Writer) -> None:
    asked = Wishes(noindex=True, nosnippet=True, unavailable_after=NOON)
    writer.add(
        ANSWER._replace(fetches=1),
        page(
            Link("https://b.test/", "", "a"),
            published=NOON,
            robots=asked,
            alternates=(("de", "https://a.test/de"),),
        ),
    )
    (document,), found, _ = writer.written()
    names = ("noindex", "nofollow", "noarchive", "nosnippet", "unavailable_after_ms")
    assert [document[name] for name in names] == [True, False, False, True, NOON_MS]
    assert (document["published_ms"], document["modified_ms"]) == (NOON_MS, None)
    assert document["alternates"] == [{"language": "de", "url": "https://a.test/de"}]
    assert [document[name] for name in ("round", "url", "host", "digest", "fetched_ms")] == [
        *(3, URL, "a.test", "digest", 9),
    ]
    assert rows(found, "first", "dated_ms") == [(False, None)]


@pytest.mark.parametrize(
    ("parsed", "header", "kind"),
    [
        ("text/plain", "text/html", "text/plain"),
        (None, "Text/HTML; x=y", "text/html"),
        (None, None, None),
    ],
)
def test_the_type_is_the_one_that_was_found_or_else_the_server_s(
    writer: Writer, parsed: str | None, header: str | None, kind: str | None
) -> None:
    writer.add(ANSWER._replace(content_type=header), page(content_type=parsed))
    assert writer.written()[0][0]["content_type"] == kind


@pytest.mark.parametrize("by_fetch", [True, False])
@pytest.mark.parametrize("by_parse", [True, False])
def test_pages_of_which_text_is_missing_are_counted(
    writer: Writer, by_fetch: bool, by_parse: bool
) -> None:
    answer = ANSWER._replace(truncated=by_fetch or None)
    writer.add(answer, page(truncated=by_parse, unmatched=("news.title", "news.date")))
    (document,), links, counts = writer.written()
    missing = by_fetch or by_parse
    assert (document["truncated"], links) == (missing, [])
    assert counts == {
        "documents": 1,
        "links": 0,
        "unmatched_news_title": 1,
        "unmatched_news_date": 1,
        **({"truncated": 1} if missing else {}),
    }


def test_a_robots_txt_that_was_fetched_as_a_page_has_no_links(writer: Writer) -> None:
    link = Link("https://b.test/", "", "a")
    writer.add(ANSWER._replace(url=f"{URL}robots.txt"), page(link))
    writer.add(ANSWER._replace(url=f"{URL}x/robots.txt"), page(link))
    assert rows(writer.written()[1], "src") == [(f"{URL}x/robots.txt",)]


def test_a_redirect_is_a_link_to_a_page_of_the_same_depth(writer: Writer) -> None:
    moved = Redirect(3, URL, "https://b.test/", "https://b.test/.", 2, 4, 0)
    writer.add_redirect(moved)
    writer.add_redirect(moved._replace(url=f"{URL}again", fetches=1))
    writer.add_redirect(moved._replace(url=f"{URL}robots.txt"))
    documents, links, counts = writer.written()
    names = ("src", "dst", "relation", "depth", "hops", "first", "spelling")
    assert rows(links, *names) == [
        (URL, "https://b.test/", "redirect", 2, 5, True, "https://b.test/."),
        (f"{URL}again", "https://b.test/", "redirect", 2, 5, False, "https://b.test/."),
    ]
    assert (documents, counts) == ([], {"links": 2})


@pytest.mark.parametrize(("round_", "written"), [(None, 3), (1, 1)])
def test_sitemaps_are_links_of_the_round_that_fetched_their_robots_txt(
    writer: Writer, round_: int | None, written: int
) -> None:
    links = (Link("https://a.test/map.xml", "", "sitemap"),)
    refused = Counter({"scheme": 1})
    writer.add_announced(Announced(f"{URL}robots.txt", 0, links, refused, round_))
    _, found, counts = writer.written()
    assert rows(found, "round", "src", "depth", "first") == [
        (written, f"{URL}robots.txt", 1, False),
    ]
    assert counts == {"links": 1, "dropped_scheme": 1}


def test_sitemaps_wait_no_longer_than_pages(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_writer, "FLUSH_CHARS", 30)
    for number, waiting in ((1, 20), (2, 0)):
        links = (Link(f"https://a.test/{number}.xml", "", "sitemap"),)
        writer.add_announced(Announced(f"{URL}robots.txt", 0, links, Counter(), None))
        assert writer._waiting_chars == waiting


def test_nobody_announces_pages_of_others(writer: Writer) -> None:
    targets = ("https://www.a.test/", "https://b.test/", "https://a.test/x")
    links = [Link(url, "", "link", announced=url != URL + "x") for url in targets]
    writer.add(ANSWER, page(*links))
    assert rows(writer.written()[1], "dst", "announced") == [
        (targets[0], True),
        (targets[1], False),
        (targets[2], False),
    ]


def test_links_are_rewritten_by_rules(tmp_path: Path) -> None:
    rule = ActiveRule("r", "b.test", forms.WHOLE_HOST, forms.PARAMETER, "s", "", 30)
    pq.write_table(pa.Table.from_pylist([rule._asdict()]), tmp_path / "rules")
    links = (Link("https://b.test/?s=1", "", "a"), Link("https://c.test/?s=1", "", "a"))
    for rules, target in (
        ((), "https://b.test/?s=1"),
        ((str(tmp_path / "rules"),), "https://b.test/"),
    ):
        writer = Writer(tmp_path, url_rules=rules)
        writer.add(ANSWER, page(*links))
        assert rows(writer.written()[1], "dst") == [(target,), ("https://c.test/?s=1",)]


def test_rows_are_written_when_there_are_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Text counts twice, main text and the targets of links once."""
    monkeypatch.setattr(page_writer, "FLUSH_CHARS", 100)
    monkeypatch.setattr(page_writer, "FLUSH_PAGES", 3)
    link = Link("https://b.test/1", "", "a")
    for given, waiting in (
        ([page(text="x" * 49)] * 2, 0),
        ([page(text="x" * 49)], 1),
        ([page(text="x" * 50)], 0),
        ([page(text="x" * 30, main_text="x" * 39)], 1),
        ([page(text="x" * 30, main_text="x" * 40)], 0),
        ([page(link, text="x" * 41)], 1),
        ([page(link, text="x" * 42)], 0),
        ([page()] * 2, 2),
        ([page()] * 3, 0),
    ):
        writer = Writer(tmp_path)
        for each in given:
            writer.add(ANSWER, each)
        assert len(writer._document_rows) == waiting
        documents, links, _ = writer.written()
        assert (len(documents), len(links)) == (len(given), sum(len(each.links) for each in given))


def test_what_publishers_of_own_hosts_wish_is_kept_and_has_no_effect(tmp_path: Path) -> None:
    said = ("page robots: noai", "robots.txt Content-Signal: search=yes")
    pages = {"a.test": None, "own.test": None, "b.test": "10.0.0.7", "c.test": "192.0.2.7"}
    writer = Writer(tmp_path, FetchConfig(own_hosts=("own.test", "10.0.0.0/8")))
    for host, address in pages.items():
        answer = ANSWER._replace(url=f"https://{host}/", host=host)
        writer.add(answer, page(statements=said), address)
    documents, _, _ = writer.written()
    kept = {row["host"]: row["wishes"] for row in documents}
    forbidden = "search=yes ai-input=no ai-train=no"
    assert kept == {"a.test": forbidden, "own.test": None, "b.test": None, "c.test": forbidden}
    assert {row["wishes_said"] for row in documents} == {"\n".join(said)}
