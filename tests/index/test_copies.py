"""What the index holds of the pages for which another stands: numbers, sites, anchors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gossamer.search.searcher import Searcher
from tests.support.harvest_steps import run_index
from tests.support.planted_duplicates import document, edited, prose, standing
from tests.support.rows import put

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.search.results import Hit
    from gossamer.state.workspace import Workspace

MANUAL = "http://docs.example"
MIRROR = "http://mirror.example:8080/re"
CHAPTERS = ("re", "os", "io", "ast", "csv", "json")
VERSIONS = ("3.9", "3.10", "stable")


def manual() -> list[dict[str, Any]]:
    """A manual in three versions, a copy of a chapter on another host, and a lone page."""
    pages = []
    for seed, chapter in enumerate(CHAPTERS):
        text = [chapter, *prose(seed, 300)]
        for changed, version in zip((30, 20, 0), VERSIONS, strict=True):
            url = f"{MANUAL}/{version}/{chapter}"
            pages.append(document(url, edited(text, changed, seed), f"{chapter} {version}"))
    pages.append(document(MIRROR, ["re", *prose(0, 300)], "re stable"))
    pages.append(document(f"{MANUAL}/lone", prose(99), "A lone page"))
    return [
        each | {"fetched_ms": 1, "content_type": "text/html", "language": "en"} for each in pages
    ]


@pytest.fixture(scope="module")
def indexed(new_work: Callable[[], Workspace]) -> Workspace:
    work = new_work()
    pages = manual()
    put(work, "pages", [{"url": each["url"], "status": "fetched"} for each in pages])
    put(work, "documents", [each | {"round": 1, "host": host(each["url"])} for each in pages])
    anchors = {f"{MANUAL}/3.9/re": "3.9 docs", f"{MANUAL}/stable/re": "regular expressions"}
    sources = {url: [{"src": "http://b.example/", "anchor": text}] for url, text in anchors.items()}
    put(work, "inlinks", [{"dst": u, "count": 1, "sources": s} for u, s in sources.items()])
    run_index(work)
    return work


def host(url: str) -> str:
    return url.split("/")[2]


def hits(work: Workspace, query: str) -> dict[str, Hit]:
    return {hit.url: hit for hit in Searcher.open(work).search(query, limit=100).hits}


def test_a_hit_says_for_how_many_pages_it_stands(indexed: Workspace) -> None:
    found = hits(indexed, "host:docs.example")
    assert {*found} == {f"{MANUAL}/lone", *(f"{MANUAL}/stable/{name}" for name in CHAPTERS)}
    for url, hit in found.items():
        expected = (url == f"{MANUAL}/stable/re", 0 if url == f"{MANUAL}/lone" else 2)
        assert (hit.copies, hit.versions) == expected


def test_the_site_of_a_copy_finds_the_page_that_stands_for_it(indexed: Workspace) -> None:
    (hit,) = hits(indexed, "site:mirror.example").values()
    assert hit.url == f"{MANUAL}/stable/re"
    assert not hits(indexed, "host:mirror.example:8080")
    assert hit.url in hits(indexed, "re -site:mirror.example")
    assert not hits(indexed, "re -site:docs.example")


@pytest.mark.parametrize("typed", [f"{MANUAL}/3.9/re", "docs.example/3.10/re", MIRROR])
def test_the_url_of_a_duplicate_finds_the_page_that_stands_for_it(
    indexed: Workspace, typed: str
) -> None:
    assert [*hits(indexed, f"url:{typed}")] == [f"{MANUAL}/stable/re"]
    assert [*hits(indexed, f"related:{typed}")] == [*hits(indexed, f"related:{MANUAL}/stable/re")]


def test_a_page_is_found_by_what_links_call_its_older_versions(indexed: Workspace) -> None:
    assert next(iter(hits(indexed, "3.9 docs"))) == f"{MANUAL}/stable/re"


def test_versions_are_named_before_other_copies(indexed: Workspace) -> None:
    row = standing(indexed)[f"{MANUAL}/stable/re"]
    assert [copy["reason"] for copy in row["copies"]] == ["version", "version", "text"]
    assert (row["copy_count"], row["version_count"]) == (3, 2)
