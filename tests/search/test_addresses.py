"""Addresses as people type them, against the URLs of pages in an index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tantivy import Query

from gossamer.index.format.schema import schema
from gossamer.search.addresses import MAX_PATH_CHARS, typed_address
from gossamer.search.searcher import Searcher
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from pathlib import Path

URLS = {
    "root": "http://quay.test/",
    "docs": "http://quay.test/docs",
    "start": "https://quay.test/docs/start.html",
    "query": "http://quay.test/docs?page=2",
    "www": "http://www.quay.test/docs/other.html",
    "port": "http://quay.test:8080/docs/port.html",
    "docs2": "http://quay.test/docs2/x.html",
    "upper": "http://quay.test/Docs/x.html",
    "inner": "http://quay.test/blog/docs/x.html",
    "street": "http://xn--bcher-kva.test/Stra%C3%9Fe/1",
    "tilde": "http://quay.test/~user/a+b/(c)/index.html",
    "other": "http://notquay.test/docs/x.html",
    "named": "http://other.test/quay.test/docs/x.html",
    "file": "file:///usr/share/doc/a.html",
    "local": "http://localhost:81/usr/share/doc/b.html",
}
DOCS = "docs start query www port"
EVERY = "root docs start query www port docs2 upper inner tilde"


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    work = crawl(tmp_path_factory.mktemp("crawl"))
    pages: list[dict[str, Any]] = [
        {"url": url, "title": name, "text": "barnacle", "language": "en"}
        for name, url in URLS.items()
    ]
    put_index(work, pages)
    return Searcher.open(work)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("site:quay.test/docs", DOCS),
        ("barnacle site:quay.test/docs", DOCS),
        ("site:quay.test/docs/", DOCS),
        ("site:quay.test/docs/*", DOCS),
        ("site:https://quay.test/docs", DOCS),
        ("SITE:HTTP://Quay.TEST:80/docs/", DOCS),
        ("site:quay.test:443/docs", DOCS),
        ("site:*.quay.test/docs", DOCS),
        ("site:.quay.test/docs#part", DOCS),
        ("site:user@quay.test/x/../docs", DOCS),
        ("site:\u201cquay.test/docs\u201d", DOCS),
        ("site:quay.test/docs*", f"{DOCS} docs2"),
        ("site:quay.test/d", ""),
        ("site:quay.test/Docs", "upper"),
        ("site:quay.test/docs/start.html", "start"),
        ("site:quay.test/docs?page=2", "query"),
        ("site:quay.test:8080/docs", "port"),
        ("site:www.quay.test/docs", "www"),
        ("host:quay.test/docs", "docs start query"),
        ("url:quay.test/docs/*", "docs start query"),
        ("url:quay.test/doc*", "docs start query docs2"),
        ("site:bücher.test/straße", ""),
        ("site:bücher.test/Straße", "street"),
        ("site:BÜCHER.test/Stra%c3%9fe/", "street"),
        ("site:bücher.test", "street"),
        ("host:quay.test/%7Euser/a+b", "tilde"),
        ('site:"quay.test/~user/a+b/(c)"', "tilde"),
        ("site:file:///usr/share", "file local"),
        ("site:localhost/usr/share", "file local"),
        ("site:quay.test", EVERY),
        ("site:quay.test/", EVERY),
        ("barnacle site:quay.test -site:quay.test/docs", "root docs2 upper inner tilde"),
        ("barnacle site:quay.test -host:quay.test/docs", "root www port docs2 upper inner tilde"),
        ("site:quay.test/docs OR site:bücher.test/Straße", f"{DOCS} street"),
    ],
)
def test_the_pages_at_and_below_an_address(searcher: Searcher, query: str, names: str) -> None:
    found = searcher.search(query, limit=50)
    assert {hit.title for hit in found.hits if not hit.partial} == {*names.split()}
    assert found.whole == len(names.split())


def test_copies_count_for_a_site_without_a_path(tmp_path: Path) -> None:
    work = crawl(tmp_path)
    page = {"url": "http://a.test/docs/x", "text": "barnacle", "copy_hosts": ["b.test"]}
    put_index(work, [page, {"url": "http://b.test/docs/y", "text": "barnacle"}])
    searcher = Searcher.open(work)
    assert searcher.search("barnacle site:b.test").whole == 2
    assert [hit.url for hit in searcher.search("barnacle site:b.test/docs").hits] == [
        "http://b.test/docs/y"
    ]
    assert searcher.search("barnacle -site:b.test/docs").hits[0].url == page["url"]


@given(st.text(max_size=400) | st.from_regex(r"[a-z]{1,9}\.org(:[0-9]{1,5})?/[ -~é*]{0,900}"))
def test_tantivy_takes_the_pattern_of_any_address(typed: str) -> None:
    address = typed_address(typed)
    if address.pattern:
        assert Query.regex_query(schema(), "url", address.pattern)


def test_a_long_path_is_cut() -> None:
    paths = [f"a.org/{'x' * length}" for length in (2 * MAX_PATH_CHARS, 3 * MAX_PATH_CHARS)]
    short, longer = (typed_address(path).pattern for path in paths)
    assert short == longer
    assert short.endswith("x[!-~]*")
